"""`audit`: the cheat catalogue against critics, a search for cheats that it lacks, and audits of rewards."""

import importlib
import json
from collections.abc import Container, Iterator, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from critics import registry
from critics.audit.audit import CaseResult, find_critic, judge_record_by, num_cases, report, table, without_slow_cases
from critics.audit.audit import audit as try_catalogue
from critics.audit.catalogue_file import Catalogue, load_catalogue, own_catalogues
from critics.errors import InputError
from critics.formats.format import find_format
from critics.judge import JudgePool, judge_record
from training.commands.audit_reward import RewardAudit, audit_reward, compare_rewards
from training.commands.messages import say
from training.commands.options import Columns, Jobs, Json, Seed, Timeout, WithoutJail, leave_the_jail
from training.rewards.probes import TEMPLATE

_OF_BOTH = ("formats", "jobs", "timeout", "as_json", "seed")
EXAMPLE = "certistar audit --format rules --self-play 60"


OfReward = partial(typer.Option, rich_help_panel="A reward in the place of critics (docs/audit.md)")
Data = Annotated[list[str] | None, OfReward("--data", help="Solved problems: a file, or generators (repeatable).")]
Template = Annotated[str, OfReward("--template", help="How completions are written.", show_default=False)]
Answers = Annotated[
    list[str] | None, OfReward("--answers", metavar="WORD=ANSWER,..", help="What answers are called: yes=true,..")
]
Messages = Annotated[bool | None, OfReward("--messages/--texts", help="Completions are lists of messages, or texts.")]
Threshold = Annotated[
    float | None, OfReward("--threshold", min=0, max=1, help="The largest share of wrong rewards; 0, if none.")
]
Against = Annotated[
    str | None, OfReward("--against", metavar="ENTRY", help="Compare with this reward instead, on --traces.")
]


def audit(
    context: typer.Context,
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
    reward: Annotated[
        str | None, OfReward("--reward", metavar="ENTRY", help="module:function, https://.. or certistar.")
    ] = None,
    data: Data = None,
    num: Annotated[int, OfReward("--num", min=1, help="So many problems.")] = 30,
    template: Template = TEMPLATE,
    answers: Answers = None,
    columns: Columns = None,
    messages: Messages = None,
    strict: Annotated[bool, OfReward("--strict", help="A right answer without a proof must be rejected.")] = False,
    accept_from: Annotated[float, OfReward("--accept-from", help="The least reward that accepts.")] = 0.5,
    threshold: Threshold = None,
    against: Against = None,
    traces: Annotated[Path | None, OfReward("--traces", help="Stored rollouts, of any shape.")] = None,
) -> None:
    """Run the cheat catalogue against the critics, or probes against anybody's reward function.

    Exit status 1 if a cheat is certified or an honest attempt rejected; of a reward, if it is wrong too often.
    """
    if without_jail:
        leave_the_jail()
    if reward is not None:
        _refuse(context, "critics", ("critic", "catalogue", "quick", "seconds", "iterations", "out"))
        if against is None:
            _refuse(context, "--against", ("traces",))
        else:
            _refuse(context, "--reward without --against", ("data", "num", "template", "strict"))
        asked = RewardAudit(**{each.name: context.params[each.name] for each in fields(RewardAudit)})
        passed = (audit_reward if against is None else compare_rewards)(asked)
    else:
        _refuse(context, "--reward", {each.name for each in fields(RewardAudit)} - {*_OF_BOTH})
        passed = _audit(formats or [], critic, catalogue, quick=quick, jobs=jobs, timeout_s=timeout, as_json=as_json)
    if seconds is not None or iterations is not None:
        passed &= _search_for_cheats(formats or [], seconds, iterations, seed, jobs, timeout, out, as_json)
    if not passed:
        raise typer.Exit(1)


def _refuse(context: typer.Context, whose: str, names: Container[str]) -> None:
    """Raise `InputError` for an option that was given and means nothing here."""
    for each in context.command.params:
        source = context.get_parameter_source(each.name or "")
        if each.name in names and source is not None and source.name == "COMMANDLINE":
            raise InputError(f"{each.opts[0]} goes with {whose} alone; leave it out")


def _audit(
    formats: Sequence[str],
    entry: str | None,
    catalogue: Path | None,
    *,
    quick: bool,
    jobs: int,
    timeout_s: float,
    as_json: bool,
) -> bool:
    """Run the audit and print it; return whether every cheat was stopped and every honest attempt certified."""
    chosen = list(_chosen(formats, entry, catalogue))
    judging = judge_record if entry is None else partial(judge_record_by, entry)
    audited: dict[str, list[CaseResult]] = {}
    with JudgePool(jobs=jobs, timeout_s=timeout_s, judging=judging) as pool:
        for cases in chosen:
            cases = without_slow_cases(cases) if quick else cases
            say(f"{cases.format}: {num_cases(cases)} cases of {len(cases.classes)} classes")
            audited[cases.format] = try_catalogue(cases, pool.judge)
    reports = [report(name, findings) for name, findings in audited.items()]
    if as_json:
        print(json.dumps(reports))
    else:
        _show(audited, reports)
    return not any(one["wrong"] for one in reports)


def _chosen(formats: Sequence[str], entry: str | None, catalogue: Path | None) -> Iterator[Catalogue]:
    """Yield the catalogues that are asked for: the formats', the file's, or those of the critic's package."""
    if catalogue is not None:
        yield load_catalogue(catalogue)
        return
    own = {cases.format: cases for cases in own_catalogues()}
    others = registry.names("critics", registry.formats())
    if entry is not None and not formats:
        yield _of_plugin(entry)
        return
    for name in formats or [*own, *others]:
        if name in own:
            yield own[name]
        elif name in others:
            yield _of_plugin(name)
        else:
            raise InputError(f"--format {name!r}: must be one of {', '.join([*own, *others])}")


def _of_plugin(entry: str) -> Catalogue:
    plugin = find_format(entry) if ":" not in entry else find_critic(entry)
    if plugin.catalogue is None:
        raise InputError(
            f"critic {entry}: it has no catalogue; give its CriticPlugin one, or name a format by --format, or a file "
            "by --catalogue"
        )
    return load_catalogue(plugin.catalogue)


def _show(audited: dict[str, list[CaseResult]], reports: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table("critic", "class", "cases", "wrong", "other rule", title="cheats certified, honest rejected")
    for name, findings in audited.items():
        for row in table(name, findings):
            shown.add_row(name, row.cheat_class, *map(str, (row.cases, row.wrong, row.by_another_rule)))
    console = Console(stderr=True)
    console.print(shown)
    for one in reports:
        for wrong in one["wrong"]:
            say(f"WRONG {wrong['case']}: {wrong['verdict']} {wrong['reason']} {wrong['answer'] or ''}".rstrip())
        say(
            f"{one['format']}: {one['cheats_certified']} of {one['cheats']} cheats certified, "
            f"{one['honest_rejected']} of {one['honest']} honest rejected"
        )


def _search_for_cheats(
    formats: Sequence[str],
    seconds: float | None,
    iterations: int | None,
    seed: int,
    jobs: int,
    timeout_s: float,
    out: Path | None,
    as_json: bool,
) -> bool:
    """Search for attempts that our critics wrongly certify, print the tally; return whether none was found."""
    try:
        # Part of the repository and not of the installed package, which imports nothing of it.
        self_play = importlib.import_module("tools.selfplay.session").self_play
    except ModuleNotFoundError as error:
        raise InputError("--self-play: the search for cheats needs a checkout of the repository") from error
    tallies, found = self_play(
        formats,
        seed=seed,
        seconds=None if iterations is not None else seconds,
        iterations=iterations,
        jobs=jobs,
        timeout_s=timeout_s,
        out=out,
        said=say,
    )
    for tally in tallies:
        print(json.dumps(tally)) if as_json else say(", ".join(f"{key} {value}" for key, value in tally.items()))
    say(f"{len(found)} findings{f' in {out}' if found and out is not None else ''}")
    return not found
