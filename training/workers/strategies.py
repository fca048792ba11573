"""An arm's strategy: attempts out, examples back.

The one interface between a line of rounds, the strategies of `rollout.strategies` and `training.lessons.teaching`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, cast

from critics import registry
from critics.errors import InputError
from critics.problem import Problem
from rollout.actor_critic.feedback import Reviewing
from rollout.policies.policy import ChatPolicy, Policy, Requesting
from rollout.programs.first_order import DEFAULT_EXAMPLES, request
from rollout.programs.lessons import by_stage
from rollout.programs.review import RunReviewPool
from rollout.records.sampling import ENGLISH, Sampling
from rollout.records.traces import Trace
from rollout.settings import DialogSettings, ProgramSettings
from rollout.strategies.dialog import after_retries, converse
from rollout.strategies.programs import refine
from rollout.strategies.single import sample
from training.autoeval.yardstick import RoundTrips
from training.configuration.learning import LessonConfig
from training.configuration.model import JUDGED_AS
from training.configuration.run import ArmConfig, RunConfig
from training.configuration.strategies import ActorCriticConfig, PlugInConfig, ProgramsConfig, RoundTripConfig
from training.lessons.teaching import Taught, completion_example, dialog_examples, program_example


class Strategy(Protocol):
    """Strategy: puts problems to a policy, and makes examples of what came out."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield `sampling.samples_per_problem` attempts for each problem, in problem order, as one batch."""
        ...

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Taught]:
        """Return what kept traces teach, for a dataset."""
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
        most = sampling.max_sentences if self.guide == ENGLISH else None
        sampling = replace(sampling, guide=self.guide, max_sentences=most)
        return sample(policy, problems, sampling, seed=seed, format_=self.format, hinted=hinted)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Taught]:
        """Return each trace's prompt and completion."""
        return [completion_example(trace) for trace in traces]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return nothing: there is one completion."""
        return []


@dataclass(frozen=True, slots=True)
class Formalising(SingleAttempt):
    """Formulas for the sentences of a problem, and of the text that its `meta` holds."""

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield the texts as attempts, with their formulas."""
        from rollout.strategies.formalisation import formalised, request

        writer = Requesting(cast("ChatPolicy", policy), request)
        asked = SingleAttempt.attempts(self, writer, problems, sampling, seed=seed, hinted=hinted)
        return map(formalised, asked)


@dataclass(frozen=True, slots=True)
class FirstOrderStrategy(SingleAttempt):
    """Formulas for a problem: for the solver, or with the model's own answer under them."""

    num_examples: int
    answers: bool

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield one attempt after the other."""
        asked = partial(request, num_examples=self.num_examples, answers=self.answers)
        writer = Requesting(cast("ChatPolicy", policy), asked)
        return SingleAttempt.attempts(self, writer, problems, sampling, seed=seed, hinted=hinted)


@dataclass(frozen=True, slots=True)
class ActorCritic:
    """A program with tests, and the critic's feedback on it (LLM-ARC)."""

    settings: DialogSettings
    review: Reviewing
    lessons: LessonConfig = field(default_factory=LessonConfig)

    def attempts(
        self, policy: Policy, problems: Sequence[Problem], sampling: Sampling, *, seed: int, hinted: bool = False
    ) -> Iterator[Trace]:
        """Yield dialogs; there is no hint, because the critic's feedback takes its place."""
        assert not hinted
        actor = cast("ChatPolicy", policy)
        return converse(actor, problems, self.settings, sampling, seed=seed, review=self.review)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Taught]:
        """Return lessons, each with the certificate of its dialog, mixed as the configuration says."""
        return dialog_examples(traces, self.lessons, seed=seed)

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the dialog after 0, 1, .. retries, for the curves of figure 5; a problem in portions has none."""
        if self.settings.portion_size is not None:
            return []
        return [after_retries(trace, num) for num in range(self.settings.max_retries + 1)]

    def resampling(self) -> "ActorCritic":
        """Return plain resampling with the same budget: the control beside retries with feedback."""
        return replace(self, settings=self.settings.model_copy(update={"history": "none"}))


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
        with RunReviewPool(timeout_s=self.timeout_s) as review:
            yield from refine(writer, problems, self.settings, sampling, seed=seed, review=review)

    def examples(self, traces: Iterable[Trace], *, seed: int) -> list[Taught]:
        """Return the direct way from each problem to its last program, in one turn and without solved examples."""
        return [program_example(trace) for trace in traces]

    def shortened(self, trace: Trace) -> list[Trace]:
        """Return the attempt after each stage, the chosen prototype first, for the tables of 001."""
        return by_stage(trace)


def strategy_of(config: RunConfig, arm: ArmConfig, *, trained: bool, review: Reviewing) -> Strategy:
    """Return an arm's strategy; the prompt of an actor that was `trained` on its dialogs shows no examples."""
    asked = arm.strategy
    if isinstance(asked, PlugInConfig):
        return registry.load("strategies", asked.of)(config, arm)
    if isinstance(asked, ProgramsConfig):
        return Programs(asked.trained() if trained else asked, asked.timeout_s)
    if isinstance(asked, RoundTripConfig):
        return RoundTrips(asked, asked.learn)
    if isinstance(asked, ActorCriticConfig):
        settings = asked.trained() if trained else asked
        return ActorCritic(settings, review, asked.lessons)
    format_ = JUDGED_AS.get(asked.name, asked.name)
    if asked.name in ("fol", "fol-cot") and config.model.prompt != "bare":
        num = config.model.num_examples(asked.name)
        return FirstOrderStrategy(format_, DEFAULT_EXAMPLES if num is None else num, asked.name == "fol-cot")
    return SingleAttempt(format_, guide=arm.guide)


def no_review(_: object) -> Any:
    """Stand in for the critic where no dialog goes on."""
    raise InputError("a finished dialog is not reviewed again")
