"""Compare the arms of a run: read its evaluations, and say what they show, with intervals.

`summarise` makes the content of report.json (design, Commands). Arms are compared answer by answer, so
all arms and rounds must have answered the same problems under the same seeds; what is not paired is
refused, never compared loosely. No model is needed: a finished run can be summarised anywhere.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from critics.errors import InputError
from training.estimates import (
    REPLICATES,
    PairedComparison,
    Proportion,
    compare_paired,
    compare_unpaired,
    holm,
    mean,
    mean_interval,
)
from training.figures import write_figure
from training.records.store import write_text
from training.reporting.report import render
from training.reporting.results import (
    Arm,
    Evaluation,
    Extent,
    Outcome,
    configuration,
    extent_of,
    finished_seeds,
    provenance,
    read_arms,
)
from training.reporting.retries import curve, feedback_record, pooled_failures
from training.reporting.round_trips import trips_record
from training.reporting.sentences import verdict_sentence
from training.reporting.trace_sample import Rollout, Survey, survey

RATES = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}
PAIRED_METHOD = (
    "Wilson intervals for rates; stratified paired bootstrap, and one of seeds and pairs; exact McNemar and sign-flip "
    "tests; Holm's correction over all comparisons"
)
UNPAIRED_METHOD = (
    "Wilson intervals for rates; unpaired, because asked for: intervals by Newcombe and by Zou and Donner, Fisher's "
    "exact test and a permutation test; Holm's correction over all comparisons"
)
STAGES = ("sampled", "right", "certified", "kept")
OUTCOMES: dict[str, Outcome] = {"accuracy": "right", "certified": "certified", "tests_passed": "tests_passed"}
ANSWERS = ("answered", "no_answer", "abstained", "wrong_formal", "exhausted")


def summarise(run: Path) -> dict[str, Any]:
    """Return the content of report.json for a finished run folder.

    Raises InputError that names the file where the run is unfinished or a record is ill-formed, or both
    files where two evaluations are of different problems.
    """
    return _summary(read_arms(run), provenance(run))


def compare_runs(runs: Sequence[Path], *, unpaired: bool = False) -> dict[str, Any]:
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
        Arm(f"{label}:{arm.name}" if len(runs) > 1 else arm.name, arm.decoding, arm.lines, arm.keep)
        for label, run in labelled.items()
        for arm in read_arms(run)
    ]
    origins = {label: provenance(run) for label, run in labelled.items()}
    origin = {"name": " and ".join(labelled), "runs": origins, "differences": _differences(labelled)}
    return _summary(arms, origin, unpaired=unpaired)


def _differences(runs: Mapping[str, Path]) -> dict[str, list[Any]]:
    """Return the configurations' keys whose values differ, with each run's value; arms and names differ by intent."""
    flat = [
        _flat({k: v for k, v in configuration(run).items() if k not in ("name", "arms", "jobs")})
        for run in runs.values()
    ]
    keys = sorted(set(flat[0]).intersection(*flat[1:]))  # one version may know keys that another does not
    return {
        key: [one.get(key) for one in flat] for key in keys if any(one.get(key) != flat[0].get(key) for one in flat)
    }


def _flat(section: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.items():
        found |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return found


def write_report(run: Path, *, partial: bool = False) -> dict[str, Any]:
    """Write report.json, report.html and its first figure, rates.svg, of a finished run; return the summary.

    `partial`: of an unfinished one, by the seeds that every arm has finished; `provenance.unfinished_seeds` names
    the others. Raises InputError as `summarise` does, and where no seed is finished.
    """
    summary, page = report_of(run, finished_seeds(run) if partial else None)
    record = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(run / "report.json", record + "\n")
    write_text(run / "report.html", page)
    write_figure(summary, run / "rates.svg")
    return summary


def report_of(run: Path, extent: Extent | None = None) -> tuple[dict[str, Any], str]:
    """Return the content of report.json and of report.html, of what `extent` says is finished (None: all)."""
    arms = read_arms(run, extent)
    missing = {} if extent is None else extent_of(run).missing(extent)
    summary = _summary(arms, provenance(run) | missing) | revoked_part(run)
    found = survey(_rollouts(arms))
    _add_costs(summary, found)
    return summary, render(summary, found, verdict_sentence(summary))


def revoked_part(run: Path) -> dict[str, Any]:
    """Return what report.json says of a run in which something was revoked; nothing for all others."""
    path = run / "revoked.json"
    return {"revoked": json.loads(path.read_text(encoding="utf-8"))} if path.exists() else {}


def _rollouts(arms: Sequence[Arm]) -> list[Rollout]:
    return [
        Rollout(arm.name, line.seed, number, path)
        for arm in arms
        for line in arm.lines
        for number, path in enumerate(line.rollouts, 1)
    ]


def _add_costs(summary: dict[str, Any], found: Survey) -> None:
    """Put what the attempts of each round took beside its rates: replies and tokens are in the traces alone."""
    for name, arm in summary["arms"].items():
        for r in arm["rounds"]:
            cost = found.costs.get((name, r["round"]))
            r["cost"] = None if cost is None else cost.record()


# -- the summary


def _summary(arms: Sequence[Arm], origin: dict[str, Any], *, unpaired: bool = False) -> dict[str, Any]:
    if not unpaired:
        _check_paired(arms)
    lead = next((arm for arm in arms if arm.name.rsplit(":", 1)[-1] == "strict"), arms[0])
    measured = arms[0].lines[0].rounds[0]
    method = UNPAIRED_METHOD if unpaired else PAIRED_METHOD
    return {
        "arms": {arm.name: _arm_record(arm) for arm in arms},
        "comparisons": _comparisons(arms, lead, unpaired=unpaired),
        "provenance": {
            **origin,
            "evaluation": {**measured.problems, "seeds": lead.seeds},
            "statistics": {"method": method, "bootstrap_replicates": REPLICATES, "bootstrap_seed": 0},
        },
    }


def _metrics(arms: Sequence[Arm]) -> tuple[str, ...]:
    dialogs = all(line.rounds[-1].tests_passed for arm in arms for line in arm.lines)
    return ("accuracy", "gain", "certified", *(("tests_passed",) if dialogs else ()))


def _comparisons(arms: Sequence[Arm], lead: Arm, *, unpaired: bool) -> list[dict[str, Any]]:
    """Compare the lead with every other arm; all p-values are one family."""
    compare = _compare_unpaired if unpaired else _compare
    records = [
        {"a": lead.name, "b": arm.name, "metric": metric, **compare(lead, arm, metric).record()}
        for metric in _metrics(arms)
        for arm in arms
        if arm is not lead
    ]
    corrected = holm([record["p"] for record in records])
    return [{**record, "p_holm": p, "paired": not unpaired} for record, p in zip(records, corrected, strict=True)]


def _compare(a: Arm, b: Arm, metric: str) -> PairedComparison:
    if metric == "gain":
        return compare_paired(a.gains(), b.gains(), a.answer_seeds(), test="sign-flip")
    outcome = OUTCOMES[metric]
    return compare_paired(a.outcomes(outcome, -1), b.outcomes(outcome, -1), a.answer_seeds(), test="mcnemar")


def _compare_unpaired(a: Arm, b: Arm, metric: str) -> PairedComparison:
    if metric == "gain":
        found, test = (a.gains(), b.gains()), "permutation"
    else:
        found, test = (a.outcomes(OUTCOMES[metric], -1), b.outcomes(OUTCOMES[metric], -1)), "fisher"
    return compare_unpaired(*found, a.answer_seeds(), b.answer_seeds(), test=test)


def _arm_record(arm: Arm) -> dict[str, Any]:
    gains = arm.gains()
    return {
        "decoding": arm.decoding,
        "keep": arm.keep,
        "seeds": arm.seeds,
        "rounds": [_round_record(arm, number) for number in range(len(arm.lines[0].rounds))],
        "per_seed": {
            metric: {str(line.seed): [mean(getattr(e, outcome)) for e in line.rounds] for line in arm.lines}
            for metric, outcome in (("accuracy", "right"), ("certified", "certified"))
        },
        "gain": mean(gains),
        "gain_interval": list(mean_interval(gains, arm.answer_seeds(), bound=1)),
        **_failures(arm),
    }


def _failures(arm: Arm) -> dict[str, Any]:
    """Return what dialogs failed at in the first and the last rollout, by the paper's classes; nothing for others."""
    if not all(line.rounds[-1].tests_passed for line in arm.lines):
        return {}
    rounds = {"first": 0, "last": -1}
    paths = {name: [line.rollouts[number] for line in arm.lines] for name, number in rounds.items()}
    return {"failures": {name: pooled_failures(found) for name, found in paths.items()}}


def _round_record(arm: Arm, number: int) -> dict[str, Any]:
    evaluations = [line.rounds[number] for line in arm.lines]
    datasets = [line.datasets[number - 1] for line in arm.lines] if number else []
    funnel = {stage: sum(dataset[stage] for dataset in datasets) for stage in STAGES}
    return {
        "round": number,
        **_rates([evaluation.sampled for evaluation in evaluations]),
        "kept": funnel["kept"],
        "accuracy_greedy": _pooled(evaluations, "greedy", "right"),
        "certified_greedy": _pooled(evaluations, "greedy", "certified"),
        "accuracy_guided": _pooled(evaluations, "guided", "right"),
        "certified_guided": _pooled(evaluations, "guided", "certified"),
        "funnel": funnel if datasets else None,
        "answers": _answers([evaluation.sampled for evaluation in evaluations]),
        "by_hops": _by_group([evaluation.sampled for evaluation in evaluations], "by_hops"),
        "by_condition": _by_group([evaluation.sampled for evaluation in evaluations], "by_condition"),
        "by_dataset": _by_group([evaluation.sampled for evaluation in evaluations], "by_dataset"),
        "verdicts": _totals(datasets, "verdicts"),
        "reasons": _totals(datasets, "reasons"),
        **_over_retries(evaluations),
        **trips_record([evaluation.sampled for evaluation in evaluations]),
    }


def _totals(datasets: Sequence[Mapping[str, Any]], key: str) -> dict[str, int]:
    """Return how often the attempts of a round met each verdict or reason, the most frequent first."""
    counts: Counter[str] = Counter()
    for dataset in datasets:
        counts.update(dataset.get(key) or {})
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _over_retries(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Return what dialogs come to with fewer retries, and without feedback; nothing for other attempts."""
    record: dict[str, Any] = {}
    for key, mode in (("by_retries", "sampled"), ("by_retries_resampled", "resampled")):
        if all((evaluation.modes.get(mode) or {}).get("by_retries") for evaluation in evaluations):
            record[key] = curve([evaluation.modes[mode]["by_retries"] for evaluation in evaluations])
    if "by_retries_resampled" in record:
        modes = [(line.modes["sampled"], line.modes["resampled"]) for line in evaluations]
        record["feedback"] = feedback_record(modes)
    return record


def _rates(counts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return n and the rates with their intervals, counts pooled."""
    n = sum(count["n"] for count in counts)
    rates = {name: Proportion(sum(count[key] for count in counts), n) for name, key in RATES.items()}
    intervals = {f"{name}_interval": list(rate.interval) for name, rate in rates.items()}
    return {"n": n, **{name: rate.rate for name, rate in rates.items()}, **intervals}


def _pooled(evaluations: Sequence[Evaluation], mode: str, count: str) -> float | None:
    """Return a rate over all seeds; None unless every one was evaluated in that mode."""
    modes = [evaluation.modes.get(mode) for evaluation in evaluations]
    present = [m for m in modes if m and m["n"]]
    return sum(m[count] for m in present) / sum(m["n"] for m in present) if len(present) == len(modes) else None


def _answers(modes: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """Return the rates of answers, abstentions and proofs of the wrong; None where an evaluation is without them."""
    if not all(key in mode for mode in modes for key in (*ANSWERS, "accuracy_with_guess")):
        return None
    n = sum(mode["n"] for mode in modes)
    guessed = sum(mode["accuracy_with_guess"] * mode["n"] for mode in modes)
    return {**{key: sum(mode[key] for mode in modes) / n for key in ANSWERS}, "accuracy_with_guess": guessed / n}


def _by_group(modes: Sequence[Mapping[str, Any]], grouping: str) -> dict[str, dict[str, Any]]:
    """Return rates for each group that was asked: numbers of hops ascending, then other labels."""
    cells: dict[str, list[Mapping[str, Any]]] = {}
    for mode in modes:
        for label, cell in (mode.get(grouping) or {}).items():
            if cell["n"]:
                cells.setdefault(str(label), []).append(cell)
    order = sorted(cells, key=lambda label: (not label.isdecimal(), len(label), label))
    return {label: _rates(cells[label]) for label in order}


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
