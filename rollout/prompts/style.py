"""Style of prompts, and a user's own prompt in the place of the project's: one YAML file with texts and examples.

The papers' prompts belong to their authors and are not in this repository. A user with the right to one writes it into
such a file, with its licence, and the file's digest goes into every trace. Problems that its examples show are not
held out.

    licence: MIT, https://example.org/prompts
    guided:
      system: You solve logic problems in a fixed format. ..
      question: "Context: {numbered}\\nQuestion: {question}{options}\\n"
      examples:
        - asked: "Context: 1- .."
          solved: "Formalized context: 1- .."
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from critics.errors import InputError
from critics.formats.names import GUIDED, Prompted
from critics.problem import Problem

Spoken = Literal["quoted", "conclusions"]
"""quoted: each step after the sentences of the context that it rests on, which a small model can copy. conclusions:
the steps alone."""

FORMATS: tuple[Prompted, ...] = get_args(Prompted)
_QUESTION = "Context: {numbered}\nQuestion: {question}{options}\n"
_WORD = re.compile(r"\w+")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False)


class ShownExample(_Part):
    """A solved example: the user's turn and the assistant's."""

    asked: str
    solved: str


class OwnPrompt(_Part):
    """The prompt of one format."""

    system: str = ""
    question: str = _QUESTION
    """Template: `{context}` or `{numbered}` sentences, `{question}` and `{options}` stand for its parts."""
    examples: tuple[ShownExample, ...] = ()

    @field_validator("question")
    @classmethod
    def _asks(cls, question: str) -> str:
        if "{question}" not in question or not ("{context}" in question or "{numbered}" in question):
            raise ValueError("needs {question}, and {context} or {numbered}")
        return question

    def ask(self, problem: Problem, sentences: Iterable[str]) -> str:
        """Return a problem as this prompt puts it."""
        parts = {"context": problem.context, "numbered": " ".join(sentences), "question": problem.question}
        parts["options"] = "".join(f"\n{option}" for option in problem.options or ())
        # In one pass: braces of a problem's own text are no place of the template.
        return re.sub(r"\{(context|numbered|question|options)\}", lambda found: parts[found[1]], self.question)

    def shows(self, problem: Problem) -> bool:
        """Say whether an example has the problem's question and its context, however spaced and numbered."""
        question, context = _words(problem.question), _words(problem.context)
        asked = [_words(example.asked) for example in self.examples]
        return bool(question and context) and any(question in words and context in words for words in asked)


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """Style in which problems are put to a policy."""

    kind: Literal["bare", "few-shot", "chat"] = "bare"
    """bare: the problem alone, for models trained on the format; few-shot: rules and solved examples as text;
    chat: the same as turns of the tokenizer's chat template."""
    examples: int | None = None
    """Solved examples before the problem; None: as many as the paper shows (`solved_examples`)."""
    format: Prompted = GUIDED
    """answer: the answer alone, without a word before it."""
    thinking: bool | None = None
    """True: a chat template opens a reasoning model's thoughts; False: it forgoes them; None: as it does of itself."""
    own: OwnPrompt | None = None
    """A user's prompt in the place of the rules, the question and the solved examples."""


class PromptFile(_Part):
    """A file of prompts by format, with the licence under which its user has them."""

    licence: str = Field(min_length=1)
    guided: OwnPrompt | None = None
    cot: OwnPrompt | None = None
    answer: OwnPrompt | None = None
    digest: str = ""
    """SHA-256 of the file; found out, and never written in it."""

    def of(self, format_: str) -> OwnPrompt | None:
        """Return the prompt of a format; None where the project's own is to be used."""
        return getattr(self, format_) if format_ in FORMATS else None

    def shows(self, problem: Problem) -> bool:
        """Say whether any example shows the problem."""
        return any(own.shows(problem) for own in (self.guided, self.cot, self.answer) if own is not None)


def _words(text: str) -> str:
    """Return the words of a text without the numbers before its sentences."""
    return " ".join(word for word in _WORD.findall(text.lower()) if not word.isdigit())


@lru_cache(maxsize=8)
def read_prompt_file(path: Path) -> PromptFile:
    """Read a file of prompts; raises `InputError` that names it, the key and the remedy."""
    try:
        content = path.read_bytes()
        record = yaml.safe_load(content)
    except (OSError, yaml.YAMLError) as error:
        raise InputError(f"model.prompt_file: {path}: {' '.join(str(error).split())}") from error
    if not isinstance(record, dict) or "digest" in record or not any(name in record for name in FORMATS):
        raise InputError(f"model.prompt_file: {path}: needs `licence` and at least one of {', '.join(FORMATS)}")
    try:
        return PromptFile.model_validate({**record, "digest": hashlib.sha256(content).hexdigest()})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"model.prompt_file: {path}: {place}: {first['msg']}") from error


def numbered_sentences(context: str) -> list[str]:
    """Return the context's sentences as `1- Every cat is warm.`; numbers that stand there already stay."""
    sentences = [part.strip() for part in context.replace(". ", ".\n").splitlines() if part.strip()]
    return [s if s.split("-")[0].isdigit() else f"{i}- {s}" for i, s in enumerate(sentences, 1)]
