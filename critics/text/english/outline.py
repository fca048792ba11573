"""Reads a sentence of a chain of thought into units: claims, arguments, the question said again, answers, filler.

Phrases come from the closed lists of `phrases`; claims are read by the problem's language. The borders of claims are
found by trying: the first division counts in which every part is read. A sentence without one is unread as a whole.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from critics.replay.clauses import denied
from critics.text.english import phrases
from critics.text.english.language import ProblemLanguage, Said
from critics.text.english.passage import Passage, TextSentence
from critics.text.english.unit import (
    Aim,
    AnswerClaim,
    Assumption,
    Claim,
    Contradiction,
    Filler,
    NothingMore,
    Promise,
    Reasoning,
    Unit,
    UnreadSentence,
)

MAX_SENTENCE = 1_000
"""Characters of a sentence with all its claims."""
MAX_TRIES = 400
"""Texts that the language is asked to read for one sentence; a sentence that needs more is unread."""
_LEADS = (
    (phrases.SHOWN, Promise.SHOWN),
    (phrases.QUOTES, Promise.QUOTED),
    (phrases.GIVENS, Promise.GIVEN),
    (phrases.LEADS, Promise.NONE),
)
_JOINTS = re.compile(r",? +and +(?:also +|that +|therefore +|thus +)?|, +(?:and +)?|,? +but +(?:also +)?| +& +")
_IN_PARENTHESES = re.compile(r"\(([^()]*[a-z][^()]* [^()]*)\)[.,;]?")
_EDGES = " .,:;!\"'"
_COMMAS = re.compile(
    r", +(?:then +|we (?:know|have|get|can conclude|conclude|can infer)(?: that)? +|it (?:must be|follows) that +)?"
)


@dataclass(slots=True)
class Outline:
    """The reader of the sentences about one problem."""

    language: ProblemLanguage
    question: str
    _tries: int = 0
    _memory: dict[str, Said | None] = field(default_factory=dict[str, Said | None])

    def units(self, line: TextSentence) -> tuple[Unit, ...]:
        """Return the units of one sentence, in the order in which they are judged."""
        passage = line.passage.part(0)
        if (whole := _IN_PARENTHESES.fullmatch(passage.text)) is not None:
            passage = passage.part(whole.start(1), whole.end(1))
        if not line.is_readable or len(passage.text) > MAX_SENTENCE:
            return (UnreadSentence(),)
        self._tries = 0
        # Attack: a question in the words of a claim (`Bob is rough.`), said again once its denial is proved.
        if self._is_question(passage.text) and self._claim(passage) is None:
            return (Aim(passage, None),)
        if phrases.QUESTION_LEADS.fullmatch(passage.text) is not None:
            return (Filler(),)
        if passage.text.endswith("?"):
            return (UnreadSentence(),)
        return self._units(_trimmed(passage), promise=Promise.NONE) or (UnreadSentence(),)

    @staticmethod
    def answer_of(line: TextSentence) -> str | None:
        """Return the value of a sentence that is nothing but an answer, without reading any claim."""
        passage = _trimmed(line.passage.part(0))
        while line.is_readable:
            if (match := phrases.ANSWERS.fullmatch(passage.text)) is not None:
                return _value(match["value"])
            if phrases.UNDECIDED.fullmatch(passage.text) is not None:
                return "unknown"
            match = phrases.LEADS.match(passage.text)
            if match is None or not match.end():
                break
            passage = passage.part(match.end())
        return None

    def _is_question(self, text: str) -> bool:
        asked = re.fullmatch(r"(?:(?:the )?(?:question|query)(?: is)?[: ]+)?[\"']?(.+?)[\"']?", text, re.IGNORECASE)
        return asked is not None and _letters(asked[1]) == _letters(self.question)

    def _units(self, passage: Passage, *, promise: Promise) -> tuple[Unit, ...] | None:
        if phrases.FILLERS.fullmatch(passage.text) is not None:
            return (Filler(),)
        found = self._aim(passage) or self._answer(passage) or self._ending(passage)
        if found is not None:
            return found
        arguments = self._arguments(passage, promise=promise)
        if arguments is not None:
            infers = any(lead.match(passage.text) is not None for lead in (phrases.INFERS, phrases.CONCLUDES))
            return tuple(replace(one, infers=infers) for one in arguments)
        for lead, promised in _LEADS:
            match = lead.match(passage.text)
            if match is not None and match.end():
                units = self._units(passage.part(match.end()), promise=max(promise, promised))
                told = [claim for unit in units or () if isinstance(unit, Reasoning) for claim in unit.conclusions]
                return None if told and _is_misnamed(match[0], tuple(told)) else units
        return None

    def _aim(self, passage: Passage) -> tuple[Unit, ...] | None:
        match = phrases.AIMS.match(passage.text)
        if match is None:
            return None
        rest = passage.part(match.end())
        aims = match["aims"] or match["heads"] or match["claims"]
        force = "concludes" if match["concludes"] else "aims" if aims else "asks"
        ends = [len(rest.text), *(comma.start() for comma in re.finditer(", ", rest.text))]
        for end in ends:
            told = rest.part(0, end)
            ending = phrases.AIM_ENDS.search(told.text)
            claim = self._claim(told if ending is None else told.part(0, ending.start()))
            if claim is None:
                continue
            after = rest.part(end).part(1) if end < len(rest.text) else None
            if after is None:
                return (Aim(passage, claim, force),)
            plan = phrases.PLAN.fullmatch(_trimmed(after).text) is not None
            units = (Filler(),) if plan else self._units(after, promise=Promise.NONE)
            if units is not None:
                return (Aim(passage.part(0, match.end() + end), claim, force), *units)
        return None

    def _answer(self, passage: Passage) -> tuple[Unit, ...] | None:
        text = passage.text
        if (match := phrases.ANSWERS.fullmatch(text)) is not None:
            return (AnswerClaim(passage, _value(match["value"])),)
        if phrases.UNDECIDED.fullmatch(text) is not None:
            return (AnswerClaim(passage, "unknown"),)
        if (match := phrases.YES.match(text)) is not None:
            units = self._units(passage.part(match.end()), promise=Promise.NONE)
            if units is not None and all(isinstance(unit, Reasoning) for unit in units):
                answer = AnswerClaim(passage.part(0, match.end("value")), _value(match["value"]))
                return (*units, replace(answer, because=_concluded(units)))
        for comma in phrases.BECAUSE.finditer(text):
            before = phrases.ANSWERS.fullmatch(text[: comma.start()])
            premises = None if before is None else self._claims(passage.part(comma.end()))
            if before is not None and premises is not None:
                answer = AnswerClaim(passage.part(0, comma.start()), _value(before["value"]), None, premises)
                return (Reasoning((), (), premises), answer)
        return self._answer_about(passage) or self._answer_after(passage)

    def _answer_after(self, passage: Passage) -> tuple[Unit, ...] | None:
        """Read `Since A, the statement is true` and `A, so the statement is true`: the claims, then the answer."""
        since = phrases.SINCE.match(passage.text)
        cuts = [(so.start(), so.end()) for so in phrases.SO.finditer(passage.text)]
        if since is not None:
            cuts = [(comma.start(), comma.end()) for comma in _COMMAS.finditer(passage.text)]
        for start, end in reversed(cuts):
            after = phrases.ANSWERS.fullmatch(self._peeled(passage.part(end)).text)
            if after is None:
                continue
            before = passage.part(0 if since is None else since.end(), start)
            claims = self._claims(before)
            arguments = (
                (Reasoning((), (), claims),) if claims is not None else self._arguments(before, promise=Promise.NONE)
            )
            if arguments is not None:
                answer = AnswerClaim(passage.part(end), _value(after["value"]), None, _concluded(arguments))
                return (*arguments, answer)
        return None

    def _answer_about(self, passage: Passage) -> tuple[Unit, ...] | None:
        match = phrases.ABOUT.fullmatch(passage.text)
        if match is None:
            return None
        claim = self._claim(passage.part(match.start("claim"), match.end("claim")))
        return None if claim is None else (AnswerClaim(passage, _value(match["value"]), claim),)

    def _ending(self, passage: Passage) -> tuple[Unit, ...] | None:
        if phrases.EXHAUSTED.fullmatch(passage.text) is not None:
            return (NothingMore(passage),)
        if (match := phrases.ASSUMES.match(passage.text)) is not None:
            claim = self._claim(passage.part(match.end()))
            return None if claim is None else (Assumption(claim),)
        if (match := phrases.CONTRADICTS.match(passage.text)) is not None:
            rest = passage.part(match.end())
            if not rest.text:
                return (Contradiction(passage, None),)
            claim = self._claim(rest)
            return None if claim is None else (Contradiction(passage, claim),)
        return None

    def _arguments(self, passage: Passage, *, promise: Promise) -> tuple[Reasoning, ...] | None:
        claim = self._claim(passage, promise=promise)
        if claim is not None:
            return (Reasoning((), (), (claim,)),)
        for premises, cited, rest in self._divided(passage):
            conclusions = self._claims(rest)
            if conclusions is not None:
                return (Reasoning(premises, cited, conclusions),)
        chained = self._chained(passage)
        if chained is not None:
            return chained
        claims = self._claims(passage, promise=promise)
        return None if claims is None else (Reasoning((), (), claims),)

    def _divided(self, passage: Passage) -> Iterator[tuple[tuple[Claim, ...], tuple[int, ...], Passage]]:
        """Yield the premises, the numbers cited, and what is left to be the conclusion."""
        text = passage.text
        if (match := phrases.CITES.match(text)) is not None:
            yield (), _numbers(match["numbers"]), self._peeled(passage.part(match.end()))
        if (match := phrases.CITED.search(text)) is not None:
            yield (), _numbers(match["inner"] or match["outer"]), self._peeled(passage.part(0, match.start()))
        if (match := phrases.SINCE.match(text)) is not None:
            rest = passage.part(match.end())
            for comma in reversed(list(_COMMAS.finditer(rest.text))):
                premises = self._claims(rest.part(0, comma.start()))
                if premises is not None and not _is_misnamed(match[0], premises):
                    yield premises, (), self._peeled(rest.part(comma.end()))
        for because in phrases.BECAUSE.finditer(text):
            premises = self._claims(passage.part(because.end()))
            if premises is not None and not _is_misnamed(because[0], premises):
                yield premises, (), self._peeled(passage.part(0, because.start()))

    def _chained(self, passage: Passage) -> tuple[Reasoning, ...] | None:
        """Read `A, and B, so C, so D`: what stands before a `so` is said to give what follows it."""
        for so in reversed(list(phrases.SO.finditer(passage.text))):
            before, after = passage.part(0, so.start()), passage.part(so.end())
            conclusions = self._claims(self._peeled(after))
            if conclusions is None:
                continue
            # What stands before may itself be `A, so B`: no list of claims, though `so B` alone could be one.
            earlier = self._chained(before)
            if earlier is not None:
                return (*earlier, Reasoning(earlier[-1].conclusions, (), conclusions))
            since = phrases.SINCE.match(before.text)
            premises = self._claims(before if since is None else before.part(since.end()))
            if premises is not None:
                return (Reasoning(premises, (), conclusions),)
        return None

    def _peeled(self, passage: Passage) -> Passage:
        """Return a passage without the phrases before it that say nothing."""
        passage = _trimmed(passage)
        while (match := phrases.LEADS.match(passage.text)) is not None and match.end():
            passage = passage.part(match.end())
        return passage

    def _claims(self, passage: Passage, *, promise: Promise = Promise.NONE) -> tuple[Claim, ...] | None:
        """Read one claim or several, joined by commas and `and`; the shortest first claim is tried first."""
        whole = self._claim(passage, promise=promise)
        if whole is not None:
            return (whole,)
        if (tagged := _untagged(passage)) is not None:
            return self._claims(tagged[0], promise=max(promise, tagged[1]))
        for joint in _JOINTS.finditer(passage.text):
            first = self._claim(passage.part(0, joint.start()), promise=promise)
            if first is not None:
                others = self._claims(passage.part(joint.end()), promise=max(promise, first.promise))
                if others is not None:
                    return (first, *others)
        return None

    def _claim(self, passage: Passage, *, promise: Promise = Promise.NONE) -> Claim | None:
        """Read a passage as one claim, also one that is denied or quoted."""
        passage = _trimmed(passage)
        if (tagged := _untagged(passage)) is not None:
            return self._claim(tagged[0], promise=max(promise, tagged[1]))
        for pattern, own in ((phrases.DENIALS, Promise.NONE), *_LEADS):
            match = pattern.match(passage.text)
            if match is None or not match.end():
                continue
            inner = self._claim(passage.part(match.end()), promise=max(promise, own))
            if inner is None or pattern is not phrases.DENIALS:
                return None if inner is None or _is_misnamed(match[0], (inner,)) else inner
            said = denied(inner.said)
            return None if said is None else Claim(passage, said, inner.promise)
        found = self._read(passage.text)
        return None if found is None else Claim(passage, found, promise)

    def _read(self, text: str) -> Said | None:
        if text not in self._memory:
            self._tries += 1
            if self._tries > MAX_TRIES:
                return None
            self._memory[text] = self.language.read(text)
        return self._memory[text]


def _is_misnamed(lead: str, claims: tuple[Claim, ...]) -> bool:
    """Say whether facts alone are called a rule: `the rule says that Tom is a cat`."""
    called = re.search(r"\brules?\b", lead, re.IGNORECASE)
    return called is not None and all(clause.is_fact for claim in claims for clause in claim.said)


def _concluded(units: tuple[Unit, ...]) -> tuple[Claim, ...]:
    """Return what the last of several arguments comes to."""
    return units[-1].conclusions if units and isinstance(units[-1], Reasoning) else ()


def _trimmed(passage: Passage) -> Passage:
    """Return a passage without the punctuation around it."""
    text = passage.text
    start = len(text) - len(text.lstrip(_EDGES))
    return passage.part(start, max(start, len(text.rstrip(_EDGES))))


def _untagged(passage: Passage) -> tuple[Passage, Promise] | None:
    """Return a passage without a tag such as `(given)` behind it, and what that promises."""
    tag = phrases.TAGS.search(passage.text)
    if tag is None:
        return None
    promise = Promise.QUOTED if tag["quoted"] else Promise.SHOWN if tag["shown"] else Promise.GIVEN
    return passage.part(0, tag.start()), promise


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _value(text: str) -> str:
    value = " ".join(text.lower().split())
    return phrases.NO_VALUE.get(value, value)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()
