"""Held-out measurement as in LogicGuide, section 4.1: answers, abstentions and proofs, with every outcome for pairing.

Judged attempts, one at each problem, become the outcomes table; counts by `hops`, by `condition` (content effects,
section 4.2) and by data set are group-bys of it. What is returned is a mode of evaluation.json.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from critics.judge import Judging
from critics.problem import Problem
from critics.replay.answers import in_terms_of
from critics.replay.grades import count_by_grade
from rollout.decoding.guide import Truth
from rollout.policies.policy import Policy
from rollout.problems.splits import content_key
from rollout.programs.lessons import stage_names
from rollout.records.sampling import Sampling, batches
from rollout.records.traces import Trace
from training.autoeval.errors import measure_false_positives
from training.autoeval.scores import score_report
from training.curation.filters import (
    compiles,
    formal_outcome,
    is_certified,
    is_lucky,
    is_right,
    passes_in_solver,
    passes_tests,
)
from training.curation.judging import judged
from training.outcomes import FLAGS, GROUPINGS, Record, Table, table_of
from training.reporting.programs import errors_of, stage_of
from training.workers.strategies import Strategy

Shortened = Callable[[Trace], list[Trace]]
_TRUTHS: tuple[Truth, ...] = ("true", "false", "unknown")


def measure(
    records: Sequence[Trace], sampling: Sampling, judging: Judging, shortened: Shortened, *, seed: int
) -> Record:
    """Count judged attempts, one at each problem: a mode of evaluation.json.

    `shortened` is that of the strategy that made them. `by_retries` (figure 5 of LLM-ARC) and `by_rounds` count them
    cut short, `by_stage` and `errors` are the tables of programs (001).
    """
    trips = [record for record in records if record.legs]
    levels = _at_smaller_budgets(records, judging, shortened)
    wrong = measure_false_positives(trips, judging, seed=seed)
    beside: Record = {"round_trips": score_report(trips), "false_positives": wrong}
    if trips:
        rounds = enumerate(map(score_report, levels), 1)
        beside["by_rounds"] = [{"rounds": number, "round_trips": scores} for number, scores in rounds]
    elif records and records[0].program_steps:
        beside["by_stage"] = [stage_of(*pair) for pair in zip(stage_names(records[0]), levels, strict=False)]
        beside["errors"] = errors_of(records)
    else:
        beside["by_retries"] = [_level(number, dialogs) for number, dialogs in enumerate(levels)]
    how = {key: getattr(sampling, key) for key in ("decoding", "conclusion", "temperature")}
    return {**how, "seed": seed, **tally(records), **{key: value for key, value in beside.items() if value}}


def asked(
    policy: Policy, problems: Sequence[Problem], sampling: Sampling, strategy: Strategy, *, seed: int, batch_size: int
) -> Iterator[Trace]:
    """Yield the attempts of a policy of this process, batch by batch."""
    for batch in batches(problems, batch_size):
        yield from strategy.attempts(policy, batch, sampling, seed=seed)


def counted(trace: Trace) -> Trace:
    """Return a judged trace with what is counted: thousands of certificates fill the memory."""
    return replace(trace, judgement=trace.judged.without_certificate())


def problems_digest(problems: Sequence[Problem]) -> str:
    """Return one digest for a list of problems by their content."""
    return hashlib.sha256("\n".join(content_key(problem) for problem in problems).encode()).hexdigest()


# -- the table


def outcomes(records: Sequence[Trace]) -> Table:
    """Return the outcomes table of judged traces, in their order."""
    return table_of(map(_row, records, _chances(records)))


def _row(trace: Trace, chance: float) -> Record:
    problem, verdict = trace.problem, trace.judged
    proved, silent = formal_outcome(trace), verdict.answer is None
    flags = (
        *(is_right(trace), is_certified(trace), is_lucky(trace)),
        *(not silent, silent and verdict.verdict not in ("timeout", "error")),
        *(_abstains(problem, verdict.answer), _contradicts_gold(problem, proved), proved == "unknown"),
    )
    return {
        "problem": problem.id,
        "dataset": problem.dataset,
        "condition": problem.meta.get("condition") or problem.meta.get("ontology"),
        "hops": problem.meta.get("hops"),
        "gold": problem.answer,
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "grade": verdict.grade,
        "says": _says(problem, verdict.answer),
        "chance": chance,
        "coverage": verdict.others.get("coverage"),
        **dict(zip(FLAGS, map(int, flags), strict=True)),
    }


def tally(records: Sequence[Trace]) -> Record:
    """Return the counts of judged traces, one for each problem, whole and by group, and every outcome."""
    table = outcomes(records)
    means = {key: [value for value in table[key] if value is not None] for key in ("coverage", "chance")}
    groups = table.assign(hops=["unknown" if each is None else str(each) for each in table["hops"]])
    return {
        **_counts(table),
        **{key: round(sum(values) / len(values), 4) for key, values in means.items() if values},
        **{
            name: {label: _counts(cell) for label, cell in groups.groupby(column)} for name, column in GROUPINGS.items()
        },
        "outcomes": {
            "ids": list(table["problem"]),
            **{name: list(table[name]) for name in (*FLAGS, "hops")},
            "grades": list(table["grade"]),
        },
    }


def _counts(table: Table) -> Record:
    """Count attempts; one without an answer is worth what a guess is in `accuracy_with_guess`."""
    counts = {name: int(table[name].sum()) for name in FLAGS}
    guessed = sum(table["chance"] * table["no_answer"])
    grades = count_by_grade(table["grade"])
    return {
        "n": len(table),
        **counts,
        "accuracy_with_guess": (counts["right"] + guessed) / len(table),
        "grades": grades,
    }


def answers_of(records: Sequence[Trace]) -> list[Record]:
    """Return what each answer is told apart by, and what it says, as `evaluate --out` keeps it."""
    table = outcomes(records)
    texts = {name: [None if each is None else str(each) for each in table[name]] for name in ("condition", "hops")}
    return table.assign(**texts)[["dataset", "condition", "hops", "says", "chance"]].to_dict("records")


def _says(problem: Problem, answer: str | None) -> str | None:
    """Return which truth value an answer is, false before unknown where one word says both; None without one."""
    if answer is None:
        return None
    return next((truth for truth in _TRUTHS if in_terms_of(truth, problem.options) == answer), "other")


def _abstains(problem: Problem, answer: str | None) -> bool:
    """Say whether the answer is `unknown` where the gold one is known to be another."""
    if answer is None or problem.answer in (None, answer):
        return False
    # `Invalid` says that nothing follows as much as that the opposite does: it abstains from nothing.
    own, false = (in_terms_of(truth, problem.options) for truth in ("unknown", "false"))
    return answer == own != false


def _contradicts_gold(problem: Problem, proved: Truth | None) -> bool:
    """Say whether what the attempt proved, or disproved, of its goal contradicts the gold answer."""
    if problem.answer is None or proved not in ("true", "false"):
        return False
    return in_terms_of(proved, problem.options) not in (None, problem.answer)


def _chances(records: Iterable[Trace]) -> list[float]:
    """Return for each problem how likely a random guess is right; nobody comes back from a round trip by guessing.

    Without options it is one of the answers that its data set has here, of which true and false are two.
    """
    listed = list(records)
    answers: dict[str, set[str]] = defaultdict(lambda: {"true", "false"})
    for problem in (record.problem for record in listed):
        if problem.options is None and problem.answer is not None:
            answers[problem.dataset].add(problem.answer)
    return [0.0 if r.legs else 1 / len(r.problem.options or answers[r.problem.dataset]) for r in listed]


# -- attempts cut short


def _at_smaller_budgets(records: Sequence[Trace], judging: Judging, shortened: Shortened) -> list[Sequence[Trace]]:
    """Return the judged attempts cut short: dialogs after 0, 1, .. retries, round trips after 1, 2, .. rounds."""
    cut = [shortened(record) for record in records]
    fresh = map(counted, judged((t for attempts in cut for t in attempts if t.judgement is None), judging))
    whole = [[next(fresh) if trace.judgement is None else trace for trace in attempts] for attempts in cut]
    return list(zip(*whole, strict=True))


def _level(number: int, dialogs: Sequence[Trace]) -> Record:
    """Count dialogs after some retries."""
    holds: Mapping[str, Callable[[Trace], bool]] = {
        "right": is_right,
        "compiled": compiles,
        "tests_passed": passes_tests,
        "certified": is_certified,
        "lucky": is_lucky,
        "solver_passed": passes_in_solver,
        "stuck": _is_stuck,
        "unchanged": lambda dialog: _is_stuck(dialog) and any(turn.refused for turn in dialog.turns),
    }
    found = {name: [int(test(dialog)) for dialog in dialogs] for name, test in holds.items()}
    counts = {name: sum(values) for name, values in found.items()}
    last = [dialog.turns[-1].review for dialog in dialogs]
    counts |= {"tests": sum(review.num_tests for review in last), "tests_met": sum(review.num_met for review in last)}
    grades = count_by_grade(dialog.judged.grade for dialog in dialogs)
    return {"retries": number, "n": len(dialogs), **counts, "grades": grades, "outcomes": found}


def _is_stuck(dialog: Trace) -> bool:
    """Say whether the answer is wrong and tests fail: where LLM-ARC looks for turns that change nothing (section 5)."""
    return not is_right(dialog) and not passes_in_solver(dialog)
