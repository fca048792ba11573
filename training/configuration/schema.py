"""JSON schema of configurations, for editors: which keys there are, what they mean, and which values they take.

It says what can be said of one key at a time; what depends on several is checked where a configuration is read.
"""

import json
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from critics.problem import is_list, is_object
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig

TITLE = "Configuration of Certistar"
_OF_MODELS_ALONE = sorted(ModelConfig.model_fields.keys() - RunConfig.model_fields.keys())


def schema_text() -> str:
    """Return the schema of all configurations as JSON, with a line for each section."""
    kinds = [RunConfig, ModelConfig]
    definitions: dict[str, Any] = models_json_schema([(kind, "validation") for kind in kinds])[1]["$defs"]
    a_model = {"anyOf": [{"required": [key]} for key in _OF_MODELS_ALONE], "not": {"required": ["model"]}}
    of_run: dict[str, Any] = {"if": a_model, "then": _ref(ModelConfig), "else": _ref(RunConfig)}
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
    found: dict[str, Any] = {}
    for key, value in part.items():
        if key == "properties" and is_object(value):
            found[key] = {name: _plain(each) for name, each in value.items()}
        elif key == "description":
            found[key] = " ".join(str(value).split())
        elif key != "title":
            found[str(key)] = _plain(value)
    return found
