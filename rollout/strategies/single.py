"""Single attempts: one completion for a problem. Nothing here knows whether an attempt is any good."""

from collections.abc import Iterator, Sequence
from typing import cast

from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.guides.catalogue import GuideRecipe
from rollout.policies.engine import Steps, Write, conduct, unreviewed, write
from rollout.policies.policy import ChatPolicy, Completion, Policy
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
    wanted = [(problem, number) for problem in problems for number in range(sampling.samples_per_problem)]
    seeds = [derived_seed(seed, problem.id, number, "hint" if hinted else "") for problem, number in wanted]
    asked = [
        _asked(policy.prompt(problem, hint=hinted), own, guide_for(problem, sampling))
        for (problem, _), own in zip(wanted, seeds, strict=True)
    ]
    completions, interrupted = conduct(asked, cast("ChatPolicy", policy), sampling, unreviewed)
    for (problem, number), trace_seed, completion in zip(wanted, seeds, completions, strict=True):
        if completion is None:
            continue
        yield Trace(
            id=f"{problem.id}#{'hint-' if hinted else ''}{number}",
            problem=problem,
            format=format_,
            prompt=policy.prompt(problem),
            completion=completion.text,
            completion_ids=completion.ids,
            finished=completion.finished,
            sample=number,
            seed=trace_seed,
            sampling=sampling,
            policy=policy.digests,
            hint=hinted,
            server=completion.server,
            forced=completion.forced,
            log_probabilities=completion.log_probabilities,
            thoughts=completion.thoughts,
        )
    if interrupted is not None:
        raise interrupted.reason


def _asked(prompt: str, seed: int, guide: Guide | None) -> Steps[Completion]:
    """Have one completion written."""
    [completion] = yield from write([Write(prompt, seed, guide)])
    return completion


def guide_for(problem: Problem, sampling: Sampling) -> Guide | None:
    """Return what watches one attempt, None where nothing does.

    LogicGuide's answer is held to what it decided where the sampling asks for that.
    """
    if sampling.decoding == "free":
        return None
    return GuideRecipe(sampling.guide, problem, sampling.conclusion == "decided").guide()
