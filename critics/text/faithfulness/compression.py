"""Compression: words of its sentence that a formula may leave out: `Jokes(x)` stands for `jokes about being addicted`.

A name may stand for a longer phrase where the phrase is never told apart: wherever the name's words stand, the others
stand with them. A noun that most rules are about (`If a cartoon character is ..`) may be what everything is. And a fact
may say less than its sentence: `a Brazilian footballer` is Brazilian.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from critics.text.faithfulness.alignment import Aligned
from critics.text.faithfulness.english import Sentence
from critics.text.faithfulness.naming import Places


@dataclass(frozen=True, slots=True)
class Whole:
    """All sentences of a problem, and the names of a formalisation, each by the stems of its words."""

    sentences: tuple[Sentence, ...]
    names: frozenset[frozenset[str]]
    is_prose: bool
    """Whether names may stand for longer phrases; in controlled English every word is said."""

    def named_in(self, sentence: Sentence) -> frozenset[str]:
        """Return the stems of those names that a sentence has all words of."""
        return frozenset[str]().union(*(name for name in self.names if name <= set(sentence.stems)))


MIN_RULES = 3
"""Sentences with `all`, `if` and the like in which a noun must stand to be what all of them are about."""
_GENERAL = frozenset("all every each any no if when".split())  # noqa: SIM905
_ARTICLES = frozenset("a an all every each any no".split())  # noqa: SIM905
_BE = frozenset("is are was were".split())  # noqa: SIM905
_RELATIVE = frozenset("who which that".split())  # noqa: SIM905
_UNCERTAIN = frozenset("or if unless either neither nor when may might must should would could".split())  # noqa: SIM905


def left_out(pair: Aligned, others: Sequence[Aligned], whole: Whole, *, is_goal: bool) -> Places:
    """Return the positions of words that the formula leaves out and may not; `others` are beside the same sentence."""
    sentence, together = pair.sentence, [each for each in others if _shares_condition(each, pair)]
    said = pair.said().union(*(each.said() for each in together))
    if not whole.is_prose:
        return (sentence.content() - said) | miscounted([pair, *together], strictly=True)
    weak = not is_goal and _is_fact(pair)
    left = set(miscounted([pair, *together], strictly=is_goal or bool(_UNCERTAIN & set(sentence.words))))
    for number in dict.fromkeys(sentence.parts):
        content = sentence.part(number)
        part = [i for i, each in enumerate(sentence.parts) if each == number]
        opens = sentence.words[part[0]]
        if content & said:
            left |= {
                at
                for at in content - said
                if not (weak and ((opens in _BE and not sentence.proper[at]) or sentence.words[at].isdigit()))
                and not _goes_without(at, content & said, sentence, whole)
                and (is_goal or not _is_domain(at, at, sentence, whole))
            }
        elif content and not (
            (weak and (opens in _RELATIVE | _BE or part[0] in sentence.commas))
            or (not is_goal and max(content) == part[-1] and _is_domain(min(content), max(content), sentence, whole))
        ):
            left |= content
    return frozenset(left)


def _shares_condition(other: Aligned, pair: Aligned) -> bool:
    """Say whether two formulas are parts of one sentence: `A → B` and `A → C` are of `If A then B and C`."""
    # Attack: two rules, `A → C` and `B → C`, for `If A and B then C`.
    return "or" in pair.sentence.words or _condition(other) == _condition(pair)


def _condition(pair: Aligned) -> Places:
    return frozenset[int]().union(*(each.predicate for each in pair.atoms if each.atom.is_premise))


def _is_fact(pair: Aligned) -> bool:
    """Say whether leaving words out of a formula for this sentence says less, and nothing else."""
    return (
        not pair.sentence.negations()
        and not _UNCERTAIN & set(pair.sentence.words)
        and all(
            not each.atom.denied and not each.atom.is_premise and not any(each.atom.variables) for each in pair.atoms
        )
    )


def miscounted(pairs: Sequence[Aligned], *, strictly: bool) -> Places:
    """Return where names stand more often than the formulas have them, or less often and not as the subject.

    Names of objects and relations are counted; all names, where `strictly`. Attack: `sees(x, rabbit) → likes(x, cow)`
    for `If something sees the rabbit then the rabbit likes the cow`.
    """
    mentions: Counter[str] = Counter()
    objects: set[str] = set()
    twice: set[str] = set()
    counted: set[str] = set()
    sentence = pairs[0].sentence
    for each in (each for pair in pairs for each in pair.atoms):
        for number, found in enumerate((each.predicate, *each.arguments)):
            stems = {sentence.stems[i] for i in found or ()} - {""}
            mentions.update(stems)
            objects |= stems if number > 1 else set()
            is_relation = len(each.arguments) > 1 or any(i and sentence.proper[i] for i in found or ())
            counted |= stems if strictly or is_relation or number else set()
            # Attack: `cow(cow, red)`, one word as two names.
            twice |= stems & {sentence.stems[i] for i in each.predicate} if number else set()
    times = Counter(sentence.stems)
    wrong = {each for each in counted if times[each] > mentions[each]}
    wrong |= {each for each in objects if times[each] < mentions[each]} if len(pairs) == 1 else set()
    wrong |= {each for each in twice if times[each] < 2}
    return frozenset(i for i, each in enumerate(sentence.stems) if each in wrong)


def _goes_without(at: int, said: Places, sentence: Sentence, whole: Whole) -> bool:
    """Say whether the word at a position goes with what is said of its part."""
    stem, said_stems = sentence.stems[at], {sentence.stems[i] for i in said}
    if sentence.proper[at] and at and _is_part_of_a_name(at, said, sentence, whole.sentences):
        return True
    if stem in whole.named_in(sentence) or (sentence.proper[at] and at):
        # Attack: leave out here what the program has a name for.
        return False
    for each in whole.sentences:
        for number in dict.fromkeys(each.parts):
            stems = {each.stems[i] for i in each.part(number)}
            # Attack: say `cat` for `big cat`, where the text knows other cats.
            if said_stems <= stems and stem not in stems:
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


def _is_domain(first: int, last: int, sentence: Sentence, whole: Whole) -> bool:
    """Say whether these words are a noun that most rules of a text speak of."""
    if first and sentence.words[first - 1] not in _ARTICLES | _BE:
        return False
    stems = {sentence.stems[at] for at in range(first, last + 1)}
    rules = [set(each.stems) for each in whole.sentences if _GENERAL & set(each.words)]
    having = sum(stems <= rule for rule in rules)
    return having >= MIN_RULES and 2 * having > len(rules)
