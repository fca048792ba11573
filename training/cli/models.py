"""Models: trained, measured, asked."""

import json
from pathlib import Path
from typing import Annotated

import typer

from training.cli.options import (
    Adapter,
    Config,
    Jobs,
    Json,
    Out,
    Overrides,
    Seed,
    Timeout,
)


def train(
    config: Config,
    data: Annotated[Path, typer.Option("--data", help="A folder that `filter` or a round wrote.")],
    out: Out,
    nproc: Annotated[str, typer.Option("--nproc", help="Processes on this machine: a number, or auto.")] = "auto",
    nnodes: Annotated[int, typer.Option("--nnodes", min=1, help="Machines that train together.")] = 1,
    rendezvous: Annotated[
        str, typer.Option("--rendezvous", help="HOST:PORT of one of them, where there are several.")
    ] = "",
    seed: Seed = 0,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Fine-tune the configuration's model; starts torchrun itself where there are several GPUs."""
    from training.commands.adapters import train_files

    train_files(config, data, out, nproc, seed, overrides, nnodes=nnodes, rendezvous=rendezvous, as_json=as_json)


def evaluate(
    config: Config,
    problems: Annotated[
        Path | None, typer.Option("--problems", help="Problems as JSON lines.", show_default=False)
    ] = None,
    adapter: Adapter = None,
    seed: Seed = 0,
    as_json: Json = False,
    overrides: Overrides = None,
    arms: Annotated[
        list[str] | None, typer.Option("--arm", help="Decode as this arm does (repeatable); the first, if none.")
    ] = None,
    table: Annotated[Path | None, typer.Option(help="Write a Markdown table by data set and condition.")] = None,
    traces: Annotated[
        Path | None, typer.Option("--traces", help="Keep attempts in this file, and go on from what it has.")
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option("--benchmark", help="Instead: autoeval:PL:12 and its kin, folio-text:FILE, .."),
    ] = None,
    num: Annotated[int, typer.Option("--num", min=1, help="Formulas of the benchmark.")] = 200,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Runs of the benchmark, for the deviation.")] = 1,
    verifier: Annotated[
        bool, typer.Option("--verifier", help="Ask the policy as well whether what came back is equivalent.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="A folder for the benchmark's trips, scores and figure.")
    ] = None,
) -> None:
    """Measure accuracy, certified and lucky rates on problems with 95% intervals, or AutoEval's scores."""
    from training.commands.benchmarks import evaluate_benchmark, refuse_both

    refuse_both(problems, benchmark)
    if benchmark is not None:
        evaluate_benchmark(config, benchmark, num, runs, adapter, seed, as_json, overrides, out, verifier=verifier)
        return
    from training.commands.evaluations import evaluate_file

    assert problems is not None
    evaluate_file(config, problems, adapter, seed, as_json, overrides, arms or [], table, traces)


def answer(
    config: Config,
    problems: Annotated[
        Path | None, typer.Option("--problems", help="Problems as JSON lines; the held-out ones, if none.")
    ] = None,
    num: Annotated[int, typer.Option("-k", min=1, help="Attempts at a problem at most.")] = 8,
    adapter: Adapter = None,
    formalisation: Annotated[
        str,
        typer.Option(help="checked: proofs are compared with the text where that can be. trusted: with nothing."),
    ] = "checked",
    proofs: Annotated[
        int | None, typer.Option(min=1, help="Attempts that must prove an answer; 1 if checked, else 3.")
    ] = None,
    arms: Annotated[
        list[str] | None, typer.Option("--arm", help="Ask as this arm does (repeatable: they take turns).")
    ] = None,
    curve: Annotated[
        bool, typer.Option("--curve", help="Measure selective accuracy against coverage, beside majority voting.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="A folder for attempts, answers and the curve.")] = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    as_json: Json = False,
    overrides: Overrides = None,
) -> None:
    """Answer with a proof, or abstain: sample until an attempt is certified, with the gold answer withheld."""
    from training.commands.answers import Asked, answer_file

    asked = Asked(num, adapter, formalisation, proofs, arms or [], seed, jobs, curve, out)
    answer_file(config, problems, asked, overrides, as_json)


def prefer(
    traces: Annotated[Path, typer.Argument(help="Traces or attempts as JSON lines.", show_default=False)],
    to: Annotated[str, typer.Option("--to", help="dpo (pairs) or kto (labels), as TRL reads them.")],
    out: Out,
    verdicts: Annotated[Path | None, typer.Option("--verdicts", help="What `judge` wrote; else judged now.")] = None,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Write preferences: certified attempts against refuted ones at the same problem."""
    from training.commands.rewards import prefer_file

    prefer_file(traces, verdicts, to, out, jobs, timeout, as_json)


def reinforce(config: Config, out: Out, overrides: Overrides = None, as_json: Json = False) -> None:
    """Train an adapter by GRPO or RLOO, with certificates as the reward (extra `trl`)."""
    from training.commands.rewards import reinforce_config

    reinforce_config(config, out, overrides, as_json)


def pretrain(config: Config, out: Out, overrides: Overrides = None) -> None:
    """Train the embedded seed model from scratch: configs/seed.yaml into checkpoints/seed."""
    from training.configuration.pretraining import load_pretraining
    from training.finetuning.pretraining import pretrain as make

    print(json.dumps(make(load_pretraining(config, overrides), out), indent=1))


COMMANDS = (
    train,
    evaluate,
    answer,
    prefer,
    reinforce,
    pretrain,
)
