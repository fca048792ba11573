"""One sequence to write, and the state of a guided one, followed byte by byte whatever its tokens straddle.

One token may end a block and go on in free text, or open a block and write the first bytes of its action.

Conclusions are held to what the guide has decided where it is a `ConcludingGuide`: the repair that LogicGuide's paper
names at its figure 12. A model that has proved its goal may still write the opposite answer, or answer with nothing
proved. With `Sampling.conclusion: decided` the line `Answer:` may only be begun once the guide has decided the goal,
and what follows it must agree; then the text ends. The line is what `critics.text.blocks.final_answer` would read: at
the start of a line, in any case, with blanks and Markdown around the word. While nothing is decided no line may begin
with that word, `Answering` included. Refusing only its colon made a small model go on from the word: 41 of 60 attempts
then lost their format, against 5 this way. Other wordings ("the answer is no") are read by no critic and stay free.
End-of-text stays allowed before the line: a policy that cannot decide may abstain, and does not have to write until its
tokens run out.
"""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from critics.problem import Problem
from critics.replay.answers import in_terms_of
from critics.text.blocks import DECORATION, named_answer
from rollout.decoding.automaton import Automaton, State
from rollout.decoding.guide import CLOSE, OPEN, DecidingGuide, Guide, SentenceGuide, Truth

_BRACKET = OPEN[0]
_REFUSED = -1
_WORD = b"answer"
_ELSEWHERE = -1
_COLON, _NEWLINE = ord(":"), ord("\n")
_BLANKS = DECORATION.encode()
_LEADS = (b" ", b"")
_ENDS = (b"", b".", b"\n", b".\n")
"""Texts that may stand before and after the value. Nothing follows but end-of-text: a base model that has seen
solved examples would go on with another problem, and its last line would no longer be this answer."""


class ConcludingGuide:
    """A guide together with the problem's own words for what it decides."""

    def __init__(self, guide: DecidingGuide, problem: Problem) -> None:
        self._guide = guide
        self._problem = problem

    @property
    def key(self) -> Hashable:
        """The guide's own key: conclusions change nothing inside blocks."""
        return self._guide.key

    def allowed(self) -> Automaton:
        """Return what may follow `[[`."""
        return self._guide.allowed()

    def close(self, block: bytes) -> None:
        """Take in a block that was written."""
        self._guide.close(block)

    def clone(self) -> "ConcludingGuide":
        """Fork the guide; the problem is shared."""
        return ConcludingGuide(self._guide.clone(), self._problem)

    def conclusions(self) -> tuple[bytes, ...]:
        """Return the spellings that may follow `Answer:` now; none while nothing is decided."""
        truth = self._guide.conclusion()
        return () if truth is None else spellings(truth, self._problem.options)


@lru_cache(maxsize=256)
def spellings(truth: Truth, options: tuple[str, ...] | None) -> tuple[bytes, ...]:
    """Return the ways to write a truth value as this problem's answer, every one read as such by the critics.

    With options: the letter, alone or with the text, and the text alone; none where not exactly one option
    says it, such as `unknown` where only true and false can be chosen.
    """
    answer = in_terms_of(truth, options)
    if answer is None:
        return ()
    problem = Problem("", "", "", "", options)
    words = [truth, truth.capitalize()]
    if options is not None:
        words = [f"{answer}) {word}" for word in words] + words
        words += [answer, f"{answer})", options[ord(answer) - ord("A")].strip()]
    return tuple(
        word.encode()
        for word in dict.fromkeys(words)
        if not {"\n", "["} & set(word) and named_answer(word, problem) == answer
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Progress of free text through its line, as far as an answer is concerned."""

    letters: int = 0
    """Number of letters of `answer` that the line has so far, blanks aside; -1 where it can no longer be the answer."""
    written: bytes | None = None
    """Bytes after `Answer:`; None before it."""

    @property
    def touched(self) -> re.Pattern[bytes]:
        """A pattern for tokens that finish the word or its colon, or hold the whole word on a new line.

        No other token can be refused, or be the end of `Answer:`.
        """
        free = b"[" + re.escape(_BLANKS) + b"]*"
        blanks = free if self.letters in (0, len(_WORD)) else b""
        begun = b"" if self.letters == _ELSEWHERE else rb"|^" + blanks + (_WORD[self.letters :] or b":")
        return re.compile(b"\n" + free + b"answer" + begun, re.IGNORECASE)

    def after(self, byte: int, conclusions: tuple[bytes, ...]) -> "Place | None":
        """Return the place after one more byte of free text, or None where that byte is refused."""
        if self.written is not None:
            written = self.written + bytes([byte])
            return Place(self.letters, written) if any(t.startswith(written) for t in _texts(conclusions)) else None
        if byte == _NEWLINE:
            return Place()
        if self.letters == len(_WORD):
            if byte == _COLON:
                return Place(self.letters, b"") if conclusions else None
            return self if byte in _BLANKS else Place(_ELSEWHERE)
        if byte in _BLANKS and self.letters <= 0:
            return self
        if self.letters == _ELSEWHERE or bytes([byte]).lower() != _WORD[self.letters : self.letters + 1]:
            return Place(_ELSEWHERE)
        return None if self.letters + 1 == len(_WORD) and not conclusions else Place(self.letters + 1)

    def may_end(self, conclusions: tuple[bytes, ...]) -> bool:
        """Say whether the text may end here: anywhere but between `Answer:` and the end of its value."""
        return self.written is None or self.written in _texts(conclusions)

    def endings(self, conclusions: tuple[bytes, ...]) -> list[bytes]:
        """Return all that may still follow once `Answer:` is written."""
        written = self.written
        assert written is not None
        return [text[len(written) :] for text in _texts(conclusions) if text.startswith(written)]


@lru_cache(maxsize=256)
def _texts(conclusions: tuple[bytes, ...]) -> frozenset[bytes]:
    return frozenset(lead + value + end for lead in _LEADS for value in conclusions for end in _ENDS)


class GuideViolation(RuntimeError):  # noqa: N818
    """A token was pushed that the mask refuses: an error of the caller, never of the policy."""


class Row:
    """The state of one sequence: in free text (`block` None) or inside a block, with what its guide knows."""

    def __init__(self, guide: Guide) -> None:
        self.guide = guide
        self.pending = False
        """True where the last byte of the free text is a lone `[`."""
        self.block: State | None = None
        self.place = Place() if isinstance(guide, ConcludingGuide) else None
        """Place of the free text in its line; None where its answer is not held to anything."""
        self.automaton: Automaton = guide.allowed()
        """The automaton of the rest of the open block."""
        self._content = bytearray()
        self._is_probe = False

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal masks, but for tokens in which a block ends and another begins."""
        if self.block is not None:
            inside = self.automaton.state_key(self.block)
            return ("block", inside) if self.place is None else ("held block", inside)
        if self.place is None:
            return ("free", self.pending, self.guide.key)
        return ("held", self.pending, self.guide.key, self.place, self.conclusions)

    @property
    def conclusions(self) -> tuple[bytes, ...]:
        """The spellings that may follow `Answer:`; none where nothing is decided, or the answer is free."""
        return self.guide.conclusions() if isinstance(self.guide, ConcludingGuide) else ()

    @property
    def may_end(self) -> bool:
        """True where end-of-text may come next: in free text outside a conclusion that is held to the guide."""
        return self.block is None and (self.place is None or self.place.may_end(self.conclusions))

    @property
    def inside(self) -> tuple[Automaton, State] | None:
        """Automaton and state of the open block; None in free text."""
        return None if self.block is None else (self.automaton, self.block)

    def jump(self, text: bytes, inside: tuple[Automaton, State]) -> None:
        """Advance over bytes of the open block to where they led another row, from an equal key and without its end."""
        self._content += text
        self.automaton, self.block = inside

    def push(self, token: bytes) -> None:
        """Advance over a token's bytes; raises `GuideViolation` where they are refused."""
        if not self._read(token):
            raise GuideViolation(f"{token!r} is not allowed here")

    def accepts(self, token: bytes) -> bool:
        """Say whether the token may come next, leaving the row as it is."""
        return self.after(token) is not None

    def after(self, token: bytes) -> "Row | None":
        """Return the row as it would be after the token, None where it is refused; the guide itself learns nothing."""
        probe = type(self).__new__(type(self))
        probe.guide = self.guide
        probe.pending, probe.block, probe.place = self.pending, self.block, self.place
        probe.automaton, probe._content = self.automaton, bytearray(self._content)
        probe._is_probe = True
        return probe if probe._read(token) else None

    def _read(self, text: bytes) -> bool:
        at = 0
        while at < len(text):
            if self.block is not None:
                at = self._read_block(text, at)
            elif self.place is None:
                at = self._read_free(text, at)
            else:  # one byte of free text whose answer is held to the guide
                after = self.place.after(text[at], self.conclusions)
                if after is None:
                    return False
                self.place = after
                at = self._read_free(text[: at + 1], at)
            if at == _REFUSED:
                return False
        return True

    def _read_free(self, text: bytes, at: int) -> int:
        """Read free text to its end or through the next `[[`; return the position after it."""
        if self.pending and text[at] == _BRACKET:
            return self._open(at + 1)
        opened = text.find(OPEN, at)
        if opened >= 0:
            return self._open(opened + len(OPEN))
        self.pending = text[-1] == _BRACKET
        return len(text)

    def _read_block(self, text: bytes, at: int) -> int:
        """Read to the end of the block or of the text; return the position after it."""
        rest = text[at:] if at else text
        state, num_read = self.automaton.read(self.block, rest)
        if state is None:
            return _REFUSED
        self._content += rest[:num_read]
        if self.automaton.done(state):
            if self._is_probe:
                self.guide = self.guide.clone()
            self._close()
        else:
            self.automaton, self.block = self.automaton.narrowed(state)
        return at + num_read

    def _close(self) -> None:
        """Let the guide learn what the block says, and go on in free text."""
        self.guide.close(bytes(self._content[: -len(CLOSE)]))
        self.block, self.pending = None, False

    def _open(self, at: int) -> int:
        self.pending = False
        self.automaton = self.guide.allowed()
        self.block = self.automaton.start
        self._content.clear()
        return at


class SentenceRow(Row):
    """The state of a text that is sentences and nothing else: where one ends, the next begins, until all is said.

    A token may end a sentence and begin the next.
    """

    guide: SentenceGuide

    def __init__(self, guide: SentenceGuide) -> None:
        self.guide, self.pending, self.place = guide, False, None
        self._content, self._is_probe = bytearray(), False
        self._begin()

    @property
    def key(self) -> Hashable:
        """Equal keys mean equal masks, but for tokens in which a sentence ends and another begins."""
        return ("sentence", None if self.block is None else self.automaton.state_key(self.block))

    @property
    def inside(self) -> None:
        """None: what follows a sentence is the guide's to say, so that no other row can go ahead."""

    def _read(self, text: bytes) -> bool:
        at = 0
        while at < len(text) and at != _REFUSED:
            at = _REFUSED if self.block is None else self._read_block(text, at)
        return at != _REFUSED

    def _close(self) -> None:
        self.guide.close(bytes(self._content))
        self._begin()

    def _begin(self) -> None:
        self._content.clear()
        self.block: State = None
        if not self.guide.is_over:
            self.automaton = self.guide.allowed()
            self.block = self.automaton.start


def row_of(guide: Guide) -> Row:
    """Return the row that a guide watches."""
    return SentenceRow(guide) if isinstance(guide, SentenceGuide) else Row(guide)


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Limits of a sequence, and the temperature at which it is drawn."""

    temperature: float
    """0 takes the likeliest allowed token."""
    max_new_tokens: int
    eos_id: int
    pad_id: int
    also_ends: tuple[int, ...] = ()
    """Other tokens that end a sequence as end-of-text does."""

    @property
    def end_ids(self) -> tuple[int, ...]:
        """Every token that ends a sequence."""
        return (self.eos_id, *self.also_ends)


@dataclass(slots=True)
class Request:
    """One sequence to write: its prompt, its seed, and the row that guides it (None: unguided)."""

    prompt_ids: list[int]
    seed: int
    row: Row | None
    stop: bytes = b""
    """Bytes that end the sequence as end-of-text does, wherever in a token they end; empty: nothing but end-of-text."""
    output: list[int] = field(default_factory=list[int])
    forced: list[bool] = field(default_factory=list[bool])
    """For each token of the output, whether no model was asked for it."""
    log_probabilities: list[float] = field(default_factory=list[float])
    """For each token of the output, where they are asked for."""
    ended: bool = False
    written: bytearray = field(default_factory=bytearray)
    """The bytes so far, where a `stop` is looked for."""

    def take(
        self, token: int, vocabulary: Sequence[bytes | None], limits: RequestLimits, *, forced: bool = False
    ) -> None:
        """Record a token, and whether the sequence ends with it."""
        self.output.append(token)
        self.forced.append(forced)
        if token in limits.end_ids:
            self.ended = True
            return
        # A model may have more outputs than its tokenizer has tokens; a mask never allows them.
        spelled = vocabulary[token] if token < len(vocabulary) else None
        if self.row is not None:
            assert spelled is not None
            self.row.push(spelled)
        if self.stop and spelled is not None:
            self.written += spelled
            self.ended = self.stop in self.written[-len(self.stop) - len(spelled) :]
        self.ended = self.ended or len(self.output) >= limits.max_new_tokens

    def num_left(self, limits: RequestLimits) -> int:
        """Return how many more tokens may be written."""
        return limits.max_new_tokens - len(self.output)


def is_out_of_memory(error: BaseException) -> bool:
    """Say whether an error means that memory ran out, on a GPU or on the host."""
    import torch

    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("can't allocate memory" in text or "out of memory" in text)
