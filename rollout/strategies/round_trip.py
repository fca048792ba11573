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
from critics.formats.names import EQUIVALENCE
from critics.problem import Problem
from critics.replay.first_order.syntax import FormulaError
from critics.replay.replies import without_thinking
from rollout.formulas.prompt import into_signs, into_words, read_notation
from rollout.policies.engine import Steps, Write, perform, write
from rollout.policies.policy import ChatPolicy
from rollout.prompts.conversation import Messages
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.steps import Direction, Ending, LeakFound, Leg
from rollout.records.traces import Trace
from rollout.settings import RoundTripSettings

FORMAT = EQUIVALENCE


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

    def trip(problem: Problem, number: int) -> Steps[Trace]:
        own = derived_seed(seed, problem.id, number, "round trip")
        legs, ending = yield from _travelled(problem, settings, own, policy.conversation)
        return Trace(
            id=f"{problem.id}#{number}",
            problem=problem,
            format=FORMAT,
            completion=_claim(problem, legs, ending),
            finished=all(leg.finished for leg in legs),
            sample=number,
            seed=own,
            sampling=sampling.unswitched("free"),
            policy=policy.digests,
            strategy=settings.record(),
            steps=tuple(legs),
            ending=ending,
        )

    samples = range(sampling.samples_per_problem)
    return perform([trip(problem, number) for problem in problems for number in samples], policy, sampling)


def _travelled(
    problem: Problem, settings: RoundTripSettings, seed: int, conversation: Callable[[Messages], str]
) -> Steps[tuple[list[Leg], Ending]]:
    """Have the formula put into words and back until the trip is over."""
    current = _formula(problem)
    language, notation = Language(problem.meta["language"]), read_notation(problem.meta)
    if not _is_readable(current, language, problem):
        raise InputError(f"problem {problem.id}: formal.goal is no {language.value} formula")
    legs: list[Leg] = []
    while True:
        own, is_outward = derived_seed(seed, len(legs)), len(legs) % 2 == 0
        # Of a description's formula the policy reads nothing.
        asked, put = (current, into_words) if is_outward else (legs[-1].text, into_signs)
        said = put(notation, asked, settings.prompt)
        prompt = said if isinstance(said, str) else conversation(said)
        [done] = yield from write([Write(prompt, own)])
        # Attack: the formula handed on within the thinking, which the second leg would read.
        text = without_thinking(done.text)
        leak = find_leak(current, language, text) if is_outward else None
        found = None if leak is None else LeakFound(leak.reason, leak.excerpt)
        direction: Direction = "informalise" if is_outward else "autoformalise"
        legs.append(Leg(direction, prompt, done.text, done.ids, done.finished, text, own, found, done.server))
        if is_outward:
            if leak is not None and settings.leaks == "end":
                return legs, "leak"
            if not text:
                return legs, "no_description"
            continue
        current = text
        if len(legs) == 2 * settings.rounds:
            return legs, "arrived"
        if not _is_readable(text, language, problem):
            return legs, "unparsable"


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
    right = legs[-1].text if arrived else ""
    claim = {"language": problem.meta["language"], "left": _formula(problem), "right": right}
    return json.dumps(claim, ensure_ascii=False)


def _formula(problem: Problem) -> str:
    if problem.formal is None or problem.meta.get("language") not in {language.value for language in Language}:
        raise InputError(
            f"problem {problem.id}: a round trip needs formal.goal and meta.language (one of "
            f"{', '.join(language.value for language in Language)}); `certistar problems autoeval-pl` makes such ones"
        )
    return problem.formal.goal


def _is_readable(text: str, language: Language, problem: Problem) -> bool:
    try:
        read_expression(text, language, problem.meta.get("alphabet", ALPHABET))
    except FormulaError:
        return False
    return True
