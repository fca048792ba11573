"""Back-up answers, where no program gives one (001, section 4.2 and appendix E); never certified, never a program.

A trace holds it beside the attempt: no critic sees it, and it cannot be taken for an answer that was executed.
"""

from critics.formats.rules.critic import is_closed_world
from critics.problem import TRUTH_VALUES, Problem
from critics.text.answer_reader import read_answer
from rollout.policies.engine import Steps
from rollout.programs.draft import Task
from rollout.programs.prompt import answering
from rollout.programs.review import without_gold
from rollout.records.sampling import derived_seed
from rollout.records.steps import ProgramReply
from rollout.records.traces import BackupAnswer, Trace


def back_up(task: Task, kind: str) -> Steps[BackupAnswer]:
    """Answer without a program: `llm` asks the policy itself, `random` draws what is left when luck is taken out."""
    if kind == "random":
        return BackupAnswer(kind, _drawn(task.problem, task.seed))
    reply = yield from task.ask("backup", answering(task.problem), program=False)
    return BackupAnswer(kind, read_answer(reply.text, task.problem))


def recalled(trace: Trace) -> BackupAnswer | None:
    """Return the back-up answer that an attempt would have fallen back on; None where it never was without one.

    It does not depend on the program, so that it serves every earlier version without an answer.
    """
    if trace.backup is not None:
        return trace.backup
    kind = (trace.strategy or {}).get("backup")
    if kind == "random":
        return BackupAnswer(kind, _drawn(without_gold(trace.problem), trace.seed))
    asked_for = [step for step in trace.program_steps if isinstance(step, ProgramReply) and step.purpose == "backup"]
    return BackupAnswer("llm", read_answer(asked_for[-1].text, trace.problem)) if asked_for else None


def _drawn(problem: Problem, seed: int) -> str:
    """Draw one of all answers that the problem can have, by the attempt's seed."""
    choices = TRUTH_VALUES[:2] if is_closed_world(problem) else TRUTH_VALUES
    if problem.options is not None:
        choices = tuple(chr(ord("A") + place) for place in range(len(problem.options)))
    return choices[derived_seed(seed, "random answer") % len(choices)]
