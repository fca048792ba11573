"""Sentences of several clauses: conditions, which leave their subject open, and connectives between clauses."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product

from critics.grammar.asides import aside, backed_by_pronoun, moved_back
from critics.grammar.chart import SAYS_LESS, Chart, rule
from critics.grammar.clauses import Referents, Said, clause, merged, objects, pronouns_of, resolved
from critics.grammar.exceptives import excepted
from critics.grammar.lexicon import is_base, is_participle, is_plural, past, third
from critics.grammar.meaning import (
    ANY,
    HOLE,
    Compound,
    Not,
    Operator,
    both,
    buried,
    closed,
    filled,
    implies,
    joined,
    quantifiers,
    some,
)
from critics.grammar.predicates import finite
from critics.grammar.subjects import Referent, subject
from critics.grammar.tokens import is_past
from critics.grammar.words import (
    ALWAYS_ASKING,
    ARTICLES,
    ASKING,
    ATTITUDES,
    BE,
    CONDITIONS,
    EMBEDDING,
    EVERY,
    LASTING,
    MATES,
    OCCASIONS,
    OPENERS,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    SOMEONE,
    TIMED,
    UNCLEAR,
    UNLESS,
)

_BACK = PRONOUNS | POSSESSIVES
_MAY_PART = "a sentence of its own may begin here, or a list go on: write two sentences"
_LEADS = {"not the case": False, "not true": False, "false": False, "the case": True, "true": True}
"""By the words of `it is .. that` whether it affirms a statement."""


@rule
def sentence(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """Read a span as a statement of one clause or several."""
    words = chart.words
    if i < j and words[j - 1] == ",":
        j -= 1
    if i < j and words[i] == ",":
        i += 1
    if i >= j:
        return
    if i == 0 and j > 1 and words[0] in ("and", "but", "also", "so"):
        i += 1
    if "he" in words[i:j] and "she" in words[i:j] and not chart.bars:
        chart.bar(words.index("she"), "`he` and `she` are two: name who is meant")
    if ";" in words[i:j]:
        yield from _halves(chart, i, j, referents)
        return
    if parts := _left_out(chart, i, j):
        pairs = product(*(sentence(part, 0, len(part.words), ()) for part in parts))
        yield from (Said(both(one.formula, other.formula)) for one, other in pairs)
        return
    lead = _lead(words[i:j])
    if lead is not None:
        size, positive = lead
        for said in sentence(chart, i + size, j, referents):
            yield Said(said.formula if positive else Not(said.formula))
        return
    if words[i] in CONDITIONS or words[i] == "unless":
        yield from _fronted(chart, i, j, referents)
        return
    at = next(
        (
            k
            for k in range(i + 1, j - 1)
            if words[k] in ("if", "whenever", "unless")
            or words[k : k + 2] == ("only", "if")
            or _is_timed(chart, i, k, j)
        ),
        None,
    )
    if at is not None:
        yield from _backed(chart, i, at, j, referents)
        return
    if chart.has(i, j, "if", "unless", "whenever"):
        return
    excepts = words.index("except") + 1 if i == 0 and j == len(words) and "except" in words else j
    if excepts < j and words[excepts] not in PREPOSITIONS - {"for"}:
        yield from excepted(chart, j)
        return
    if words[i] in PREPOSITIONS - {"with", "without", "like", "of", "to"} and i == 0:
        yield from moved_back(chart, i, j, referents)
        return
    if i == 0 and j == len(words) and "," in words:
        yield from aside(chart, j)
    if words[i] == "either":
        yield from _either(chart, i, j, referents)
    yield from _two_clauses(chart, i, j, referents)
    yield from clause(chart, i, j, referents)


def _left_out(chart: Chart, i: int, j: int) -> tuple[Chart, ...]:
    """Return both clauses of a sentence whose second leaves out the verb of the first: Tom swims, but cats do not."""
    words, tokens, size = chart.words, chart.tokens, len(chart.words)
    if i > 0 or j < size or size < 4 or not (words[-1] in ("not", *MATES) or "so" in words):
        return ()
    cut = max((k for k in range(2, size - 2) if words[k] in ("and", "but", "whereas")), default=0)
    so, no, end = words[cut + 1] == "so", words[-1] == "not", cut - (words[cut - 1] == ",")
    verb = cut + 2 if so else size - 1 - no
    who = tokens[cut + 3 :] if so else tokens[cut + 1 : verb]
    first, mate = chart.rearranged(tokens[:end]), MATES.get(words[verb], "")
    verbs = [at for at in range(1, end) if first.starts_verb(at, end)]
    found = {at for at in verbs for each in subject(first, 0, at, ()) if finite(first, at, end, each.number)}
    at, *others = found or [0]
    denied, one = words[at + 1] == "not", words[at]
    behind = tokens[at + 1 + denied : end]
    is_done = any(is_participle(word) or word == "been" for word in words[at + 1 + denied : end][:1])
    base = past(one) if mate == "did" else third(one) or (one if is_base(one) and past(one) != one else None)
    told = behind if MATES.get(one) == mate and (is_done or mate not in ("have", "had")) else ()
    if not told and base and not is_done and mate in ("do", "did") and MATES.get(one) in (None, "have"):
        told = (replace(tokens[at], word=base), *behind)
    is_whole = who and (not so or who[0].is_name or is_plural(words[-1]) or who[0].word in (*ARTICLES, *EVERY))
    is_clear = told and UNCLEAR.isdisjoint(each.word for each in told) and not (so and denied)
    if not (cut and is_whole and is_clear) or others or first.bars:
        return ()
    return first, chart.rearranged((*who, tokens[verb], *tokens[size - no :], *told))


def _halves(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """A; B: both. Not where a condition or a denial in front may reach behind the semicolon."""
    cut = chart.words.index(";")
    is_free = not chart.has(i, cut, *CONDITIONS, "unless") and _lead(chart.words[i:cut]) is None
    behind = chart.rearranged(chart.tokens[cut + 1 : j])
    for one in sentence(chart, i, cut, referents) if is_free and behind.words else ():
        for other in sentence(behind, 0, len(behind.words), one.referents or referents):
            yield Said(both(one.formula, other.formula))


def _lead(words: tuple[str, ...]) -> tuple[int, bool] | None:
    """Return how many words of `it is (not) true that` open a sentence, and whether they affirm it."""
    that = words.index("that") if words[:2] == ("it", "is") and "that" in words else 0
    positive = _LEADS.get(" ".join(words[2:that]))
    return None if positive is None else (that + 1, positive)


def _fronted(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """If A (,) (then) B; unless A, B."""
    words = chart.words
    cuts = [k for k in range(i + 2, j) if words[k] == "then"] or [k for k in range(i + 2, j) if words[k] == ","]
    for cut in cuts or range(i + 3, j):
        after = cut + 1 if words[cut] in ("then", ",") else cut
        if words[i] == "unless":
            for one in _told(chart, i + 1, cut, referents):
                for other in sentence(chart, after, j, one.referents or referents):
                    yield Said(joined(Operator.OR, other.formula, one.formula))
        else:
            yield from _conditional(chart, (i + 1, cut), (after, j), referents)


def _is_timed(chart: Chart, i: int, at: int, j: int) -> bool:
    """Say whether a word of time is `if` (wakes up when he is angry), or `unless` of what is denied (not before it)."""
    words, only = chart.words, chart.words[at] == "only"
    if words[at + only] not in TIMED[only] or at + 3 > j or words[i] == "it":
        return False
    # Attack: it is not true that no cat sleeps before Ann does. Where less is denied, more is said.
    if (i or chart.conventions.states == "all") and (words[at] != "when" or words[at + 1] not in PRONOUNS):
        return False
    if any(is_past([words[k] for k in range(*side) if not chart.is_name(k)]) for side in ((i, at), (at + 1, j))):
        return False
    if only or words[at] not in ("when", "once"):
        said = next((k for k in range(i, at) if words[k] in ("not", "never")), at)
        denied = words[i] in ("no", "nobody", "nothing") or (said < at and not chart.has(i, said, *RELATIVE))
        lasts = words[at] == "until" and {third(word) or past(word) or word for word in words[i:at]} & LASTING
        fits = not (denied or chart.has(i, at, "not", "neither", "none")) if only else denied and not lasts
        if chart.has(i, at, "that") or not fits or not _is_clause(chart, at + 1 + only, j):
            return False
        chart.notes.add(SAYS_LESS)
        return True
    # Not: decides when, the day when; but the light is on when ..
    verbs = (word for before, word in pairwise(words[i:at]) if before not in (*ARTICLES, *EVERY, *POSSESSIVES, "no"))
    asks = not (EMBEDDING | ALWAYS_ASKING).isdisjoint({third(word) or past(word) or word for word in verbs})
    is_led = words[at - 1] in (*PREPOSITIONS, ",") and words[at - 2] not in BE
    is_led = is_led or chart.vocabulary.singular(words[at - 1]) in OCCASIONS
    if asks or is_led or not (words[at] == "when" or _is_clause(chart, at + 1, j)):
        return False
    chart.notes.update([f"{words[at]}: if", *([] if words[at + 1] in PRONOUNS else [SAYS_LESS])])
    return True


def _is_clause(chart: Chart, i: int, j: int) -> bool:
    """Say whether a span behind a word of time has a verb of its own: before the show ends; not before the show."""
    acts = (k for k in range(i + 1, j) if chart.is_finite(k, j) and not chart.has(i, k, "and", "or", "but", ","))
    return (any(acts) and chart.words[i - 1] != "once") or _says(chart, i, j, (Referent(ANY),))


def _backed(chart: Chart, i: int, at: int, j: int, referents: Referents) -> Iterator[Said]:
    """B if A; B only if A; B if and only if A; B unless A."""
    words = chart.words
    both_ways = words[at : at + 4] == ("if", "and", "only", "if")
    unless = words[at] in UNLESS
    if _is_open(referents):
        # If a cat is not white, it is black unless it is sick.
        chart.bar(at, "a condition inside of another: write two sentences")
    elif (both_ways and chart.has(at + 4, j, *_BACK)) or (unless and chart.has(at + 1, at + 2, *_BACK)):
        yield from backed_by_pronoun(chart, (i, at, j), sentence)
    elif words[at] == "only" and chart.has(i, i + 1, "some", "someone", "somebody", "something"):
        chart.bar(i, "it may be of one or of all: say `every`, or put the condition first")
    elif both_ways or unless or words[at] == "only":
        start = at + {"if": 4, "only": 2}.get(words[at], 1)
        for one in clause(chart, i, at, referents) if unless else opened(chart, i, at, referents):
            if _is_open(one.referents) and words[at] != "only":
                chart.bar(at, "what is said of a kind in front of it: say `if`, and `if .. not`")
            for other in _told(chart, start, j, one.referents or referents, both_ways=both_ways):
                operator = Operator.OR if unless else Operator.IFF if both_ways else Operator.IMPLIES
                yield Said(closed(Compound(operator, (one.formula, other.formula)), chart.variable()))
    else:
        if words[at - 1] == "as":
            chart.bar(at, "what `as if` tells is not so: leave it out")
        elif _trailing_clause(chart, at + 1, j, referents):
            chart.bar(at, "the condition may end at the comma: write two sentences")
        joints = [k for k in range(i + 2, at - 1) if words[k] in ("and", "or", "but")]
        if any(sentence(chart, k + 1, at, referents) and clause(chart, i, k, referents) for k in joints):
            chart.bar(at, "`if` may reach one clause or both before it: put the condition first")
        elif {words[at - 1]} & ASKING or {*words[i:at]} & ALWAYS_ASKING:
            chart.bar(at, "it may tell what is asked, and be no condition: put the condition first")
        elif words[at + 1] in _BACK or (words[at + 1] == "the" and chart.has(i, at, *words[at + 2 : at + 3])):
            yield from backed_by_pronoun(chart, (i, at, j), sentence)
        else:
            yield from _conditional(chart, (at + 1, j), (i, at), referents)


def _told(chart: Chart, i: int, j: int, referents: Referents, *, both_ways: bool = False) -> Iterator[Said]:
    """Read what stands behind `unless` and `only if`: of a cat that barks, that there is one; not of a kind."""
    is_kind = any(chart.words[k] in BE and chart.words[k + 1] in ("a", "an") for k in range(i, j - 1))
    is_one = chart.has(i, i + 1, "a", "an") and not (both_ways or is_kind)
    for told in opened(chart, i, j, ()) if is_one else sentence(chart, i, j, referents):
        there_is = is_one and _is_open(told.referents)
        if quantifiers(told.formula) and not there_is and chart.words[i] not in (*EVERY, "there"):
            chart.bar(i, "one of them or all: say `if some ..`, or `if every ..`")
        yield Said(some(chart.variable(), filled(told.formula, ANY, HOLE))) if there_is else told


def _is_open(referents: Referents) -> bool:
    return any(each.term == ANY for each in referents)


def _conditional(
    chart: Chart, condition: tuple[int, int], said: tuple[int, int], referents: Referents
) -> Iterator[Said]:
    start, end = said
    if start >= end:
        return
    words = chart.words
    if chart.has(start, end, "would") or chart.has(*condition, "would"):
        chart.bar(start, "`would` may speak of what is not so: say it as it is")
        return
    for one in opened(chart, *condition, referents):
        is_open = _is_open(one.referents)
        if words[start] in ("a", "an") or (is_open and words[start] in ("some", "if", *SOMEONE)):
            chart.bar(start, "it may be the same one or any one: say `it` or `they`")
            continue
        if is_open and _names_kind_again(chart, condition, start, end):
            chart.bar(start, "these may be the same ones or others: say `they`")
            continue
        if _trailing_clause(chart, start, end, one.referents or referents):
            chart.bar(start, "the condition may reach one clause or both behind it: write two sentences")
            continue
        if any(each.head == "you" for each in one.referents) and words[start] != "you":
            continue
        for other in sentence(chart, start, end, one.referents or referents):
            left = tuple(each for each in other.referents if each.term != ANY)
            yield Said(closed(implies(one.formula, other.formula), chart.variable()), left)


def _names_kind_again(chart: Chart, condition: tuple[int, int], start: int, end: int) -> bool:
    """Say whether a bare noun of the condition stands again as the bare subject of what follows: cats, cats."""
    first, second = chart.words[condition[0]], chart.words[start]
    return (
        first == second
        and chart.is_content(start)
        and any(each.kind == "generic" for k in range(start + 1, end) for each in subject(chart, start, k, ()))
    )


def _trailing_clause(chart: Chart, start: int, end: int, referents: Referents) -> bool:
    """Say whether behind a comma and `and` or `but` stands a clause of its own, with another subject."""
    return any(
        chart.words[k] in ("and", "but")
        and chart.words[k - 1] == ","
        and chart.words[k + 1] not in PRONOUNS
        and bool(sentence(chart, k + 1, end, referents))
        for k in range(start + 2, end - 1)
    )


def _either(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """Either A or B, each with its subject and verb; either Tom is a cat or a dog."""
    words = chart.words
    for cut in range(i + 2, j - 1):
        if words[cut] != "or":
            continue
        for one in sentence(chart, i + 1, cut, referents):
            for other in sentence(chart, cut + 1, j, one.referents or referents):
                yield Said(Compound(Operator.XOR, (one.formula, other.formula)))
    for at in range(i + 2, j - 2):
        if words[at] in BE and "or" in words[at:j] and "either" not in words[at:j]:
            moved = chart.rearranged([*chart.tokens[i + 1 : at + 1], chart.tokens[i], *chart.tokens[at + 1 : j]])
            yield from clause(moved, 0, len(moved.words), referents)
            return


def _two_clauses(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """A and B, A or B, A but B: only where both have a subject and a verb."""
    words = chart.words
    if words[i] in OPENERS:
        return
    for cut in range(i + 1, j - 1):
        if words[cut] not in ("and", "or", "but"):
            continue
        starts = chart.is_content(cut + 1) and words[cut + 1] not in SOMEONE
        # Than 4K monitors and 2K monitors: no clause.
        if (words[cut - 1] != "," and starts) or (j - cut == 3 and chart.tokens[cut + 1].is_thing):
            if _says(chart, i, cut, referents) and _says(chart, cut + 1, j, referents):
                chart.bar(cut, _MAY_PART)
            continue
        joins = j - cut == 3 and chart.is_name(cut + 1)
        that = any(words[at] == "that" and (joins or chart.has(i, at, *ATTITUDES)) for at in range(i, cut))
        if that and sentence(chart, cut + 1, j, ()):
            chart.bar(cut, "it may go on with what is thought, or with what is so: write two sentences")
        ones = clause(chart, i, cut, referents)
        # Tom is rude, loud, and guests leave; not: everything that is a cat, a dog, and happy is warm.
        ends_kind = chart.has(i, cut, *RELATIVE) and chart.has(cut + 2, cut + 3, *BE) and not is_plural(words[cut + 1])
        if not ones and starts and not ends_kind and words[cut] == "and" and _says(chart, cut + 1, j, referents):
            chart.bar(cut, _MAY_PART)
        for one in ones:
            rest = sentence(chart, cut + 1, j, one.referents or referents)
            if not rest and words[cut + 1] in ("a", "an") and _says(chart, cut + 1, j, referents):
                chart.bar(cut, _MAY_PART)
            _check_two_clauses(chart, cut, j, rest)
            operator = Operator.OR if words[cut] == "or" else Operator.AND
            for other in rest:
                together = merged(one.referents, other.referents)
                yield Said(joined(operator, one.formula, other.formula), together)


def _says(chart: Chart, i: int, j: int, referents: Referents) -> bool:
    """Say whether a span has a subject and a verb that agrees with it: `dogs bark`, behind `and`, or part of a list."""
    return any(
        bool(finite(chart, at, j, each.number))
        for at in range(i + 1, j)
        if chart.starts_verb(at, j) and not chart.words[at].endswith("ing")
        for each in subject(chart, i, at, referents)
    )


def _check_two_clauses(chart: Chart, cut: int, j: int, rest: tuple[Said, ...]) -> None:
    words = chart.words
    other = Operator.AND if words[cut] == "or" else Operator.OR
    second = "and" if words[cut] == "or" else "or"
    mixed = second in words[cut + 1 : j] and not chart.has(cut + 1, j, *OPENERS)
    groups = [each.formula for each in rest if isinstance(each.formula, Compound) and not buried(each.formula)]
    if mixed and any(group.operator is other for group in groups):
        chart.bar(cut, "`and` and `or` may be grouped in two ways: say `both .. and` or `either .. or`")
    verb, last = words[cut - 1], words[j - 1]
    bare = (past(verb) or third(verb)) and not is_plural(verb) and not chart.is_name(cut - 1)
    has_object = not (past(last) or third(last)) or (j - cut > 3 and bool(past(words[j - 2]) or third(words[j - 2])))
    if words[cut] == "and" and rest and bare and has_object:
        chart.bar(cut, "what stands behind the second verb may belong to the first too: say it twice")


@rule
def opened(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """Read a condition, in which `a man`, `someone`, `men` leave open who is meant."""
    words = chart.words
    if i < j and words[j - 1] == ",":
        j -= 1
    for cut in range(i + 1, j - 1):
        if words[cut] not in ("and", "or") or words[i] in OPENERS:
            continue
        if _mixes(chart, cut, i, j):
            chart.bar(cut, "`and` and `or` may be grouped in two ways: say `both .. and` or `either .. or`")
        operator = Operator.OR if words[cut] == "or" else Operator.AND
        for one in _opened_clause(chart, i, cut, referents):
            if _brings_in(chart, cut + 1, j):
                chart.bar(cut + 1, "two in one condition may be any two: write a sentence for each")
            for other in sentence(chart, cut + 1, j, one.referents or referents):
                together = merged(one.referents, other.referents)
                yield Said(joined(operator, one.formula, other.formula), together)
    yield from _opened_clause(chart, i, j, referents)


def _brings_in(chart: Chart, i: int, j: int) -> bool:
    """Say whether a clause has a subject of its own that is not named: a dog, dogs, someone."""
    return any(
        each.kind in ("generic", "some", "any")
        for at in range(i + 1, j)
        if chart.starts_verb(at, j)
        for each in subject(chart, i, at, ())
        if finite(chart, at, j, each.number)
    )


def _mixes(chart: Chart, cut: int, i: int, j: int) -> bool:
    words = chart.words
    second = "and" if words[cut] == "or" else "or"
    if chart.has(i, j, *OPENERS) or not sentence(chart, cut + 1, j, (Referent(ANY),)):
        return False
    return any(words[k] == second and clause(chart, k + 1, j, (Referent(ANY),)) for k in range(cut + 1, j))


@rule
def _opened_clause(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    indefinite = False
    for at in range(i + 1, j):
        if not chart.starts_verb(at, j):
            continue
        for each in subject(chart, i, at, referents):
            if each.kind not in ("some", "generic", "any"):
                continue
            for told in finite(chart, at, j, each.number):
                indefinite = True
                part = resolved(chart, (at, j), each, told, referents)
                if part is None:
                    continue
                if each.head == "you":
                    chart.notes.add("you: everyone")
                kind = None if each.restriction is None else filled(each.restriction, HOLE, ANY)
                open_one = Referent(ANY, pronouns_of(each), each.head)
                yield Said(both(kind, filled(part, HOLE, ANY)), (open_one, *objects(chart, at, j)))
    if not indefinite:
        for said in clause(chart, i, j, referents):
            if all(each.term != ANY for each in said.referents) or any(each.term == ANY for each in referents):
                yield said
