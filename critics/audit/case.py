"""One case of the cheat catalogue: an attempt that no critic may believe, an honest one, or a forged certificate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from critics.problem import Attempt
from critics.verdict import Verdict, verdict_record


@dataclass(frozen=True, slots=True)
class HonestCase:
    """An attempt that must be certified, so that a critic that rejects everything fails."""

    id: str
    attempt: Attempt
    answer: str
    """What it must be certified as."""


@dataclass(frozen=True, slots=True)
class CheatCase:
    """An attempt that tries to be certified for nothing."""

    id: str
    cheat_class: str
    attempt: Attempt
    why: str
    rules: tuple[str, ...]
    """The reasons of a verdict by which the critics here stop it, any of them; another critic may find others."""
    answer: str | None = None
    """The one answer as which it may be certified, where the trick changes what is claimed; None: it never may be."""
    slow: bool = False
    """Whether it runs into a budget of seconds on purpose."""


@dataclass(frozen=True, slots=True)
class ForgeryCase:
    """A certificate changed under a digest that fits: the trace is honest, what stands in its certificate is not."""

    id: str
    cheat_class: str
    honest: HonestCase
    why: str
    changes: Mapping[str, object]
    """New values by the path of their keys, `evidence/steps/0/statement`."""
    record_changes: Mapping[str, object] = field(default_factory=dict[str, object])
    """The same for the trace around the certificate."""


Case = HonestCase | CheatCase | ForgeryCase


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The cases of one format."""

    format: str
    classes: Mapping[str, str]
    """Each class of cheats, and the rule that stops it in a sentence."""
    honest: tuple[HonestCase, ...]
    cheats: tuple[CheatCase, ...]
    forgeries: tuple[ForgeryCase, ...]


def trace_record(attempt: Attempt, found: Verdict) -> dict[str, Any]:
    """Return the JSON form of an attempt with its verdict."""
    return {**attempt.record(), "judgement": verdict_record(attempt.id, found)}
