"""What every configuration is built from: closed, frozen sections over sparse YAML, and errors that name the key."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from critics.errors import InputError

Positive = Annotated[int, Field(gt=0)]
Rate = Annotated[float, Field(ge=0, le=1)]


class ConfigError(InputError):
    """A configuration cannot be used; the message names the file, the key and the remedy."""


class Section(BaseModel):
    """A part of a configuration: immutable, and closed to keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
    later: ClassVar[frozenset[str]] = frozenset()
    """Keys that came after published results: left out of a digest at their defaults, so that those keep theirs."""

    def digested(self) -> dict[str, Any]:
        """Return the JSON form that a digest is made from."""
        record = self.model_dump(mode="json")
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if name in self.later and value == field.get_default(call_default_factory=True):
                del record[name]
            elif isinstance(value, Section):
                record[name] = value.digested()
            elif isinstance(value, list):
                pairs = zip(value, record[name], strict=True)
                record[name] = [item.digested() if isinstance(item, Section) else plain for item, plain in pairs]
        return record


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping; raises `ConfigError` that names the file."""
    import yaml

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror})") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not YAML ({' '.join(str(error).split())})") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: a mapping of keys is needed at the top")
    return data


def validated(model: type[Any], data: dict[str, Any], overrides: list[str], path: Path) -> Any:
    """Return the configuration with its overrides; raises `ConfigError` that names the file, the key and the remedy."""
    import yaml

    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals:
            raise ConfigError(f"--set {override}: write key=value, such as --set star.rounds=1")
        *parents, last = key.split(".")
        section = data
        for parent in parents:
            section = section.setdefault(parent, {})
            if not isinstance(section, dict):
                raise ConfigError(f"--set {override}: {parent} is not a section")
        try:
            section[last] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise ConfigError(f"--set {override}: the value is not YAML") from error
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ConfigError(f"{path}: {explained(error, model)}") from error


def explained(error: ValidationError, model: type[BaseModel]) -> str:
    """Turn the first complaint into one line that names the key, and the nearest known key where it is unknown."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = _known_keys(model, first["loc"][:-1])
        return f"unknown key {place!r}; {nearest(str(first['loc'][-1]), known)}"
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def nearest(word: str, known: Sequence[str]) -> str:
    """Return a hint after a word that is not known: the nearest one that is, else all."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known here: {', '.join(known)}"


def _known_keys(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    current: Any = model
    for part in location:
        if isinstance(part, int):
            continue
        current = current.model_fields[part].annotation
        while not (isinstance(current, type) and issubclass(current, BaseModel)):
            inner = [a for a in getattr(current, "__args__", ()) if a is not type(None)]
            if not inner:
                return []
            current = inner[0]
    return sorted(current.model_fields)
