"""Findings of one check of a formalisation: it passes, it fails, or it has nothing to go by."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Passed:
    """The check applied, and nothing speaks against the formalisation."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The formalisation does not say what the text says; `reason` names the formula."""

    reason: str


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Nothing is known: this never counts as passed."""

    reason: str


Finding: TypeAlias = Passed | Failed | NotApplicable
_WORDS: dict[type, str] = {Passed: "pass", Failed: "fail", NotApplicable: "not applicable"}


def all_of(findings: Iterable[Finding]) -> Finding:
    """Return the first failure, else the first that is not applicable; of nothing, not applicable."""
    listed = list(findings)
    for kind in (Failed, NotApplicable):
        for finding in listed:
            if isinstance(finding, kind):
                return finding
    return Passed() if listed else NotApplicable("there is nothing to compare")


def any_of(findings: Iterable[Finding]) -> Finding:
    """Return a pass if there is one, else the first that is not applicable, else the first failure."""
    listed = list(findings)
    for kind in (Passed, NotApplicable):
        for finding in listed:
            if isinstance(finding, kind):
                return finding
    return listed[0] if listed else NotApplicable("there is nothing to compare")


def finding_record(finding: Finding) -> dict[str, object]:
    """Return the JSON form."""
    return {"finding": _WORDS[type(finding)], "reason": None if isinstance(finding, Passed) else finding.reason}
