"""The rounds of a line, each a folder that is complete when its last file is in place.

    traces -> judged -> dataset -> adapter -> evaluation

Every stage looks for its own last file first, so a killed run goes on where it was and repeats nothing that
was finished; what it then writes is byte-equal to what an uninterrupted run writes.
"""

from pathlib import Path
from time import perf_counter

from training.rounds.adapter import fine_tune_round
from training.rounds.dataset import curate
from training.rounds.line import Line
from training.rounds.measurement import Measured, ask_held_out, evaluate, num_held_out_batches
from training.rounds.references import write_references
from training.rounds.rollout import certify, num_batches, roll_out
from training.rounds.tracking import is_unsampled, tell_trackers


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
    for hinted in (False, True) if line.config.star.rationalise else (False,):
        line.stages.spread(roll_out, number, adapter, hinted, most=num_batches(line), beside=certify)
    return line.sealed(number)


def measure(line: Line, number: int | None, adapter: Path | None, old: Path | None = None) -> Measured:
    """Measure a policy on the held-out problems; `number` None: the base model, round 0 of the report."""
    line.stages.spread(ask_held_out, number, adapter, most=num_held_out_batches(line))
    return line.stages.run(evaluate, number, adapter, old)
