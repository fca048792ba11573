"""`demonstrate`: reference attempts, to show a format or to be fine-tuned on (`filter`, then `train`)."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from critics.errors import InputError
from training.commands.options import Json, Out, Overrides, say_or_print

if TYPE_CHECKING:
    from training.configuration.run import ArmConfig, RunConfig

EXAMPLE = "certistar demonstrate problems.jsonl --out attempts.jsonl"
_ANNOTATED = "a readable annotation (`meta.premises_fol` and `meta.conclusion_fol`)"
_NEEDS = {
    "guided": "a formalisation (key `formal`), or a text that can be translated",
    "english": "a text that can be translated and proves its gold answer",
    "cot": "a gold answer (key `answer`)",
    "fol": _ANNOTATED,
    "fol-cot": f"a gold answer and {_ANNOTATED}",
    "asp": f"a text in controlled English, or {_ANNOTATED}",
}


def demonstrate(
    file: Annotated[Path, typer.Argument(help="Problems as JSON lines.")],
    out: Out,
    format_: Annotated[
        str, typer.Option("--format", help="guided, english, cot (the gold answer), fol, fol-cot or asp.")
    ] = "guided",
    style: Annotated[
        Literal["quoted", "conclusions", "brief"],
        typer.Option(
            "--style", help="Of english: steps behind the rules that they quote, or alone. asp: quoted, brief."
        ),
    ] = "quoted",
    after: Annotated[
        Path | None, typer.Option("--after", help="Of asp: second turns, after replies of a model that have faults.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", help="Write the prompts that this configuration's model reads.")
    ] = None,
    arm: Annotated[str | None, typer.Option("--arm", help="Of which arm; the first that fits, if none.")] = None,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Write reference attempts for problems that have a formalisation, an annotation or a gold answer."""
    from rollout.actor_critic.feedback import DialogReviewPool
    from training.commands.attempts import read_attempts_that_are, traces_that_are
    from training.lessons.references import UNTAUGHT, completions, dialogs, second_turns
    from training.records.store import write_new_records
    from training.rounds.problems import read_problems
    from training.rounds.rollout import prompts
    from training.workers.strategies import ActorCritic, no_review, strategy_of

    if format_ not in _NEEDS:
        raise InputError(f"--format {format_!r}: must be one of {', '.join(_NEEDS)}")
    if after is not None and format_ != "asp":
        raise InputError(f"--after: only programs of --format asp have second turns, not {format_}")
    asked = _asked(config, arm, format_, overrides)
    problems = list(read_problems(file))
    try:
        if format_ == "asp":
            strategy = None if asked is None else strategy_of(*asked, trained=True, review=no_review)
            with DialogReviewPool() as reviews:
                settings = strategy.settings if isinstance(strategy, ActorCritic) else UNTAUGHT
                given = None if after is None else traces_that_are(*read_attempts_that_are(after))
                write = dialogs if given is None else partial(second_turns, given)
                attempts = write(problems, reviews, settings, brief=style == "brief")
        else:
            shown = "english-conclusions" if (format_, style) == ("english", "conclusions") else format_
            attempts = completions(problems, shown, None if asked is None else prompts(*asked))
    except InputError as error:
        raise InputError(f"{file}: {error}") from error
    needed = f"a reply with a fault in {after}" if after else _NEEDS[format_]
    if not attempts:
        raise InputError(f"{file}: no problem has {needed}")
    write_new_records(out, (attempt.record() for attempt in attempts))
    left = len(problems) - len({attempt.problem.id for attempt in attempts})
    lack = "have no formalisation" if format_ == "guided" else f"lack {needed}"
    told = f"{len(attempts)} demonstrations in {out}; {left} problems {lack}"
    say_or_print(told, {"demonstrations": len(attempts), "left_out": left, "out": str(out)}, as_json)


def _asked(
    path: Path | None, name: str | None, format_: str, overrides: list[str] | None
) -> "tuple[RunConfig, ArmConfig] | None":
    """Return the arm whose prompts are wanted: the named one, or the first that writes the format."""
    if path is None:
        if name is not None or overrides:
            raise InputError(f"{'--arm' if name is not None else '--set'}: name the configuration by --config FILE")
        return None
    from training.configuration.run import load_run
    from training.rounds.rollout import shown_to

    config = load_run(path, overrides)
    written = "cot" if format_ == "english" else format_
    fitting = [arm for arm in config.arms if (arm.format if format_ == "english" else shown_to(arm)) == written]
    found = next((arm for arm in fitting if name in (None, arm.name)), None)
    if found is None:
        names = ", ".join(arm.name for arm in fitting) or "none"
        wanted = f"arm {name!r}" if name is not None else "no arm"
        raise InputError(f"{path}: {wanted} does not write what --format {format_} shows; these do: {names}")
    return config, found
