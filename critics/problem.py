"""Problems and attempts: what a critic is given, and how both are read from JSON lines.

A `Problem` is a question of a data set; an `Attempt` is one answer to it in one format. Critics ignore an attempt's
unknown keys: its trace carries much else.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from critics import registry
from critics.errors import InputError
from critics.replay.answers import free_answer, kind_of
from critics.replay.certificate import Formal, ProblemText, is_list, is_object

TRUTH_VALUES = ("true", "false", "unknown")
SETTLED = "conventions"
"""Key of a problem's `meta` that names the data set whose conventions its readings have."""
AXIOMS = "axioms"
"""Key of a problem's `meta` with declared knowledge: sentences that the context leaves unsaid."""


class RecordError(InputError):
    """A record lacks a key or has a value of the wrong shape; the message names the key."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One question over one context (design, Files on disk)."""

    id: str
    dataset: str
    context: str
    question: str
    options: tuple[str, ...] | None = None
    answer: str | None = None
    """An option's letter where there are options, else true, false or unknown; None if not known.

    With `meta.answers` a number, as a fraction in lowest terms, or a text in small letters.
    """
    formal: Formal | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def record(self) -> dict[str, Any]:
        """Return the JSON form, keys in the order of the design."""
        text = self.text(self.formal).record()
        return {"id": self.id, "dataset": self.dataset, **text, "meta": dict(self.meta)}

    def text(self, formal: Formal | None) -> ProblemText:
        """Return what it says, with `formal` as its formalisation."""
        return ProblemText(self.context, self.question, self.options, self.answer, formal)


@dataclass(frozen=True, slots=True)
class Attempt:
    """Text that a policy wrote about one problem, in one format."""

    id: str
    problem: Problem
    format: str
    completion: str

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        problem = self.problem.record()
        return {"id": self.id, "problem": problem, "format": self.format, "completion": self.completion}


def read_problem(record: object) -> Problem:
    """Build a `Problem` from its JSON form; raises `RecordError` naming the key."""
    data = object_of(record, "problem")
    id_, dataset = text_of(data, "id", "problem"), text_of(data, "dataset", "problem")
    text = read_problem_text(data, "problem")
    options, answer = text.options, text.answer
    if options is not None:
        letters = [chr(ord("A") + i) for i in range(len(options))]
        for letter, said in zip(letters, (option.strip().upper() for option in options), strict=True):
            if said in letters and said != letter:
                # Attack: `B` of Tom, Ann and B.
                raise RecordError(f"problem.options: {said!r} says option {letter} and is the letter of another")
        if answer is not None and answer not in letters:
            raise RecordError(f"problem.answer: {answer!r} is not one of the option letters {letters}")
    meta = dict(object_of(data.get("meta") or {}, "problem.meta"))
    if (kind := kind_of(options, meta)) is not None and answer is not None:
        given, answer = answer, free_answer(answer, kind)
        if answer is None:
            raise RecordError(f"problem.answer: {given!r} is no {kind}, which meta.answers promises")
    elif options is None and answer is not None and answer not in TRUTH_VALUES:
        free = "a free answer needs meta.answers: number or text"
        raise RecordError(f"problem.answer: {answer!r} is not one of {list(TRUTH_VALUES)}; {free}")
    return Problem(id_, dataset, text.context, text.question, options, answer, text.formal, meta)


def read_problem_text(record: object, name: str) -> ProblemText:
    """Build a `ProblemText` from the JSON form of what is called `name`; raises `RecordError` naming the key."""
    data = object_of(record, name)
    options = data.get("options")
    if options is not None:
        options = tuple(_encodable(option, f"{name}.options") for option in texts_of(options, f"{name}.options"))
    return ProblemText(
        _encodable(text_of(data, "context", name), f"{name}.context"),
        _encodable(text_of(data, "question", name), f"{name}.question"),
        options,
        (None if data.get("answer") is None else text_of(data, "answer", name)),
        read_formal(data.get("formal")),
    )


def read_formal(record: object) -> Formal | None:
    """Build a `Formal` from its JSON form; None stays None."""
    if record is None:
        return None
    data = object_of(record, "problem.formal")
    axioms = texts_of(data.get("axioms"), "problem.formal.axioms")
    return Formal(axioms, text_of(data, "goal", "problem.formal"))


def read_attempt(record: object) -> Attempt:
    """Build an `Attempt` from an attempt or a trace; a dialog's completion is its last assistant turn."""
    data = object_of(record, "attempt")
    problem = read_problem(data.get("problem"))
    format_ = text_of(data, "format", "attempt")
    if format_ not in registry.formats() and format_ not in registry.names("critics"):
        raise RecordError(f"format: {format_!r} is not one of {list(registry.all_formats())}")
    return Attempt(text_of(data, "id", "attempt"), problem, format_, _completion(data))


def _completion(data: Mapping[str, object]) -> str:
    if data.get("completion") is not None:
        return text_of(data, "completion", "attempt")
    messages = data.get("messages")
    if not is_list(messages):
        raise RecordError("attempt: neither 'completion' (text) nor 'messages' (list) is there")
    turns = [message for message in messages if is_object(message) and message.get("role") == "assistant"]
    if not turns:
        raise RecordError("attempt.messages: there is no message whose role is 'assistant'")
    return text_of(turns[-1], "content", "attempt.messages[-1]")


def object_of(value: object, name: str) -> Mapping[str, object]:
    """Return a value that must be an object; raises `RecordError` naming it."""
    if not is_object(value):
        raise RecordError(f"{name}: an object is needed, not {_shown(value)}")
    return value


def text_of(data: Mapping[str, object], key: str, owner: str) -> str:
    """Return the text under a key; raises `RecordError` naming owner and key."""
    value = data.get(key)
    if not isinstance(value, str):
        problem = "is missing" if key not in data else f"must be text, not {_shown(value)}"
        raise RecordError(f"{owner}.{key} {problem}")
    return value


def _encodable(text: str, name: str) -> str:
    """Refuse half a surrogate pair, which JSON can spell and a certificate's UTF-8 cannot."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RecordError(f"{name} is not Unicode text: {error.reason} at {error.start}") from error
    return text


def texts_of(value: object, name: str) -> tuple[str, ...]:
    """Return a value that must be a list of texts; raises `RecordError` naming it."""
    if not is_list(value) or not all(isinstance(item, str) for item in value):
        raise RecordError(f"{name}: a list of texts is needed, not {_shown(value)}")
    return tuple(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
