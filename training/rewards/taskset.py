"""The critics as a taskset of `verifiers` (v1, extra `verifiers`): the reward of a rollout is its strict certificate.

What no critic could decide has the reward 0, because verifiers wants a number, and the metric `undecided`, so that it
is not counted as a wrong answer. The judged attempt with its certificate is in the trace, `trace.info["certistar"]`.
"""

# The extra is not installed where types are checked.
# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

import asyncio
import json
from collections.abc import Iterator
from functools import lru_cache

import verifiers.v1 as vf

from critics.problem import read_problem
from training.rewards.certified import said_in
from training.rewards.questions import Critics, Limits, Questions, Rewarded, solved


class CertifiedData(vf.TaskData):
    """A question on the wire."""

    problem: str
    """The problem record as JSON text."""
    format: str


class CertifiedTaskConfig(vf.TaskConfig, Limits):
    """Limits for the critics, `--env.taskset.task.*`."""


class CertifiedTask(vf.Task[CertifiedData, vf.State, CertifiedTaskConfig]):
    """A question, whose reward is a certificate that `strict` keeps."""

    @vf.reward
    async def certified(self, trace: vf.Trace) -> float:
        """Judge the last reply and what was thought before it; what it rests on stays in the trace."""
        thought = [turn.reasoning_content for turn in trace.assistant_messages[-1:]]
        turn = {"role": "assistant", "content": trace.last_reply, "reasoning_content": "".join(filter(None, thought))}
        said = said_in([turn]).judged("judged")
        found = await asyncio.to_thread(self._rewarded, trace.id, said, self.data.format)
        trace.info["certistar"] = found.record
        trace.record_metric("undecided", float(found.reward is None))
        return found.reward or 0.0

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        """Say whether the gold answer is proved; None where nothing says how.

        In the guided format, whatever is asked for: that it can be said in sentences, too, is not promised.
        """
        problem = read_problem(json.loads(self.data.problem))
        attempt = solved(problem, "guided")
        if attempt is None:
            return None
        return (await asyncio.to_thread(self._rewarded, problem.id, attempt, "guided")).reward == 1.0

    def _rewarded(self, id_: str, completion: str, format_: str) -> Rewarded:
        problem = read_problem(json.loads(self.data.problem))
        critics = _critics(self.config.jobs, self.config.timeout_s)
        return critics.rewarded(id_, problem, format_, completion)


class CertifiedConfig(vf.TasksetConfig, Questions):
    """Choice of problems, `--env.taskset.*`."""

    task: CertifiedTaskConfig = CertifiedTaskConfig()


class CertifiedTaskset(vf.Taskset[CertifiedTask, CertifiedConfig]):
    """Problems as tasks, in the order in which they are generated or stand in a file."""

    def load(self) -> Iterator[CertifiedTask]:
        """Yield the tasks; raises `InputError` where a problem has no answer."""
        for problem in Questions.load(self.config):
            system, *turns = self.config.messages(problem)
            data = CertifiedData(
                id=problem.id,
                prompt=turns[0]["content"] if len(turns) == 1 else turns,
                system_prompt=system["content"],
                problem=json.dumps(problem.record()),
                format=self.config.format,
            )
            yield CertifiedTask(data, self.config.task)


@lru_cache
def _critics(jobs: int, timeout_s: float) -> Critics:
    """Return the critics of this process; tasks are made by the thousand and share them."""
    return Critics(Limits(jobs=jobs, timeout_s=timeout_s))
