"""Attempts at one problem against each other: do two formalisms give one answer, and do two samples say the same?

A second formalisation is a second opinion. Where two differ, nobody knows which of them is wrong: both fail.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from critics.formats.equivalence.first_order import decide_first_order
from critics.formats.equivalence.sampling import Different, Equivalent, UndecidedPair
from critics.replay.first_order.entailments import unstated
from critics.replay.first_order.reader import folded
from critics.replay.first_order.syntax import Formula, FormulaError, conjunction, open_names, signature
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed, first_of
from critics.text.faithfulness.formalisation import Formalisation

MAX_COMPARED = 3
"""Other samples that one is compared with: each comparison may ask a solver."""
MAX_DIFFERING = 4
"""Premises on which two samples differ; of more, what they say in common says little."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """A certified attempt: where it comes from, what it answers, and what it formalises (None: not read)."""

    id: str
    format: str
    answer: str
    text: str
    formalisation: Formalisation | None


def cross_agreement(own: Opinion, opinions: Iterable[Opinion]) -> Finding:
    """Compare answers with those that were certified in other formats."""
    others = [other for other in opinions if other.format != own.format]
    if not others:
        return NotApplicable("no other format certifies an answer")
    against = next((other for other in others if other.answer != own.answer), None)
    if against is not None:
        return Failed(f"{against.format} certifies {against.answer}")
    return Passed()


def round_trip(own: Opinion, opinions: Iterable[Opinion]) -> Finding:
    """Compare goal and premises with those of other samples in the same format and vocabulary."""
    # Attack: the same text twice is no second opinion.
    seconds = [o for o in opinions if o.format == own.format and o.id != own.id and o.text != own.text]
    found = [_same(own.formalisation, other.formalisation) for other in seconds[:MAX_COMPARED]]
    return first_of(found, Failed, Passed) if found else NotApplicable("there is no other sample")


def _same(one: Formalisation | None, other: Formalisation | None) -> Finding:
    if one is None or other is None:
        return NotApplicable("a formalisation cannot be read")
    left, right = _folded(one), _folded(other)
    goals = _equal(left.goal, right.goal)
    return goals if not isinstance(goals, Passed) else _same_premises(left.premises, right.premises)


def _folded(formalised: Formalisation) -> Formalisation:
    return Formalisation(tuple(map(folded, formalised.premises)), folded(formalised.goal))


def _same_premises(left: Sequence[Formula], right: Sequence[Formula]) -> Finding:
    """Compare what is in one and not in the other, as conjunctions; what is the same in both needs no solver."""
    new, old = unstated(left, right), unstated(right, left)
    if not new and not old:
        return Passed()
    if max(len(new), len(old)) > MAX_DIFFERING or not new or not old:
        # Leaving a premise out is no difference in what is said: proofs need not use everything.
        return NotApplicable("two samples state different parts of the text")
    return _equal(conjunction(new), conjunction(old))


def _equal(left: Formula, right: Formula) -> Finding:

    try:
        if signature([left]).symbols() != signature([right]).symbols() or open_names([left, right]):
            return NotApplicable("two samples use other names")
        outcome = decide_first_order(left, right)
    except FormulaError:
        return NotApplicable("two samples use one name in two ways")
    match outcome:
        case Equivalent():
            return Passed()
        case Different():
            return Failed("another sample formalises the same text otherwise")
        case UndecidedPair():
            return NotApplicable("whether two samples say the same could not be decided")


Opinions = Mapping[str, Sequence[Opinion]]
"""By problem."""
