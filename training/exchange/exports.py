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

Preferences are a certified attempt against a refuted one at the same problem. On neither side are right answers without
a proof, attempts that no critic could judge, and proofs of formulas that nobody vouches for (grade `trusted`).

dpo                  TRL: pairs of `chosen` and `rejected` completions
kto                  TRL: completions, each with its `label`
"""

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

from critics.errors import InputError
from critics.formats.steps import labelled
from critics.problem import Attempt
from critics.verdict import Verdict
from rollout.prompts.conversation import Message, message
from rollout.prompts.prompt import problem_text
from rollout.records.traces import Trace
from training.configuration.section import nearest
from training.lineage.kept import EXAMPLES
from training.records.store import Record, read_records, write_chunks, write_new_records

Row = dict[str, object]
STEP_SHAPES = ("steps", "stepwise")
PREFERENCES = ("dpo", "kto")


def step_row(attempt: Attempt, verdict: Verdict, prompt: str | None, shape: str) -> Row | None:
    """Return a judged text's row in one of the `STEP_SHAPES`; None where nothing is known of its steps.

    `prompt` is what it answers; None where that was not kept.
    """
    steps = () if verdict.coverage is None else labelled(verdict, attempt)
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
    return {"id": attempt.id, "prompt": asked if prompt is None else prompt, **completions} if shown else None


_SHAREGPT = {"system": "system", "user": "human", "assistant": "gpt"}
SHAPES = ("messages", "prompt-completion", "sharegpt", "parquet")


def turns_of(example: Record) -> list[Message]:
    """Return the conversation of a line of examples.jsonl, of a text a request and its reply.

    Raises `InputError` where it is no example.
    """
    name = f"example {example.get('id')}"
    try:
        if "messages" in example and ("prompt" in example or "completion" in example):
            # Attack: a conversation that is proved beside a text that is not, and a trainer that reads the other one.
            raise InputError(f"{name}: has messages and a prompt or completion; one text is trained on")
        if "messages" in example:
            return [message(turn["role"], turn["content"]) for turn in example["messages"]]
        return [message("user", example["prompt"]), message("assistant", example["completion"])]
    except (KeyError, TypeError) as error:
        raise InputError(f"{name}: needs prompt and completion, or messages of role and content") from error


def export(dataset: Path, shape: str, out: Path) -> int:
    """Write a dataset folder's examples in a shape; return how many there are."""
    examples = list(read_records(dataset / EXAMPLES))
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


def exported(examples: Sequence[Record], shape: str) -> list[Row]:
    """Return the examples in a shape; raises `InputError` for one that is not known."""
    if shape not in SHAPES:
        raise InputError(f"--to {shape!r} is not known; {nearest(shape, [*SHAPES, *STEP_SHAPES, *PREFERENCES])}")
    # A column has one type: conversations for all where there is one.
    has_dialogs = any("messages" in example for example in examples)
    return [_row(example, shape, has_dialogs) for example in examples]


def _row(example: Record, shape: str, has_dialogs: bool) -> Row:
    turns = turns_of(example)
    content: Row = {"messages": turns}
    if shape == "sharegpt":
        content = {"conversations": [{"from": _SHAREGPT[turn["role"]], "value": turn["content"]} for turn in turns]}
    elif shape == "prompt-completion" and has_dialogs:
        content = {"prompt": turns[:-1], "completion": turns[-1:]}
    elif shape == "prompt-completion" or (shape == "parquet" and not has_dialogs):
        content = {"prompt": turns[0]["content"], "completion": turns[-1]["content"]}
    return {"id": str(example.get("id")), **content, "certificate": example.get("certificate")}


Preference = dict[str, str | bool | None]


def preferences(traces: Iterable[Trace], shape: str) -> Iterator[Preference]:
    """Yield the rows of a shape; raises `InputError` where a trace keeps no prompt.

    Each attempt stands in one pair at most: a problem with many of one kind must not outweigh the others.
    """
    for (_, prompt), (certified, refuted) in _groups(traces).items():
        if shape == "dpo":
            for good, bad in zip(certified, refuted, strict=False):
                texts = {"prompt": prompt, "chosen": good.completion, "rejected": bad.completion}
                yield {"id": f"{good.id}>{bad.id}", **texts, "certificate": good.judged.digest}
            continue
        for trace in (*certified, *refuted):
            is_good = trace.judged.is_certified
            told = {"prompt": prompt, "completion": trace.completion, "label": is_good}
            yield {"id": trace.id, **told, "certificate": trace.judged.digest if is_good else None}


def _groups(traces: Iterable[Trace]) -> dict[tuple[str, str], tuple[list[Trace], list[Trace]]]:
    """Return certified traces that `strict` keeps, and refuted ones, by problem and prompt, in the traces' order."""
    groups: dict[tuple[str, str], tuple[list[Trace], list[Trace]]] = defaultdict(lambda: ([], []))
    for trace in traces:
        if trace.judged.verdict != "refuted" and not trace.judged.is_strict:
            continue
        if trace.prompt is None or trace.messages:
            raise InputError(
                f"trace {trace.id!r}: has no prompt and completion, and a preference is between two completions of "
                "one prompt; dialogs cannot be compared in this way"
            )
        groups[trace.problem.id, trace.prompt][0 if trace.judged.is_certified else 1].append(trace)
    return groups
