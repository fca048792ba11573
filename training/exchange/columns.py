"""Columns of other people's tables: which is the question, which the rationale, and how their values are read.

A value that cannot be read is an error, and never counts as missing: without its gold answer a wrong rationale could be
certified.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from critics.errors import InputError
from critics.problem import Problem
from critics.replay.answers import FREE, free_answer, free_answers
from critics.replay.certificate import is_list, is_object
from critics.text.answer_reader import read_answer
from critics.text.blocks import answer_of
from training.configuration.section import nearest
from training.records.tables import GOLD

Values: TypeAlias = Mapping[str, Any]
"""Values of a row by their columns."""
PARTS = ("id", "context", "question", "options", "answer", "rationale", "conclusion", "axioms")
"""Parts that a column can be. `answer` is the gold answer; `conclusion` is what a text without an answer line answers,
or, without a question, a statement that the gold answer calls true or false; `axioms` is declared knowledge."""
_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "id": ("id",),
    "context": ("context", "facts", "premises", "theory", "passage", "story"),
    "question": ("question", "problem", "query", "ask"),
    "options": ("options", "choices"),
    "answer": GOLD,
    "rationale": (
        *["rationale", "completion", "reasoning", "chain_of_thought", "cot", "explanation", "solution", "why"],
        *("response", "output", "generation", "model_output", "chosen"),
    ),
    "conclusion": ("conclusion",),
    "axioms": ("axioms",),
}
"""Names of columns by which a part is known where `--columns` says nothing."""
NO_COLUMN = "-"
"""Name in `--columns` for a part that no column is, whatever the columns are called."""
KIND = "*"
"""Key in answers' meanings for the kind of free answers: number or text."""
SYSTEM = "system"
"""Name in `--columns` for what a system prompt says: `system=-` leaves it out."""


@dataclass(frozen=True, slots=True)
class Export:
    """Shape that a tool writes: its name, the columns that it is known by, and the columns of its parts."""

    name: str
    known_by: tuple[str, ...]
    parts: Mapping[str, str]
    note: str = ""

    def fits(self, known: Sequence[str], named: Mapping[str, str], first: Values) -> bool:
        """Say whether rows have this shape, and no column that is named is in the place of all of it."""
        if not set(known).issuperset(self.known_by) or "question" in named:
            return False
        own = self.parts["rationale"]
        is_chat = isinstance(first.get(named.get("rationale", own)), list) or (
            own in CHATS and "rationale" not in named
        )
        return "question" in self.parts or is_chat


_CHOSEN = "; the chosen texts are judged (--columns rationale=rejected: the others)"
EXPORTS = (
    Export("chat messages", ("messages",), {"rationale": "messages"}),
    Export("ShareGPT conversations", ("conversations",), {"rationale": "conversations"}),
    Export("ShareGPT conversations", ("conversation",), {"rationale": "conversation"}),
    Export("preferences", ("prompt", "chosen", "rejected"), {"question": "prompt", "rationale": "chosen"}, _CHOSEN),
    Export("preferences", ("chosen", "rejected"), {"rationale": "chosen"}, _CHOSEN),
    Export("prompts and completions", ("prompt", "completion"), {"question": "prompt", "rationale": "completion"}),
    Export("prompts and steps", ("prompt", "completions"), {"question": "prompt", "rationale": "completions"}),
    Export(
        *("Alpaca instructions", ("instruction", "output")),
        {"question": "instruction", "rationale": "output", "context": "input"},
    ),
)
"""Shapes of exports, the first that fits; other rows are a table."""
CHATS = ("messages", "conversations", "conversation")
_OF_ROLLOUTS = ("reward", "rewards", "advantage", "advantages", "metrics", "step")
"""Columns that verifiers and TRL write beside their samples."""
_NAMES = (
    "context|facts|premises|theory|passage|story|question|query|statement|hypothesis|claim|"
    "options|choices|answer|reasoning|solution|proof|rationale"
)
LABEL = re.compile(
    rf"^[ \t]*(?:#+ |\*\*)?(?P<name>{_NAMES})(?:\*\*)?[ \t]*:(?:\*\*)?|^[ \t]*#+[ \t]*(?P<heading>{_NAMES})[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""Pattern of a heading within a prompt."""
_ANSWERS = ("true", "false", "unknown", "uncertain")
ABSENT = object()
"""In place of a context that no column holds; an empty cell is None, and a row with one cannot be read."""


@dataclass(frozen=True, slots=True)
class Parts:
    """Parts of a row as its table has them, before anything is read; None where there is nothing."""

    id: object = None
    context: object = ABSENT
    question: object = None
    options: object = None
    answer: object = None
    rationale: object = None
    conclusion: object = None
    axioms: object = None
    taken: tuple[str, ...] = field(default=(), kw_only=True)
    """Sentences that were left out, because they state nothing."""

    @property
    def told(self) -> str:
        """The context as text; empty where there is none."""
        return "" if self.context is ABSENT or self.context is None else str(self.context)

    def cut(self, other: "Parts") -> "Parts":
        """Return these parts with those that were cut out of one of them in their places."""
        found = {name: value for name in PARTS if (value := getattr(other, name)) is not None and value is not ABSENT}
        return replace(self, **found, taken=other.taken)


class RowError(ValueError):
    """A row cannot be read; `reason` is machine-readable."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RationaleRow:
    """One row: a problem, and what somebody wrote about it."""

    problem: Problem
    text: str
    """Ends in the line `Answer: ..`, which stood there or comes from the column `conclusion`."""
    taken: tuple[str, ...] = ()
    """Sentences of the prompt that were left out."""
    changed: tuple[str, ...] = ()
    """Names of what was taken out of the text: thoughts, tags and boxes."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of a file's rows: its name for people, and the columns of its parts."""

    name: str
    columns: Mapping[str, str]
    note: str = ""
    has_system: bool = True
    """False if what system prompts say is left out."""

    def told(self) -> str:
        """Say which column was taken for what."""
        parts = ", ".join(f"{part}={column}" for part, column in self.columns.items())
        gold = "" if "answer" in self.columns else "; no gold answers, so that a proof of any answer is certified"
        return f"read as {self.name}: {parts}{self.note}{gold}"


def read_pairs(option: str, given: Sequence[str] | None, example: str) -> dict[str, str]:
    """Read what an option says by `NAME=VALUE,..`, names in small letters; raises `InputError`."""
    pairs: dict[str, str] = {}
    for pair in (part.strip() for text in given or () for part in text.split(",")):
        name, _, value = (word.strip() for word in pair.partition("="))
        if not name or not value:
            raise InputError(f"{option} {pair!r}: write {example}")
        pairs[name.lower()] = value
    return pairs


def read_columns(given: Sequence[str] | None) -> dict[str, str]:
    """Read `question=q,rationale=why`; raises `InputError`."""
    return read_pairs("--columns", given, "PART=COLUMN, such as question=problem,rationale=solution")


def read_answers(given: Sequence[str] | None) -> dict[str, str]:
    """Read `1=true,0=false`: what a table's own words for answers mean; raises `InputError`.

    `number` or `text` alone says that answers are free, and comes back as what `KIND` means.
    """
    if given and len(given) == 1 and given[0] in FREE:
        return {KIND: given[0]}
    return read_pairs("--answers", given, "number, text, or WORD=ANSWER, such as 1=true,0=false")


def shape_of(
    known: Sequence[str],
    named: Mapping[str, str],
    source: object,
    first: Values,
    needed: Sequence[str] = ("question", "rationale"),
) -> Shape:
    """Return the shape of rows with the columns `known`, as `named` (`--columns`) or the columns' names have it.

    Raises `InputError` where a part is none, a column that is named is not there, where two columns may be a part, or
    where one that is `needed` is nowhere.
    """
    for part, column in named.items():
        if part not in (*PARTS, SYSTEM):
            raise InputError(f"--columns {part}={column}: unknown part {part!r}; {nearest(part, PARTS)}")
        for each in column.split("+") if part == "options" else (column,):
            if each not in (*known, NO_COLUMN):
                raise InputError(f"{source}: there is no column {each!r} ({part}); {nearest(each, list(known))}")
    has_system, named = SYSTEM not in named, {part: column for part, column in named.items() if part != SYSTEM}
    export = next((each for each in EXPORTS if "rationale" in needed and each.fits(known, named, first)), None)
    if export is None:
        return Shape("a table", _of_table(named, known, source, first, needed), has_system=has_system)
    if len(chats := [name for name in CHATS if name in known]) > 1:
        raise InputError(f"{source}: {' and '.join(chats)} may both be the conversation; take one out")
    of_rollout = ", ".join(name for name in _OF_ROLLOUTS if name in known)
    name = export.name + (f" of rollouts (with {of_rollout})" if of_rollout and "prompt" in known else "")
    taken = {part: column for part, column in export.parts.items() if column in known}
    beside = {
        part: column
        for part in ("id", "answer", "options", "axioms")
        if (column := _named(part, known, source, named, first))
    }
    columns = {part: column for part, column in {**beside, **taken, **named}.items() if column != NO_COLUMN}
    return Shape(name, columns, export.note, has_system)


def _of_table(
    named: Mapping[str, str], known: Sequence[str], source: object, first: Values, needed: Sequence[str]
) -> Mapping[str, str]:
    of_text = () if "rationale" in needed else ("rationale", "conclusion")
    wanted = [part for part in PARTS if part in named or part not in of_text]
    found = {part: column for part in wanted if (column := _named(part, known, source, named, first))}
    gold = first.get(found.get("answer", ""))
    if "rationale" in needed and "rationale" not in found and isinstance(gold, str) and len(gold.split()) > 8:
        found["rationale"] = found.pop("answer")  # GSM8K calls it so
    if "question" in needed and "question" not in found and "conclusion" not in named:
        # FOLIO asks whether a conclusion is true or false. Without such an answer it may be what the text concludes,
        # about a question that is not there.
        column, label = (_named(part, known, source, named, first) for part in ("conclusion", "answer"))
        said = None if column is None else first.get(column)
        is_statement = isinstance(said, str) and len(said.split()) > 2 and not LABEL.search(said)
        if column is not None and is_statement and str(first.get(label or "")).strip().lower() in _ANSWERS:
            found = {"question": column, **{part: other for part, other in found.items() if other != column}}
    if lacking := next((part for part in needed if part not in found), None):
        shown = ", ".join(map(repr, known)) or "none"
        told = f"no column is known to be the {lacking}; say which by --columns {lacking}=NAME (there are {shown})"
        raise InputError(f"{source}: {told}")
    return found


def _named(part: str, known: Sequence[str], source: object, named: Mapping[str, str], first: Values) -> str | None:
    """Return the column of a part, as it is given or by its name; raises `InputError` where two may be it."""
    if part in named:
        return None if named[part] == NO_COLUMN else named[part]
    by_name = {name.lower().replace(" ", "_"): name for name in known}
    found = [c for each in _SPELLINGS[part] if (c := by_name.get(each)) is not None and c not in named.values()]
    if len(found) > 1:
        # Attack: a gold rationale beside what a model wrote, and the one judged in the place of the other.
        told = f"{' and '.join(map(repr, found))} may each be the {part}; say which by --columns {part}={found[0]}"
        raise InputError(f"{source}: {told}")
    if part == "options" and not found:
        return next((c for c in known if c.lower() in _LISTS and isinstance(first.get(c), list)), _several(known))
    return found[0] if found else None


_LISTS = ("answers", "endings", "candidates")
"""Columns of options if they hold lists."""
_ONE_OPTION = re.compile(r"(?P<of>(?:option|choice|opt?|ending|answer|ans)?[ _]?)(?P<place>[a-h]|\d)", re.IGNORECASE)


def _several(known: Sequence[str]) -> str | None:
    """Return columns that hold an option each, joined by `+`: `A+B+C+D`, `option_1+option_2`; None without any."""
    found: dict[str, list[str]] = {}
    for name in known:
        if (match := _ONE_OPTION.fullmatch(name)) is not None and (match["of"] or name.isupper()):
            listed = found.setdefault(match["of"].lower(), [])
            if match["place"].lower() in ("a01" if not listed else chr(ord(listed[-1][-1].lower()) + 1)):
                listed.append(name)
    return next(("+".join(listed) for listed in found.values() if len(listed) > 1), None)


def free_kind(rows: Sequence[Values], shape: Shape, texts: Callable[[str], bool]) -> str | None:
    """Return the kind of a table's free answers, as its gold answers or else its `texts` show: numbers, or none."""
    column, rationale = (shape.columns.get(part) for part in ("answer", "rationale"))
    if "options" in shape.columns:
        return None
    gold = [value for row in rows if column and (value := row.get(column)) not in (None, "")]
    shown = [str(row.get(str(rationale))) for row in rows[:50]]
    computes = 2 * sum(map(texts, shown)) > len(shown)
    are_numbers = not gold or None not in {
        (free_answers(told := str(each), "number") or [free_answer(told, "number")])[0] for each in gold
    }
    return "number" if computes and are_numbers else None


def numbered(rows: Sequence[Values], shape: Shape) -> Mapping[str, str]:
    """Return what gold answers that number the options mean: from 0 if one is 0, from 1 if one is their number."""
    column, options = (shape.columns.get(part) for part in ("answer", "options"))
    gold = {str(row[column]).strip() for row in rows if column and row.get(column) not in (None, "")}
    if not column or not options or not gold or not all(len(each) == 1 and each.isdigit() for each in gold):
        return {}
    first = rows[0].get(options)
    size = len(cast("list[object]", first)) if isinstance(first, list) else len(options.split("+"))
    start = 0 if "0" in gold else 1 if str(size) in gold else None
    return {} if start is None else {str(start + place): chr(ord("A") + place) for place in range(size)}


def read_rationale(parts: Parts, *, name: str, dataset: str, answers: Mapping[str, str] | None = None) -> RationaleRow:
    """Read one row's parts as the problem `name` and a text about it. Raises `RowError`."""
    problem, text = read_asked(parts, name=name, dataset=dataset, answers=answers), _text(parts.rationale, "rationale")
    if parts.conclusion is None:
        return RationaleRow(problem, text, parts.taken)
    given = _plain(parts.conclusion)
    meant = (answers or {}).get(given.lower(), given)
    own, said = read_answer(text, problem), answer_of(meant.lower(), problem)
    if said is None:
        told = f"the conclusion {_shown(parts.conclusion)} is none that the problem can have"
        raise RowError("conclusion_unreadable", told)
    if own is not None and own != said:
        raise RowError("two_answers", f"the text answers {own} and its conclusion {said}")
    text = text if own is not None else f"{text.rstrip()}\nAnswer: {meant}"
    return RationaleRow(problem, text, parts.taken)


def read_asked(parts: Parts, *, name: str, dataset: str, answers: Mapping[str, str] | None = None) -> Problem:
    """Read one row's problem; `answers` says what other words for its gold answer mean. Raises `RowError`."""
    context = "" if parts.context is ABSENT else _text(parts.context, "context")
    kind = (answers or {}).get(KIND)
    meta = {"answers": kind} if kind is not None and parts.options is None else {}
    problem = Problem(name, dataset, context, _text(parts.question, "question"), _options(parts.options), meta=meta)
    if parts.axioms:
        told: Any = parts.axioms
        axioms = list(map(str, told)) if is_list(told) else [str(told)]
        problem = replace(problem, meta={**meta, "axioms": axioms})
    if parts.answer is None:
        return problem
    if meta and len(set(given := free_answers(str(parts.answer), str(kind)))) == 1:  # GSM8K's `#### 72`
        return replace(problem, answer=given[0])
    told = _plain(parts.answer).lower()
    answer = answer_of(_plain((answers or {}).get(told, parts.answer)).lower(), problem)
    if answer is None and len(told) > 60:
        why = f"the answer {_shown(parts.answer)} is a text: if it is the reasoning, say so by --columns rationale=NAME"
        raise RowError("answer_unreadable", f"{why}; gold answers are true, false, unknown or options")
    if answer is None:
        raise RowError(
            "answer_unreadable",
            f"the answer {_shown(parts.answer)} is none that the problem can have; say what it means, as by --answers "
            f"{_shown(told).strip(chr(39))}={'A' if problem.options else 'true'}, or what the options are, as by "
            "--columns options=A+B+C+D, or that it is none by --columns answer=-",
        )
    return replace(problem, answer=answer)


def _options(value: object) -> tuple[str, ...] | None:
    """Read options: a list of texts, such a list as JSON, or `{"label": [..], "text": [..]}`."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise RowError("options_unreadable", "the options are a text that is no JSON list") from error
    if is_object(value):
        value = value.get("text")
    if not (texts := _texts(value)):
        raise RowError("options_unreadable", "the options are no list of texts")
    return tuple(texts)


def _texts(value: object) -> list[str] | None:
    """Return a list of texts; None for anything else."""
    listed = cast("list[object]", value) if isinstance(value, list) else [value]
    texts = [one for one in listed if isinstance(one, str)]
    return texts if isinstance(value, list) and len(texts) == len(listed) else None


def _text(value: object, part: str) -> str:
    """Return a text; sentences in a list become lines."""
    if (lines := _texts(value)) is not None:
        value = "\n".join(lines)
    if not isinstance(value, str) or not value.strip():
        raise RowError(f"no_{part}", f"the {part} is no text, or an empty one")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        # Half a surrogate pair, which JSON can spell, or a byte of a table that is no UTF-8.
        told = f"the {part} is no Unicode text (at character {error.start}); save the file as UTF-8, or give --encoding"
        raise RowError("not_unicode", told) from error
    return value


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else _plain(value)
    return text if len(text) <= 40 else f"{text[:37]}.."


def _plain(value: object) -> str:
    """Return a cell as text on one line: tables have true and false as booleans."""
    try:
        return str(value).lower() if isinstance(value, bool) else " ".join(str(value).split())
    except ValueError:  # more digits than Python prints
        return "a number of thousands of digits"
