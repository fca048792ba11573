"""The critic that is audited: ours, a plug-in's, or one that a user names as `module:function`."""

import importlib
from typing import Any

from critics.critic_plugin import CriticPlugin, as_critic, critic_plugin, judge_by
from critics.plugins import PluginError
from critics.problem import RecordError, read_attempt
from critics.verdict import CriticError, verdict_record


def find_critic(entry: str) -> CriticPlugin:
    """Return the critic that `entry` names: an installed plug-in, or an attribute of a module."""
    module_name, colon, attribute = entry.partition(":")
    if not colon:
        return critic_plugin(entry)
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise PluginError(f"--critic {entry}: cannot be imported ({error}); write module:function") from error
    return as_critic(found, entry)


def judge_record_by(entry: str, record: dict[str, Any]) -> dict[str, Any]:
    """Judge an attempt's JSON form by the critic that `entry` names, as `critics.judge.judge_record` does by ours."""
    plugin = find_critic(entry)
    attempt = read_attempt(record)
    try:
        verdict = judge_by(plugin, attempt.problem, attempt)
    except (RecordError, PluginError):
        raise
    except Exception as error:  # noqa: BLE001 - whatever a critic raises is its own failure, recorded as such
        verdict = CriticError("critic_failed", None, f"{type(error).__name__}: {error}")
    return verdict_record(attempt.id, verdict)
