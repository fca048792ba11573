"""`prefer` and `reinforce`: the critics' verdicts as preferences and as a reward."""

from pathlib import Path

from training.commands.datasets import with_verdicts
from training.commands.messages import print_counts
from training.commands.verdicts import read_attempts
from training.configuration.rewards import load_reinforcement
from training.logs import quieten
from training.records.store import write_records
from training.rewards.preferences import preferences


def prefer_file(
    path: Path, verdicts: Path | None, shape: str, out: Path, jobs: int, timeout_s: float, as_json: bool
) -> None:
    """Write the preferences of a file of traces, judged now where they have no verdict."""
    preferences([], shape)
    traces = with_verdicts(read_attempts(path), path, verdicts, jobs, timeout_s)
    rows = list(preferences(traces, shape))
    write_records(out, rows)
    print_counts({"traces": len(traces), "pairs" if shape == "dpo" else "labelled": len(rows)}, as_json)


def reinforce_config(path: Path, out: Path, overrides: list[str] | None, as_json: bool) -> None:
    """Train an adapter as a configuration says."""
    config = load_reinforcement(path, overrides)
    quieten()
    from training.rewards.reinforcement import reinforce

    made = reinforce(config, out)
    print_counts({"attempts": made["attempts"], "certified": made["certified"]}, as_json)
