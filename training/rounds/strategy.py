"""How an arm asks its policy: one attempt at a problem, or a dialog with its critic; and what a kept trace teaches.

The one interface between a line of rounds and the strategies of `rollout`: attempts out, examples back.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from critics import plugins
from critics.errors import InputError
from critics.problem import Problem
from rollout.actor_critic.feedback import Reviewing
from rollout.first_order import DEFAULT_EXAMPLES, FormulaWriter
from rollout.policy import ChatPolicy, Policy
from rollout.programs.lessons import direct_messages
from rollout.programs.review import ReviewPool
from rollout.prompt import PromptStyle, text
from rollout.strategies.dialog import DialogSettings, after_retries, converse
from rollout.strategies.programs import ProgramSettings, refine
from rollout.strategies.single import sample
from rollout.traces import Sampling, Trace
from training.autoeval.round_trips import both_ways
from training.configuration.run import ArmConfig, RunConfig
from training.curation.derivation import provenance
from training.lessons.dialogs import ActorTurn, Lesson, LessonSettings, Mix, lessons, mixed
from training.workers.opinions import opinionated

Record = dict[str, Any]
JUDGED_AS = {"answer": "cot", "fol-cot": "cot"}
"""The formats of attempts whose arms are named after what they ask for."""


class Strategy(Protocol):
    """How problems are put to a policy, and what is learnt from what came out."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield `sampling.samples_per_problem` attempts for each problem, in problem order, as one batch."""
        ...

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Record]:
        """Return what kept traces teach, as lines of a dataset."""
        ...

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the trace as it would be with a smaller budget, smallest first; empty where it has one size."""
        ...


@dataclass(frozen=True, slots=True)
class SingleAttempt:
    """One completion for a problem: under a guide, or free text."""

    format: str
    guide: str = field(default="logic", kw_only=True)

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield one attempt after the other."""
        sampling = replace(sampling, guide=self.guide)
        return sample(policy, problems, sampling, seed=seed, format_=self.format, hinted=hinted)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Record]:
        """Return each trace's prompt and completion."""
        return [completion_example(trace) for trace in traces]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return nothing: there is one completion."""
        return []


@dataclass(frozen=True, slots=True)
class FirstOrder(SingleAttempt):
    """Formulas for a problem: for the solver, or with the model's own answer under them."""

    num_examples: int
    answers: bool

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield one attempt after the other."""
        writer = FormulaWriter(cast("ChatPolicy", policy), self.num_examples, answers=self.answers)
        return SingleAttempt.attempts(self, writer, problems, sampling, seed=seed, hinted=hinted)


@dataclass(frozen=True, slots=True)
class ActorCritic:
    """A program with tests, and the critic's feedback on it (LLM-ARC)."""

    settings: DialogSettings
    review: Reviewing
    lessons: LessonSettings = field(default_factory=LessonSettings)
    mix: Mix = field(default_factory=Mix)

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield dialogs; there is no hint, because the critic's feedback takes its place."""
        assert not hinted
        actor = cast("ChatPolicy", policy)
        return converse(actor, problems, self.settings, sampling, seed=seed, review=self.review)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Record]:
        """Return lessons, each with the certificate of its dialog, mixed as the configuration says."""
        found: list[Any] = []
        origins: dict[str, Record] = {}
        for trace in traces:
            taught = lessons(trace, self.lessons)
            found += taught
            origins |= {lesson.id: {"certificate": trace.judged.digest, **provenance(trace)} for lesson in taught}
        return [
            {**lesson.record(), **origins[lesson.id.partition("~")[0]]} for lesson in mixed(found, self.mix, seed=seed)
        ]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the dialog after 0, 1, .. retries, for the curves of figure 5; a problem in portions has none."""
        if self.settings.portion_size is not None:
            return []
        return [after_retries(trace, num) for num in range(self.settings.max_retries + 1)]

    def resampling(self) -> "ActorCritic":
        """Return plain resampling with the same budget: the control beside retries with feedback."""
        return replace(self, settings=replace(self.settings, history="none"))


@dataclass(frozen=True, slots=True)
class Programs:
    """A program for a solver: sampled, chosen and mended (papers 000 and 001)."""

    settings: ProgramSettings
    timeout_s: float

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield attempts; there is no hint, because what running a program shows takes its place."""
        assert not hinted
        writer = cast("ChatPolicy", policy)
        with ReviewPool(timeout_s=self.timeout_s) as review:
            yield from refine(writer, problems, self.settings, sampling, seed=seed, review=review)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Record]:
        """Return the direct way from each problem to its last program, in one turn and without solved examples."""
        return [program_example(trace) for trace in traces]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return nothing: what a smaller budget comes to is `rollout.programs.lessons.after_refinements`'s."""
        return []


def program_example(trace: Trace) -> Record:
    """Return what a translator learns from a trace of a program, with the digest of its certificate."""
    learnt = ActorTurn(trace.completion_ids, learnt=True)
    lesson = Lesson(trace.id, "direct", tuple(direct_messages(trace)), (learnt,))
    return {**lesson.record(), "certificate": trace.judged.digest, **provenance(trace)}


def strategy_of(config: RunConfig, arm: ArmConfig, *, trained: bool, review: Reviewing) -> Strategy:
    """Return an arm's strategy; the prompt of an actor that was `trained` on its dialogs shows no examples."""
    if arm.strategy is not None:
        return plugins.load("strategies", arm.strategy)(config, arm)
    if arm.format == "program":
        section = config.programs_of(arm)
        return Programs(section.settings(trained=trained), section.timeout_s)
    if arm.format == "equivalence":
        return config.round_trip.strategy()
    if arm.format in ("fol", "fol-cot") and config.model.prompt != "bare":
        num_examples = DEFAULT_EXAMPLES if config.model.examples is None else config.model.examples
        return FirstOrder(JUDGED_AS.get(arm.format, arm.format), num_examples, arm.format == "fol-cot")
    if arm.format != "asp":
        return SingleAttempt(JUDGED_AS.get(arm.format, arm.format), guide=arm.guide)
    dialog = config.actor_critic_of(arm)
    review = opinionated(config, dialog, review)
    return ActorCritic(dialog.settings(trained=trained), review, dialog.lessons.settings(), dialog.lessons.mix())


def completion_example(trace: Trace) -> Record:
    """Return the example of a trace with one completion, with the digest of its certificate where it has one."""
    return {
        "id": trace.id,
        "prompt": trace.prompt or text(trace.problem, PromptStyle()),
        "completion": trace.completion,
        "completion_ids": list(trace.completion_ids),
        "certificate": trace.judged.digest,
        **provenance(trace),
    }


def file_examples(traces: Iterable[Trace]) -> list[Record]:
    """Return what the traces of a file teach, whatever strategies they are of: `certistar filter`."""
    made: list[Record] = []
    for trace in traces:
        if trace.turns:
            made += ActorCritic(DialogSettings(), no_review).examples([trace], seed=0)
        elif trace.legs:
            made += both_ways(trace)
        else:
            made.append(program_example(trace) if trace.program_steps else completion_example(trace))
    return made


def no_review(_: object) -> Any:
    """Stand in for the critic where no dialog goes on."""
    raise InputError("a finished dialog is not reviewed again")
