"""`evaluate`: rates with their intervals, of one model or of several side by side, or the scores of a benchmark."""

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from critics.errors import InputError
from training.commands.options import Adapter, Config, Json, Overrides, Seed, say

if TYPE_CHECKING:
    from critics.problem import Problem
    from training.configuration.run import ArmConfig
    from training.outcomes import Record
    from training.reporting.leaderboard import LeaderboardEntry
    from training.rounds.entry import Measuring
    from training.workers.strategies import NamedModel

EXAMPLE = "certistar evaluate configs/smoke.yaml --problems problems.jsonl --adapter adapter"
Problems = Annotated[
    list[Path] | None,
    typer.Option("--problems", help="Problems as JSON lines (repeatable); the held-out ones, if none."),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", help="A name, folder, adapter, served model or NAME@URL (repeatable); the configuration's, if none."
    ),
]
Arms = Annotated[
    list[str] | None, typer.Option("--arm", help="Decode as this arm does (repeatable); the first, if none.")
]
On = Annotated[
    str | None, typer.Option("--on", metavar="GPU[:N]", help="Plan for other GPUs, such as A100:4 (--dry-run).")
]
Benchmarks = Annotated[
    list[str] | None,
    typer.Option("--benchmark", help="Instead (repeatable): autoeval:all, autoeval:PL:12, verify:FILE, .."),
]
Traces = Annotated[
    Path | None, typer.Option("--traces", help="Keep attempts in this file, and go on from what it has.")
]
Num = Annotated[
    int | None,
    typer.Option("--num", min=1, help="Draw so many problems of each data set; formulas, or items, of a benchmark."),
]
Results = Annotated[
    Path | None,
    typer.Option("--out", help="A folder for attempts, evaluations, table and figure; goes on from what it has."),
]
Dry = Annotated[bool, typer.Option("--dry-run", help="Say how much would be asked, and whether it fits.")]
PerCategory = Annotated[
    int | None, typer.Option("--per-category", min=1, help="Formulas of each category; 500 in the paper.")
]
Verifier = Annotated[
    bool, typer.Option("--verifier", help="Ask the policy as well whether what came back is equivalent.")
]


def evaluate(
    config: Config,
    problems: Problems = None,
    models: Models = None,
    adapter: Adapter = None,
    seed: Seed = 0,
    as_json: Json = False,
    overrides: Overrides = None,
    arms: Arms = None,
    table: Annotated[Path | None, typer.Option(help="Write a Markdown table by data set and condition.")] = None,
    traces: Traces = None,
    benchmark: Benchmarks = None,
    num: Num = None,
    per_category: PerCategory = None,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs of the benchmark, or samples of each problem.")] = 1,
    verifier: Verifier = False,
    out: Results = None,
    dry: Dry = False,
    on: On = None,
) -> None:
    """Measure accuracy, certified and lucky rates on problems with 95% intervals, or AutoEval's scores."""
    from critics.judge import JudgePool
    from rollout.actor_critic.feedback import DialogReviewPool
    from training.configuration.run import load_run
    from training.planning.forecast import plan
    from training.rounds.entry import Measuring, entry
    from training.rounds.problems import drawn_by_dataset, held_out_problems, read_problems, unshown
    from training.workers.strategies import named_models

    loaded = load_run(config, overrides)
    chosen = named_models(loaded, models or (), adapter)
    if benchmark:
        from training.commands.benchmarks import BenchmarkOptions, evaluate_benchmarks

        if problems:
            raise InputError("name what is measured: either --problems FILE, or --benchmark such as autoeval:PL:12")
        named = loaded.arms_named(arms) if arms else []
        options = BenchmarkOptions(num, per_category, runs, seed, named, verifier, traces, table, out, as_json)
        evaluate_benchmarks(chosen, benchmark, options, plan_on=on, plan_alone=dry)
        return
    read = [problem for path in problems or () for problem in read_problems(path)]
    given = unshown(loaded, read) if problems else held_out_problems(loaded, seed)
    wanted, own = drawn_by_dataset(given, num, seed), loaded.arms_named(arms or ())
    if traces is not None and (out is not None or len(chosen) > 1):
        raise InputError("--traces: is for one model without --out, which keeps the attempts of all of them")
    with JudgePool() as judges, DialogReviewPool(timeout_s=loaded.actor_critic.timeout_s) as reviews:
        how = Measuring(wanted, seed, judges, reviews, runs)
        if dry:
            print("\n".join(plan(chosen, own, how, out, on)))
            return
        _refuse_what_does_not_fit(chosen, own, how, out)
        entries: list[LeaderboardEntry] = []
        for model, arm in product(chosen, own):
            entries.append(entry(model, arm, how, out, traces))
    _write(entries, (given, wanted), out, table, as_json=as_json)


def _refuse_what_does_not_fit(
    models: Sequence["NamedModel"], arms: Sequence["ArmConfig"], how: "Measuring", out: Path | None
) -> None:
    """Raise `CannotFit` before anything is asked; a seed model that was made here is asked in a way that fits."""
    from training.planning.forecast import must_fit_window
    from training.planning.lengths import SAMPLED, is_made_here, lengths_of, window_of
    from training.rounds.entry import finished

    for model, arm in product(models, arms):
        if is_made_here(model.config.model.name) or window_of(model.config.model) is None:
            continue
        if out is None or finished(model, arm, how, out) is None:
            own = lengths_of(model.config, arm, how.problems[:SAMPLED], how.reviews)
            must_fit_window({arm.name: own}, model.label)


def _write(
    entries: Sequence["LeaderboardEntry"],
    problems: tuple[Sequence["Problem"], Sequence["Problem"]],
    out: Path | None,
    table: Path | None,
    *,
    as_json: bool,
) -> None:
    """Write the table and, into the folder, the figure beside it; print the table, or the modes by model and arm.

    A level of which there is one alone is left out.
    """
    from training.records.store import write_text
    from training.reporting.leaderboard import leaderboard, overview, write_leaderboard

    shown = leaderboard(entries)
    if table is not None:
        write_text(table, shown)
    if out is not None:
        write_text(out / "table.md", shown)
        write_text(out / "problems.md", overview(*problems))
        write_leaderboard(entries, out / "figure.svg")
        say(f"table and figure: {out / 'table.md'}, {out / 'figure.svg'}")
    if as_json:
        by_model: dict[str, Record] = {}
        for found in entries:
            by_model.setdefault(found.model, {})[found.arm] = found.mode
        told = {model: modes if len(modes) > 1 else next(iter(modes.values())) for model, modes in by_model.items()}
        print(json.dumps(told if len(told) > 1 else next(iter(told.values()))))
    else:
        say(shown)
