"""Prompt of the actor in the actor-critic dialog: the task, how tests are written, how errors are mended, examples.

The words are in `instructions.yaml`, `guidelines.yaml` and `examples.yaml`. Sections can be left out, because the
paper's tables (LLM-ARC) compare actors with and without tests and guidelines; a trained actor reads no examples.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from critics.problem import Problem
from rollout.prompts.style import numbered_sentences
from rollout.published.logic_forms import LogicClass
from rollout.records.steps import DialogReview
from rollout.settings import DialogSettings

WrittenTest = TypedDict(
    "WrittenTest",
    {
        "Facts": list[str],
        "infer-All": list[str],
        "infer-Any": list[str],
        "do-not-infer": list[str],
        "expect-contradiction": bool,
        "Rules": list[str],
        "Explanation": str,
    },
    total=False,
)
"""A test as an actor writes it: facts, what must or must not follow from them, and which rules it is about."""


@dataclass(frozen=True, slots=True)
class SolvedReply:
    """A problem and a reply that is certified for it."""

    classes: tuple[LogicClass, ...]
    premises: tuple[str, ...]
    question: str
    answer: str
    model: str
    tests: tuple[WrittenTest, ...]
    query: tuple[str, ...]

    def problem(self) -> Problem:
        """Return the problem, with its answer."""
        meta = {"num_premises": len(self.premises), "logic_classes": list(self.classes)}
        return Problem("example", "folio", "\n".join(self.premises), self.question, None, self.answer, meta=meta)

    def reply(self, *, tests: bool = True) -> str:
        """Return the solution as the actor is to write it."""
        parts = {"Model": _lines(self.model.splitlines()), "Tests": _lines(self.tests) if tests else ""}
        parts["Query"] = json.dumps(list(self.query), ensure_ascii=False)
        return "{" + ",\n ".join(f'"{key}": {value}' for key, value in parts.items() if value) + "}"


def _lines(values: Sequence[object]) -> str:
    return "[\n  " + ",\n  ".join(json.dumps(value, ensure_ascii=False) for value in values) + "]"


@dataclass(frozen=True, slots=True)
class Guideline:
    """Advice on testing statements of one logical form, and a statement with its tests (figure 4 of the paper)."""

    form: str
    """A logic class, or `both-ways` for what works in both directions."""
    what: str
    statement: str
    rules: tuple[str, ...]
    """Its rules, which the prompt leaves out."""
    tests: tuple[WrittenTest, ...]

    def shown(self) -> str:
        """Return what the actor reads."""
        tests = (f"  - {json.dumps(test)}" for test in self.tests)
        return "\n".join([f"- {self.form.replace('-', ' ')}: {self.what}", f"  Statement: {self.statement}", *tests])


@dataclass(frozen=True, slots=True)
class Correction:
    """A reply that the critic faults, what it says, and the reply mended."""

    kind: Literal["compile", "tests"]
    title: str
    told: str
    why: str
    model: tuple[str, ...]
    tests: tuple[WrittenTest, ...]
    mended_model: tuple[str, ...]
    mended_tests: tuple[WrittenTest, ...]

    def shown(self) -> str:
        """Return what the actor reads."""
        before, after = (
            "\n".join([*model, *(f"Test: {json.dumps(test)}" for test in tests)])
            for model, tests in ((self.model, self.tests), (self.mended_model, self.mended_tests))
        )
        return f"### {self.title}\n{before}\nThe critic: {self.told}\n{self.why}\nMended:\n{after}"


@lru_cache
def _written(name: str) -> Any:
    return yaml.safe_load(Path(__file__).with_name(f"{name}.yaml").read_text(encoding="utf-8"))


@lru_cache
def guidelines() -> tuple[Guideline, ...]:
    """Return how tests are written for each logic class, and for what works in both directions."""
    return TypeAdapter(tuple[Guideline, ...]).validate_python(_written("guidelines")["guidelines"])


@lru_cache
def corrections() -> tuple[Correction, ...]:
    """Return worked corrections: of an error in compiling, of a test that is wrong, and of one that is right."""
    return TypeAdapter(tuple[Correction, ...]).validate_python(_written("guidelines")["corrections"])


@lru_cache
def solved_examples() -> tuple[SolvedReply, ...]:
    """Return all twenty: the first eight show one main logic class each, all of them cover the nine."""
    return TypeAdapter(tuple[SolvedReply, ...]).validate_python(_written("examples"))


def system_text(settings: DialogSettings) -> str:
    """Return the instructions, examples included; empty where the actor reads none."""
    if not settings.instructions:
        return ""
    said = _written("instructions")
    keys = ", ".join(text for key, text in said["keys"].items() if key != "Tests" or settings.tests)
    sections = [said[name] for name in ("task", "program", "background", "query")]
    if settings.tests:
        sections.append(said["tests"])
    if settings.tests and settings.guidelines:
        sections.append("\n".join(["## Tests by logical form", *(each.shown() for each in guidelines())]))
    sections.append(said["errors"].format(**said["with_tests" if settings.tests else "without_tests"]))
    sections += [each.shown() for each in corrections() if settings.tests or each.kind == "compile"]
    if settings.portion_size:
        sections.append(said["incremental"].format(so_far=_so_far(tests=settings.tests)))
    sections.append(said["output"].format(keys=keys))
    if settings.examples:
        sections.append("## Examples")
    for number, example in enumerate(solved_examples()[: settings.examples], 1):
        sections.append(f"### Example {number}\n{opening(example.problem())}\n\n{example.reply(tests=settings.tests)}")
    return "\n\n".join(sections)


def _so_far(*, tests: bool) -> str:
    return "the program and the tests so far" if tests else "the program so far"


def statements(problem: Problem) -> list[str]:
    """Return the problem's statements: its lines where there are as many as `meta.num_premises`, else its sentences."""
    lines = [line.strip() for line in problem.context.splitlines() if line.strip()]
    if len(lines) == problem.meta.get("num_premises"):
        return lines
    return [sentence.partition("- ")[2] for sentence in numbered_sentences(problem.context)]


def opening(problem: Problem) -> str:
    """Return the request for a whole problem. The gold answer and the options are none of the actor's business."""
    return portion(statements(problem), 1, query=problem.question)


def portion(
    listed: Sequence[str], start: int, *, query: str | None = None, so_far: str | None = None, tests: bool = True
) -> str:
    """Return the request for some statements, the first of which has the number `start`.

    `query` is asked with the last portion only; `so_far` is the reply that the portions before came to, with `tests`.
    """
    begun = _so_far(tests=tests)
    parts = [] if so_far is None else [f"T{begun[1:]}:\n{so_far}\n\nThe next statements:"]
    parts += [f"R{number}: {statement}" for number, statement in enumerate(listed, start)]
    return "\n".join([*parts, *(() if query is None else (f"Query: {query}",))])


def feedback_text(review: DialogReview) -> str:
    """Return what the actor is told about a reply that is not clean."""
    heading = _written("instructions")["headings"][review.kind]
    return f"{heading}\n{review.told}\nReply with the whole JSON object again."


def refusal_text(before: DialogReview, review: DialogReview) -> str:
    """Return what the actor is told where its reply, now under `review`, mends nothing of what was wrong `before`."""
    if review.kind == "clean":
        begun = f"Your last reply leaves {before.part} out, and what is left out is not mended. Put it back"
        return f"{begun}, and then change it or what makes it fail.\n{feedback_text(before)}"
    named = review.part or "the reply"
    return (
        f"Your last reply leaves {named} as it was, and all else that matters. Something has to change: {named}, or "
        f"whatever else makes it wrong, written anew and not left out.\n{feedback_text(review)}"
    )
