"""Exceptions: of whom they name nothing is said, or the contrary (`XOR`: both are tried)."""

from collections.abc import Iterator
from itertools import product

from critics.grammar.chart import SAYS_LESS, Chart
from critics.grammar.clauses import Said, clause
from critics.grammar.lexicon import is_adj, is_adverb, is_participle, is_plural
from critics.grammar.meaning import HOLE, Atom, Compound, Constant, Formula, Not, Operator, atom, every, filled
from critics.grammar.nouns import nominal
from critics.grammar.phrases import definite
from critics.grammar.predicates import finite
from critics.grammar.subjects import Subject, head_of, subject
from critics.grammar.tokens import Token
from critics.grammar.words import BE, DATES, EVERY, MODALS, PREPOSITIONS, RELATIVE, SOMEONE, TIMES, is_person


def excepted(chart: Chart, j: int) -> Iterator[Said]:
    """Read an exception of a subject: behind its noun, in front, or at the end, where it may be of an object too."""
    words, at = chart.words, chart.words.index("except")
    start, before = at + 1 + chart.has(at + 1, at + 2, "for"), max(0, at - (words[at - 1] == ","))
    is_apart = at == 0 or before < at
    ends = (k for k in range(start + 1, j) if (words[k] == "," if is_apart else chart.starts_verb(k, j)))
    for end in [*ends, j]:
        main = chart.rearranged([*chart.tokens[:before], *chart.tokens[end + chart.has(end, end + 1, ",") : j]])
        for kind in _left_out(chart, start, end):
            chart.notes.add("except: whom it names it leaves out, or denies")
            if end == j and at:
                yield from _of_object(chart, before, kind, is_thing=words[start] == "the" and not is_person(words[-1]))
            for verb in (k for k in range(1, len(main.words)) if main.starts_verb(k, len(main.words))):
                for each in subject(main, 0, verb, ()):
                    # All parts of the house except the shed; but not: all members of clubs except chess clubs.
                    place = main.words[next((k for k in range(verb) if main.words[k] in PREPOSITIONS), verb) : verb]
                    is_next = end < j and verb == before and not main.has(0, verb, *RELATIVE)
                    is_next = is_next and (not place or (place[1] == "the" and not any(map(is_plural, place))))
                    fits = is_next or _is_of_subject(chart, main, each, (start, end), verb)
                    is_of_all = each.kind in ("every", "any", "none", "generic")
                    for part in finite(main, verb, len(main.words), each.number) if is_of_all and fits else ():
                        told = Compound(Operator.XOR, (Not(part) if each.kind == "none" else part, kind))
                        yield Said(every(chart.variable(), each.restriction, told))


def _left_out(chart: Chart, i: int, j: int) -> Iterator[Formula]:
    """Read what an exception names: trainees, the black knight, Tom, cats and dogs."""
    words, is_the = chart.words, i + 1 < j and chart.words[i] == "the"
    # By itself: in `every knight except the black knight` no `the` speaks of one that `every` brought in.
    one = definite(chart.rearranged(chart.tokens[i:j]), 0, j - i) if is_the and not is_plural(words[j - 1]) else None
    if (cut := next((k for k in range(i + 1, j - 1) if words[k] in ("and", "or")), None)) is not None:
        for two in product(_left_out(chart, i, cut), _left_out(chart, cut + 1, j)):
            yield Compound(Operator.OR, two)
    elif one is not None or (j - i == 1 and chart.is_name(i) and not chart.tokens[i].owns):
        chart.notes.add(SAYS_LESS)
        yield atom(words[i] if one is None else one.name)
    else:
        yield from (kind for kind in nominal(chart, i + is_the, j, "plural") if kind is not None)


def _is_of_subject(chart: Chart, main: Chart, each: Subject, span: tuple[int, int], verb: int) -> bool:
    """Say whether an exception is of the subject, by its noun or as persons are; not: pays all fees, except taxes.

    Or nothing else is there for it: every item incurs a fine, except books; not: every shop is open, except Sundays.
    """
    words, end, singular = main.words, len(main.words), chart.vocabulary.singular
    head, is_name = singular(head_of(chart, *span)), chart.is_name(span[0])
    led = {k for k in range(verb, end) if words[k - 1] in (*BE, *MODALS) or {"a", "an"} & {*words[k - 2 : k]}}
    rest = [k for k in range(verb + 1, end) if main.is_content(k) and k not in led]
    rest = [k for k in rest if not (is_participle(words[k]) or is_adj(words[k]) or is_adverb(words[k]))]
    if head in TIMES | DATES or head.endswith("day") or main.has(verb, end, *EVERY, *SOMEONE, "no", "some", "staff"):
        return False
    if head == each.head or ((is_name or is_person(head)) and (each.head == "someone" or is_person(each.head))):
        nouns = {singular(words[k]) for k in rest if is_plural(words[k]) or words[k - 1] in ("the", "of")}
        return not (rest if is_name else {noun for noun in nouns if is_person(noun) or noun == head})
    is_bare = not rest and not chart.rare and not main.has(verb, end, "the", *PREPOSITIONS)
    is_bare = is_bare and {singular(word) for word in words[:verb] if is_plural(word)} <= {each.head}
    return is_bare and span[1] == len(chart.words) and chart.words[span[0] - 1] != "for"


def _of_object(chart: Chart, j: int, kind: Formula, *, is_thing: bool) -> Iterator[Said]:
    """Tom may enter every hall except the crypt: each hall that is not that. Not: all pay every fee except members."""
    words, at = chart.words, max((k for k in range(1, j) if chart.words[k] in EVERY), default=0)
    is_plain = all(map(chart.is_content, range(at + 1, j))) and chart.vocabulary.singular(words[at + 1]) not in TIMES
    if not at or not is_plain or chart.has(0, at, *RELATIVE, "no", "not", "never", "without", "some"):
        return
    one = Token("zyx 1", chart.tokens[at].start, chart.tokens[j - 1].end, is_name=True, is_thing=True)
    said = clause(chart.rearranged([*chart.tokens[:at], one]), 0, at + 1, ())
    number = "singular" if words[at] in ("every", "each") else "either"
    for each, body in product([each.formula for each in said], nominal(chart, at + 1, j, number)):
        if body is not None and (is_thing or isinstance(each, Atom)):
            told = Compound(Operator.XOR, (filled(each, Constant(one.word), HOLE), kind))
            yield Said(every(chart.variable(), body, told))
