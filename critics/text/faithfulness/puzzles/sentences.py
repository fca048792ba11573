"""Conditions and options of a puzzle, read as claims: who is where, before whom, with whom, if what.

Names are replaced by numbers first (`@2` is a thing, `#0` a place); a small language is left. A sentence with any other
word is unread. Verbs add nothing, so they must be verbs of the opening.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from critics.replay.finite.terms import Term
from critics.text.faithfulness.english import stem
from critics.text.faithfulness.puzzles.claims import Relation, at, both, counted, denied, either, exclusive, related
from critics.text.faithfulness.puzzles.opening import HOW, NUMBERS, ORDINALS, Puzzle

Predicate = Callable[[int], Term]
"""A claim about a thing, given its number."""

_AUXILIARY = frozenset(
    """
    is are was were be been being am do does did will would shall must can could has have had to of the an a both each
    also it that which he she they who then out
    """.split()  # noqa: SIM905
)
_LIGHT = frozenset(
    map(stem, "scheduled assigned placed place takes occurs occur positioned located put given come somewhere".split())  # noqa: SIM905
)
_DENIAL = re.compile(r"\b(?:not|cannot|never)\b|\b\w+n't\b")
_JOINED = re.compile(r" (?:and|but) | or (?:is|are|was|were|must|will|can|cannot|could|does|do|has|it|he|she)\b")
_SOMEWHERE = r"(?:(?:at )?some ?time |at some point |somewhere |anytime |at any time |in some \w+ )?"
_EXACTLY = r"(?:immediately|directly|just) "
_SCALE = r"(?: in the (?:schedule|order|sequence|week))?"
_BEFORE = rf"(?:before|prior to|ahead of|earlier{_SCALE} than|(?:in|on|at) an earlier \w+ than|precedes|preceding)"
_AFTER = rf"(?:after|later{_SCALE} than|(?:in|on|at) a later \w+ than|follows|following)"
_TAIL = r"(?: (?:does|is|do|are|did|was|will|must)| (?:(?:is|are|was|were) )?(?P<tail>[a-z]+(?: [a-z]+){0,3}))?"
_IN = r"(?:(?:in|on|at|to|for|by) )?(?:either )?"
_EACH_OTHER = r"(?: (?:as|from|to) (?:each other|one another))?"
_ONE = r"@\d+"
_MANY = r"@\d+(?:(?: and |, and |, )@\d+)+"
_APART = (
    rf"(?:(?:in|on|at) the (?P<noun>[a-z]+) (?:immediately )?|exactly (?P<number>{'|'.join(NUMBERS)}) (?:[a-z]+) )"
    rf"(?P<row>before|after) (?:the (?P=noun) (?:in|on|at|for) which )?(?P<thing>{_ONE}){_TAIL}"
)
"""`On the day before Ann's`, `exactly three days after Ann's`."""
_LINKS = re.compile(r"\b(?:as|than|from|that|one|same|on|in|at|to|which)\b")
_COMPARED = (
    rf"(?P<row>(?:{_SOMEWHERE}|{_EXACTLY})(?:{_BEFORE}|{_AFTER}))(?P<doing> that of| [a-z]+ing)? (?:both |either )?"
    rf"(?P<things>{_MANY}|{_ONE}){_TAIL}"
)
_SAME = r"(?:(?:in|on|at|to|for|by) )?the same (?P<noun>\w+)"
_OTHER = r"(?:(?:in|on|at|to|for|by|from) )?(?:an? )?different (?P<noun>\w+?)s?"
_AS = r"(?: (?:as|than|from|that)(?: the (?:one|same \w+|\w+))?(?: \w+ which| that)?| (?:on|in|at|to) which)+ "


class Unread(Exception):  # noqa: N818
    """A sentence is not of this language."""


@dataclass(frozen=True, slots=True)
class Language:
    """A puzzle's names as patterns."""

    puzzle: Puzzle

    def coded(self, text: str) -> str:
        """Return a sentence in lower case with its names replaced; raises `Unread` where one is ambiguous."""
        text = re.sub(r"[’]", "'", " ".join(text.split())).rstrip(". :")
        names = sorted(
            [*_patterns(self.puzzle.things, "@"), *_patterns(self.puzzle.places, "#")], key=lambda p: -len(p[0])
        )
        for pattern, code in names:
            flags = 0 if len(pattern) < 20 and re.search(r"\\b[A-Z]\\b", pattern) else re.IGNORECASE
            text = re.sub(pattern, code, text, flags=flags)
        text = text.lower()
        if self.puzzle.is_one_each or self.puzzle.is_ordered:
            text = _with_ordinals(text, self.puzzle)
        text = re.sub(r"(@\d+)'s?(?!\w)", r"\1", re.sub(r"\b(?:the|an?) (?=[@#])", "", text))
        return re.sub(r"\bthe (\w+) (?:in|for|of|by|to) (@\d+)", self._named, text)

    def _named(self, found: re.Match[str]) -> str:
        """Read `the house in Quarry` as `Quarry`."""
        return found[2] if stem(found[1]) in self.puzzle.stems else found[0]

    def check_words(self, words: str) -> None:
        """Raise `Unread` where words are none of the opening's, nor such as say nothing."""
        for word in re.findall(r"[^\s,]+", words):
            if word in _AUXILIARY:
                continue
            if not word.isalpha() or not {stem(word)} & (self.puzzle.stems | _LIGHT):
                raise Unread(word)


def _patterns(names: Sequence[str], code: str) -> Iterator[tuple[str, str]]:
    """Yield patterns of names; a word that all of them end in may be left out."""
    if code == "#" and names[0] == "1":
        return
    last = {name.split()[-1] for name in names if " " in name}
    shared = last.pop() if len(last) == 1 and all(" " in name for name in names) else ""
    for number, name in enumerate(names):
        own = name.removesuffix(f" {shared}") if shared else name
        tail = f"(?: {shared})?" if shared else ""
        yield rf"(?<![\w#@'])\b{re.escape(own)}{tail}\b(?!-)", f"{code}{number}"


def _with_ordinals(text: str, puzzle: Puzzle) -> str:
    """Replace `third`, `last`, `3rd` and `day 3` by places."""
    size = len(puzzle.places)
    for number, word in enumerate(ORDINALS):
        text = re.sub(rf"\b(?:the )?{word}\b(?! (?:and|or|of)\b(?! #))", f"#{number}" if number < size else "#99", text)
        text = re.sub(rf"\b{word}\b", f"#{number}" if number < size else "#99", text)
    text = re.sub(r"\b(?:the )?last\b", f"#{size - 1}", text)

    def placed(found: re.Match[str]) -> str:
        known = puzzle.places[0] == "1" and stem(found[1]) in puzzle.stems and 0 < int(found[2]) <= size
        return f"#{int(found[2]) - 1}" if known else found[0]

    return re.sub(r"\b([a-z]+) (\d+)\b", placed, text)


def read_claim(text: str, puzzle: Puzzle) -> Term:
    """Read one sentence; raises `Unread`."""
    language = Language(puzzle)
    return Reader(language).statement(language.coded(text))


class Reader:
    """Reads coded sentences."""

    def __init__(self, language: Language) -> None:
        self._language, self._puzzle = language, language.puzzle
        self._last: Predicate | None = None
        """What was said last, for `so does @1`."""

    def statement(self, text: str) -> Term:
        """Read a sentence with its conditions."""
        text = text.strip(" ,")
        if found := re.fullmatch(r"if (.+?)(?:, then|, | then) ?(.+)", text):
            for split in re.finditer(r", then |, | then ", text[3:]):
                condition, rest = text[3 : 3 + split.start()], text[3 + split.end() :]
                try:
                    premise = self.statement(condition)
                    return either([denied(premise), self.statement(rest)])
                except Unread:
                    continue
            raise Unread(found[0])
        text = re.sub(r"^either (@\d+) (.+?) or it (.+)$", r"\1 \2 or \3", text)
        if found := re.fullmatch(r"either (.+) or (.+), but not both", text):
            try:
                return exclusive(self.statement(found[1]), self.statement(found[2]))
            except Unread:
                pass
        for joint, build in _JOINTS:
            for split in re.finditer(joint, text):
                try:
                    one = self.statement(text[: split.start()])
                    return build(one, self.statement(text[split.end() :]))
                except Unread:
                    continue
        return self._clause(text)

    def _clause(self, text: str) -> Term:
        if found := re.fullmatch(rf"so (?:does|do|is|are|must|will) ({_MANY}|{_ONE})", text):
            if self._last is None:
                raise Unread(text)
            return both(map(self._last, _things(found[1])))
        if found := _QUANTIFIED.fullmatch(text):
            return self._quantified(found)
        for pattern, build in _SUBJECTS:
            if found := re.fullmatch(pattern, text):
                return self._of_subject(found, build)
        raise Unread(text)

    def _of_subject(self, found: re.Match[str], build: Callable[..., Term]) -> Term:
        """Read a clause by its subject: an agent (`the messenger delivers`), things, and what is said of them."""
        agent, rest = found.groupdict().get("agent") or "", found[found.re.groups]
        things = _things(found[found.re.groups - 1])
        predicate, filler = self._predicate(rest, things, agent)
        is_denied = bool(_DENIAL.search(filler))
        self._last = None if is_denied else predicate
        claims = [predicate(thing) for thing in things]
        if not is_denied:
            return build(claims)
        if build is not both or found[0].startswith("both ") or _JOINED.search(rest):
            # `Both are not`, `is not third and before Ann`: what is denied cannot be told.
            raise Unread(found[0])
        if re.search(r"\bboth\b", filler):
            return denied(both(claims))
        return both(map(denied, claims))

    def _quantified(self, found: re.Match[str]) -> Term:
        """Read `at least two of the students perform after @1`."""
        number = found["number"]
        self._language.check_words(found["noun"])
        everyone = range(len(self._puzzle.things))
        predicate, filler = self._predicate(found["said"], everyone)
        if _DENIAL.search(filler) or not {stem(found["noun"].split()[-1])} & self._puzzle.stems:
            raise Unread(found[0])
        how = HOW[found["how"]]
        bound = int(number) if number.isdigit() else NUMBERS.index(number) + 1
        return counted([predicate(i) for i in everyone], (how, bound))

    def _predicate(self, text: str, things: Sequence[int], agent: str = "") -> tuple[Predicate, str]:
        """Read what is said of a subject, and the words before it, which may deny it."""
        words = text.strip().split(" ")
        for start in range(len(words)):
            filler, rest = " ".join([agent, *words[:start]]), " ".join(words[start:])
            predicate = self._relation(rest, things)
            if predicate is not None:
                num_denials = len(_DENIAL.findall(filler))
                self._language.check_words(_DENIAL.sub(" ", filler))
                allows = re.search(r"\b(?:can|could)\b", filler) and not num_denials and not rest.startswith("neither")
                if num_denials > 1 or allows or (num_denials and re.search(r"\b(?:have|has|had) to\b", filler)):
                    # What may be need not be, and so may what does not have to be.
                    raise Unread(text)
                return predicate, filler
        raise Unread(text)

    def _relation(self, text: str, things: Sequence[int]) -> Predicate | None:
        """Read a phrase to its end; None where it is none."""
        if found := re.fullmatch(r"(?:(?:in|on|at|to|for) )?neither (.+)", text):
            parts = self._parts(found[1], r" nor ", things)
            return None if parts is None else lambda i: both(denied(part(i)) for part in parts)
        text = re.sub(rf"({_ONE}) or ({_ONE}), but not [a-z]+ both$", r"\1 or \2, but not both", text)
        text = re.sub(r"^(?:either|both) ", "", text) if not text.startswith("both @") else text
        if found := re.fullmatch(r"(.+?),? but not both", text):
            parts = self._parts(found[1], r" or (?:else )?", things)
            return None if parts is None or len(parts) != 2 else lambda i: exclusive(*(part(i) for part in parts))
        simple = self._simple(text, things)
        if simple is not None:
            return simple
        if (parts := self._parts(text, r",? or (?:else )?", things)) is not None:
            return lambda i: either(part(i) for part in parts)
        if (parts := self._parts(text, r",? (?:and|but) ", things)) is not None:
            return lambda i: both(part(i) for part in parts)
        return None

    def _parts(self, text: str, joint: str, things: Sequence[int]) -> list[Predicate] | None:
        for split in re.finditer(joint, text):
            left, right = text[: split.start()], text[split.end() :]
            # `either immediately before or immediately after @1`: what both have stands once.
            shared = re.search(rf"(?:{_MANY}|{_ONE}){_TAIL}$", right)
            other = re.search(r"^(.*?)@\d+$", left)
            lefts = [left, *([f"{left} {shared[0]}"] if shared else [])]
            rights = [right, *([f"{other[1]}{right}"] if other and right.startswith("@") else [])]
            for one in lefts:
                for two in rights:
                    found = [self._relation(one, things), self._part(two, things)]
                    if None not in found:
                        return [part for part in found if part is not None]
        return None

    def _part(self, text: str, things: Sequence[int]) -> Predicate | None:
        """Read what comes behind `and` or `or`, which may have a verb and a denial of its own."""
        try:
            predicate, filler = self._predicate(text, things)
        except Unread:
            return None
        return (lambda i: denied(predicate(i))) if _DENIAL.search(filler) else predicate

    def _simple(self, text: str, things: Sequence[int]) -> Predicate | None:
        return self._placed(text) or self._beside(text, things)

    def _placed(self, text: str) -> Predicate | None:
        """Read `fourth`, `on Monday`, `no later than third`, `one of the first three`."""
        size, is_ordered = len(self._puzzle.places), self._puzzle.is_ordered
        if (found := re.fullmatch(rf"{_IN}#(\d+)((?: [a-z]+){{0,7}})", text)) and self._fits(found[2]):
            place = int(found[1])
            return (lambda i: at(i, place)) if place < size else None
        if (found := re.fullmatch(rf"{_IN}no (later|earlier) than #(\d+)((?: [a-z]+)?)", text)) and self._fits(
            found[3]
        ):
            last, is_late = int(found[2]), found[1] == "later"
            among = [place for place in range(size) if (place <= last if is_late else place >= last)]
            return (lambda i: either(at(i, v) for v in among)) if is_ordered and last < size else None
        if (found := re.fullmatch(rf"{_IN}one of #0 (\w+)((?: [a-z]+){{0,3}})", text)) and self._fits(found[2]):
            among = list(range(min(size, NUMBERS.index(found[1]) + 1))) if found[1] in NUMBERS else []
            return (lambda i: either(at(i, v) for v in among)) if is_ordered and among else None
        return None

    def _beside(self, text: str, things: Sequence[int]) -> Predicate | None:
        """Read `before Ann`, `immediately before or after Ann`, `next to each other`, `on the same day as Ann`."""
        if found := re.fullmatch(_COMPARED, text):
            doing = (found["doing"] or "").removeprefix(" that of")
            return self._row(found["row"], _things(found["things"]), f"{doing} {found['tail'] or ''}")
        if (found := re.fullmatch(_APART, text)) and self._fits(f"{found['noun']} {found['tail'] or ''}"):
            far = NUMBERS.index(found["number"]) + 1 if found["number"] else 1
            sign = 1 if found["row"] == "before" else -1
            return self._in_a_row(lambda v, w: v + sign * far == w, _things(found["thing"]))
        if found := re.fullmatch(
            rf"{_EXACTLY}before or (?:{_EXACTLY})?after {_ONE}{_TAIL}|(?:next|adjacent) to {_ONE}", text
        ):
            return self._in_a_row(_is_next, _things(text)) if self._fits(found["tail"]) else None
        if re.fullmatch(r"(?:immediately )?(?:next|adjacent) to (?:each other|one another)|consecutive(?:ly)?", text):
            return self._together(_is_next, [], things) if self._puzzle.is_ordered else None
        for pattern, relation in ((_SAME, _is_same), (_OTHER, _is_other)):
            found = re.fullmatch(rf"{pattern}(?:(?P<link>{_AS}){_ONE}(?P<tail>(?: [a-z]+)*)|{_EACH_OTHER})", text)
            linked = _LINKS.sub(" ", found["link"] or "") if found else ""
            if found and all(map(self._fits, (found["noun"], found["tail"], linked))):
                return self._together(relation, _things(text), things)
        return None

    def _fits(self, words: str | None) -> bool:
        try:
            self._language.check_words(words or "")
        except Unread:
            return False
        return True

    def _row(self, words: str, things: Sequence[int], tail: str | None) -> Predicate | None:
        if not self._fits(tail):
            return None
        is_next = re.match(_EXACTLY, words) is not None
        is_before = re.search(rf"(?:^| ){_BEFORE}$", words) is not None
        if is_next:
            relation: Relation = (lambda v, w: v + 1 == w) if is_before else (lambda v, w: v == w + 1)
        else:
            relation = (lambda v, w: v < w) if is_before else (lambda v, w: v > w)
        return self._in_a_row(relation, things)

    def _in_a_row(self, relation: Relation, things: Sequence[int]) -> Predicate | None:
        if not self._puzzle.is_ordered:
            return None
        size = len(self._puzzle.places)
        return lambda i: both(related(i, other, size, relation) for other in things)

    def _together(self, relation: Relation, others: list[int], things: Sequence[int]) -> Predicate | None:
        size = len(self._puzzle.places)
        if others:
            return lambda i: related(i, others[0], size, relation)
        if len(things) != 2:
            return None
        one, two = things
        return lambda i: related(i, one if i == two else two, size, relation)


def _is_next(one: int, other: int) -> bool:
    return abs(one - other) == 1


def _is_same(one: int, other: int) -> bool:
    return one == other


def _is_other(one: int, other: int) -> bool:
    return one != other


def _things(text: str) -> list[int]:
    return [int(found[1:]) for found in re.findall(_ONE, text)]


def _neither(claims: Iterator[Term]) -> Term:
    return both(denied(claim) for claim in claims)


def _equivalent(one: Term, other: Term) -> Term:
    return denied(exclusive(one, other))


_QUANTIFIED = re.compile(
    rf"(?P<how>{'|'.join(HOW)}) (?P<number>\d+|{'|'.join(NUMBERS)}) (?:of the )?(?P<noun>[a-z]+) (?P<said>.+)"
)
_SUBJECTS: tuple[tuple[str, Callable[..., Term]], ...] = (
    (rf"neither ({_ONE} nor {_ONE}) (.+)", _neither),
    (rf"either ({_ONE} or {_ONE})(?! but)(?:, or both,)? (.+)", either),
    (rf"(?:both )?({_MANY})(?: both| each)? (.+)", both),
    (rf"({_ONE}) (.+)", both),
    (rf"(?P<agent>(?:[a-z]+ ){{1,4}}?)({_MANY}|{_ONE}) (.+)", both),
)
_JOINTS: tuple[tuple[str, Callable[[Term, Term], Term]], ...] = (
    (r",? if,? (?:and|but) only if,? ", _equivalent),
    (r",? only if ", lambda one, other: either([denied(one), other])),
    (r",? if ", lambda one, other: either([denied(other), one])),
    (r",? unless ", lambda one, other: either([other, one])),
    (r"(?:,|;) and ", lambda one, other: both([one, other])),
    (r" and (?=@)", lambda one, other: both([one, other])),
)
