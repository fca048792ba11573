"""Discourse as models write it: each sentence of a chain of thought as moves, every word of it accounted for.

A sentence is a statement, or is taken apart at what joins statements (`Since A, B`, `A, so B`) and at what leads them
in (`from premise 3, we know that A`). Statements are texts here; `critics.grammar` reads them. Nothing is skipped: a
piece that is no move makes the sentence unread.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from critics.grammar.leads import (
    ABOUT,
    AIM,
    ANY_CASE,
    APPOSITIVE,
    BEHIND,
    CONNECTIVE,
    CONTRADICTS,
    FILLER,
    FROM,
    JOINTS,
    JUDGED,
    KNOWN_FROM,
    KNOWS,
    ORDINALS,
    QUOTES,
    REFUTED,
    SOURCE,
    STATES,
    TOPIC,
    UNKNOWN,
    VALUES,
)
from critics.grammar.lexicon import gerund, third_person

Value = Literal["true", "false", "unknown"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that is made."""

    text: str
    inferred: bool = False
    """It is said to follow: a sentence of the context alone does not bear that out."""
    given: bool = False
    """It is said to stand in the context."""
    cited: tuple[int, ...] = ()
    """The premises that it is said to stand in, or to follow from."""
    because: int = 0
    """So many moves right before it are the reasons that are given for it."""
    loosely: bool = False
    """True if some of the reasons may be idle: `A and B, so C`, and not `since A and B, C`."""


@dataclass(frozen=True, slots=True)
class NotKnown:
    """A statement of which it is said that nothing tells whether, or that, it holds; without a text the question."""

    text: str
    both_ways: bool
    """True if the denial is said not to be known either."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A value that is given to a statement, or to the question where `text` is None."""

    value: Value
    text: str | None = None
    is_final: bool = False
    """True if it is said to be the answer: nothing is judged behind it."""
    because: int = 0
    """So many moves right before it are the reasons that are given for it."""
    loosely: bool = False


@dataclass(frozen=True, slots=True)
class Aim:
    """The statement that is to be evaluated."""

    text: str


@dataclass(frozen=True, slots=True)
class Contradicts:
    """The statement that what was said before is said to contradict."""

    text: str
    of_context: bool = False
    """True if the statement before, which is to be evaluated, is said to contradict the context."""


Move: TypeAlias = Claim | NotKnown | Judged | Aim | Contradicts
Reads: TypeAlias = Callable[[str], bool]
"""Says whether a text is a statement that is read."""


_NUMBERS = re.compile(
    r"(?:premises?|rules?|facts?|information|statements?|context|passage|conditions?) "
    r"(?P<numbers>\d{1,2}(?:(?:, and |, | and | & )\d{1,2})*)",
    ANY_CASE,
)
_STATED = re.compile(
    r"\b(?:given|told|stated|mentioned|said)\b|\b(?:premise|rule)s? .*\b(?:that|says|states)\b", ANY_CASE
)
_OWN_ANSWER = re.compile(
    r"(?:that|our)\b|this (?!statement)\w+\b|the (?:given|final) (?!statement)\w+\b|(?:the )?answer\b.* is\b", ANY_CASE
)


def cited(match: re.Match[str]) -> tuple[int, ...]:
    """Return the numbers of the premises that a source names; the last is 0."""
    numbers = _NUMBERS.search(match[0])
    if numbers:
        return tuple(int(number) for number in re.findall(r"\d+", numbers["numbers"]))
    if re.search(r"\b(?:last|final) (?:rule|premise|fact|condition)\b", match[0], ANY_CASE):
        return (0,)
    nth = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)\b", match[0])
    if nth is not None:
        return (int(nth[1]),)
    if re.search(r"\b(?:rule|premise|fact|condition)\b", match[0], ANY_CASE):
        return tuple(number for word, number in ORDINALS.items() if re.search(rf"\b{word}\b", match[0], ANY_CASE))[:1]
    return ()


def moves(sentence: str, reads: Reads) -> list[Move] | None:
    """Return the moves of one sentence; None where some piece of it is none."""
    return _Sentence(reads).read(sentence, Claim(""), 0)


_EDGES = " .,:;!?\n\t"


class _Sentence:
    """One sentence being taken apart; work is bounded by a count of tries."""

    MAX_TRIES = 400

    def __init__(self, reads: Reads) -> None:
        self.reads, self.tries, self.known = reads, 0, dict[tuple[str, Claim], list[Move] | None]()

    def read(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Read a piece; `mode` says how its claims are meant."""
        text = _stripped(text)
        key = (text, mode)
        if key in self.known:
            return self.known[key]
        self.tries += 1
        if not text or self.tries > self.MAX_TRIES or depth > 14:
            return None
        self.known[key] = None
        found = self._read(text, mode, depth)
        self.known[key] = found
        return found

    def _read(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        if FILLER.fullmatch(text):
            return []
        turned = KNOWN_FROM.match(text)
        if turned is not None:
            # We know from the premise "A" that B: from the premise "A", B.
            text = f"from {turned['source']} {turned['quotes']}, {text[turned.end() :]}"
        for one in (
            self._judged,
            self._refuted,
            self._contradicts,
            self._aim,
            self._unknown,
            self._since,
            self._led,
            self._backed,
        ):
            found = one(text, mode, depth)
            if found is not None:
                return found
        if self.reads(text):
            return [replace(mode, text=text)]
        return self._split(text, mode, depth)

    def _judged(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = JUDGED.fullmatch(text)
        if match is None:
            return None
        told = match["value"] or match["value2"] or match["value3"] or match["value4"]
        about = _unquoted(match["about"] or match["about2"] or "")
        value: Value = VALUES[told.lower()]  # type: ignore[assignment]
        if about and not self.reads(about):
            return None
        if value == "false" and not about and _OWN_ANSWER.match(text):
            # Attack: deny one's own answer, in words that another takes for the answer `false`.
            return None
        return [Judged(value, about or None, is_final=match["value3"] is not None)]

    def _contradicts(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = CONTRADICTS.fullmatch(text)
        if match is None:
            return None
        about = _unquoted(match["about"])
        source = re.fullmatch(SOURCE, about, ANY_CASE)
        is_statement = source is None or "statement" in source[0].lower()
        if source is not None and cited(source):
            # Attack: cite a premise that has nothing to do with it.
            return None
        if not is_statement and not re.match(r"the |this \w+ ", text, ANY_CASE):
            # Attack: contradict the context.
            return [Contradicts("", of_context=True)]
        value = re.fullmatch(rf"(?P<rest>.*?),? and is (?P<value>{'|'.join(VALUES)})", about, ANY_CASE)
        if value is not None and value["rest"] and re.fullmatch(SOURCE, value["rest"], ANY_CASE):
            return [Contradicts(""), Judged(VALUES[value["value"].lower()])]  # type: ignore[list-item, arg-type]
        if not about or source is not None:
            return [Contradicts("")]
        return [Contradicts(about)] if self.reads(about) else None

    def _refuted(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = REFUTED.fullmatch(text)
        if match is None or not (about := _unquoted(match["about"])) or not self.reads(about):
            return None
        if "contra" in match["how"] or "conflict" in match["how"]:
            return None if cited(match) else [Judged("false", about)]
        is_given = match["how"].lower().startswith(("stated", "given"))
        return [Claim(about, inferred=not is_given, given=is_given, cited=cited(match)), Judged("true", about)]

    def _aim(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = AIM.fullmatch(text)
        if match is None:
            return None
        about = _unquoted(re.sub(r" or not$", "", match["about"] or match["about2"]))
        return [Aim(about)] if self.reads(about) else None

    def _unknown(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        match = UNKNOWN.match(text)
        if match is None:
            return None
        link = ABOUT.match(text, match.end())
        assert link is not None
        how = link["how"]
        about = re.sub(r"(?:,? or not|,? either)$", "", text[link.end() :].strip(" ,"))
        if not about:
            return [NotKnown("", both_ways=True)]
        for end in [len(about), *(joint.start() for joint in JOINTS.finditer(about))]:
            said, rest = _unquoted(about[:end]), JOINTS.sub("", about[end:], count=1)
            said = re.sub(r",? or not$", "", said)
            after: list[Move] | None = [] if end == len(about) else self.read(rest, Claim(""), depth + 1)
            said = re.sub(r"\b(?:(?:directly|explicitly) )?(states|stating) that ", "", said)
            if after is not None and not self.reads(said):
                said = _finite(said)
            if after is not None and self.reads(said):
                return [NotKnown(said, how != "that"), *after]
        return None

    def _since(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Since A, B; because A, B; given that A, B."""
        match = re.match(
            r"(?:since|because|as|given that|given the fact that|considering that|considering the fact that|"
            r"knowing that|due to the fact that|now that) +",
            text,
            ANY_CASE,
        )
        if match is None:
            return None
        rest = text[match.end() :]
        for comma in [at.start() for at in re.finditer(r", ", rest)][::-1]:
            reason = self.read(rest[:comma], Claim(""), depth + 1)
            said = None if reason is None else self.read(rest[comma + 2 :], Claim("", inferred=True), depth + 1)
            if reason is not None and said is not None:
                return _backed_by(said, reason)
        return None

    def _led(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Take off what leads a statement in."""
        match = CONNECTIVE.match(text)
        if match is not None:
            found = self.read(
                text[match.end() :], replace(mode, inferred=mode.inferred or bool(match["infers"])), depth + 1
            )
            if found is not None:
                return found
        match = STATES.match(text)
        if match is not None:
            found = self.read(_unquoted(text[match.end() :]), replace(mode, given=True, cited=cited(match)), depth + 1)
            if found is not None:
                return found
        match = FROM.match(text)
        if match is not None:
            found = self._from(text, match, mode, depth)
            if found is not None:
                return found
        match = KNOWS.match(text)
        if match is not None:
            inferred = mode.inferred or bool(match["infers"] or match["shown"])
            given = mode.given or (not match["infers"] and not match["shown"] and _STATED.search(match[0]))
            inner = replace(mode, inferred=inferred, given=bool(given), cited=mode.cited or cited(match))
            return self.read(_unquoted(text[match.end() :]), inner, depth + 1)
        return None

    def _from(self, text: str, match: re.Match[str], mode: Claim, depth: int) -> list[Move] | None:
        """From premise 3, A; from the premise that A, B; by the rule "A", B."""
        rest = text[match.end() :]
        source = Claim("", given=True, cited=cited(match))
        quoted = QUOTES.match(rest)
        if quoted is not None:
            said: list[Move] | None = []
            while quoted is not None and said is not None:
                found = self.read(quoted["said"], source, depth + 1)
                said = None if found is None else [*said, *found]
                rest = rest[quoted.end() :]
                quoted = QUOTES.match(rest) if quoted["sep"] else None
            rest = rest.strip(" ,")
            after = [] if not rest else self.read(rest, replace(mode, inferred=True), depth + 1)
            return None if said is None or after is None else [*said, *after]
        if match["quote"] is not None or not match["sep"]:
            for comma in [at.start() for at in re.finditer(r", ", rest)][::-1]:
                said = self.read(rest[:comma], source, depth + 1)
                after = None if said is None else self.read(rest[comma + 2 :], replace(mode, inferred=True), depth + 1)
                if said is not None and after is not None:
                    return [*said, *after]
            if match["quote"] is not None:
                return None
        return self.read(rest, _sourced(mode, match), depth + 1)

    def _backed(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """A, according to premise 3; A (premise 3)."""
        match = BEHIND.search(text)
        if match is None or not match.start():
            return None
        return self.read(text[: match.start()], _sourced(mode, match), depth + 1)

    def _split(self, text: str, mode: Claim, depth: int) -> list[Move] | None:
        """Take a sentence apart at what joins two statements."""
        aside = APPOSITIVE.fullmatch(text)
        if aside is not None:
            reason = self.read(f"{aside['name']} is {aside['what']}", Claim(""), depth + 1)
            said = self.read(f"{aside['name']} {aside['rest']}", replace(mode, inferred=True), depth + 1)
            if reason is not None and said is not None:
                return _backed_by(said, reason, loosely=True)
        for joint in JOINTS.finditer(text):
            first = self.read(
                text[: joint.start()], mode if not joint["because"] else replace(mode, inferred=True), depth + 1
            )
            if first is None:
                continue
            inferred = bool(joint["so"])
            second = self.read(
                text[joint.end() :],
                Claim("", inferred=inferred, given=mode.given and not inferred, cited=() if inferred else mode.cited),
                depth + 1,
            )
            if second is not None:
                if joint["because"]:
                    return _backed_by(first, second)
                return _backed_by(second, first, loosely=True) if inferred else [*first, *second]
        return None


def _backed_by(said: list[Move], reasons: list[Move], *, loosely: bool = False) -> list[Move] | None:
    """Return reasons and what is said: its first conclusion rests on them. None where they are no reasons of it."""
    first = next((at for at, move in enumerate(said) if not isinstance(move, Claim) or move.inferred), None)
    drawn = None if first is None else said[first]
    if first is None or not isinstance(drawn, Claim | Judged) or drawn.because:
        return [*reasons, *said]
    if all(isinstance(reason, Claim) for reason in reasons):
        backed = replace(drawn, because=len(reasons) + first, loosely=loosely)
        return [*reasons, *said[:first], backed, *said[first + 1 :]]
    is_open = isinstance(drawn, Judged) and drawn.value == "unknown"
    if isinstance(drawn, Claim) or (not is_open and any(isinstance(reason, Aim | NotKnown) for reason in reasons)):
        # Attack: since nobody knows whether Ned is a newt, Pip is a bird.
        return None
    return [*reasons, *said]


def _sourced(mode: Claim, match: re.Match[str]) -> Claim:
    """Return the mode of what stands beside a source: `as stated in premise 3` quotes it, `from premise 3` does not."""
    given = mode.given or (not mode.inferred and re.search(r"\b(?:stated|given|said) (?:in|by)\b", match[0], ANY_CASE))
    return replace(mode, given=bool(given), cited=mode.cited or cited(match))


def _finite(topic: str) -> str:
    """Return `the cow eating the dog` as `the cow eats the dog`; the topic itself where it is none."""
    match = TOPIC.fullmatch(topic)
    if match is None:
        return topic
    if match["form"] == "being":
        return f"{match['name']} is {match['verb'] or ''}{match['rest']}"
    base = gerund(match["form"])
    if base is None:
        return topic
    verb = f"does not {base}" if match["verb"] else third_person(base)
    return f"{match['name']} {verb} {match['rest']}"


def _stripped(text: str) -> str:
    text = " ".join(text.split()).strip(_EDGES)
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip(_EDGES)
    return text


def _unquoted(text: str) -> str:
    text = text.strip(_EDGES)
    if len(text) > 2 and text[0] in "\"'" and text[-1] in "\"'":
        text = text[1:-1].strip(_EDGES)
    return text
