"""Tracking of a round: its rollout's rates and verdicts, and what the evaluation after it found.

It has a process of its own, since trackers go by its environment, and may hang.
"""

from pathlib import Path

from rollout.records.traces import read_trace
from training.finetuning.trackers import Tracking, track
from training.records.run_folder import read_file
from training.records.store import is_stored, read_records, write_json
from training.rounds.line import Line
from training.watchdog import Progress

_RATES = ("right", "certified", "lucky", "kept")
_MEASURED = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}


def is_unsampled(folder: Path) -> bool:
    """Say whether nothing of a round's rollout is there yet, so that its speed can be measured."""
    return next(folder.glob("traces*"), None) is None


def tell_trackers(line: Line, number: int, rollout_s: float | None) -> None:
    """Write a finished round's metrics, once."""
    line.on_progress(Progress("evaluation", "the trackers to be told of the round"))
    track_round(line.tracking, line.round_path(number), rollout_s)


def track_round(tracked: Tracking, folder: Path, rollout_s: float | None) -> None:
    """Write a finished round's metrics, once; `rollout_s` is how long all of its rollout took, None: not known."""
    if not tracked.names:
        return
    number = int(folder.name[-3:])
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
        metrics["rollout/tokens_per_s"] = _num_tokens(folder / "traces.jsonl") / rollout_s
    mode = read_file(folder / "evaluation.json")["modes"]["sampled"]
    return metrics | {f"evaluation/{name}": mode[key] / (mode["n"] or 1) for name, key in _MEASURED.items()}


def _num_tokens(path: Path) -> int:
    return sum(trace.num_tokens for trace in map(read_trace, read_records(path, checksum=True)))
