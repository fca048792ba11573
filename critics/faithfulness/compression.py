"""What a formula leaves out of its sentence, and what it may: `Jokes(x)` stands for `jokes about being addicted`.

A name may stand for a longer phrase where the phrase is never told apart: wherever the name's words stand, the others
stand with them. A noun that most rules are about (`If a cartoon character is ..`) may be what everything is. And a fact
may say less than its sentence: `a Brazilian footballer` is Brazilian.
"""

from collections import Counter
from collections.abc import Sequence

from critics.faithfulness.alignment import Aligned
from critics.faithfulness.english import Sentence
from critics.faithfulness.naming import Places

MIN_RULES = 3
"""Sentences with `all`, `if` and the like in which a noun must stand to be what all of them are about."""
_GENERAL = frozenset("all every each any no if when".split())  # noqa: SIM905
_ARTICLES = frozenset("a an all every each any no".split())  # noqa: SIM905
_BE = frozenset("is are was were".split())  # noqa: SIM905
_RELATIVE = frozenset("who which that".split())  # noqa: SIM905
_UNCERTAIN = frozenset("or if unless either neither nor when may might must should would could".split())  # noqa: SIM905
_PRONOUNS = frozenset("it they he she him her his its their them himself herself itself themselves".split())  # noqa: SIM905


def left_out(pair: Aligned, others: Sequence[Aligned], text: Sequence[Sentence], *, may_weaken: bool) -> Places:
    """Return the positions of words that the formula leaves out and may not.

    `others` are the formulas beside the same sentence. What `may_weaken` is no goal.
    """
    sentence, together = pair.sentence, [each for each in others if _shares_condition(each, pair)]
    said = pair.said().union(*(each.said() for each in together))
    weak = may_weaken and _is_fact(pair)
    left = set(_not_repeated([pair, *together]))
    for number in dict.fromkeys(sentence.parts):
        content = sentence.part(number)
        part = [i for i, each in enumerate(sentence.parts) if each == number]
        if content & said:
            is_said_of = weak and sentence.words[part[0]] in _BE
            left |= {
                at
                for at in content - said
                if not (is_said_of and not sentence.proper[at])
                and not (weak and sentence.words[at].isdigit())
                and not _goes_without(at, content & said, sentence, text)
                and not (_is_headed(at, sentence) and _is_domain({sentence.stems[at]}, text))
            }
        elif content and not (
            (weak and (sentence.words[part[0]] in _RELATIVE | _BE or part[0] in sentence.commas))
            or (_is_headed(min(content), sentence) and max(content) == part[-1]
                and _is_domain({sentence.stems[at] for at in content}, text))
        ):  # fmt: skip
            left |= content
    return frozenset(left)


def _shares_condition(other: Aligned, pair: Aligned) -> bool:
    """Say whether two formulas are parts of one sentence: `A → B` and `A → C` are of `If A then B and C`."""
    # Attack: two rules, `A → C` and `B → C`, for `If A and B then C`.
    return "or" in pair.sentence.words or _condition(other) == _condition(pair)


def _condition(pair: Aligned) -> Places:
    return frozenset().union(*(each.predicate for each in pair.atoms if each.atom.is_premise))


def _is_fact(pair: Aligned) -> bool:
    """Say whether leaving words out of a formula for this sentence says less, and nothing else."""
    return (
        not pair.sentence.negations()
        and not _UNCERTAIN & set(pair.sentence.words)
        and all(
            not each.atom.denied and not each.atom.is_premise and not any(each.atom.variables) for each in pair.atoms
        )
    )


def _not_repeated(pairs: Sequence[Aligned]) -> Places:
    """Return where names of objects and relations stand more often than the formulas have them.

    Attack: `sees(x, rabbit) → visits(x, eagle)` for `If something sees the rabbit then the rabbit visits the eagle`.
    """
    mentions: Counter[str] = Counter()
    counted: set[str] = set()
    sentence = pairs[0].sentence
    for each in (each for pair in pairs for each in pair.atoms):
        for found in (each.predicate, *each.arguments):
            stems = {sentence.stems[i] for i in found or ()} - {""}
            mentions.update(stems)
            is_relation = len(each.arguments) > 1 or any(i and sentence.proper[i] for i in found or ())
            counted |= stems if is_relation or found is not each.predicate else set()
    times = Counter(sentence.stems)
    return frozenset(i for i, each in enumerate(sentence.stems) if each in counted and times[each] > mentions[each])


def _goes_without(at: int, said: Places, sentence: Sentence, text: Sequence[Sentence]) -> bool:
    """Say whether the word at a position goes with what is said of its part."""
    stem, named = sentence.stems[at], {sentence.stems[i] for i in said}
    if sentence.proper[at] and at:
        return _is_part_of_a_name(at, said, sentence, text)
    for each in text:
        if stem in each.stems and not named & set(each.stems):
            continue
        for number in dict.fromkeys(each.parts):
            stems = {each.stems[i] for i in each.part(number)}
            # Attack: say `cat` for `big cat`, where the text knows other cats.
            if named <= stems and stem not in stems:
                return False
    return True


def _is_part_of_a_name(at: int, said: Places, sentence: Sentence, text: Sequence[Sentence]) -> bool:
    """Say whether the word stands beside a said one in a proper name (`Ailton Silva`), and never without it."""
    names = {sentence.stems[i] for i in (at - 1, at + 1) if i in said and sentence.proper[i]}
    return bool(names) and all(
        {each.stems[j] for j in (i - 1, i + 1) if 0 <= j < len(each.stems)} & names
        for each in text
        for i, stem in enumerate(each.stems)
        if stem == sentence.stems[at] and each.proper[i]
    )


def _is_headed(at: int, sentence: Sentence) -> bool:
    return at == 0 or sentence.words[at - 1] in _ARTICLES | _BE


def _is_domain(stems: set[str], text: Sequence[Sentence]) -> bool:
    """Say whether most rules of a text speak of the same noun."""
    rules = [set(each.stems) for each in text if _GENERAL & set(each.words)]
    having = sum(stems <= rule for rule in rules)
    return having >= MIN_RULES and 2 * having > len(rules)
