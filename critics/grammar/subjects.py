"""Subjects: named individuals, quantifiers with what restricts them, pronouns, and kinds."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from critics.grammar.chart import Chart, rule
from critics.grammar.lexicon import gerund, is_adj, is_adverb, is_base, is_participle, is_plural, is_rare, third
from critics.grammar.meaning import ANY, Constant, Formula, Operator, Term, atom, both, joined
from critics.grammar.nouns import EVERYONE, has_rival, modifiers, nominal
from critics.grammar.phrases import PLACED, definite
from critics.grammar.words import (
    COUNTS,
    EVERY,
    MODALS,
    NUMBERS,
    PARTICLES,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVE,
    SITUATIONS,
    SOMEONE,
    STATES,
    STRUCTURE,
    WEATHER,
    Number,
    is_person,
)

Kind = Literal["term", "terms", "every", "any", "none", "some", "only", "generic"]
_ENDS = (",", "and", "or", "but", "if", "unless", "when", "then")
ALL_THE = "all the "
"""The beginning of a constant that stands for several things: `the tests`."""
_OF_NAMES = {"exactly": Operator.XOR, "some": Operator.OR, "none": Operator.IFF}
_KINDS: dict[str, Kind] = {"every": "every", "some": "some", "any": "any", "no": "none"}


@dataclass(frozen=True, slots=True)
class Referent:
    """An individual that a pronoun may stand for, and by which pronouns."""

    term: Term
    pronouns: frozenset[str] = PRONOUNS
    head: str = ""
    """The noun that brought it in: `the student` of `if a student ..`."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject read: named individuals, or a quantifier with what restricts it."""

    kind: Kind
    number: Number
    restriction: Formula | None = None
    terms: tuple[Term, ...] = ()
    operator: Operator = Operator.AND
    head: str = ""
    owned: str = ""
    """The noun of `his score`, with `own` before it: a predicate is said of its owner; `they` for `the tests`."""


def several(found: Constant) -> Constant | None:
    """Return the one that stands for all of `the tests`, of which no rule for each thing is; None for one thing."""
    words = found.name.split(" ")
    head = next((at for at, word in enumerate(words) if at and (word in PLACED or word == "of")), len(words)) - 1
    return Constant(f"all {found.name}") if is_plural(words[head]) and words[0] == "the" else None


@rule
def subject(chart: Chart, i: int, j: int, referents: tuple[Referent, ...]) -> Iterator[Subject]:
    """Read a span as a subject, in all ways."""
    if j - i > 1 and chart.words[j - 1] == ",":
        j -= 1
    if i >= j:
        return
    word, known = chart.words[i], chart.vocabulary
    alone = j - i == 1 and chart.tokens[i].start == 0 and not is_plural(word) and word not in PRONOUNS
    if alone and word in known.counted | (known.names & known.lower):
        # Polish is a polish; Turkey is food, of a problem that has Turkey and turkey.
        chart.bar(i, "it may be a name, or the kind: say `every` or `a`, or do not begin with it")
    said = chart.tokens[j + 1 : j + 2] if chart.has(j, j + 1, "is", "was") else ()
    is_plain = is_adj(word) or word in STATES or word in known.lower - known.names
    if alone and said and said[0].is_name and not said[0].owns and is_plain:
        chart.bar(i, "what is said may stand in front: begin with whom it is said of")
    if j - i == 1 and chart.is_name(i):
        yield from _name(chart, i)
    elif j - i == 1 and word in PRONOUNS:
        yield from _pronoun(chart, i, referents)
    elif word == "you" and j - i == 1:
        # If you work, you eat: whoever works.
        terms = tuple(each.term for each in referents if each.head == "you")
        yield Subject("term", "plural", terms=terms) if terms else Subject("any", "plural", head="you")
    elif word in POSSESSIVES:
        yield from _own(chart, i, j, referents)
    elif pair := _two_individuals(chart, i, j):
        yield Subject("terms", "plural", terms=pair)
    elif word in ("the", "that", "this"):
        yield from _definite(chart, i, j, referents)
    elif _owner(chart, i, j) and all(chart.is_content(at) or chart.is_name(at) for at in range(i + 1, j)):
        if not is_plural(chart.words[j - 1]):
            yield Subject("term", "singular", terms=(Constant(" ".join(chart.words[i:j])),))
    elif _is_list_of_names(chart, i, j):
        yield from _names(chart, i, j)
    elif word in _OF_NAMES and (found := [*_of_names(chart, i, j)]):
        yield from found
    elif word == "both":
        yield from _both(chart, i, j)
    elif word in SOMEONE:
        yield from _someone(chart, i, j)
    elif word == "those" and chart.has(i + 1, i + 2, "who"):
        yield from (Subject("every", "plural", body) for body in modifiers(chart, i + 1, j, "plural"))
    elif word == "only":
        yield from _only(chart, i, j)
    elif word == "neither" and j - i == 4 and chart.words[i + 2] == "nor" and is_plural(chart.words[i + 1]):
        yield from (Subject("none", "plural", body) for body in _two_kinds(chart, i + 1, j, "plural"))
    elif word in EVERY or word in ("no", "some", "a", "an") or chart.words[i : i + 2] == ("none", "of"):
        yield from _quantified(chart, i, j)
    else:
        yield from _bare(chart, i, j)


def _owner(chart: Chart, i: int, j: int) -> bool:
    """Say whether `Tom's` or `Yale university's` opens a span, of whose owner something is said."""
    owns = chart.tokens[i].owns or (chart.is_name(i) and i + 1 < j and chart.words[i + 1].endswith("'s"))
    return (
        owns
        and j - i > 1
        and chart.words[j - 1] not in NUMBERS
        and chart.is_content(j - 1)
        and not chart.words[j - 1].endswith("'s")
    )


def _name(chart: Chart, i: int) -> Iterator[Subject]:
    word = chart.words[i]
    if chart.tokens[i].owns or word in PARTICLES:
        return
    plural = word.endswith("s") and not word.endswith("ss")
    yield Subject("term", "either" if plural and " " in word else "singular", terms=(Constant(word),))
    if plural and " " not in word and is_plural(word) and word not in chart.vocabulary.definites:
        singular = chart.vocabulary.singular(word)
        open_verb = chart.has(i + 1, i + 2, *MODALS, "did", "had")
        if not (open_verb and singular not in chart.vocabulary.lower | chart.vocabulary.names):
            # Ines can swim: nobody speaks of an `ine`.
            yield Subject("generic", "plural", atom(singular), head=singular)


def is_several(term: Term) -> bool:
    """Say whether a term stands for several things."""
    return isinstance(term, Constant) and term.name.startswith(ALL_THE)


def of_they(possible: list[Term], referents: tuple[Referent, ...]) -> list[Term]:
    """Return whom `they` may mean: several rather than one, as in `if the gardener covers the tomatoes, they live`."""
    many = [each for each in possible if is_several(each)]
    if referents[0].term == ANY:
        # If someone likes the dogs, they bark: it may be both.
        return possible[:1] if not many or referents[0].pronouns == frozenset({"they"}) else possible
    return many if len(many) == 1 else possible


def _pronoun(chart: Chart, i: int, referents: tuple[Referent, ...]) -> Iterator[Subject]:
    word = chart.words[i]
    number: Number = "plural" if word == "they" else "singular"
    possible = [each.term for each in referents if word in each.pronouns]
    if word == "they" and possible:
        possible = of_they(possible, referents)
    if word == "it" and len(possible) == 1 and any(is_several(each.term) for each in referents):
        # If the gardener covers the tomatoes, it is good: that he covers them.
        possible = [each for each in possible if not is_person(getattr(each, "name", "").split(" ")[-1])]
    if len(possible) > 1 and chart.conventions.pronoun == "first":
        chart.notes.add("pronoun: the first that was named")
        possible = possible[:1]
    end = next((at for at in range(i + 1, len(chart.words)) if chart.words[at] in _ENDS), len(chart.words))
    said = set(chart.words[i + 1 : end])
    is_weather = said & WEATHER and chart.words[i - 1] in ("if", "unless", "whenever") and i > 1
    if word == "it" and possible and (is_weather or (said & SITUATIONS and _happens(possible[0], referents))):
        chart.bar(i, "`it` may be the weather, the time, or what happens: name what is meant")
    elif len(possible) == 1 and getattr(possible[0], "name", "").startswith("a "):
        chart.trouble(i, "it may stand for something that has no name: name what is meant")
    elif len(possible) == 1 and not has_rival(chart, i, possible[0]):
        yield Subject("term", number, terms=(possible[0],), owned="they" if is_several(possible[0]) else "")
    elif possible:
        chart.bar(i, "it may stand for more than one: name who is meant")
    else:
        chart.trouble(i, "nothing in the sentence is what it stands for: name who is meant")


def _happens(term: Term, referents: tuple[Referent, ...]) -> bool:
    """Say whether `it` may be what a clause tells rather than this: if a man lies, it is bad; not if a device lies."""
    return term != ANY or any(each.term == ANY and is_person(each.head) for each in referents)


def _own(chart: Chart, i: int, j: int, referents: tuple[Referent, ...]) -> Iterator[Subject]:
    """His score: what is said of it is said of him, as one predicate."""
    word = chart.words[i]
    person = {"his": "he", "her": "she", "its": "it", "their": "they"}[word]
    possible = {each.term: None for each in referents if person in each.pronouns}
    if len(possible) != 1:
        chart.trouble(i, "it may stand for nothing, or for more than one: name who is meant")
        return
    if i + 1 < j and all(chart.is_content(at) or chart.is_name(at) for at in range(i + 1, j)):
        plural = is_plural(chart.words[j - 1])
        noun = [*chart.words[i + 1 : j - 1], chart.vocabulary.singular(chart.words[j - 1])]
        yield Subject("term", "plural" if plural else "singular", terms=tuple(possible), owned=" ".join(["own", *noun]))


def _definite(chart: Chart, i: int, j: int, referents: tuple[Referent, ...]) -> Iterator[Subject]:
    last = chart.words[j - 1]
    if j - i == 2 and any(each.head == last for each in referents):
        # If a student works, then the student ..: the one noun that `a` brought in.
        verb = next((at for at in range(2, i) if chart.starts_verb(at, i)), i)
        if any(chart.vocabulary.singular(word) == last for word in chart.words[verb:i]):
            chart.bar(i, f"there may be two of `{last}`: say it with names")
            return
        yield from (Subject("term", "singular", terms=(each.term,)) for each in referents if each.head == last)
        return
    if chart.words[i] != "the":
        return
    is_one = " ".join(chart.words[i + 1 : j]) in chart.vocabulary.definites
    event = j - i > 2 and chart.conventions.states == "refuse" and chart.has(j, j + 1, "is", "was", "has")
    places = [at for at in range(i + 2, j) if chart.words[at] in PLACED]
    if is_plural(last) and not places and (event or is_one):
        found = definite(chart, i, j)
        yield from () if found is None else (Subject("term", "either" if is_one else "singular", terms=(found,)),)
        return
    end = places[0] if places else j
    found = definite(chart, i, j, placed=True)
    if found is None:
        return
    if chart.is_name(end - 1) and chart.words[end - 1].endswith("s"):
        yield Subject("term", "either", terms=(found,))
    elif not is_plural(chart.words[end - 1]):
        yield Subject("term", "singular", terms=(found,))
    elif chart.conventions.states == "refuse" and (many := several(found)) is not None:
        yield Subject("term", "plural", terms=(many,), owned="they")


def _both(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    """Both printers: the printers; but for `not`, which may deny it of one."""
    found = definite(chart, i, j) if is_plural(chart.words[j - 1]) and not chart.has(j, j + 2, "not", "never") else None
    if found is not None and (many := several(found)) is not None:
        yield Subject("term", "plural", terms=(many,), owned="they")


def _is_list_of_names(chart: Chart, i: int, j: int) -> bool:
    words = [chart.words[at] for at in range(i, j) if not chart.is_name(at)]
    return bool({"and", "or", "nor"} & set(words)) and all(
        word in (",", "and", "or", "nor", "both", "either", "neither", "the") for word in words
    )


def _two_individuals(chart: Chart, i: int, j: int) -> tuple[Term, ...]:
    """Return the two of `the dog and the cat`, `the dog and Tom`; nothing where they are not two individuals."""
    words = chart.words
    if words[i:j].count("and") != 1 or "the" not in (words[i], words[i + words[i:j].index("and") + 1]):
        return ()
    cut = i + words[i:j].index("and")
    found: list[Term] = []
    for start, stop in ((i, cut), (cut + 1, j)):
        if stop - start == 1 and chart.is_name(start):
            found.append(Constant(words[start]))
        elif words[start] == "the" and " ".join(words[start + 1 : stop]) in chart.vocabulary.definites:
            one = definite(chart, start, stop)
            found += [] if one is None else [one]
    return tuple(found) if len(found) == 2 else ()


def _names(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    """Tom and Ann; either Tom or Ann; neither Tom nor Ann."""
    words = set(chart.words[i:j])
    names = tuple(Constant(chart.words[at]) for at in range(i, j) if chart.is_name(at))
    if len(names) < 2 or len({"and", "or", "nor"} & words) != 1 or chart.tokens[j - 1].owns:
        return
    if "neither" in words:
        if "nor" in words and chart.words[i] == "neither":
            yield Subject("terms", "either", terms=names, operator=Operator.IFF)
    elif "and" in words and "either" not in words:
        yield Subject("terms", "plural", terms=names)
    elif "or" in words and "both" not in words:
        yield Subject("terms", "singular", terms=names, operator=Operator.XOR if "either" in words else Operator.OR)


def _someone(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    determiner, noun = SOMEONE[chart.words[i]]
    kind = _KINDS[determiner]
    name = "something" if noun == "thing" else "someone"
    if noun != "thing":
        chart.notes.add(EVERYONE)
    if i + 1 == j:
        yield Subject(kind, "singular", None, head=name)
    else:
        for number in ("singular", "plural") if kind == "none" else ("singular",):
            for more in modifiers(chart, i + 1, j, number):
                yield Subject(kind, "singular", more, head=name)


def _quantified(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    word, rest = chart.words[i], i + 1
    if chart.words[rest : rest + 2] == ("of", "the") and word in ("all", "some", "each", "none", "any"):
        yield from _partitive(chart, i, j)
        return
    if rest + 1 < j and chart.words[rest] == "of" and _owner(chart, rest + 1, j) and word in ("all", "some", "each"):
        rest += 1
    if rest >= j or chart.words[rest] in ("the", "of"):
        return
    if word in ("a", "an"):
        for body in nominal(chart, rest, j, "singular"):
            yield Subject("generic", "singular", body, head=head_of(chart, rest, j))
        return
    title = word in ("no", "all", "some") and j - rest == 1 and i == 0 and chart.is_name(rest)
    last = chart.words[rest].split(" ")[-1]
    if title and chart.has(j, j + 1, "is", "was", "has") and (is_base(last) or is_adj(last) or is_plural(last)):
        # No Doubt is a band.
        chart.bar(rest, "it may be a name: write the kind in lower case")
    kind: Kind = "none" if word == "no" else "some" if word == "some" else "any" if word == "any" else "every"
    if chart.words[rest] in ("who", "that") and word != "some":
        yield from (Subject(kind, "plural", body) for body in modifiers(chart, rest, j, "plural"))
        return
    after = chart.words[rest + 1] if rest + 1 < j else ""
    if word == "all" and (chart.words[rest] in NUMBERS or chart.words[rest].isdigit()):
        return  # All three guests: those that are spoken of.
    done = is_participle(chart.words[rest]) and (word == "all" or not gerund(chart.words[rest]))
    if kind in ("every", "none", "any") and done and after in PREPOSITIONS:
        # All sold in the market.
        yield from (Subject(kind, "plural", body) for body in modifiers(chart, rest, j, "plural"))
        return
    for number in ("plural",) if rest == i + 2 else ("singular", "plural"):
        if EVERY.get(word, "either") in ("either", number):
            for body in nominal(chart, rest, j, number):
                yield Subject(kind, number, body, head=head_of(chart, rest, j))
    num: Number = "plural" if is_plural(chart.words[rest]) else "singular"
    all_of = after == "and" and kind in ("every", "any") and num == "plural"
    if all_of or (after == "or" and word != "all" and (kind == "none" or (kind != "some" and num == "singular"))):
        # All cats and dogs: each of both kinds; no cat or dog.
        yield from (Subject(kind, num, body) for body in _two_kinds(chart, rest, j, num))


def _two_kinds(chart: Chart, i: int, j: int, number: Number) -> Iterator[Formula]:
    """Read two nouns with a connective between them as what is one or the other."""
    for one in nominal(chart, i, i + 1, number) if j - i == 3 else ():
        for other in nominal(chart, i + 2, j, number):
            if one is not None and other is not None:
                yield joined(Operator.OR, one, other)


def _only(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    """Only members, only members and guests, only those who work, only a member, only the owner."""
    first = chart.words[i + 1] if i + 1 < j else ""
    start = i + 1 + (first in ("a", "an", "the", "those"))
    number: Number = "singular" if first in ("a", "an", "the") else "plural"
    if first == "the":
        one = None if is_plural(chart.words[j - 1]) else definite(chart, i + 1, j)
        bodies = () if one is None else (atom(one.name),)
    elif first == "those":
        bodies = modifiers(chart, start, j, number) if chart.has(start, start + 1, *RELATIVE) else ()
    elif is_plural(first) and chart.has(i + 2, i + 3, "and", "or"):
        bodies = _two_kinds(chart, i + 1, j, number)
    else:
        bodies = () if chart.has(start, start + 1, *COUNTS) else nominal(chart, start, j, number)
    yield from (Subject("only", number, body) for body in bodies)


def _of_names(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    """Exactly one of Tom and Ann; at least one of the vans Ada and Bert, each of which is a van; none of them."""
    operator = _OF_NAMES[chart.words[i]]
    start, kind = i + 2 + (operator is Operator.XOR), None
    # `At least one` is one token, as long as its words are.
    is_one = chart.words[i + 1 : start] == (("one", "of") if operator is Operator.XOR else ("of",))
    is_some = chart.words[i] == "some" and chart.tokens[i].end - chart.tokens[i].start == len("some")
    if not is_one or is_some or start >= j:
        return
    if chart.words[start] == "the" and start + 2 < j and is_plural(chart.words[start + 1]):
        kind, start = atom(chart.vocabulary.singular(chart.words[start + 1])), start + 2
    if chart.is_name(start) and _is_list_of_names(chart, start, j) and chart.words[start:j].count("and") < 2:
        names = _names(chart, start, j)
        yield from (replace(each, number="either", operator=operator, restriction=kind) for each in names)


def _partitive(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    """Read `all of the students who work`: all that there are. Without a clause those are meant that are spoken of."""
    kind: Kind = {"some": "some", "none": "none", "any": "any"}.get(chart.words[i], "every")  # type: ignore[assignment]
    start = i + 3 + chart.has(i + 3, i + 4, *NUMBERS)
    owned = start < j and chart.words[start].endswith("'s")
    are_all = owned or chart.has(i + 4, j, *RELATIVE, *PREPOSITIONS)
    if chart.words[i] == "all" and not are_all:
        yield from _both(chart, i + 2, j)
        return
    spoken_of = None if are_all else atom(f"one of {' '.join(chart.words[i + 2 : j])}")
    for body in nominal(chart, start, j, "plural"):
        yield Subject(kind, "singular" if chart.words[i] == "each" else "either", both(spoken_of, body))


def head_of(chart: Chart, i: int, j: int) -> str:
    """Return the singular of the last word before what restricts a noun."""
    stop = i + 1
    while stop < j and (chart.is_content(stop) or chart.is_name(stop)) and not is_participle(chart.words[stop]):
        stop += 1
    return chart.vocabulary.singular(chart.words[stop - 1])


def _bare(chart: Chart, i: int, j: int) -> Iterator[Subject]:
    word = chart.words[i]
    if word in NUMBERS or word.isdigit():
        if word != "one" and j - i == 1 and chart.has(j, j + 1, "is", "was", "does", "equals", *MODALS):
            # Two is even.
            yield Subject("term", "singular", terms=(Constant(word),))
        else:
            chart.trouble(i, "a number is neither all nor some: say `all`, `some` or `no`")
        return
    if word in STRUCTURE or word in PREPOSITIONS or word in PARTICLES:
        return
    auxiliary = j < len(chart.words) and (chart.words[j] in ("are", "were", "do", "have") or chart.words[j] in MODALS)
    if chart.is_name(i) and not auxiliary and any(_is_third(chart, at) for at in (i + 1, j - 1) if at < j):
        # Tom likes, and no toms of the kind `likes`.
        return
    if j - i > 1 and gerund(word) and is_base(gerund(word) or "") and j < len(chart.words) and chart.words[j] in MODALS:
        chart.bar(i, "it may be what is done, or who does it: use another word")
    clause = next((k for k in range(i + 1, j - 1) if chart.words[k] == "that"), j)
    is_mass = chart.starts_verb(clause + 1, j) and not chart.has(i, j, *_ENDS)  # Food that contains nuts: all of it.
    number: Number = "singular" if is_mass and not any(map(is_plural, chart.words[i : clause + 2])) else "plural"
    yield from (Subject("generic", number, body, head=head_of(chart, i, j)) for body in nominal(chart, i, j, number))
    named = chart.is_name(i) and j - i > 1 and not chart.tokens[i].owns
    words = chart.words[i + named : j]
    mass = len(words) <= (3 if named else 2) and not any(is_plural(each) or third(each) for each in words)
    # Is Cleo free on Monday?
    asked = named and j < len(chart.words) and chart.tokens[j].start == 0 and is_base(chart.words[j - 1])
    alone = chart.has(j, j + 1, "is", "was", "does", "has") and not asked
    mass = mass and word != "very" and not is_adverb(word) and not any(is_adverb(e) or is_adj(e) for e in words[-1:])
    mass = mass and (j - i == 1 or alone or not is_base(word) or is_rare(word)) and (alone or not named)
    if mass and all(map(chart.is_content, range(i + named, j))) and not is_participle(chart.words[j - 1]):
        if words[-1] in chart.vocabulary.names and not words[-1].isdigit():
            chart.bar(j - 1, "it is a name elsewhere: name the kind by another word")
        # Corruption is a crime: the kind itself.
        yield Subject("term", "singular", terms=(Constant(" ".join(chart.words[i:j])),))


def _is_third(chart: Chart, at: int) -> bool:
    """Say whether a word behind a name is a verb: no noun as a rule, or with an object or a place behind it."""
    word = chart.words[at]
    return third(word) is not None and (not is_rare(word) or chart.has(at + 1, at + 2, *PREPOSITIONS, "a", "an", "the"))
