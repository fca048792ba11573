"""DeontiQA (LogicGuide, section 4.1 and appendix C) as problems whose formalisation comes from their Peano source.

The stories are GPT-4's prose and are not translated. A base problem brings its source; its two variants, made
upstream by replacing words in it, ask for another modality of the same action, and share source and story. The
goal is what the question asks: its modality and negation, and the action of the source's gold conclusion.

The source's typos are repaired where they leave no doubt (`REPAIRS`); what cannot be repaired is named (`DEFECTS`),
and bars a certificate or not. Both stand in a problem's `meta`, and `survey_deontiqa` lists them for a whole file,
with the records that ask nothing and so are no problems.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from critics.problem import Formal, Problem, RecordError, read_problem
from critics.replay.formula import MAX_NAME_LENGTH, NAME, RESERVED_NAMES, Literal, Rule, Statement, subterms
from critics.replay.kernel import WorkLimitExceeded
from critics.replay.sorts import SortedSignature
from critics.text.background import background
from critics.text.reference import theory
from critics.text.theories.deontic import MODALITIES
from rollout.published.records import Fields, entry_error, read_entries
from tools.deontiqa.peano import Fitted, fit, read_theory

REPAIRS: Mapping[str, str] = {
    "missing-dot": "a declaration does not end in a full stop",
    "unbalanced": "brackets are missing, or left over, at an end",
    "redeclared": "two declarations have one name; both are kept",
    "recorded": "a name is given to a value whose sort this theory lacks; it is stated as a fact",
    "spelling": "a symbol is unknown and very much like one that is known",
    "swapped": "two arguments stand in each other's place, as their sorts show",
    "unbound": "a rule's conclusion has a variable that nothing binds; its place tells the sort",
}
"""Explanation of each repair, by the word that `meta["repairs"]` uses."""
DEFECTS: Mapping[str, str] = {
    "no-source": "there is no Peano source: it was not published with this variant",
    "no-question": "the question is lost; the record is no problem",
    "no-conclusion": "the source has no gold conclusion about one action, or it cannot be read",
    "other-question": "the question is not the gold conclusion's, or cannot be read",
    "inconsistent": "the source derives something and its negation",
    "wrong-answer": "the opposite of the published answer follows",
    "undecided": "neither yes nor no follows: the published answer is no for want of a reason",
    "left-out": "a statement of the source is in no one way well-sorted, and is left out",
}
"""Faults that stay, by the word that `meta["defects"]` uses. All but `left-out` bar a certificate."""
BARRING = frozenset(DEFECTS) - {"left-out"}

_ANSWERS = {"yes": "true", "no": "false"}
_ASKED = re.compile(r"\bis it (?P<negation>not )?(?P<modality>obligatory|permissible|impermissible)\b", re.IGNORECASE)
_KEY = ("domain", "level", "index")
_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class SourceFinding:
    """Defects and repairs of one record."""

    id: str
    is_problem: bool
    """True if the record asks something; `load_deontiqa` yields it then."""
    defects: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    """The statements of the source that are left out, each with the reason."""

    @property
    def is_sound(self) -> bool:
        """Say whether the published answer can be proved."""
        return BARRING.isdisjoint(self.defects)


@dataclass(frozen=True, slots=True)
class _Source:
    """A base problem's source as statements in the story's names, and what its question asks."""

    axioms: tuple[str, ...]
    conclusion: Literal | None
    question: str
    names: Mapping[str, str]
    """The source's name of each object, by its name in the story."""
    repairs: tuple[str, ...]
    left_out: tuple[str, ...]


def load_deontiqa(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, or the project's own `problem` lines; records without question are not.

    `answer` is what was published, right or wrong. `meta` has `domain`, `level` (the rule applications of the gold
    derivation), `index`, `variant` (`base`, `negated_0`, `negated_1`), `names`, `repairs`, `defects` and
    `left_out`. Raises `InputError` at the first bad record, naming file, line and remedy.
    """
    return (problem for _, problem in _read(Path(path)) if problem is not None)


def survey_deontiqa(path: Path | str) -> dict[str, SourceFinding]:
    """Return what is wrong with each record of a file, by id, in order; raises like `load_deontiqa`."""
    return {finding.id: finding for finding, _ in _read(Path(path))}


def _read(path: Path) -> Iterator[tuple[SourceFinding, Problem | None]]:
    entries = list(read_entries(path))
    sources: dict[_Key, _Source] = {}
    for entry in entries:
        with _located(entry.where):
            sources.update(_sources(entry.fields()))
    for entry in entries:
        with _located(entry.where):
            read = _one(entry.fields(), sources)
        yield read


@contextmanager
def _located(where: str) -> Generator[None]:
    """Say where a bad record stands."""
    try:
        yield
    except (RecordError, WorkLimitExceeded) as error:
        raise entry_error(where, error) from error


def _sources(data: Fields) -> dict[_Key, _Source]:
    """Return the source that a base problem brings, under the key that its variants share."""
    text = data.get("peano")
    if text is None:
        return {}
    if not isinstance(text, str):
        raise RecordError("peano: the text of the source is needed, or null")
    read = read_theory(text)
    fitted = fit(read, _signature())
    conclusion = _conclusion(fitted)
    question, story = _prose(data, "question"), _prose(data, "context")
    facts = [fact for _, fact in fitted.facts]
    names = {} if conclusion is None else story_names(
        story, question, read.objects, facts, conclusion, _signature().constants
    )  # fmt: skip
    return {
        _key(data): _Source(
            tuple(dict.fromkeys(str(_renamed(statement, names)) for statement in fitted.statements())),
            None if conclusion is None else conclusion.substitute(names),
            question,
            {story: source for source, story in names.items()},
            tuple(map(str, fitted.repairs)),
            tuple(f"{name}: {why}" for name, why in fitted.left_out),
        )
    }


def _prose(data: Fields, key: str) -> str:
    """Return a text, or nothing where there is none; that there must be one is said when the problem is read."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def _conclusion(fitted: Fitted) -> Literal | None:
    """Return what the gold derivation ends in, where that is a modality of an action."""
    last = fitted.derivation[-1][1] if fitted.derivation else None
    unread = any(name == "Result" for name, _ in fitted.left_out)
    return None if unread or last is None or last.predicate not in MODALITIES else last


def _renamed(statement: Statement, names: Mapping[str, str]) -> Statement:
    if isinstance(statement, Literal):
        return statement.substitute(names)
    premises = tuple(premise.substitute(names) for premise in statement.premises)
    return Rule(premises, statement.conclusion.substitute(names))


def _one(data: Fields, sources: Mapping[_Key, _Source]) -> tuple[SourceFinding, Problem | None]:
    if "variant" not in data:
        problem = data.own("deontiqa")
        return SourceFinding(problem.id, True), problem
    question, id_ = data.get("question"), str(data.get("id"))
    if question is None:
        return SourceFinding(id_, False, ("no-source" if data.get("variant") == "orig" else "no-question",)), None
    source = sources.get(_key(data))
    problem = _problem(data, source)
    if source is None:
        return SourceFinding(id_, True, ("no-source",)), replace(
            problem, meta={**problem.meta, "defects": ["no-source"]}
        )
    finding = SourceFinding(id_, True, tuple(_defects(problem, source)), source.repairs, source.left_out)
    noted = {"names": dict(source.names), "repairs": list(finding.repairs), "left_out": list(finding.left_out)}
    return finding, replace(problem, meta={**problem.meta, **noted, "defects": list(finding.defects)})


def _problem(data: Fields, source: _Source | None) -> Problem:
    answer = data.get("answer")
    if not isinstance(answer, str) or answer not in _ANSWERS:
        raise RecordError(f"answer: {answer!r} is neither 'yes' nor 'no'")
    rules = data.get("rules")
    formal = None if source is None else _formal(str(data.get("question")), source)
    return read_problem(
        {
            "id": data.get("id"),
            "dataset": "deontiqa",
            "context": data.get("context") if rules is None else f"{data.get('context')}\nRules: {rules}",
            "question": data.get("question"),
            "answer": _ANSWERS[answer],
            "formal": None if formal is None else formal.record(),
            "meta": data.told(*_KEY, "variant"),
        }
    )


def _formal(question: str, source: _Source) -> Formal | None:
    """Return the source with the question's modality of the source's action as the goal."""
    asked = _asked(question)
    if asked is None or source.conclusion is None:
        return None
    goal = Literal(*asked, source.conclusion.arguments)
    return Formal((*source.axioms, *background("deontiqa").axioms), str(goal))


def _asked(question: str) -> tuple[bool, str] | None:
    """Return whether the question affirms, and which modality; None where it does not ask for one."""
    match = _ASKED.search(question)
    return None if match is None else (match["negation"] is None, match["modality"].lower())


def _defects(problem: Problem, source: _Source) -> Iterator[str]:
    if source.left_out:
        yield "left-out"
    if source.conclusion is None:
        yield "no-conclusion"
    elif not _asks_the_same(problem, source, source.conclusion):
        yield "other-question"
    if problem.formal is None:
        return
    known = theory(problem.formal)
    if known.clash is not None:
        yield "inconsistent"
    elif known.decided is None:
        yield "undecided"
    elif known.decided != problem.answer:
        yield "wrong-answer"


def _asks_the_same(problem: Problem, source: _Source, conclusion: Literal) -> bool:
    """Say whether the base's question is its gold conclusion, and a variant's is that but for the modality."""
    asked = _asked(problem.question)
    if problem.meta.get("variant") == "base":
        return asked == (conclusion.positive, conclusion.predicate)
    return asked is not None and _ASKED.sub("", problem.question) == _ASKED.sub("", source.question)


def _key(data: Fields) -> _Key:
    return tuple(data.get(key) for key in _KEY)


def _signature() -> SortedSignature:
    signature = background("deontiqa").signature
    assert signature is not None
    return signature


_SENTENCE_START = re.compile(r"(?:^|\s)\d+- ")
_LIST = re.compile(r"(?P<lead>[^:]+): (?P<items>[^:]+)\.")
_COMMA = re.compile(r",? and |, ")
_QUOTED = re.compile(r'"([^"]+)"')
_BEFORE_NAME = re.compile(r"\b(?:an?|the|Professor|Prof\.|Dr\.|Doctor|Manager|Patient|Paramedic|Nurse) ")
_SORTS = {
    "events": "event",
    "healthcare professionals": "healthcare-professional",
    "patients": "patient",
    "equipment": "equipment",
}
"""The sort of what a sentence lists, by words before the colon; what has none of them lists people."""
_EMPTY_WORDS = frozenset({"a", "event", "new", "of", "on", "the"})
"""Words of names that other objects share."""


def story_names(
    story: str, question: str, objects: Mapping[str, str], facts: Iterable[Literal], goal: Literal, taken: Iterable[str]
) -> dict[str, str]:
    """Return the story's name for each object that has one; empty where the story is not plainly in order.

    `objects` are the source's names with their sorts; `taken` are symbols that no object may be called.
    """
    sentences = [part for part in _SENTENCE_START.split(story) if part]
    names = {**_listed(sentences, objects), **_quoted(sentences, objects)}
    if len(set(names.values()) - set(taken)) < len(names) or not all(map(_is_name, names.values())):
        return {}
    told = [any(_mentions(text, fact, names) for text in sentences) for fact in facts]
    return names if 2 * sum(told) > len(told) and _mentions(question, goal, names) else {}


def _listed(sentences: list[str], objects: Mapping[str, str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for match in filter(None, map(_LIST.fullmatch, sentences)):
        sort = next((sort for words, sort in _SORTS.items() if words in match["lead"]), "person")
        members = [name for name, its in objects.items() if its == sort]
        items = _COMMA.split(match["items"])
        if len(items) == len(members):
            names.update(zip(members, map(_symbol, items), strict=True))
    return names


def _quoted(sentences: list[str], objects: Mapping[str, str]) -> dict[str, str]:
    """Groups are introduced one by one, in quotes."""
    groups = [name for name, sort in objects.items() if sort == "group"]
    quoted = list(dict.fromkeys(name for text in sentences for name in _QUOTED.findall(text)))
    return dict(zip(groups, map(_symbol, quoted), strict=True)) if len(groups) == len(quoted) else {}


def _symbol(item: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", _BEFORE_NAME.sub("", item).lower()).strip("-")


def _is_name(symbol: str) -> bool:
    return NAME.fullmatch(symbol) is not None and len(symbol) <= MAX_NAME_LENGTH and symbol not in RESERVED_NAMES


def _mentions(text: str, literal: Literal, names: Mapping[str, str]) -> bool:
    """Say whether a word of each renamed object's name is in the text."""
    words = set(_symbol(text).split("-"))
    renamed = [names[term] for term in subterms(literal) if isinstance(term, str) and term in names]
    return not any(words.isdisjoint(set(name.split("-")) - _EMPTY_WORDS) for name in renamed)
