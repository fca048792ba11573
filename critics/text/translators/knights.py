"""Knights and knaves into first-order logic: who says what, and whose words are true.

    Everybody on this island is either a knight or a knave.     ∀x (Knight(x) ⊕ Knave(x))
    Ada says that Ben is a knave.                               Knight(ada) ↔ Knave(ben)

Two frames are read, this project's and that of the published problems (Xie et al. 2024, `K-and-K/knights-and-knaves`),
whose kinds may have other names. Claims are one level deep. A bare `either .. or ..` is refused: it does not say
whether both can be. Every statement becomes two axioms, one that names both kinds and one that denies the truthful kind
instead of naming the other. A premise must follow from one axiom alone, and each of the two follows from the other only
together with the first axiom of the puzzle, that everybody is of one kind.
"""

import re
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from critics.problem import Formal
from critics.text.translators.translation import Answer, TranslationError, Unread, agreed, claim, reading

MAX_PEOPLE = 12
_NAME = r"[A-Z][a-z]+"
_NAMES = re.compile(r", and | and |, ")
_FRAMES = (
    re.compile(
        r"Everybody on this island is either an? (?P<one>\w+) or an? (?P<other>\w+)\. "
        r"(?P<truthful>\w+)s always tell the truth, and (?P<lying>\w+)s always lie\. (?P<names>[\w, ]+) live here\."
    ),
    re.compile(
        r"A very special island is inhabited only by (?P<one>\w+)s and (?P<other>\w+)s\. "
        r"(?P<truthful>\w+)s always tell the truth, and (?P<lying>\w+)s always lie\. "
        r"You meet (?P<num>[0-9]{1,3}) inhabitants: (?P<names>[\w, ]+)\."
    ),
)
_VERB = (
    r"(?:says|said|told you|tells you|stated|remarked|expressed|asserted|commented|noted|declared|mentioned|claimed"
    r"|was heard saying)"
)
_WORDS = r"(?P<words>[^\".:]+?)"
_SAID = tuple(
    re.compile(rf" {form}(?= |$)")
    for form in (
        rf"(?P<name>{_NAME}) {_VERB} that {_WORDS}\.",
        rf"(?P<name>{_NAME}) {_VERB}[,:] \"{_WORDS}(?:\.\"|\"\.)",
        rf"(?:According to|As|In a statement by) (?P<name>{_NAME})(?: put it)?[,:] \"{_WORDS}\"\.",
        rf"In (?P<name>{_NAME})'s words: \"{_WORDS}\"\.",
        rf"\"{_WORDS},\" (?P<name>{_NAME}) {_VERB}\.",
        rf"\"{_WORDS}\" - (?P<name>{_NAME})\.",
    )
)
_ATOM = re.compile(rf"(?:I am|(?P<name>{_NAME}) is) (?P<no>not )?an? (?P<kind>\w+)")
_PAIR = re.compile(rf"(?P<one>I|{_NAME}) and (?P<other>I|{_NAME}) are of (?:the (?P<same>same) kind|different kinds)")
_IF = re.compile(r"if (?P<one>.+?),? then (?P<other>.+)")
_EITHER = re.compile(r"either (?P<one>.+) or (?P<other>.+?), but not both")
_NOT_BOTH = re.compile(r"it is not the case that (?:both (?P<one>.+) and (?P<other>.+)|(?P<alone>.+))")
_LEAD = re.compile(r"True or false: ")
_QUESTION = re.compile(rf"Is (?P<name>{_NAME}) (?P<rest>an? \w+)\?")


@dataclass(frozen=True, slots=True)
class Kind:
    """Somebody tells the truth, or lies."""

    name: str
    truthful: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """Claims under one of the signs ¬ ∧ ∨ → ↔ ⊕."""

    sign: str
    parts: tuple["Said", ...]


Said: TypeAlias = Kind | Joined


@dataclass(frozen=True, slots=True)
class Island:
    """Everybody on an island, the words for both kinds, and who says what."""

    names: tuple[str, ...]
    truthful: str
    lying: str
    statements: tuple[tuple[str, Said], ...]

    def solutions(self) -> list[frozenset[str]]:
        """Return every set of truthful people under which each statement is as true as its speaker is truthful."""
        every = product((True, False), repeat=len(self.names))
        chosen = (frozenset(n for n, one in zip(self.names, kinds, strict=True) if one) for kinds in every)
        return [
            knights
            for knights in chosen
            if all(holds(said, knights) == (speaker in knights) for speaker, said in self.statements)
        ]


def holds(said: Said, knights: frozenset[str]) -> bool:
    """Say whether a claim is true where these people, and nobody else, tell the truth."""
    if isinstance(said, Kind):
        return (said.name in knights) == said.truthful
    values = [holds(part, knights) for part in said.parts]
    match said.sign:
        case "¬":
            return not values[0]
        case "∧":
            return all(values)
        case "∨":
            return any(values)
        case "→":
            return values[1] or not values[0]
        case "↔":
            return values[0] == values[1]
        case _:
            return values[0] != values[1]


def translate(context: str, question: str) -> Formal:
    """Return that everybody is of one kind, each statement in both kinds and in one, and the question as the goal.

    Raises `TranslationError` for whatever is not of the language.
    """
    island = read_island(context)
    goal = _formula(_asked(question, island), island, both=True)
    axioms = [f"∀x ({island.truthful.title()}(x) ⊕ {island.lying.title()}(x))"]
    for both in (True, False):
        for speaker, said in island.statements:
            own = _formula(Kind(speaker, truthful=True), island, both=both)
            axioms.append(f"{own} ↔ {_formula(said, island, both=both)}")
    return Formal(tuple(dict.fromkeys(axioms)), goal)


def stated(formal: Formal, context: str) -> tuple[str, ...]:
    """Return the axioms that say each sentence once: what a careful writer formalises."""
    return formal.axioms[: 1 + len(dict.fromkeys(read_island(context).statements))]


def decide(context: str, question: str) -> Answer | None:
    """Return what all solutions say of a question, by trying everything; None where there is no solution."""
    island = read_island(context)
    asked = _asked(question, island)
    return agreed(holds(asked, knights) for knights in island.solutions())


def read_island(context: str) -> Island:
    """Read a whole context; raises `TranslationError`."""
    text = " ".join(context.split())
    frame = next((found for form in _FRAMES if (found := form.match(text)) is not None), None)
    if frame is None:
        raise TranslationError(text[:80], "it does not open as a puzzle of knights and knaves")
    with reading(frame[0]):
        island = _opened(frame)
    statements: list[tuple[str, Said]] = []
    at = frame.end()
    while at < len(text):
        found = next((match for form in _SAID if (match := form.match(text, at)) is not None), None)
        if found is None:
            raise TranslationError(text[at : at + 80].strip(), "it does not say who says what")
        with reading(found[0].strip()):
            if found["name"] not in island.names:
                raise Unread(f"{found['name']!r} is not among those who live here")
            statements.append((found["name"], _claimed(found["words"], found["name"], island)))
        at = found.end()
    return Island(island.names, island.truthful, island.lying, tuple(statements))


def _opened(frame: re.Match[str]) -> Island:
    names = tuple(_NAMES.split(frame["names"]))
    truthful, lying = frame["truthful"].lower(), frame["lying"].lower()
    if {frame["one"], frame["other"]} != {truthful, lying} or truthful == lying:
        raise Unread("its two kinds are not those of which it says who lies")
    if not all(re.fullmatch(_NAME, name) for name in names) or len({*names}) < len(names) or len(names) > MAX_PEOPLE:
        raise Unread(f"at most {MAX_PEOPLE} different names are needed")
    if "num" in frame.groupdict() and int(frame["num"]) != len(names):
        raise Unread(f"it names {len(names)} people, not {frame['num']}")
    return Island(names, truthful, lying, ())


def _claimed(words: str, speaker: str, island: Island) -> Said:
    """Read a claim of at most one level: what is joined are statements about one person each."""
    text = words if words.startswith("I ") else re.sub(r"^(?:If|Either|It)\b", lambda m: m[0].lower(), words)
    if (pair := _PAIR.fullmatch(text)) is not None:
        parts = tuple(Kind(_person(pair[who], speaker, island), truthful=True) for who in ("one", "other"))
        if parts[0] == parts[1]:
            raise Unread("it compares somebody with himself")
        return Joined("↔" if pair["same"] else "⊕", parts)
    for form, sign in ((_IF, "→"), (_EITHER, "⊕")):
        if (found := form.fullmatch(text)) is not None:
            return Joined(sign, tuple(_kind(found[side], speaker, island) for side in ("one", "other")))
    if (denied := _NOT_BOTH.fullmatch(text)) is not None:
        if denied["alone"] is not None:
            return Joined("¬", (_kind(denied["alone"], speaker, island),))
        both = tuple(_kind(denied[side], speaker, island) for side in ("one", "other"))
        return Joined("¬", (Joined("∧", both),))
    for word, sign in ((" if and only if ", "↔"), (" and ", "∧"), (" or ", "∨")):
        parts = text.split(word)
        if len(parts) > 1 and (sign != "↔" or len(parts) == 2):
            return Joined(sign, tuple(_kind(part, speaker, island) for part in parts))
    return _kind(text, speaker, island)


def _kind(text: str, speaker: str, island: Island) -> Said:
    found = _ATOM.fullmatch(text)
    if found is None or found["kind"] not in (island.truthful, island.lying):
        raise Unread(f"{text!r} does not say of which kind somebody is")
    kind = Kind(_person(found["name"] or "I", speaker, island), found["kind"] == island.truthful)
    return Joined("¬", (kind,)) if found["no"] else kind


def _person(name: str, speaker: str, island: Island) -> str:
    person = speaker if name == "I" else name
    if person not in island.names:
        # Attack: a statement about someone who is not there, of whom nothing is known.
        raise Unread(f"{name!r} is not among those who live here")
    return person


def _asked(question: str, island: Island) -> Said:
    text = _QUESTION.sub(r"\g<name> is \g<rest>.", " ".join(question.split()))
    with reading(question):
        return _kind(claim(text, _LEAD).removesuffix("."), "", island)


def _formula(said: Said, island: Island, *, both: bool) -> str:
    if isinstance(said, Kind):
        own, other = (f"{kind.title()}({said.name.lower()})" for kind in (island.truthful, island.lying))
        return own if said.truthful else other if both else f"¬{own}"
    parts = [_formula(part, island, both=both) for part in said.parts]
    return f"¬{parts[0]}" if said.sign == "¬" else f"({f' {said.sign} '.join(parts)})"
