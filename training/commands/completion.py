"""Completion in a shell: names of formats, data sets, arms, configurations and their keys.

Where nothing is offered the shell completes paths. Values are looked up when Tab is pressed, and never as a command
starts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

import typer

from critics.errors import InputError

Names = Callable[[], Iterable[str]]


def completer(command: str, parameter: str) -> Callable[[typer.Context, str], list[str]] | None:
    """Return what completes a parameter of a command; None where the shell's paths do."""
    found = _OF_COMMANDS.get((command, parameter)) or _OF_ALL.get(parameter)
    if found is None:
        return None

    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return [name for name in found(ctx, incomplete) if name.startswith(incomplete)]
        except (InputError, OSError, ModuleNotFoundError):
            return []  # a half-typed file is no error while somebody types

    return offered


def _among(names: Names) -> Callable[[typer.Context, str], Iterable[str]]:
    return lambda ctx, incomplete: names()


def _formats() -> Iterable[str]:
    from critics import registry

    return registry.formats()


def _keeps() -> Iterable[str]:
    from training.configuration.learning import Keep

    return get_args(Keep)


def _languages() -> Iterable[str]:
    from critics.text.reference import TRANSLATORS

    return TRANSLATORS


def _generated() -> Iterable[str]:
    from rollout.problems.catalogue import GENERATED

    return GENERATED


def _guides() -> Iterable[str]:
    from rollout.guides.catalogue import known_guides

    return known_guides()


def _splits() -> Iterable[str]:
    from rollout.problems.splits import Split

    return get_args(Split)


def _exports() -> Iterable[str]:
    from training.exchange.exports import SHAPES
    from training.exchange.step_labels import STEP_SHAPES
    from training.rewards.preferences import SHAPES as PREFERENCES

    return [*SHAPES, *STEP_SHAPES, *PREFERENCES]


def _configurations(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Return the YAML files of the folder that is typed, and before one is, those of `configs`."""
    typed = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    folders = [typed, Path("configs")] if typed == Path() else [typed]
    return [path.as_posix() for folder in folders for path in sorted(folder.glob("*.yaml"))]


def _arms(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Return the arms of the configuration, or of the run, that was named before."""
    from training.configuration.section import read_yaml

    given = next((ctx.params[name] for name in ("config", "folder") if ctx.params.get(name)), None)
    if given is None:
        return []
    path = Path(str(given))
    data = cast("Mapping[str, Any]", read_yaml(path / "config.yaml" if path.is_dir() else path))
    return [str(arm["name"]) for arm in data.get("arms") or [{"name": "strict"}]]


def _keys(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Return the keys of the command's configuration, and behind one and its `=` the values that it takes."""
    keys = _keys_of(str(ctx.info_name))
    key, equals, _ = incomplete.partition("=")
    return [f"{key}={value}" for value in keys.get(key, ())] if equals else [f"{each}=" for each in keys]


@cache
def _keys_of(command: str) -> Mapping[str, tuple[str, ...]]:
    """Return each key of a configuration with its values, where these are few."""
    from training.configuration.rewards import ReinforcementConfig
    from training.configuration.run import RunConfig

    schema = (ReinforcementConfig if command == "reinforce" else RunConfig).model_json_schema()
    return dict(_leaves(schema, schema["$defs"], ""))


def _leaves(
    section: Mapping[str, Any], sections: Mapping[str, Any], before: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, described in section["properties"].items():
        choices = [described, *described.get("anyOf", ())]
        inner = next((each["$ref"].rpartition("/")[2] for each in choices if "$ref" in each), None)
        if inner is not None:
            yield from _leaves(sections[inner], sections, f"{before}{name}.")
            continue
        values = [str(value) for each in choices for value in each.get("enum", ())]
        if any(each.get("type") == "boolean" for each in choices):
            values += ["true", "false"]
        yield f"{before}{name}", tuple(values)


_OF_COMMANDS: Mapping[tuple[str, str], Callable[[typer.Context, str], Iterable[str]]] = {
    ("filter", "keep"): _among(_keeps),
    ("filter", "format_"): _among(_formats),
    ("filter", "formalise"): _configurations,
    ("filter", "dataset"): _among(_languages),
    ("audit", "formats"): _among(_formats),
    ("demonstrate", "format_"): _among(lambda: ("guided", "cot", "fol", "fol-cot", "asp")),
    ("problems", "name"): _among(_generated),
    ("problems", "split"): _among(_splits),
    ("problems", "ontology"): _among(lambda: ("fictional", "false", "true")),
    ("problems", "classes_by"): _configurations,
    ("problems", "settings"): _among(lambda: ()),
    ("guide", "name"): _among(_guides),
    ("guide", "mode"): _among(lambda: ("fixed", "compatible")),
    ("answer", "formalisation"): _among(lambda: ("checked", "trusted")),
    ("export", "credit"): _among(lambda: ("attempt", "first_bad_step")),
    ("export", "to"): _among(_exports),
    ("train", "nproc"): _among(lambda: ("auto",)),
}
_OF_ALL: Mapping[str, Callable[[typer.Context, str], Iterable[str]]] = {
    "config": _configurations,
    "overrides": _keys,
    "arm": _arms,
    "arms": _arms,
}
"""Parameters that mean the same in every command."""
