"""Noun phrases without their determiner: heads, and what restricts them."""

from collections.abc import Iterator

from critics.grammar.chart import Chart, rule
from critics.grammar.lexicon import (
    gerund,
    is_adj,
    is_adverb,
    is_base,
    is_participle,
    is_plural,
    past,
    third,
    verb_forms,
)
from critics.grammar.meaning import Atom, Constant, Formula, Not, Term, atom, both
from critics.grammar.phrases import object_relative, opaque
from critics.grammar.words import (
    AUXILIARIES,
    BOUNDS,
    COUNTS,
    KINDS,
    MEASURES,
    NUMBERS,
    POSTPOSED,
    PREPOSITIONS,
    QUANTITIES,
    RELATIVE,
    Number,
    is_person,
)  # fmt: skip

_PLURAL_MODIFIERS = frozenset("sports arts sales goods games savings police data fish species".split())  # noqa: SIM905
_UNFIT = frozenset({"yet", "longer", "sooner"})
"""Words that no noun phrase holds: no longer, no sooner."""
EVERYONE = "person: everyone and everything"
"""Note that a reading says nothing of who is a person."""


@rule
def nominal(chart: Chart, i: int, j: int, number: Number) -> Iterator[Formula | None]:
    """Read head words, and a relative clause, a participle or a preposition behind them; None restricts nothing."""
    for stop in range(i + 1, j + 1):
        if stop < j and not _opens_modifier(chart, stop, j):
            continue
        found = head(chart, i, stop, number)
        if found is None:
            continue
        agrees: Number = "plural" if is_plural(chart.words[stop - 1]) and number != "singular" else "singular"
        if stop == j:
            yield found[0]
        elif chart.words[stop] == "of" or (found[0] is not None and _tells_how(chart, stop, j)):
            yield from _of(chart, i, stop, j, agrees)
        elif agrees == "plural" and _lists_heads(chart, stop, j):
            chart.trouble(stop, "`and` may join what stands before it or behind: write two sentences")
        else:
            for more in modifiers(chart, stop, j, agrees):
                yield both(found[0], more)


def _of(chart: Chart, i: int, stop: int, j: int, number: Number) -> Iterator[Formula]:
    """A member of the club: a relation, not two properties; up to a relative clause."""
    ends = [at for at in range(stop + 2, j) if chart.words[at] in RELATIVE and not chart.has(stop, at, "and", "or")]
    for end in [*ends, j]:
        for relation in opaque(chart, i, end, "noun"):
            if end == j:
                yield relation
            else:
                yield from (both(relation, more) for more in modifiers(chart, end, j, number))


def _lists_heads(chart: Chart, at: int, j: int) -> bool:
    """Say whether a bare plural behind `and` may be another head: members with a card and guests."""
    last = max((k for k in range(at, j - 1) if chart.words[k] in ("and", "or")), default=j)
    return last < j - 1 and is_plural(chart.words[j - 1]) and all(map(chart.is_content, range(last + 1, j)))


def _tells_how(chart: Chart, at: int, j: int) -> bool:
    """Say whether what is so in one way is perhaps not so: a pilot by day, a winner on paper, a judge in a film."""
    word = chart.words[at]
    name = at + 1 + chart.has(at + 1, at + 2, "the")
    named = name < j and chart.is_name(name) and not chart.tokens[name].owns
    placed = named and word in ("in", "at", "near", "from") and not (name + 1 < j and chart.is_content(name + 1))
    # An order above 100 euros; a pallet in bay 4, but not a king in act 4.
    numbers = [k for k in (at + 1, at + 2) if k < j and (chart.words[k].isdigit() or chart.words[k] in NUMBERS)]
    is_thing = word in ("in", "at", "on", "near") and not is_person(chart.vocabulary.singular(chart.words[at - 1]))
    placed = placed or (at + 1 in numbers and word in BOUNDS) or (numbers == [at + 2] and is_thing)
    return word in PREPOSITIONS and word not in ("with", "without", "as") and not placed


def _opens_modifier(chart: Chart, at: int, j: int) -> bool:
    word, after = chart.words[at], chart.words[at + 1] if at + 1 < j else ""
    if chart.is_name(at) or (word == "not" and is_base(after) and not (is_adj(after) or is_participle(after))):
        return False  # Some dogs not play.
    is_one = word != "to" or (at + 1 < j and (chart.is_name(at + 1) or after == "the"))
    if word in (*RELATIVE, "not") or (word in PREPOSITIONS and is_one):
        return True  # A party to the case.
    if is_participle(word) and (at + 1 < j or word in verb_forms().participle):
        return not _is_compound(chart, at, j)
    if at + 2 >= j or not chart.is_content(at):
        return False
    if word.endswith("er") and chart.words[at + 1] == "than":
        # A dog bigger than Rex; a better baker than Ann is no better.
        return not chart.words[at - 1].endswith(("er", "worse", "more", "less"))
    # Students good at math; a judge honest with Ann; products commonly used in China.
    if is_adverb(word):
        return is_participle(chart.words[at + 1])
    if is_adj(word) and chart.words[at + 1] in PREPOSITIONS:
        return True
    after_plural = is_plural(chart.words[at - 1]) and not is_plural(word) and not is_base(word) and past(word) is None
    return after_plural and chart.words[at + 1] in PREPOSITIONS


def _is_compound(chart: Chart, at: int, j: int) -> bool:
    """Say whether one bare noun stands behind a word in -ing: `a language processing task` is not taken apart."""
    after, last = chart.words[at + 1 : at + 2], at + 2 >= j or chart.words[at + 2] in RELATIVE | PREPOSITIONS
    if not (after and last and gerund(chart.words[at]) and chart.is_content(at + 1)):
        return False
    opens = max((k for k in range(at) if chart.words[k] in ("a", "an")), default=-1)
    is_noun = all(map(chart.is_content, range(opens + 1, at))) and not is_plural(after[0])
    return 0 <= opens < at - 1 and is_noun and not is_adverb(after[0])


def head(chart: Chart, i: int, j: int, number: Number) -> tuple[Formula | None] | None:
    """Read adjectives and nouns as one predicate, None within if it is said of everything; None if they are none."""
    words = [chart.words[at] for at in range(i, j) if chart.words[at] != ","]
    places = [at for at in range(i, j) if chart.words[at] != ","]
    last = places[-1] if places else i
    counted = chart.words[i - 1] if i else ""
    if not _UNFIT.isdisjoint(words) or (last > i and chart.is_name(last) and not chart.is_name(last - 1) and counted):
        return None
    if words and (words[0] in QUANTITIES or (counted in ("every", "each", "any", "no") and words[0] in COUNTS)):
        return None
    if any(chart.tokens[at].is_quoted for at in places):
        chart.trouble(i, "what is quoted may be what somebody else would say: leave the quotes out")
        return None
    if not words or not all(chart.is_content(at) or chart.is_name(at) for at in places if chart.words[at] != "and"):
        return None
    if "and" in words and not (len(words) > 2 and chart.vocabulary.singular(words[-1]) in KINDS and words[-3] == "and"):
        return None
    if not _can_end(chart, i, last, j) or not _agrees(chart, i, last, number):
        return None
    singular = chart.vocabulary.singular(words[-1])
    modifying = [word for word in words[:-1] if word != "and"]
    if singular in KINDS:
        if set(modifying) & chart.vocabulary.counted:
            # A cat person is no cat.
            return None
        if singular == "person":
            chart.notes.add(EVERYONE)
        kind = None if singular in ("person", "thing") else atom(singular)
        if "and" in words and is_plural(words[-1]):
            why = "`and` may join two kinds or two properties: say `who are both .. and ..`"
            chart.bar(places[words.index("and")], why)
        return (both(kind, *map(atom, modifying)) if kind is not None or modifying else None,)
    is_measure = singular in MEASURES and chart.words[j : j + 1] == ("of",)
    if "," in chart.words[i:j] or "and" in words or is_measure:
        return None
    return (atom(" ".join([*modifying, singular])),)


def _can_end(chart: Chart, i: int, last: int, j: int) -> bool:
    """Say whether the last word can be a noun, and those before it can modify it."""
    word = chart.words[last]
    if chart.tokens[last].owns:
        return False
    if third(word) and not is_plural(word) and last > i and chart.is_name(last - 1):
        return False  # All Tom likes is red.
    if word in POSTPOSED or is_adverb(word) or (last > i and word.endswith("ed") and is_participle(word)):
        return False
    verbal = verb_forms().participle.get(word, word) != word
    if last > i and verbal and not is_plural(word) and not chart.is_name(last):
        return False
    if last > i and gerund(word) and j < len(chart.words) and chart.words[j] in PREPOSITIONS:
        return False
    plain = chart.vocabulary.singular(word) in KINDS
    return plain or not any(
        is_plural(chart.words[at]) and chart.words[at] not in _PLURAL_MODIFIERS
        for at in range(i, last)
        if not chart.is_name(at)
    )


def _agrees(chart: Chart, i: int, last: int, number: Number) -> bool:
    word = chart.words[last]
    unchanged = is_plural(word) and chart.vocabulary.singular(word) == word
    if number == "plural":
        before = chart.words[i - 1] if i else ""
        return is_plural(word) or unchanged or before in ("all", "no", "some")
    return number == "either" or unchanged or not is_plural(word)


@rule
def modifiers(chart: Chart, i: int, j: int, number: Number) -> Iterator[Formula]:
    """Read what restricts a noun behind it."""
    if i >= j:
        return
    word = chart.words[i]
    if chart.is_name(i):
        return
    if word in RELATIVE:
        if chart.words[j - 1] != "to":
            yield from chart.rules.finite(chart, i + 1, j, number)
        yield from object_relative(chart, i, j)
        return
    if word == "not":
        yield from (Not(part) for part in opaque(chart, i + 1, j, "complement"))
        return
    if word in ("apart", "aside", "as"):
        chart.trouble(i, "it may be together with these, or without: write two sentences")
        return
    if word in ("including", "excluding", "regarding", "concerning"):
        chart.bar(i, "write a sentence of its own for what is included")
        return
    if is_base(word) and i + 1 < j and chart.is_name(i + 1):
        return  # Everyone save Tom, all bar Ann.
    if word == "used" and chart.words[i + 1 : i + 2] == ("to",):
        return
    verb = third(word) is not None and not is_participle(word)
    if verb or word in AUXILIARIES:
        return
    ends = [at for at in range(i + 1, j) if chart.words[at] in RELATIVE]
    for end in [*ends, j]:
        for found in opaque(chart, i, end, "modifier"):
            part = _had(found) if chart.has(i + 1, i + 2, "a", "an") else found
            if end == j:
                yield part
            else:
                yield from (both(part, more) for more in modifiers(chart, end, j, number))


def _had(part: Formula) -> Formula:
    """Read `with a card` as having it, and `without a card` as not."""
    with_, _, had = part.predicate.partition(" ") if isinstance(part, Atom) else ("", "", "")
    if not isinstance(part, Atom) or with_ not in ("with", "without"):
        return part
    found = Atom(f"have {had}", part.arguments)
    return found if with_ == "with" else Not(found)


def has_rival(chart: Chart, at: int, term: Term) -> bool:
    """Say whether a pronoun may mean another: Tom, if Tom's dog barks, he ..; the cats, if he sees cats, .. them."""
    words, name = chart.words, getattr(term, "name", "")
    if words[at] in ("they", "them"):
        verbs = [k for k in range(at - 1) if third(words[k]) or past(words[k]) or is_base(words[k])]
        objects = any(chart.is_content(k + 1) and is_plural(words[k + 1]) for k in verbs)
        is_one = isinstance(term, Constant) and not name.startswith("all the ")
        return (objects and is_one) or (words[at] == "them" and (objects or is_one))
    owners = {each.word[:-2]: each.is_name for each in chart.tokens[:at] if each.word.endswith("'s")}
    is_gendered = words[at] in ("he", "she", "him", "her")
    return is_gendered and any(one != name and (owners[one] or is_person(one)) for one in owners)
