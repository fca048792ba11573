"""What trackers are told of a round: in a process of its own, since they go by its environment, and may hang."""

from training.rounds.line import Line
from training.rounds.tracking import track_round
from training.watchdog import Beat


def tell_trackers(line: Line, number: int, rollout_s: float | None) -> None:
    """Write a finished round's metrics, once."""
    line.pulse(Beat("evaluation", "the trackers to be told of the round"))
    track_round(line.tracking, line.round_path(number), rollout_s)
