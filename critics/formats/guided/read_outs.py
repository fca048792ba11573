"""Read-outs, the text beside the blocks of a guided attempt: each must be true, and be the one that is used.

A read-out may say what the context says, what an earlier block inferred, or what the next block infers. Beside axioms
and the goal it says what they say; of the rules read out before an inference one gives it. The first that does not
hold is the attempt's `BadStep`. Formulas are always read, sentences where the data set has a reader. What cannot be
read is `unread`: it refuses nothing and covers nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from critics.formats.guided.sentence_reader import are_names, plainly
from critics.formats.guided.support import Beside, ReadOut, Support, UnsupportedError, formula_of, plain_claim, whole
from critics.replay.formula import BLANKS, Literal, Rule, Statement, parse_statement
from critics.replay.kernel import Entry
from critics.text.blocks import Block
from critics.text.english.outline import Unit
from critics.text.english.passage import num_characters
from critics.text.pieces import Piece, pieces
from critics.verdict import Refuted, Unproved, Verdict
from critics.verdict.reading import BadStep, Kind, Span, TextReading

ELSEWHERE = "it says something else than the block beside it"


@dataclass(frozen=True, slots=True)
class SpanSource:
    """A span, and the statement behind it, whose entry in the evidence is known at the end."""

    start: int
    end: int
    kind: Kind
    statement: Statement | None = None


@dataclass(slots=True)
class Account:
    """Account of a guided text, piece by piece, up to the first that does not hold."""

    text: str
    pieces: Sequence[Piece]
    support: Support
    spans: list[SpanSource] = field(default_factory=list[SpanSource])
    bad: BadStep | None = None
    _num_steps: int = 0
    _run: tuple[Statement, ...] = ()
    """Statements of the axioms or the goal before a read-out, where nothing stands between them."""

    def take(self, failed: Block | None, refusal: Verdict | None) -> None:
        """Go through the text up to `failed`, the block that the critic refused; None: the refusal is of the whole."""
        at = 0
        while at < len(self.pieces):
            end = at
            while end < len(self.pieces) and self.pieces[end].kind not in ("block", "answer"):
                end += 1
            behind = self.pieces[end] if end < len(self.pieces) else None
            if not self._gap(self.pieces[at:end], behind, end):
                return
            if behind is not None:
                is_refused = behind.block == failed if behind.block is not None else failed is None
                if is_refused and refusal is not None:
                    if isinstance(refusal, Unproved | Refuted):
                        self._refuse(behind, refusal.feedback)
                    return
                self._pass(behind)
            at = end + 1

    def reading(self, entries: Sequence[Entry]) -> TextReading:
        """Return the account as a verdict has it, given the entries of the evidence."""
        places = {entry.statement: at for at, entry in enumerate(entries)}
        spans = [
            Span(span.start, span.end, span.kind, None if span.statement is None else places.get(span.statement))
            for span in self.spans
            if span.start < span.end
        ]
        rest = unread(self.text, None, "", self.spans[-1].end if self.spans else 0)
        held = [self.text[span.start : span.end] for span in spans if span.kind not in ("filler", "unread")]
        total = num_characters(self.text)
        return TextReading(sum(map(num_characters, held)) / total if total else 0.0, (*spans, *rest.spans), self.bad)

    def _refuse(self, piece: Piece, why: str) -> None:
        self.bad = BadStep(self._num_steps, self.text[piece.start : piece.end], why)

    def _mark(self, piece: Piece, kind: Kind, statement: Statement | None = None) -> None:
        self.spans.append(SpanSource(piece.start, piece.end, kind, statement))
        self._num_steps += piece.is_step

    def _pass(self, piece: Piece) -> None:
        """Account for a block that the critic accepted, or for the answer."""
        if piece.block is None:
            self._mark(piece, "answer", self.support.last)
            return
        said = _statement(piece)
        if piece.block.action == "infer":
            self._mark(piece, "step", said)
            self._run = ()
            if isinstance(said, Literal):
                self.support.infer(said)
            return
        self._run = (*self._run, said) if said is not None else self._run
        self._mark(piece, "premise" if piece.block.action == "axiom" else "goal", said)

    def _gap(self, gap: Sequence[Piece], behind: Piece | None, place: int) -> bool:
        """Account for what stands before a block; say whether all of it holds."""
        says = [piece for piece in gap if piece.kind in ("formula", "sentence")]
        if not says:
            for piece in gap:
                self._mark(piece, self._bare(piece))
            if any(piece.kind == "break" for piece in gap):
                self._run = ()
            return True
        if len(says) == 1 and (plain := self._plain_read_out(says[0], behind)) is not None:
            for piece in gap:
                self._mark(piece, *(plain if piece is says[0] else (self._bare(piece), None)))
            self._run = ()
            return True
        breaks = [at for at, piece in enumerate(gap) if piece.kind == "break"]
        claims: list[ReadOut] = []
        kinds: dict[int, tuple[Kind, Statement | None]] = {}
        beside = Beside(self._run, self._run_of(place), self.support.last, _inferred(behind))
        for at, piece in enumerate(gap):
            if piece.kind not in ("formula", "sentence"):
                continue
            is_after, is_before = not breaks or at < breaks[0], not breaks or at > breaks[-1]
            try:
                found = self._piece(piece, beside, is_after, is_before)
            except UnsupportedError as error:
                return self._stop(gap, at, kinds, str(error))
            kinds[at] = found[0], found[1][0].statements[-1] if found[1] and found[1][0].statements else None
            claims += found[1]
        wrong = self._wrong_place(claims, beside)
        if wrong is not None:
            return self._stop(gap, gap.index(wrong[0]), kinds, wrong[1])
        self._paint(gap, kinds)
        self._run = ()
        return True

    def _plain_read_out(self, piece: Piece, behind: Piece | None) -> tuple[Kind, Statement] | None:
        """Return what stands behind a gap's only read-out where it says what the block beside it says, as most do."""
        words = self.text[piece.start : piece.end]
        said = formula_of(words) if piece.kind == "formula" else plainly(self.support.sentence(words))
        if said is None:
            return None
        if said == self.support.last:
            return "citation", said
        if behind is None or behind.block is None or not self.support.blocks.is_stated(said):
            return None
        if behind.block.action == "axiom" and said == _statement(behind):
            return "premise", said
        next_ = _inferred(behind)
        is_used = next_ is not None and self.support.blocks.rule_of(next_) == said
        return ("premise", said) if is_used and not self._run else None

    def _stop(
        self, gap: Sequence[Piece], at: int, kinds: Mapping[int, tuple[Kind, Statement | None]], why: str
    ) -> bool:
        self._paint(gap[:at], kinds)
        self._refuse(gap[at], why)
        return False

    def _paint(self, gap: Sequence[Piece], kinds: Mapping[int, tuple[Kind, Statement | None]]) -> None:
        for at, piece in enumerate(gap):
            self._mark(piece, *(kinds[at] if at in kinds else (self._bare(piece), None)))

    def _bare(self, piece: Piece) -> Kind:
        """Return the kind of a piece that says nothing."""
        is_name = piece.kind != "names" or are_names(self.text[piece.start : piece.end], self.support.blocks.names)
        return "filler" if is_name else "unread"

    def _run_of(self, place: int) -> tuple[Statement, ...]:
        """Return what the axioms, or the goal, from a place on say, up to the next thing said or the next item."""
        found: list[Statement] = []
        for piece in islice(self.pieces, place, None):
            if piece.block is not None and piece.block.action != "infer":
                said = _statement(piece)
                found += () if said is None else (said,)
            elif piece.kind not in ("filler", "names"):
                break
        return tuple(found)

    def _piece(self, piece: Piece, beside: Beside, is_after: bool, is_before: bool) -> tuple[Kind, list[ReadOut]]:
        """Return what stands behind a sentence or formula, and its claims; raises `UnsupportedError`."""
        words = self.text[piece.start : piece.end]
        if piece.kind == "formula":
            formula = self.support.formula(words)
            # Attack: a sentence in parentheses, which looks like a formula and is none.
            said = self.support.sentence(words[1:].removesuffix(")")) if formula is None else ()
            units: tuple[Unit, ...] = said if formula is None else (plain_claim(formula),)
        else:
            if (ending := self.support.ending(words)) is not None:
                return ending, []
            units = self.support.sentence(words)
        kinds: list[Kind] = []
        claims: list[ReadOut] = []
        for unit in units:
            kind, said = self.support.unit(unit, beside, is_after, is_before)
            kinds.append(kind)
            claims += [ReadOut(piece, statements, is_after, is_before) for statements in said]
        return whole(kinds), claims

    def _wrong_place(self, claims: Sequence[ReadOut], beside: Beside) -> tuple[Piece, str] | None:
        """Return the first claim that holds, but is not what the block beside it says or uses, and why."""
        free = [said for said in claims if not self.support.reads_out(said, beside)]
        for said in free:
            is_beside = (said.is_after and beside.run_before) or (said.is_before and beside.run_behind)
            if is_beside and not self.support.is_used(said, beside):
                return said.piece, ELSEWHERE
        rules = [said for said in free if any(isinstance(one, Rule) for one in said.statements)]
        if beside.next is not None and rules and not any(self.support.is_used(said, beside) for said in rules):
            return rules[-1].piece, "it is not the rule that is used"
        first = claims[0] if claims else None
        if first is None or first not in free or beside.last is None or beside.run_before or not first.is_after:
            return None
        is_fact = all(isinstance(one, Literal) for one in first.statements)
        is_led_to = any(beside.last in said.statements for said in claims)
        if not is_fact or is_led_to or self.support.is_used(first, beside):
            return None
        return first.piece, ELSEWHERE


def unread(text: str, block: Block | None, why: str, start: int = 0) -> TextReading:
    """Return the reading of a text of which nothing from `start` on is accounted for, refused at a block."""
    rest = text[start:].strip()
    at = text.find(rest, start)
    spans = (Span(at, at + len(rest), "unread"),) if rest else ()
    if block is None:
        return TextReading(0.0, spans)
    index = sum(piece.is_step and piece.start < block.start for piece in pieces(text))
    return TextReading(0.0, spans, BadStep(index, text[block.start : block.end], why))


def _statement(piece: Piece) -> Statement | None:
    """Return what a block says; None where it says that nothing can be inferred."""
    assert piece.block is not None
    return None if piece.block.content.strip(BLANKS) == "nothing" else parse_statement(piece.block.content)


def _inferred(piece: Piece | None) -> Literal | None:
    if piece is None or piece.block is None or piece.block.action != "infer":
        return None
    said = _statement(piece)
    return said if isinstance(said, Literal) else None
