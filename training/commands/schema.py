"""`schema`: the JSON schema of configurations, by which an editor completes keys and marks mistakes."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from critics.errors import InputError
from critics.problem import is_list, is_object
from training.commands.options import say
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig

TITLE = "Configuration of Certistar"
_OF_MODELS_ALONE = sorted(ModelConfig.model_fields.keys() - RunConfig.model_fields.keys())


def schema_text() -> str:
    """Return the schema of all configurations as JSON, with a line for each section."""
    kinds = [RunConfig, ModelConfig]
    definitions = models_json_schema([(kind, "validation") for kind in kinds])[1]["$defs"]
    a_model = {"anyOf": [{"required": [key]} for key in _OF_MODELS_ALONE], "not": {"required": ["model"]}}
    of_run = {"if": a_model, "then": _ref(ModelConfig), "else": _ref(RunConfig)}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": TITLE, "type": "object", **of_run}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(_plain(each))}" for name, each in sorted(definitions.items()))
    return f'{json.dumps(head)[:-1]}, "$defs": {{\n{lines}\n}}}}\n'


def _ref(kind: type[BaseModel]) -> dict[str, str]:
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _plain(part: Any) -> Any:
    """Return a part of the schema without titles that say a key again, and with each description on one line."""
    if is_list(part):
        return [_plain(each) for each in part]
    if not is_object(part):
        return part
    return {key: _plain_value(key, value) for key, value in part.items() if key != "title"}


def _plain_value(key: str, value: Any) -> Any:
    if key == "properties" and is_object(value):
        return {name: _plain(each) for name, each in value.items()}
    return " ".join(str(value).split()) if key == "description" else _plain(value)


EXAMPLE = "certistar schema --out schema.json"


def schema(
    out: Annotated[Path | None, typer.Option("--out", help="A file; standard output, if none.")] = None,
) -> None:
    """Write the JSON schema of configurations, for editors that read `# yaml-language-server: $schema=schema.json`."""
    from training.records.store import write_text

    text = schema_text()
    if out is None:
        print(text, end="")
        return
    if out.is_file() and f'"title": "{TITLE}"' not in out.read_text(encoding="utf-8", errors="replace"):
        raise InputError(f"--out {out}: holds something else than a schema of ours; name another file")
    write_text(out, text)
    say(f"{out}: name it in a configuration's first line: # yaml-language-server: $schema={out.name}")
