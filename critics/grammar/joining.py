"""Coordination of predicates: either A or B, neither A nor B, both A and B, lists, and A and B."""

from collections.abc import Iterable, Iterator
from itertools import pairwise, product

from critics.grammar.chart import Chart, Place, rule
from critics.grammar.lexicon import (
    is_adj,
    is_adverb,
    is_base,
    is_noun_too,
    is_participle,
    is_plural,
    is_rare,
    past,
    third,
)
from critics.grammar.meaning import Compound, Formula, Not, Operator, both, joined
from critics.grammar.words import (
    AUXILIARIES,
    BE,
    DO,
    MODALS,
    OPENERS,
    POSTPOSED,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    Number,
)

_SHARED = "what stands behind the second verb may belong to the first too: say it twice"
_TWO_WAYS = "`and` and `or` may be grouped in two ways: say `both .. and` or `either .. or`"


@rule
def coordinated(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterator[Formula]:
    """Read a span as predicates that are joined."""
    word = chart.words[i]
    if word == "both" and "and" not in chart.words[i:j] and number != "singular":
        yield from _part(chart, i + 1, j, place, number)
    elif word in OPENERS:
        yield from _opened(chart, i, j, place, number)
    else:
        for cut in range(i + 1, j - 1):
            if chart.words[cut] in ("and", "or", "but"):
                yield from _at(chart, i, cut, j, place, number)
            elif chart.words[cut : cut + 2] == (",", "not") and place == "complement":
                # Is A, not B.
                for one, other in product(_item(chart, i, cut, place, number), _item(chart, cut + 1, j, place, number)):
                    yield both(one, other)


def _opened(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterator[Formula]:
    """Either A or B; either A, B, or C; neither A nor B; both A and B."""
    opener = chart.words[i]
    shared = chart.rules.shared_verb(chart, i + 1, i + 1, j, "complement" if place == "complement" else "verb")
    shared = [part for part in shared if isinstance(part, Compound) and part.operator is Operator.OR]
    if opener == "either" and shared:
        yield from (Compound(Operator.XOR, part.operands) for part in shared)
        if place == "complement":
            return
    words = {"either": ("or",), "neither": ("nor", "or"), "both": ("and",)}[opener]
    if opener == "neither" and chart.words[i:j].count("nor") > 1:
        cuts = [i, *(at for at in range(i, j) if chart.words[at] == "nor"), j]
        lists = [_part(chart, a + 1, b, place, number) for a, b in pairwise(cuts)]
        yield from (together(opener, parts) for parts in product(*lists))
        return
    for cut in range(i + 2, j - 1):
        if chart.words[cut] not in words:
            continue
        if place == "finite" and _shares_object(chart, i + 1, cut, cut + 1, j, place):
            chart.bar(cut, _SHARED)
            return
        if place == "complement" and _shares_participle(chart, i + 1, cut, cut + 1):
            return
        pieces = _pieces(chart, i + 1, cut, place)
        lefts = [_item(chart, a, b, place, number) for a, b in pieces] if len(pieces) > 1 else None
        if lefts is not None:
            for parts in product(*lefts, _part(chart, cut + 1, j, place, number)):
                yield together(opener, parts)
        for parts in product(_part(chart, i + 1, cut, place, number), _part(chart, cut + 1, j, place, number)):
            loose = opener == "neither" and chart.has(cut, j, "and", "but") and not chart.has(cut, j, "both", "who")
            if loose and isinstance(parts[-1], Compound) and parts[-1].operator is Operator.AND:
                chart.trouble(cut, _TWO_WAYS)
                continue
            yield together(opener, parts)


def _shares_participle(chart: Chart, i: int, cut: int, right: int) -> bool:
    """Bar a place that is perhaps where something is done: is neither sold in Rome nor in Oslo."""
    shares = is_participle(chart.words[i]) and chart.words[right] in PREPOSITIONS and chart.has(i, cut, *PREPOSITIONS)
    if shares:
        chart.bar(right, "what is done may belong to each: say it twice")
    return shares


def together(opener: str, parts: tuple[Formula, ...]) -> Formula:
    """Join predicates as `either`, `both` or `neither` does."""
    if opener == "either":
        return Compound(Operator.XOR, parts)
    return both(*(map(Not, parts) if opener == "neither" else parts))


def _pieces(chart: Chart, i: int, j: int, place: Place) -> list[tuple[int, int]]:
    """Cut a list at its commas."""
    if j > i and chart.words[j - 1] == ",":
        j -= 1
    pieces: list[tuple[int, int]] = []
    start = i
    for at in range(i + 1, j - 1):
        if chart.words[at] == "," and _parallel(chart, i, at, at + 1, j, place):
            pieces.append((start, at))
            start = at + 1
    return [*pieces, (start, j)]


def _at(chart: Chart, i: int, cut: int, j: int, place: Place, number: Number) -> Iterator[Formula]:
    """Join what stands on both sides of one connective."""
    words = chart.words
    operator = Operator.OR if words[cut] == "or" else Operator.AND
    right = cut + 2 if words[cut + 1] in ("also", "then", "therefore", "thus", "hence") and cut + 2 < j else cut + 1
    if not _parallel(chart, i, cut, right, j, place):
        return
    same = words[i] in ("a", "an") and words[right] in words[i:cut]
    if (words[cut] == "but" or same) and shares_words_before(chart, i, cut, right + (words[right] == "not")):
        return
    # Often sings, and is a nurse: a verb of another kind.
    is_apart = words[right] in ("never", words[i]) or (words[i] != "never" and words[right] in AUXILIARIES)
    if place == "finite" and words[i] in ("never", "always", "often") and not is_apart:
        chart.bar(cut, f"`{words[i]}` may belong to the first or to each: say it twice")
        return
    if _shares_object(chart, i, cut, right, j, place):
        chart.bar(cut, _SHARED)
        return
    if operator is Operator.AND and place == "finite" and "both" in words[i:cut] and "and" not in words[i:cut]:
        return
    pieces = _pieces(chart, i, cut, place)
    if len(pieces) > 1 and not (place == "complement" and _shares_participle(chart, i, cut, right)):
        lists = [_item(chart, a, b, place, number) for a, b in [*pieces, (right, j)]]
        yield from (joined(operator, *parts) for parts in product(*lists))
        return
    for one, other in product(_item(chart, i, cut, place, number), _part(chart, right, j, place, number)):
        _check_groups(chart, i, cut, right, j, one, other, operator)
        yield joined(operator, one, other)
    for one, other in product(_part(chart, i, cut, place, number), _item(chart, right, j, place, number)):
        if _is_other(one, operator) and "," not in words[i:cut] and not chart.has(i, j, *OPENERS, *RELATIVE):
            chart.bar(cut, _TWO_WAYS)
        yield joined(operator, one, other)


def shares_words_before(chart: Chart, i: int, cut: int, right: int) -> bool:
    """Say whether the words before a place belong to the next: insured against theft but not against hail."""
    first = next((k for k in range(i, cut) if chart.words[k] not in (*AUXILIARIES, "not", "never")), cut)
    is_place = chart.has(right, right + 1, *PREPOSITIONS)
    return is_place and chart.words[first] not in PREPOSITIONS and chart.has(first, cut, *PREPOSITIONS)


def _shares_object(chart: Chart, i: int, cut: int, right: int, j: int, place: Place) -> bool:
    """Say whether a bare verb stands before one with an object: opens and closes the door."""
    if place == "complement":
        return False
    first = [at for at in range(i, cut) if not is_adverb(chart.words[at])]
    start = right
    while start < j and is_adverb(chart.words[start]):
        start += 1
    word = chart.words[start] if start < j else ""
    if len(first) != 1 or start + 1 >= j or word in AUXILIARIES or word in OPENERS or first[0] < cut - 1:
        return False  # Works remotely and handles data: an adverb closes what the first verb says.
    return chart.words[i] not in OPENERS and chart.starts_verb(first[0], cut) and word not in ("not", "never")


def _is_other(part: Formula, operator: Operator) -> bool:
    return isinstance(part, Compound) and part.operator in {Operator.AND, Operator.OR} - {operator}


def _check_groups(
    chart: Chart, i: int, cut: int, right: int, j: int, one: Formula, other: Formula, operator: Operator
) -> None:
    if _is_other(other, operator) and chart.words[cut - 1] != "," and chart.words[right] not in OPENERS:
        same = isinstance(one, Compound) and isinstance(other, Compound) and one.operator is other.operator
        if {"and", "or"} <= set(chart.words[i:j]) and not same:
            chart.trouble(cut, _TWO_WAYS)


def _part(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterable[Formula]:
    """Read one side of a connective; after `is either` it may have a verb of its own."""
    if i < j and chart.words[j - 1] == ",":
        j -= 1
    if i >= j:
        return []
    word = chart.words[i]
    if word == "not":
        return [Not(part) for part in chart.rules.inner(chart, i + 1, j, _denied(chart, i, place), number)]
    if word in PRONOUNS and chart.words[i - 1] in ("or", "nor") and _one_name(chart):
        return chart.rules.finite(chart, i + 1, j, "plural" if word == "they" else "singular")
    turned = place != "base" and chart.words[i - 1] == "nor" and (word in BE or word in DO or word in MODALS)
    if turned and chart.has(i + 1, i + 2, *PRONOUNS) and (_one_name(chart) or chart.has(0, i, "neither")):
        other = chart.rearranged([chart.tokens[i], *chart.tokens[i + 2 : j]])
        return chart.rules.finite(other, 0, len(other.words), "plural" if chart.words[i + 1] == "they" else "singular")
    if place == "finite":
        return chart.rules.finite(chart, i, j, number)
    found = list(chart.rules.inner(chart, i, j, place, number))
    if place == "complement" and chart.starts_verb(i, j):
        own = word in AUXILIARIES or third(word) is not None
        adverb = is_adverb(word) and chart.is_finite(i + 1, j)
        if own or adverb or (number == "plural" and is_base(word) and not is_adj(word)):
            found += chart.rules.finite(chart, i, j, number)
    return found


def _denied(chart: Chart, at: int, place: Place) -> Place:
    """Return the place of what a bare `not` denies: of `is` in `is brave and not tired`, of no verb else."""
    verbs = [k for k in range(at) if chart.words[k] in AUXILIARIES or third(chart.words[k]) or past(chart.words[k])]
    return "complement" if place == "finite" and any(chart.words[k] in BE for k in verbs[-2:]) else place


def _one_name(chart: Chart) -> bool:
    return len({token.word for token in chart.tokens if token.is_name}) <= 1


def _item(chart: Chart, i: int, j: int, place: Place, number: Number) -> Iterable[Formula]:
    """Read one side of a connective that holds no other."""
    if i < j and chart.words[j - 1] == ",":
        j -= 1
    if i >= j or (chart.words[i] in OPENERS and place != "finite"):
        return []
    word = chart.words[i]
    if word == "not":
        return [Not(part) for part in chart.rules.simple(chart, i + 1, j, _denied(chart, i, place), number)]
    if place == "finite":
        nested = any(
            chart.words[k] in ("and", "or") and _parallel(chart, i, k, k + 1, j, place) for k in range(i + 1, j - 1)
        )
        return [] if nested else chart.rules.finite(chart, i, j, number)
    found = list(chart.rules.simple(chart, i, j, place, number))
    if place == "complement" and (word in BE or word in ("has", "have", "does", "can") or third(word)):
        found += chart.rules.finite(chart, i, j, number)
    return found


def _parallel(chart: Chart, i: int, cut: int, right: int, j: int, place: Place) -> bool:
    """Say whether what follows a connective can be a predicate of its own, and not the end of an object."""
    if right >= j:
        return False
    word = chart.words[right]
    if place in ("finite", "base"):
        return not chart.is_name(right) and _parallel_verb(chart, i, cut, right, j, place)
    if word in POSTPOSED or word in ("a", "an", "not", "very") or word in OPENERS:
        return True
    if chart.is_name(right):
        return not _has_object(chart, i, cut) and cut - i == 1 and chart.is_name(i)
    if word in AUXILIARIES or (is_adj(word) and chart.has(right + 1, right + 2, *PREPOSITIONS)):
        return True
    compound = chart.words[i] in ("a", "an") and right + 1 < j and chart.is_content(right + 1)
    if (is_participle(word) and not compound) or word in PREPOSITIONS or is_adverb(word):
        return True
    if third(word) and not is_plural(chart.words[cut - 1]) and not chart.is_content(cut - 1):
        return True
    if chart.words[i] in ("a", "an") and "," not in (chart.words[right - 1], chart.words[cut - 1]) and j - right != 1:
        return False
    return not _has_object(chart, i, cut)


def _has_object(chart: Chart, i: int, cut: int) -> bool:
    return any(word in PREPOSITIONS or word in ("the", "to") or word in RELATIVE for word in chart.words[i:cut])


def _lengthens(chart: Chart, i: int, cut: int, right: int, j: int, place: Place) -> bool:
    """Say whether a word may go on with an object, and be no verb: likes cats and dogs, buys food and drinks."""
    words, after = chart.words, chart.words[right + 1] if right + 1 < j else "and"
    verb = next((at for at in range(i, cut) if not is_adverb(words[at]) and words[at] != "never"), cut)
    if (
        verb >= cut - 1
        or words[verb] in BE
        or words[verb + 1] == ","
        or words[cut - 2] == "to"
        or after not in (*PREPOSITIONS - {"to"}, "every", "and", "or", ",")
    ):
        return False
    if cut - i > 2 and words[cut - 2] in ("and", "or"):
        return not _parallel_verb(chart, i, cut - 2, cut - 1, j, place)
    # Pays a fee or helps in the bar: no fee or helps.
    acts = chart.is_name(cut - 1) or (words[cut - 2] in ("a", "an") and after in PREPOSITIONS)
    return is_rare(words[right]) or not acts


def _parallel_verb(chart: Chart, i: int, cut: int, right: int, j: int, place: Place) -> bool:
    words, word = chart.words, chart.words[right]
    if word in AUXILIARIES or word in OPENERS or word in ("never", "not"):
        return place == "finite" or word in ("have", "never", "not", "do") or word in OPENERS
    if is_adverb(word):
        return right + 1 < j and _parallel(chart, i, cut, right + 1, j, place)
    if place == "base":
        return is_base(word)
    before = range(i, min(i + 3, cut))
    if third(word) and is_plural(word) and _lengthens(chart, i, cut, right, j, place):
        return False
    if any(third(words[at]) or words[at] in ("has", "is", "does") for at in before):
        return third(word) is not None
    if any(past(words[at]) and not chart.is_name(at) and not is_base(words[at]) for at in before):
        return past(word) is not None
    is_object = cut - i > 1 and not (is_base(words[cut - 1]) or third(words[cut - 1]))
    if is_noun_too(word) and is_object and (right + 1 >= j or words[right + 1] in (*PREPOSITIONS, "every")):
        # Eats cereal and milk: a verb, or more of what is eaten.
        return False
    return is_base(word) or third(word) is not None
