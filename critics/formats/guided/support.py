"""Support of the read-outs of a guided attempt: each claim is the context's, inferred by a block, or the next block's.

Where a claim stands matters as well: `read_outs` asks whether it says what the block beside it says, and whether the
next inference uses it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from critics.formats.guided.sentence_reader import ProseReader
from critics.problem import Problem
from critics.replay.clauses import clause_of, fact, statement_of
from critics.replay.formula import (
    BLANKS,
    FormulaError,
    Literal,
    Rule,
    Statement,
    Term,
    canonical_statement,
    parse_statement,
)
from critics.replay.kernel import Axiom, Inference, Kernel, kind, match
from critics.text.blocks import answer_of
from critics.text.english.moves import Promise
from critics.text.english.outline import Aim, AnswerClaim, Claim, Filler, NothingMore, Reasoning, Unit
from critics.text.english.passage import Passage
from critics.text.english.steps import Ledger, OutOfWork, Warrant
from critics.text.pieces import Piece
from critics.verdict.reading import Kind

_ENDINGS = {"this was the goal": True, "this is the goal": True, "this contradicts the goal": False}
"""Sentences about the last inference: whether it is the goal, or its negation."""
_MAX_WAYS = 200
"""Ways in which a sentence may follow from its reasons before the search is given up."""
_MAX_SENTENCES = 400
_MAX_WORK = 20_000
"""Facts tried, in one text, as premises of rules that were read out."""
_OTHERWISE, _NOWHERE = "the context says otherwise", "neither the context nor a block says it"


@dataclass(frozen=True, slots=True)
class Blocks:
    """Outcome of the blocks of an attempt, and what they are compared with."""

    kernel: Kernel
    goal: Literal | None
    is_stated: Callable[[Statement], bool]
    """True of a statement that the context says; on trust, of one that an axiom of the attempt says."""
    names: Callable[[], Collection[str]]
    """Names that the problem speaks of: words in parentheses that have none of them are no formula."""
    is_granted: Callable[[Statement], bool]
    """True of a statement that the data set takes for granted."""
    answer: str | None
    """The last line's, in the problem's terms."""
    finished: bool
    """True if it was inferred that nothing more follows."""

    def rule_of(self, literal: Literal) -> Statement | None:
        """Return the rule by which a literal was inferred; None where it was not."""
        at = self.kernel.known.get(literal)
        entry = None if at is None else self.kernel.entries[at]
        return self.kernel.entries[entry.rule].statement if isinstance(entry, Inference) else None


@dataclass(frozen=True, slots=True)
class ReadOut:
    """One claim of a read-out, and where it stands."""

    piece: Piece
    statements: tuple[Statement, ...]
    is_after: bool
    """True if it stands beside the block before it: no line's end or item's number between."""
    is_before: bool


@dataclass(frozen=True, slots=True)
class Beside:
    """Blocks around a gap between two of them."""

    run_before: tuple[Statement, ...]
    """Statements of the axioms or the goal before it, one after the other."""
    run_behind: tuple[Statement, ...]
    last: Literal | None
    """The last inference before it."""
    next: Literal | None
    """The inference that it leads to."""


class UnsupportedError(Exception):
    """A read-out that does not hold; the text says why."""


@dataclass(slots=True)
class Support:
    """Statements that are established at a place of the text, and what they bear out."""

    problem: Problem
    blocks: Blocks
    reader: Callable[[], ProseReader | None]
    """Made where there is a sentence to read."""
    reached: int = 0
    """The kernel's entries below this were inferred by the blocks passed so far."""
    last: Literal | None = None
    """The last inference."""
    _work: int = 0
    _num_read: int = 0

    def infer(self, literal: Literal) -> None:
        """Note that the text has come past the block that infers a literal."""
        self.last, self.reached = literal, self.blocks.kernel.known[literal] + 1

    def sentence(self, words: str) -> tuple[Unit, ...]:
        """Read a sentence; of a text that has too many, the later ones are not read."""
        self._num_read += 1
        reader = self.reader() if self._num_read <= _MAX_SENTENCES else None
        return () if reader is None else reader.units(words)

    def formula(self, words: str) -> Statement | None:
        """Read a formula; one that is none is refused, but for words in parentheses that look like one."""
        found = formula_of(words)
        if found is None and ("->" in words or words.startswith("(not (")):
            raise UnsupportedError("it is no statement")
        if isinstance(found, Rule) or found is None or self._is_supported(found):
            return found
        # Attack: `(purple pip)`, of which the problem says nothing.
        return None if {found.predicate, *found.arguments}.isdisjoint(self.blocks.names()) else found

    def ending(self, words: str) -> Kind | None:
        """Return what stands behind a sentence about the last inference; None for every other one."""
        is_goal = _ENDINGS.get(words.strip(" .").lower())
        goal = self.blocks.goal
        if is_goal is None or goal is None:
            return None
        if self.last != (goal if is_goal else goal.negated()):
            raise UnsupportedError("the last inference is another")
        return "citation"

    def unit(
        self, unit: Unit, beside: Beside, is_after: bool, is_before: bool
    ) -> tuple[Kind, list[tuple[Statement, ...]]]:
        """Return what stands behind a part of a sentence, and what it claims; raises `UnsupportedError`."""
        match unit:
            case Reasoning():
                given = [self._claim(claim, beside, is_after, is_before, is_reason=True) for claim in unit.premises]
                drawn = [self._claim(claim, beside, is_after, is_before) for claim in unit.conclusions]
                if unit.premises and not self._follows(unit):
                    raise UnsupportedError("it does not follow from what is given for it")
                # Reasons are used for what they are given for, which need not be the next inference.
                said = [statements for _, statements in drawn]
                # Which item a number cites is not known.
                return "unread" if unit.cited else whole([kind for kind, _ in (*given, *drawn)]), said
            case Aim():
                return self._aim(unit, beside), []
            case AnswerClaim():
                return self._answer(unit), []
            case NothingMore():
                if not self.blocks.finished:
                    raise UnsupportedError("something else can be inferred")
                return "step", []
            case Filler():
                return "filler", []
            case _:
                return "unread", []

    def _aim(self, unit: Aim, beside: Beside) -> Kind:
        goal = self.blocks.goal
        if unit.claim is not None and not self._is_goal(unit.claim):
            raise UnsupportedError("the question asks something else")
        if goal is None or unit.force == "asks":
            return "goal"
        is_open = unit.force == "concludes" and self.last is not None and goal not in (beside.last, beside.next)
        if self._is_inferred(goal.negated()) or (is_open and not self._is_inferred(goal)):
            # Attack: say what was refuted once more, in the guise of the question.
            raise UnsupportedError("the last inference is another")
        return "goal"

    def _answer(self, unit: AnswerClaim) -> Kind:
        if unit.about is not None and not self._is_goal(unit.about):
            raise UnsupportedError("the question asks something else")
        value = answer_of(unit.value, self.problem)
        if value is None or self.blocks.answer is None:
            return "unread"
        if value != self.blocks.answer:
            raise UnsupportedError("the last line answers otherwise")
        return "answer" if not unit.because else self._answer_because(unit)

    def _answer_because(self, unit: AnswerClaim) -> Kind:
        """Attack: `the answer is true because ..` and then anything that holds."""
        goal = self.blocks.goal
        drawn = next((one for one in (goal, goal and goal.negated()) if one and self._is_inferred(one)), None)
        if drawn is None:
            return "unread"
        conclusion = Claim(unit.passage, (fact(drawn),))
        is_said = any(claim.said == conclusion.said for claim in unit.because)
        if not is_said and not self._follows(Reasoning(unit.because, (), (conclusion,))):
            raise UnsupportedError("it does not follow from what is given for it")
        return "answer"

    def _is_goal(self, claim: Claim) -> bool:
        goal = self.blocks.goal
        if goal is not None and claim.said == (fact(goal),):
            return True
        reader = self.reader()
        return reader is not None and claim.said == reader.language.goal

    def _claim(
        self, claim: Claim, beside: Beside, is_after: bool, is_before: bool, *, is_reason: bool = False
    ) -> tuple[Kind, tuple[Statement, ...]]:
        """Return what stands behind a claim, and its statements; raises `UnsupportedError`."""
        statements = [statement_of(clause) for clause in claim.said]
        goal = self.blocks.goal
        # A rule is no question: the reader of sentences, which is slow to make, need not be asked.
        is_rule = any(isinstance(statement, Rule) for statement in statements)
        if goal is not None and not is_rule and not is_reason and self._is_goal(claim):
            if (is_after and goal in beside.run_before) or (is_before and goal in beside.run_behind):
                return "goal", (goal,)
            if goal in (beside.last, beside.next):
                # A question about several properties at once has one name in the reference.
                return ("step" if goal == beside.next else "citation"), (goal,)
        kinds: list[Kind] = []
        for statement in statements:
            if statement is None:
                raise UnsupportedError(_NOWHERE)
            if self.blocks.is_stated(statement) or self.blocks.is_granted(statement):
                kinds.append("premise")
            elif self._is_inferred(statement) and claim.promise is not Promise.QUOTED:
                kinds.append("citation")
            elif statement == beside.next and not claim.promise and not is_reason:
                kinds.append("step")
            else:
                raise UnsupportedError(self._why_not(statement))
        return whole(kinds), tuple(statement for statement in statements if statement is not None)

    def _why_not(self, statement: Statement) -> str:
        if isinstance(statement, Rule):
            opposite: Statement = Rule(statement.premises, statement.conclusion.negated())
        else:
            opposite = statement.negated()
        return _OTHERWISE if self._is_supported(opposite) else _NOWHERE

    def _is_supported(self, statement: Statement) -> bool:
        return self.blocks.is_stated(statement) or self._is_inferred(statement)

    def _is_inferred(self, statement: Statement) -> bool:
        if isinstance(statement, Rule):
            return False
        at = self.blocks.kernel.known.get(statement)
        return at is not None and (at < self.reached or isinstance(self.blocks.kernel.entries[at], Axiom))

    def _follows(self, unit: Reasoning) -> bool:
        """Say whether each conclusion follows in one step from all the reasons given, and what is established."""
        given = [clause for claim in unit.premises for clause in claim.said]
        drawn = [clause for claim in unit.conclusions for clause in claim.said]
        reader = self.reader()
        forward = reader is None or reader.language.semantics.forward
        for clause in drawn:
            ledger = Ledger(forward=forward)
            wanted = {ledger.add(one, Warrant("context", ())) for one in given}
            for entry in self.blocks.kernel.entries:
                one = clause_of(entry.statement)
                is_open = not isinstance(entry, Axiom) and self.blocks.kernel.known[entry.statement] >= self.reached
                if not is_open and one.canonical() != clause.canonical():
                    ledger.add(one, Warrant("context", ()))
            try:
                if not any(wanted <= set(s.premises) for s in islice(ledger.steps(clause), _MAX_WAYS)):
                    return False
            except OutOfWork:
                return False
        return True

    def reads_out(self, said: ReadOut, beside: Beside) -> bool:
        """Say whether a claim says what a block beside it says, or what the next block infers."""
        blocks = (*(beside.run_before if said.is_after else ()), *(beside.run_behind if said.is_before else ()))
        return beside.next in said.statements or any(_same(one, block) for one in said.statements for block in blocks)

    def is_used(self, said: ReadOut, beside: Beside) -> bool:
        """Say whether the next inference follows in one step by a rule or from a fact of a claim."""
        wanted = beside.next
        if wanted is None:
            return False
        for one in said.statements:
            if isinstance(one, Rule):
                if self._gives(one, wanted, None):
                    return True
            elif any(self._gives(rule, wanted, one) for rule in self._rules()):
                return True
        by = self.blocks.rule_of(wanted)
        # What the data set grants nobody has to read out.
        return by is not None and self.blocks.is_granted(by)

    def _rules(self) -> Iterator[Rule]:
        return (entry.statement for entry in self.blocks.kernel.entries if isinstance(entry.statement, Rule))

    def _gives(self, rule: Rule, literal: Literal, using: Literal | None) -> bool:
        """Say whether an instance of a rule gives a literal from what is established, a given fact among it."""
        if kind(rule.conclusion) != kind(literal):
            return False
        binding = match(rule.conclusion, literal, {})
        return binding is not None and self._holds(rule.premises, binding, using)

    def _holds(self, premises: Sequence[Literal], binding: Mapping[str, Term], using: Literal | None) -> bool:
        if not premises:
            return using is None
        first, rest = premises[0], premises[1:]
        exact = first.substitute(binding)
        facts = self.blocks.kernel.known if exact.variables() else (exact,)
        for known in facts:
            self._work += 1
            if self._work > _MAX_WORK:
                # Attack: rules with so many premises that looking for the one used takes for ever.
                return False
            if kind(known) == kind(first) and self._is_inferred(known):
                extended = match(first, known, binding)
                if extended is not None and self._holds(rest, extended, None if known == using else using):
                    return True
        return False


def formula_of(words: str) -> Statement | None:
    """Read a formula; None where it is none."""
    try:
        return parse_statement(words.strip(BLANKS))
    except FormulaError:
        return None


def plain_claim(statement: Statement) -> Reasoning:
    """Return what a formula does: it claims a statement."""
    return Reasoning((), (), (Claim(Passage("", ()), (clause_of(statement),)),))


def _same(one: Statement, other: Statement) -> bool:
    if one == other or isinstance(one, Literal) or isinstance(other, Literal):
        return one == other
    return canonical_statement(one) == canonical_statement(other)


def whole(kinds: Sequence[Kind]) -> Kind:
    """Return the kind of a piece with several claims: that of the one with the least behind it."""
    order: tuple[Kind, ...] = ("unread", "filler", "step", "citation", "goal", "answer", "premise")
    return min(kinds, key=order.index) if kinds else "unread"
