"""More samples in the place of training: what the forked bases prove in ten attempts at each held-out problem.

    python -m tools.forked_samples forks/base-31 .. --out docs/results/forks

`samples.json` has the rates at k of each base, on the held-out problems beyond what it was taught, and `samples.md` is
made of it and of `details.json` (the plan: docs/results/forks/plan.md). A critic has to find the proof among them, and
each further problem costs as many attempts again.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from tools.forked_rewards import BEYOND, EVALUATION
from tools.lead_details import FIRST, shown
from training.configuration.run import load_run
from training.outcomes import markdown
from training.records.store import write_json, write_records, write_text
from training.rounds.problems import held_out_problems

SAMPLES = 10
AT_K = {"certified": "certified", "right": "maj"}
"""The rate at k that stands beside an arm's rate: one certified, and most votes for the gold answer."""


def main(
    bases: Annotated[list[Path], typer.Argument(metavar="BASE..")],
    out: Annotated[Path, typer.Option("--out", help="The folder of samples.json and samples.md.")],
) -> None:
    """Sample the bases that are not measured yet, and write the table."""
    path = out / "samples.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    for base in bases:
        seed = int(base.name.rpartition("-")[2])
        if seed not in {of["base"] for of in found}:
            found.append({"base": seed, "at_k": sampled(base)})
            write_json(path, found)
    write_text(out / "samples.md", page(found, json.loads((out / "details.json").read_text(encoding="utf-8"))))


def sampled(base: Path) -> list[dict[str, Any]]:
    """Return the rates at k of a base on the held-out problems beyond its hops."""
    config = load_run(EVALUATION, [f"model.name={base}"])
    beyond = [problem for problem in held_out_problems(config, 0) if problem.meta["hops"] > BEYOND]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "problems.jsonl"
        write_records(path, (problem.record() for problem in beyond))
        command = [
            str(Path(sys.executable).with_name("certistar")),
            "evaluate",
            str(EVALUATION),
            "--problems",
            str(path),
        ]
        command += ["--set", f"model.name={base}", "--arm", FIRST, "--runs", str(SAMPLES), "--json"]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = json.loads(told)["at_k"]
    return [
        {"k": row["k"], "problems": row["problems"], **{n: row[at]["rate"] for n, at in AT_K.items()}} for row in rows
    ]


def page(found: Sequence[Mapping[str, Any]], details: Mapping[str, Any]) -> str:
    """Return the table as Markdown; `details` has the arms' rates on the same bases and problems."""
    runs = {int(run["run"].rpartition("-")[2]): run["rates"] for run in details["runs"]}
    after = [runs[of["base"]] for of in found]
    rows: list[list[str]] = []
    for rate, at in AT_K.items():
        strict = [rates[f"{FIRST}/sampled"][rate] for rates in after]
        for row, of in enumerate(found[0]["at_k"]):
            values = [each["at_k"][row][rate] for each in found]
            said = {"certified": "one is certified", "maj": "right by vote"}[at] if of["k"] > 1 else rate
            rows.append([f"base, {of['k']}", said, shown(values), _ahead(strict, values)])
        rows += [[f"{arm}, 1", rate, shown(own), "" if arm == FIRST else _ahead(strict, own)]
                 for arm in details["runs"][0]["answers"]
                 for own in [[rates[f"{arm}/sampled"][rate] for rates in after]]]  # fmt: skip
    num = found[0]["at_k"][-1]["problems"]
    opening = (
        f"{len(found)} bases, {num} problems of more than {BEYOND} hops each, T = 1; means, and each base in the order "
        "of seeds (of four or more a 95% interval)."
    )
    head = ["attempts at a problem", "counted", f"beyond {BEYOND} hops", "lead of one attempt by strict's last model"]
    return f"{opening}\n\n" + markdown(head, rows, "llrr")


def _ahead(strict: Sequence[float], values: Sequence[float]) -> str:
    return shown([a - b for a, b in zip(strict, values, strict=True)], is_lead=True)


if __name__ == "__main__":
    typer.run(main)
