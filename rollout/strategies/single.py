"""Single attempts: one completion for a problem. Nothing here knows whether an attempt is any good."""

from collections.abc import Iterator, Sequence
from typing import cast

from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.guides.catalogue import GuideRecipe
from rollout.policies.engine import Steps, Write, perform, write
from rollout.policies.policy import ChatPolicy, Policy
from rollout.records.sampling import Sampling, derived_seed
from rollout.records.traces import Trace


def sample(
    policy: Policy,
    problems: Sequence[Problem],
    sampling: Sampling,
    *,
    seed: int,
    format_: str,
    hinted: bool = False,
) -> Iterator[Trace]:
    """Yield `sampling.samples_per_problem` traces for each problem, in problem order, as one batch.

    A trace's seed comes from (seed, problem id, sample index). A completion cut off by the token limit is
    yielded like any other, with `finished` false. `hinted` gives the answer away while sampling and
    records the prompt without it: STaR's rationalisation. Where a policy cannot go on, what it has written is
    yielded before its error is raised.
    """

    def attempt(problem: Problem, number: int) -> Steps[Trace]:
        own = derived_seed(seed, problem.id, number, "hint" if hinted else "")
        asked = Write(policy.prompt(problem, hint=hinted), own, guide_for(problem, sampling))
        [completion] = yield from write([asked])
        return Trace(
            id=f"{problem.id}#{'hint-' if hinted else ''}{number}",
            problem=problem,
            format=format_,
            prompt=policy.prompt(problem),
            completion=completion.text,
            completion_ids=completion.ids,
            finished=completion.finished,
            sample=number,
            seed=own,
            sampling=sampling,
            policy=policy.digests,
            hint=hinted,
            server=completion.server,
            forced=completion.forced,
            log_probabilities=completion.log_probabilities,
            thoughts=completion.thoughts,
        )

    samples = range(sampling.samples_per_problem)
    attempts = [attempt(problem, number) for problem in problems for number in samples]
    return perform(attempts, cast("ChatPolicy", policy), sampling)


def guide_for(problem: Problem, sampling: Sampling) -> Guide | None:
    """Return what watches one attempt, None where nothing does.

    LogicGuide's answer is held to what it decided where the sampling asks for that.
    """
    if sampling.decoding == "free":
        return None
    return GuideRecipe(sampling.guide, problem, sampling.conclusion == "decided", sampling.max_sentences).guide()
