"""Compare the arms of a run: read its evaluations, and say what they show, with intervals.

`summarise` makes the content of report.json (design, Commands). Arms are compared answer by answer, so
all arms and rounds must have answered the same problems under the same seeds; what is not paired is
refused, never compared loosely. No model is needed: a finished run can be summarised anywhere.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from critics.errors import InputError
from training.records.store import write_text
from training.reporting.estimates import REPLICATES, PairedComparison, Proportion, compare_paired, mean, mean_interval
from training.reporting.figures import write_figure
from training.reporting.report import p_value, percent, pick_examples, points, render
from training.reporting.results import Arm, Evaluation, Outcome, provenance, read_arms, unfinished_seeds
from training.reporting.retries import curve, feedback_record, pooled_failures
from training.reporting.round_trips import trips_record

if TYPE_CHECKING:
    from rich.table import Table

MARGIN = 0.08
"""The lead in gain that certification should buy; `verdict_sentence` says whether it did."""
CERTIFIED_MARGIN = 0.05
"""The lead in certified answers that strict dialogs should have over those with a right label."""
RATES = {"accuracy": "right", "certified": "certified", "lucky": "lucky"}
STAGES = ("sampled", "right", "certified", "kept")
ANSWERS = ("answered", "no_answer", "abstained", "wrong_formal", "exhausted")


def summarise(run: Path) -> dict[str, Any]:
    """Return the content of report.json for a finished run folder.

    Raises InputError that names the file where the run is unfinished or a record is ill-formed, or both
    files where two evaluations are of different problems.
    """
    return _summary(read_arms(run), provenance(run))


def compare_runs(runs: Sequence[Path]) -> dict[str, Any]:
    """Return one summary over several runs, their arms called `RUN:ARM`; of a single run its own summary.

    All arms must share seeds and problems; `a` is the first strict arm, else the first arm. Raises
    InputError as `summarise` does.
    """
    if len(runs) == 1:
        return summarise(runs[0])
    unique = len({run.resolve().name for run in runs}) == len(runs)
    labelled = {run.resolve().name if unique else str(run): run for run in runs}
    arms = [
        Arm(f"{label}:{arm.name}", arm.decoding, arm.lines) for label, run in labelled.items() for arm in read_arms(run)
    ]
    origins = {label: provenance(run) for label, run in labelled.items()}
    return _summary(arms, {"name": " and ".join(labelled), "runs": origins})


def write_report(run: Path, *, partial: bool = False) -> dict[str, Any]:
    """Write report.json, report.html and its first figure, rates.svg, of a finished run; return the summary.

    `partial`: of an unfinished one, by the seeds that every arm has finished; `provenance.unfinished_seeds` names
    the others. Raises InputError as `summarise` does, and where no seed is finished.
    """
    unfinished = unfinished_seeds(run) if partial else []
    arms = read_arms(run, without=unfinished)
    summary = _summary(arms, provenance(run) | ({"unfinished_seeds": unfinished} if unfinished else {}))
    summary |= revoked_part(run)
    examples = pick_examples({arm.name: [(line.seed, line.rollouts[-1]) for line in arm.lines] for arm in arms})
    record = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(run / "report.json", record + "\n")
    render(summary, examples, run / "report.html", headlines=verdict_sentence(summary))
    write_figure(summary, run / "rates.svg")
    return summary


# -- what the numbers say


def verdict_sentence(summary: Mapping[str, Any]) -> list[str]:
    """Say in plain English what each arm gained, and whether the first arm's lead is what was hoped for."""
    sentences = [*_revoked_sentence(summary), _gains_sentence(summary["arms"]), _certified_sentence(summary["arms"])]
    sentences += [_lead_sentence(c) for c in summary["comparisons"] if c["metric"] == "gain"]
    sentences += [_certified_lead_sentence(c) for c in summary["comparisons"] if _is_of_dialogs(summary, c)]
    if len({arm["decoding"] for arm in summary["arms"].values()}) > 1:
        sentences.append("The arms decode differently, so a gain is measured from the arm's own start.")
    if all(len(arm["seeds"]) == 1 for arm in summary["arms"].values()):
        sentences.append("One seed only: how much another training run would differ is not known.")
    return sentences


def revoked_part(run: Path) -> dict[str, Any]:
    """Return what report.json says of a run in which something was revoked; nothing for all others."""
    path = run / "revoked.json"
    return {"revoked": json.loads(path.read_text(encoding="utf-8"))} if path.exists() else {}


def _revoked_sentence(summary: Mapping[str, Any]) -> list[str]:
    if "revoked" not in summary:
        return []
    tainted, revoked = summary["revoked"]["adapters"], summary["revoked"]["revoked"]
    what = ", ".join([*(f"certificate {digest[:12]}" for digest in revoked["certificates"]), *revoked["critics"]])
    if tainted:
        return [f"Not to be relied on: {len(tainted)} adapters of this run rest on what was revoked ({what})."]
    return [f"Revoked ({what}); no adapter of this run rests on it."]


def _gains_sentence(arms: Mapping[str, Any]) -> str:
    said = [f"{name} {points(arm['gain'])} (95% {points(arm['gain_interval'])})" for name, arm in arms.items()]
    first = said[0].replace(" ", " gained ", 1).replace(" (", " points (", 1)
    return "; ".join([f"{first} over its own start", *said[1:]]) + "."


def _certified_sentence(arms: Mapping[str, Any]) -> str:
    said = (
        f"{name} {percent(arm['rounds'][0]['certified'])} → {percent(arm['rounds'][-1]['certified'])}"
        f" (lucky guesses {percent(arm['rounds'][0]['lucky'])} → {percent(arm['rounds'][-1]['lucky'])})"
        for name, arm in arms.items()
    )
    return f"Answers with a certified proof, from the start to the last round: {'; '.join(said)}."


def _lead_sentence(c: Mapping[str, Any]) -> str:
    a, b, (low, high) = c["a"], c["b"], c["interval"]
    numbers = f"{points(c['difference'])} points (95% {points(c['interval'])}, p {_equals(c['p'])}, n = {c['n']})"
    hoped = f"{100 * MARGIN:.0f} points"
    if low > 0 and c["difference"] >= MARGIN:
        finding = f"yes, it exceeds it by at least {hoped}, and the whole interval is above zero."
    elif low > 0:
        finding = f"only in part: the interval is above zero, but the lead is short of {hoped}."
    elif high < 0:
        finding = f"no: {a} gained less than {b}."
    else:
        finding = "no: the interval includes zero, so this run does not tell the two gains apart"
        finding += f" (it would have found {100 * c['detectable']:.1f} points)." if c["detectable"] else "."
    if c["per_seed"] and min(c["per_seed"]) < 0 < max(c["per_seed"]):
        finding += " The seeds disagree about the sign."
    return f"Does {a} gain more than {b}? {numbers}: {finding}"


def _is_of_dialogs(summary: Mapping[str, Any], comparison: Mapping[str, Any]) -> bool:
    return comparison["metric"] == "certified" and "by_retries" in summary["arms"][comparison["b"]]["rounds"][0]


def _certified_lead_sentence(c: Mapping[str, Any]) -> str:
    numbers = f"{points(c['difference'])} points (95% {points(c['interval'])}, p {_equals(c['p'])}, n = {c['n']})"
    low, high = c["interval"]
    if low > 0:
        finding = "yes." if c["difference"] >= CERTIFIED_MARGIN else "yes, by less than the 5 points hoped for."
    else:
        finding = "no, fewer." if high < 0 else "not told apart."
    return f"Does {c['a']} certify more than {c['b']} in the end? {numbers}: {finding}"


def _equals(p: float) -> str:
    shown = p_value(p)
    return shown if shown.startswith("<") else f"= {shown}"


def table(summary: Mapping[str, Any]) -> "Table":
    """Return arms and rounds as a table for the terminal."""
    from rich.table import Table

    shown = Table("arm", "round")
    for column in ("n", "accuracy [95%]", "certified [95%]", "lucky", "greedy", "kept"):
        shown.add_column(column, justify="right")
    for name, arm in summary["arms"].items():
        for r in arm["rounds"]:
            shown.add_row(
                name if r["round"] == 0 else "",
                "start" if r["round"] == 0 else str(r["round"]),
                str(r["n"]),
                *(f"{percent(r[key])} \\[{percent(r[f'{key}_interval'])}]" for key in ("accuracy", "certified")),
                percent(r["lucky"]),
                percent(r["accuracy_greedy"]),
                str(r["kept"]),
                end_section=r is arm["rounds"][-1],
            )
    return shown


# -- the summary


def _summary(arms: Sequence[Arm], origin: dict[str, Any]) -> dict[str, Any]:
    _check_paired(arms)
    lead = next((arm for arm in arms if arm.name.rsplit(":", 1)[-1] == "strict"), arms[0])
    measured = arms[0].lines[0].rounds[0]
    method = "Wilson intervals for rates; stratified paired bootstrap, exact McNemar and sign-flip tests"
    return {
        "arms": {arm.name: _arm_record(arm) for arm in arms},
        "comparisons": [
            {"a": lead.name, "b": arm.name, "metric": metric, **comparison.record()}
            for metric in _metrics(arms)
            for arm in arms
            if arm is not lead
            for comparison in [_compare(lead, arm, metric)]
        ],
        "provenance": {
            **origin,
            "evaluation": {**measured.problems, "seeds": lead.seeds},
            "statistics": {"method": method, "bootstrap_replicates": REPLICATES, "bootstrap_seed": 0},
        },
    }


def _metrics(arms: Sequence[Arm]) -> tuple[str, ...]:
    dialogs = all(line.rounds[-1].tests_passed for arm in arms for line in arm.lines)
    return ("accuracy", "gain", "certified", *(("tests_passed",) if dialogs else ()))


def _compare(a: Arm, b: Arm, metric: str) -> PairedComparison:
    if metric == "gain":
        return compare_paired(a.gains(), b.gains(), a.answer_seeds(), test="sign-flip")
    outcomes: dict[str, Outcome] = {"accuracy": "right", "certified": "certified", "tests_passed": "tests_passed"}
    outcome = outcomes[metric]
    return compare_paired(a.outcomes(outcome, -1), b.outcomes(outcome, -1), a.answer_seeds(), test="mcnemar")


def _arm_record(arm: Arm) -> dict[str, Any]:
    gains = arm.gains()
    return {
        "decoding": arm.decoding,
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
        **_over_retries(evaluations),
        **trips_record([evaluation.sampled for evaluation in evaluations]),
    }


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
                "compared seed by seed, so give all arms the same seeds"
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
        f"{num_shared} ids are shared, and answers are compared one by one; evaluate both on the same file"
    )
