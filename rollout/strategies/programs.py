"""Translate-and-refine (Deng, Dong and Si) and prototype-then-refine (Elezabi and Akoush), which are one strategy.

    k samples -> prototypers choose one -> refiners mend it -> a back-up answer where it gives none

The first has one sample and error feedback; the second samples, chooses and mends in several ways. What is judged is
the last program. Nothing that the policy reads depends on the gold answer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from critics.errors import InputError
from critics.formats.names import FOL
from critics.problem import Problem
from critics.replay.answers import in_terms_of
from rollout.policies.engine import Steps, perform
from rollout.policies.policy import ChatPolicy
from rollout.programs.draft import ProgramDraft, Task
from rollout.programs.prompt import FORMATS, STAND_IN
from rollout.programs.review import Reviewing, require_critic, without_gold
from rollout.programs.stages import prototype, refine_draft, require_ability
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.traces import BackupAnswer, Trace
from rollout.settings import ProgramSettings


def refine(
    policy: ChatPolicy,
    problems: Sequence[Problem],
    settings: ProgramSettings,
    sampling: Sampling,
    *,
    seed: int,
    review: Reviewing,
) -> Iterator[Trace]:
    """Yield `sampling.samples_per_problem` attempts for each problem, in problem order; all go on in step, as batches.

    Seeds come from (seed, problem id, sample index, purpose, number), so that a run with fewer samples or rounds is the
    beginning of one with more. Where the policy cannot go on, what is over is yielded before its error is raised.
    """
    require_ability(policy, settings.prototypers)
    sampling = replace(sampling, decoding="free")

    def attempt(problem: Problem, number: int) -> Steps[Trace]:
        task = _task(problem, settings, derived_seed(seed, problem.id, number, "program"))
        draft, backup = yield from _ended(task, settings)
        reply, prompt = draft.reply, policy.conversation(task.opening())
        # The ids are those of a program that is the whole of a reply to the problem; a mended one is tokenised anew.
        is_whole = draft.is_first and reply.finished and reply.text.strip() == draft.program
        return Trace(
            id=f"{problem.id}#{number}",
            problem=problem,
            format=task.format,
            prompt=prompt,
            completion=draft.program,
            completion_ids=reply.ids if is_whole else (),
            finished=reply.finished,
            sample=number,
            seed=task.seed,
            sampling=sampling.unswitched(sampling.decoding),
            policy=policy.digests,
            strategy=settings.record(),
            steps=tuple(task.steps),
            backup=backup,
        )

    samples = range(sampling.samples_per_problem)
    yield from perform([attempt(p, number) for p in problems for number in samples], policy, sampling, review)


def _task(problem: Problem, settings: ProgramSettings, seed: int) -> Task:
    format_ = settings.language or FORMATS.get(problem.dataset, STAND_IN)
    require_critic(format_)
    if format_ == FOL and in_terms_of("true", problem.options) is None:
        raise InputError(
            f"problem {problem.id}: one conclusion in first-order logic chooses among true, false and unknown, and the "
            "options are others; set language to logic-program"
        )
    bare = without_gold(problem)
    return Task(bare, format_, seed, settings.depth, settings.examples)


def _ended(task: Task, settings: ProgramSettings) -> Steps[tuple[ProgramDraft, BackupAnswer | None]]:
    """Sample, choose, mend, and answer otherwise where that gives no answer.

    A back-up is had wherever the chosen sample gives none, mended or not: the overall accuracy of every stage needs it.
    """
    replies = yield from task.ask_each("sample", [task.opening()] * settings.samples)
    drafts = yield from task.drafted(replies)
    chosen = yield from prototype(task, drafts, settings.prototypers)
    draft = yield from refine_draft(task, chosen, settings.refiners, settings.max_rounds)
    if chosen.review.kind == "answered" or settings.backup == "none":
        return draft, None
    backup = yield from task.back_up(settings.backup)
    return draft, None if draft.review.kind == "answered" else backup
