"""Comparison of the arms of a run, or of several runs, from their evaluations, with intervals: report.json.

Arms are compared answer by answer, so all arms and rounds must have answered the same problems under the same seeds;
what is not paired is refused, never compared loosely. No model is needed: a finished run can be summarised anywhere.
"""

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, cast

from critics.errors import InputError
from critics.problem import is_object
from critics.replay.grades import count_by_grade
from rollout.records.sampling import GUIDED
from training import outcomes
from training.curation.outcomes import SHARES, TOKEN_SHARES
from training.records.run_folder import Provenance, configuration, read_run
from training.records.store import write_text
from training.reporting.runs import (
    STAGES,
    Arm,
    EvaluationFile,
    finished_seeds,
    origins,
    provenance,
    read_arms,
)

METHOD = (
    "Wilson intervals for rates; stratified paired bootstrap, and one of seeds and pairs; exact McNemar and sign-flip "
    "tests; Holm's correction over all comparisons"
)
Report: TypeAlias = outcomes.Record
"""The content of report.json: `arms`, the `square` of filter by decoding, `comparisons` and `provenance`."""
METRICS: Mapping[str, str] = {"accuracy": "right", "gain": "", "certified": "certified", "tests_passed": "tests_passed"}
"""Metrics of comparisons, with the outcome of the last round that each is made of; a gain is of two rounds."""
ANSWERS = ("answered", "no_answer", "abstained", "wrong_formal", "exhausted")
DIALOG_RATES: Mapping[str, str] = {
    "accuracy": "right",
    "compiled": "compiled",
    "tests_passed": "tests_passed",
    "certified": "certified",
}
SUITES: Mapping[str, tuple[str, str]] = {
    "solver_passed": ("solver_passed", "n"),
    "tests_met": ("tests_met", "tests"),
    "unchanged": ("unchanged", "stuck"),
}
"""Tests of dialogs as far as the solver passes them (figure 5, right, of LLM-ARC): a count, and what it is a share of.

Dialogs of which it passes all tests, whatever else the critic says; tests that it passes; and, of dialogs whose answer
is wrong and whose tests fail, those with a turn that changed nothing (section 5)."""


def summarise(run: Path) -> Report:
    """Return the report of a finished run folder.

    Raises InputError that names the file where the run is unfinished or a record is ill-formed, or both
    files where two evaluations are of different problems.
    """
    return _report(read_arms(run), provenance(run))


def compare_runs(runs: Sequence[Path]) -> Report:
    """Return one report over several runs, their arms called `RUN:ARM`; of a single run its own.

    All arms must share seeds and problems; `a` is the first strict arm, else the first arm. `provenance.differences`
    holds the keys in which the configurations differ. Raises InputError as `summarise` does.
    """
    if len(runs) == 1:
        return summarise(runs[0])
    unique = len({run.resolve().name for run in runs}) == len(runs)
    labelled = {run.resolve().name if unique else str(run): run for run in runs}
    arms = [replace(arm, name=f"{label}:{arm.name}") for label, run in labelled.items() for arm in read_arms(run)]
    named = {label: provenance(run) for label, run in labelled.items()}
    # Arms and names differ by intent, and one version may know keys that another does not.
    flat = [dict(_flat(configuration(run))) for run in runs]
    keys = sorted(
        key for key in set(flat[0]).intersection(*flat[1:]) if key.partition(".")[0] not in ("name", "arms", "jobs")
    )
    values = {key: [one[key] for one in flat] for key in keys}
    differences = {key: listed for key, listed in values.items() if any(value != listed[0] for value in listed)}
    return _report(arms, {"name": " and ".join(labelled), "runs": named, "differences": differences})


def _flat(value: object, name: str = "") -> Iterator[tuple[str, object]]:
    """Yield the values of a configuration by their keys with dots."""
    if not is_object(value):
        yield name, value
    else:
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else key)


def write_report(run: Path, *, partial: bool = False) -> Report:
    """Write report.json, report.html and its first figure, rates.svg, of a finished run; return the report.

    `partial`: of an unfinished one, by the seeds that every arm has finished; `provenance.unfinished_seeds` names
    the others. Raises InputError as `summarise` does, and where no seed is finished.
    """
    from training.reporting.report import write_figure

    report, page = report_of(run, finished_seeds(run) if partial else None)
    write_text(run / "report.json", json.dumps(report, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    write_text(run / "report.html", page)
    write_figure(report, run / "rates.svg")
    return report


def report_of(run: Path, seeds: Container[int] | None = None) -> tuple[Report, str]:
    """Return the report and the page of a run, of some of its seeds (None: all).

    The costs of attempts are in their traces, which the report of a comparison does not read.
    """
    from training.reporting.report import render
    from training.reporting.sentences import verdict_sentence
    from training.reporting.traces import RolloutFile, survey

    arms = read_arms(run, seeds)
    left_out = [] if seeds is None else sorted({line.seed for line in read_run(run).lines if line.seed not in seeds})
    found = survey(
        RolloutFile(arm.name, seed, number, rollout["path"])
        for arm in arms
        for place, seed in enumerate(arm.seeds)
        for number, rollout in enumerate((each[place] for each in arm.rollouts), 1)
    )
    origin = provenance(run)
    if left_out:
        origin["unfinished_seeds"] = left_out
    report = _report(arms, origin)
    for name, arm in report["arms"].items():
        for each in arm["rounds"]:
            each["cost"] = found.costs.get((name, each["round"]))
    if (run / "revoked.json").exists():
        report["revoked"] = json.loads((run / "revoked.json").read_text(encoding="utf-8"))
    return report, render(report, found, verdict_sentence(report))


# -- the report


def _report(arms: Sequence[Arm], origin: Provenance) -> Report:
    """Return the report; the p-values of the primary metric are one family, all others another."""
    _check_paired(arms)
    lead = next((arm for arm in arms if arm.name.rsplit(":", 1)[-1] == "strict"), arms[0])
    primaries = {one.get("primary") for one in origins(origin)}
    primary = primaries.pop() if len(primaries) == 1 else None
    metrics = [each for each in METRICS if each != "tests_passed" or all(arm.has_dialogs for arm in arms)]
    found = [(arm.name, metric, _compare(lead, arm, metric)) for metric in metrics for arm in arms if arm is not lead]
    comparisons: list[outcomes.Record] = []
    for is_primary in (True, False):
        family = [each for each in found if (each[1] == primary) is is_primary]
        for (name, metric, compared), p in zip(family, outcomes.holm([c.p for *_, c in family]), strict=True):
            told = {"p_holm": p, "paired": True, "primary": is_primary}
            comparisons.append({"a": lead.name, "b": name, "metric": metric, **compared.record(), **told})
    return {
        "arms": {arm.name: _arm(arm) for arm in arms},
        "square": [cell for arm in arms for number in (0, len(arm.rounds) - 1) for cell in _square(arm, number)],
        "primary": primary,
        "bases": len({str(one.get("base_digest")) for one in origins(origin)}),
        "comparisons": comparisons,
        "provenance": {
            **origin,
            "evaluation": {**arms[0].rounds[0][0].problems, "seeds": list(lead.seeds)},
            "statistics": {"method": METHOD, "bootstrap_replicates": outcomes.REPLICATES, "bootstrap_seed": 0},
        },
    }


def _check_paired(arms: Sequence[Arm]) -> None:
    """Raise InputError unless every evaluation under one seed is of the same problems."""
    first = arms[0]
    for arm in arms:
        if arm.seeds != first.seeds:
            raise InputError(
                f"arm {first.name} has the seeds {first.seeds} and arm {arm.name} {arm.seeds}: answers are "
                "compared seed by seed, so give all arms the same seeds"
            )
        for a, b in ((a, b) for each in arm.rounds for a, b in zip(first.rounds[0], each, strict=True)):
            ids, others = a.columns["ids"], b.columns["ids"]
            if ids != others or a.problems.get("digest") != b.problems.get("digest"):
                raise InputError(
                    f"{a.path} ({len(ids)} problems) and {b.path} ({len(others)}) are not of the same problems: "
                    f"{len(set(ids) & set(others))} ids are shared, and answers are compared one by one; evaluate "
                    "both on the same file"
                )


def _compare(a: Arm, b: Arm, metric: str) -> outcomes.PairedComparison:
    is_gain = metric == "gain"
    own, other = (arm.gains() if is_gain else arm.outcomes(METRICS[metric], -1) for arm in (a, b))
    return outcomes.compare_paired(own, other, a.answer_seeds(), test="sign-flip" if is_gain else "mcnemar")


def _arm(arm: Arm) -> outcomes.Record:
    gains, seeds = arm.gains(), arm.answer_seeds()
    return {
        "decoding": arm.decoding,
        "keep": arm.keep,
        "seeds": list(arm.seeds),
        "rounds": [_round(arm, number) for number in range(len(arm.rounds))],
        "per_seed": {
            rate: {
                str(s): [outcomes.mean(each[i].columns[outcomes.RATES[rate]]) for each in arm.rounds]
                for i, s in enumerate(arm.seeds)
            }
            for rate in ("accuracy", "certified")
        },
        "gain": outcomes.mean(gains),
        "gain_interval": list(outcomes.seeds_interval(gains, seeds) or outcomes.mean_interval(gains, seeds, bound=1)),
    }


def _round(arm: Arm, number: int) -> outcomes.Record:
    """Return an arm's results after a round, pooled over seeds; round 0 is the model before any fine-tuning."""
    evaluations = arm.rounds[number]
    sampled = [evaluation.sampled for evaluation in evaluations]
    rollouts: Sequence[outcomes.Record] = arm.rollouts[number - 1] if number else ()
    funnel = outcomes.pooled(rollouts, STAGES) if rollouts else None
    chances = [mode.get("chance") for mode in sampled]
    other_modes: outcomes.Record = {}
    for mode in ("greedy", GUIDED):
        found = [own for each in evaluations if (own := each.modes.get(mode)) and own["n"]]
        told = outcomes.rates(found) if len(found) == len(evaluations) else {}  # of all seeds, or of none
        other_modes |= {f"{name}_{mode}": told.get(name) for name in ("accuracy", "certified")}
    by_group: outcomes.Record = {}
    for grouping in outcomes.GROUPINGS:
        cells = [(label, cell) for mode in sampled for label, cell in mode.get(grouping, {}).items() if cell["n"]]
        labels = sorted({label for label, _ in cells}, key=outcomes.naturally)
        by_group[grouping] = {label: outcomes.rates([cell for own, cell in cells if own == label]) for label in labels}
    totals: outcomes.Record = {}  # the most frequent first
    for name in ("verdicts", "reasons"):
        counts: list[Mapping[str, int]] = [rollout.get(name, {}) for rollout in rollouts]
        total = sum(map(Counter, counts), Counter[str]())
        totals[name] = dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))
    beside: outcomes.Record = {
        "coverage": _coverage([rollout["coverage"] for rollout in rollouts if rollout.get("coverage")]),
        "chance": None if None in chances else outcomes.mean(cast("list[float]", chances)),
        **_dialogs(evaluations),
        **_round_trips(sampled),
    }
    return {
        "round": number,
        **outcomes.rates(sampled),
        "kept": 0 if funnel is None else funnel["kept"],
        **other_modes,
        "funnel": funnel,
        "answers": _answers(sampled),
        **by_group,
        **totals,
        "grades": count_by_grade(grade for mode in sampled for grade in mode["outcomes"].get("grades", ())),
        **{key: value for key, value in beside.items() if value not in (None, {}, [])},
    }


def _coverage(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean shares of several rounds' texts, by their number; empty where no critic reads any."""
    texts = sum(each["texts"] for each in found)
    # Without a tokenizer nobody counted tokens.
    kinds = [*SHARES, *(kind for kind in TOKEN_SHARES if all(each.get(kind) is not None for each in found))]
    means = {kind: sum(each[kind] * each["texts"] for each in found) / texts for kind in kinds if texts}
    return {"texts": texts, **means} if texts else {}


def _answers(modes: Sequence[outcomes.Record]) -> dict[str, float] | None:
    """Return the rates of answers, abstentions and proofs of the wrong; None where an evaluation is without them."""
    if not all(key in mode for mode in modes for key in (*ANSWERS, "accuracy_with_guess")):
        return None
    n = sum(mode["n"] for mode in modes)
    guessed = sum(mode["accuracy_with_guess"] * mode["n"] for mode in modes)
    return {**{key: sum(mode[key] for mode in modes) / n for key in ANSWERS}, "accuracy_with_guess": guessed / n}


def _dialogs(evaluations: Sequence[EvaluationFile]) -> outcomes.Record:
    """Return what dialogs come to with fewer retries, with feedback and resampled without, and the two compared."""
    told = [evaluation.sampled for evaluation in evaluations]
    resampled = [found for evaluation in evaluations if (found := evaluation.modes.get("resampled"))]
    without = retry_curve(resampled) if len(resampled) == len(told) else []
    compared: list[outcomes.Record] = []
    for metric, key in DIALOG_RATES.items() if without else ():
        columns = [[mode["by_retries"][-1]["outcomes"][key] for mode in modes] for modes in (told, resampled)]
        own, other = ([value for column in each for value in column] for each in columns)
        seeds = [number for number, column in enumerate(columns[0]) for _ in column]
        compared.append({"metric": metric, **outcomes.compare_paired(own, other, seeds, test="mcnemar").record()})
    return {"by_retries": retry_curve(told), "by_retries_resampled": without, "feedback": compared}


def retry_curve(modes: Sequence[outcomes.Record]) -> list[outcomes.Record]:
    """Return the rates of dialogs, pooled over modes, cut off after 0, 1, .. retries; nothing of other attempts."""
    if not all(mode.get("by_retries") for mode in modes):
        return []
    curve: list[outcomes.Record] = []
    for same in zip(*(mode["by_retries"] for mode in modes), strict=True):
        counts = outcomes.pooled(same, ("n", "tests", *(name for pair in SUITES.values() for name in pair)))
        shares = {name: counts[part] / counts[of] if counts[of] else None for name, (part, of) in SUITES.items()}
        per_problem = counts["tests"] / counts["n"] if counts["n"] else 0.0
        level = {"retries": same[0]["retries"], **outcomes.rates(same, DIALOG_RATES)}
        curve.append({**level, "tests_per_problem": per_problem, **shares})
    return curve


def _round_trips(modes: Sequence[outcomes.Record]) -> outcomes.Record:
    """Return AutoEval's scores of round trips, and how often a wrong description came back right, over all seeds."""
    trips, wrong = ([mode[key] for mode in modes if mode.get(key)] for key in ("round_trips", "false_positives"))
    if not trips:
        return {}
    from training.autoeval.scores import pooled_false_positives, pooled_scores

    return {
        "round_trips": pooled_scores(trips) if len(trips) == len(modes) else {},
        "false_positives": pooled_false_positives(wrong) if len(wrong) == len(modes) else None,
    }


def _square(arm: Arm, number: int) -> Iterator[outcomes.Record]:
    """Yield a cell of the square of filter by decoding for each decoding in which all seeds of a model were measured.

    A column apart is decoding, a row apart is training: without it, a symbolic engine at test time would pass for
    something that a model has learnt.
    """
    for name in arm.rounds[number][0].modes:
        modes = [found for each in arm.rounds[number] if (found := each.modes.get(name)) and found["n"]]
        if name == "resampled" or len(modes) < len(arm.seeds) or "temperature" not in modes[0]:
            continue
        shares = [mode["coverage"] for mode in modes if mode.get("coverage") is not None]
        named = {"arm": arm.name, "decoding": modes[0]["decoding"], "temperature": modes[0]["temperature"]}
        coverage = outcomes.mean(shares) if len(shares) == len(modes) else None
        yield {**named, "round": number, **outcomes.rates(modes), "coverage": coverage}
