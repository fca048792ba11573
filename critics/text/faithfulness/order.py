"""Order: do arguments and the sides of an implication stand as the words of the sentence do?"""

from collections.abc import Iterable

from critics.text.faithfulness.alignment import Aligned, Anchored
from critics.text.faithfulness.english import Sentence
from critics.text.faithfulness.finding import Failed, Finding, NotApplicable, Passed
from critics.text.faithfulness.naming import Places

_PRONOUNS = frozenset("it they he she him her them".split())  # noqa: SIM905


def order(pair: Aligned) -> Finding:
    """Attack: swap who does it to whom, or turn a rule round."""
    words = pair.sentence.words
    told = " ".join(words)
    if "only" in words or "unless" in words or "because" in words:
        return NotApplicable(f"the order of {told!r} may be free")
    for each in pair.atoms:
        if not _arguments_in_order(each, pair):
            if any(words[i + 1 : i + 2] == ("by",) for i in each.predicate):
                return NotApplicable(f"the order of {told!r} may be free")
            return Failed(f"{told!r} has another order than {each.atom.predicate}")
    if not _sides_in_order(pair):
        return Failed(f"{told!r} has another order than its formula")
    return Passed()


def _arguments_in_order(anchored: Anchored, pair: Aligned) -> bool:
    """Say whether the arguments can be found in their order, and a lone one on its side of the predicate."""
    own = _side(anchored, pair.sentence)
    predicate = anchored.predicate & own or anchored.predicate
    found = [each & own or each for each in (_places(i, anchored, pair) for i in range(len(anchored.arguments)))]
    for i, one in enumerate(found):
        for other in found[i + 1 :]:
            if one and other and not min(one) < max(other):
                return False
    if len(found) == 2 and predicate and (bool(found[0]) != bool(found[1])):
        first, second = found
        return min(first) < max(predicate) if first else min(predicate) < max(second)
    return True


def _side(anchored: Anchored, sentence: Sentence) -> Places:
    """Return the positions on the atom's side of `If A then B` or `If A, B`; all of them where that is not the form."""
    everywhere = frozenset(range(len(sentence.words)))
    if "if" not in sentence.words[:1] or anchored.atom.shares_sign:
        return everywhere
    end = sentence.words.index("then") if "then" in sentence.words else min(sentence.commas, default=None)
    if end is None:
        return everywhere
    return frozenset(i for i in everywhere if (i < end) == anchored.atom.is_premise)


def _places(index: int, anchored: Anchored, pair: Aligned) -> Places:
    """Return where an argument stands: a name at its words, a variable at what was said of it alone before."""
    named = anchored.arguments[index]
    if named is not None:
        return named - anchored.predicate or named
    variable = anchored.atom.variables[index]
    if _PRONOUNS & set(pair.sentence.words):
        return frozenset()
    before = pair.atoms[: pair.atoms.index(anchored)]
    return frozenset[int]().union(*(each.predicate for each in before if each.atom.variables == (variable,)))


def _sides_in_order(pair: Aligned) -> bool:
    """Say whether what stands before the arrow stands before the rest; behind `if`, where that is within."""
    before = [each for each in pair.atoms if each.atom.is_premise and not each.atom.shares_sign]
    after = [each for each in pair.atoms if not each.atom.is_premise and not each.atom.shares_sign]
    if not before or not after:
        return True
    words = pair.sentence.words
    at = next((i for i, word in enumerate(words) if word in ("if", "when", "whenever")), 0)
    shared = _names(before) & _names(after)
    earlier, later = _words(before, shared, pair), _words(after, shared, pair)
    if at > 0:
        return all(max(each) > at for each in earlier) and all(min(each) < at for each in later)
    last_needed = max((min(each) for each in earlier), default=-1)
    first_found = min((max(each) for each in later), default=len(words))
    return last_needed < first_found


def _names(atoms: Iterable[Anchored]) -> set[str]:
    return {name for each in atoms for name in each.atom.arguments if name is not None}


def _words(atoms: Iterable[Anchored], shared: set[str], pair: Aligned) -> list[Places]:
    """Return for each word of the atoms where it stands, without the arguments that both sides have."""
    at: list[int] = []
    for each in atoms:
        at += each.predicate
        for name, found in zip(each.atom.arguments, each.arguments, strict=True):
            at += found or () if name not in shared else ()
    stems = {pair.sentence.stems[i] or pair.sentence.words[i] for i in at}
    said = [stem or word for stem, word in zip(pair.sentence.stems, pair.sentence.words, strict=True)]
    return [frozenset(i for i, each in enumerate(said) if each == stem) for stem in sorted(stems)]
