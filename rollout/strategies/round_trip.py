"""Round trips: a policy puts a formula into words, and the same policy, shown the words alone, into a formula again.

AutoEval (sections 2 and 3): (A o I)^n. Between the two legs nothing is carried over but the description. Whether both
formulas mean the same is for the critic of `equivalence`; a description that copies the formula ends the trip, with
nothing on the right side that could be certified.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from critics.errors import InputError
from critics.formats.equivalence.language import ALPHABET, Language, read_expression
from critics.formats.equivalence.leak import find_leak
from critics.problem import Problem
from critics.replay.first_order.syntax import FormulaError
from critics.text.thinking import without_thinking
from rollout.formulas.prompt import into_signs, into_words
from rollout.formulas.statement import read_notation
from rollout.policies.engine import Steps, Write, conduct, unreviewed, write
from rollout.policies.policy import ChatPolicy, Completion
from rollout.prompts.conversation import Messages
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.steps import Direction, Ending, LeakFound, Leg
from rollout.records.traces import Trace
from rollout.settings import RoundTripSettings

FORMAT = "equivalence"


def travel(
    policy: ChatPolicy,
    problems: Sequence[Problem],
    settings: RoundTripSettings,
    sampling: Sampling,
    *,
    seed: int,
) -> Iterator[Trace]:
    """Yield `sampling.samples_per_problem` round trips for each problem, in problem order; leg by leg, as batches.

    A leg's seed comes from (seed, problem id, sample index, leg), so that fewer rounds are the beginning of more.
    Where the policy cannot go on, the trips that are over are yielded before its error is raised. Raises `InputError`
    for a problem that names no formula.
    """
    sampling = replace(sampling, decoding="free")
    samples = range(sampling.samples_per_problem)
    wanted = [(problem, number) for problem in problems for number in samples]
    trips = [_Trip(p, settings, derived_seed(seed, p.id, n, "round trip")) for p, n in wanted]
    travelled = [_travelled(trip, policy.conversation) for trip in trips]
    endings, interrupted = conduct(travelled, policy, sampling, unreviewed)
    for (problem, number), trip in zip(wanted, endings, strict=True):
        if trip is not None and trip.ending is not None:
            yield Trace(
                id=f"{problem.id}#{number}",
                problem=problem,
                format=FORMAT,
                completion=_claim(problem, trip.legs, trip.ending),
                finished=all(leg.finished for leg in trip.legs),
                sample=number,
                seed=trip.seed,
                sampling=sampling.unswitched("free"),
                policy=policy.digests,
                strategy=settings.record(),
                steps=tuple(trip.legs),
                ending=trip.ending,
            )
    if interrupted is not None:
        raise interrupted.reason


def _travelled(trip: "_Trip", conversation: Callable[[Messages], str]) -> "Steps[_Trip]":
    """Have the formula put into words and back until the trip is over."""
    while trip.ending is None:
        prompt = trip.prompt(conversation)
        [completion] = yield from write([Write(prompt, trip.leg_seed())])
        trip.take(prompt, completion)
    return trip


def after_rounds(trace: Trace, num: int) -> Trace:
    """Return a trip as it would be with at most `num` rounds, without its judgement where that changes it."""
    if len(trace.legs) <= 2 * num:
        return trace
    legs = trace.legs[: 2 * num]
    return replace(
        trace,
        completion=_claim(trace.problem, legs, "arrived"),
        steps=legs,
        ending="arrived",
        finished=all(leg.finished for leg in legs),
        judgement=None,
    )


def _claim(problem: Problem, legs: Sequence[Leg], ending: Ending) -> str:
    """Return the attempt: that the last formula says what the problem's does. A trip without one claims nothing."""
    arrived = ending in ("arrived", "unparsable")
    claim = {
        "language": problem.meta["language"],
        "left": _formula(problem),
        "right": legs[-1].text if arrived else "",
    }
    return json.dumps(claim, ensure_ascii=False)


def _formula(problem: Problem) -> str:
    if problem.formal is None or problem.meta.get("language") not in {language.value for language in Language}:
        raise InputError(
            f"problem {problem.id}: a round trip needs formal.goal and meta.language (one of "
            f"{', '.join(language.value for language in Language)}); `certistar problems autoeval-pl` makes such ones"
        )
    return problem.formal.goal


class _Trip:
    """One round trip while it goes on."""

    def __init__(self, problem: Problem, settings: RoundTripSettings, seed: int) -> None:
        self.ending: Ending | None = None
        self._problem = problem
        self._settings = settings
        self.seed = seed
        self.legs: list[Leg] = []
        self._current = _formula(problem)
        """Formula that is to be described next."""
        self._language = Language(problem.meta["language"])
        if not self._is_readable(self._current):
            raise InputError(f"problem {problem.id}: formal.goal is no {self._language.value} formula")

    def prompt(self, conversation: Callable[[Messages], str]) -> str:
        """Return what the policy reads next: of a description's formula, nothing."""
        notation, kind = read_notation(self._problem.meta), self._settings.prompt
        if self._is_outward:
            asked = into_words(notation, self._current, kind)
        else:
            asked = into_signs(notation, self.legs[-1].text, kind)
        return asked if isinstance(asked, str) else conversation(asked)

    def leg_seed(self) -> int:
        """Return the seed of the next leg."""
        return derived_seed(self.seed, len(self.legs))

    def take(self, prompt: str, completion: Completion) -> None:
        """Add a leg, and decide whether the trip goes on."""
        # Attack: the formula handed on within the thinking, which the second leg would read.
        text = without_thinking(completion.text)
        if self._is_outward:
            leak = find_leak(self._current, self._language, text)
            found = None if leak is None else LeakFound(leak.reason, leak.excerpt)
            self.legs.append(self._leg("informalise", prompt, completion, text, found))
            if leak is not None and self._settings.leaks == "end":
                self.ending = "leak"
            elif not text:
                self.ending = "no_description"
            return
        self.legs.append(self._leg("autoformalise", prompt, completion, text))
        self._current = text
        if len(self.legs) == 2 * self._settings.rounds:
            self.ending = "arrived"
        elif not self._is_readable(text):
            self.ending = "unparsable"

    def _leg(
        self, direction: Direction, prompt: str, completion: Completion, text: str, leak: LeakFound | None = None
    ) -> Leg:
        seed, server = self.leg_seed(), completion.server
        return Leg(direction, prompt, completion.text, completion.ids, completion.finished, text, seed, leak, server)

    @property
    def _is_outward(self) -> bool:
        return len(self.legs) % 2 == 0

    def _is_readable(self, text: str) -> bool:
        try:
            read_expression(text, self._language, self._problem.meta.get("alphabet", ALPHABET))
        except FormulaError:
            return False
        return True
