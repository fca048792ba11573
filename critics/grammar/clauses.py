"""One clause: a subject and what is said of it, `there is`, and what pronouns behind it may stand for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from critics.grammar.chart import Chart, rule
from critics.grammar.lexicon import is_adj, is_base, is_participle, is_plural, is_rare, past, third, verb_forms
from critics.grammar.meaning import (
    ANY,
    HOLE,
    OBJECT_PRONOUNS,
    Atom,
    Compound,
    Constant,
    Formula,
    Not,
    Operator,
    Quantified,
    Quantifier,
    Term,
    Variable,
    both,
    every,
    filled,
    free_variables,
    implies,
    joined,
    marked,
    predicates,
    quantifiers,
    some,
)
from critics.grammar.nouns import has_rival, nominal
from critics.grammar.predicates import agrees, finite, negatable
from critics.grammar.subjects import Referent, Subject, is_several, of_they, several, subject
from critics.grammar.words import (
    ALONE_RECIPROCAL,
    AUXILIARIES,
    BE,
    COLLECTIVE,
    DAYS,
    DO,
    GATHERING,
    GENDERS,
    HAVE,
    KIND_NOUNS,
    KIND_PREDICATES,
    MODALS,
    NUMBERS,
    OPENERS,
    PLACES,
    PREPOSITIONS,
    PRONOUNS,
    RECIPROCAL,
    RELATIVE,
    STATES,
    TIMES,
    TOGETHER,
    is_person,
)

_AT_PERSONS = frozenset("bark look laugh smile shout yell stare point".split())  # noqa: SIM905
"""Verbs that are done at somebody."""
_MOVES = frozenset("go move travel fly drive walk come return belong emigrate".split())  # noqa: SIM905
_TIMED = ("during", "since", "before", "after", "for")
_ANY = ("any", "anyone", "anybody", "anything")
Referents = tuple[Referent, ...]
_OPEN: dict[str, frozenset[str]] = {
    "you": frozenset({"you"}),
    "someone": frozenset({"he", "she", "they"}),
    "something": frozenset({"it", "they"}),
}


@dataclass(frozen=True, slots=True)
class Said:
    """The formula of a clause, and what pronouns behind it may stand for."""

    formula: Formula
    referents: Referents = ()


def pronouns_of(each: Subject) -> frozenset[str]:
    """Return the pronouns for whoever a subject leaves open."""
    named = _OPEN.get(each.head)
    return named or (frozenset({"they"}) if each.number == "plural" and each.kind == "generic" else PRONOUNS)


def merged(*several: Referents) -> Referents:
    """Join what pronouns may stand for, each individual once."""
    return tuple({each.term: each for referents in several for each in referents}.values())


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
            for told in finite(chart, at, j, each.number):
                part = resolved(chart, (at, j), each, told, referents)
                for said in () if part is None else applied(chart, start, at, j, each, part):
                    heard = said.referents if part == told else merged(said.referents, referents)
                    yield Said(said.formula, heard) if start == i else Said(Not(said.formula))


def resolved(chart: Chart, span: tuple[int, int], each: Subject, part: Formula, referents: Referents) -> Formula | None:
    """Put whom they mean in the place of pronouns that are objects; None where that is not said.

    None of them is the subject, and `his` is the subject's: both are barred where the sentence has another candidate.
    """
    own = {*each.terms, *({ANY} if each.kind in ("generic", "some", "any") and not each.terms else set[Term]())}
    for word in ("her", "his", "its", "their"):
        person = {"his": "he", "her": "she", "its": "it", "their": "they"}[word]
        others = {one.term for one in referents if person in one.pronouns} - own
        is_same = bool(referents) and referents[0].term in own
        # Tom's dog is his friend.
        is_two = any(re.search("'s | of ", str(term)) for term in each.terms)
        # Ann saw his dog, and everyone who saw his dog: it is Tom's, if he is spoken of. But she saw her dog.
        named = {part for term in each.terms for part in getattr(term, "name", "").split(" ")}
        told = chart.words[span[0] - 1] == person or (word, "own") in pairwise(chart.words)
        is_two = is_two or (word in GENDERS and not told and chart.vocabulary.has_other_owner(word, named))
        names = predicates(part) | (set[str]() if each.restriction is None else predicates(each.restriction))
        start = span[0] if each.restriction is None else 0
        if word != "their" and chart.has(*span, word):
            # Pia told Otto about his debts: whoever stands before it may be meant.
            inner = objects(chart, span[0], chart.words.index(word, span[0]))
            owners = any(chart.tokens[k].owns for k in range(span[0], chart.words.index(word, span[0])))
            is_two = is_two or (owners and word != "its") or any(person in each.pronouns for each in inner)
        is_own = chart.has(start, span[1], word) and any(" own " in f" {name} " for name in names)
        if is_own and (is_two or (others and not is_same)):
            chart.bar(chart.words.index(word, start), "whose it is is not said: name who is meant")
            return None
    meant = {name.strip() for name in free_variables(part) if name.startswith(" ")}
    if meant and chart.conventions.pronoun == "first":
        # No sentence of that data set has one.
        return None
    for word in sorted(meant):
        person = {"him": "he", "her": "she", "them": "they", "it": "it"}[word]
        others = [one for one in referents if person in one.pronouns and one.term not in own]
        # If Tom sings, Ann likes it: the song, or that he sings.
        persons = {one.term for one in others if isinstance(one.term, Constant) and one.term.name.isalpha()}
        possible = {one.term: None for one in others if word != "it" or one.term not in persons}
        if word == "them" and possible:
            possible = dict.fromkeys(of_they([*possible], (Referent(ANY),) if ANY in possible else tuple(others)))
        at = chart.words.index(word, span[0])
        if len(possible) > 1 or (possible and has_rival(chart, at, next(iter(possible)))):
            chart.bar(at, "it may stand for more than one: name who is meant")
        if len(possible) != 1 or (term := next(iter(possible))).name.startswith("a "):  # type: ignore[union-attr]
            return None
        if isinstance(term, Constant) and is_several(term):
            term = Constant(term.name.removeprefix("all "))
        part = filled(part, OBJECT_PRONOUNS[word], term)
    return part


def _there(chart: Chart, i: int, j: int) -> Iterator[Said]:
    """There is a cat; there are no cats that bark; there exists a cat."""
    words = chart.words
    if words[i + 1 : i + 2] in (("exists",), ("exist",)):
        at, denied = i + 2, False
    elif words[i + 1 : i + 4] in (("does", "not", "exist"), ("do", "not", "exist")):
        at, denied = i + 4, True
    elif i + 2 < j and words[i + 1] in BE:
        denied = words[i + 2] in ("no", "not")
        at = i + 3 if denied else i + 2
    else:
        return
    if at < j and words[at] in ("a", "an", "some", "any"):
        at += 1
    elif at < j and not denied and words[i + 1] in ("is", "was", "exists"):
        told = chart.is_name(at) or is_plural(words[at]) or is_adj(words[at]) or words[at] in ("more", "less")
        if told or at + 1 < j:
            return  # Not: there is lightning.
    if at < j and (words[at] in NUMBERS or words[at].isdigit()):
        return
    past_from = at if words[i + 1] in ("was", "were") else None
    for body in nominal(chart, at, j, "either"):
        if body is None or (past_from is not None and chart.has(at, j, *RELATIVE)):
            # What was at a time, and what is said of it by a clause with a tense of its own.
            continue
        found = some(chart.variable(), body if past_from is None else marked(body, "was"))
        yield Said(Not(found) if denied else found)


def applied(chart: Chart, i: int, at: int, j: int, each: Subject, part: Formula) -> Iterator[Said]:
    """Say a predicate of a subject; bars what may be meant in two ways."""
    words = chart.words
    variable = chart.variable()
    if each.head == "you":
        return
    if words[at : at + 2] in (("are", "the"), ("were", "the")) and each.kind != "term":
        chart.trouble(at + 1, "each of them or all together is not said: write a sentence for each")
        return
    if _crosses(chart, each, part, at, j):
        place = next(k for k in range(at, j) if words[k] in ("some", "every", "each", "all", "any", "no"))
        chart.bar(place, "two quantifiers in one clause: which comes first is not said")
        return
    match each.kind:
        case "term" if each.owned:
            many = (Referent(each.terms[0], frozenset({"they"})),) if each.owned == "they" else ()
            heard = merged(many, objects(chart, at, j)) if many else ()
            if many and isinstance(part, Compound) and part.operator in (Operator.OR, Operator.XOR):
                chart.bar(at, "each of them is one or the other, or all the same is not said: say `every`")
            yield Said(filled(marked(part, each.owned), HOLE, each.terms[0]), heard)
        case "term":
            own = Referent(each.terms[0])
            part, each = _turned(chart, at, j, each, part)
            yield Said(filled(part, HOLE, each.terms[0]), merged((own,), objects(chart, at, j)))
        case "terms":
            yield from _of_several(chart, i, at, j, each, part)
        case "every" | "any":
            denied = words[at + 1 : at + 2] == ("not",) or words[at] == "never"
            if denied and each.kind == "any" and not chart.has(i, at, *RELATIVE):
                chart.bar(i, "`any` with `not` may mean none or not every one: say `no`")
                return
            if denied and each.kind == "every" and chart.conventions.every_not == "refuse":
                chart.bar(
                    at + 1 if at + 1 < j else at,
                    "`not` after `every` may deny it of all or of some: say `no`, or `not every`",
                )
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


def _turned(chart: Chart, at: int, j: int, each: Subject, part: Formula) -> tuple[Formula, Subject]:
    """Read `the winner was Ann` as `Ann was the winner`: one and the same are two names of one."""
    one, words = each.terms[0], chart.words
    if words[at] not in BE or not (isinstance(one, Constant) and one.name.startswith("the ")):
        return part, each
    if not chart.is_name(j - 1) or words[at + 1 : j - 1] not in ((), ("not",)):
        return part, each
    mark = "was " if words[at] in ("was", "were") else ""
    told = Atom(f"{mark}{one.name}", (HOLE,))
    return Not(told) if words[at + 1] == "not" else told, replace(each, terms=(Constant(words[j - 1]),))


def _crosses(chart: Chart, each: Subject, part: Formula, at: int, j: int) -> bool:
    """Say whether subject and predicate have quantifiers of different kinds, whose order is not said."""
    inner = quantifiers(part)
    if each.kind in ("every", "any", "generic", "none", "only") and Quantifier.SOME in inner:
        return chart.has(at, j, "some")
    if each.kind == "some" and each.number == "singular" and chart.has(at, j, "every", "each"):
        # Somebody is robbed every hour.
        return True
    # A guard stands at every door.
    return (each.kind == "some" or (each.kind == "generic" and not chart.has(at, j, "all"))) and Quantifier.ALL in inner


def _of_several(chart: Chart, i: int, at: int, j: int, each: Subject, part: Formula) -> Iterator[Said]:
    """Say it of each of several names."""
    if each.operator is Operator.AND and _is_mutual(chart, at, j, part):
        chart.bar(j - 1, "of each or of one another is not said: write two sentences")
        return
    if each.operator is Operator.AND and chart.has(at, j, "not") and chart.words[at] != "both":
        report = chart.bar if chart.has(at, j, "both", "all", "each") else chart.trouble
        report(at, "`not` of several may deny it of one or of all: say `neither .. nor`")
    parts = tuple(filled(part, HOLE, term) for term in each.terms)
    said = both(*map(Not, parts)) if each.operator is Operator.IFF else joined(each.operator, *parts)
    if chart.words[i] == "exactly":
        said = both(joined(Operator.OR, *parts), *(Not(both(*pair)) for pair in combinations(parts, 2)))
    kinds = () if each.restriction is None else (filled(each.restriction, HOLE, term) for term in each.terms)
    yield Said(both(*kinds, said))


def _is_mutual(chart: Chart, at: int, j: int, part: Formula) -> bool:
    """Say whether a predicate of several may tell of them together: are friends, differ, have three cats."""
    names = predicates(part)
    held = {word for name in names for word in name.split(" ")}
    alone = {name.removeprefix("did ").removeprefix("do ") for name in names} & ALONE_RECIPROCAL
    counted = any(map(str.isdigit, chart.words[at:j])) or chart.has(at, j, "half", "twice", "several", *NUMBERS)
    # Are a team, wrote a book, lifted the piano.
    told = (past(chart.words[at]) is not None or chart.words[at] in TOGETHER) and chart.has(at, j, "the")
    one = (chart.has(at, j, "a", "an") or told or counted) and not chart.has(at - 1, j, *OPENERS, "or", "not")
    return bool(held & RECIPROCAL or alone or one or chart.has(at, j, *COLLECTIVE))


def _generic(chart: Chart, i: int, at: int, j: int, each: Subject, part: Formula, name: str) -> Iterator[Said]:
    """A cat, cats: of all, but not where the verb tells of one event, place or state, of one, or of the kind."""
    words = chart.words
    verb, after = words[at], words[at + 1] if at + 1 < j else ""
    is_one = verb == "are" and chart.conventions.states == "refuse"
    of_kinds = after in ("a", "an") and (is_one or (words[at + 3 : at + 4] == ("of",) and words[at + 2] in KIND_NOUNS))
    from_kind = (verb, after) == ("come", "from") and each.number == "plural"
    is_several = each.number == "plural" and bool(set(words[at:j]) & (COLLECTIVE - {"apart"}) or verb in GATHERING)
    compared = each.number == "plural" and any(
        words[k - 1] == "than" and is_plural(words[k]) and not chart.is_name(k) for k in range(at + 1, j)
    )
    if of_kinds or from_kind or is_several or compared or set(words[at:j] if verb in BE else [verb]) & KIND_PREDICATES:
        chart.bar(min(at + 1 + of_kinds, j - 1), "it may be said of the kind or of each: say `every`")
    elif past(verb) not in (None, verb) and is_base(verb):
        chart.bar(at, "it may tell of now or of what was once done: say `every`, or use another verb")
    elif _is_of_one(chart, i, at, j) or (each.number == "singular" and _is_of_a(chart, i, at, j)):
        chart.trouble(i, "a bare noun or `a` may be one of them here: say `every`, `some` or `there is`")
    elif verb == "are" and after not in ("both", "not") and _lists(chart, at, j, part):
        chart.trouble(j - 1, "`and` may list what some are, or join what each is: say `both .. and`")
    else:
        chart.notes.add("generic: all")
        restriction = None if each.restriction is None else filled(each.restriction, HOLE, Variable(name))
        yield Said(Quantified(Quantifier.ALL, name, implies(restriction, filled(part, HOLE, Variable(name)))))


def _is_of_one(chart: Chart, i: int, at: int, j: int) -> bool:
    """Say whether a verb tells of one event, of a place or of a passing state."""
    words, verb = chart.words, chart.words[at]
    behind = at + 1 + (words[at + 1 : at + 2] in (("not",), ("never",)))
    after = words[behind] if behind < j else ""
    # Cars block the road, guests arrive tomorrow: some of them. Cars that block the road slow the bus: all.
    placed = chart.has(at, j, "the", *DAYS) or (at == i + 1 and any(map(chart.is_name, range(at, j))))
    placed = placed and verb not in AUXILIARIES - {"will"} and chart.conventions.states == "refuse"
    placed = placed and not chart.has(i, at, *RELATIVE) and not chart.has(at, j, "not", "never", "or", *OPENERS)
    event = verb in ("was", "were", "did") or (past(verb) is not None and not is_base(verb))
    perfect = verb in HAVE and (after == "been" or is_participle(after)) and after not in ("a", "an")
    done = behind == j - 1 and is_participle(after) and not is_rare(verb_forms().participle.get(after, after))
    state = words[j - 1] in STATES or (done and not chart.has(i, at, *RELATIVE, "with", "without", "than"))
    # Cooks are needed: some. Cats that are fed are admitted: all.
    state = state and chart.conventions.states == "refuse" and not chart.has(at, j, "not", *OPENERS)
    passing = state or (after.endswith("ing") and is_participle(after))
    return event or perfect or placed or (verb in BE and (after in PLACES or after == "among" or passing))


def _is_of_a(chart: Chart, i: int, at: int, j: int) -> bool:
    """Say whether `a judge` may be one of them: is dead, is Ann's friend, likes Ann; a judge who works rules is any."""
    words, named = chart.words, any(map(chart.is_name, range(i, j)))
    is_any = chart.has(i, at, *RELATIVE, "with", "without")
    if chart.has(at, j, "or", *OPENERS) or (words[at] not in BE and chart.has(at, j, "if", "not", "never")):
        return False
    if words[at] in BE:
        # A judge is rich; a cat is not in the garden; but a cat is (not) a dog; a hive without a queen is weak: any.
        placed = any(chart.is_name(k) and words[k - 1] in PREPOSITIONS for k in range(i + 1, j))
        if not chart.has(at + 1, at + 3, "a", "an"):
            return named or not is_any or words[at + 1] in PREPOSITIONS
        return placed and not chart.has(at, j, *RELATIVE)
    if is_any and words[at] in ("must", "should") and words[at + 1 : at + 2] != ("be",):
        return False  # A nurse who works on Ward 4 must wear a mask.
    return named or not (is_any or words[at] in ("can", "must", "should", "may"))


def _lists(chart: Chart, at: int, j: int, part: Formula) -> bool:
    """Say whether `and` joins what is said by a bare plural with `are`: drinks are coffee and tea."""
    joins = isinstance(part, Compound) and part.operator is Operator.AND and chart.conventions.states == "refuse"
    return joins and chart.has(at, j, "and") and not chart.has(at, j, "not", *OPENERS, *RELATIVE)


def question(chart: Chart) -> Iterator[Formula]:
    """Read a yes-no question as the statement that it asks about: is Tom warm, does Tom bark, can Tom fly."""
    words, end = chart.words, len(chart.words)
    if not words or words[0] not in AUXILIARIES:
        return
    if words[1:2] and words[1] in _ANY and words[0] not in MODALS:
        # Is any cat warm: is there one? But `can any cat swim` may ask of each.
        some_one = replace(chart.tokens[1], word=words[1].replace("any", "some"))
        yield from question(chart.rearranged([chart.tokens[0], some_one, *chart.tokens[2:]]))
        return
    asks = next((at for at, word in enumerate(words) if word in _ANY and words[at - 1] != "there"), None)
    if asks is not None:
        chart.bar(asks, "`any` in a question may ask for one or for all: say `some` or `every`")
        return
    if "not" in words[:4] or words[1:3] == ("there", "no"):
        chart.bar(1, "a question with `not` has no answer that is safe: ask without it")
        return
    if words[0] in BE and words[1:2] == ("there",):
        turned = chart.rearranged([chart.tokens[1], chart.tokens[0], *chart.tokens[2:]])
        yield from (said.formula for said in clause(turned, 0, end, ()))
        return
    doubtful = [at for at in range(2, end) if _takes_name(chart, at)]
    if words[0] in BE and doubtful and not chart.is_name(1):
        chart.bar(doubtful[0], "the name may be two, the last of which is asked about: name it first")
        return
    for at in range(2, end):
        turned = chart.rearranged([*chart.tokens[1:at], chart.tokens[0], *chart.tokens[at:]])
        for each in subject(turned, 0, at - 1, ()):
            if words[0] in DO:
                mark = "did" if words[0] == "did" else ""
                parts = (
                    negatable(turned, at, end, "base", each.number, mark) if agrees(DO[words[0]], each.number) else ()
                )
            else:
                parts = finite(turned, at - 1, end, each.number)
            for part in parts:
                yield from (said.formula for said in applied(turned, 0, at - 1, end, each, part))


def _takes_name(chart: Chart, at: int) -> bool:
    """Say whether a name in a question may end what stands before it: (the winner of the Classic) Ann Lee."""
    before = chart.words[at - 1]
    ends = at + 1 == len(chart.words) or chart.words[at + 1] in ("or", "and", ",", "either")
    is_object = before in PREPOSITIONS or before == "the" or third(before) or past(before) or is_participle(before)
    return chart.is_name(at) and " " in chart.words[at] and ends and bool(is_object)


def objects(chart: Chart, i: int, j: int) -> tuple[Referent, ...]:
    """Return the names and definites of a predicate that a pronoun may stand for."""
    found: list[Referent] = []
    for at in range(i + 1, j):
        before = chart.words[at - 1]
        if chart.is_name(at) and not chart.tokens[at].owns:
            complement = before in BE or before in ("a", "an", "not", "either", "neither", "or", "nor", "and", "both")
            modifies = at + 1 < j and chart.is_content(at + 1) and not is_participle(chart.words[at + 1])
            kind = chart.is_content(at - 1) and chart.has(max(i, at - 4), at, "a", "an")
            if complement or modifies or before == "of" or kind or chart.words[at] in TIMES:
                continue
            thing = before in ("in", "inside", "during", "since", "the") or chart.tokens[at].is_thing
            verbs = {third(word) or past(word) or word for word in chart.words[i:at]}
            thing = thing or (before == "at" and not verbs & _AT_PERSONS)
            moves = (before == "from" and chart.words[at - 2] in BE) or (before == "to" and bool(verbs & _MOVES))
            thing = thing or moves
            found.append(Referent(Constant(chart.words[at]), frozenset({"it"}) if thing else PRONOUNS))
        elif chart.words[at] == "the" and at + 1 < j and chart.is_content(at + 1):
            stop = at + 1
            while stop < j and chart.is_content(stop):
                stop += 1
            one = Constant(" ".join(chart.words[at:stop]))
            many = (
                None
                if chart.conventions.states == "all" or one.name[4:] in chart.vocabulary.definites
                else several(one)
            )
            found.append(Referent(many or one, frozenset({"they"} if many else {"it"})))
        elif chart.words[at] in ("a", "an") and chart.words[i] not in BE and before not in _TIMED:
            stop = at + 1
            while stop < j and chart.is_content(stop) and not (stop > at + 1 and is_participle(chart.words[stop])):
                stop += 1
            pronouns = {"he", "she", "it"} if is_person(chart.words[stop - 1]) else {"it"}
            found.append(Referent(Constant(f"a {chart.words[stop - 1]}"), frozenset(pronouns)))
    return tuple(found)
