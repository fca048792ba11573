"""Predicates: what follows a subject, as a formula about it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Literal

from critics.grammar.chart import Chart, Place, Rules, rule
from critics.grammar.joining import coordinated, shares_words_before, together
from critics.grammar.lexicon import (
    is_adverb,
    is_base,
    is_noun_too,
    is_participle,
    is_plural,
    is_rare,
    past,
    third,
    verb_forms,
)
from critics.grammar.meaning import (
    HOLE,
    Atom,
    Compound,
    Constant,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    atom,
    both,
    buried,
    filled,
    implies,
    marked,
)
from critics.grammar.nouns import EVERYONE, modifiers, nominal
from critics.grammar.phrases import definite, is_part, opaque
from critics.grammar.words import (
    ARTICLES,
    BE,
    CLASSES,
    DATES,
    DENIABLE_MODALS,
    DO,
    HAVE,
    HOMONYMS,
    MODALS,
    NUMBERS,
    OPENERS,
    PREPOSITIONS,
    RELATIVE,
    TIMES,
    Number,
)

_CONDITIONAL = ("if", "unless", "when", "whenever")
_NEGATIVE = ("not", "never", "no", "nobody", "nothing")


def agrees(verb: Number, number: Number) -> bool:
    """Say whether a verb and a subject have the same number."""
    return verb == number or "either" in (verb, number)


@rule
def finite(chart: Chart, i: int, j: int, number: Number) -> Iterator[Formula]:
    """Read all that follows a subject."""
    if i < j and chart.words[j - 1] == ",":
        j -= 1
    if i >= j:
        return
    chart.furthest = max(chart.furthest, i)
    split = coordinated(chart, i, j, "finite", number)
    yield from split
    if chart.has(i + 1, j, "only"):
        yield from _only_so(chart, i, j, number)
    word = chart.words[i]
    after = chart.words[i + 1] if i + 1 < j else ""
    if chart.is_name(i):
        return
    if word in BE:
        if agrees(BE[word], number):
            yield from negatable(chart, i + 1, j, "complement", number, "was" if word in ("was", "were") else "")
    elif word in DO and [*chart.words[i + 1 :]] in ([], ["too"]):
        chart.bar(i, "what is done stands in another clause: say it again")
    elif word in DO and (after in ("not", "both") or is_base(after)):
        if agrees(DO[word], number):
            yield from negatable(chart, i + 1, j, "base", number, "did" if word == "did" else "")
    elif word in MODALS:
        yield from _modal(chart, i, j, number)
    elif word == "never":
        chart.notes.add("never: not")
        yield from (Not(part) for part in simple(chart, i + 1, j, "finite", number))
    elif word in HAVE and after == "had":
        had = chart.rearranged(
            [*chart.tokens[: i + 1], replace(chart.tokens[i + 1], word="have"), *chart.tokens[i + 2 :]]
        )
        for part in finite(had, i + 1, j, "plural") if agrees(HAVE[word], number) else ():
            yield marked(part, "had" if word == "had" else "has")
    elif word in HAVE and after in ("not", "never"):
        mark = "had" if word == "had" else "has"
        yield from (Not(marked(part, mark)) for part in opaque(chart, i + 2, j, "complement"))
    elif word in HAVE and after == "no":
        has = chart.rearranged([chart.tokens[i], *chart.tokens[i + 2 : j]])  # Has no car: not what `has a car` says.
        yield from (Not(part) for part in opaque(has, 0, len(has.words), "verb"))
    elif word in HAVE and (is_participle(after) or after == "been") and after not in ("left",) and not split:
        if agrees(HAVE[word], number):
            mark, denied = "had" if word == "had" else "has", chart.words[i + 2 : i + 3] == ("no",)
            other = chart.rearranged([*chart.tokens[: i + 2], *chart.tokens[i + 3 :]]) if denied else chart
            for part in opaque(other, i + 1, j - denied, "complement"):
                yield Not(marked(part, mark)) if denied else marked(part, mark)
    elif not split:
        yield from simple(chart, i, j, "finite", number)


def _only_so(chart: Chart, i: int, j: int, number: Number) -> Iterator[Formula]:
    """Is sold only on Mondays: where it is sold at all, on Mondays; not in a condition, a question or a denial."""
    words, tokens = chart.words, chart.tokens
    at = words.index("only", i + 1)
    is_apart = chart.has(0, at, *RELATIVE, *_CONDITIONAL, *_NEGATIVE, "neither", "none", "either", "or", "some", "only")
    if j < len(words) or is_apart or tokens[i].start == 0 or not chart.has(at + 1, at + 2, *PREPOSITIONS):
        return
    whole = chart.rearranged([*tokens[:at], *tokens[at + 1 :]])
    for part, more in product(finite(chart, i, at, number), finite(whole, i, j - 1, number)):
        if isinstance(part, Atom) and isinstance(more, Atom):
            yield implies(part, more)


def _modal(chart: Chart, i: int, j: int, number: Number) -> Iterator[Formula]:
    word = chart.words[i]
    denied = i + 1 < j and chart.words[i + 1] in ("not", "never")
    # Attacks: cannot not pay; must never pay; must swim but not dance, where nobody may.
    end = i + 3 if word in DENIABLE_MODALS else j  # Harry cannot be not round: he is.
    twice = chart.has(i + 1 + denied, end, "not", "never") and (denied or word not in DENIABLE_MODALS)
    begin = 1 + max((k for k in range(i) if chart.words[k] in (",", "then")), default=-1)
    twice = twice or (word in ("must", "should", "shall") and chart.words[begin] in (*_NEGATIVE, "none", "neither"))
    if twice or (denied and (word == "might" or (word == "may" and chart.words[i + 2 : i + 3] == ("be",)))):
        chart.bar(i, f"`{word} not` forbids, or leaves open: say `must not`, or `it is not known`")
        return
    for part in negatable(chart, i + 2 if denied else i + 1, j, "base", number, word):
        if not denied:
            yield part
        elif word in DENIABLE_MODALS and not (isinstance(part, Compound) and part.operator is Operator.AND):
            yield Not(part)
        elif isinstance(part, Compound):
            chart.bar(i, f"`{word} not` before what is joined forbids each or both: write two sentences")
        else:
            yield marked(part, "not")


def negatable(chart: Chart, i: int, j: int, place: Place, number: Number, mark: str) -> Iterator[Formula]:
    """Read what stands after `is`, `does` or a modal, with or without `not`."""
    if i >= j:
        return
    word = chart.words[i]
    if word == "not":
        if place == "complement" and any(chart.words[k] == "not" for k in range(i + 2, j)):
            # Not A and also not B. Left out: not a cat that is white but not black.
            if chart.has(i, j, *RELATIVE):
                chart.bar(i, "the last `not` may stand within the clause or outside of it: write two sentences")
            yield from (marked(part, mark) for part in coordinated(chart, i, j, place, number))
        yield from _denied(chart, i, j, place, number, mark)
    elif word == "never":
        chart.notes.add("never: not")
        yield from (Not(marked(part, mark)) for part in inner(chart, i + 1, j, place, number))
    else:
        yield from (marked(part, mark) for part in inner(chart, i, j, place, number))


def _denied(chart: Chart, i: int, j: int, place: Place, number: Number, mark: str) -> Iterator[Formula]:
    """Read `not A`, `not both A and B`, `not A but B`; `not A and B` may mean two things."""
    words = chart.words
    together = i + 1 < j and words[i + 1] == "both"
    for at in range(i + 2, j):
        if words[at] == "not" and words[at - 1] in ("and", "or", "but", "also") and not together:
            return
        ends = words[at] in ("and", "but", "or") and chart.is_finite(at + 1, j) and place != "base"
        if ends and not together and not chart.has(i, at, *RELATIVE, "either", "neither"):
            return
    for part in inner(chart, i + 1, j, place, number):
        conjunction = isinstance(part, Compound) and part.operator is Operator.AND
        if conjunction and not together and "but" in words[i + 1 : j]:
            continue
        if conjunction and not together and "and" in words[i + 1 : j] and "both" not in words[i + 1 : j]:
            chart.bar(i, "`not` before what `and` joins may deny one part or both: say `not both`, or `neither .. nor`")
            continue
        if place == "complement" and buried(part) and "and" in words[i + 1 : j]:
            chart.trouble(i, "`not` before what `and` joins may deny one part or both: say `not both`")
            continue
        yield Not(marked(part, mark))
    for at in range(i + 2, j - 1):
        if words[at] == "but" and not shares_words_before(chart, i + 1, at, at + 1):
            for one in inner(chart, i + 1, at, place, number):
                for other in inner(chart, at + 1, j, place, number):
                    yield both(Not(marked(one, mark)), marked(other, mark))


@rule
def inner(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterator[Formula]:
    """Read a predicate without its auxiliary: joined ones, or one."""
    if i < j and chart.words[j - 1] == ",":
        j -= 1
    if i >= j:
        return
    is_done = is_participle(chart.words[i]) or (chart.is_content(i) and chart.has(i + 1, i + 2, *PREPOSITIONS))
    is_done = is_done and place == "complement"
    split = (shared_verb(chart, i, i, j, "complement") if is_done else ()) or coordinated(chart, i, j, place, number)
    yield from split
    if not split or chart.words[i] in ("a", "an"):
        yield from simple(chart, i, j, place, number)


@rule
def simple(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterator[Formula]:
    """Read one predicate that no connective joins."""
    if i >= j or (chart.is_name(i) and place != "complement"):
        return
    spliced = list(_spliced(chart, i, j, place, number)) if chart.has(i + 1, j, *OPENERS) else []
    if spliced or chart.has(i + 1, j, "either", "both"):
        yield from spliced
    elif place == "complement":
        yield from _complement(chart, i, j, number)
    else:
        yield from _verb(chart, i, j, place, number)


def _spliced(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterator[Formula]:
    """Written either in C or in Python: the words before belong to each."""
    words = chart.words
    for at in range(i + 1, j - 2):
        if words[at] not in OPENERS or chart.has(i, at, "and", "or", "not", *RELATIVE):
            continue
        word = {"either": "or", "both": "and", "neither": "nor"}[words[at]]
        for cut in range(at + 2, j - 1):
            if words[cut] != word or chart.has(at + 1, j, "not", "either", "neither", *RELATIVE):
                continue
            tokens = chart.tokens
            charts = [chart.rearranged([*tokens[i:at], *rest]) for rest in (tokens[at + 1 : cut], tokens[cut + 1 : j])]
            one, other = (simple(each, 0, len(each.words), place, number) for each in charts)
            yield from (together(words[at], parts) for parts in product(one, other))


def _complement(chart: Chart, i: int, j: int, number: Number) -> Iterator[Formula]:
    """Read what follows `is`: a kind, a property, a place, a definite."""
    word = chart.words[i]
    if chart.words[i - 1] in ("and", "or") and chart.may_act(i, j):
        return  # The switch is hot and the bulb works.
    if word in ("someone", "somebody", "something") and chart.words[i + 1 : i + 2] != ("of",):
        for more in modifiers(chart, i + 1, j, "singular"):
            if word != "something":
                chart.notes.add(EVERYONE)
            yield more
    elif word in ("a", "an"):
        if chart.words[j - 3 : j - 1] == ("along", "with") and chart.is_name(j - 1) and not chart.has(0, i, *_NEGATIVE):
            # Tom is a judge along with Ann.
            for body in nominal(chart, i + 1, j - 3, "singular"):
                if body is not None:
                    yield both(body, filled(body, HOLE, Constant(chart.words[j - 1])))
            return
        found = [atom(chart.words[j - 1]) if body is None else body for body in nominal(chart, i + 1, j, "singular")]
        yield from found
        if not found and "and" in chart.words[i:j] and not chart.has(i, j, ",", "or", *RELATIVE):
            # A village and civil parish in Kent: what belongs to both is not said, and nothing is taken apart.
            yield from opaque(chart, i, j, "complement")
    elif word == "not":
        yield from (Not(part) for part in simple(chart, i + 1, j, "complement", number))
    elif chart.words[i - 1] == "but" and word == "for":
        chart.bar(i, "what it excludes is not said: write two sentences")
    elif j - i == 1 and word in NUMBERS:
        chart.bar(i, "a number may count them: say what is meant")
    elif j - i == 1 and chart.tokens[i].is_quoted:
        chart.bar(i, "the quotes may doubt the word: leave them out")
    elif j - i == 1 and chart.is_name(i):
        # Attack: Tom's firm is Green Tea. All that is green tea is drunk.
        if not (chart.vocabulary.lower.issuperset(word.split(" ")) and word.split(" ")[-1] in chart.vocabulary.names):
            yield atom(word)
    elif chart.words[i : i + 2] == ("one", "of") and not chart.has(i + 2, i + 3, "a", "an"):
        found = nominal(chart, i + 3, j, "plural") if chart.has(i + 2, i + 3, "the") else ()
        yield from [body for body in found if body is not None] or opaque(chart, i, j, "complement")
    elif word == "the":
        yield from _definite_complement(chart, i, j)
    elif word not in ("one", "no", "all", "every", "some", "each", "any", "only"):
        plural = number != "singular" and not is_participle(word) and word not in PREPOSITIONS
        found = [body for body in nominal(chart, i, j, "plural") if body is not None] if plural else []
        yield from found
        if number == "singular" and j - i == 1 and third(word) and is_plural(word):
            return
        if j - i == 1 and word in HOMONYMS and word in chart.vocabulary.counted and not found:
            chart.bar(i, f"{word!r} is a noun elsewhere: say `a {word}`, or another word")
        if not found:
            yield from opaque(chart, i, j, "complement")


def _definite_complement(chart: Chart, i: int, j: int) -> Iterator[Formula]:
    found = definite(chart, i, j)
    if isinstance(found, Constant):
        yield atom(found.name)
    elif not any(third(word) for word in chart.words[i + 2 : j]):
        for part in opaque(chart, i + 1, j, "noun"):
            yield marked(part, "the")


def _verb(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterator[Formula]:
    """Read a verb with its objects; one with a quantifier of its own stands at the end."""
    at = i
    while at < j and is_adverb(chart.words[at]):
        at += 1
    if at == j or not _is_verb(chart, at, place, number):
        return
    if chart.words[at] == "be" and place == "base":
        yield from negatable(chart, at + 1, j, "complement", number, "be")
        return
    for place_of in range(at + 1, j):
        opens = chart.words[place_of] in ("every", "each", "all", "some", "no", "any")
        if chart.has(at, place_of, *RELATIVE, "where", "whose"):
            # What stands in a clause about an object is part of its name.
            break
        if opens and not is_part(chart, place_of) and not _is_time(chart, place_of, j):
            yield from _quantified_object(chart, i, place_of, j)
            return
    shared = list(shared_verb(chart, i, at, j, "verb"))
    word = chart.words[at]
    told = place == "finite" and number == "singular" and past(word) == word
    for part in shared or opaque(chart, i, j, "verb"):
        if isinstance(part, Atom) and part.predicate == (third(word) or word) and is_noun_too(word):
            # To cook and to be a cook are two things, as are to dry and to be dry.
            part = Atom(f"do {part.predicate}", part.arguments)
        yield marked(part, "did") if told else part


def _is_verb(chart: Chart, at: int, place: Place, number: Number) -> bool:
    word = chart.words[at]
    opens = place == "finite" and at == 2 and chart.is_name(0)
    if chart.is_name(at) or (opens and third(chart.words[1]) and is_noun_too(word)):
        return False  # Tom drinks milk: no drinks do so.
    # Drink Coke or Pepsi products: a noun, where a name stands before it as well as behind `or`; and house cats.
    listed = at > 1 and chart.is_name(at - 1) and chart.words[at - 2] in ("and", "or")
    listed |= at == 1 and is_plural(word) and any(is_base(each) and not is_rare(each) for each in chart.words[2:3])
    allowed = not is_rare(word) or place == "base" or (chart.rare and not listed)
    if chart.words[at + 1 : at + 2] == ("by",) and is_participle(word) and not is_base(word):
        # Jobs offered by the town pay well: by whom it is done stands behind no verb of its own.
        return False
    base = (is_base(word) and allowed) or word in ("have", "be", "do")
    if place == "finite":
        present = ((third(word) and allowed) or word in ("has", "does")) and number != "plural"
        return bool(present or past(word) or word == "had" or (base and number != "singular" and word != "be"))
    return base


def _is_time(chart: Chart, at: int, j: int) -> bool:
    after = chart.words[at + 1] if at + 1 < j else ""
    return chart.words[at] != "no" and chart.vocabulary.singular(after) in TIMES


def _quantified_object(chart: Chart, i: int, at: int, j: int) -> Iterator[Formula]:
    """Chases all dogs; likes some cat; eats no meat."""
    word = chart.words[at]
    if chart.words[at - 1] in ("among", "of", "than", "without", "except", ",") or chart.has(at, j, "to"):
        return  # Gives every gift to the man.
    negative = chart.has(0, at, *_NEGATIVE)
    if word == "some" and negative:
        chart.bar(at, "`some` after `not`: say `any`, or make it a sentence of its own")
    is_apart = word == "no" and i > 0 and chart.words[i - 1] in MODALS - {"can", "will"}
    if is_apart or (word in ("no", "some") and chart.has(i, at, "to")):  # Tries to make no jam, and so makes none.
        chart.bar(at, f"behind `may`, `must` or `to` the word `{word}` has two meanings: write two sentences")
    for verb in opaque(chart, i, at, "verb"):
        for body in nominal(chart, at + 1, j, "singular" if word in ("every", "each") else "either"):
            variable = chart.variable()
            if not isinstance(verb, Atom):
                continue
            related = Atom(f"{verb.predicate} _", (*verb.arguments, variable))
            kind = None if body is None else filled(body, HOLE, variable)
            there_is = Quantified(Quantifier.SOME, variable.name, both(kind, related))
            if word == "no":
                yield Not(there_is)
            elif word == "some" or (word == "any" and negative):
                yield there_is
            elif word != "any":
                yield Quantified(Quantifier.ALL, variable.name, implies(kind, related))


_BETWEEN = CLASSES["between"]
"""Words for what is done between two, and to neither alone."""


@rule
def shared_verb(chart: Chart, i: int, at: int, j: int, role: Literal["verb", "complement"]) -> Iterator[Formula]:
    """Owns a car or a bike; likes Tom and Ann: the verb belongs to each; parked at the lake but not at the inn."""
    words = chart.words
    cuts = [k for k in range(at + 2, j - 1) if words[k] in ("and", "or", "but")]
    denied = len(cuts) == 1 and words[cuts[0] : cuts[0] + 2] == ("but", "not")
    if denied and j - cuts[0] > 3 and words[cuts[0] + 2] in PREPOSITIONS:
        chart = chart.rearranged([*chart.tokens[: cuts[0] + 1], *chart.tokens[cuts[0] + 2 :]])
        words, j = chart.words, j - 1
    elif len(cuts) == 1 and words[cuts[0]] == "but":
        return
    verbs = {third(word) or past(word) or verb_forms().participle.get(word) or word for word in words[i:j]}
    if len(cuts) != 1 or not _BETWEEN.isdisjoint(verbs) or chart.has(i, j, *RELATIVE, "not", *OPENERS):
        return
    (cut,) = cuts
    starts = ("a", "an", "the")
    for first in range(at + 1, cut):
        ends = cut - (words[cut - 1] == ","), j
        one, other = (begin + (words[begin] == "the") for begin in (first, cut + 1))
        named = (one + 1, other + 1) == ends and chart.is_name(one) and chart.is_name(other)
        # In `includes Byzantine and Islamic Art` the last word is of both.
        named = named and (" " in words[one] or " " not in words[other] or other > cut + 1)
        determined = words[first] in starts and words[cut + 1] in starts
        # AMC service or HBO service: two of a kind.
        named = named or (chart.is_name(first) and chart.is_name(cut + 1) and 1 < cut - first == j - cut - 1 < 4
                          and words[first + 1 : cut] == words[cut + 2 : j])  # fmt: skip
        same = words[first] == words[cut + 1] or not (denied or (role == "complement" and not is_participle(words[i])))
        # Sleeps on Mondays but not on the floor: of those days.
        heads = [next((word for word in words[k + 1 : k + 3] if word not in ARTICLES), "") for k in (first, cut + 1)]
        timed = {word.isdigit() or chart.vocabulary.singular(word) in TIMES | DATES for word in heads}
        same = same and (not denied or len(timed) == 1)
        are_places = same and _are_places(chart, at, first, cut)
        if not (are_places or (role == "verb" and (named or determined) and not denied)):
            continue
        if words[first - 1] in ("between", "among"):
            return
        tokens = chart.tokens
        charts = [
            chart.rearranged([*tokens[i:first], *rest]) for rest in (tokens[first : ends[0]], tokens[cut + 1 : j])
        ]
        one, other = (opaque(each, 0, len(each.words), role) for each in charts)
        operator = Operator.OR if words[cut] == "or" else Operator.AND
        for left, right in product(one, [Not(part) for part in other] if denied else other):
            yield Compound(operator, (left, right)) if operator is Operator.OR else both(left, right)
        return


def _are_places(chart: Chart, at: int, first: int, cut: int) -> bool:
    """Say whether a preposition opens what stands on both sides: the same one, or the only one before the joint."""
    words = chart.words
    if words[first] not in PREPOSITIONS or words[cut + 1] not in PREPOSITIONS or first + 1 == cut:
        return False
    return words[first] == words[cut + 1] or PREPOSITIONS.isdisjoint([*words[at + 1 : first], *words[first + 1 : cut]])


RULES = Rules(finite, inner, simple, shared_verb)
