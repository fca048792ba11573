"""`export`: a dataset in another trainer's shape, or the steps of judged texts with their labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from critics.judge import slim
from critics.text_steps import labelled, text_steps
from critics.verdict import read_verdict
from training.commands.attempts import judging, read_attempts
from training.commands.messages import print_counts
from training.commands.options import Jobs, Json, OfArm, OfSeed, Out, Timeout
from training.exchange.exports import export as exported
from training.exchange.finding import find_dataset
from training.records.store import write_records

EXAMPLE = "certistar export kept --to messages --out messages.jsonl"


def export(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DATASET|RUN|TRACES", help="A dataset folder, a round, a run; for steps, attempts."),
    ],
    to: Annotated[str, typer.Option("--to", help="messages, prompt-completion, sharegpt, atif, parquet or steps.")],
    out: Out,
    arm: OfArm = None,
    seed: OfSeed = None,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Write a dataset in the shape that another trainer reads; rows keep their id and certificate.

    `--to steps` judges the attempts of a file, or of a round's traces, and writes each one's steps with their labels.
    """
    if to == "steps":
        num = write_records(out, _steps(folder / "traces.jsonl" if folder.is_dir() else folder, jobs, timeout))
    else:
        num = exported(find_dataset(folder, arm, seed), to, out)
    print_counts({"examples": num, "to": to, "out": str(out)}, as_json)


def _steps(path: Path, jobs: int, timeout_s: float) -> Iterator[dict[str, object]]:
    """Yield one row for each attempt whose critic reads its text."""
    given = read_attempts(path)
    verdicts = judging(jobs, timeout_s, anew=True)(slim(each.record) for each in given)
    for each, found in zip(given, verdicts, strict=True):
        verdict = read_verdict(found)
        if verdict.coverage is None:
            continue
        steps = text_steps(each.attempt.format, each.attempt.problem, each.attempt.completion)
        yield {
            "id": each.id,
            "problem": each.attempt.problem.record(),
            "format": each.attempt.format,
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "steps": [step.record() for step in labelled(verdict, steps)],
        }
