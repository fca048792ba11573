"""Held-out measurement as in paper 004, section 4.1: answers, abstentions and proofs, with every outcome for pairing.

Counts are of problems, one attempt each. By `hops`, by `condition` (content effects, section 4.2) and by data set
they are told apart.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from critics.checker import in_terms_of
from critics.judge import Judging
from critics.problem import Problem
from critics.replay.grades import count_by_grade
from rollout.guide import Truth
from rollout.guides.logic import LogicGuide
from rollout.policy import Policy
from rollout.splits import content_key
from rollout.traces import Sampling, Trace, read_judgement
from training.autoeval.errors import measure_false_positives
from training.autoeval.scores import report_record, score_report
from training.curation.filters import compiles, is_certified, is_lucky, is_right, passes_tests
from training.workers.requests import batches
from training.workers.strategies import Strategy

_BLOCK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)


def measure(
    attempts: Iterable[Trace],
    sampling: Sampling,
    judging: Judging,
    shortened: Callable[[Trace], list[Trace]],
    *,
    seed: int,
) -> dict[str, Any]:
    """Judge one attempt at each problem, and return a mode of evaluation.json: counts, groups and outcomes.

    `shortened`: `Strategy.shortened` of whoever made the attempts.
    """
    records = _judged(attempts, judging)
    return {
        "decoding": sampling.decoding,
        "conclusion": sampling.conclusion,
        "temperature": sampling.temperature,
        "seed": seed,
        **tally(records),
        **_round_trips(records),
        **_false_positives(records, judging, seed),
        **_at_smaller_budgets(records, judging, shortened),
    }


def asked(
    policy: Policy, problems: Sequence[Problem], sampling: Sampling, strategy: Strategy, *, seed: int, batch_size: int
) -> Iterator[Trace]:
    """Yield the attempts of a policy of this process, batch by batch."""
    for batch in batches(problems, batch_size):
        yield from strategy.attempts(policy, batch, sampling, seed=seed)


def _judged(traces: Iterable[Trace], judging: Judging) -> list[Trace]:
    """Return the traces with their verdicts, without certificates."""
    listed = list(traces)
    verdicts = judging([trace.record() for trace in listed])
    judgements = (read_judgement(verdict).without_certificate() for verdict in verdicts)
    return [replace(trace, judgement=found) for trace, found in zip(listed, judgements, strict=True)]


def tally(records: Sequence[Trace]) -> dict[str, Any]:
    """Return counts, groups and outcomes of judged traces, one for each problem."""
    outcomes = _outcomes(records)
    chances = _chances(records)
    grades = [r.judged.grade for r in records]

    def counts(chosen: Sequence[int]) -> dict[str, Any]:
        return _counts(outcomes, chances, chosen) | {"grades": count_by_grade(grades[i] for i in chosen)}

    def grouped(labels: Iterable[str | None]) -> dict[str, dict[str, Any]]:
        places: dict[str, list[int]] = defaultdict(list)
        for i, label in enumerate(labels):
            if label is not None:
                places[label].append(i)
        return {label: counts(chosen) for label, chosen in sorted(places.items())}

    return {
        **counts(range(len(records))),
        "by_hops": grouped(str(r.problem.meta.get("hops", "unknown")) for r in records),
        "by_condition": grouped(_condition(r) for r in records),
        "by_dataset": grouped(r.problem.dataset for r in records),
        "outcomes": {
            "ids": [r.problem.id for r in records],
            **outcomes,
            "hops": [r.problem.meta.get("hops") for r in records],
            "grades": grades,
        },
    }


def _round_trips(records: Sequence[Trace]) -> dict[str, Any]:
    """Return AutoEval's scores by category where the attempts are round trips, undecided and malformed ones apart."""
    trips = [record for record in records if record.legs]
    return {"round_trips": report_record(score_report(trips))} if trips else {}


def _false_positives(records: Sequence[Trace], judging: Judging, seed: int) -> dict[str, Any]:
    """Return how often a wrong description came back right, where the attempts are round trips of one round."""
    trips = [record for record in records if record.legs]
    found = measure_false_positives(trips, judging, seed=seed)
    return {} if found is None else {"false_positives": found.record()}


def _at_smaller_budgets(
    records: Sequence[Trace], judging: Judging, shortened: Callable[[Trace], list[Trace]]
) -> dict[str, Any]:
    """Return the same of attempts cut short: dialogs after 0, 1, .. retries, round trips after 1, 2, .. rounds.

    The former are figure 5 of LLM-ARC.
    """
    cut = [shortened(record) for record in records]
    fresh = iter(_judged((t for attempts in cut for t in attempts if t.judgement is None), judging))
    judged = [[next(fresh) if trace.judgement is None else trace for trace in attempts] for attempts in cut]
    levels = list(zip(*judged, strict=True))
    if not levels:
        return {}
    if levels[0][0].legs:
        return {"by_rounds": [{"rounds": num, **_round_trips(level)} for num, level in enumerate(levels, 1)]}
    return {"by_retries": [_at_retries(num, level) for num, level in enumerate(levels)]}


def _at_retries(num: int, dialogs: Sequence[Trace]) -> dict[str, Any]:
    holds = {
        "right": is_right,
        "compiled": compiles,
        "tests_passed": passes_tests,
        "certified": is_certified,
        "lucky": is_lucky,
    }
    outcomes = {name: [int(test(dialog)) for dialog in dialogs] for name, test in holds.items()}
    counts = {name: sum(values) for name, values in outcomes.items()}
    grades = count_by_grade(dialog.judged.grade for dialog in dialogs)
    return {"retries": num, "n": len(dialogs), **counts, "grades": grades, "outcomes": outcomes}


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


def _counts(outcomes: Mapping[str, Sequence[int]], chances: Sequence[float], chosen: Sequence[int]) -> dict[str, Any]:
    """Count over the chosen attempts; without an answer one is worth what a guess is in `accuracy_with_guess`."""
    guessed = sum(chances[i] * outcomes["no_answer"][i] for i in chosen)
    counts = {name: sum(values[i] for i in chosen) for name, values in outcomes.items()}
    rate = (counts["right"] + guessed) / len(chosen) if chosen else 0.0
    return {"n": len(chosen), **counts, "accuracy_with_guess": rate}


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


def formal_outcome(trace: Trace) -> Truth | None:
    """Return what the environment of the attempt has decided at its end, taking the formalisation on trust.

    This is the paper's formal verdict (section 4.1), which needs neither an answer nor agreement with the text: the
    guide's own state after all closed blocks, in which a step that does not follow changes nothing. `unknown` where
    all that follows was inferred and the goal is open; None where more could be inferred, or no goal is set.
    """
    if trace.messages or trace.legs:
        return None
    guide = LogicGuide.for_problem(trace.problem)
    for block in _BLOCK.findall(trace.completion):
        guide.close(block.encode(errors="replace"))
    return guide.conclusion()


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
