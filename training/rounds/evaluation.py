"""Held-out measurement as in LogicGuide, section 4.1: answers, abstentions and proofs, with every outcome for pairing.

Judged attempts, one at each problem, become the outcomes table; counts by `hops`, by `condition` (content effects,
section 4.2) and by data set are group-bys of it. What is returned is a mode of evaluation.json.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from critics.judge import Judging
from critics.problem import Problem
from critics.replay.answers import in_terms_of, kind_of
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
    judged,
    passes_in_solver,
    passes_tests,
)
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
    # Dialogs after 0, 1, .. retries, round trips after 1, 2, .. rounds; what was cut short is judged as it stands.
    cut = [shortened(record) for record in records]
    fresh = map(counted, judged((t for attempts in cut for t in attempts if t.judgement is None), judging))
    whole = [[next(fresh) if trace.judgement is None else trace for trace in attempts] for attempts in cut]
    levels = list(zip(*whole, strict=True))
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


def chances(problems: Sequence[Problem]) -> list[float]:
    """Return how likely a random guess is right at each problem.

    Without options it is one of the answers that its data set has here, of which true and false are two.
    """
    known: dict[str, set[str]] = defaultdict(lambda: {"true", "false"})
    for problem in problems:
        if problem.options is None and problem.answer is not None:
            known[problem.dataset].add(problem.answer)
    free = [kind_of(problem.options, problem.meta) is not None for problem in problems]
    return [0.0 if f else 1 / len(p.options or known[p.dataset]) for p, f in zip(problems, free, strict=True)]


def outcomes(records: Sequence[Trace]) -> Table:
    """Return the outcomes table of judged traces, in their order.

    `says` is the truth value that an answer is, false before unknown where one word says both; `chance` how likely a
    random guess is right: without options it is one of the answers that the data set has here, of which true and false
    are two, and nobody comes back from a round trip by guessing.
    """
    rows: list[Record] = []
    guesses = chances([record.problem for record in records])
    for trace, chance in zip(records, guesses, strict=True):
        problem, verdict, proved = trace.problem, trace.judged, formal_outcome(trace)
        gold, said, options = problem.answer, verdict.answer, problem.options
        own, false = (in_terms_of(truth, options) for truth in ("unknown", "false"))
        told = proved if proved in ("true", "false") and gold is not None else None
        flags = {
            "right": is_right(trace),
            "certified": is_certified(trace),
            "lucky": is_lucky(trace),
            "answered": said is not None,
            "no_answer": said is None and verdict.verdict not in ("timeout", "error"),
            # `Invalid` says that nothing follows as much as that the opposite does: it abstains from nothing.
            "abstained": said is not None and gold not in (None, said) and said == own != false,
            "wrong_formal": told is not None and in_terms_of(told, options) not in (None, gold),
            "exhausted": proved == "unknown",
        }
        says = next((truth for truth in _TRUTHS if in_terms_of(truth, options) == said), "other")
        beside = {
            "condition": _condition(problem),
            "hops": problem.meta.get("hops"),
            # Free answers are as many as problems, and group nothing.
            "gold": None if kind_of(options, problem.meta) else gold,
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "grade": verdict.grade,
            "says": None if said is None else says,
            "chance": 0.0 if trace.legs else chance,
            "coverage": verdict.others.get("coverage"),
        }
        named = {"problem": problem.id, "dataset": problem.dataset}
        rows.append({**named, **beside, **{name: int(flags[name]) for name in FLAGS}})
    return table_of(rows)


def tally(records: Sequence[Trace]) -> Record:
    """Return the counts of judged traces, one for each problem, whole and by group, and every outcome."""
    table = outcomes(records)
    means = {key: table[key].dropna() for key in ("coverage", "chance")}
    groups = table.assign(hops=["unknown" if each is None else str(each) for each in table["hops"]])
    told = {name: list(table[name]) for name in (*FLAGS, "hops")}
    return {
        **_counts(table),
        **{key: round(sum(values) / len(values), 4) for key, values in means.items() if len(values)},
        **{
            name: {label: _counts(cell) for label, cell in groups.groupby(column)} for name, column in GROUPINGS.items()
        },
        "outcomes": {"ids": list(table["problem"]), **told, "grades": list(table["grade"])},
    }


def _counts(table: Table) -> Record:
    """Count attempts; one without an answer is worth what a guess is in `accuracy_with_guess`."""
    counts = {name: int(table[name].sum()) for name in FLAGS}
    guessed = sum(table["chance"] * table["no_answer"])
    accuracy = (counts["right"] + guessed) / len(table)
    return {"n": len(table), **counts, "accuracy_with_guess": accuracy, "grades": count_by_grade(table["grade"])}


def _condition(problem: Problem) -> object:
    return problem.meta.get("condition") or problem.meta.get("ontology") or problem.meta.get("logic")


def by_label(records: Iterable[Trace]) -> list[Record]:
    """Return how often each gold answer was answered by what (empty: nothing readable), by data set and condition."""
    told = (
        (trace.problem.dataset, str(_condition(trace.problem) or ""), trace.problem.answer, trace.judged.answer or "")
        for trace in records
        if trace.problem.answer is not None and kind_of(trace.problem.options, trace.problem.meta) is None
    )
    keys = ("dataset", "condition", "gold", "said")
    return [{**dict(zip(keys, key, strict=True)), "count": num} for key, num in sorted(Counter(told).items())]


def answers_of(records: Sequence[Trace]) -> list[Record]:
    """Return what each answer is told apart by, and what it says, as `evaluate --out` keeps it."""
    table = outcomes(records)
    texts = {name: [None if each is None else str(each) for each in table[name]] for name in ("condition", "hops")}
    return table.assign(**texts)[["dataset", "condition", "hops", "says", "chance"]].to_dict("records")


# -- attempts cut short


def _level(number: int, dialogs: Sequence[Trace]) -> Record:
    """Count dialogs after some retries.

    `stuck` is where LLM-ARC looks for turns that change nothing (section 5): the answer is wrong and tests fail.
    """

    def is_stuck(dialog: Trace) -> bool:
        return not is_right(dialog) and not passes_in_solver(dialog)

    holds: Mapping[str, Callable[[Trace], bool]] = {
        "right": is_right,
        "compiled": compiles,
        "tests_passed": passes_tests,
        "certified": is_certified,
        "lucky": is_lucky,
        "solver_passed": passes_in_solver,
        "stuck": is_stuck,
        "unchanged": lambda dialog: is_stuck(dialog) and any(turn.refused for turn in dialog.turns),
    }
    found = {name: [int(test(dialog)) for dialog in dialogs] for name, test in holds.items()}
    counts = {name: sum(values) for name, values in found.items()}
    last = [dialog.turns[-1].review for dialog in dialogs]
    counts |= {"tests": sum(review.num_tests for review in last), "tests_met": sum(review.num_met for review in last)}
    grades = count_by_grade(dialog.judged.grade for dialog in dialogs)
    return {"retries": number, "n": len(dialogs), **counts, "grades": grades, "outcomes": found}
