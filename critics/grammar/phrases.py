"""Opaque phrases: content words become one predicate, named by their lemmas; names and definites are its arguments.

works for Google          work for _(x, google)
attended the ceremony     did attend _(x, the ceremony)
dependent on caffeine     dependent on caffeine(x)
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

from critics.grammar.chart import Chart, rule
from critics.grammar.lexicon import (
    gerund,
    is_adj,
    is_adverb,
    is_base,
    is_finite_alone,
    is_participle,
    is_plural,
    is_rare,
    past,
    third,
)
from critics.grammar.meaning import HOLE, OBJECT_PRONOUNS, Atom, Constant, Formula, Not, Term, atom
from critics.grammar.words import (
    ARTICLES,
    ATTITUDES,
    AUXILIARIES,
    BE,
    DROPPED_ADVERBS,
    EVERY,
    HAVE,
    NUMBERS,
    OBJECT_QUANTITIES,
    OBJECTS,
    PARTICLES,
    PLACES,
    POSSESSIVES,
    PREPOSITIONS,
    PRONOUNS,
    REFLEXIVES,
    RELATIVE,
    STRUCTURE,
    TIMES,
)

Role = Literal["verb", "complement", "modifier", "noun"]
MAX_WORDS = 30
PLACED = PLACES | {"from", "to", "about", "for", "by"}
"""Prepositions in the name of one thing: the parcel from Oslo, the article about rents."""
_BRINGERS = frozenset({"a", "an", "some", "every", "each", "all", "if", "no"})


@rule
def opaque(chart: Chart, i: int, j: int, role: Role) -> "list[Formula]":
    """Read a span as one predicate of the subject; nothing where a word in it carries structure."""
    if i < j and chart.words[j - 1] == ",":
        j -= 1
    phrase = _Phrase(chart, i, j, role)
    found = phrase.read() if i < j else None
    return [] if found is None else [found]


def definite(chart: Chart, i: int, j: int, *, placed: bool = False) -> Constant | None:
    """Return the individual of `the lease` or `the capital of France`, named by its words; None where it is none.

    A subject may have a place (`placed`): `the third floor in the house`.
    """
    words = chart.words[i + 1 : j]
    if (
        not words
        or words[-1] in ("of", "the", "only", "most", *PLACED, *NUMBERS)
        or is_adverb(words[-1])
        or chart.tokens[j - 1].owns
    ):
        return None
    if words[0] in ("more", "less") or words in (("last",), ("first",), ("next",)):
        return None
    if is_adj(words[-1]) or (len(words) > 1 and words[-1] in PARTICLES):
        # The wise, the room happy, the offer down.
        chart.trouble(j - 1, f"`{words[-1]}` is no noun: say whom or what you mean, or put it behind the verb")
        return None
    for at in range(i + 1, j):
        word = chart.words[at]
        linked = chart.words[at - 1] == "of" or (placed and chart.words[at - 1] in PLACED)
        if word == "the" and not linked:
            return None
        if not (chart.is_content(at) or chart.is_name(at) or word in ("of", "the") or (placed and word in PLACED)):
            return None
        verbal = third(word) or (past(word) and not is_participle(word))
        if not chart.is_name(at) and at > i + 1 and verbal and not is_plural(word):
            return None
    if len(words) == 1 and chart.is_name(i + 1):
        return Constant(words[0])
    if _speaks_of_earlier(chart, i, j):
        chart.bar(i, "`the` may speak of what `a` brought in: say `it`, or name it")
        return None
    return Constant("the " + " ".join(words))


def _speaks_of_earlier(chart: Chart, i: int, j: int) -> bool:
    """Say whether the sentence brought in one of these nouns by `a`, `an` or `if`."""
    # The patient's chart; a cat, and the cat hisses.
    owners = [word for word in chart.words[i + 1 : j] if word.endswith("'s")]
    ends = [*owners, chart.words[j - 1], *(chart.words[i + 1 : j - 1] if third(chart.words[j - 1]) else ())]
    again = {chart.vocabulary.singular(word.removesuffix("'s")) for word in ends}
    for at in range(i):
        word = chart.words[at]
        if word == "if" and not is_plural(chart.words[at + 1]):
            continue
        if word in _BRINGERS:
            for k in range(at + 1, min(at + 4, i)):
                if not chart.is_content(k):
                    break
                if chart.vocabulary.singular(chart.words[k].removesuffix("'s")) in again:
                    return True
    return False


def is_part(chart: Chart, at: int) -> bool:
    """Say whether a quantifier is part of a name: without any fee, the largest hall of any school, all their work."""
    word, before, after = chart.words[at], chart.words[at - 1] if at else "", chart.words[at + 1 : at + 2]
    if word == "all" and after and after[0] in POSSESSIVES:
        return True
    return before == "without" or (
        word == "any" and before == "of" and any(w.endswith("est") for w in chart.words[:at])
    )


class _Phrase:
    """Reads one phrase from left to right; `None` from a step means that the phrase is not opaque."""

    def __init__(self, chart: Chart, i: int, j: int, role: Role) -> None:
        self.chart, self.at, self.start, self.end, self.role = chart, i, i, j, role
        self.words: list[str] = []
        self.terms: list[Term] = [HOLE]
        self.has_verb = role != "verb"
        self.in_clause = False
        """Behind `that`: the rest is what is believed or what an object is like, and stays one name."""

    def read(self) -> Formula | None:
        while self.at < self.end:
            if not self._step():
                return None
            self.at += 1
        words = [word for word in self.words if word]
        named = words[:1] == ["_"] and (self.role == "complement" or set(words) == {"_"})
        named = named or {*words} <= {"have", "do", "did", "also"} or len(words) > MAX_WORDS
        if named or words[-1] in ("and", "or", "than"):
            return None
        is_open = self.role in ("complement", "modifier") and (words[-1] in PREPOSITIONS or words[-1] == "to")
        if is_open and not self._is_switched(words):
            return None
        # `Is on and the bulb works` joins no objects, and `is hot and one dog barks` no properties.
        joined = [at for at, word in enumerate(words[1:-1], 1) if word in ("and", "or")]
        if joined and (
            self.chart.may_act(self.start, self.end) or any(words[k - 1] != "_" == words[k + 1] for k in joined)
        ):
            return None
        if any(one == other == "_" for one, other in pairwise(words)):
            return None
        # Is open to Ann, opens to Ann; is like a judge, likes judges.
        first = self.chart.words[self.start]
        if self.role in ("complement", "modifier") and is_base(first) and words[1:] and not is_participle(first):
            words = ["be"] * (first == "like" or (is_adj(first) and words[1] in (*PREPOSITIONS, "to", "_"))) + words
        return atom(" ".join(words), *self.terms)

    def _is_switched(self, words: list[str]) -> bool:
        """Say whether a preposition alone tells of a state: the light is on; in `is on or off the team` it does not."""
        chart, end = self.chart, self.end
        ends = end == len(chart.words) or chart.words[end] in (",", "if", "when", "then", "and", "or", "but")
        listed = chart.has(end + 1, end + 2, *PREPOSITIONS, *PARTICLES)
        return self.role == "complement" and words in (["on"], ["off"]) and ends and not listed

    def _step(self) -> bool:
        """Take one token, or several of a definite; False where the phrase cannot hold it."""
        chart, at = self.chart, self.at
        word = chart.words[at]
        if chart.is_name(at):
            return self._name(word)
        if word in ("a", "an"):
            return at + 1 < self.end and (chart.is_content(at + 1) or chart.is_name(at + 1))
        if word == "the":
            squints = self.role == "verb" and not self.in_clause and chart.is_content(at - 1) and self._has_place()
            return not squints and self._definite()
        if word in RELATIVE or word in ("where", "whose"):
            return self._relative(word)
        if word in PREPOSITIONS or word == "to":
            self.words.append(word)
            return True
        if word in OBJECTS or word == "it":
            owned = word == "her" and at + 1 < self.end and chart.is_content(at + 1)
            return self._own(word) if owned else self._object(word)
        if word in POSSESSIVES or word in REFLEXIVES:
            return self._own(word)
        if word in ("and", "or", ","):
            return self._connective(word)
        if word == "except" and at > self.start and not chart.has(0, at, "no", "not", "never", "nobody", "nothing"):
            self.words.append(word)  # Naps, except on Mondays: another predicate than to nap.
            return chart.has(at + 1, at + 2, *(PREPOSITIONS - {"for"}))
        return self._auxiliary(word) if self._is_auxiliary(word) else self._content(word)

    def _has_place(self) -> bool:
        """Say whether a preposition stands behind the verb: in `published before 2010 support the ..` it is no verb."""
        placed = any(word in PREPOSITIONS and word != "to" for word in self.words[1:])
        return placed and not is_adverb(self.words[-1]) and not gerund(self.chart.words[self.at - 1])

    def _name(self, word: str) -> bool:
        chart, at = self.chart, self.at
        after = at + 1 < self.end and chart.is_content(at + 1)
        word_after = chart.words[at + 1] if after else ""
        modifies = after and not (is_participle(word_after) or is_adverb(word_after) or word_after in PARTICLES)
        if modifies and chart.tokens[at].is_quoted:
            return False
        if chart.tokens[at].owns or modifies or (self.role == "noun" and at == self.start) or self.in_clause:
            self.words.append(word)
        else:
            self.words.append("_")
            self.terms.append(Constant(word))
        return True

    def _definite(self) -> bool:
        chart = self.chart
        if self.in_clause or chart.words[self.at + 1 : self.end] == ("most",):
            self.words.append("the")
            return True
        stop = self.at + 1
        while stop < self.end and (chart.is_content(stop) or chart.is_name(stop) or self._of(stop)):
            word = chart.words[stop]
            opens = is_participle(word) and not is_plural(word) and chart.words[stop - 1] != "of"
            if stop > self.at + 1 and not chart.is_name(stop) and (opens or is_adverb(word)):
                break
            stop += 1
        found = definite(chart, self.at, stop)
        if found is None:
            return False
        self.words.append("_")
        self.terms.append(found)
        self.at = stop - 1
        return True

    def _of(self, at: int) -> bool:
        """Say whether a definite goes on: `the capital of France`."""
        chart, after = self.chart, at + 1
        if chart.words[at] == "of":
            return after < self.end and (chart.is_name(after) or chart.is_content(after) or chart.words[after] == "the")
        return chart.words[at] == "the" and chart.words[at - 1] == "of"

    def _relative(self, word: str) -> bool:
        chart, at = self.chart, self.at
        if self.in_clause or not self.words or at + 1 >= self.end:
            return False
        about = word == "that" and self.words[-1] in ATTITUDES
        own = word in ("where", "whose") and chart.words[at - 1] not in BE and not self._is_verb_before(at)
        of_object = self.role != "noun" and at > self.start + 1 and (own or chart.starts_verb(at + 1, self.end))
        if not (about or of_object):
            return False
        self.in_clause = True
        self.words.append(word if own else "that")
        return True

    def _is_verb_before(self, at: int) -> bool:
        """Say whether the word before is the verb: in `works where Ann sleeps` the clause tells of no object."""
        word = self.chart.words[at - 1]
        return not self.chart.is_name(at - 1) and at - 1 <= self.start + 1 and (third(word) or past(word)) is not None

    def _own(self, word: str) -> bool:
        self.words.append("own" if word in POSSESSIVES else "self")
        return True

    def _object(self, word: str) -> bool:
        """Take a pronoun as object: the clause says whom it stands for."""
        self.chart.trouble(self.at, "a pronoun as object: name who is meant")
        after = self.at + 1
        if self.role != "verb" or not self.words or self.in_clause:
            return False
        if after < self.end and self.chart.words[after] not in PREPOSITIONS and not is_adverb(self.chart.words[after]):
            return False
        self.words.append("_")
        self.terms.append(OBJECT_PRONOUNS[word])
        return True

    def _connective(self, word: str) -> bool:
        chart, at = self.chart, self.at
        is_too = chart.words[self.end - 1] == "too" and word in ("and", "or")
        is_verb = chart.words[at - 2] == "to" and at + 1 < self.end and third(chart.words[at + 1])
        if at == self.start or at + 1 >= self.end or is_too or is_verb or self._starts_clause(at + 1):
            return False
        names = [k for k in range(at + 1, self.end) if chart.is_name(k)][:1]
        if word != "," and names and not self.in_clause and self._opens_clause(names[0], at):
            chart.trouble(at, "a verb may be left out behind it: say it again")
            return False
        if self.in_clause:
            self.words.append(word)
            return True
        if word == ",":
            rest = chart.words[at + 1 : self.end]
            if not {"and", "or"} & set(rest) or (rest[0] in STRUCTURE and rest[0] not in ("and", "or")):
                return False
            if rest[0] not in ("and", "or"):
                self.words.append("and" if "and" in rest else "or")
            return True
        self.words.append(word)
        return True

    def _opens_clause(self, name: int, joint: int) -> bool:
        """Say whether a name may begin a clause: Ann pays and Bob leaves, Tom likes Ann and Bob (likes) Carol."""
        chart, behind = self.chart, name + 1
        is_listed = "between" in self.words or chart.words[joint - 1] == "," or name > joint + 1
        if behind == self.end:
            return len(self.words) == 2 and self.words[1] == "_" and " " in chart.words[name] and not is_listed
        told = chart.words[behind]
        if not chart.is_name(behind) and (chart.is_finite(behind, self.end) or past(told) or is_adj(told)):
            return True
        return ("_" in self.words[-2:] or told in self.words) and not is_listed and not chart.is_content(behind)

    def _starts_clause(self, at: int) -> bool:
        """Say whether a verb with an object stands behind a connective: what is joined is no end of an object."""
        chart = self.chart
        start = at
        while start + 1 < self.end and (chart.words[start] == "the" or (start > at and chart.is_content(start))):
            start += 1
        for verb in {at, start}:
            word, after = chart.words[verb], chart.words[verb + 1] if verb + 1 < self.end else ""
            takes = after in ARTICLES or (verb + 1 < self.end and chart.is_name(verb + 1))
            if not chart.is_name(verb) and third(word) and takes:
                return True
        return False

    def _is_auxiliary(self, word: str) -> bool:
        return word in AUXILIARIES or word in STRUCTURE or word in ("this", "other", "another", "others", "one")

    def _auxiliary(self, word: str) -> bool:
        chart, at = self.chart, self.at
        after = chart.words[at + 1] if at + 1 < self.end else ""
        if word in HAVE and not self.has_verb:
            self.words += ["did", "have"] if word == "had" else ["have"]
            self.has_verb = True
            return True
        if word in ("do", "does") and not self.has_verb and (after in ARTICLES or (after and chart.is_content(at + 1))):
            self.words.append("do")
            self.has_verb = True
            return True
        timed = word in ("every", "each", "all", "some", "this", "any") and chart.vocabulary.singular(after) in TIMES
        timed = timed or is_part(chart, at)
        done = word == "being" and self.role == "complement" and is_participle(after)
        verbal = word == "been" or done or (word in ("be", "being") and at > self.start)
        perfect = word == "have" and at > self.start and chart.words[at - 1] == "to"
        other = word in ("other", "another", "others", "one") and at > self.start and self.role != "noun"
        other = other or (word == "one" and after == "of" and self.role == "complement")
        if timed or verbal or perfect or word == "than" or other:
            self.words.append(word)
            # On level one; but not: on the red one.
            named = word == "one" and at - 2 >= self.start and chart.words[at - 2] in PREPOSITIONS
            named = named and chart.is_content(at - 1) and not is_adj(chart.words[at - 1])
            return bool(after) or verbal or word == "others" or named
        if self.words[-2:] == ["every", "time"] or self.words[-2:] == ["each", "time"]:
            self.in_clause = word in PRONOUNS
            self.words.append("self")
            return self.in_clause
        if self.in_clause and (word in AUXILIARIES or word in EVERY or word in ("not", "some", "no")):
            self.words.append({"are": "is", "have": "has"}.get(word, word))
            return True
        return word in DROPPED_ADVERBS

    def _content(self, word: str) -> bool:
        chart, at = self.chart, self.at
        kept = (word in OBJECT_QUANTITIES and at > self.start) or (word == "same" and self.in_clause)
        kept = kept or (word == "half" and at > self.start and chart.has(at + 1, at + 2, *ARTICLES, *POSSESSIVES, "of"))
        if (not chart.is_content(at) and not kept) or (word == "too" and chart.words[at - 1] == ","):
            return False
        after = chart.words[at + 1] if at + 1 < self.end else ""
        is_second = is_finite_alone(word) or (self.words[-1:] == ["_"] and past(word) and self._goes_on(at + 1))
        if self.has_verb and not self.in_clause and at > self.start and is_second:
            # Fat people eat accumulates; fed the lamb remained calm: a second verb.
            return False
        if self.words[-2:] == ["by", "_"] and self._starts_verb(at):
            # In `games developed by Paradox sold well` the verb is `sold`.
            return False
        if word in DROPPED_ADVERBS and word != "also" and at and chart.words[at - 1] == "not":
            chart.bar(at, "`not therefore` denies that it follows, or that it is so: say which")
        dropped = word in DROPPED_ADVERBS or (word == "too" and not after)
        if dropped or (word == "located" and after in ("in", "at", "on")):
            return True
        if self.words[-1:] == ["self"] and self.in_clause:
            self._verb(word)
        elif self.role == "modifier" and at == self.start and (base := gerund(word)):
            self.words.append(base)
        elif not self.has_verb and not is_adverb(word):
            self.has_verb = True
            self._verb(word)
        elif not (word == "own" and self.words[-1:] == ["own"]):
            self.words.append(word if is_adverb(word) else chart.vocabulary.singular(word))
        return True

    def _goes_on(self, at: int) -> bool:
        """Say whether an object or a property stands here: fed the lamb remained calm, not found the lamb locked in."""
        word = self.chart.words[at] if at < self.end else ""
        return word in ("a", "an") or (bool(word) and self.chart.is_content(at) and not is_adverb(word))

    def _starts_verb(self, at: int) -> bool:
        """Say whether a verb, with an adverb before it or not, stands behind the one by whom something was done."""
        chart = self.chart
        led = is_adverb(chart.words[at])
        word = chart.words[at + led] if at + led < self.end else ""
        return past(word) is not None or third(word) is not None or (is_base(word) and (led or not is_rare(word)))

    def _verb(self, word: str) -> None:
        base = third(word) or (word if is_base(word) else None)
        before = past(word)
        if before is not None and before != word and third(word) is None:
            self.words += ["did", before]
        else:
            self.words.append(base or word)


def object_relative(chart: Chart, i: int, j: int) -> Iterator[Formula]:
    """Read `that Tom likes`, `that the host has not chosen`: the head is what the verb holds, before any place."""
    for at in (at for at in range(i + 2, j) if chart.starts_verb(at, j) and chart.words[at] not in BE):
        one = Constant(chart.words[i + 1]) if chart.is_name(i + 1) and at == i + 2 else None
        if chart.words[i + 1] == "the" and not is_plural(chart.words[at - 1]):
            one = definite(chart, i + 1, at)
        for part in chart.rules.finite(chart, at, j, "singular") if one is not None else ():
            told = part.body if isinstance(part, Not) else part
            if one is not None and isinstance(told, Atom) and told.arguments == (HOLE,):
                words = told.predicate.removeprefix("do ").split(" ")
                place = next((k for k in range(1, len(words) - 1) if words[k] in PREPOSITIONS - {"to"}), len(words))
                said = Atom(" ".join([*words[:place], "_", *words[place:]]), (one, HOLE))
                yield Not(said) if isinstance(part, Not) else said
