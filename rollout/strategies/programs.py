"""Translate-and-refine (Deng, Dong and Si) and prototype-then-refine (Elezabi and Akoush), which are one strategy.

    k samples -> prototypers choose one -> refiners mend it -> a back-up answer where it gives none

The first has one sample and error feedback; the second samples, chooses and mends in several ways. What is judged is
the last program. Nothing that the policy reads depends on the gold answer.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self, cast

from pydantic import Field, model_validator

from critics.checker import in_terms_of
from critics.errors import InputError
from critics.problem import Problem
from rollout.policies.engine import Steps, conduct
from rollout.policies.policy import ChatPolicy
from rollout.programs.backups import BACKUPS
from rollout.programs.draft import Depth, ProgramDraft, Task
from rollout.programs.grammars.catalogue import guide_for
from rollout.programs.prompt import FORMATS, STAND_IN
from rollout.programs.prototypers import PROTOTYPERS, prototype, require_ability
from rollout.programs.refiners import REFINERS, refine_draft
from rollout.programs.review import Reviewing, require_critic, without_gold
from rollout.records.traces import BackupAnswer, Sampling, Trace, derived_seed
from rollout.strategies.settings import Settings

Name = Literal["translate-and-refine", "prototype-then-refine"]
PUBLISHED = {
    "samples": 10,
    "prototypers": ("majority", "coder-reviewer"),
    "refiners": ("implicit", "consistency", "error-feedback"),
    "backup": "llm",
}
"""Settings of Prototype-then-Refine: majority vote, else reranking; three refiners; the model's own answer last."""


class ProgramSettings(Settings):
    """Settings of programs: how they are asked for, chosen and mended (docs/programs-strategies.md)."""

    name: Name = "translate-and-refine"
    language: Literal["rules", "csp", "logic-program", "fol", "z3-python"] | None = None
    """null: that of the problem's data set (`rollout.programs.prompt.FORMATS`)."""
    examples: Annotated[int, Field(ge=0)] = 2
    """Solved examples that the base model reads, two as in Deng et al.; a trained translator reads none."""
    samples: Annotated[int, Field(gt=0)] = 1
    """Programs sampled before one is chosen; ten in Prototype-then-Refine."""
    prototypers: tuple[str, ...] = ()
    """Asked in their order until one chooses: majority, coder-reviewer, coder-reviewer-own, random."""
    refiners: tuple[str, ...] = ("error-feedback",)
    """Applied in their order: implicit, consistency, error-feedback, semantic, self-check."""
    max_rounds: Annotated[int, Field(ge=0)] = 4
    """Of a refiner that goes on while it has something to say, as in Prototype-then-Refine."""
    backup: str = "none"
    """llm, random or none: the answer where no program gives one, recorded apart and never the program's."""
    depth: Depth = "execution"
    """Reach of feedback: to a program that runs, or to one that a certificate could be had for."""
    constrained: bool = False
    """Write under the language's grammar, so that no program fails to parse."""

    @model_validator(mode="before")
    @classmethod
    def _with_published(cls, given: Any) -> Any:
        """Give prototype-then-refine the settings of Prototype-then-Refine where nothing else is said."""
        is_named = isinstance(given, dict) and cast("Any", given).get("name") == "prototype-then-refine"
        return dict(PUBLISHED, **cast("Any", given)) if is_named else cast("Any", given)

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        known: Mapping[str, Sequence[str]] = {"prototypers": [*PROTOTYPERS], "refiners": [*REFINERS]}
        for key, names in known.items():
            unknown = [name for name in getattr(self, key) if name not in names]
            if unknown:
                raise ValueError(f"{key}: {unknown[0]!r} is not among {', '.join(names)}")
        if self.backup not in BACKUPS:
            raise ValueError(f"backup: {self.backup!r} is not among {', '.join(BACKUPS)}")
        return self

    def trained(self) -> Self:
        """Return the settings of a translator that was trained on its own programs: without examples."""
        return self.model_copy(update={"examples": 0})

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "name": self.name,
            "num_examples": self.examples,
            "num_samples": self.samples,
            "prototypers": list(self.prototypers),
            "refiners": list(self.refiners),
            "max_rounds": self.max_rounds,
            "backup": self.backup,
            "depth": self.depth,
            "constrained": self.constrained,
        }


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
    sampling = replace(sampling, decoding="guided" if settings.constrained else "free")
    samples = range(sampling.samples_per_problem)
    wanted = [(problem, number) for problem in problems for number in samples]
    tasks = [_task(problem, settings, derived_seed(seed, problem.id, number, "program")) for problem, number in wanted]
    endings, interrupted = conduct([_attempt(task, settings) for task in tasks], policy, sampling, review)
    for (problem, number), task, ending in zip(wanted, tasks, endings, strict=True):
        if ending is None:
            continue
        yield Trace(
            id=f"{problem.id}#{number}",
            problem=problem,
            format=task.format,
            prompt=policy.conversation(task.opening()),
            completion=ending.draft.program,
            completion_ids=_ids(ending.draft),
            finished=ending.draft.reply.finished,
            sample=number,
            seed=task.seed,
            sampling=sampling.unswitched(sampling.decoding),
            policy=policy.digests,
            strategy=settings.record(),
            steps=tuple(task.steps),
            backup=ending.backup,
        )
    if interrupted is not None:
        raise interrupted.reason


@dataclass(frozen=True, slots=True)
class _Ending:
    draft: ProgramDraft
    backup: BackupAnswer | None


def _task(problem: Problem, settings: ProgramSettings, seed: int) -> Task:
    format_ = settings.language or FORMATS.get(problem.dataset, STAND_IN)
    require_critic(format_)
    if format_ == "fol" and in_terms_of("true", problem.options) is None:
        raise InputError(
            f"problem {problem.id}: one conclusion in first-order logic chooses among true, false and unknown, and the "
            "options are others; set language to logic-program"
        )
    bare = without_gold(problem)
    guide = guide_for(bare, format_) if settings.constrained else None
    return Task(bare, format_, seed, settings.depth, settings.examples, guide)


def _attempt(task: Task, settings: ProgramSettings) -> Steps[_Ending]:
    """Sample, choose, mend, and answer otherwise where that gives no answer.

    A back-up is had wherever the chosen sample gives none, mended or not: the overall accuracy of every stage needs it.
    """
    replies = yield from task.ask_often("sample", task.opening(), settings.samples)
    drafts = yield from task.drafted(replies)
    chosen = yield from prototype(task, drafts, settings.prototypers)
    draft = yield from refine_draft(task, chosen, settings.refiners, settings.max_rounds)
    if chosen.review.kind == "answered" or settings.backup == "none":
        return _Ending(draft, None)
    answer = BACKUPS[settings.backup](task)
    if isinstance(answer, Generator):
        answer = yield from answer
    return _Ending(draft, None if draft.review.kind == "answered" else BackupAnswer(settings.backup, answer))


def _ids(draft: ProgramDraft) -> tuple[int, ...]:
    """Return the ids of a program that is the whole of a reply to the problem; a mended one is tokenised anew."""
    reply = draft.reply
    return reply.ids if draft.is_first and reply.finished and reply.text.strip() == draft.program else ()
