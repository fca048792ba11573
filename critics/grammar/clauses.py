"""Clauses and sentences: conditions, connectives between clauses, `there is`, and what pronouns stand for."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from critics.grammar.chart import Chart, rule
from critics.grammar.lexicon import is_base, is_participle, is_plural, past, third
from critics.grammar.meaning import (
    ANY,
    HOLE,
    Compound,
    Constant,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    both,
    buried,
    closed,
    every,
    filled,
    implies,
    joined,
    marked,
    predicates,
    quantifiers,
    some,
)
from critics.grammar.nouns import Referent, Subject, nominal, subject
from critics.grammar.predicates import agrees, finite, negatable
from critics.grammar.words import (
    BE,
    COLLECTIVE,
    CONDITIONS,
    DO,
    HAVE,
    KIND_PREDICATES,
    MODALS,
    OPENERS,
    PLACES,
    PREPOSITIONS,
    PRONOUNS,
    RECIPROCAL,
    SOMEONE,
    STATES,
    STRUCTURE,
)

Referents = tuple[Referent, ...]
_OPEN: dict[str, frozenset[str]] = {
    "someone": frozenset({"he", "she", "they"}),
    "something": frozenset({"it", "they"}),
}
_ONE_OR_ALL = "some or all is not said: say `every`, `some` or `there is`"


@dataclass(frozen=True, slots=True)
class Said:
    """What a clause says, and what pronouns behind it may stand for."""

    formula: Formula
    referents: Referents = ()


def _merged(*several: Referents) -> Referents:
    return tuple({each.term: each for referents in several for each in referents}.values())


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
    if i == 0 and words[0] in ("and", "but", "also", "so"):
        i += 1
    if words[i : i + 2] == ("those", "who"):
        # Those who work: people who work.
        start, after = chart.tokens[i], chart.tokens[i + 1 :]
        chart = chart.rearranged([replace(start, word="everyone"), *after])
        yield from sentence(chart, 0, j - i, referents)
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
    at = next((k for k in range(i + 1, j - 1) if words[k] in ("if", "whenever", "unless") or words[k : k + 2] == ("only", "if")), None)
    if at is not None:
        yield from _backed(chart, i, at, j, referents)
        return
    if chart.has(i, j, "if", "unless", "then", "whenever"):
        if "then" not in words[i:j] or words[j - 1] == "then" or chart.has(i, j, "if", "unless", "whenever"):
            return
    if words[i] in PREPOSITIONS and i == 0:
        yield from _moved(chart, i, j, referents)
        return
    if words[i] == "either":
        yield from _either(chart, i, j, referents)
    yield from _two_clauses(chart, i, j, referents)
    yield from clause(chart, i, j, referents)


def _lead(words: tuple[str, ...]) -> tuple[int, bool] | None:
    """Return how many words of `it is (not) true that` open a sentence, and whether they affirm it."""
    for opening, positive in (
        ("it is not the case that", False), ("it is not true that", False), ("it is false that", False),
        ("it is the case that", True), ("it is true that", True),
    ):  # fmt: skip
        said = tuple(opening.split())
        if words[: len(said)] == said:
            return len(said), positive
    return None


def _fronted(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """If A (,) (then) B; unless A, B."""
    words = chart.words
    cuts = [k for k in range(i + 2, j) if words[k] == "then"] or [k for k in range(i + 2, j) if words[k] == ","]
    for cut in cuts or range(i + 3, j):
        after = cut + 1 if words[cut] in ("then", ",") else cut
        if words[i] == "unless":
            for one in sentence(chart, i + 1, cut, referents):
                for other in sentence(chart, after, j, one.referents or referents):
                    yield Said(joined(Operator.OR, other.formula, one.formula))
        else:
            yield from _conditional(chart, (i + 1, cut), (after, j), referents)


def _backed(chart: Chart, i: int, at: int, j: int, referents: Referents) -> Iterator[Said]:
    """B if A; B only if A; B if and only if A; B unless A."""
    words = chart.words
    if words[at : at + 4] == ("if", "and", "only", "if"):
        for one in opened(chart, i, at, referents):
            for other in sentence(chart, at + 4, j, one.referents or referents):
                yield Said(closed(Compound(Operator.IFF, (one.formula, other.formula)), chart.variable()))
    elif words[at] == "only":
        for one in opened(chart, i, at, referents):
            for other in sentence(chart, at + 2, j, one.referents or referents):
                yield Said(closed(implies(one.formula, other.formula), chart.variable()))
    elif words[at] == "unless":
        for one in opened(chart, i, at, referents):
            for other in sentence(chart, at + 1, j, one.referents or referents):
                yield Said(closed(joined(Operator.OR, one.formula, other.formula), chart.variable()))
    else:
        if any(words[k] in ("and", "or", "but") and sentence(chart, k + 1, at, referents) and clause(chart, i, k, referents)
               for k in range(i + 2, at - 1)):  # fmt: skip
            chart.bar(at, "`if` may reach one clause or both before it: put the condition first")
            return
        yield from _conditional(chart, (at + 1, j), (i, at), referents)


def _conditional(chart: Chart, condition: tuple[int, int], said: tuple[int, int], referents: Referents) -> Iterator[Said]:
    start, end = said
    if start >= end:
        return
    words = chart.words
    if chart.has(start, end, "would") or chart.has(*condition, "would"):
        chart.bar(start, "`would` may speak of what is not so: say it as it is")
        return
    for one in opened(chart, *condition, referents):
        is_open = any(each.term == ANY for each in one.referents)
        if is_open and (words[start] in ("a", "an", "some") or words[start] in SOMEONE or words[start] == "if"):
            chart.bar(start, "it may be the same one or any one: say `it` or `they`")
            continue
        if is_open and _names_kind_again(chart, condition, start, end):
            chart.bar(start, "these may be the same ones or others: say `they`")
            continue
        if _trailing_clause(chart, start, end, one.referents or referents):
            chart.bar(start, "the condition may reach one clause or both behind it: write two sentences")
            continue
        for other in sentence(chart, start, end, one.referents or referents):
            left = tuple(each for each in other.referents if each.term != ANY)
            yield Said(closed(implies(one.formula, other.formula), chart.variable()), left)


def _names_kind_again(chart: Chart, condition: tuple[int, int], start: int, end: int) -> bool:
    """Say whether a bare noun of the condition stands again as the bare subject of what follows: cats, cats."""
    first, second = chart.words[condition[0]], chart.words[start]
    return first == second and chart.is_content(start) and any(
        each.kind == "generic" for k in range(start + 1, end) for each in subject(chart, start, k, ())
    )


def _trailing_clause(chart: Chart, start: int, end: int, referents: Referents) -> bool:
    """Say whether behind a comma and `and` stands a clause of its own, with another subject."""
    return any(
        chart.words[k] == "and"
        and chart.words[k - 1] == ","
        and chart.words[k + 1] not in PRONOUNS
        and bool(sentence(chart, k + 1, end, referents))
        for k in range(start + 2, end - 1)
    )


def _moved(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """In 1988, A won: A won in 1988."""
    words = chart.words
    if "," not in words[:7] or chart.has(i, j, "and", "or"):
        return
    cut = i + words[i:j].index(",")
    if not set(words[i:cut]) & (STRUCTURE | set(BE)):
        moved = chart.rearranged([*chart.tokens[cut + 1 : j], *chart.tokens[i:cut]])
        yield from clause(moved, 0, len(moved.words), referents)


def _either(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """Either A or B, each with its subject and verb; either Tom is a cat or a dog."""
    words = chart.words
    for cut in range(i + 2, j - 1):
        if words[cut] != "or":
            continue
        for one in sentence(chart, i + 1, cut, referents):
            for other in sentence(chart, cut + 1, j, one.referents or referents):
                yield Said(Compound(Operator.XOR, (one.formula, other.formula)))
        if words[cut + 1] in PRONOUNS:
            yield from _either_of_kind(chart, i, cut, j)
    for at in range(i + 2, j - 2):
        if words[at] in BE and "or" in words[at:j] and "either" not in words[at:j]:
            moved = chart.rearranged([*chart.tokens[i + 1 : at + 1], chart.tokens[i], *chart.tokens[at + 1 : j]])
            yield from clause(moved, 0, len(moved.words), referents)
            return


def _either_of_kind(chart: Chart, i: int, cut: int, j: int) -> Iterator[Said]:
    """Either an animal can swim or it can walk."""
    for at in range(i + 2, cut):
        for each in subject(chart, i + 1, at, ()):
            if each.kind not in ("generic", "some"):
                continue
            for part in finite(chart, at, cut, each.number):
                for other in clause(chart, cut + 1, j, (Referent(ANY),)):
                    said = Compound(Operator.XOR, (filled(part, HOLE, ANY), other.formula))
                    kind = None if each.restriction is None else filled(each.restriction, HOLE, ANY)
                    yield Said(closed(implies(kind, said), chart.variable()))


def _two_clauses(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """A and B, A or B, A but B: only where both have a subject and a verb."""
    words = chart.words
    if words[i] in OPENERS:
        return
    for cut in range(i + 1, j - 1):
        if words[cut] not in ("and", "or", "but"):
            continue
        starts = chart.is_content(cut + 1) and words[cut + 1] not in SOMEONE
        if words[cut - 1] != "," and starts:
            continue
        for one in clause(chart, i, cut, referents):
            rest = sentence(chart, cut + 1, j, one.referents or referents)
            _check_two_clauses(chart, cut, j, rest)
            operator = Operator.OR if words[cut] == "or" else Operator.AND
            for other in rest:
                merged = _merged(one.referents, other.referents)
                yield Said(joined(operator, one.formula, other.formula), merged)


def _check_two_clauses(chart: Chart, cut: int, j: int, rest: tuple[Said, ...]) -> None:
    words = chart.words
    other = Operator.AND if words[cut] == "or" else Operator.OR
    second = "and" if words[cut] == "or" else "or"
    if second in words[cut + 1 : j] and not chart.has(cut + 1, j, *OPENERS):
        if any(isinstance(each.formula, Compound) and each.formula.operator is other and not buried(each.formula) for each in rest):
            chart.bar(cut, "`and` and `or` may be grouped in two ways: say `both .. and` or `either .. or`")
    verb, last = words[cut - 1], words[j - 1]
    bare = (past(verb) or third(verb)) and not is_plural(verb) and not chart.is_name(cut - 1)
    if words[cut] == "and" and rest and bare and not (past(last) or third(last)):
        chart.bar(cut, "what stands behind the second verb may belong to the first too: say it twice")


# ---- conditions, which leave their subject open ----


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
            for other in sentence(chart, cut + 1, j, one.referents or referents):
                merged = _merged(one.referents, other.referents)
                yield Said(joined(operator, one.formula, other.formula), merged)
    yield from _opened_clause(chart, i, j, referents)


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
            for part in finite(chart, at, j, each.number):
                indefinite = True
                kind = None if each.restriction is None else filled(each.restriction, HOLE, ANY)
                open_one = Referent(ANY, _OPEN.get(each.head, PRONOUNS), each.head)
                yield Said(both(kind, filled(part, HOLE, ANY)), (open_one, *_objects(chart, at, j)))
    if not indefinite:
        for said in clause(chart, i, j, referents):
            if all(each.term != ANY for each in said.referents) or any(each.term == ANY for each in referents):
                yield said


def _objects(chart: Chart, i: int, j: int) -> tuple[Referent, ...]:
    """Return the names and definites of a predicate that a pronoun may stand for."""
    found: list[Referent] = []
    for at in range(i + 1, j):
        before = chart.words[at - 1]
        if chart.is_name(at) and not chart.tokens[at].owns:
            complement = before in BE or before in ("a", "an", "not", "either", "neither", "or", "nor", "and", "both")
            modifies = at + 1 < j and chart.is_content(at + 1) and not is_participle(chart.words[at + 1])
            kind = chart.is_content(at - 1) and chart.has(max(i, at - 4), at, "a", "an")
            if complement or modifies or before == "of" or kind:
                continue
            thing = before in PLACES or before in ("from", "to", "during", "since", "the", "by")
            found.append(Referent(Constant(chart.words[at]), frozenset({"it"}) if thing else PRONOUNS))
        elif chart.words[at] == "the" and at + 1 < j and chart.is_content(at + 1):
            stop = at + 1
            while stop < j and chart.is_content(stop):
                stop += 1
            found.append(Referent(Constant(" ".join(chart.words[at:stop])), frozenset({"it"})))
    return tuple(found)


# ---- one clause ----


@rule
def clause(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """Read a subject and what is said of it, or `there is`."""
    words = chart.words
    if i >= j:
        return
    if words[i] == "there":
        yield from _there(chart, i, j)
        return
    start = i + 1 if words[i] == "not" and words[i + 1 : i + 2] in (("all",), ("every",)) else i
    for at in range(start + 1, j):
        if not chart.starts_verb(at, j):
            continue
        for each in subject(chart, start, at, referents):
            for part in finite(chart, at, j, each.number):
                for said in applied(chart, start, at, j, each, part):
                    yield said if start == i else Said(Not(said.formula))


def _there(chart: Chart, i: int, j: int) -> Iterator[Said]:
    """There is a cat; there are no cats that bark; there exists a cat."""
    words = chart.words
    if words[i + 1 : i + 2] == ("exists",):
        at, denied = i + 2, False
    elif words[i + 1 : i + 4] == ("does", "not", "exist"):
        at, denied = i + 4, True
    elif i + 2 < j and words[i + 1] in ("is", "are"):
        denied = words[i + 2] in ("no", "not")
        at = i + 3 if denied else i + 2
    else:
        return
    if at < j and words[at] in ("a", "an", "some", "any"):
        at += 1
    elif at < j and not denied and words[i + 1] == "is":
        return
    for body in nominal(chart, at, j, "either"):
        if body is not None:
            found = some(chart.variable(), body)
            yield Said(Not(found) if denied else found)


def applied(chart: Chart, i: int, at: int, j: int, each: Subject, part: Formula) -> Iterator[Said]:
    """Say a predicate of a subject; bars what may be meant in two ways."""
    words = chart.words
    variable = chart.variable()
    if _crosses(chart, each, part, at, j):
        place = next(k for k in range(at, j) if words[k] in ("some", "every", "each", "all", "any", "no"))
        chart.bar(place, "two quantifiers in one clause: which comes first is not said")
        return
    match each.kind:
        case "term" if each.owned:
            yield Said(filled(marked(part, each.owned), HOLE, each.terms[0]))
        case "term":
            own = Referent(each.terms[0])
            yield Said(filled(part, HOLE, each.terms[0]), _merged((own,), _objects(chart, at, j)))
        case "terms":
            yield from _of_several(chart, at, j, each, part)
        case "every" | "any":
            denied = words[at + 1 : at + 2] == ("not",) or words[at] == "never"
            if denied and each.kind == "any":
                chart.bar(i, "`any` with `not` may mean none or not every one: say `no`")
                return
            if denied and chart.conventions.every_not == "refuse":
                chart.bar(at + 1 if at + 1 < j else at, "`not` after `every` may deny it of all or of some: say `no`, or `not every`")
                return
            yield Said(every(variable, each.restriction, part))
        case "none":
            if chart.has(at, j, "not", "never", "no") and not chart.has(at, j, "either"):
                chart.trouble(at, "two negations: say it without `no`")
            yield Said(every(variable, each.restriction, Not(part)))
        case "some":
            yield Said(some(variable, each.restriction, part))
        case "only":
            if each.restriction is not None:
                yield Said(every(variable, part, each.restriction))
        case "generic":
            yield from _generic(chart, i, at, j, each, part, variable.name)


def _crosses(chart: Chart, each: Subject, part: Formula, at: int, j: int) -> bool:
    """Say whether subject and predicate have quantifiers of different kinds, whose order is not said."""
    inner = quantifiers(part)
    if each.kind in ("every", "any", "generic", "none", "only") and Quantifier.SOME in inner:
        return chart.has(at, j, "some")
    return each.kind == "some" and Quantifier.ALL in inner


def _of_several(chart: Chart, at: int, j: int, each: Subject, part: Formula) -> Iterator[Said]:
    """Say it of each of several names."""
    words = chart.words
    last = {word for name in predicates(part) for word in name.split(" ")}
    if (last & RECIPROCAL or chart.has(at, j, *COLLECTIVE)) and each.operator is Operator.AND:
        chart.bar(j - 1, "of each or of one another is not said: write two sentences")
        return
    if each.operator is Operator.AND and chart.has(at, j, "not") and chart.words[at] != "both":
        chart.trouble(at, "`not` of several may deny it of one or of all: say `neither .. nor`")
    parts = tuple(filled(part, HOLE, term) for term in each.terms)
    if each.operator is Operator.IFF:
        yield Said(both(*map(Not, parts)))
    else:
        yield Said(joined(each.operator, *parts))


def _generic(chart: Chart, i: int, at: int, j: int, each: Subject, part: Formula, name: str) -> Iterator[Said]:
    """A cat, cats: of all, but not where the verb tells of one event, place or state, or of the kind."""
    words = chart.words
    verb, after = words[at], words[at + 1] if at + 1 < j else ""
    article = words[i] in ("a", "an")
    event = verb in ("was", "were", "did") or (past(verb) is not None and not is_base(verb))
    perfect = verb in HAVE and (is_participle(after) and after not in ("a", "an"))
    ongoing = verb in BE and after.endswith("ing") and is_participle(after)
    if verb in BE and set(words[at:j]) & KIND_PREDICATES:
        chart.bar(at + 1, "it may be said of the kind or of each: say `every`")
    elif verb in BE and article and set(words[at + 1 : j]) & STATES:
        chart.bar(i, f"`{words[i]}` with a passing state: {_ONE_OR_ALL}")
    elif verb in BE and after in PLACES:
        chart.bar(at + 1, f"a bare noun or `a` with a place: {_ONE_OR_ALL}")
    elif event or perfect or ongoing:
        chart.trouble(at, f"a bare noun or `a` with one event: {_ONE_OR_ALL}")
    else:
        chart.notes.add("generic: all")
        restriction = None if each.restriction is None else filled(each.restriction, HOLE, _variable(name))
        yield Said(Quantified(Quantifier.ALL, name, implies(restriction, filled(part, HOLE, _variable(name)))))


def _variable(name: str) -> Term:
    from critics.grammar.meaning import Variable

    return Variable(name)


def question(chart: Chart) -> Iterator[Formula]:
    """Read a yes-no question as the statement that it asks about: is Tom warm, does Tom bark, can Tom fly."""
    words, end = chart.words, len(chart.words)
    if not words or not (words[0] in BE or words[0] in DO or words[0] in MODALS or words[0] in HAVE):
        return
    if "not" in words[:4]:
        chart.bar(words.index("not"), "a question with `not` has no answer that is safe: ask without it")
        return
    for at in range(2, end):
        turned = chart.rearranged([*chart.tokens[1:at], chart.tokens[0], *chart.tokens[at:]])
        for each in subject(turned, 0, at - 1, ()):
            if words[0] in DO:
                mark = "did" if words[0] == "did" else ""
                parts = negatable(turned, at, end, "base", each.number, mark) if agrees(DO[words[0]], each.number) else ()
            else:
                parts = finite(turned, at - 1, end, each.number)
            for part in parts:
                yield from (said.formula for said in applied(turned, 0, at - 1, end, each, part))
