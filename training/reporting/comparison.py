"""Comparison of the arms of a run, or of several runs, from their evaluations, with intervals.

Arms are compared answer by answer, so all arms and rounds must have answered the same problems under the same seeds;
what is not paired is refused, never compared loosely. No model is needed: a finished run can be summarised anywhere.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from critics.errors import InputError
from critics.replay.grades import count_by_grade
from training.autoeval.false_positives import pooled_false_positives
from training.autoeval.scores import pooled
from training.curation.coverage import SHARES, TOKEN_SHARES
from training.estimates import (
    REPLICATES,
    PairedComparison,
    compare_paired,
    compare_unpaired,
    holm,
    mean,
    mean_interval,
    seeds_interval,
)
from training.records.run_folder import configuration
from training.records.store import write_text
from training.reporting.evaluations import GROUPINGS, Evaluation, Grouping, Mode, Outcome, Tally
from training.reporting.panels import write_figure
from training.reporting.report import render
from training.reporting.results import STAGES, Arm, Extent, extent_of, finished_seeds, origins, provenance, read_arms
from training.reporting.retries import dialogs_of, pooled_failures
from training.reporting.sentences import verdict_sentence
from training.reporting.square import square
from training.reporting.summary import ArmSummary, Comparison, Metric, Rates, Revoked, Round, Summary, pooled_rates
from training.reporting.times import times_of
from training.reporting.trace_sample import Rollout, survey

PAIRED_METHOD = (
    "Wilson intervals for rates; stratified paired bootstrap, and one of seeds and pairs; exact McNemar and sign-flip "
    "tests; Holm's correction over all comparisons"
)
UNPAIRED_METHOD = (
    "Wilson intervals for rates; unpaired, because asked for: intervals by Newcombe and by Zou and Donner, Fisher's "
    "exact test and a permutation test; Holm's correction over all comparisons"
)
OUTCOMES: Mapping[Metric, Outcome] = {"accuracy": "right", "certified": "certified", "tests_passed": "tests_passed"}
ANSWERS = ("answered", "no_answer", "abstained", "wrong_formal", "exhausted")


def summarise(run: Path) -> Summary:
    """Return the summary of a finished run folder.

    Raises InputError that names the file where the run is unfinished or a record is ill-formed, or both
    files where two evaluations are of different problems.
    """
    return _summary(read_arms(run), provenance(run))


def compare_runs(runs: Sequence[Path], *, unpaired: bool = False) -> Summary:
    """Return one summary over several runs, their arms called `RUN:ARM`; of a single run its own summary.

    All arms must share seeds and problems, unless `unpaired` says that they may be compared as independent samples;
    `a` is the first strict arm, else the first arm. `provenance.differences` holds the keys in which the
    configurations differ. Raises InputError as `summarise` does.
    """
    if len(runs) == 1 and not unpaired:
        return summarise(runs[0])
    unique = len({run.resolve().name for run in runs}) == len(runs)
    labelled = {run.resolve().name if unique else str(run): run for run in runs}
    arms = [
        replace(arm, name=f"{label}:{arm.name}" if len(runs) > 1 else arm.name)
        for label, run in labelled.items()
        for arm in read_arms(run)
    ]
    differences = _differences(labelled.values())
    named = {label: provenance(run) for label, run in labelled.items()}
    origin = {"name": " and ".join(labelled), "runs": named, "differences": differences}
    return replace(_summary(arms, origin, unpaired=unpaired), differences=differences)


def _differences(runs: Iterable[Path]) -> dict[str, list[object]]:
    """Return the configurations' keys whose values differ, with each run's value; arms and names differ by intent."""
    flat = [
        dict(_flat({k: v for k, v in configuration(run).items() if k not in ("name", "arms", "jobs")})) for run in runs
    ]
    keys = sorted(set(flat[0]).intersection(*flat[1:]))  # one version may know keys that another does not
    values = {key: [one.get(key) for one in flat] for key in keys}
    return {key: listed for key, listed in values.items() if any(value != listed[0] for value in listed)}


def _flat(section: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, object]]:
    for key, value in section.items():
        if isinstance(value, Mapping):
            yield from _flat(cast("Mapping[str, Any]", value), f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def write_report(run: Path, *, partial: bool = False) -> Summary:
    """Write report.json, report.html and its first figure, rates.svg, of a finished run; return the summary.

    `partial`: of an unfinished one, by the seeds that every arm has finished; `provenance.unfinished_seeds` names
    the others. Raises InputError as `summarise` does, and where no seed is finished.
    """
    summary, page = report_of(run, finished_seeds(run) if partial else None)
    record = json.dumps(summary.record(), indent=1, ensure_ascii=False, allow_nan=False)
    write_text(run / "report.json", record + "\n")
    write_text(run / "report.html", page)
    write_figure(summary, run / "rates.svg")
    return summary


def report_of(run: Path, extent: Extent | None = None) -> tuple[Summary, str]:
    """Return the summary and the page of a run, of what `extent` says is finished (None: all)."""
    arms = read_arms(run, extent)
    missing = {} if extent is None else extent_of(run).missing(extent)
    found = survey(_rollouts(arms))
    summary = _summary(arms, provenance(run) | missing)
    summary = replace(summary, revoked=_revoked(run / "revoked.json"), costs=found.costs, times=times_of(run))
    return summary, render(summary, found, verdict_sentence(summary))


def _revoked(path: Path) -> Revoked | None:
    if not path.exists():
        return None
    content = json.loads(path.read_text(encoding="utf-8"))
    revoked = content["revoked"]
    return Revoked(revoked["certificates"], revoked["critics"], len(content["adapters"]), content)


def _rollouts(arms: Sequence[Arm]) -> list[Rollout]:
    return [
        Rollout(arm.name, line.seed, number, rollout.traces)
        for arm in arms
        for line in arm.lines
        for number, rollout in enumerate(line.rollouts, 1)
    ]


# -- the summary


def _summary(arms: Sequence[Arm], origin: Mapping[str, object], *, unpaired: bool = False) -> Summary:
    if not unpaired:
        _check_paired(arms)
    lead = next((arm for arm in arms if arm.name.rsplit(":", 1)[-1] == "strict"), arms[0])
    primaries = {one.get("primary") for one in origins(origin)}
    primary = cast("Metric | None", primaries.pop()) if len(primaries) == 1 else None
    measured = arms[0].lines[0].rounds[0]
    method = UNPAIRED_METHOD if unpaired else PAIRED_METHOD
    return Summary(
        {arm.name: _arm_summary(arm) for arm in arms},
        _comparisons(arms, lead, primary, unpaired=unpaired),
        {
            **origin,
            "evaluation": {**measured.problems, "seeds": lead.seeds},
            "statistics": {"method": method, "bootstrap_replicates": REPLICATES, "bootstrap_seed": 0},
        },
        square=square(arms),
        primary=primary,
        bases=len({str(one.get("base_digest")) for one in origins(origin)}),
    )


def _metrics(arms: Sequence[Arm]) -> tuple[Metric, ...]:
    return ("accuracy", "gain", "certified", *(("tests_passed",) if all(arm.has_dialogs for arm in arms) else ()))


def _comparisons(arms: Sequence[Arm], lead: Arm, primary: Metric | None, *, unpaired: bool) -> list[Comparison]:
    """Compare the lead with every other arm; the p-values of the primary metric are one family, all others another."""
    compare = _compare_unpaired if unpaired else _compare
    found: list[tuple[str, Metric, PairedComparison]] = [
        (arm.name, metric, compare(lead, arm, metric)) for metric in _metrics(arms) for arm in arms if arm is not lead
    ]
    first = [entry for entry in found if entry[1] == primary]
    rest = [entry for entry in found if entry[1] != primary]
    return [
        Comparison(lead.name, name, metric, compared, p, not unpaired, metric == primary)
        for family in (first, rest)
        for (name, metric, compared), p in zip(family, holm([c.p for *_, c in family]), strict=True)
    ]


def _compare(a: Arm, b: Arm, metric: Metric) -> PairedComparison:
    if metric == "gain":
        return compare_paired(a.gains(), b.gains(), a.answer_seeds(), test="sign-flip")
    outcome = OUTCOMES[metric]
    return compare_paired(a.outcomes(outcome, -1), b.outcomes(outcome, -1), a.answer_seeds(), test="mcnemar")


def _compare_unpaired(a: Arm, b: Arm, metric: Metric) -> PairedComparison:
    seeds = a.answer_seeds(), b.answer_seeds()
    if metric == "gain":
        return compare_unpaired(a.gains(), b.gains(), *seeds, test="permutation")
    outcome = OUTCOMES[metric]
    return compare_unpaired(a.outcomes(outcome, -1), b.outcomes(outcome, -1), *seeds, test="fisher")


def _arm_summary(arm: Arm) -> ArmSummary:
    gains = arm.gains()
    rounds = {"first": 0, "last": -1} if arm.has_dialogs else {}
    return ArmSummary(
        arm.decoding,
        arm.keep,
        arm.seeds,
        [_round(arm, number) for number in range(len(arm.lines[0].rounds))],
        {
            "accuracy": {str(line.seed): [mean(e.right) for e in line.rounds] for line in arm.lines},
            "certified": {str(line.seed): [mean(e.certified) for e in line.rounds] for line in arm.lines},
        },
        mean(gains),
        seeds_interval(gains, arm.answer_seeds()) or mean_interval(gains, arm.answer_seeds(), bound=1),
        {name: pooled_failures([line.rollouts[n].traces for line in arm.lines]) for name, n in rounds.items()},
    )


def _round(arm: Arm, number: int) -> Round:
    evaluations = [line.rounds[number] for line in arm.lines]
    sampled = [evaluation.sampled for evaluation in evaluations]
    rollouts = [line.rollouts[number - 1] for line in arm.lines] if number else []
    funnel = {stage: sum(rollout.funnel[stage] for rollout in rollouts) for stage in STAGES}
    wrong = [mode.false_positives for mode in sampled if mode.false_positives is not None]
    trips = [mode.round_trips for mode in sampled if mode.round_trips]
    return Round(
        number,
        pooled_rates([mode.counts for mode in sampled]),
        funnel["kept"],
        {
            f"{name}_{mode}": _rate(evaluations, mode, count)
            for mode in ("greedy", "guided")
            for name, count in (("accuracy", "right"), ("certified", "certified"))
        },
        funnel if rollouts else None,
        _answers(sampled),
        {grouping: _by_group(sampled, grouping) for grouping in GROUPINGS},
        _totals([rollout.verdicts for rollout in rollouts]),
        _totals([rollout.reasons for rollout in rollouts]),
        count_by_grade(grade for mode in sampled for grade in mode.grades),
        dialogs_of(evaluations),
        pooled(trips) if len(trips) == len(sampled) else {},
        pooled_false_positives(wrong) if len(wrong) == len(sampled) else None,
        _coverage([rollout.coverage for rollout in rollouts if rollout.coverage]),
        None if None in (chances := [mode.chance for mode in sampled]) else sum(filter(None, chances)) / len(chances),
    )


def _coverage(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean shares of several rounds' texts, by their number; empty where no critic reads any."""
    texts = sum(each["texts"] for each in found)
    if not texts:
        return {}
    # Without a tokenizer, and in folders of before, nobody counted tokens.
    kinds = [*SHARES, *(kind for kind in TOKEN_SHARES if all(each.get(kind) is not None for each in found))]
    means = {kind: sum(each[kind] * each["texts"] for each in found) / texts for kind in kinds}
    return {"texts": texts, **means}


def _totals(counts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return how often the attempts of a round met each verdict or reason, the most frequent first."""
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def _rate(evaluations: Sequence[Evaluation], mode: str, count: str) -> float | None:
    """Return a rate over all seeds; None unless every one was evaluated in that mode."""
    counts = [found.counts for evaluation in evaluations if (found := evaluation.modes.get(mode)) and found.counts["n"]]
    return sum(c[count] for c in counts) / sum(c["n"] for c in counts) if len(counts) == len(evaluations) else None


def _answers(modes: Sequence[Mode]) -> dict[str, float] | None:
    """Return the rates of answers, abstentions and proofs of the wrong; None where an evaluation is without them."""
    guesses = [(mode.guessed, mode.counts["n"]) for mode in modes if mode.guessed is not None]
    if len(guesses) < len(modes) or not all(key in mode.counts for mode in modes for key in ANSWERS):
        return None
    n = sum(mode.counts["n"] for mode in modes)
    guessed = sum(rate * num for rate, num in guesses)
    return {**{key: sum(mode.counts[key] for mode in modes) / n for key in ANSWERS}, "accuracy_with_guess": guessed / n}


def _by_group(modes: Sequence[Mode], grouping: Grouping) -> dict[str, Rates]:
    """Return rates for each group that was asked: numbers of hops ascending, then other labels."""
    cells: dict[str, list[Tally]] = {}
    for mode in modes:
        for label, cell in mode.groups[grouping].items():
            if cell["n"]:
                cells.setdefault(label, []).append(cell)
    order = sorted(cells, key=lambda label: (not label.isdecimal(), len(label), label))
    return {label: pooled_rates(cells[label]) for label in order}


def _check_paired(arms: Sequence[Arm]) -> None:
    """Raise InputError unless every evaluation under one seed is of the same problems."""
    first = arms[0]
    for arm in arms:
        if arm.seeds != first.seeds:
            raise InputError(
                f"arm {first.name} has the seeds {first.seeds} and arm {arm.name} {arm.seeds}: answers are "
                "compared seed by seed, so give all arms the same seeds, or add --unpaired to `certistar compare`"
            )
        for line, reference in zip(arm.lines, (line.rounds[0] for line in first.lines), strict=True):
            for evaluation in line.rounds:
                _check_same_problems(reference, evaluation)


def _check_same_problems(a: Evaluation, b: Evaluation) -> None:
    if a.ids == b.ids and a.problems.get("digest") == b.problems.get("digest"):
        return
    num_shared = len(set(a.ids) & set(b.ids))
    raise InputError(
        f"{a.path} ({len(a.ids)} problems) and {b.path} ({len(b.ids)}) are not of the same problems: "
        f"{num_shared} ids are shared, and answers are compared one by one; evaluate both on the same file, or add "
        "--unpaired to `certistar compare`"
    )
