"""From a text to its sentences: numbers and bullets before them left out, and the claim that a question asks about."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from critics.grammar.chart import SAYS_LESS, Conventions
from critics.grammar.frames import Frames, frames_of
from critics.grammar.kinds import Kinds, kinds_of, taken_apart
from critics.grammar.lexicon import is_adj, is_adverb, is_participle, is_plural
from critics.grammar.meaning import both
from critics.grammar.questions import asked
from critics.grammar.reader import PLAIN_WHY, Reader, Reading, Refusal
from critics.grammar.words import AUXILIARIES, FUNCTION, NUMBERS, SITUATIONS, TIMES, is_person
from critics.replay.first_order.syntax import Atom, Constant, Formula, conjuncts, constants, predicates

_BOUNDARY = re.compile(r"(?<=[.?!])(?P<closing>[\"'”’)]?)\s+(?=[\"'“‘(\[]?[A-Z0-9])|\s*\n+\s*")
_ABBREVIATION = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|No|vs|e\.g|i\.e))\.[\"'”’)]?$")
_LETTERED = re.compile(r"\b([A-Za-z][a-z]+ [A-Z])\.$")
_LISTED = re.compile(
    r"\s*(?:[-*•]\s+|\[[A-Z\d]{1,4}\]\s+|\(?\d{1,3}[.):-]\s+|(?:Premise|Fact|Rule)\s+\d{1,3}\s*[.:]\s*)"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without what numbers or lists them."""
    found: list[str] = []
    start = 0
    for boundary in [*_BOUNDARY.finditer(text), None]:
        end = len(text) if boundary is None else boundary.start() + len(boundary["closing"] or "")
        piece = text[start:end]
        lettered = _LETTERED.search(piece)
        # `He lives in Hall B.` ends where Hall B is spoken of elsewhere.
        is_name = lettered is not None and re.search(rf"\b{lettered[1]}(?![.\w])", text) is not None
        abbreviated = (_ABBREVIATION.search(piece) and not is_name) or _LISTED.fullmatch(f"{piece} ")
        if boundary is not None and "\n" not in boundary[0] and abbreviated:
            continue
        listed = _LISTED.match(piece)
        piece = piece[listed.end() if listed else 0 :].strip()
        if piece:
            found.append(piece)
        start = end if boundary is None else boundary.end()
    return found


def claim(question: str) -> str:
    """Return what a question asks about as a sentence, after what leads it in."""
    said = asked(question)
    if said is None:
        return " ".join(question.split())
    said = said.rstrip("?").strip()
    return f"{said[:1].upper()}{said[1:]}"


_OTHERS = re.compile(
    r"\b(?:an?|the|his|her|its|their|some|any|no|(?:each|every)(?! (?:{})\b))\b".format("|".join(TIMES))
)
_PRONOUN = re.compile(r"(?:He|She|It)(?= )")
_SEVERAL = re.compile(r"\b[A-Z]\w*(?: [A-Z]\w*)+")
_DAY = r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day )?"
_DEFINITE = re.compile(rf"the {_DAY}(?P<noun>[a-z]+)(?: (?:for|from|about|to) .+| (?:in|at|near) (?P<place>\S+).*)?")
_AT_PLACE = re.compile(r"\S+ (?:is|was) an? [a-z -]+ (?:at|in|on) the (?P<place>[a-z -]+)[.!]?")
TWINS = "two readings: the one whose phrases and names stand elsewhere in the text"
"""Note of a reading that its sentence alone does not decide."""


def without_the(text: str, name: str) -> str:
    """Return a text without the article of the name that it begins with: the Rioja is called `rioja`."""
    return text if name.startswith("the ") else text.removeprefix("the ")


def speaks_of_one(text: str, subject: str) -> bool:
    """Say whether a statement brings in nothing beside its subject that `he` or `it` could mean.

    `The order arrives before nine`; but `Tom has a laptop`, `Ann plays chess`.
    """
    low = without_the(text.lower().removeprefix("if "), subject)
    if not low.startswith(subject) or _OTHERS.search(low, len(subject)):
        return False
    words = [word for word in re.findall(r"[\w'-]+", low[len(subject) :]) if word not in FUNCTION]
    return all(
        word in NUMBERS or word in TIMES or word.isdigit() or is_adverb(word) or is_adj(word) or is_plural(word)
        or is_participle(word)
        for word in words[1:]
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProblemReader:
    """The reader of one problem, the sentences of its context, and the statement that its question asks about."""

    reader: Reader
    said: tuple[str, ...]
    asked: str
    frames: Frames = field(default_factory=Frames)
    memory: list[Kinds] = field(default_factory=list[Kinds], repr=False, compare=False)

    def read_at_cost(self, text: str) -> tuple[Reading | Refusal, int]:
        """Read one statement with the words of the problem; return with it the number of spans that it took."""
        found, work = self._meant(self.frames.without(text))
        if isinstance(found, Refusal) and found.why == PLAIN_WHY and (other := _respelled(text, self.said)) != text:
            return self.read_at_cost(other)
        if isinstance(found, Reading) and self.reader.conventions.states == "refuse":
            if not self.memory:
                told = (self._meant(each)[0] for each in (*self.said, self.asked))
                formulas = [each.formula for each in told if isinstance(each, Reading)]
                formulas += [Atom(noun, (Constant(name),)) for name, noun in self._kinds(formulas).items()]
                self.memory.append(kinds_of(formulas, self.reader.vocabulary))
            found = taken_apart(found, self.memory[0])
        is_said = self.frames.without(text).rstrip(".?!") in (each.rstrip(".?!") for each in self.said)
        if isinstance(found, Reading) and SAYS_LESS in found.conventions and not is_said:
            # Attack: claim that Ann pays only after Tom does, where she pays only if he does.
            found = Refusal(text, text, 0, len(text), "it says more than is read: say `if`, `only if` or `unless`")
        return found, work

    def _meant(self, text: str) -> tuple[Reading | Refusal, int]:
        """Read one statement; of two readings the one is meant all of whose phrases and names stand elsewhere.

        Every patient who is seen immediately gets a bed: nothing else says of anyone that he is `seen`.
        """
        found, work = self.reader.read_at_cost(text)
        if isinstance(found, Reading) or not found.readings:
            return found, work
        others = [
            self.reader.read(_PRONOUN.sub("Zyx", each))
            for each in (*self.said, self.asked)
            if each.rstrip(".?!") != text.rstrip(".?!")
        ]
        heard = {name for each in others if isinstance(each, Reading) for name in _names(each)}
        meant = [each for each in found.readings if _names(each) <= heard]
        if len(meant) != 1:
            return found, work
        return _chosen(meant[0]), work

    def context(self) -> list[Reading | Refusal]:
        """Read the sentences of the context; one may begin with a pronoun for whom alone the one before is about."""
        found: list[Reading | Refusal] = []
        for text in self.said:
            read = self.stated(text)
            if isinstance(read, Refusal) and found and (named := _named(found[-1], text)) is not None:
                read = self.stated(named)
            found.append(read)
        kinds = self._kinds([each.formula for each in found if isinstance(each, Reading)])
        return [_with_kinds(each, kinds) if isinstance(each, Reading) else each for each in found]

    def _kinds(self, formulas: Sequence[Formula]) -> dict[str, str]:
        """Return the nouns of things whose names begin with a kind of the problem: `ticket 4471`, `the lot in Rome`."""
        vocabulary = self.reader.vocabulary
        found = {f"{noun} {mark}": noun for noun, mark in vocabulary.numbered}
        said = {name for formula in formulas for name in predicates(formula)}
        for name in {name for formula in formulas for name in constants(formula)}:
            told = _DEFINITE.fullmatch(name)
            # Not the judge in the film; in Rome he is one.
            if told and told["noun"] in said and (told["place"] is None or told["place"] in vocabulary.names):
                found[name] = told["noun"]
        return found

    def question(self) -> Reading | Refusal:
        """Read what is asked.

        Of two readings the one is meant whose names are the context's: is Paul allergic to milk, of no `Paul allergic`.
        """
        found = self.read_at_cost(self.asked)[0]
        if not isinstance(found, Refusal) or not found.readings:
            return found
        told = {name for each in self.context() if isinstance(each, Reading) for name in constants(each.formula)}
        meant = [each for each in found.readings if (named := constants(each.formula)) and set(named) <= told]
        return _chosen(meant[0]) if len(meant) == 1 else found

    def stated(self, text: str) -> Reading | Refusal:
        """Read a sentence of the context, or an axiom."""
        found, end = self.read_at_cost(text)[0], len(text)
        # Attack: a premise or an axiom that only asks, or wishes.
        asks = text[-1] == "?" or (isinstance(found, Reading) and is_turned(found))
        return Refusal(text, text[-1], end - 1, end, "a question states nothing") if asks else found


def is_turned(read: Reading) -> bool:
    """Say whether a sentence has the order of a question: is Tom rich, may Tom win, had Tom a car."""
    return read.tokens[0].word in AUXILIARIES and not read.tokens[0].is_name


def _chosen(read: Reading) -> Reading:
    return replace(read, conventions=(*read.conventions, TWINS))


def _names(read: Reading) -> set[str]:
    return predicates(read.formula) | constants(read.formula)


def _with_kinds(read: Reading, kinds: dict[str, str]) -> Reading:
    """Return a reading with the kinds of its things, each of which is told once: they are taken from `kinds`."""
    for name in sorted(kinds.keys() & constants(read.formula)):
        kind = Atom(kinds.pop(name), (Constant(name),))
        said, exclusive = both(kind, read.formula), both(kind, read.exclusive)
        note = (*read.conventions, f"{name}: a {kind.predicate}")
        read = replace(read, formula=said, exclusive=exclusive, conventions=note)
    return read


@lru_cache(maxsize=32)
def _spellings(said: tuple[str, ...]) -> dict[re.Pattern[str], str]:
    names = sorted({name for text in said for name in _SEVERAL.findall(text)}, key=len)
    return {re.compile(rf"\b{name.split(' ', 1)[0]} (?i:{name.split(' ', 1)[1]})\b"): name for name in names}


def _respelled(text: str, said: tuple[str, ...]) -> str:
    """Return a text with names of several words as a context has them: Ann lee, who is Ann Lee."""
    for spelling, name in _spellings(said).items():
        text = spelling.sub(name, text)
    return text


def _named(before: Reading | Refusal, text: str) -> str | None:
    """Return a sentence with the one name of the sentence before in the place of the pronoun that opens it."""
    pronoun = _PRONOUN.match(text)
    if pronoun is None or not isinstance(before, Reading):
        return None
    parts, names = conjuncts(before.formula), constants(before.formula)
    if len(names) != 1 or not all(isinstance(part, Atom) for part in parts):
        return None
    (name,) = names
    is_kind = all(" " not in word for word in predicates(before.formula))
    at_place = _AT_PLACE.fullmatch(before.text) if pronoun[0] != "It" else None
    is_alone = is_kind or (at_place is not None and not any(map(is_person, at_place["place"].split())))
    if not before.text.lower().startswith(name) or not (is_alone or speaks_of_one(before.text, name)):
        return None
    if pronoun[0] == "It" and not SITUATIONS.isdisjoint(re.findall(r"\w+", text)):
        return None
    return f"{before.text[: len(name)]}{text[pronoun.end() :]}"


@lru_cache(maxsize=32)
def problem_reader(
    context: str, question: str, conventions: Conventions | None = None, others: tuple[str, ...] = ()
) -> ProblemReader:
    """Return one reader for all attempts at a problem; the words of `others` settle the names too."""
    goal = claim(question)
    frames, said = frames_of(sentences(context), goal)
    goal = frames.without(goal)
    return ProblemReader(Reader([*said, goal, *others], conventions), tuple(said), goal, frames)


def read_text(context: str, question: str | None = None, axioms: Iterable[str] = ()) -> list[Reading | Refusal]:
    """Read the sentences of a context, then declared axioms, then the question; the words of all settle the names."""
    declared = [piece for axiom in axioms for piece in sentences(axiom)]
    read = problem_reader(context, question or "", None, tuple(declared))
    found = [*read.context(), *map(read.stated, declared)]
    return found if question is None else [*found, read.question()]
