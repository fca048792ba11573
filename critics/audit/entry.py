"""The critic that is audited: ours, a plug-in's, or one that a user names as `module:function`."""

import importlib
from collections.abc import Mapping
from functools import partial
from typing import Any

from critics.formats.format import Format, as_format, find_format, judge_by
from critics.judge import judge_safely
from critics.problem import read_attempt
from critics.registry import PluginError
from critics.verdict import verdict_record


def find_critic(entry: str) -> Format:
    """Return the critic that `entry` names: an installed plug-in, or an attribute of a module."""
    module_name, colon, attribute = entry.partition(":")
    if not colon:
        return find_format(entry)
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"--critic {entry}: cannot be imported ({error}); write module:function") from error
    return as_format(found, entry)


def judge_record_by(entry: str, record: Mapping[str, object]) -> dict[str, Any]:
    """Judge an attempt's JSON form by the critic that `entry` names, as `critics.judge.judge_record` does by ours."""
    plugin, attempt = find_critic(entry), read_attempt(record)
    return verdict_record(attempt.id, judge_safely(attempt, partial(judge_by, plugin)))
