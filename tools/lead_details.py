"""Beside a comparison over bases: greedy rates, rates by gold answer, and cheap filters as certificates.

    python -m tools.lead_details RUN.. --beyond 4 --out docs/results/forks

`details.json` has one value for each run and `details.md` is made of it, with Student's t intervals over the runs'
bases. Filters are measured on what an arm sampled for training, in all rounds; a good attempt is one that the critic
certified. Without `--beyond` problems of all hops count, and rates are told for each number of hops.
"""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer

from rollout.records.traces import Trace, read_trace
from tools.archived_runs import ATTEMPTS
from tools.cheap_filters import measured
from tools.real_cells import judged, packed
from training.commands.traces import trace_files
from training.outcomes import markdown
from training.records.store import read_records, read_text, write_json, write_text
from training.reporting.bases import over_bases
from training.reporting.runs import read_arms
from training.reporting.sentences import p_value, points

RATES = ("certified", "right")
MODES = ("sampled", "greedy")
FIRST = "strict"
BECAME = {
    "certified": "certified",
    "lucky": "right, not proved",
    "opposite": "wrong, and its steps prove the right answer",
    "wrong": "wrong otherwise, or no answer",
}
WITHIN = ("b", "metric", "difference", "interval", "p", "n")


def details(run: Path, beyond: int | None) -> dict[str, Any]:
    """Return what one run says: rates by mode and by gold answer after the last round, and each filter's counts."""
    found: dict[str, Any] = {"run": run.name, "rates": {}, "answers": {}, "kept": {}, "filters": {}}
    if beyond is None:
        found["hops"] = {}
        compared = json.loads(read_text(run / "report.json"))["comparisons"]
        found["within"] = [
            {key: c[key] for key in WITHIN} for c in compared if c["a"] == FIRST and c["metric"] != "gain"
        ]
        held_out = {path.parts[-3 - ("base" not in path.parts)]: path for path in sorted(run.rglob(ATTEMPTS))}
        found["became"] = {
            "start" if name == "free-cot" else name: became(_read(path)) for name, path in held_out.items()
        }
    for arm in read_arms(run):
        [last] = arm.rounds[-1]  # one sampling seed
        if beyond is None:
            [start] = arm.rounds[0]
            for name, each in (("start", start), (arm.name, last)):
                by_hops = each.modes["sampled"]["by_hops"].items()
                found["hops"][name] = {n: {rate: of[rate] / of["n"] for rate in RATES} for n, of in by_hops}
        for mode in filter(last.modes.get, MODES):
            hops = [(int(n), of) for n, of in last.modes[mode]["by_hops"].items() if int(n) > (beyond or 0)]
            num = sum(of["n"] for _, of in hops)
            found["rates"][f"{arm.name}/{mode}"] = {rate: sum(of[rate] for _, of in hops) / num for rate in RATES}
        answers = last.modes["sampled"]["by_answer"]
        found["answers"][arm.name] = {a: {rate: of[rate] / of["n"] for rate in RATES} for a, of in answers.items()}
        rounds = [rollout["by_answer"] for each in arm.rollouts for rollout in each]
        found["kept"][arm.name] = {a: sum(each[a]["kept"] for each in rounds) for a in answers}
        found["filters"][arm.name] = {
            name: [precision.count, precision.n, recall.n]
            for name, (precision, recall) in measured(_sampled(run, arm.name)).items()
        }
    return found


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def became(records: list[dict[str, Any]]) -> dict[str, int]:
    """Count what became of held-out attempts; `opposite` proves the other answer than it gives."""
    counted: Counter[str] = Counter(dict.fromkeys(BECAME, 0))
    for record in records:
        judged, is_right = record["judgement"], record["judgement"]["answer"] == record["problem"]["answer"]
        is_opposite = (judged.get("first_bad_step") or {}).get("reason", "").startswith("the steps prove ")
        unproved = "lucky" if is_right else "opposite" if is_opposite else "wrong"
        counted["certified" if judged["verdict"] == "certified" else unproved] += 1
    return dict(counted)


def _sampled(run: Path, arm: str) -> list[Trace]:
    paths = [path for path in trace_files([run / arm]) if path.name == "traces.jsonl"]
    return [read_trace(record) for path in paths for record in read_records(path)]


def page(found: dict[str, Any]) -> str:
    """Return the tables as Markdown, in percent and percentage points."""
    runs, beyond = found["runs"], found["beyond"]
    arms = list(runs[0]["answers"])
    rows: list[list[str]] = []
    for mode in (mode for mode in MODES if f"{arms[0]}/{mode}" in runs[0]["rates"]):
        for rate in RATES:
            for arm in arms:
                own = [run["rates"][f"{arm}/{mode}"][rate] for run in runs]
                ahead = [run["rates"][f"{FIRST}/{mode}"][rate] - value for run, value in zip(runs, own, strict=True)]
                rows.append([mode, rate, arm, percent(own), "" if arm == FIRST else lead(ahead)])
    problems = "all hops" if beyond is None else f"beyond {beyond} hops"
    greedy = markdown([problems, "rate", "arm", "after the last round", "strict's lead"], rows, "lllrr")
    rows = [
        [arm, answer, *(percent([run["answers"][arm][answer][rate] for run in runs]) for rate in RATES),
         _share([run["kept"][arm] for run in runs], answer)]
        for arm in arms for answer in runs[0]["answers"][arm]
    ]  # fmt: skip
    answers = markdown(["arm", "gold answer", *RATES, "of what was kept"], rows, "llrrr")
    by_hops = [_within(runs), _by_hops(runs), _became(runs, found.get("raw"))] if beyond is None else []
    rows = []
    filters: dict[tuple[str, str], list[list[int]]] = defaultdict(list)
    for run in runs:
        is_shared = all(run["filters"][arm] == run["filters"][arms[0]] for run in runs for arm in arms)
        for arm in arms[: 1 if is_shared else None]:
            for name, counts in run["filters"][arm].items():
                filters["the base, for all arms" if is_shared else arm, name].append(counts)
    for (arm, name), counts in filters.items():
        rows.append([arm, name, percent([a / b for a, b, _ in counts]), percent([a / c for a, _, c in counts])])
    as_certificates = markdown(["sampled by", "filter", "precision", "recall"], rows, "llrr")
    opening = f"{len(runs)} bases; means with 95% intervals over bases; of all hops unless it says other."
    return "\n".join([f"{opening}\n", greedy, *by_hops, answers, as_certificates])


def _within(runs: list[dict[str, Any]]) -> str:
    """Return strict's leads on each base alone, paired by problem, as Markdown."""
    rows = [
        [run["run"], c["metric"], c["b"], f"{points(c['difference'])} ({points(c['interval'])})", p_value(c["p"])]
        for run in runs for c in run["within"]
    ]  # fmt: skip
    return markdown(["on one base", "rate", "strict over", "points (95%)", "p, McNemar"], rows, "lllrr")


def _became(runs: list[dict[str, Any]], raw: dict[str, int] | None) -> str:
    """Return shares of held-out attempts by what became of them, as Markdown; the raw model is no base."""
    cells = {"raw": [raw]} if raw else {}
    cells |= {name: [run["became"][name] for run in runs] for name in runs[0]["hops"]}
    rows = [
        [name, *(percent([each[key] / sum(each.values()) for each in counted]) for key in BECAME)]
        for name, counted in cells.items()
    ]
    return markdown(["model", *BECAME.values()], rows, "l" + "r" * len(BECAME))


def _by_hops(runs: list[dict[str, Any]]) -> str:
    """Return rates at the start and after the last round for each number of hops, as Markdown."""
    own = runs[0]["hops"]
    hops = sorted(next(iter(own.values())), key=int)
    rows = [
        [rate, arm, *(f"{100 * over_bases([run['hops'][arm][n][rate] for run in runs])['mean']:.1f}" for n in hops)]
        for rate in RATES for arm in own
    ]  # fmt: skip
    return markdown(["rate", "model", *(f"{n} hop{'s' * (n != '1')}" for n in hops)], rows, "ll" + "r" * len(hops))


def percent(values: list[float]) -> str:
    """Return the mean in percent with its interval over bases."""
    own = over_bases(values)
    spans = "" if own["interval"] is None else " ({:.1f} to {:.1f})".format(*(100 * end for end in own["interval"]))
    return f"{100 * own['mean']:.1f}{spans}"


def lead(values: list[float]) -> str:
    """Return the mean in percentage points with its interval, and p by exact flips of the signs."""
    own = over_bases(values)
    return f"{points(own['mean'])} ({points(own['interval'])}), p = {own['p_signs']:.2g}"


def shown(values: list[float], *, is_lead: bool = False) -> str:
    """Return `percent` or `lead`; of fewer than four bases, too few for an interval, the mean and each base."""
    if len(values) > 3:
        return lead(values) if is_lead else percent(values)
    told = [points(value) if is_lead else f"{100 * value:.1f}" for value in (sum(values) / len(values), *values)]
    return told[0] + (f" ({', '.join(told[1:])})" if len(values) > 1 and len(set(told)) > 1 else "")


def _share(kept: list[dict[str, int]], answer: str) -> str:
    return percent([each[answer] / max(1, sum(each.values())) for each in kept])


def main(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN..")],
    out: Annotated[Path, typer.Option("--out", help="The folder of details.json and details.md.")],
    beyond: Annotated[int | None, typer.Option("--beyond", help="The most hops that the bases were taught.")] = None,
    raw: Annotated[
        Path | None, typer.Option("--raw", help="An evaluation of the raw model; its attempts go beside --out.")
    ] = None,
) -> None:
    """Write greedy rates, rates by gold answer and cheap filters over bases."""
    found: dict[str, Any] = {"beyond": beyond, "runs": [details(run, beyond) for run in runs]}
    if raw is not None:
        rows = judged(raw)
        found["raw"] = became(rows)
        packed({"raw": rows}, out.with_name(f"{out.name}-raw.tar.xz"))
    write_json(out / "details.json", found)
    write_text(out / "details.md", page(found))


if __name__ == "__main__":
    typer.run(main)
