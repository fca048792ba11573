"""The critic of texts about any context that the grammar reads: English is read, and no formulas are asked for.

Each sentence of the text is taken apart into moves (`critics.grammar.discourse`), whose statements the grammar
reads with the words of the problem. A claim must follow from the context and the claims before it with at most one
rule; one that is cited by number must stand there; what is said not to be known must be open. The verdict must be the
same whether `either .. or` means at least one or exactly one. `unknown` is certified only where the whole context is
read and no phrase of context or question stands alone; of data sets with a regular language, where the question's
phrases stand in the context.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from critics.formats.english.certificate import SETTLED
from critics.formats.english.entailed_text import ChainEvidence, Step, chain_certificate, models_of
from critics.formats.english.statements import CONVENTIONS, Statements, possibility, settled
from critics.grammar.discourse import Aim, Claim, Contradicts, Judged, Move, NotKnown, moves
from critics.grammar.reader import Reading
from critics.logic.first_order.knowledge import Knowledge
from critics.logic.first_order.solvers import Answer
from critics.problem import Attempt, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order.syntax import Formula, FormulaError, Not, conjuncts, key, negated, predicates
from critics.text.english.passage import TextSentence, lines
from critics.text.english.span import coverage, painted
from critics.text.reference import text_contradicts
from critics.verdict import Certified, CriticError, Malformed, TimedOut, Unproved, Verdict
from critics.verdict.conclusion import Refusal, brief, is_wrong, refused, wrong_answer
from critics.verdict.reading import NOT_READ, BadStep, Span, TextReading

MAX_SENTENCES = 200
MAX_CHARACTERS = 30_000


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence of the text with its moves, each with the formula of its statement, if it has one."""

    index: int
    line: TextSentence
    moves: tuple[tuple[Move, Formula | None], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A problem and a text as one reading of `either` has them."""

    premises: tuple[Formula, ...]
    places: dict[int, int]
    """By the number of a sentence of the context, its place among the premises."""
    goal: Formula
    told: tuple[Told, ...]
    is_closed: bool
    """True if what does not follow is open: the context is read whole, and no phrase has another wording."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Value that the text proves, and its steps."""

    value: str
    steps: tuple[Step, ...]


class _Bad(Exception):  # noqa: N818
    """A sentence that does not hold, or is not read."""

    def __init__(self, index: int, text: str, refusal: Refusal) -> None:
        super().__init__(text)
        self.index, self.text, self.refusal = index, text, refusal


def judge_readings(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one text by what the grammar reads of problem and text; bounded by a solver's budget for each claim."""
    text = attempt.completion
    said = list(islice(lines(text, problem.question), MAX_SENTENCES + 1))
    if len(text) > MAX_CHARACTERS or len(said) > MAX_SENTENCES:
        return Malformed("too_long", None, f"more than {MAX_SENTENCES} sentences or {MAX_CHARACTERS} characters")
    try:
        outcome, case = _outcome(problem, said)
        verdict = _verdict(problem, text, case, outcome)
        return replace(verdict, reading=_reading(text, case))
    except _Bad as bad:
        reason = NOT_READ if bad.refusal.reason == "not_read" else bad.refusal.reason
        spans = painted((), (), text)
        found = TextReading(coverage(spans, text), spans, BadStep(bad.index, bad.text, reason))
        return replace(refused(bad.refusal, problem, None), reading=found)
    except Refusal as refusal:
        return refused(refusal, problem, None)
    except FormulaError as error:
        return Malformed(error.reason, None, brief(str(error)))


def _outcome(problem: Problem, said: Sequence[TextSentence]) -> tuple[Outcome, Case]:
    """Return what the text proves under every reading of `either`; raises `Refusal`."""
    statements = Statements(problem)
    outcomes: list[tuple[Outcome, Case]] = []
    for exclusive in (False, True) if statements.has_either(said) else (False,):
        case = _case(problem, statements, said, exclusive=exclusive)
        outcomes.append((_Trial(case).outcome(), case))
    if len({outcome.value for outcome, _ in outcomes}) > 1:
        raise Refusal(Unproved, "text_says_otherwise", "the answer depends on whether `either` means one or both")
    return outcomes[0]


def _case(problem: Problem, statements: Statements, said: Sequence[TextSentence], *, exclusive: bool) -> Case:
    context = statements.problem.context()
    places = {
        number: at for at, number in enumerate(n for n, each in enumerate(context, 1) if isinstance(each, Reading))
    }
    read = [each for each in context if isinstance(each, Reading)]
    goal = statements.goal(exclusive=exclusive)
    if goal is None:
        raise Refusal(CriticError, "context_not_read", f"the question {problem.question!r} is not read")
    told: list[Told] = []
    for index, line in enumerate(said):
        found = moves(line.passage.text, statements.reads) if line.is_readable else None
        if found is None:
            raise _Bad(index, line.passage.text, Refusal(Malformed, "not_read", f"{line.passage.text!r} is not read"))
        told.append(Told(index, line, tuple(_with_formulas(found, statements, index, line, exclusive=exclusive))))
    premises = tuple(each.exclusive if exclusive else each.formula for each in read)
    is_closed = len(read) == len(context) and (settled(problem) in CONVENTIONS or _are_twins([*premises, goal]))
    return Case(premises, places, goal, tuple(told), is_closed)


def _are_twins(formulas: Sequence[Formula]) -> bool:
    """Say whether each phrase stands in two sentences: what stands in one alone may mean what another says."""
    counts = Counter(name for formula in formulas for name in predicates(formula))
    return min(counts.values(), default=0) > 1


def _with_formulas(
    found: Sequence[Move], statements: Statements, index: int, line: TextSentence, *, exclusive: bool
) -> Iterator[tuple[Move, Formula | None]]:
    for move in found:
        text = move.text
        formula = None if not text else statements.next_formula(text, exclusive=exclusive)
        if text and formula is None:
            raise _Bad(index, line.passage.text, Refusal(Malformed, "not_read", f"{text!r} is not read"))
        yield move, formula


class _Trial:
    """A text being tried against its context, move by move."""

    def __init__(self, case: Case) -> None:
        self.case = case
        formulas = [formula for told in case.told for _, formula in told.moves if formula is not None]
        possible = [each for formula in formulas if (each := possibility(formula)) is not None]
        self.known = Knowledge(case.premises, [*formulas, *possible, case.goal])
        self.steps: list[Step] = []
        self.claims: list[Formula] = []
        """What each move so far says, in order."""
        self.value: str | None = None
        self.num_moves = 0
        self.is_final = False
        self.is_open = False
        """Whether the text says that the question itself is not known."""
        self.index, self.text = 0, ""

    def outcome(self) -> Outcome:
        """Return what is proved; raises `_Bad` for the first move that does not hold."""
        for told in self.case.told:
            self.index, self.text = told.index, told.line.passage.text
            for move, formula in told.moves:
                self._move(move, formula)
                self.claims += [] if formula is None else [formula]
        if self.value is None:
            raise Refusal(Malformed, "no_answer", "the text has no answer, or more than one")
        if self.value == "unknown" and not self.is_open:
            # Attack: say of something else that nobody knows it, and answer the question with that.
            raise Refusal(Unproved, "goal_not_reached", "the text does not say that the question itself is open")
        if not self.num_moves:
            raise Refusal(Unproved, "goal_not_reached", "the text gives no reason for its answer")
        return Outcome(self.value, tuple(self.steps))

    def _bad(self, reason: str, why: str) -> _Bad:
        return _Bad(self.index, self.text, Refusal(Unproved, reason, f"{self.text!r}: {why}"))

    def _move(self, move: Move, formula: Formula | None) -> None:
        match move:
            case Claim():
                assert formula is not None
                self._claim(move, formula)
            case NotKnown():
                assert formula is not None
                self._not_known(move, formula)
            case Aim():
                if formula is None or key(formula) != key(self.case.goal):
                    raise self._bad("unsupported_sentence", "the question is another")
            case Contradicts():
                self._supported(negated(self.case.goal if formula is None else formula), ())
                self.num_moves += 1
            case Judged():
                self._judged(move, formula)

    def _claim(self, move: Claim, formula: Formula) -> None:
        possible = possibility(formula)
        premises = range(self.known.num_premises)
        self.num_moves += 1
        if possible is not None:
            if self.known.follows(Not(possible), premises) is not Answer.SATISFIABLE:
                raise self._bad("unsupported_sentence", "it cannot be so")
            return
        cited = tuple(self.case.places[number] for number in move.cited if number in self.case.places)
        if len(cited) != len(move.cited):
            raise self._bad("unsupported_sentence", "a premise of that number is not there, or is not read")
        if move.because:
            self._rests(formula, move.because)
        for part in conjuncts(formula):
            if move.given or (cited and not move.inferred):
                self._given(part, cited)
            support = self._supported(part, cited)
            stands = support is not None and support < self.known.num_premises
            if move.inferred and not move.cited and stands and self._is_guised(part, self.known.formulas[support or 0]):
                # Attack: a premise of the context in the guise of a conclusion: Tom is kind, so Tom is a cat.
                raise self._bad("unsupported_sentence", "it stands in the context, and does not follow from this")

    def _rests(self, formula: Formula, num: int) -> None:
        """Hold a claim to the reasons that are given for it: with facts and one rule they give it, and none is idle."""
        reasons = [part for reason in self.claims[-num:] for part in conjuncts(reason)]
        own = [self.known.keys[key(part)] for part in reasons if key(part) in self.known.keys]
        facts = [place for place in self.known.facts if key(self.known.formulas[place]) != key(formula)]
        given = tuple(place for place in own if place in self.known.rules)
        # Attack: Pip is a bird because Pip is a bird; since Ned is a newt, Pip is a bird.
        rules = [given] if given else [(), *((place,) for place in self.known.rules)]
        found = next((rule for rule in rules if self._gives(formula, [*facts, *rule])), None)
        is_idle = found is None or (given and self._gives(formula, facts))
        for place in (place for place in own if place in self.known.facts and found is not None):
            said = self.known.formulas[place]
            others = [other for other in facts if not self._gives(said, [other])]
            is_idle = is_idle or self._gives(formula, [*others, *(found or ())])
        if is_idle or key(formula) in map(key, reasons):
            raise self._bad("unsupported_sentence", "the reasons that it gives are not those that it needs")

    def _gives(self, formula: Formula, places: Sequence[int]) -> bool:
        return self.known.follows(formula, places) is Answer.UNSATISFIABLE

    def _is_guised(self, part: Formula, premise: Formula) -> bool:
        """Say whether a claim is a premise that the text has not told before, and not what is asked."""
        told = {key(step.says) for step in self.steps[:-1]} | {key(self.case.goal)}
        return key(part) == key(premise) and key(part) not in told

    def _given(self, part: Formula, cited: Sequence[int]) -> None:
        """Hold a citation to it: one premise says it, or, where it is said to follow, with the facts."""
        wanted = cited or [
            place
            for place in range(self.known.num_premises)
            if predicates(self.known.formulas[place]) & predicates(part)
        ]
        if any(self.known.follows(part, [place]) is Answer.UNSATISFIABLE for place in wanted):
            return
        facts = self.known.facts
        if cited and any(self.known.follows(part, [*facts, place]) is Answer.UNSATISFIABLE for place in cited):
            return
        raise self._bad("unsupported_sentence", "the premise that is cited does not say so")

    def _supported(self, part: Formula, wanted: Sequence[int]) -> int | None:
        """Know one more claim; return the place of the rule that it needs. Raises `_Bad`."""
        found = self.known.support(part, wanted)
        if found is None:
            whole = self.known.follows(part, range(len(self.known.formulas)))
            if whole is Answer.UNDECIDED:
                raise _Bad(self.index, self.text, Refusal(TimedOut, "solver_budget", f"{self.text!r} takes too long"))
            skipped = whole is Answer.UNSATISFIABLE
            raise self._bad(
                "skipped_steps" if skipped else "unsupported_sentence",
                "it follows in several steps" if skipped else "it does not follow",
            )
        self.steps.append(Step(self.index, part))
        self.known.add(part)
        return found.rule

    def _not_known(self, move: NotKnown, formula: Formula) -> None:
        premises = range(self.known.num_premises)
        for each in (formula, negated(formula)) if move.both_ways else (formula,):
            if self.known.follows(each, premises) is not Answer.SATISFIABLE:
                raise self._bad("unsupported_sentence", "the context settles it")
        self.num_moves += 1
        self.is_open = self.is_open or key(formula) in (key(self.case.goal), key(negated(self.case.goal)))

    def _check_told(self, answer: Formula, *, spelled: bool) -> None:
        """Hold the answer to the text's own claims: they give it, with at most one premise beside them."""
        first = self.known.num_premises
        told = range(first, len(self.known.formulas))
        # Attack: true sentences that have nothing to do with the answer, and the answer behind them.
        if spelled and key(answer) in map(key, self.known.formulas):
            return
        for beside in ((), *((place,) for place in self.known.rules if place < first)):
            if self.known.follows(answer, [*told, *beside]) is Answer.UNSATISFIABLE:
                return
        raise self._bad("goal_not_reached", "what the text says does not lead to it")

    def _judged(self, move: Judged, formula: Formula | None) -> None:
        """Take a value for the question, or what a value says of another statement."""
        value, goal = move.value, self.case.goal
        if self.is_final:
            raise self._bad("unsupported_sentence", "something is judged behind the answer")
        self.is_final = move.is_final
        if formula is not None and key(formula) != key(goal):
            if key(formula) == key(negated(goal)):
                value = {"true": "false", "false": "true"}.get(value, value)
            elif value == "unknown":
                self._not_known(NotKnown(self.text, both_ways=True), formula)
                return
            else:
                self._supported(formula if value == "true" else negated(formula), ())
                return
        if self.value is not None and self.value != value:
            raise self._bad("unsupported_sentence", "the text gives two answers")
        self.value = value
        self.is_open = self.is_open or (value == "unknown" and formula is not None)
        if value != "unknown":
            self._check_told(goal if value == "true" else negated(goal), spelled=formula is not None)
            self._supported(goal if value == "true" else negated(goal), ())
            self.num_moves += formula is not None


def _verdict(problem: Problem, text: str, case: Case, outcome: Outcome) -> Verdict:
    """Certify what the context bears out; raises `Refusal`."""
    value = outcome.value
    answer = in_terms_of(value, problem.options)
    if answer is None:
        raise Refusal(Unproved, "no_option", f"no option, or more than one, says {value}")
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    models = models_of(case.premises, case.goal, value)
    heard = {name for premise in case.premises for name in predicates(premise)}
    if value == "unknown" and not (case.is_closed and predicates(case.goal) <= heard):
        # Attack: ask for what the context says in other words, and answer that nobody knows.
        raise Refusal(Unproved, "goal_not_reached", "a phrase of the question, or of the context, has no twin")
    if text_contradicts(problem, answer, "none"):
        raise Refusal(Unproved, "text_says_otherwise", "a translator reads the text otherwise")
    evidence = ChainEvidence(text, {SETTLED: settled(problem)}, case.premises, outcome.steps, case.goal, value, *models)
    return Certified(answer, chain_certificate(problem, answer, evidence, "aligned"))


def _reading(text: str, case: Case) -> TextReading:
    spans = [span for told in case.told for span in _span(told)]
    done = [told.line.passage.span for told in case.told]
    found = painted(spans, done, text)
    return TextReading(coverage(found, text), found)


def _span(told: Told) -> Iterator[Span]:
    start, end = told.line.passage.span
    kinds = {type(move) for move, _ in told.moves}
    if Claim in kinds or Contradicts in kinds or NotKnown in kinds:
        yield Span(start, end, "step")
    elif Judged in kinds:
        yield Span(start, end, "answer")
    elif Aim in kinds:
        yield Span(start, end, "goal")
    else:
        yield Span(start, end, "filler")
