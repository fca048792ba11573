"""Several models under one configuration: each is put in its `model` section, and named in tables by a label."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from critics.errors import InputError
from training.configuration.run import RunConfig
from training.configuration.section import ConfigError, explained, read_yaml
from training.lineage.adapters import MANIFEST


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model under a configuration, with its label in tables."""

    label: str
    config: RunConfig
    adapter: Path | None = None

    @property
    def folder(self) -> str:
        """The label as a name that any file system takes."""
        return re.sub(r"[^\w.+-]+", "_", self.label).strip("._") or "model"


def named_models(config: RunConfig, names: Sequence[str], adapter: Path | None = None) -> list[NamedModel]:
    """Return the models that `--model` names, in order; without any, the configuration's own.

    A name is a model on the hub or in a folder, an adapter's folder, a model of the configuration's server,
    `NAME@http://HOST/v1` for another server's, or a YAML file with keys of the section `model`.
    Raises `InputError` where one cannot be meant, or two would be one folder.
    """
    models = [_named(config, name, adapter) for name in names] or [_own(config, adapter)]
    by_folder: dict[str, str] = {}
    for model in models:
        if model.folder in by_folder:
            raise InputError(
                f"--model: {by_folder[model.folder]!r} and {model.label!r} are one name in tables and files"
            )
        by_folder[model.folder] = model.label
    return models


def label_of(config: RunConfig) -> str:
    """Return the name of a configuration's own model as its server, or the hub, has it."""
    return config.model.pinned if config.model.server is None else config.model.server.model


def _own(config: RunConfig, adapter: Path | None) -> NamedModel:
    beside = "" if adapter is None else f"+{_adapter_name(adapter)}"
    return NamedModel(label_of(config) + beside, config, adapter)


def _named(config: RunConfig, name: str, adapter: Path | None) -> NamedModel:
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml"):
        return NamedModel(path.stem, _with(config, dict(read_yaml(path)), name), adapter)
    if (found := re.fullmatch(r"(.+)@(https?://.+)", name)) is not None:
        server = {"model": found[1], "base_url": found[2]}
        return NamedModel(found[1], _with(config, {"server": server}, name), adapter)
    if re.fullmatch(r".+@\w+:/.*", name):
        raise InputError(f"--model {name}: a server is named NAME@http://HOST/v1 or NAME@https://HOST/v1")
    if path.is_dir() and ((path / "adapter_config.json").exists() or (path / MANIFEST).exists()):
        if adapter is not None:
            raise InputError(f"--model {name}: is an adapter, and --adapter names another; leave one out")
        return NamedModel(f"{label_of(config)}+{_adapter_name(path)}", config, path)
    if config.model.server is not None and not path.is_dir():
        return NamedModel(name, _with(config, {"server": {"model": name}}, name), adapter)
    return NamedModel(name, _with(config, {"name": name, "server": None}, name), adapter)


def _with(config: RunConfig, keys: dict[str, Any], name: str) -> RunConfig:
    """Return the configuration with these keys in its section `model`, those of `server` beside what it has."""
    model = config.model.model_dump() | ({"revision": None} if "name" in keys else {})  # it is the other model's
    given = keys.get("server")
    if isinstance(given, dict):
        keys = {**keys, "server": {**(model["server"] or {}), **cast("dict[str, Any]", given)}}
    try:
        return RunConfig.model_validate({**config.model_dump(), "model": {**model, **keys}})
    except ValidationError as error:
        raise ConfigError(f"--model {name}: {explained(error, RunConfig)}") from error


def _adapter_name(adapter: Path) -> str:
    """Return the last folders of an adapter's path that tell it from another round's."""
    parts = [part for part in adapter.resolve().parts if part not in ("/", "adapter")]
    return "-".join(parts[-4:] if "round-" in "-".join(parts[-1:]) else parts[-1:])
