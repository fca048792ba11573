"""The command line. Every command imports what it needs when it runs, so that `--help` answers at once."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from training.command_line import EXIT_STATUS, register

app = typer.Typer(
    name="certistar",
    help="Train language models to reason on nothing but reasoning that a symbolic critic has certified.",
    no_args_is_help=True,
    epilog=f"\b\nExample: certistar demo\n\n{EXIT_STATUS}",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Config = Annotated[Path, typer.Argument(help="A YAML file, such as configs/smoke.yaml.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="Where to write.", show_default=False)]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Override a key, e.g. star.rounds=1.")
]
Jobs = Annotated[int, typer.Option("--jobs", min=1, help="Processes.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.001, help="Seconds for one attempt.")]
Seed = Annotated[int, typer.Option("--seed", help="Everything random follows from it.")]
Json = Annotated[bool, typer.Option("--json", help="Print machine-readable results.")]
Adapter = Annotated[Path | None, typer.Option("--adapter", help="A folder that `train` or a round wrote.")]
WithoutJail = Annotated[
    bool,
    typer.Option(
        "--run-untrusted-scripts-without-a-jail",
        help="Interpret z3-python scripts although this machine cannot jail them. Only on a machine you can lose.",
    ),
]
OfArm = Annotated[str | None, typer.Option("--arm", help="Of a run: which arm; the first strict one, if none.")]
OfSeed = Annotated[int | None, typer.Option("--seed", help="Of a run: which seed; the first, if none.")]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", metavar="PART=COLUMN,..", help="Which column is question, rationale, answer, .."),
]
Runs = Annotated[
    list[Path] | None,
    typer.Option("--run", metavar="DIR", help="A run, or a folder with runs (repeatable); checkpoints, if none."),
]
Problems = Annotated[Path, typer.Option("--problems", help="Problems as JSON lines.", show_default=False)]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a command whose foreseen failures are one line on standard error and exit status 2 or 1."""
    return register(app, function)


@command
def demo(
    config: Annotated[Path | None, typer.Option("--config", help="Another run than configs/demo.yaml.")] = None,
    out: Out = Path("checkpoints/demo"),
    overrides: Overrides = None,
) -> None:
    """Run strict, guided and naive STaR on the embedded seed model, and say which one gained."""
    from training.console import run_with_progress

    run_with_progress(config or Path("configs/demo.yaml"), out, overrides)


@command
def run(
    config: Config,
    out: Annotated[Path | None, typer.Option("--out")] = None,
    overrides: Overrides = None,
    dry: Annotated[bool, typer.Option("--dry-run", help="Print the plan, and what it needs of this machine.")] = False,
    mirror: Annotated[
        str | None,
        typer.Option("--mirror", metavar="URL", help="Copy the run to s3://.. or gs://.., and go on from it."),
    ] = None,
    retrain: Annotated[
        bool, typer.Option("--retrain", help="Put aside what rests on a revoked certificate, and make it again.")
    ] = False,
    patience: Annotated[
        float | None,
        typer.Option(min=1, metavar="S", help="Seconds that a stage may make no progress; else an hour, or less."),
    ] = None,
) -> None:
    """Run rounds of one arm or of a comparison; the same command again goes on after a crash."""
    from training.console import print_plan, run_with_progress

    if dry:
        print_plan(config, overrides)
        return
    run_with_progress(config, out, overrides, mirror=mirror, retrain=retrain, patience_s=patience)


@command
def problems(
    name: Annotated[str, typer.Argument(help="prontoqa, proofwriter, syllogism, wason, prontoqa-ood, deontiqa.")],
    out: Out,
    num: Annotated[int, typer.Option("--num", min=1, help="How many to generate.")] = 200,
    seed: Seed = 0,
    hops: Annotated[str | None, typer.Option("--hops", help="PrOntoQA's hop counts, e.g. 1,2,3.")] = None,
    ontology: Annotated[
        str | None, typer.Option("--ontology", help="PrOntoQA's: fictional, false and true, by commas.")
    ] = None,
    split: Annotated[str, typer.Option("--split", help="pretrain, train, develop or test.")] = "train",
    ordered: Annotated[bool, typer.Option("--ordered", help="Do not shuffle PrOntoQA's statements.")] = False,
    source: Annotated[Path | None, typer.Option("--from", help="Convert a published file instead.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A key of the generator, e.g. depths=[1,2].")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Processes that draw formulas of autoeval-..; else all cores.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Generate problems of a data set, or convert a published file to problem records."""
    from training.commands.problems import make_problems

    make_problems(name, out, num, seed, hops, ontology, split, ordered, source, settings or [], as_json, jobs)


@command
def rollout(
    config: Config,
    problems: Problems,
    out: Out,
    adapter: Adapter = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Sample attempts at problems with a configuration's model and its first arm's decoding."""
    from training.commands.rollouts import roll_out

    roll_out(config, problems, out, adapter, overrides, as_json)


@command
def judge(
    file: Annotated[Path, typer.Argument(help="Attempts or traces as JSON lines.")],
    out: Out,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
    problems: Annotated[
        list[Path] | None, typer.Option("--problems", help="Of recorded programs without theirs (repeatable).")
    ] = None,
    without_jail: WithoutJail = False,
) -> None:
    """Judge attempts: one verdict record for each, in the same order."""
    from training.commands.verdicts import judge_file, leave_the_jail

    if without_jail:
        leave_the_jail()
    judge_file(file, out, jobs, timeout, as_json, problems)


@command
def recheck(
    file: Annotated[Path, typer.Argument(help="Verdicts or traces as JSON lines.")],
    as_json: Json = False,
    without_jail: WithoutJail = False,
) -> None:
    """Re-check certificates with the independent checker; exit status 1 if any is rejected."""
    from training.commands.verdicts import leave_the_jail, recheck_file

    if without_jail:
        leave_the_jail()
    if recheck_file(file, as_json):
        raise typer.Exit(1)


@command
def audit(
    formats: Annotated[
        list[str] | None, typer.Option("--format", help="Of this format's critic (repeatable); of all, if none.")
    ] = None,
    critic: Annotated[
        str | None,
        typer.Option("--critic", metavar="ENTRY", help="Another critic: a plug-in's name, or module:function."),
    ] = None,
    catalogue: Annotated[Path | None, typer.Option("--catalogue", help="Another catalogue of cheats (YAML).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Without what runs into a budget on purpose.")] = False,
    jobs: Jobs = 1,
    timeout: Timeout = 30.0,
    as_json: Json = False,
    without_jail: WithoutJail = False,
    seconds: Annotated[
        float | None, typer.Option("--self-play", metavar="S", min=1, help="Then search for other cheats, S seconds.")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", min=1, help="Search so many attempts a format instead; repeatable.")
    ] = None,
    seed: Seed = 0,
    out: Annotated[Path | None, typer.Option("--out", help="Where to write what the search finds.")] = None,
) -> None:
    """Run the cheat catalogue against the critics; exit status 1 if a cheat is certified or an honest one rejected."""
    from training.commands.audits import audit_files, search_for_cheats
    from training.commands.verdicts import leave_the_jail

    if without_jail:
        leave_the_jail()
    passed = audit_files(formats or [], critic, catalogue, quick=quick, jobs=jobs, timeout_s=timeout, as_json=as_json)
    if seconds is not None or iterations is not None:
        passed &= search_for_cheats(formats or [], seconds, iterations, seed, jobs, timeout, out, as_json)
    if not passed:
        raise typer.Exit(1)


@command
def filter(  # noqa: A001
    traces: Annotated[Path, typer.Argument(help="Attempts or traces as JSON lines; with --columns, any table.")],
    keep: Annotated[str, typer.Option("--keep", help="naive, guided, strict, faithful or unfiltered.")],
    out: Out,
    verdicts: Annotated[Path | None, typer.Option("--verdicts", help="What `judge` wrote about them.")] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Rewrite proofs to the steps that they use.")] = False,
    hindsight: Annotated[
        bool, typer.Option("--hindsight", help="Relabel failed traces as attempts at what they prove.")
    ] = False,
    held_out: Annotated[
        Path | None, typer.Option("--held-out", help="Problems that no relabelled trace may be about.")
    ] = None,
    columns: Columns = None,
    format_: Annotated[
        str | None, typer.Option("--as", metavar="FORMAT", help="Of --columns: the format that texts are judged in.")
    ] = None,
    formalise: Annotated[
        Path | None,
        typer.Option("--formalise", metavar="CONFIG", help="Whose model writes free texts down in that format first."),
    ] = None,
    dataset: Annotated[
        str, typer.Option("--dataset", help="Of --columns: whose language the contexts are in, e.g. prontoqa.")
    ] = "rationales",
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Keep the traces worth training on; what has no verdict yet is judged first.

    With --columns, of any table of rationales: JSON lines, JSON, Parquet, CSV, or owner/name:split of the Hub.
    """
    if columns or format_ or formalise:
        from training.commands.rationales import Reading, filter_table, refuse_options

        refuse_options(columns, format_, verdicts=verdicts, prune=prune, hindsight=hindsight, held_out=held_out)
        reading = Reading(columns or [], format_ or "", dataset, formalise)
        filter_table(traces, reading, keep, out, jobs, timeout, as_json)
        return
    from training.commands.datasets import filter_file

    filter_file(
        traces,
        verdicts,
        keep,
        out,
        jobs,
        timeout,
        as_json,
        prune=prune,
        hindsight=hindsight,
        held_out=held_out,
    )


@command
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


@command
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


@command
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


@command
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders; or YAML tables of AutoEval's scores beside others', the paper's: autoeval-paper."
        ),
    ],
    as_json: Json = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the numbers there as JSON, or a page if it ends in .html.")
    ] = None,
    unpaired: Annotated[
        bool, typer.Option("--unpaired", help="Compare arms of other problems or seeds as independent samples.")
    ] = False,
) -> None:
    """Compare the arms of one or several finished runs, answer by answer on the problems that they share.

    Or say how AutoEval's scores correlate with other benchmarks', and what they predict, from tables of both.
    """
    from training.commands.score_tables import are_tables, compare_tables

    if are_tables(runs):
        compare_tables(runs, as_json, out)
        return
    from training.console import print_comparison

    print_comparison(runs, as_json, out=out, unpaired=unpaired)


@command
def report(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    partial: Annotated[
        bool, typer.Option(help="Of an unfinished run, report the seeds that all arms finished.")
    ] = False,
) -> None:
    """Write report.json and report.html of a finished run."""
    from training.console import print_report

    print_report(run_folder, partial=partial)


@command
def view(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, finished or going on.")],
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: any that is free.")] = 8000,
) -> None:
    """Serve a run's report on this machine alone, made anew as the run goes on; Ctrl-C ends."""
    from training.reporting.server import view as serve

    serve(run_folder, port)


@command
def pack(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")], as_json: Json = False
) -> None:
    """Compress the traces of a run's finished rounds in their place; zcat gives them back."""
    from training.commands.packing import pack_run

    pack_run(run_folder, as_json)


@command
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


@command
def reinforce(config: Config, out: Out, overrides: Overrides = None, as_json: Json = False) -> None:
    """Train an adapter by GRPO or RLOO, with certificates as the reward (extra `trl`)."""
    from training.commands.rewards import reinforce_config

    reinforce_config(config, out, overrides, as_json)


@command
def export(
    folder: Annotated[Path, typer.Argument(metavar="DATASET|RUN", help="A dataset folder, a round or a run.")],
    to: Annotated[str, typer.Option("--to", help="messages, prompt-completion, sharegpt, atif or parquet.")],
    out: Out,
    arm: OfArm = None,
    seed: OfSeed = None,
    as_json: Json = False,
) -> None:
    """Write a dataset in the shape that another trainer reads; rows keep their id and certificate."""
    from training.commands.sharing import export_dataset

    export_dataset(folder, to, out, arm, seed, as_json)


@command
def push(
    folder: Annotated[Path, typer.Argument(metavar="RUN|ADAPTER|DATASET", help="What to give away.")],
    to: Annotated[str, typer.Argument(metavar="REPO|file:///FOLDER", help="owner/name of the Hub, or a folder.")],
    private: Annotated[bool, typer.Option("--private", help="Make new repositories private.")] = False,
    arm: OfArm = None,
    seed: OfSeed = None,
    as_json: Json = False,
) -> None:
    """Push an adapter and the dataset behind it, with certificates and cards, to the Hub or a folder."""
    from training.commands.sharing import push as send

    send(folder, to, private, arm, seed, as_json)


@command
def pull(
    source: Annotated[str, typer.Argument(metavar="REPO|FOLDER", help="What `push` wrote.")],
    out: Out,
    jobs: Jobs = 1,
    timeout: Timeout = 10.0,
    as_json: Json = False,
) -> None:
    """Pull an adapter or a dataset and recheck all of it; exit status 1, and nothing kept, if any is rejected."""
    from training.commands.sharing import pull as fetch

    if fetch(source, out, jobs, timeout, as_json):
        raise typer.Exit(1)


@command
def lineage(
    adapter: Annotated[Path, typer.Argument(help="An adapter's folder.", show_default=False)],
    as_json: Json = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Compute every digest again and re-check every certificate.")
    ] = False,
) -> None:
    """Show what an adapter was trained on: rounds down to the base model, and the path to one proof."""
    from training.commands.lineages import print_lineage

    if print_lineage(adapter, as_json, verified=verify):
        raise typer.Exit(1)


@command
def trace(
    name: Annotated[str, typer.Argument(metavar="ID", help="Of an attempt, an example or a certificate.")],
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Show an attempt with its proof in words."""
    from training.commands.proofs import print_trace

    print_trace(name, runs or [Path("checkpoints")], as_json)


@command
def revoke(
    target: Annotated[str, typer.Argument(metavar="CERTIFICATE|CRITIC@VERSION", help="Such as 017472a0, or horn@1.")],
    runs: Runs = None,
    as_json: Json = False,
) -> None:
    """Believe a certificate no longer: list and mark the examples, adapters and reports that rest on it."""
    from training.commands.revocations import revoke as mark

    mark(target, runs or [Path("checkpoints")], as_json)


@command
def demonstrate(
    file: Annotated[Path, typer.Argument(help="Problems as JSON lines.")],
    out: Out,
    format_: Annotated[
        str, typer.Option("--format", help="guided, cot (the gold answer), fol, fol-cot or asp.")
    ] = "guided",
    config: Annotated[
        Path | None, typer.Option("--config", help="Write the prompts that this configuration's model reads.")
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", help="Of which arm; the first that fits, if none.")] = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Write reference attempts for problems that have a formalisation, an annotation or a gold answer."""
    from training.commands.demonstrations import demonstrate_file

    demonstrate_file(file, out, format_, config, arm, overrides, as_json)


@command
def guide(
    name: Annotated[str, typer.Argument(help="logic, memory, quote, algebra or parity.")],
    mode: Annotated[
        str, typer.Option("--mode", help="For logic: fixed, or compatible with the original engine, bugs included.")
    ] = "fixed",
    batch: Annotated[
        Path | None, typer.Option("--batch", help='Answer these texts instead: {"id", "text"} as JSON lines.')
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Where to write a batch's answers.")] = None,
    text: Annotated[Path | None, typer.Option("--text", help="A text to start from.")] = None,
    source: Annotated[Path | None, typer.Option("--source", help="For quote: the text to quote from.")] = None,
) -> None:
    """Show what a guide allows after a text, line by line as you type; Ctrl-D ends."""
    if batch is not None:
        from training.commands.guides import guide_file

        guide_file(name, mode, source, batch, out, text)
        return
    from training.commands.guides import guide_typing

    guide_typing(name, mode, source, out, text)


@command
def pretrain(config: Config, out: Out, overrides: Overrides = None) -> None:
    """Train the embedded seed model from scratch: configs/seed.yaml into checkpoints/seed."""
    from training.configuration.pretraining import load_pretraining
    from training.finetuning.pretraining import pretrain as make

    print(json.dumps(make(load_pretraining(config, overrides), out), indent=1))


@command
def bench(
    name: Annotated[
        str, typer.Argument(help="kernel, decoding, asp, programs, equivalence, pool, store or training.")
    ] = "kernel",
    as_json: Json = False,
) -> None:
    """Measure ratios against the named baseline in one run."""
    from training.bench import bench as measure

    measure(name, as_json)


@command
def doctor(as_json: Json = False) -> None:
    """Say what this machine can run, and what is missing."""
    from training.doctor import examine

    examine(as_json)
