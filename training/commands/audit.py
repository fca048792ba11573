"""`audit`: gold labels against what their texts prove, probes against rewards, the cheat catalogue against critics."""

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from critics import registry
from critics.audit.audit import CaseResult, find_critic, judge_record_by, num_cases, report, table, without_slow_cases
from critics.audit.audit import audit as try_catalogue
from critics.audit.catalogue_file import Catalogue, load_catalogue, own_catalogue
from critics.errors import InputError
from critics.formats.format import find_format
from critics.judge import JudgePool, judge_record
from training.commands.audit_data import LabelAudit, audit_labels
from training.commands.audit_reward import RewardAudit, audit_reward, compare_rewards
from training.commands.messages import say
from training.commands.options import Columns, Jobs, Json, Seed, Timeout, WithoutJail, leave_the_jail
from training.rewards.probes import TEMPLATE

EXAMPLE = "certistar audit reasoning-gym:syllogism --num 5000 --out audited"


OfCritics = partial(typer.Option, rich_help_panel="Critics, where no SOURCE is given")
OfReward = partial(typer.Option, rich_help_panel="A reward (docs/audit.md)")
OfData = partial(typer.Option, rich_help_panel="Gold labels of a SOURCE")
Source = Annotated[
    str | None,
    typer.Argument(help="Labels to check: rows of any shape, a published file, a generator, reasoning-gym:TASK."),
]
Formats = Annotated[list[str] | None, typer.Option("--format", help="Of this format (repeatable); of all, if none.")]
Critic = Annotated[str | None, OfCritics("--critic", metavar="ENTRY", help="A plug-in's name, or module:function.")]
CatalogueFile = Annotated[Path | None, OfCritics("--catalogue", help="Another catalogue of cheats (YAML).")]
Quick = Annotated[bool, typer.Option("--quick", help="Without budgets run into on purpose; a solver for doubts alone.")]
Seconds = Annotated[float | None, OfCritics("--self-play", metavar="S", min=1, help="Then search cheats, S seconds.")]
Iterations = Annotated[int | None, OfCritics("--iterations", min=1, help="Search so many attempts a format instead.")]
OutPlace = Annotated[Path | None, typer.Option("--out", help="Where to write what is found.")]
Reward = Annotated[str | None, OfReward("--reward", metavar="ENTRY", help="module:function, https://.. or certistar.")]
Data = Annotated[list[str] | None, OfReward("--data", help="Solved problems: a file, or generators (repeatable).")]
Num = Annotated[int | None, typer.Option("--num", min=1, help="So many problems: 30 for a reward, 200 to generate.")]
Template = Annotated[str, OfReward("--template", help="How completions are written.", show_default=False)]
Answers = Annotated[
    list[str] | None, typer.Option("--answers", metavar="WORD=ANSWER,..", help="What answers are called: yes=true,..")
]
Messages = Annotated[bool | None, OfReward("--messages/--texts", help="Completions are lists of messages, or texts.")]
Strict = Annotated[bool, OfReward("--strict", help="A right answer without a proof must be rejected.")]
AcceptFrom = Annotated[float, OfReward("--accept-from", help="The least reward that accepts.")]
Threshold = Annotated[
    float | None, OfReward("--threshold", min=0, max=1, help="The largest share of wrong rewards; 0, if none.")
]
Against = Annotated[
    str | None, OfReward("--against", metavar="ENTRY", help="Compare with this reward instead, on --traces.")
]
Traces = Annotated[Path | None, OfReward("--traces", help="Stored rollouts, of any shape.")]
Dataset = Annotated[str | None, OfData("--dataset", help="Whose file it is, or in whose language its texts are.")]
Encoding = Annotated[str | None, OfData("--encoding", help="Of a CSV file that is not UTF-8, e.g. latin-1.")]
_OF_REWARDS = {each.name for each in fields(RewardAudit)}
_OPTIONS: Mapping[str, Set[str]] = {
    "critics": {"formats", "critic", "catalogue", "quick", "seconds", "iterations", "out", "seed"},
    "--reward": _OF_REWARDS - {"against", "traces"},
    "--against": _OF_REWARDS - {"data", "num", "template", "strict"},
    "a SOURCE": {each.name for each in fields(LabelAudit)},
}
_OF_ALL = {"context", "jobs", "timeout", "as_json", "without_jail"}


def audit(
    context: typer.Context,
    source: Source = None,
    formats: Formats = None,
    critic: Critic = None,
    catalogue: CatalogueFile = None,
    quick: Quick = False,
    jobs: Jobs = 1,
    timeout: Timeout = 30.0,
    as_json: Json = False,
    without_jail: WithoutJail = False,
    seconds: Seconds = None,
    iterations: Iterations = None,
    seed: Seed = 0,
    out: OutPlace = None,
    reward: Reward = None,
    data: Data = None,
    num: Num = None,
    template: Template = TEMPLATE,
    answers: Answers = None,
    columns: Columns = None,
    messages: Messages = None,
    strict: Strict = False,
    accept_from: AcceptFrom = 0.5,
    threshold: Threshold = None,
    against: Against = None,
    traces: Traces = None,
    dataset: Dataset = None,
    encoding: Encoding = None,
) -> None:
    """Check the gold labels of a data set against what its text proves, anybody's reward, or the critics themselves.

    Without a SOURCE and without --reward the cheat catalogue is run against the critics. Exit status 1 if a label is
    wrong or none could be checked, a reward is wrong too often, a cheat is certified or an honest attempt rejected.
    """
    given = context.params
    if without_jail:
        leave_the_jail()
    if source is not None:
        _refuse(context, "a SOURCE")
        passed = audit_labels(LabelAudit(**{each.name: given[each.name] for each in fields(LabelAudit)}))
    elif context.info_name == "audit-data":
        raise InputError("audit-data: name the rows, a published file, a generator, or reasoning-gym:TASK")
    elif reward is not None:
        _refuse(context, "--reward" if against is None else "--against")
        options: dict[str, Any] = {name: given[name] for name in _OF_REWARDS} | {"num": num or 30}
        passed = (audit_reward if against is None else compare_rewards)(RewardAudit(**options))
    else:
        _refuse(context, "critics")
        passed = _audit(formats or [], critic, catalogue, quick=quick, jobs=jobs, timeout_s=timeout, as_json=as_json)
        if seconds is not None or iterations is not None:
            passed &= _search_for_cheats(formats or [], seconds, iterations, seed, jobs, timeout, out, as_json)
    if not passed:
        raise typer.Exit(1)


def _refuse(context: typer.Context, what: str) -> None:
    """Raise `InputError` for an option that was given and means nothing where `what` is audited."""
    for each in context.command.params:
        name = each.name or ""
        origin = context.get_parameter_source(name)
        if name not in _OPTIONS[what] | _OF_ALL and origin is not None and origin.name == "COMMANDLINE":
            whose = " or ".join(kind for kind, names in _OPTIONS.items() if name in names)
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
    own = registry.formats()
    others = registry.names("critics", own)
    if entry is not None and not formats:
        yield _of_plugin(entry)
        return
    for name in formats or [*own, *others]:
        if name in own:
            yield own_catalogue(name)
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
