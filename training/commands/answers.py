"""Work of `answer`: attempts at problems until one is certified, and the answers with their proofs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from critics.judge import JudgePool, Judging, judge_on_trust, judge_record
from critics.problem import Problem
from critics.verdict.certificate import read_certificate
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.policies.policy import Policy
from rollout.records.sampling import Sampling, batches, derived_seed
from rollout.records.selection import Abstained, AnswerRule, Outcome, is_settled, outcome
from rollout.records.traces import Trace
from training.commands.options import say
from training.configuration.run import RunConfig
from training.curation.filters import judged
from training.logs import tracked
from training.outcomes import Proportion, Record, with_interval
from training.records.open_store import OpenStore
from training.records.store import write_records
from training.reporting.traces import proof_lines
from training.rounds.problems import held_out_problems, load_problems
from training.rounds.rollout_store import stored_strategy
from training.workers.strategies import Strategy, quiet_policy, strategy_of

TRUSTED_PROOFS = 3
"""Proofs that must agree where nothing compares them with the text; chosen on split `develop` (docs/answer.md)."""
TRUSTED_SHARE = 0.8
_REASONS = {
    "no_proof": "nothing was proved",
    "too_few_proofs": "too few attempts prove it",
    "conflict": "conflict: attempts prove different answers",
}


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options of the command line."""

    num_attempts: int
    adapter: Path | None
    formalisation: str
    proofs: int | None
    arms: Sequence[str]
    seed: int
    jobs: int
    out: Path | None
    as_json: bool

    @property
    def rule(self) -> AnswerRule:
        """Return what it takes to answer: one checked proof, or several that agree where they are taken on trust."""
        if self.formalisation == "checked":
            return AnswerRule(self.proofs or 1)
        return AnswerRule(self.proofs or min(TRUSTED_PROOFS, self.num_attempts), TRUSTED_SHARE)


def answer_problems(config: RunConfig, source: Path | None, asked: AnswerOptions) -> None:
    """Answer problems, held-out ones where no file is named; write and print the answers with their proofs."""
    problems = held_out_problems(config, config.seeds[0]) if source is None else list(load_problems(source))
    attempts = _attempts(config, problems, asked)
    found = {name: outcome(made, asked.rule, len(config.arms_named(asked.arms))) for name, made in attempts.items()}
    lines = [_line(problem, found[problem.id], len(attempts[problem.id])) for problem in problems]
    given = [(problem, line["answer"]) for problem, line in zip(problems, lines, strict=True) if line["answer"]]
    known = [(problem.answer, answer) for problem, answer in given if problem.answer is not None]
    right = Proportion(sum(gold == answer for gold, answer in known), len(known))
    if asked.out is not None:  # `explain` reads the attempts
        traces = (attempt.record() for made in attempts.values() for attempt in made)
        write_records(asked.out / "traces.jsonl", traces, checksum=True)
        write_records(asked.out / "answers.jsonl", lines)
        for path in asked.out.glob("attempts-*.open.jsonl"):
            path.unlink()
    if asked.as_json:
        n = sum(problem.answer is not None for problem in problems)
        selective = {"selective": {"n": n, "answered": right.n, "right": right.count}} if n else {}
        print(json.dumps({"n": len(problems), "answered": len(given), **selective, "answers": lines}))
        return
    for problem in problems:
        _print(problem, found[problem.id], attempts[problem.id])
    say(f"{len(given)} of {len(problems)} problems answered with a proof")
    if right.n:
        say(f"right among those with a gold answer: {with_interval(right)}")


def _line(problem: Problem, found: Outcome, num_attempts: int) -> Record:
    """Return the JSON form of one outcome."""
    line: Record = {"id": problem.id, "answer": None, "reason": "proved", "attempts": num_attempts, "proofs": []}
    if isinstance(found, Abstained):
        return {**line, "reason": found.reason, "formats": [], "certificate": None}
    digests = [proof.judged.digest for proof in found.proofs]
    shown = {"formats": list(found.formalisms), "certificate": digests[0]}
    return {**line, "answer": found.answer, **shown, "proofs": digests}


def _attempts(config: RunConfig, problems: Sequence[Problem], asked: AnswerOptions) -> Mapping[str, list[Trace]]:
    """Return the judged attempts."""
    trusting, arms = asked.formalisation == "trusted", config.arms_named(asked.arms)
    judge_one = judge_on_trust if trusting else judge_record
    reviewing = DialogReviewPool(timeout_s=config.actor_critic.timeout_s)
    with JudgePool(jobs=asked.jobs, judging=judge_one) as pool, reviewing as reviews:
        formalisms: list[Formalism] = []
        for arm in arms:
            strategy: Strategy = strategy_of(config, arm, trained=asked.adapter is not None, review=reviews)
            if asked.out is not None:
                store = OpenStore(asked.out / f"attempts-{arm.name}.open.jsonl")
                strategy = stored_strategy(strategy, store, config, arm)
            policy = quiet_policy(config, arm, asked.adapter)
            formalisms.append(Formalism(strategy, policy, config.sampling.sampling(arm.decoding, samples=1)))

        def settled(made: Sequence[Trace]) -> bool:
            return is_settled(made, asked.rule, len(arms))

        answering = Answering(formalisms, pool.judge, config.sampling.batch_size, asked.seed, settled)
        numbers = tracked(range(asked.num_attempts), total=asked.num_attempts, what="attempts at each problem")
        return attempts_at([blind(problem, trusting=trusting) for problem in problems], answering, numbers)


def _print(problem: Problem, found: Outcome, attempts: Sequence[Trace]) -> None:
    if isinstance(found, Abstained):
        print(f"{problem.id}: no answer after {len(attempts)} attempts, {_REASONS[found.reason]}\n")
        return
    agreed = f", {' and '.join(found.formalisms)} agree" if len(found.formalisms) > 1 else ""
    print(f"{problem.id}: {found.answer} (proofs: {len(found.proofs)}, attempts: {len(attempts)}{agreed})")
    certificate = found.proofs[0].judged.certificate
    assert certificate is not None, "only what is certified is a proof"
    print("\n".join(proof_lines(read_certificate(certificate))), end="\n\n")


@dataclass(frozen=True, slots=True)
class Formalism:
    """One way to ask: an arm's strategy with its policy and sampling, one sample a problem."""

    strategy: Strategy
    policy: Policy
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Answering:
    """The policy to ask, the judging, and the rule by which to stop."""

    formalisms: Sequence[Formalism]
    judging: Judging
    batch_size: int
    seed: int
    is_settled: Callable[[Sequence[Trace]], bool]
    """Says whether a problem's judged attempts so far suffice."""


def blind(problem: Problem, *, trusting: bool = False) -> Problem:
    """Return the problem without its gold answer, and `trusting` without its formalisation.

    Neither who writes nor who judges may know the one; where proofs are worth what they are without a translator,
    nobody may know the other.
    """
    return replace(problem, answer=None, formal=None if trusting else problem.formal)


def attempts_at(problems: Sequence[Problem], answering: Answering, numbers: Iterable[int]) -> Mapping[str, list[Trace]]:
    """Return the judged attempts at each blind problem, one for each of `numbers` at most; formalisms take turns."""
    assert all(problem.answer is None for problem in problems), "blind the problems first"
    made: dict[str, list[Trace]] = {problem.id: [] for problem in problems}
    left = list(problems)
    for number in numbers:
        formalism = answering.formalisms[number % len(answering.formalisms)]
        for batch in batches(left, answering.batch_size):
            for attempt in _judged(batch, formalism, answering, number):
                made[attempt.problem.id].append(attempt)
        left = [problem for problem in left if not answering.is_settled(made[problem.id])]
    return made


def _judged(batch: Sequence[Problem], formalism: Formalism, answering: Answering, number: int) -> Iterator[Trace]:
    seed = derived_seed(answering.seed, "answer", number)
    sampled = formalism.strategy.attempts(formalism.policy, batch, formalism.sampling, seed=seed)
    attempts = [replace(attempt, id=f"{attempt.problem.id}#{number}") for attempt in sampled]
    return judged(attempts, answering.judging)
