"""`export`: a dataset in another trainer's shape; the steps of judged texts with their labels; preferences."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from training.commands.options import Jobs, Json, OfArm, OfSeed, Out, Timeout, print_counts

EXAMPLE = "certistar export kept --to messages --out messages.jsonl"


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DATASET|RUN|TRACES", help="A dataset folder, a round, a run; for steps and preferences, attempts."
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="messages, prompt-completion, sharegpt, parquet; steps, stepwise; dpo, kto; rewards.",
        ),
    ],
    out: Out,
    arm: OfArm = None,
    seed: OfSeed = None,
    verdicts: Annotated[
        Path | None, typer.Option("--verdicts", help="For dpo and kto: what `judge` wrote; else judged now.")
    ] = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="For rewards: the format of attempts, sentences or guided text.")
    ] = None,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Write a dataset in the shape that another trainer reads; rows keep their id and certificate.

    `--to steps` and `stepwise` (TRL) judge the attempts of a file, or of a round's traces, and write the steps
    of each with their labels, for process reward models. `--to dpo` and `kto` (TRL) write preferences: certified
    attempts against refuted ones at the same problem. `--to rewards` writes a file of problems with their prompts, for
    GRPO with certificates as the reward (docs/rewards.md).
    """
    from training.exchange.exports import PREFERENCES, STEP_SHAPES
    from training.exchange.exports import export as exported
    from training.exchange.parcels import find_dataset
    from training.records.store import write_records

    traces = folder / "traces.jsonl" if folder.is_dir() else folder
    if to == "rewards":
        from training.rewards.certified import reward_rows

        print_counts({"problems": write_records(out, reward_rows(folder, format_)), "out": str(out)}, as_json)
        return
    if to in PREFERENCES:
        print_counts(_preferred(traces, to, out, verdicts, jobs, timeout), as_json)
        return
    if to in STEP_SHAPES:
        num = write_records(out, _steps(traces, to, jobs, timeout))
    else:
        num = exported(find_dataset(folder, arm, seed), to, out)
    print_counts({"examples": num, "to": to, "out": str(out)}, as_json)


def _steps(path: Path, shape: str, jobs: int, timeout_s: float) -> Iterator[dict[str, object]]:
    """Yield one row for each attempt of whose steps its critic knows something."""
    from critics.judge import slim
    from critics.verdict import read_verdict
    from training.commands.attempts import judging, read_attempts
    from training.exchange.exports import step_row

    given = read_attempts(path)
    verdicts = judging(jobs, timeout_s, anew=True)(slim(each.record) for each in given)
    for each, found in zip(given, verdicts, strict=True):
        prompt = each.record.get("prompt")
        asked = prompt if isinstance(prompt, str) else None
        if (row := step_row(each.attempt, read_verdict(found), asked, shape)) is not None:
            yield row


def _preferred(path: Path, to: str, out: Path, verdicts: Path | None, jobs: int, timeout_s: float) -> dict[str, int]:
    """Write preferences of a file's attempts, and return their counts."""
    from training.commands.attempts import judging, read_attempts_that_are, taught, traces_that_are, with_verdicts
    from training.exchange.exports import preferences
    from training.records.store import write_records

    records, rejected = read_attempts_that_are(path)
    found = list(with_verdicts(records, path, verdicts, judging(jobs, timeout_s, anew=True), rejected))
    rows = list(preferences(taught(traces_that_are(found, rejected), rejected), to))
    write_records(out, rows)
    counts = {"traces": len(found), "pairs" if to == "dpo" else "labelled": len(rows)}
    return counts | ({"rejected": len(rejected)} if rejected else {})
