"""Critics from other packages: their entry, and the promises they are held to."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from critics import plugins
from critics.certificate import Certificate, read_certificate
from critics.conclusion import wrong_answer
from critics.errors import InputError
from critics.plugins import PluginError
from critics.problem import Attempt, Problem, RecordError
from critics.verdict import Certified, Verdict


@dataclass(frozen=True, slots=True)
class CriticPlugin:
    """Entry of the group `certistar.critics`: the critic of a format, and the checker of its certificates."""

    judge: Callable[[Problem, Attempt], Verdict]
    check: Callable[[Mapping[str, Any]], bool] | None = None
    """Replays the evidence of a certificate whose `kind` is the format's name: returns whether that was a second
    solver's opinion, raises `critics.checker.Rejected`. None: its certificates have a kind that is built in."""
    catalogue: Path | None = None
    """Its cheats and honest attempts (docs/plug-ins.md), for `certistar audit`."""


class CertificateError(TypeError):
    """A critic certifies with something that is no certificate."""


def critic_plugin(name: str) -> CriticPlugin:
    """Return the critic that a package names; a bare function is one without checker and catalogue."""
    return as_critic(plugins.load("critics", name), name)


def as_critic(found: object, name: str) -> CriticPlugin:
    """Return what was found under a name as a critic; raises `PluginError` where it is none."""
    if isinstance(found, CriticPlugin):
        return found
    if callable(found):
        return CriticPlugin(cast("Callable[[Problem, Attempt], Verdict]", found))
    raise PluginError(
        f"plug-in {name!r}: a critic is a function of a problem and an attempt, or a "
        f"critics.critic_plugin.CriticPlugin, not {type(found).__name__}"
    )


def judge_by(plugin: CriticPlugin, problem: Problem, attempt: Attempt) -> Verdict:
    """Judge by a critic of another package, and hold it to what a verdict promises.

    Raises `TypeError` for what is no verdict, `CertificateError` for what is no certificate, and `RuntimeError`
    where the critic complains of its input: then it failed. The gold answer counts whatever it says.
    """
    try:
        verdict = cast("object", plugin.judge(problem, attempt))
    except InputError as error:
        raise RuntimeError(f"{type(error).__name__}: {error}") from error
    if not isinstance(verdict, Verdict):
        raise TypeError(f"a critic returns a verdict, not {type(verdict).__name__}")
    if isinstance(verdict, Certified):
        verdict = Certified(verdict.answer, _certificate(verdict.certificate))
    if isinstance(verdict, Certified) and problem.answer not in (None, verdict.answer):
        return wrong_answer(verdict.answer)
    return verdict


def _certificate(found: object) -> Certificate:
    """Return a critic's certificate; one that it hands over as JSON is read."""
    if isinstance(found, Certificate):
        return found
    try:
        return read_certificate(found)
    except RecordError as error:
        raise CertificateError(str(error)) from error
