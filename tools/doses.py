"""Dose and response over bases: what arms learn whose filter lets a share of lucky traces through.

    python -m tools.doses RUN.. --beyond 3 --out docs/results/dose-response

writes what `certistar compare RUN.. --bases` does, with the doses in `bases.json` and `table.md`, and `dose.svg`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from training.figures import drawing, styles, with_bars
from training.outcomes import Record, markdown
from training.records.run_folder import configuration
from training.records.store import write_json, write_text
from training.reporting.bases import bases_table, compare_bases, over_bases, percents
from training.reporting.runs import read_arms


def doses_of(found: Record, runs: Sequence[Path], problems: str) -> list[Record]:
    """Return the dose of each arm of the critic's own filter, where some let lucky traces through.

    `rate` is the share of lucky traces that were kept, `lucky` their share of all that were kept, over all rounds, and
    `flaw` the reason of those kept first; None where they were drawn at random.
    """
    told = {str(arm["name"]): arm for arm in configuration(runs[0]).get("arms") or ()}
    bases, doses = [{arm.name: arm for arm in read_arms(run)} for run in runs], list[Record]()
    if not any(float(arm.get("false_positives") or 0) for arm in told.values()):
        return []
    for name in bases[0]:
        if bases[0][name].keep != "strict":
            continue
        shares: list[float] = []
        for arm in (base[name] for base in bases):
            rollouts = [rollout for each in arm.rollouts for rollout in each]
            kept = sum(rollout["kept"] for rollout in rollouts)
            shares.append(sum(rollout.get("kept_lucky", 0) for rollout in rollouts) / kept if kept else 0.0)
        own = told.get(name, {})
        dose = {"arm": name, "rate": float(own.get("false_positives") or 0), "flaw": own.get("flaw")}
        last = {arm["counted"]: arm["rounds"][-1] for arm in found["arms"] if _is(arm, name, problems)}
        doses.append({**dose, "lucky": over_bases(shares), **last, "problems": problems})
    return doses


def _is(arm: Record, name: str, problems: str) -> bool:
    return arm["arm"] == name and arm["problems"] == problems


def dose_table(doses: Sequence[Record]) -> str:
    """Return the doses as Markdown."""
    rows = [
        [
            f"{100 * d['rate']:.0f}%",
            d["flaw"] or "at random",
            *(percents(d[n]) for n in ("lucky", "certified", "right")),
        ]
        for d in doses
    ]
    head = ["lucky traces kept", "which", "of all kept", f"certified, {doses[0]['problems']}", "right"]
    return markdown(head, rows, "rlrrr")


def dose_figure(doses: Sequence[Record]) -> str:
    """Return dose and response as SVG: certified answers after training by the lucky share of what was trained on."""
    flaws = sorted({dose["flaw"] for dose in doses if dose["rate"] and dose["flaw"]})
    with drawing(width=6.4, height=3.6) as made:
        axes = made.axes
        for label, (colour, marker) in styles(["at random", *flaws]).items():
            curve = [d for d in doses if not d["rate"] or (d["flaw"] or "at random") == label]
            curve.sort(key=lambda dose: dose["lucky"]["mean"])
            x, rates = [100 * dose["lucky"]["mean"] for dose in curve], [dose["certified"] for dose in curve]
            ends = [rate["interval"] or [rate["mean"]] * 2 for rate in rates]
            style = {"color": colour, "marker": marker, "ms": 5, "lw": 1.6, "elinewidth": 1, "label": label}
            with_bars(axes, x, [rate["mean"] for rate in rates], ends, **style)
        axes.set_xlabel("lucky traces among those trained on, %")
        axes.set_ylabel(f"certified, {doses[0]['problems']}, %")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)
    return made.svg


def main(
    runs: list[Path],
    beyond: Annotated[int, typer.Option(help="The most hops that the bases were taught.")],
    out: Annotated[Path, typer.Option(help="A folder.")],
) -> None:
    """Write bases.json, table.md and dose.svg."""
    found = compare_bases(runs, beyond)
    doses = doses_of(found, runs, f"beyond {beyond} hops")
    write_json(out / "bases.json", {**found, "doses": doses})
    write_text(out / "table.md", f"{bases_table(found)}\n{dose_table(doses)}")
    write_text(out / "dose.svg", dose_figure(doses))


if __name__ == "__main__":
    typer.run(main)
