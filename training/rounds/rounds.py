"""The rounds of a line, each a folder that is complete when its last file is in place.

    roll out + certify -> curate -> fine-tune -> evaluate

Every stage looks for its own last file first, so a killed run goes on where it was and repeats nothing that
was finished; what it then writes is byte-equal to what an uninterrupted run writes.
"""

from pathlib import Path
from time import perf_counter

from training.rounds.line import Line
from training.rounds.stages.adapter import fine_tune_round
from training.rounds.stages.dataset import curate
from training.rounds.stages.measurement import ask_held_out, evaluate, num_held_out_batches
from training.rounds.stages.rollout import certify, num_batches, roll_out
from training.rounds.stages.trackers import tell_trackers
from training.rounds.tracking import is_unsampled


def run_line(line: Line) -> None:
    """Run all rounds of a line, resuming where it stopped."""
    adapter: Path | None = None
    for number in range(line.config.star.rounds):
        adapter = run_round(line, number, adapter)


def run_round(line: Line, number: int, adapter: Path | None) -> Path | None:
    """Run one round from `adapter` (None: the base model) and return the one that the next round goes on from."""
    stages = line.stages
    began, unsampled = perf_counter(), is_unsampled(line.round_path(number))
    for hinted in (False, True)[: 1 + line.config.star.rationalise]:
        stages.spread(roll_out, number, adapter, hinted, most=num_batches(line), beside=certify)
    rollout_s = perf_counter() - began if unsampled else None
    stages.run(curate, number, line.sealed(number))
    new_adapter = stages.run(fine_tune_round, number, adapter)
    stages.spread(ask_held_out, number, new_adapter, most=num_held_out_batches(line))
    chosen = stages.run(evaluate, number, new_adapter, adapter)
    if line.tracking.names:
        stages.run(tell_trackers, number, rollout_s)
    return chosen


def evaluate_base(line: Line) -> None:
    """Measure the base model under the arm's decoding: round 0 of the report."""
    line.stages.spread(ask_held_out, None, None, most=num_held_out_batches(line))
    line.stages.run(evaluate, None, None, None)
