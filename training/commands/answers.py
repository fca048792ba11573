"""Work of `answer`: attempts at problems until one is certified, the answers with their proofs, and the curve."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.judge import JudgePool, Judging, judge_on_trust, judge_record
from critics.problem import Problem
from critics.verdict.certificate import read_certificate
from rollout.actor_critic.feedback import DialogReviewPool
from rollout.policies.policy import Policy
from rollout.records.digests import adapter_weights_digest
from rollout.records.sampling import Sampling, batches, derived_seed
from rollout.records.selection import Abstained, AnswerRule, Outcome, ProvedAnswer, is_settled, outcome
from rollout.records.traces import Trace
from training.commands.options import say
from training.configuration.run import ArmConfig, RunConfig
from training.curation.filters import judged
from training.lineage.provenance import provenance
from training.logs import tracked
from training.outcomes import Record
from training.records.open_store import OpenStore
from training.records.store import write_json, write_records, write_text
from training.reporting.proofs import proof_lines
from training.reporting.samples import (
    Samples,
    at_k_record,
    at_k_table,
    curve_figure,
    curve_table,
    samples_of,
    selective,
    selective_curve,
)
from training.rounds.evaluation import problems_digest
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
    curve: bool
    out: Path | None
    as_json: bool

    @property
    def rule(self) -> AnswerRule:
        """Return what it takes to answer: one checked proof, or several that agree where they are taken on trust."""
        if self.formalisation == "checked":
            return AnswerRule(self.proofs or 1)
        return AnswerRule(self.proofs or min(TRUSTED_PROOFS, self.num_attempts), TRUSTED_SHARE)


@dataclass(frozen=True, slots=True)
class Answers:
    """Outcomes at problems, with the attempts that they rest on."""

    problems: Sequence[Problem]
    attempts: Mapping[str, Sequence[Trace]]
    found: Mapping[str, Outcome]
    gold: Mapping[str, str]
    """The known answers, by problem."""
    rows: Sequence[Record]
    """Rows of the curve; empty where it was not asked for."""

    @property
    def answers(self) -> Mapping[str, str]:
        """The answers with a proof."""
        return {name: each.answer for name, each in self.found.items() if isinstance(each, ProvedAnswer)}

    @property
    def samples(self) -> list[Samples]:
        """Counts of the attempts at each problem; their number does not depend on verdicts under `--curve` alone."""
        return samples_of((each for made in self.attempts.values() for each in made), self.gold)

    @property
    def selective(self) -> Record:
        """Count how many problems with a known answer are answered, and how many of those are right."""
        return selective(self.gold, {name: self.answers.get(name) for name in self.gold})

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "n": len(self.found),
            "answered": len(self.answers),
            **({"selective": self.selective} if self.gold else {}),
            "answers": list(map(self.line, self.problems)),
            **({"curve": self.rows, **at_k_record(self.samples)} if self.rows else {}),
        }

    def line(self, problem: Problem) -> dict[str, Any]:
        """Return the JSON form of one outcome."""
        found, num = self.found[problem.id], len(self.attempts[problem.id])
        line = {"id": problem.id, "answer": None, "reason": "proved", "attempts": num, "proofs": list[str]()}
        match found:
            case ProvedAnswer(answer, proofs):
                digests = [proof.judged.digest for proof in proofs]
                shown = {"formats": list(found.formalisms), "certificate": digests[0]}
                return {**line, "answer": answer, **shown, "proofs": digests}
            case Abstained(reason):
                return {**line, "reason": reason, "formats": [], "certificate": None}


def answer_problems(config: RunConfig, source: Path | None, asked: AnswerOptions) -> None:
    """Answer problems, held-out ones where no file is named; write and print the answers with their proofs."""
    if asked.curve and (asked.out is None or len(asked.arms) > 1):
        raise InputError("--curve: name one arm at most, and by --out the folder for the table and the figure")
    problems = held_out_problems(config, config.seeds[0]) if source is None else list(load_problems(source))
    arms = config.arms_named(asked.arms)
    attempts = _attempts(config, arms, problems, asked)
    found = {name: outcome(made, asked.rule, len(arms)) for name, made in attempts.items()}
    gold = {problem.id: problem.answer for problem in problems if problem.answer is not None}
    rows: list[Record] = []
    if asked.curve:
        if not gold:
            raise InputError("--curve: none of the problems has a gold answer to be measured by")
        rules = {_name(asked.rule): asked.rule}
        rules |= {_name(AnswerRule(1)): AnswerRule(1, asked.rule.share)} if asked.rule.proofs > 1 else {}
        rows = selective_curve(gold, attempts, rules, asked.num_attempts)
    result = Answers(problems, attempts, found, gold, rows)
    if asked.out is not None:
        _write(asked.out, result, config, arms, asked)
    if asked.as_json:
        print(json.dumps(result.record()))
        return
    for problem in () if asked.curve else problems:
        _print(problem, found[problem.id], attempts[problem.id])
    _say(result)


def _attempts(
    config: RunConfig, arms: Sequence[ArmConfig], problems: Sequence[Problem], asked: AnswerOptions
) -> Mapping[str, list[Trace]]:
    """Return the judged attempts; under `--curve` as many as there may be at each problem."""
    trusting = asked.formalisation == "trusted"
    judge_one = judge_on_trust if trusting else judge_record
    reviewing = DialogReviewPool(timeout_s=config.actor_critic.timeout_s)
    with JudgePool(jobs=asked.jobs, judging=judge_one) as pool, reviewing as reviews:
        formalisms: list[Formalism] = []
        for arm in arms:
            strategy: Strategy = strategy_of(config, arm, trained=asked.adapter is not None, review=reviews)
            if asked.out is not None:
                store = OpenStore(asked.out / f"attempts-{arm.name}.open.jsonl")
                strategy = stored_strategy(strategy, store, config, arm)
            policy, sampling = (
                quiet_policy(config, arm, asked.adapter),
                config.sampling.sampling(arm.decoding, samples=1),
            )
            formalisms.append(Formalism(arm.name, strategy, policy, sampling))
        answering = Answering(
            formalisms,
            pool.judge,
            config.sampling.batch_size,
            asked.seed,
            lambda made: not asked.curve and is_settled(made, asked.rule, len(arms)),
        )
        numbers = tracked(range(asked.num_attempts), total=asked.num_attempts, what="attempts at each problem")
        return attempts_at([blind(problem, trusting=trusting) for problem in problems], answering, numbers)


def _name(rule: AnswerRule) -> str:
    return "one_proof" if rule.proofs == 1 else f"{rule.proofs}_proofs"


def _write(out: Path, result: Answers, config: RunConfig, arms: Sequence[ArmConfig], asked: AnswerOptions) -> None:
    """Write the judged attempts, which `explain` reads, the answers, and the curve where it was measured."""
    write_records(out / "traces.jsonl", (a.record() for made in result.attempts.values() for a in made), checksum=True)
    write_records(out / "answers.jsonl", map(result.line, result.problems))
    for path in out.glob("attempts-*.open.jsonl"):
        path.unlink()
    if not asked.curve:
        return
    about = {
        **provenance(config),
        "adapter": None if asked.adapter is None else adapter_weights_digest(asked.adapter),
        "arms": [arm.name for arm in arms],
        "problems_digest": problems_digest(result.problems),
        "seed": asked.seed,
        "k": asked.num_attempts,
        "formalisation": asked.formalisation,
        "proofs": asked.rule.proofs,
        "share": asked.rule.share,
    }
    write_text(out / "curve.svg", curve_figure(result.rows))
    write_text(out / "curve.md", f"{curve_table(result.rows)}\n{at_k_table({'attempts': result.samples})}")
    told = {"curve": result.rows, **at_k_record(result.samples)}
    write_json(out / "curve.json", {**told, "provenance": about})


def _print(problem: Problem, found: Outcome, attempts: Sequence[Trace]) -> None:
    if isinstance(found, Abstained):
        print(f"{problem.id}: no answer after {len(attempts)} attempts, {_REASONS[found.reason]}\n")
        return
    agreed = f", {' and '.join(found.formalisms)} agree" if len(found.formalisms) > 1 else ""
    print(f"{problem.id}: {found.answer} (proofs: {len(found.proofs)}, attempts: {len(attempts)}{agreed})")
    certificate = found.proofs[0].judged.certificate
    assert certificate is not None, "only what is certified is a proof"
    print("\n".join(proof_lines(read_certificate(certificate))), end="\n\n")


def _say(result: Answers) -> None:
    say(f"{len(result.answers)} of {len(result.found)} problems answered with a proof")
    point = result.selective
    if point["answered"]:
        low, high = point["accuracy_interval"]
        say(f"right among those with a gold answer: {point['accuracy']:.1%} (95% {low:.1%} to {high:.1%})")
    for row in result.rows:
        points = ((label.replace("_", " "), own) for label, own in row.items() if label != "k")
        shown = (f"{label} {own['right']} of {own['answered']}" for label, own in points)
        say(f"k = {row['k']}: right {', '.join(shown)} (n = {point['n']})")


@dataclass(frozen=True, slots=True)
class Formalism:
    """One way to ask: an arm's strategy with its policy and sampling, one sample a problem."""

    name: str
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
