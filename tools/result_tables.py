"""Tables of the committed results, and the one that README quotes, written from their JSON by code.

    python -m tools.result_tables

Nobody copies a number by hand: tests write the tables again and compare.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from tools import deduction_rules, pooled_bases, real_dialogs
from training.outcomes import compare_paired, widest
from training.records.store import write_text
from training.reporting.bases import over_bases
from training.reporting.sentences import p_value, percent, points

RESULTS = Path(__file__).parent.parent / "docs" / "results"


README = RESULTS.parent.parent / "README.md"
BEGIN, END = "<!-- written by python -m tools.result_tables -->\n", "<!-- end of what is written -->"
BEYOND = "beyond 3 hops"


def main() -> None:
    """Write `table.md` beside every `report.json` of the results, and README's table."""
    for path in reports():
        write_text(path.with_name("table.md"), table(read(path)))
    write_text(README, with_results(README.read_text(encoding="utf-8")))


def read(path: Path) -> Any:
    """Return what a file of the results holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def with_results(page: str) -> str:
    """Return README with its table written again."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + "\n".join(_readme()) + "\n" + END + rest.split(END)[1]


def _readme() -> Iterator[str]:
    yield "| experiment | measure | before | strict | compared with | models and n | source |"
    yield "|---|---|---|---|---|---|---|"
    beyond = (("certified", "beyond 4 hops"), ("right", "beyond 4 hops"), ("certified", "all"))
    yield from _over_bases("forks", beyond, ("well-formed", "right-matched"))
    yield from _over_bases("forks, runs of their own", beyond[:2], ("likeliest",), "forks/likeliest")
    yield _greedily(read(RESULTS / "forks" / "details.json"), read(RESULTS / "forks" / "bases.json"))
    overall = (("certified", "all"), ("right", "all"))
    yield from _over_bases("forks, SmolLM2-135M", overall, ("well-formed", "right-matched"), "real-model/filters")
    yield _rules(read(RESULTS / "real-model" / "rules" / "counts.json")["cells"])
    yield _single("six rules, a run of its own", ("real-model/likeliest",), "gold proofs", ("likeliest",))
    yield from _pooled(read(RESULTS / "smollm2" / "pooled.json"))
    task = "PrOntoQA, 1 to 6 hops, two rounds of {} problems"
    yield _single(task.format(50), ("smollm2/ceiling",), "before", ("likeliest", "taught gold proofs"))
    yield _single(task.format(150), ("smollm2/large", "smollm2/large-1"), "before", ("right-matched",))
    yield _single(task.format(150), ("smollm2/large",), "before", ("taught gold proofs",))
    yield _single(task.format(150), ("smollm2/rival-5", "smollm2/rival-6"), "before", ("likeliest", "right-matched"), 2)
    yield _guided(read(RESULTS / "real-model" / "cells.json"), "real-model")
    yield _guided(read(RESULTS / "real-model" / "writers" / "cells.json"), "real-model/writers", "ProofWriter")
    yield _real_dialogs(read(RESULTS / "real-model" / "dialogs" / "counts.json"))
    yield from _over_bases("easy to hard", overall, ("right", "right-matched", "unfiltered"))
    yield _dose(read(RESULTS / "dose-response" / "bases.json"))
    actor = read(RESULTS / "actor-critic-demo" / "report.json")
    yield _of_run(actor, "certified", "dialog with a critic, one round", "certified programs", "actor-critic-demo")
    trips = read(RESULTS / "autoeval-demo" / "report.json")
    yield _of_run(trips, "certified", "round trips, two rounds", "equivalent when translated back", "autoeval-demo")
    yield _answers(read(RESULTS / "answer" / "pooled.json")[-1], read(RESULTS / "answer" / "seed-0.json"))


def _over_bases(
    experiment: str, asked: Sequence[tuple[str, str]], rivals: Sequence[str], folder: str = ""
) -> Iterator[str]:
    """Yield the rows of a comparison over bases: a rate on some problems each."""
    folder = folder or experiment.replace(" ", "-")
    found = read(RESULTS / folder / "bases.json")
    n, details = _bases(found), RESULTS / folder / "details.json"
    raw = read(details).get("raw") if details.exists() else None
    for counted, problems in asked:
        rates = {arm["arm"]: arm["rounds"] for arm in found["arms"] if _is_about(arm, counted, problems)}
        leads = {lead["b"]: lead for lead in found["leads"] if _is_about(lead, counted, problems)}
        others = "; ".join(
            f"{name} {_mean(rates[name][-1])}, lead {_lead(leads[name]['difference'])}" for name in rivals
        )
        declared = [lead["declared"] for lead in found["leads"]]
        is_primary = leads[rivals[0]]["declared"] if any(declared) else (counted, problems) == (found["primary"], "all")
        measure = f"{counted}{', ' + problems if problems != 'all' else ''}{' (primary)' * is_primary}"
        strict = f"{_mean(rates['strict'][0])} | **{_mean(rates['strict'][-1])}**"
        if raw:
            good = raw["certified"] + (raw["lucky"] if counted == "right" else 0)
            strict = f"raw {percent(good / sum(raw.values()))}, warm {strict}"
        yield f"| {experiment} | {measure} | {strict} | {others} | {n} | `docs/results/{folder}` |"


def _is_about(found: Mapping[str, Any], counted: str, problems: str) -> bool:
    return found["counted"] == counted and found["problems"] == problems


def _bases(found: Mapping[str, Any]) -> str:
    """Return how many bases of which size a comparison has, and sampling seeds."""
    num_seeds = len(found["bases"][0]["seeds"])
    size = int(found["bases"][0]["taught"].split(" parameters")[0].replace(",", ""))
    return f"{len(found['bases'])} bases of {_millions(size)}, {num_seeds} seed{'s' * (num_seeds > 1)}"


def _one_base(provenance: Mapping[str, Any], n: int, seeds: int) -> str:
    base = provenance["base_provenance"]
    size = base.get("num_parameters", base.get("parameters"))
    return f"1 base of {_millions(size)}, {seeds} seed{'s' * (seeds > 1)}, {n} answers"


def _millions(num_parameters: int) -> str:
    return f"{num_parameters / 1e6:.2f} M"


def _greedily(details: Mapping[str, Any], bases: Mapping[str, Any]) -> str:
    """Return the row of greedy answers of the forks; the base's own are in the archives alone."""
    rates = {
        arm: [run["rates"][f"{arm}/greedy"]["certified"] for run in details["runs"]]
        for arm in ("strict", "well-formed", "right-matched")
    }
    strict = rates.pop("strict")
    leads = {arm: over_bases([a - b for a, b in zip(strict, own, strict=True)]) for arm, own in rates.items()}
    others = "; ".join(f"{arm} {_mean(over_bases(own))}, lead {_lead(leads[arm])}" for arm, own in rates.items())
    measure = f"certified, beyond {details['beyond']} hops, greedily"
    return (
        f"| forks | {measure} | | **{_mean(over_bases(strict))}** | {others} | {_bases(bases)} | `docs/results/forks` |"
    )


def _rules(cells: Mapping[str, Any]) -> str:
    """Return the row of six deduction rules: over three bases where they are there, else over both seeds of one."""
    leads = deduction_rules.comparisons(cells)
    which = next(each for each in ("three bases", "both seeds") if f"strict over unfiltered, {each}" in leads)
    names = [deduction_rules.LINES[line] for line in deduction_rules.POOLED[which]]

    def rate(arm: str) -> str:
        own = [cells[name.format(arm)]["certified"] for name in names if name.format(arm) in cells]
        return percent(mean(passed for cell in own for passed in cell))

    rivals = {rival: leads[f"strict over {rival}, {which}"] for rival in ("unfiltered", "well-formed")}
    others = "; ".join(f"{rival} {rate(rival)}, lead {pooled_bases.shown(found)}" for rival, found in rivals.items())
    before = f"raw {rate('raw')}, gold proofs {rate('gold proofs')}"
    lines = {"three bases": "3 bases of 134.52 M, 1 seed", "both seeds": "1 base of 134.52 M, 2 seeds"}[which]
    n = f"{lines}, {rivals['unfiltered'].n} answers"
    return (
        f"| six rules, SmolLM2-135M | certified | {before} | **{rate('strict')}** | {others} "
        f"| {n} | `docs/results/real-model/rules` |"
    )


def _single(task: str, sources: Sequence[str], start: str, rivals: Sequence[str], bases: int = 1) -> str:
    """Return the row of one base of the real model: what is certified before, by strict, and by its rivals.

    Each source is a seed's, or a base's where there are several; all are taken together.
    """
    found = [read(RESULTS / source / "cells.json") for source in sources]
    cells = {name: [each for one in found for each in one[name]["certified"]] for name in (start, "strict", *rivals)}
    strict = cells["strict"]
    others = "; ".join(_behind(rival, strict, cells[rival]) for rival in rivals)
    num = len(sources) // bases
    models = f"{bases} base{'s' * (bases > 1)} of 134.52 M, {num} seed{'s' * (num > 1)}"
    return (
        f"| {task}, SmolLM2-135M | certified | {start} {percent(mean(cells[start]))} | **{percent(mean(strict))}** "
        f"| {others} | {models}, {len(strict)} answers "
        f"| {', '.join(f'`docs/results/{source}`' for source in sources)} |"
    )


def _real_dialogs(cells: Mapping[str, Any]) -> str:
    """Return the row of dialogs with a critic: one base, feedback against resampling at equal tokens."""
    rates = {name: percent(mean(cell["certified"])) for name, cell in cells.items()}
    told, anew = (cells[name]["certified"] for name in (real_dialogs.FEEDBACK, real_dialogs.TOKENS))
    before = f"feedback {rates[real_dialogs.FEEDBACK]} | {rates.get(real_dialogs.TRAINED, '')}"
    others = _behind("resampled", told, anew)
    return (
        f"| dialogs, SmolLM2-135M | certified programs at equal tokens, T = 0.5 | {before} | {others} "
        f"| 1 base of 134.52 M, 1 seed, {len(told)} answers | `docs/results/real-model/dialogs` |"
    )


def _dose(found: Mapping[str, Any]) -> str:
    """Return the row of the most false positives, against none."""
    doses = {(dose["rate"], dose["flaw"]): dose for dose in found["doses"]}
    most = max(rate for rate, _ in doses)
    leads = {lead["b"]: lead["difference"] for lead in found["leads"] if _is_about(lead, "certified", BEYOND)}
    told = "; ".join(
        f"{(flaw or 'at random').replace('_', ' ')} {_mean(dose['certified'])}, lead {_lead(leads[dose['arm']])}"
        for (rate, flaw), dose in doses.items() if rate == most
    )  # fmt: skip
    [before] = [
        arm["rounds"][0] for arm in found["arms"] if _is_about(arm, "certified", BEYOND) and arm["arm"] == "strict"
    ]
    return (
        f"| {percent(most)} of the lucky traces let through | certified, {BEYOND} | {_mean(before)} | "
        f"**{_mean(doses[0.0, None]['certified'])}** | {told} | {_bases(found)} | `docs/results/dose-response` |"
    )


def _answers(found: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    proofs, vote = found["3_proofs"], found["majority"]
    told = f"**{proofs['right']} of {proofs['answered']}** ({percent(proofs['accuracy_interval'])})"
    voted = f"majority vote {percent(vote['accuracy'])} ({percent(vote['accuracy_interval'])})"
    told += f"; {percent(proofs['coverage'])} answered | {voted} | {_one_base(one['provenance'], proofs['n'], 3)}"
    measure = f"right, of those answered by {found['k']} guided attempts"
    return f"| answer with a proof, or abstain | {measure} | | {told} | `docs/results/answer` |"


def _mean(found: Mapping[str, Any]) -> str:
    return percent(found["mean"])


def _lead(found: Mapping[str, Any]) -> str:
    return f"{points(found['mean'])} ({points(found['interval'])})"


def _behind(name: str, own: Sequence[int], rival: Sequence[int]) -> str:
    """Return a rival's rate, and the lead of the same problems' own cell over it."""
    lead = compare_paired(own, rival, [0] * len(own), test="mcnemar")
    return f"{name} {percent(mean(rival))}, lead {points(lead.difference)} ({points(lead.interval)})"


def _pooled(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the rows of two rounds of self-training of the real model, its bases together."""
    bases = list(found["bases"].values())
    for rate in ("certified", "right"):
        rates = {
            arm: percent(mean(passed for base in bases for passed in base[arm][rate].values())) for arm in bases[0]
        }
        leads = {arm: pooled_bases.lead(bases, arm, rate) for arm in ("right-matched", "right")}
        rivals = "; ".join(f"{arm} {rates[arm]}, lead {pooled_bases.shown(lead)}" for arm, lead in leads.items())
        n = f"{len(bases)} bases of 134.52 M, 1 seed, {leads['right'].n} answers"
        yield (
            f"| PrOntoQA, 1 to 6 hops, SmolLM2-135M, two rounds | {rate} | {rates['start']} | **{rates['strict']}** "
            f"| {rivals} | {n} | `docs/results/smollm2` |"
        )


def _guided(cells: Mapping[str, Any], folder: str, task: str = "") -> str:
    """Return the row of the raw model under the English guide, beside the random writer."""
    of = f"{task}: " if task else ""
    raw, own, rival = (cells[f"{of}{name}"]["certified"] for name in ("raw", "raw, guide", "random writer, guide"))
    told = f"raw, freely {percent(mean(raw))} | **{percent(mean(own))}** (raw, under the guide)"
    told += f" | {_behind('random writer', own, rival)}"
    return (
        f"| English guide{f', {task}' if task else ''}, SmolLM2-135M, nothing trained | certified | {told} "
        f"| 1 model of 134.52 M, 1 seed, {len(own)} answers | `docs/results/{folder}` |"
    )


def _of_run(report: Mapping[str, Any], metric: str, experiment: str, measure: str, folder: str) -> str:
    first, last = (report["arms"]["strict"]["rounds"][at] for at in (0, -1))
    others = "; ".join(
        f"{c['b']} {percent(report['arms'][c['b']]['rounds'][-1][metric])}, lead {_difference(c)}"
        for c in report["comparisons"] if c["metric"] == metric and c["a"] == "strict"
    )  # fmt: skip
    before, after = percent(first[metric]), f"**{percent(last[metric])}**"
    if (greedy := first.get(f"{metric}_greedy")) is not None:
        before += f" (greedily {percent(greedy)})"
        after += f" (greedily {percent(last[f'{metric}_greedy'])})"
    if "by_retries_resampled" in first:
        before, after = (
            f"{told} (resampled {percent(each['by_retries_resampled'][-1][metric])})"
            for told, each in ((before, first), (after, last))
        )
    rates = f"{before} | {after}"
    n = _one_base(report["provenance"], last["n"], len(report["provenance"]["seeds"]))
    return f"| {experiment} | {measure} | {rates} | {others} | {n} | `docs/results/{folder}` |"


def reports() -> list[Path]:
    """Return the reports of runs whose results are committed."""
    return sorted(RESULTS.glob("*/report.json"))


def table(report: Mapping[str, Any]) -> str:
    """Return arms, comparisons, the square, dialogs and round trips of a report as Markdown."""
    parts = (_arms(report), _comparisons(report), _square(report), _dialogs(report), _trips(report))
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _arms(report: Mapping[str, Any]) -> list[str]:
    lines = [
        "| arm | sampling | n | kept | right: start | last | greedily: start | last | certified: start | last |",
        "|---|---|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, arm in report["arms"].items():
        first, last = arm["rounds"][0], arm["rounds"][-1]
        kept = ", ".join(f"{found['kept']:,}" for found in arm["rounds"][1:])
        rates = [_rate(first, "accuracy"), _rate(last, "accuracy")]
        rates += [percent(found.get("accuracy_greedy")) for found in (first, last)]
        rates += [_rate(first, "certified"), _rate(last, "certified")]
        lines.append(f"| {name} | {arm['decoding']} | {last['n']} | {kept} | {' | '.join(rates)} |")
    return lines


def _rate(found: Mapping[str, Any], name: str) -> str:
    return f"{percent(found[name])} ({percent(found[f'{name}_interval'])})"


def _difference(c: Mapping[str, Any]) -> str:
    return f"{points(c['difference'])} ({points(widest(c['interval'], c.get('interval_seeds')))})"


def _comparisons(report: Mapping[str, Any]) -> list[str]:
    if not report["comparisons"]:
        return []
    lines = ["| metric | between | points (95%) | p | p, Holm | n |", "|---|---|--:|--:|--:|--:|"]
    for c in report["comparisons"]:
        what = c["metric"] + " (primary)" * bool(c.get("primary"))
        p = f"{p_value(c['p'])} | {p_value(c['p_holm']) if 'p_holm' in c else '–'}"
        lines.append(f"| {what} | {c['a']} over {c['b']} | {_difference(c)} | {p} | {c['n']} |")
    return lines


def _square(report: Mapping[str, Any]) -> list[str]:
    cells = report.get("square") or []
    if len({cell["decoding"] for cell in cells}) < 2:
        return []
    return [
        "| arm | round | decoding | temperature | n | right | certified |",
        "|---|--:|---|--:|--:|--:|--:|",
        *_square_rows(cells),
    ]


def _square_rows(cells: list[Mapping[str, Any]]) -> Iterator[str]:
    for cell in cells:
        rates = f"{_rate(cell, 'accuracy')} | {_rate(cell, 'certified')}"
        named = f"{cell['arm']} | {cell['round']} | {cell['decoding']} | {cell['temperature']:g}"
        yield f"| {named} | {cell['n']} | {rates} |"


def _models(report: Mapping[str, Any], measured: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the model at the start and the last one of each arm, by its name, where something was measured of it."""
    for place, (name, arm) in enumerate(report["arms"].items()):
        if not place and arm["rounds"][0].get(measured):
            yield "start", arm["rounds"][0]
        if arm["rounds"][-1].get(measured):
            yield f"{name}, last", arm["rounds"][-1]


def _dialogs(report: Mapping[str, Any]) -> list[str]:
    """Return rates of dialogs after all retries, without one, and where the turns are spent on other attempts."""
    lines = [
        "| model | compiled | tests passed | certified | certified without a retry | certified, resampled "
        "| feedback over resampling (95%) |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, found in _models(report, "by_retries"):
        last = found["by_retries"][-1]
        rates = [percent(last["compiled"]), _rate(last, "tests_passed"), _rate(last, "certified")]
        rates.append(percent(found["by_retries"][0]["certified"]))
        again, told = "–", "–"
        for lead in found.get("feedback", ()):
            if lead["metric"] == "certified":
                again = percent(found["by_retries_resampled"][-1]["certified"])
                told = _difference(lead)
        lines.append(f"| {name} | {' | '.join(rates)} | {again} | {told} |")
    return lines if len(lines) > 2 else []


def _trips(report: Mapping[str, Any]) -> list[str]:
    """Return what became of round trips, their scores by operators, and the mistakes that undo themselves."""
    lines = [
        "| model | data set | equivalent | different | undecided | malformed | leaked | readable | score by operators "
        "| crossed descriptions that came back equivalent | certified with a wrong description |",
        "|---|---|--:|--:|--:|--:|--:|--:|---|--:|--:|",
    ]
    for name, found in _models(report, "round_trips"):
        for dataset, scores in found["round_trips"].items():
            total = scores["calibrated"]
            counts = [str(total[key]) for key in ("equivalent", "different", "undecided", "malformed", "leaked")]
            by = ", ".join(f"{row['category']}: {percent(row['score'])}" for row in scores["rows"])
            lines.append(f"| {name} | {dataset} | {' | '.join(counts)} | {percent(total['compliance'])} | {by} | "
                         f"{_crossed(found)} |")  # fmt: skip
    return lines if len(lines) > 2 else []


def _crossed(found: Mapping[str, Any]) -> str:
    if not (wrong := found.get("false_positives")):
        return "– | –"
    crossed, said = wrong["p_h"], wrong["descriptions"]
    bound = f"at most {percent(crossed['upper'])}"
    return f"{crossed['hallucinated']} of {crossed['n']} ({bound}) | {said['wrong']} of {said['right'] + said['wrong']}"


if __name__ == "__main__":
    main()
