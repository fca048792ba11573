"""The rounds of a line, each a folder that is complete when its last file is in place.

    traces -> judged -> dataset -> adapter -> evaluation

Every stage looks for its own last file first, so a killed run goes on where it was and repeats nothing that
was finished; what it then writes is byte-equal to what an uninterrupted run writes.
"""

import shutil
from math import ceil
from pathlib import Path
from time import perf_counter

from rollout.records.sampling import derived_seed
from rollout.records.traces import read_trace
from training.finetuning.job import track
from training.finetuning.stage import MANIFEST, FineTuning, fine_tune
from training.hardware import num_training_processes
from training.records.run_folder import read_file
from training.records.store import is_stored, read_records, write_json
from training.rounds.dataset import curate
from training.rounds.evaluation import RoundMeasured, ask_held_out, evaluate
from training.rounds.line import Line
from training.rounds.rollout import certify, roll_out, write_references
from training.watchdog import Progress


def run_line(line: Line) -> None:
    """Run all rounds of a line, resuming where it stopped."""
    adapter: Path | None = None
    for number in range(line.config.star.rounds):
        adapter = run_round(line, number, adapter)


def run_round(line: Line, number: int, adapter: Path | None) -> Path | None:
    """Run one round from `adapter` (None: the base model) and return the adapter that the next round starts from."""
    began, unsampled = perf_counter(), is_unsampled(line.round_path(number))
    judged = roll_out_and_certify(line, number, adapter)
    rollout_s = perf_counter() - began if unsampled else None
    dataset: Path = line.stages.run(curate, number, judged)
    new_adapter: Path | None = line.stages.run(fine_tune_round, number, dataset, adapter)
    evaluation = measure(line, number, new_adapter, adapter)
    if line.tracking.names:
        line.stages.run(tell_trackers, number, rollout_s)
    return evaluation.promoted


def roll_out_and_certify(line: Line, number: int, adapter: Path | None) -> Path:
    """Return the file of a round's judged traces; with `star.rationalise`, failed problems are asked again, hinted.

    Where an arm is not taught by itself nothing is sampled.
    """
    if line.arm.taught_by != "itself":
        line.stages.run(write_references, number)
        return line.sealed(number)
    num = ceil(line.config.star.problems_per_round / line.config.sampling.batch_size)
    for hinted in (False, True) if line.config.star.rationalise else (False,):
        line.stages.spread(roll_out, number, adapter, hinted, most=num, beside=certify)
    return line.sealed(number)


def measure(line: Line, number: int | None, adapter: Path | None, old: Path | None = None) -> RoundMeasured:
    """Measure a policy on the held-out problems; `number` None: the base model, round 0 of the report."""
    config = line.config.evaluation
    line.stages.spread(ask_held_out, number, adapter, most=ceil(config.num_problems / config.batch_size))
    return line.stages.run(evaluate, number, adapter, old)


def fine_tune_round(line: Line, number: int, dataset: Path, adapter: Path | None) -> Path | None:
    """Return the round's adapter; the one before where nothing was kept, since there is nothing to learn from."""
    out = line.round_path(number) / "adapter"
    goes_on = line.config.star.start == "last"
    start = adapter if goes_on else None
    line.on_progress(Progress("training", f"the adapter of round {number}"))
    if next(read_records(dataset / "examples.jsonl"), None) is None:
        write_json(out / MANIFEST, {"trained": False, "reason": "no example was kept"})
        return start
    fine_tune(
        FineTuning(
            model=line.config.model,
            training=line.config.training,
            data=dataset,
            out=out,
            seed=derived_seed(line.seed, "training", number) % 2**32,
            start=start,
            base_digest=line.base_digest,
            nproc=num_training_processes(),
            log=line.run / "log" / f"training-{line.arm.name}-{line.seed}.jsonl",
            tracked_as=line.tracking.run_name,
            heartbeat=line.heartbeat,
        )
    )
    shutil.rmtree(out.with_name(f".{out.name}.work"), ignore_errors=True)  # of one killed just after it was done
    return out


_RATES = ("right", "certified", "lucky", "kept")
_MEASURED = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}


def is_unsampled(folder: Path) -> bool:
    """Say whether nothing of a round's rollout is there yet, so that its speed can be measured."""
    return next(folder.glob("traces*"), None) is None


def tell_trackers(line: Line, number: int, rollout_s: float | None) -> None:
    """Write a finished round's metrics, once; `rollout_s` is how long all of its rollout took, None: not known."""
    line.on_progress(Progress("evaluation", "the trackers to be told of the round"))
    tracked, folder = line.tracking, line.round_path(number)
    told = tracked.folder / f"{tracked.run_name.replace('/', '-')}.json"
    if told.exists() and read_file(told)["rounds"] > number:
        return
    track(tracked, round_metrics(folder, rollout_s), number)
    write_json(told, {"rounds": number + 1})


def round_metrics(folder: Path, rollout_s: float | None) -> dict[str, float]:
    """Return a round's metrics by name, rates as fractions of what was sampled or held out."""
    summary = read_file(folder / "dataset" / "summary.json")
    num = summary["sampled"] or 1
    metrics = {f"rollout/{name}": summary[name] / num for name in _RATES}
    metrics |= {f"verdicts/{name}": float(count) for name, count in summary["verdicts"].items()}
    metrics |= {"rollout/sampled": float(summary["sampled"]), "rollout/examples": float(summary["examples"])}
    if rollout_s and is_stored(folder / "traces.jsonl"):
        traces = map(read_trace, read_records(folder / "traces.jsonl", checksum=True))
        metrics["rollout/tokens_per_s"] = sum(trace.num_tokens for trace in traces) / rollout_s
    mode = read_file(folder / "evaluation.json")["modes"]["sampled"]
    return metrics | {f"evaluation/{name}": mode[key] / (mode["n"] or 1) for name, key in _MEASURED.items()}
