"""Exports of a dataset in the shapes that other trainers read; each row keeps its id and the digest of its certificate.

messages             TRL and most others: `messages` of role and content
prompt-completion    TRL with the loss on the completion alone: texts, or conversations where there are dialogs
sharegpt             LLaMA-Factory, axolotl: `conversations` of from and value
parquet              the columns id, prompt, completion (or messages) and certificate

Judged attempts are exported as their steps, for trainers of process reward models; a label is true where a critic read
the step and it holds, and nowhere else.

steps                every step with its label (`critics.formats.steps`), and the place of the first bad one
stepwise             TRL: `prompt`, `completions` and `labels`, as far as something is known: to the first step that is
                     bad, or up to the first one that nobody could check
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.formats.steps import LabelledStep, labelled
from critics.problem import Attempt
from critics.verdict import Verdict
from rollout.prompts.conversation import Message
from rollout.prompts.prompt import problem_text
from training.configuration.section import nearest
from training.lineage.kept import EXAMPLES
from training.records.store import read_records, write_chunks, write_new_records
from training.rewards.preferences import SHAPES as PREFERENCES

Row = dict[str, object]
STEP_SHAPES = ("steps", "stepwise")


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A text, its verdict, and the prompt that it answers; None where no prompt was kept."""

    attempt: Attempt
    verdict: Verdict
    prompt: str | None = None

    @property
    def steps(self) -> tuple[LabelledStep, ...]:
        """The steps with their labels; none where no critic reads texts of this format."""
        return () if self.verdict.coverage is None else labelled(self.verdict, self.attempt)


def step_row(text: JudgedText, shape: str) -> Row | None:
    """Return a text's row in one of the `STEP_SHAPES`; None where nothing is known of its steps."""
    steps, attempt, verdict = text.steps, text.attempt, text.verdict
    labels = [step.label for step in steps]
    asked = problem_text(attempt.problem)
    if shape == "steps":
        told = {"verdict": verdict.verdict, "reason": verdict.reason}
        first = labels.index("bad") if "bad" in labels else None
        about = {"id": attempt.id, "problem": attempt.problem.record(), "format": attempt.format}
        return {**about, **told, "first_bad_step": first, "steps": [asdict(s) for s in steps]} if steps else None
    known = labels.index("unknown") if "unknown" in labels else len(steps)
    shown = [step for step in steps[:known] if step.label != "after-bad"]
    completions = {"completions": [s.text for s in shown], "labels": [s.label == "good" for s in shown]}
    return {"id": attempt.id, "prompt": asked if text.prompt is None else text.prompt, **completions} if shown else None


_SHAREGPT = {"system": "system", "user": "human", "assistant": "gpt"}
SHAPES = ("messages", "prompt-completion", "sharegpt", "parquet")


@dataclass(frozen=True, slots=True)
class StoredExample:
    """One line: what is read and what is learnt, and the digest of its certificate."""

    id: str
    certificate: str | None
    turns: Sequence[Message]
    """The conversation; of a text, a request and its reply."""
    is_dialog: bool
    unread: Sequence[Sequence[int]] = ()
    """Stretches of a text that its critic could not read, which `loss_on: covered` passes over."""

    @property
    def prompt(self) -> str:
        """Return what a text is the reply to."""
        return self.turns[0]["content"]

    @property
    def completion(self) -> str:
        """The text that is learnt."""
        return self.turns[-1]["content"]


def read_example(record: Mapping[str, Any]) -> StoredExample:
    """Read the JSON form of an example; raises `InputError` where it is none."""
    name, certificate = str(record.get("id")), record.get("certificate")
    try:
        if "messages" in record and ("prompt" in record or "completion" in record):
            # Attack: a conversation that is proved beside a text that is not, and a trainer that reads the other one.
            raise InputError(f"example {name}: has messages and a prompt or completion; one text is trained on")
        if "messages" in record:
            turns = [{"role": turn["role"], "content": turn["content"]} for turn in record["messages"]]
            return StoredExample(name, certificate, turns, True)
        turns = [{"role": "user", "content": record["prompt"]}, {"role": "assistant", "content": record["completion"]}]
        return StoredExample(name, certificate, turns, False, record.get("unread") or ())
    except (KeyError, TypeError) as error:
        raise InputError(f"example {name}: needs prompt and completion, or messages of role and content") from error


def read_examples(dataset: Path) -> Iterator[StoredExample]:
    """Yield the examples of a dataset folder."""
    return map(read_example, read_records(dataset / EXAMPLES))


def export(dataset: Path, shape: str, out: Path) -> int:
    """Write a dataset folder's examples in a shape; return how many there are."""
    examples = list(read_examples(dataset))
    if not examples:
        raise InputError(f"{dataset / EXAMPLES}: there is no example in it")
    rows = exported(examples, shape)
    if shape == "parquet":
        pyarrow, parquet = (import_module(f"pyarrow{part}") for part in ("", ".parquet"))
        buffer = io.BytesIO()
        parquet.write_table(pyarrow.Table.from_pylist(rows), buffer)
        write_chunks(out, [buffer.getvalue()])
    else:
        write_new_records(out, rows)
    return len(rows)


def exported(examples: Sequence[StoredExample], shape: str) -> list[Row]:
    """Return the examples in a shape; raises `InputError` for one that is not known."""
    if shape not in SHAPES:
        raise InputError(f"--to {shape!r} is not known; {nearest(shape, [*SHAPES, *STEP_SHAPES, *PREFERENCES])}")
    # A column has one type: conversations for all where there is one.
    has_dialogs = any(example.is_dialog for example in examples)
    return [_row(example, shape, has_dialogs) for example in examples]


def _row(example: StoredExample, shape: str, has_dialogs: bool) -> Row:
    content: Row = {"messages": example.turns}
    if shape == "sharegpt":
        said = [{"from": _SHAREGPT[turn["role"]], "value": turn["content"]} for turn in example.turns]
        content = {"conversations": said}
    elif shape == "prompt-completion" and has_dialogs:
        content = {"prompt": example.turns[:-1], "completion": example.turns[-1:]}
    elif shape == "prompt-completion" or (shape == "parquet" and not has_dialogs):
        content = {"prompt": example.prompt, "completion": example.completion}
    return {"id": example.id, **content, "certificate": example.certificate}
