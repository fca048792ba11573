"""Questions of one turn for the environments of other libraries: a problem, its prompt, one attempt, its verdict.

The critics give the verdict, and `training.rewards.certified` the reward.
"""

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import Queue
from typing import Annotated, Literal

from pydantic import Field

from critics.errors import InputError
from critics.judge import JudgePool
from critics.problem import Problem
from critics.text.reference import reference
from critics.verdict import Verdict, read_verdict
from critics.workers.own_time import DEFAULT_TIMEOUT_S
from rollout.problems.catalogue import Split
from rollout.prompts.prompt import messages, solution
from rollout.prompts.style import PromptStyle
from training.configuration.problems import ProblemsConfig
from training.configuration.section import Positive, Section
from training.rewards.certified import reward, rows, said_in
from training.rounds.problems import load_problems


class Questions(Section):
    """Choice of problems, and the form in which they are asked."""

    problems: ProblemsConfig = ProblemsConfig()
    """Problems to generate, or a file of them."""
    num_problems: Positive = 200
    split: Split = "train"
    """Split of generated problems."""
    seed: int = 0
    format: Literal["cot", "guided"] = "cot"
    """Format of attempts: sentences that end in `Answer:`, or the guided format, as free text."""
    examples: Annotated[int, Field(ge=0)] = 0
    """Solved examples before each question."""

    def load(self) -> list[Problem]:
        """Return the problems; raises `InputError` where one has no answer."""
        return rewarded_problems(self.problems, self.num_problems, self.split, self.seed)

    def messages(self, problem: Problem) -> list[dict[str, str]]:
        """Return the turns that put a problem to a policy: instructions, solved examples, the question."""
        return messages(problem, PromptStyle("chat", self.examples, self.format))


class Limits(Section):
    """Processes and time for the critics."""

    jobs: Positive = 1
    """Processes that judge."""
    timeout_s: Annotated[float, Field(gt=0)] = DEFAULT_TIMEOUT_S
    """Seconds for each attempt; then it is undecided."""


@dataclass(frozen=True, slots=True)
class Rewarded:
    """A judged attempt, as `certistar recheck` reads it, and what it is worth; None: nobody could decide it."""

    record: dict[str, object]
    verdict: Verdict
    reward: float | None


class Critics:
    """Critics in processes that can be killed, for callers on several threads: each waits for a free process."""

    def __init__(self, limits: Limits) -> None:
        self._free: Queue[JudgePool] = Queue()
        for _ in range(limits.jobs):
            self._free.put(JudgePool(timeout_s=limits.timeout_s))

    def rewarded(self, id_: str, problem: Problem, format_: str, completion: str) -> Rewarded:
        """Judge one attempt, what is thought aloud in it too."""
        text = said_in(completion).judged("judged")
        attempt = {"id": id_, "problem": problem.record(), "format": format_, "completion": text}
        pool = self._free.get()
        try:
            (verdict,) = pool.judge([attempt])
        finally:
            self._free.put(pool)
        return Rewarded({**attempt, "judgement": verdict}, read_verdict(verdict), reward(verdict))


def rewarded_problems(source: ProblemsConfig, num: int, split: Split, seed: int) -> list[Problem]:
    """Return `num` problems to reward attempts at; raises `InputError` where one has no answer."""
    if source.source is None:
        found = list(source.generate(split, num, seed=seed))
    else:
        found = list(islice(load_problems(Path(source.source), source.named_dataset, source.answers), num))
    unanswered = [problem.id for problem in found if problem.answer is None]
    if unanswered:
        raise InputError(f"problem {unanswered[0]!r}: has no answer, and an attempt would be rewarded for any proof")
    return found


def reward_rows(path: Path, format_: str | None) -> list[dict[str, object]]:
    """Return what TRL's scripts train on for the problems of a file: a chat prompt, and what the reward reads."""
    if format_ not in (None, "cot", "guided"):
        raise InputError(f"--format {format_!r}: write cot, for sentences, or guided")
    asked = Questions(problems=ProblemsConfig(file=str(path)), num_problems=10**9, format=format_ or "cot")
    return list(rows(asked.load(), asked.messages, asked.format))


def solved(problem: Problem, format_: str) -> str | None:
    """Return an attempt that a perfect writer would make; None where the problem has no formalisation to make it of."""
    known = reference(problem)
    return None if known is None else solution(problem, known.formal, format_)
