"""Reward of an attempt: 1 for a certificate that `strict` keeps, 0 for any other verdict, None for no verdict.

A proof of the model's own formulas (grade `trusted`) is worth 0, because nothing says that they are about the question:
the model would learn to prove what was not asked.

A critic that ran out of time or failed says nothing about the attempt. The reward is then None: TRL leaves it out of
the group's baseline and gives it no gradient. A 0 would teach the model to avoid what is hard to check.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from critics.errors import InputError
from critics.judge import Judging
from critics.problem import Problem, read_attempt
from critics.verdict import read_verdict
from rollout.records.traces import read_judgement
from training.rewards.credit import bad_start

UNKNOWN = frozenset({"timeout", "error"})
COLUMNS = ("problem", "format")
"""Columns that a dataset must have beside `prompt`: see `rows`."""


def reward(verdict: Mapping[str, Any]) -> float | None:
    """Return what a verdict record is worth; None: unknown, to be masked."""
    if verdict["verdict"] in UNKNOWN:
        return None
    return float(read_judgement(verdict).is_strict)


class CertifiedReward:
    """A reward function as TRL's GRPOTrainer and RLOOTrainer call it.

    The dataset has the columns of `rows`. `record` is called with each judged attempt, so that a run can show what
    every reward rests on.
    """

    __name__ = "certified"

    def __init__(self, judge: Judging, record: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
        self._judge = judge
        self._record = record
        self._calls = 0
        self.bad_starts: list[int | None] = []
        """Where the first bad step of each attempt of the last call begins (`training.rewards.credit`)."""

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **columns: Any) -> list[float | None]:
        """Return one reward a completion; raises `InputError` where a column is missing."""
        missing = [name for name in COLUMNS if name not in columns]
        if missing:
            raise InputError(f"reward: the dataset has no column {missing[0]!r}; make it with training.rewards.rows")
        import json

        self._calls += 1
        attempts = [
            {"id": f"{self._calls}/{i}", "problem": json.loads(problem), "format": format_, "completion": _text(said)}
            for i, (problem, format_, said) in enumerate(
                zip(columns["problem"], columns["format"], completions, strict=True)
            )
        ]
        rewards: list[float | None] = []
        self.bad_starts = []
        for attempt, prompt, verdict in zip(attempts, prompts, self._judge(attempts), strict=True):
            rewards.append(reward(verdict))
            is_bad = rewards[-1] == 0
            self.bad_starts.append(bad_start(read_attempt(attempt), read_verdict(verdict)) if is_bad else None)
            self._record({**attempt, "prompt": _text(prompt), "judgement": verdict, "reward": rewards[-1]})
        return rewards


def rows(problems: Iterable[Problem], prompt: Callable[[Problem], Any], format_: str) -> Iterator[dict[str, Any]]:
    """Yield what TRL trains on: `prompt`, and the columns that the reward reads.

    A problem is JSON text, since a table of nested records would fill in keys that a problem does not have.
    """
    import json

    for problem in problems:
        yield {"prompt": prompt(problem), "problem": json.dumps(problem.record()), "format": format_}


def _text(said: Any) -> str:
    """Return a completion's text: itself, or the turns of a conversation joined."""
    if isinstance(said, str):
        return said
    turns: Sequence[Mapping[str, Any]] = said
    return "\n".join(map(turn_text, turns))


def turn_text(turn: Mapping[str, Any]) -> str:
    """Return everything that a turn says, its content last.

    Attack: falsehoods in `reasoning_content` or the like, which is trained on as the content is, and a proof beside it.
    """
    beside = {key: said for key, said in turn.items() if key not in ("role", "content") and said}
    thoughts = [f"<think>{said}</think>" for said in beside.values() if str(said).strip()]
    return "\n".join([*thoughts, turn.get("content") or ""])
