"""Registry of parts, by name and lazily: nothing is imported before it is asked for, built in or from another package.

A format that is built in is a folder of `critics/formats` with a module `format`. A package names its parts in its own
`pyproject.toml`, one group for each kind (docs/plug-ins.md):

    [project.entry-points."certistar.critics"]
    factors = "my_package.factors:critic"

What is built in keeps its name: a package cannot put another critic in the place of ours.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal

from critics.errors import InputError

Group = Literal["critics", "guides", "strategies", "datasets", "policies"]
_FORMATS = Path(__file__).with_name("formats")


class PluginError(InputError):
    """Plug-in that cannot be used; the message says which, and what to do."""


@lru_cache
def formats() -> tuple[str, ...]:
    """Return the names of the formats that are built in."""
    return tuple(sorted(path.parent.name.replace("_", "-") for path in _FORMATS.glob("*/format.py")))


def folder_of(name: str) -> Path:
    """Return the folder of a format that is built in."""
    return _FORMATS / name.replace("-", "_")


def all_formats() -> tuple[str, ...]:
    """Return the names of all formats, those of packages last."""
    return (*formats(), *names("critics", formats()))


def load_format(name: str) -> Any:
    """Import the format of a name: its `critics.formats.format.Format`, or what a package has in its place."""
    if name not in formats():
        return load("critics", name)
    return import_module(f"critics.formats.{name.replace('-', '_')}.format").FORMAT


def names(group: Group, built_in: Iterable[str] = ()) -> list[str]:
    """Return what packages name in a group, sorted; raises `PluginError` where one takes a name that is taken."""
    found = _installed(group)
    for name in built_in:
        if name in found:
            value = found[name].value
            raise PluginError(f"plug-in {value!r}: the name {name!r} in {_full(group)} is built in; rename it")
    return sorted(found)


def load(group: Group, name: str) -> Any:
    """Import what a package names; raises `PluginError` where there is nothing, or where importing it fails."""
    entry = _installed(group).get(name)
    if entry is None:
        raise PluginError(f"plug-in {name!r}: no installed package names it in {_full(group)}")
    try:
        return entry.load()
    except Exception as error:
        raise PluginError(
            f"plug-in {name!r}: {entry.value!r} of {_full(group)} cannot be imported "
            f"({type(error).__name__}: {error}); mend or uninstall its package"
        ) from error


def _full(group: Group) -> str:
    return f"certistar.{group}"


@lru_cache
def _installed(group: Group) -> Mapping[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=_full(group)):
        other = found.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise PluginError(
                f"plug-in {entry.name!r}: {other.value!r} and {entry.value!r} both have the name in {_full(group)}; "
                "uninstall one"
            )
    return found
