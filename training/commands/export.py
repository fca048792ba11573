"""`export`: a dataset in another trainer's shape, or the steps of judged texts with their labels."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from critics.judge import slim
from critics.verdict import read_verdict
from training.commands.attempts import judging, read_attempts
from training.commands.messages import print_counts
from training.commands.options import Jobs, Json, OfArm, OfSeed, Out, Timeout
from training.exchange.exports import export as exported
from training.exchange.finding import find_dataset
from training.exchange.step_labels import STEP_SHAPES, JudgedText, step_row
from training.records.store import write_records

EXAMPLE = "certistar export kept --to messages --out messages.jsonl"


def export(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DATASET|RUN|TRACES", help="A dataset folder, a round, a run; for steps, attempts."),
    ],
    to: Annotated[
        str, typer.Option("--to", help="messages, prompt-completion, sharegpt, atif, parquet; steps, stepwise, fover.")
    ],
    out: Out,
    arm: OfArm = None,
    seed: OfSeed = None,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Write a dataset in the shape that another trainer reads; rows keep their id and certificate.

    `--to steps`, `stepwise` (TRL) and `fover` judge the attempts of a file, or of a round's traces, and write the steps
    of each with their labels, for process reward models.
    """
    if to in STEP_SHAPES:
        num = write_records(out, _steps(folder / "traces.jsonl" if folder.is_dir() else folder, to, jobs, timeout))
    else:
        num = exported(find_dataset(folder, arm, seed), to, out)
    print_counts({"examples": num, "to": to, "out": str(out)}, as_json)


def _steps(path: Path, shape: str, jobs: int, timeout_s: float) -> Iterator[dict[str, object]]:
    """Yield one row for each attempt of whose steps its critic knows something."""
    given = read_attempts(path)
    verdicts = judging(jobs, timeout_s, anew=True)(slim(each.record) for each in given)
    for each, found in zip(given, verdicts, strict=True):
        prompt = each.record.get("prompt")
        text = JudgedText(each.attempt, read_verdict(found), prompt if isinstance(prompt, str) else None)
        if (row := step_row(text, shape)) is not None:
            yield row
