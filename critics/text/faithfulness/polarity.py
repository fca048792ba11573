"""Polarity: does a formula deny what its sentence denies, and nothing else?"""

from critics.text.faithfulness.alignment import Aligned
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed

_WHOLLY = frozenset({"no", "none", "nobody", "noone", "nothing"})
"""Words that deny the whole sentence which they begin."""


def polarity(pair: Aligned) -> Finding:
    """Attack: state or prove the opposite of what the text says or asks."""
    denials = sum(each.atom.denied for each in pair.atoms)
    negations = len(pair.sentence.negations())
    told = " ".join(pair.sentence.words)
    if pair.sentence.has_unclear_words():
        return NotApplicable(f"how often {told!r} negates cannot be counted")
    if not negations:
        # Attack: two wrong signs, which leave the parity as it is.
        return Failed(f"{told!r} negates nothing, its formula does") if denials else Passed()
    if pair.sentence.ranges_over_several() or ("unless" in told and not any(a.atom.is_premise for a in pair.atoms)):
        return NotApplicable(f"what {told!r} negates cannot be told")
    if stray := _misplaced(pair):
        # Attack: move the sign from one part of a sentence to another.
        return Failed(f"{told!r} denies {stray!r}, its formula does not")
    if "neither" in pair.sentence.words and not denials:
        # Attack: leave out both signs of `neither .. nor`, which leaves the parity as it is.
        return Failed(f"{told!r} negates, its formula does not")
    if pair.sentence.words[0] in _WHOLLY and (denials - negations) % 2:
        # Attack: leave out the sign of `No student who works is rich`, as if it were another part's.
        return Failed(f"{told!r} has {negations} negations, its formula {denials}")
    if pair.is_part() and denials != negations:
        return NotApplicable(f"the formula is a part of {told!r}")
    if (denials - negations) % 2:
        return Failed(f"{told!r} has {negations} negations, its formula {denials}")
    return Passed() if denials == negations else NotApplicable(f"{told!r} may negate a negation")


def _misplaced(pair: Aligned) -> str | None:
    """Return what the sentence denies and the formula asserts, if anything."""
    if len(pair.sentence.negations()) != 1:
        return None
    for denied in sorted(pair.sentence.denied()):
        at = {i for i, stem in enumerate(pair.sentence.stems) if stem == denied}
        signs = {each.atom.denied or each.atom.shares_sign for each in pair.atoms if each.predicate & at}
        if signs == {False}:
            return denied
    return None
