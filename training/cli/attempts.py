"""Attempts: asked for, judged, re-checked, filtered."""

from pathlib import Path
from typing import Annotated

import typer

from training.cli.options import (
    Adapter,
    Columns,
    Config,
    Jobs,
    Json,
    Out,
    Overrides,
    Problems,
    Seed,
    Timeout,
    WithoutJail,
)


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


COMMANDS = (
    problems,
    rollout,
    judge,
    recheck,
    audit,
    filter,
    demonstrate,
    guide,
)
