"""GRPO on the forked bases, paid for certificates, for well-formed right answers, or for right answers.

    python -m tools.forked_rewards FORKS --out WORK          (FORKS holds base-31 .. base-42, and base-103 of the pilot)
    python -m tools.forked_rewards FORKS --out WORK --table docs/results/forks

Each reward takes the learning rate with which base 103, of the pilot, earned most of that reward in its last ten steps.
Then each base trains once for each reward, and the adapter is measured as the arms of `configs/forks.yaml` are, on the
same held-out problems. Several processes share the jobs; a job that was killed starts over.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import time
from typing import Annotated, Any

import typer
from filelock import FileLock, Timeout

from tools.lead_details import lead, percent
from tools.reinforcement import TRACES, load_reinforcement, reinforce
from training.outcomes import markdown
from training.records.store import read_records, write_json, write_text

CONFIG = Path(__file__).with_name("forked_rewards.yaml")
EVALUATION = CONFIG.parents[1] / "configs" / "forks.yaml"
REWARDS = ("certified", "well-formed", "right")
RATES = (1e-3, 3e-3)
PILOT = 103
BASES = range(31, 43)
LAST = 640
"""Attempts of the last ten steps."""
COUNTED = ("certified", "right")
BEYOND = 4
TEMPERATURES = {"sampled": 1.0, "greedy": 0.0}


def trained(forks: Path, out: Path, base: int, reward: str, rate: float) -> dict[str, Any]:
    """Train and measure one adapter, or return what was measured before."""
    done, model = out / "result.json", forks / f"base-{base}"
    found: dict[str, Any] = json.loads(done.read_text(encoding="utf-8")) if done.exists() else {}
    if not found:
        shutil.rmtree(out / "adapter", ignore_errors=True)
        begun = time()
        changes = [f"model.name={model}", f"reward={reward}", f"training.learning_rate={rate}", f"seed={base}"]
        made = reinforce(load_reinforcement(CONFIG, changes), out / "adapter")
        seconds = time() - begun
        paid = [trace["reward"] for trace in read_records(out / "adapter" / TRACES)]
        found = {"base": base, "reward": reward, "rate": rate, "attempts": made["attempts"], "seconds": round(seconds),
                 "certified_sampled": made["certified"], "paid": sum(paid), "paid_last": sum(paid[-LAST:])}  # fmt: skip
    if base != PILOT:
        found |= {mode: measured(model, out, mode, at) for mode, at in TEMPERATURES.items() if mode not in found}
    write_json(done, found)
    return found


def measured(model: Path, out: Path, mode: str, temperature: float) -> dict[str, dict[str, int]]:
    """Return what the adapter gets right and proves on the held-out problems, by hops."""
    command = [str(Path(sys.executable).with_name("certistar")), "evaluate", str(EVALUATION)]
    changes = ["--set", f"model.name={model}", "--set", f"sampling.temperature={temperature}"]
    subprocess.run([*command, *changes, "--adapter", str(out / "adapter"), "--out", str(out / mode)], check=True)
    [path] = (out / mode).rglob("evaluation.json")
    by_hops = json.loads(path.read_text(encoding="utf-8"))["modes"]["sampled"]["by_hops"]
    return {n: {rate: of[rate] for rate in (*COUNTED, "n")} for n, of in by_hops.items()}


def jobs(out: Path) -> Iterator[tuple[Path, int, str, float]]:
    """Yield the jobs in their order: first the pilot's, then each base with the rates that the pilot chose."""
    pilots = [(reward, rate, out / f"pilot-{reward}-{rate}") for reward in REWARDS for rate in RATES]
    for reward, rate, folder in pilots:
        yield folder, PILOT, reward, rate
    if not all((folder / "result.json").exists() for *_, folder in pilots):
        return
    for base in BASES:
        for reward in REWARDS:
            yield out / f"{reward}-{base}", base, reward, chosen(out, reward)


def chosen(out: Path, reward: str) -> float:
    """Return the learning rate that earned most in the pilot's last steps."""
    results = [json.loads((out / f"pilot-{reward}-{rate}" / "result.json").read_text()) for rate in RATES]
    return max(results, key=lambda result: result["paid_last"])["rate"]


def page(found: list[dict[str, Any]], strict: dict[str, Any]) -> str:
    """Return the table as Markdown; `strict` has the details of the arms on the same bases."""
    by = {(row["reward"], row["base"]): row for row in found}
    bases = [base for base in BASES if all((reward, base) in by for reward in REWARDS)]
    runs = {int(run["run"].removeprefix("run-")): run["rates"] for run in strict["runs"]}
    rows: list[list[str]] = []
    for mode in TEMPERATURES:
        for counted in COUNTED:
            own = {reward: [_rate(by[reward, base], mode, counted) for base in bases] for reward in REWARDS}
            arms = {arm: [runs[base][f"{arm}/{mode}"][counted] for base in bases] for arm in ("strict", "well-formed")}
            paid = {f"GRPO, {reward}": values for reward, values in own.items()}
            for name, values in {**paid, **{f"STaR, {arm}": values for arm, values in arms.items()}}.items():
                ahead = [a - b for a, b in zip(own["certified"], values, strict=True)]
                leads = "" if name == "GRPO, certified" or len(bases) < 2 else lead(ahead)
                rows.append([mode, counted, name, percent(values), leads])
    head = [f"beyond {BEYOND} hops", "rate", "trained by", "after training", "lead of GRPO on certificates"]
    costs = [[reward, f"{row['rate']:g}", str(row["attempts"]),
              f"{sum(by[reward, base]['seconds'] for base in bases) / len(bases):.0f}"]
             for reward in REWARDS for row in [by[reward, bases[0]]]]  # fmt: skip
    opening = f"{len(bases)} bases; means with 95% intervals over bases, and exact sign flips of the bases' leads."
    times = markdown(["reward", "learning rate", "attempts", "seconds"], costs, "lrrr")
    return "\n".join([f"{opening}\n", markdown(head, rows, "lllrr"), times])


def _rate(row: dict[str, Any], mode: str, counted: str) -> float:
    hops = [of for n, of in row[mode].items() if int(n) > BEYOND]
    return sum(of[counted] for of in hops) / sum(of["n"] for of in hops)


def main(
    forks: Annotated[Path, typer.Argument(help="The folder of the bases.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the adapters and of what was measured.")],
    table: Annotated[Path | None, typer.Option("--table", help="Write rewards.json and rewards.md there.")] = None,
) -> None:
    """Train and measure what is missing, or write the table."""
    out.mkdir(parents=True, exist_ok=True)
    if table is not None:
        paths = [out / f"{reward}-{base}" / "result.json" for base in BASES for reward in REWARDS]
        found = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
        write_json(table / "rewards.json", found)
        details = json.loads((table / "details.json").read_text(encoding="utf-8"))
        write_text(table / "rewards.md", page(found, details))
        return
    for _ in range(2):  # the rates are known after the pilot
        for folder, base, reward, rate in jobs(out):
            folder.mkdir(exist_ok=True)
            try:
                with FileLock(folder / ".lock", timeout=0):
                    print(json.dumps(trained(forks, folder, base, reward, rate)), flush=True)
            except Timeout:
                continue


if __name__ == "__main__":
    typer.run(main)
