"""Held-out measurement as in LogicGuide, section 4.1: answers, abstentions and proofs, with every outcome for pairing.

Counts are of problems, one attempt each. By `hops`, by `condition` (content effects, section 4.2) and by data set
they are told apart.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from critics.judge import Judging
from critics.problem import Problem
from critics.replay.answers import in_terms_of
from critics.replay.grades import count_by_grade
from rollout.decoding.guide import Truth
from rollout.policies.policy import Policy
from rollout.problems.splits import content_key
from rollout.programs.lessons import stage_names
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from training.autoeval.errors import measure_false_positives
from training.autoeval.false_positives import FalsePositives
from training.autoeval.scores import Scores, report_record, score_report
from training.curation.environment import formal_outcome
from training.curation.filters import compiles, is_certified, is_lucky, is_right, passes_in_solver, passes_tests
from training.curation.judging import judged
from training.reporting.at_k import AtK
from training.reporting.evaluations import Grouping, Level
from training.reporting.leaderboard import Answer
from training.reporting.spending import Spent, spent_on
from training.reporting.stages import Stage, errors_of, stage_of
from training.workers.requests import batches
from training.workers.strategies import Strategy


@dataclass(frozen=True, slots=True)
class Counted:
    """Counts over some attempts; in the accuracy one without an answer is worth what a guess is."""

    n: int
    counts: Mapping[str, int]
    accuracy_with_guess: float
    grades: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many are certified by each grade."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        accuracy = {"accuracy_with_guess": self.accuracy_with_guess}
        return {"n": self.n, **self.counts, **accuracy, "grades": self.grades}


@dataclass(frozen=True, slots=True)
class Tallied:
    """Counts of judged traces, one for each problem, whole and by group, with every outcome."""

    whole: Counted
    groups: Mapping[Grouping, Mapping[str, Counted]]
    outcomes: Mapping[str, Sequence[object]]
    coverage: float | None = None
    """Mean share of a text behind which something stands; None where no critic reads the texts."""
    chance: float | None = None
    """How often a random guess is right."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        groups = {by: {label: cell.record() for label, cell in cells.items()} for by, cells in self.groups.items()}
        told = {"coverage": self.coverage, "chance": self.chance}
        covered = {key: value for key, value in told.items() if value is not None}
        return {**self.whole.record(), **covered, **groups, "outcomes": self.outcomes}


@dataclass(frozen=True, slots=True)
class Measurement:
    """Judged attempts, one at each problem: a mode of evaluation.json."""

    sampling: Sampling
    seed: int
    tallied: Tallied
    round_trips: Mapping[str, Scores]
    """AutoEval's scores, undecided and malformed trips apart; empty where the attempts are none."""
    false_positives: FalsePositives | None
    """How often a wrong description came back right, of round trips of one round."""
    by_retries: Sequence[Level] = ()
    """Of dialogs: after 0, 1, .. retries, figure 5 of LLM-ARC."""
    by_rounds: Sequence[Mapping[str, Scores]] = ()
    """Of round trips: the scores after 1, 2, .. rounds."""
    answers: Sequence[Answer] = ()
    """What each answer is told apart by, and what it says; evaluation.json of a run leaves it out."""
    spent: Spent = field(default_factory=Spent)
    by_stage: Sequence[Stage] = ()
    """Of programs: the rates of 001 after the prototype and after each refiner."""
    errors: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of programs: what came of executing them, by category (001, table 3)."""
    at_k: Sequence[AtK] = ()
    """Rates at 1, 2, 4, .. samples, where each problem was asked several times."""

    def record(self) -> dict[str, Any]:
        """Return the JSON form."""
        how = {key: getattr(self.sampling, key) for key in ("decoding", "conclusion", "temperature")}
        retries = [each.record() for each in self.by_retries]
        rounds = [{"rounds": num, "round_trips": report_record(scores)} for num, scores in enumerate(self.by_rounds, 1)]
        wrong = None if self.false_positives is None else self.false_positives.record()
        beside = {
            "round_trips": report_record(self.round_trips),
            "false_positives": wrong,
            "by_rounds": rounds,
            "by_retries": retries,
            "by_stage": [stage.record() for stage in self.by_stage],
            "errors": self.errors,
            "at_k": [row.record() for row in self.at_k],
        }
        told = {key: value for key, value in beside.items() if value}
        return {**how, "seed": self.seed, **self.tallied.record(), **told}


def measure(
    records: Sequence[Trace],
    sampling: Sampling,
    judging: Judging,
    shortened: Callable[[Trace], list[Trace]],
    *,
    seed: int,
) -> Measurement:
    """Count judged attempts, one at each problem; `shortened` is that of the strategy that made them."""
    trips = [record for record in records if record.legs]
    wrong = measure_false_positives(trips, judging, seed=seed)
    answers = list(map(answer_of, records, _chances(records)))
    spent = spent_on(records)
    made = Measurement(sampling, seed, tally(records), score_report(trips), wrong, answers=answers, spent=spent)
    levels = _at_smaller_budgets(records, judging, shortened)
    if trips:
        return replace(made, by_rounds=[score_report(level) for level in levels])
    if records and records[0].program_steps:
        staged = zip(stage_names(records[0]), levels, strict=False)
        return replace(made, by_stage=[stage_of(*pair) for pair in staged], errors=errors_of(records))
    return replace(made, by_retries=[_at_retries(num, level) for num, level in enumerate(levels)])


def asked(
    policy: Policy, problems: Sequence[Problem], sampling: Sampling, strategy: Strategy, *, seed: int, batch_size: int
) -> Iterator[Trace]:
    """Yield the attempts of a policy of this process, batch by batch."""
    for batch in batches(problems, batch_size):
        yield from strategy.attempts(policy, batch, sampling, seed=seed)


def counted(trace: Trace) -> Trace:
    """Return a judged trace with what is counted: thousands of certificates fill the memory."""
    return replace(trace, judgement=trace.judged.without_certificate())


def tally(records: Sequence[Trace]) -> Tallied:
    """Tally judged traces, one for each problem."""
    outcomes = _outcomes(records)
    chances = _chances(records)
    grades = [r.judged.grade for r in records]

    def counts(chosen: Sequence[int]) -> Counted:
        return replace(_counts(outcomes, chances, chosen), grades=count_by_grade(grades[i] for i in chosen))

    def grouped(labels: Iterable[str | None]) -> dict[str, Counted]:
        places: dict[str, list[int]] = defaultdict(list)
        for i, label in enumerate(labels):
            if label is not None:
                places[label].append(i)
        return {label: counts(chosen) for label, chosen in sorted(places.items())}

    groups: Mapping[Grouping, Mapping[str, Counted]] = {
        "by_hops": grouped(str(r.problem.meta.get("hops", "unknown")) for r in records),
        "by_condition": grouped(_condition(r) for r in records),
        "by_dataset": grouped(r.problem.dataset for r in records),
    }
    ids, hops = [r.problem.id for r in records], [r.problem.meta.get("hops") for r in records]
    shares = [share for r in records if (share := r.judged.others.get("coverage")) is not None]
    covered = round(sum(shares) / len(shares), 4) if shares else None
    told = {"ids": ids, **outcomes, "hops": hops, "grades": grades}
    chance = round(sum(chances) / len(chances), 4) if chances else None
    return Tallied(counts(range(len(records))), groups, told, covered, chance)


def _at_smaller_budgets(
    records: Sequence[Trace], judging: Judging, shortened: Callable[[Trace], list[Trace]]
) -> list[Sequence[Trace]]:
    """Return the judged attempts cut short: dialogs after 0, 1, .. retries, round trips after 1, 2, .. rounds."""
    cut = [shortened(record) for record in records]
    fresh = map(counted, judged((t for attempts in cut for t in attempts if t.judgement is None), judging))
    whole = [[next(fresh) if trace.judgement is None else trace for trace in attempts] for attempts in cut]
    return list(zip(*whole, strict=True))


def _at_retries(num: int, dialogs: Sequence[Trace]) -> Level:
    holds = {
        "right": is_right,
        "compiled": compiles,
        "tests_passed": passes_tests,
        "certified": is_certified,
        "lucky": is_lucky,
        "solver_passed": passes_in_solver,
        "stuck": _is_stuck,
        "unchanged": _stays_as_it_was,
    }
    outcomes = {name: [int(test(dialog)) for dialog in dialogs] for name, test in holds.items()}
    counts = {name: sum(values) for name, values in outcomes.items()}
    last = [dialog.turns[-1].review for dialog in dialogs]
    counts |= {"tests": sum(review.num_tests for review in last), "tests_met": sum(review.num_met for review in last)}
    grades = count_by_grade(dialog.judged.grade for dialog in dialogs)
    return Level(num, {"n": len(dialogs), **counts}, outcomes, grades)


def _is_stuck(dialog: Trace) -> bool:
    """Say whether the answer is wrong and tests fail: where LLM-ARC looks for turns that change nothing (section 5)."""
    return not is_right(dialog) and not passes_in_solver(dialog)


def _stays_as_it_was(dialog: Trace) -> bool:
    return _is_stuck(dialog) and any(turn.refused for turn in dialog.turns)


def problems_digest(problems: Sequence[Problem]) -> str:
    """Return one digest for a list of problems by their content."""
    return hashlib.sha256("\n".join(content_key(problem) for problem in problems).encode()).hexdigest()


def _outcomes(records: Sequence[Trace]) -> dict[str, list[int]]:
    """Return a 0 or 1 for each attempt under each name that is counted."""
    proved: list[Truth | None] = [formal_outcome(r) for r in records]
    holds: dict[str, Iterable[bool]] = {
        "right": map(is_right, records),
        "certified": map(is_certified, records),
        "lucky": map(is_lucky, records),
        "answered": map(is_answered, records),
        "no_answer": map(is_unanswered, records),
        "abstained": map(is_abstention, records),
        "wrong_formal": map(contradicts_gold, records, proved),
        "exhausted": (truth == "unknown" for truth in proved),
    }
    return {name: list(map(int, values)) for name, values in holds.items()}


def _counts(outcomes: Mapping[str, Sequence[int]], chances: Sequence[float], chosen: Sequence[int]) -> Counted:
    """Count over the chosen attempts; without an answer one is worth what a guess is in `accuracy_with_guess`."""
    guessed = sum(chances[i] * outcomes["no_answer"][i] for i in chosen)
    counts = {name: sum(values[i] for i in chosen) for name, values in outcomes.items()}
    rate = (counts["right"] + guessed) / len(chosen) if chosen else 0.0
    return Counted(len(chosen), counts, rate)


def answer_of(trace: Trace, chance: float) -> Answer:
    """Return the groups that a judged attempt belongs to, its answer, and the chance of a guess."""
    hops, condition = trace.problem.meta.get("hops"), _condition(trace)
    about = (None if condition is None else str(condition), None if hops is None else str(hops))
    return Answer(trace.problem.dataset, *about, _said(trace), chance)


def _said(trace: Trace) -> str | None:
    """Return which truth value the answer is, false before unknown where one word says both; None without one."""
    answer, options = trace.judged.answer, trace.problem.options
    if answer is None:
        return None
    values: tuple[Truth, ...] = ("true", "false", "unknown")
    return next((truth for truth in values if in_terms_of(truth, options) == answer), "other")


def is_answered(trace: Trace) -> bool:
    """Say whether the attempt gives an answer, `unknown` included."""
    return trace.judged.answer is not None


def is_unanswered(trace: Trace) -> bool:
    """Say whether the attempt gives no answer at all; one that no critic came to read is neither."""
    return not is_answered(trace) and trace.judged.verdict not in ("timeout", "error")


def is_abstention(trace: Trace) -> bool:
    """Say whether the answer is `unknown` where the gold one is known to be another."""
    problem, answer = trace.problem, trace.judged.answer
    if answer is None or problem.answer in (None, answer):
        return False
    # `Invalid` says that nothing follows as much as that the opposite does: it abstains from nothing.
    own, false = (in_terms_of(truth, problem.options) for truth in ("unknown", "false"))
    return answer == own != false


def contradicts_gold(trace: Trace, proved: Truth | None) -> bool:
    """Say whether what the attempt proved, or disproved, of its goal contradicts the gold answer."""
    gold = trace.problem.answer
    if gold is None or proved not in ("true", "false"):
        return False
    return in_terms_of(proved, trace.problem.options) not in (None, gold)


def _chances(records: Sequence[Trace]) -> list[float]:
    """Return for each problem how likely a random guess is right.

    Without options it is one of the answers that its data set has here, of which true and false are two.
    """
    answers: dict[str, set[str]] = defaultdict(lambda: {"true", "false"})
    for problem in (r.problem for r in records):
        if problem.options is None and problem.answer is not None:
            answers[problem.dataset].add(problem.answer)
    return [0.0 if r.legs else 1 / len(r.problem.options or answers[r.problem.dataset]) for r in records]


def _condition(trace: Trace) -> str | None:
    """Return the condition under which content effects are compared: the data set's own, or the ontology."""
    meta = trace.problem.meta
    return meta.get("condition") or meta.get("ontology")
