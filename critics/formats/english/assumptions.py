"""The state of a text that is being tried, and proofs under an assumption: by contradiction, and case by case."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from critics.formats.english.entailed_text import BadMove, Case, Step
from critics.formats.english.reasons import joined, left_out
from critics.logic.first_order.knowledge import Knowledge, RuleSupport
from critics.logic.first_order.shapes import conditions, is_choice, is_fact, stronger
from critics.logic.first_order.solvers import Answer
from critics.replay.first_order.reader import canonical
from critics.replay.first_order.syntax import Compound, Formula, Operator, conjuncts, key, negated
from critics.text.english import moves
from critics.text.english.phrases import ORDINALS
from critics.verdict import TimedOut, Unproved
from critics.verdict.conclusion import Refusal


@dataclass(frozen=True, slots=True)
class Supposition:
    """An assumption in force, the place from which on all is known under it, and what was said since."""

    assumed: Formula
    start: int
    said: list[Formula] = field(default_factory=list[Formula])

    def implies(self, said: Formula) -> Formula:
        """Return what a claim says that is made under the assumption."""
        return Compound(Operator.IMPLIES, (self.assumed, said))

    def is_condition_of(self, formula: Formula) -> bool:
        """Say whether a claim sums up: if what is assumed holds, then .."""
        return [key(part) for part in conditions(formula)] == [key(part) for part in conjuncts(self.assumed)]


def is_contradicted(known: Knowledge, claims: Iterable[Formula]) -> bool:
    """Say whether facts and one rule deny one of these claims."""
    parts = [part for claim in claims for part in (claim, *conjuncts(claim))]
    denied = any(key(negated(part)) in known.keys for part in parts)
    return denied or any(known.shows(negated(part), rule) for part in parts for rule in _rules(known))


def is_part(formula: Formula, claims: Sequence[Formula]) -> bool:
    """Say whether a claim is a part of another: Tom is a cat and warm, which means that he is warm."""
    return any(key(formula) in map(key, conjuncts(claim)) and key(claim) != key(formula) for claim in claims)


def by_cases(known: Knowledge, claim: Formula) -> RuleSupport | None:
    """Return the alternative each of whose cases gives a claim with facts and one rule; None where there is none."""
    for place in known.rules:
        choice = known.formulas[place]
        cases = [Compound(Operator.IMPLIES, (case, claim)) for case in (stronger(choice) if is_choice(choice) else ())]
        if cases and all(any(known.gives(case, [*known.facts, *rule]) for rule in _rules(known)) for case in cases):
            return RuleSupport(place)
    return None


def _rules(known: Knowledge) -> list[tuple[int, ...]]:
    return [(), *((place,) for place in known.rules)]


class Trying:
    """A text being tried: what is known, what was claimed, and what is assumed."""

    def __init__(self, case: Case, known: Knowledge) -> None:
        self.case, self.known = case, known
        self.steps: list[Step] = []
        self.unsaid: dict[str, None] = {}
        self.claims: list[Formula] = []
        self.claimed: Formula | None = None
        """Claims of the move that is being tried."""
        self.num_moves: int = 0
        self.num_before = 0  # Claims of earlier sentences.
        self.read_out: set[int] = set()
        """Rules of the context that were said since the last step."""
        self.set_aside: set[int] = set()
        """Rules that are said not to be needed."""
        self.used: set[int] = set()
        """Rules that a step needed."""
        self.supposed: Supposition | None = None
        self.would: Supposition | None = None
        """The condition of the last `if .. would ..`, and what would be under it."""
        self.labels: dict[int, list[Formula]] = {}
        """By the number that stands before a sentence what it claims; negative in `Step 4: ..`."""
        self.index, self.text = 0, ""

    def _bad(self, reason: str, why: str) -> BadMove:
        return BadMove(self.index, self.text, Refusal(Unproved, reason, f"{self.text!r}: {why}"))

    def _refuse_if(self, wrong: object, why: str) -> None:
        if wrong:
            raise self._bad("unsupported_sentence", why)

    def _set_aside(self, rules: set[int]) -> None:
        """Take rules for such as no step needs, before or behind."""
        self._refuse_if(self.used & rules, "a step before it needs that rule")
        self.set_aside |= rules

    def _numbered(self, number: int) -> list[int]:
        """Return the places of what is cited by a number: the text's own sentence, or a premise."""
        places = list[int | None]()
        if number in self.labels:
            said = (part for each in self.labels[number] for part in (each, *conjuncts(each)))
            places += [self.known.keys.get(key(part)) for part in said]
        nth = "|".join(word for word, place in ORDINALS.items() if place == number) if number else "last|final"
        nth = f"(?:{nth or '(?!)'}|{number}(?:st|nd|rd|th)) (?P<nth>rule|fact|premise)"
        named = re.search(
            rf"\b(?:(?P<kind>rule|fact|premise)s?\b[\d ,&and]* {number}|{nth})\b", self.text, re.IGNORECASE
        )
        kind = "" if named is None else (named["kind"] or named["nth"]).lower()
        if kind in ("rule", "fact"):
            # The second rule may be that of the context's rules, or its second sentence, if that is a rule.
            stated = [at for at in self.case.places.values() if is_fact(self.known.formulas[at]) == (kind == "fact")]
            stated = sorted(set(stated))
            own = stated[number - 1 : number] if number else stated[-1:]
            places += [at for at in (*own, self.case.places.get(number)) if at in stated]
        elif kind:
            places.append(self.case.places.get(number))
        if number in self.labels or kind in ("rule", "fact"):
            found = list(dict.fromkeys(place for place in places if place is not None))
            self._refuse_if(not found, f"a {kind or 'premise'} of that number is not there, or is not read")
            return found
        self._refuse_if(number not in self.case.places, "a premise of that number is not there, or is not read")
        return [self.case.places[number]]

    def _supported(self, part: Formula, wanted: Sequence[int], because: int = 0, is_drawn: bool = False) -> int | None:
        """Know one more claim; return the place of the rule that it needs. Raises `BadMove`."""
        supposed = self.supposed
        found = self.known.support(part, wanted, assuming=supposed is not None or bool(self.known.named))
        if supposed is not None:
            supposed.said.append(part)
        elif found is None:
            recent = self.claims[-(because if is_fact(part) else 4) :] if because or not is_fact(part) else []
            only = self.read_out if is_drawn else None
            found = joined(self.known, part, recent, wanted, only)
            found = by_cases(self.known, part) if found is None and (because or is_drawn) else found
        if found is None:
            whole = self.known.follows(part, range(len(self.known.formulas)))
            if whole is Answer.UNDECIDED:
                refusal = Refusal(TimedOut, "solver_budget", f"{self.text!r} takes too long")
                raise BadMove(self.index, self.text, refusal)
            if whole is Answer.UNSATISFIABLE:
                raise self._bad("skipped_steps", "it follows in several steps")
            bad = self._bad("unsupported_sentence", "it does not follow")
            bad.claim = part
            raise bad
        # Attack: call a rule of no use, and use it.
        if found.rule is not None and key(part) != key(self.known.formulas[found.rule]):
            self.used.add(found.rule)
            self._refuse_if(found.rule in self.set_aside, "it needs a rule that is said not to be needed")
        self._step(part if supposed is None else supposed.implies(part))
        self.unsaid |= {canonical(self.known.formulas[place]): None for place in left_out(self.known, part, found.rule)}
        self.known.add(part)
        return found.rule

    def _step(self, said: Formula) -> None:
        self.steps.append(Step(self.index, said))

    def _is_asked(self, formula: Formula) -> bool:
        return key(formula) in (key(self.case.goal), key(negated(self.case.goal)))

    def _check_told(self, answer: Formula, *, spelled: bool) -> None:
        """Hold the answer to the text's own claims: they give it."""
        told = [place for claim in self.claims if (place := self.known.keys.get(key(claim))) is not None]
        told += self.known.claimed()
        # Attack: true sentences that have nothing to do with the answer, and the answer behind them.
        if (spelled and key(answer) in map(key, self.known.formulas)) or self.known.gives(answer, told):
            return
        raise self._bad("goal_not_reached", "what the text says does not lead to it")

    def _check_promise(self, formula: Formula, promise: moves.Promise) -> None:
        """Hold what is said to be known, or to have been shown, to it."""
        place = self.known.keys.get(key(formula))
        is_shown = place is not None and place >= self.known.num_premises
        self._refuse_if(promise is moves.Promise.GIVEN and place is None, "it is not known")
        self._refuse_if(promise is moves.Promise.SHOWN and not is_shown, "it was not inferred before")

    def _suppose(self, formula: Formula) -> None:
        """Assume something for a while."""
        self._close()
        if key(formula) in self.known.keys or key(negated(formula)) in self.known.keys:
            raise self._bad("unsupported_sentence", "it is known, or its denial is")
        self.supposed = Supposition(formula, len(self.known.formulas))
        self.known.add(formula)

    def _close(self, proved: Formula | None = None) -> None:
        """Give up an assumption: what was said under it holds if it does, or its denial is proved."""
        supposed, self.supposed = self.supposed, None
        if supposed is None:
            return
        self._refuse_if(not supposed.said, "the assumption before it is used for nothing")
        self.known.forget(supposed.start)
        found = list(map(supposed.implies, supposed.said)) if proved is None else [proved]
        # They are said before the sentence that ends the proof.
        self.claims[self.num_before : self.num_before] = found
        for said in found:
            self.known.add(said)

    def _refute(self, supposed: Supposition, move: moves.Contradicts, formula: Formula | None) -> None:
        """Give up an assumption that contradicts what is known, which is what was said last, or what is named."""
        named = [self.known.formulas[at] for number in move.cited for at in self._numbered(number)]
        if move.step is not None:
            named += self.labels.get(-move.step) or self.labels.get(move.step, [])
            self._refuse_if(not named, "that step is not there")
        if formula is not None:
            self._supported(formula, ())
            named.append(formula)
        # `But Tom is not warm` is said of what is, and not under the condition.
        told = supposed.said if self.would is None else [*supposed.said, *self.claims[-1:]]
        self._refuse_if(not is_contradicted(self.known, named or told), "nothing contradicts it")
        denial = negated(supposed.assumed)
        self._close(denial)
        self.would = None
        self._step(denial)
        self.num_moves += 1

    def _enter(self) -> Supposition:
        """Assume the condition of `if .. would ..` once more, with what would be under it."""
        assert self.would is not None
        self.supposed = Supposition(self.would.assumed, len(self.known.formulas), list(self.would.said))
        for each in (self.would.assumed, *self.would.said):
            self.known.add(each)
        return self.supposed

    def _imagined(self, formula: Formula) -> None:
        """Hold what is said to be so if something were to the condition that was named last."""
        # Attack: Tom would be warm, of which nobody says that he is.
        self._refuse_if(self.would is None, "it says what would be, and names no condition")
        self._refuse_if(self.known.support(formula) is not None, "it says less than what is known")
        supposed = self._enter()
        self._supported(formula, ())
        self.supposed = None
        self.known.forget(supposed.start)
        assert self.would is not None
        self.would.said.append(formula)
        self.claimed = self.would.implies(formula)
        self.known.add(self.claimed)
        self.num_moves += 1
