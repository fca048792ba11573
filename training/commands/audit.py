"""`audit`: gold labels against what their texts prove, probes against rewards, the cheat catalogue against critics."""

from collections.abc import Set
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from critics.errors import InputError
from training.commands.options import Columns, Jobs, Json, Seed, Timeout

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
OutPlace = Annotated[Path | None, typer.Option("--out", help="Where to write what is found.")]
Reward = Annotated[str | None, OfReward("--reward", metavar="ENTRY", help="module:function, or certistar.")]
Data = Annotated[list[str] | None, OfReward("--data", help="Solved problems: a file, or generators (repeatable).")]
Num = Annotated[int | None, typer.Option("--num", min=1, help="So many problems: 30 for a reward, 200 to generate.")]
Template = Annotated[str | None, OfReward("--template", help="How completions are written.", show_default=False)]
Answers = Annotated[
    list[str] | None, typer.Option("--answers", metavar="WORD=ANSWER,..", help="What answers are called: yes=true,..")
]
Messages = Annotated[bool, OfReward("--messages", help="Completions are lists of messages, and no texts.")]
Strict = Annotated[bool, OfReward("--strict", help="A right answer without a proof must be rejected.")]
AcceptFrom = Annotated[float, OfReward("--accept-from", help="The least reward that accepts.")]
Threshold = Annotated[
    float | None, OfReward("--threshold", min=0, max=1, help="The largest share of wrong rewards; 0, if none.")
]
Dataset = Annotated[str | None, OfData("--dataset", help="Whose file it is, or in whose language its texts are.")]
Encoding = Annotated[str | None, OfData("--encoding", help="Of a CSV file that is not UTF-8, e.g. latin-1.")]


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
    seed: Seed = 0,
    out: OutPlace = None,
    reward: Reward = None,
    data: Data = None,
    num: Num = None,
    template: Template = None,
    answers: Answers = None,
    columns: Columns = None,
    messages: Messages = False,
    strict: Strict = False,
    accept_from: AcceptFrom = 0.5,
    threshold: Threshold = None,
    dataset: Dataset = None,
    encoding: Encoding = None,
) -> None:
    """Check the gold labels of a data set against what its text proves, anybody's reward, or the critics themselves.

    Without a SOURCE and without --reward the cheat catalogue is run against the critics. Exit status 1 if a label is
    wrong or none could be checked, a reward is wrong too often, a cheat is certified or an honest attempt rejected.
    """
    from training.commands.audit_critics import audit_critics
    from training.commands.audit_data import LabelAudit, audit_labels
    from training.commands.audit_reward import RewardAudit, audit_reward

    given = context.params
    if source is None and context.info_name == "audit-data":
        raise InputError("audit-data: name the rows, a published file, a generator, or reasoning-gym:TASK")
    of_labels, of_rewards = _refuse(context, source, reward)
    if source is not None:
        passed = audit_labels(LabelAudit(**{name: given[name] for name in of_labels}))
    elif reward is not None:
        passed = audit_reward(RewardAudit(**{name: given[name] for name in of_rewards}))
    else:
        passed = audit_critics(formats or [], critic, catalogue, quick, jobs, timeout, as_json)
    if not passed:
        raise typer.Exit(1)


def _refuse(context: typer.Context, source: str | None, reward: str | None) -> tuple[Set[str], Set[str]]:
    """Return the options of labels and of rewards; raises `InputError` for one that was given and means nothing."""
    from training.commands.audit_data import LabelAudit
    from training.commands.audit_reward import RewardAudit

    of_labels, of_rewards = ({each.name for each in fields(kind)} for kind in (LabelAudit, RewardAudit))
    options = {
        "critics": {"formats", "critic", "catalogue", "quick"},
        "--reward": of_rewards,
        "a SOURCE": of_labels,
    }
    meant = options["a SOURCE" if source is not None else "--reward" if reward is not None else "critics"]
    for each in context.command.params:
        name = each.name or ""
        origin = context.get_parameter_source(name)
        is_shared = name in ("context", "jobs", "timeout", "as_json")
        if not is_shared and name not in meant and origin is not None and origin.name == "COMMANDLINE":
            whose = " or ".join(kind for kind, names in options.items() if name in names)
            raise InputError(f"{each.opts[0]} goes with {whose} alone; leave it out")
    return of_labels, of_rewards
