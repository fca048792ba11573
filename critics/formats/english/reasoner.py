"""Tries the claims of a text against its context, move by move: each must follow, and its reasons be those it needs.

A claim that says less than what is known is refused: a condition whose conclusion holds anyhow, `or` where one side is
known. So is a citation of a premise that does not say so, or has nothing to do with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from critics.formats.english.entailed_text import Step
from critics.grammar.discourse import Aim, Claim, Contradicts, Judged, Move, NotKnown
from critics.logic.first_order.knowledge import Knowledge
from critics.logic.first_order.printing import canonical
from critics.logic.first_order.solvers import Answer
from critics.replay.first_order.syntax import (
    Atom,
    Compound,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    conjuncts,
    key,
    negated,
    predicates,
    subformulas,
)
from critics.text.english.passage import TextSentence
from critics.text.english.statements import possibility
from critics.verdict import Malformed, TimedOut, Unproved
from critics.verdict.conclusion import Refusal


@dataclass(frozen=True, slots=True)
class Told:
    """One sentence of the text with its moves, each with the formula of its statement, if it has one."""

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
    unsaid: tuple[str, ...] = ()
    """Premises that a step rests on and that no sentence said before it."""


class BadMove(Exception):  # noqa: N818
    """A sentence that does not hold, or is not read."""

    def __init__(self, index: int, text: str, refusal: Refusal) -> None:
        super().__init__(text)
        self.index, self.text, self.refusal = index, text, refusal
        self.claim: Formula | None = None
        """What does not follow."""


class Reasoner:
    """A text being tried against its context, move by move."""

    def __init__(self, case: Case) -> None:
        self.case = case
        formulas = [formula for told in case.told for _, formula in told.moves if formula is not None]
        possible = [each for formula in formulas if (each := possibility(formula)) is not None]
        idle = [each for formula in formulas for each in (*stronger(formula), *conditions(formula))]
        self.known = Knowledge(case.premises, [*formulas, *possible, *idle, case.goal])
        self.steps: list[Step] = []
        self.unsaid: dict[str, None] = {}
        self.claims: list[Formula] = []
        """Statements of the moves so far, in order."""
        self.value: str | None = None
        self.num_moves = 0
        self.is_final = False
        self.before: Move | None = None
        self.is_open = False
        """True where the text says that the question itself is not known."""
        self.doubted: tuple[int, str] | None = None
        """The first sentence that says that something is not known."""
        self.index, self.text = 0, ""

    def outcome(self) -> Outcome:
        """Return what is proved; raises `BadMove` for the first move that does not hold."""
        for index, told in enumerate(self.case.told):
            self.index, self.text = index, told.line.passage.text
            for move, formula in told.moves:
                self._move(move, formula)
                self.before = move
                self.claims += [] if formula is None else [formula]
        if self.doubted is not None and self.value != "unknown":
            # Attack: lengthen a proof by what nobody knows.
            self.index, self.text = self.doubted
            raise self._bad("unsupported_sentence", "that it is not known has nothing to do with the answer")
        if self.value is None:
            raise Refusal(Malformed, "no_answer", "the text has no answer, or more than one")
        if self.value == "unknown" and not self.is_open:
            # Attack: say of something else that nobody knows it, and answer the question with that.
            raise Refusal(Unproved, "goal_not_reached", "the text does not say that the question itself is open")
        if not self.num_moves:
            raise Refusal(Unproved, "goal_not_reached", "the text gives no reason for its answer")
        return Outcome(self.value, tuple(self.steps), tuple(self.unsaid))

    def _bad(self, reason: str, why: str) -> BadMove:
        return BadMove(self.index, self.text, Refusal(Unproved, reason, f"{self.text!r}: {why}"))

    def _move(self, move: Move, formula: Formula | None) -> None:
        match move:
            case Claim():
                assert formula is not None
                self._claim(move, formula)
            case NotKnown():
                self._not_known(move, formula)
            case Aim():
                if formula is None or key(formula) != key(self.case.goal):
                    raise self._bad("unsupported_sentence", "the question is another")
            case Contradicts():
                if move.of_context and not isinstance(self.before, Aim):
                    raise self._bad("unsupported_sentence", "what contradicts the context is not said")
                self._supported(negated(self.case.goal if formula is None else formula), ())
                self.num_moves += 1
            case Judged():
                self._judged(move, formula)

    def _claim(self, move: Claim, formula: Formula) -> None:
        possible = possibility(formula)
        match formula:
            case Not(Atom(predicate=name)) if name.startswith(("can ", "could ")) and possible is not None:
                # What cannot be so is not so.
                formula, possible = possible, None
            case _:
                pass
        premises = range(self.known.num_premises)
        self.num_moves += 1
        if possible is not None:
            is_reasoned = move.given or move.cited or move.because
            if is_reasoned or any(
                self.known.follows(each, premises) is not Answer.SATISFIABLE for each in (possible, Not(possible))
            ):
                # Attack: say of what is so, or cannot be so, that it may be so.
                raise self._bad("unsupported_sentence", "the context settles it, or does not say it")
            self.doubted = self.doubted or (self.index, self.text)
            return
        cited = tuple(self.case.places[number] for number in move.cited if number in self.case.places)
        if len(cited) != len(move.cited):
            raise self._bad("unsupported_sentence", "a premise of that number is not there, or is not read")
        if move.because:
            self._rests(formula, move)
        elif move.inferred and not move.cited and self._is_unfounded(formula, self.claims):
            raise self._bad("unsupported_sentence", "it does not follow from what is said before it")
        if key(formula) != key(self.case.goal) and self._is_idle(formula):
            # Attack: if Ned is a newt then Pip is a bird, of a Pip that is one.
            raise self._bad("unsupported_sentence", "it says less than what is known")
        if cited:
            self._cites(conjuncts(formula), cited)
        for part in conjuncts(formula):
            if move.given and not cited:
                self._given(part)
            support = self._supported(part, cited)
            stands = support is not None and support < self.known.num_premises
            if move.inferred and not move.cited and stands and self._is_guised(part, self.known.formulas[support or 0]):
                # Attack: a premise of the context in the guise of a conclusion: Tom is kind, so Tom is a cat.
                raise self._bad("unsupported_sentence", "it stands in the context, and does not follow from this")

    def _is_unfounded(self, formula: Formula, reasons: Sequence[Formula]) -> bool:
        """Say whether a claim, or a part of it, follows in one step, and none of these reasons is part of the step."""
        told = {key(part) for reason in reasons for part in (reason, *conjuncts(reason))}
        parts = conjuncts(formula)
        if key(formula) in told:
            return False
        if len(parts) > 1:
            return any(self._is_unfounded(part, reasons) for part in parts)
        facts = [place for place in self.known.facts if key(self.known.formulas[place]) != key(formula)]
        others = [place for place in facts if key(self.known.formulas[place]) not in told]
        is_step = False
        for rule in [(), *((place,) for place in self.known.rules)]:
            if self._gives(formula, [*facts, *rule]):
                is_step = True
                is_told = any(key(self.known.formulas[place]) in told for place in rule)
                if is_told or not self._gives(formula, [*others, *rule]):
                    return False
        return is_step

    def _rests(self, formula: Formula, move: Claim | Judged) -> None:
        """Hold a claim to the reasons that are given for it: with facts and one rule they give it, and none is idle."""
        claims = self.claims[-move.because :]
        reasons = [part for reason in claims for part in conjuncts(reason)]
        if move.loosely and not any(map(possibility, reasons)) and key(formula) not in map(key, reasons):
            if self._is_unfounded(formula, claims):
                # Attack: Ned is a newt, so Pip is a bird.
                raise self._bad("unsupported_sentence", "it does not follow from what stands before it")
            return
        own = [self.known.keys[key(part)] for part in reasons if key(part) in self.known.keys]
        facts = [place for place in self.known.facts if key(self.known.formulas[place]) != key(formula)]
        given = tuple(place for place in own if place in self.known.rules)
        # Attack: Pip is a bird because Pip is a bird; since Ned is a newt, Pip is a bird.
        rules = [given] if given else [(), *((place,) for place in self.known.rules)]
        found = next((rule for rule in rules if self._gives(formula, [*facts, *rule])), None)
        is_idle = found is None or any(
            self._gives(formula, [*facts, *(other for other in given if other != place)]) for place in given
        )
        for place in (place for place in own if place in self.known.facts and found is not None):
            said = self.known.formulas[place]
            others = [*(other for other in facts if not self._gives(said, [other])), *(found or ())]
            is_idle = is_idle or self._gives(formula, others) or not self._gives(formula, [*others, place])
        if is_idle or key(formula) in map(key, reasons) or any(map(possibility, reasons)):
            raise self._bad("unsupported_sentence", "the reasons that it gives are not those that it needs")

    def _gives(self, formula: Formula, places: Sequence[int]) -> bool:
        return self.known.follows(formula, places) is Answer.UNSATISFIABLE

    def _is_guised(self, part: Formula, premise: Formula) -> bool:
        """Say whether a claim is a premise that the text has not told before, and not what is asked."""
        told = {key(step.says) for step in self.steps[:-1]} | {key(self.case.goal)}
        return key(part) == key(premise) and key(part) not in told

    def _is_idle(self, formula: Formula) -> bool:
        """Say whether a claim that is new says less than what it follows from: its conclusion, or without a part."""
        more = stronger(formula)
        if key(formula) in self.known.keys:
            return False
        plain = [place for place in self.known.facts if not is_existential(self.known.formulas[place])]
        if self._gives(formula, ()) or (is_existential(formula) and self._gives(formula, plain)):
            return True
        if not more or (is_choice(formula) and self._is_condition(formula)):
            return False
        parts = conditions(formula)
        facts = [
            place for place in self.known.facts if not any(self._gives(part, [place]) for part in parts)
        ]  # fmt: skip
        for rule in [(), *((place,) for place in self.known.rules)]:
            places = [*facts, *rule]
            if self._gives(formula, places) and not any(self._gives(each, places) for each in more):
                return False
        return True

    def _is_condition(self, choice: Formula) -> bool:
        """Say whether a rule asks for one of the same."""
        rules = [self.known.formulas[place] for place in self.known.rules]
        inner = [part for rule in rules if not is_choice(rule) for part in subformulas(rule)]
        return any(is_choice(part) and predicates(part) == predicates(choice) for part in inner)

    def _given(self, part: Formula) -> None:
        """Hold what is said to stand in the context to it: one premise says it."""
        wanted = [
            place
            for place in range(self.known.num_premises)
            if predicates(self.known.formulas[place]) & predicates(part)
        ]
        if not any(self._gives(part, [place]) for place in wanted):
            raise self._bad("unsupported_sentence", "no premise says so")

    def _cites(self, parts: Sequence[Formula], cited: Sequence[int]) -> None:
        """Hold a citation to it: each part needs one of the premises, with the facts if it is a rule, and each is used.

        Attack: a claim that holds, with the number of another premise.
        """
        used: set[int] = set()
        for part in parts:
            says = {place for place in cited if self._gives(part, [place])}
            rules = [place for place in cited if place in self.known.rules and not says]
            for rule in rules:
                facts = self.known.facts
                if self._gives(part, [*facts, rule]) and not self._gives(part, facts):
                    says |= {rule, *(place for place in cited if self._is_needed(part, place, rule))}
            if not says:
                raise self._bad("unsupported_sentence", "the premise that is cited does not say so")
            used |= says
        if used != set(cited):
            raise self._bad("unsupported_sentence", "a premise that is cited has nothing to do with it")

    def _is_needed(self, part: Formula, place: int, rule: int) -> bool:
        """Say whether a fact is needed beside a rule."""
        said = self.known.formulas[place]
        others = [other for other in self.known.facts if not self._gives(said, [other])]
        return place in self.known.facts and not self._gives(part, [*others, rule])

    def _supported(self, part: Formula, wanted: Sequence[int]) -> int | None:
        """Know one more claim; return the place of the rule that it needs. Raises `BadMove`."""
        found = self.known.support(part, wanted)
        if found is None:
            whole = self.known.follows(part, range(len(self.known.formulas)))
            if whole is Answer.UNDECIDED:
                raise BadMove(
                    self.index, self.text, Refusal(TimedOut, "solver_budget", f"{self.text!r} takes too long")
                )
            if whole is Answer.UNSATISFIABLE:
                raise self._bad("skipped_steps", "it follows in several steps")
            bad = self._bad("unsupported_sentence", "it does not follow")
            bad.claim = part
            raise bad
        self.steps.append(Step(self.index, part))
        self.unsaid |= {canonical(self.known.formulas[place]): None for place in self._unsaid(part, found.rule)}
        self.known.add(part)
        return found.rule

    def _unsaid(self, part: Formula, rule: int | None) -> list[int]:
        """Return the premises that a claim needs beside the claims before it; none where one premise says it."""
        first, words = self.known.num_premises, predicates(part)
        told = range(first, len(self.known.formulas))
        stated = [[place] for place in range(first) if words <= predicates(self.known.formulas[place])]
        if (rule is not None and key(part) == key(self.known.formulas[rule])) or self._gives(part, told):
            return []
        if any(self._gives(part, places) for places in stated):
            return []
        needed = [place for place in (*self.known.facts, *(() if rule is None else (rule,))) if place < first]
        for place in tuple(needed):
            rest = [other for other in needed if other != place]
            needed = rest if self._gives(part, [*told, *rest]) else needed
        return needed

    def _not_known(self, move: NotKnown, told: Formula | None) -> None:
        premises = range(self.known.num_premises)
        formula = self.case.goal if told is None else told
        for each in (formula, negated(formula)) if move.both_ways else (formula,):
            if self.known.follows(each, premises) is not Answer.SATISFIABLE:
                raise self._bad("unsupported_sentence", "the context settles it")
        if not any(asks_for(claim, formula) for claim in self.claims):
            # That nobody knows whether the condition of a rule is met tells why the rule is not used.
            self.doubted = self.doubted or (self.index, self.text)
        if told is None:
            return
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
            said = goal if value == "true" else negated(goal)
            reasons = [part for reason in self.claims[len(self.claims) - move.because :] for part in conjuncts(reason)]
            if move.because and key(said) not in map(key, reasons):
                self._rests(said, move)
            self._check_told(said, spelled=formula is not None)
            self._supported(said, ())
            self.num_moves += formula is not None


def conditions(formula: Formula) -> list[Formula]:
    """Return the conditions of a conditional without variables of its own."""
    if isinstance(formula, Compound) and formula.operator is Operator.IMPLIES:
        return list(conjuncts(formula.operands[0]))
    return []


def asks_for(rule: Formula, formula: Formula) -> bool:
    """Say whether a rule has a condition of the same predicates as a formula."""
    while isinstance(rule, Quantified):
        rule = rule.body
    return any(predicates(formula) <= predicates(part) for part in conditions(rule))


def stronger(formula: Formula) -> list[Formula]:
    """Return what says more than a formula, so that who knows it has no need of the formula; none of a plain fact."""
    match formula:
        case Compound(Operator.IMPLIES, (condition, said)):
            parts = conjuncts(condition)
            fewer = [[other for other in parts if other is not part] for part in parts if len(parts) > 1]
            return [said, negated(condition), *(_implied(some, said) for some in fewer)]
        case Compound(Operator.OR | Operator.XOR, operands):
            return list(operands)
        case Quantified(Quantifier.ALL, _, body):
            return [replace(formula, body=part) for part in stronger(body)]
        case _:
            return []


def is_choice(formula: Formula) -> bool:
    """Say whether a formula is an `or`."""
    return isinstance(formula, Compound) and formula.operator in (Operator.OR, Operator.XOR)


def is_existential(formula: Formula) -> bool:
    """Say whether a formula says that there is something."""
    return isinstance(formula, Quantified) and formula.quantifier is Quantifier.SOME


def _implied(parts: list[Formula], said: Formula) -> Formula:
    condition = parts[0] if len(parts) == 1 else Compound(Operator.AND, tuple(parts))
    return Compound(Operator.IMPLIES, (condition, said))
