"""Words beside a clause: asides between commas, a place in front, and a condition behind about its subject."""

from collections.abc import Callable, Iterable, Iterator

from critics.grammar.chart import Chart
from critics.grammar.clauses import Referents, Said, clause, objects, pronouns_of
from critics.grammar.lexicon import is_participle, past, third
from critics.grammar.meaning import ANY, HOLE, Compound, Constant, Not, Operator, both, closed, filled, implies
from critics.grammar.nouns import modifiers
from critics.grammar.predicates import finite
from critics.grammar.subjects import Referent, subject
from critics.grammar.words import BE, PREPOSITIONS, STRUCTURE, UNLESS


def aside(chart: Chart, j: int) -> Iterator[Said]:
    """Tom, who is a cat, is warm; the mine, located in Peru, was sold; Ann is a novelist, born in Rome."""
    words, tokens = chart.words, chart.tokens
    first = words.index(",")
    second = next((at for at in range(first + 1, j) if words[at] == ","), j)
    opens = words[first + 1] if first + 1 < second else ""
    relative, told = opens in ("who", "which"), is_participle(opens) and not opens.endswith("ing")
    if chart.has(first, second, "and", "or", "but") or not (relative or told or opens in ("a", "an")):
        return
    if second < j and chart.starts_verb(second + 1, j):
        main = chart.rearranged([*tokens[:first], *tokens[second + 1 :]])
        heads = [each.terms[0] for each in subject(chart, 0, first, ()) if each.kind == "term" and not each.owned]
    elif (
        second == j
        and (relative or opens == "located")
        and chart.is_name(first - 1)
        and not tokens[first - 1].owns
        and first > 2
    ):
        main, heads = chart.rearranged(tokens[:first]), [Constant(words[first - 1])]
    elif second == j and told and chart.is_name(0) and words[1] in BE and words[2] in ("a", "an"):
        if chart.has(3, first, *PREPOSITIONS):
            return
        main, heads = chart.rearranged(tokens[:first]), [Constant(words[0])]
    else:
        return
    role = chart.rules.inner(chart, first + 1, second, "complement", "singular")
    for more in modifiers(chart, first + 1, second, "singular") if relative or told else role:
        for said in clause(main, 0, len(main.words), ()):
            yield from (Said(both(filled(more, HOLE, head), said.formula)) for head in heads[:1])


def moved_back(chart: Chart, i: int, j: int, referents: Referents) -> Iterator[Said]:
    """In 1988, A won: A won in 1988."""
    words = chart.words
    if "," not in words[i:j][:7] or chart.has(i, j, "and", "or"):
        return
    cut = i + words[i:j].index(",")
    if not set(words[i:cut]) & (STRUCTURE | set(BE)):
        moved = chart.rearranged([*chart.tokens[cut + 1 : j], *chart.tokens[i:cut]])
        yield from clause(moved, 0, len(moved.words), referents)


def backed_by_pronoun(
    chart: Chart,
    span: tuple[int, int, int],
    sentence: Callable[[Chart, int, int, Referents], Iterable[Said]],
) -> Iterator[Said]:
    """A horse is a racehorse if it races; if and only if it does; unless it sleeps. `sentence` reads the condition."""
    i, cut, j = span
    both_ways = chart.words[cut : cut + 4] == ("if", "and", "only", "if")
    start = cut + (4 if both_ways else 1)
    for at in range(i + 1, cut):
        for each in subject(chart, i, at, ()) if chart.starts_verb(at, cut) else ():
            if each.kind not in ("term", "generic", "every", "any", "none") or each.owned or len(each.terms) > 1:
                continue
            if each.kind == "generic" and past(chart.words[at]) and not third(chart.words[at]):
                continue
            one = each.terms[0] if each.terms else ANY
            heard = Referent(one, pronouns_of(each), each.head)
            kind = None if each.restriction is None else filled(each.restriction, HOLE, ANY)
            for part in finite(chart, at, cut, each.number):
                said = filled(part, HOLE, one)
                # Every man who owns a dog is happy if it is ill.
                inner = () if each.terms else objects(chart, i, at)
                for condition in sentence(chart, start, j, (heard, *inner, *objects(chart, at, cut))):
                    told = Not(said) if each.kind == "none" else said
                    if chart.words[cut] in UNLESS:
                        told = implies(both(kind, Not(condition.formula)), told)
                    elif both_ways:
                        told = implies(kind, Compound(Operator.IFF, (told, condition.formula)))
                    else:
                        told = implies(both(kind, condition.formula), told)
                    yield Said(closed(told, chart.variable()))
