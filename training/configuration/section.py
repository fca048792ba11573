"""Base of every configuration: closed, frozen sections over sparse YAML, and errors that name the key."""

import difflib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import BaseModel, Field, ValidationError

from critics.errors import InputError
from critics.problem import is_object
from rollout.settings import Settings

Positive = Annotated[int, Field(gt=0)]
Rate = Annotated[float, Field(ge=0, le=1)]


class ConfigError(InputError):
    """A configuration cannot be used; the message names the file, the key and the remedy."""


class Section(Settings):
    """A part of a configuration: immutable, and closed to keys that it does not know."""


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping; raises `ConfigError` that names the file."""
    import yaml

    try:
        data: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not YAML ({' '.join(str(error).split())})") from error
    if not is_object(data):
        raise ConfigError(f"{path}: a mapping of keys is needed at the top")
    return data


def validated(model: type[Any], data: dict[str, Any], overrides: list[str], path: Path) -> Any:
    """Return the configuration with its overrides; raises `ConfigError` that names the file, the key and the remedy."""
    for override in overrides:
        key, value = read_override(override, "star.rounds=1")
        *parents, last = key.split(".")
        section: Any = data
        for parent in parents:
            section = section.setdefault(parent, {})
            if not is_object(section):
                raise ConfigError(f"--set {override}: {parent} is not a section")
        section[last] = value
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explained(error, model)}") from error


def read_override(override: str, example: str) -> tuple[str, Any]:
    """Read `KEY=VALUE` of `--set`, the value as YAML has it; raises `ConfigError` that shows an example."""
    import yaml

    key, equals, value = override.partition("=")
    if not equals:
        raise ConfigError(f"--set {override}: write key=value, such as --set {example}")
    try:
        return key, yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ConfigError(f"--set {override}: the value is not YAML") from error


def explained(error: ValidationError, model: type[BaseModel]) -> str:
    """Turn the first complaint into one line that names the key, and the nearest known key where it is unknown."""
    first = error.errors()[0]
    place, known = _place(model, first["loc"])
    if first["type"] == "extra_forbidden":
        return f"unknown key {place!r}; {nearest(str(first['loc'][-1]), known)}"
    if first["type"] == "union_tag_invalid":
        context = first.get("ctx", {})
        asked, expected = str(context["tag"]), re.findall(r"'([^']*)'", context["expected_tags"])
        return f"{place}.name: {asked!r} is not known; {nearest(asked, expected)}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint after a word that is not known: the nearest one that is, else all."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"


def _place(model: type[BaseModel], location: tuple[int | str, ...]) -> tuple[str, list[str]]:
    """Return a place as a file has it, without the tags of unions, and the keys that are known there."""
    found: list[str] = []
    known: list[str] = []
    current: Any = model
    for part in location:
        models = list(_models(current))
        chosen = [m for m in models if len(models) > 1 and part in get_args(m.model_fields["name"].annotation)]
        if chosen:
            current = chosen[0]
            continue
        found.append(str(part))
        if isinstance(part, str):
            fields = models[0].model_fields if models else {}
            known, current = sorted(fields), fields[part].annotation if part in fields else None
    return ".".join(found), known


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models that a field's type may be, or hold."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    for inner in get_args(annotation):
        yield from _models(inner)
