"""Protocol of a format: what a format is to whoever judges, explains, compares with a text or re-checks.

Each format is a folder of `critics.formats` whose module `format` has its `FORMAT`; a package brings its own through
`critics.registry`. A method that works imports what it needs when it is called, so that a name alone costs nothing.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from critics import registry
from critics.errors import InputError
from critics.problem import Attempt, Problem, RecordError
from critics.registry import PluginError
from critics.replay.certificate import Rejected
from critics.replay.grades import Grade
from critics.replay.replies import Place, answer_place
from critics.text.part import TextPart, TextStep
from critics.verdict import Certified, Verdict
from critics.verdict.certificate import Certificate, CertificateRecord, certify, read_certificate
from critics.verdict.conclusion import Refusal, wrong_answer
from critics.verdict.reading import Span

Judge = Callable[[Problem, Attempt], Verdict]


Restored = tuple[str, Mapping[str, object]]
"""An attempt's text, and what its problem's `meta` must say."""


class CertificateError(TypeError):
    """A critic certifies with something that is no certificate."""


class Format(TextPart, ABC):
    """One format of attempts: a subclass says how its attempts are judged, and what else it knows of them."""

    kinds: tuple[str, ...] = ()
    """Kinds of certificates that it alone makes and whose evidence holds the attempt."""
    asking: str = ""
    """A data set that asks for such attempts, where no others may be answered so."""
    catalogue: Path | None = None
    """Cheats and honest attempts of a format from another package (docs/plug-ins.md), for `certistar audit`."""
    is_quick: bool = False
    """Attempts take a millisecond or two, and are judged in batches."""
    is_replayed: bool = False
    """Its critic has the checker replay each certificate, the text included, before it gives it out."""
    is_program: bool = False
    """Attempts are programs for a solver, whose failures are counted by kind."""
    is_held_to_text: bool = False
    """Certified attempts are compared with the problem's text afterwards."""
    is_text: bool = False
    """Attempts are prose, in which letters of two alphabets in one word hide something."""
    states_premises: bool = False
    """Attempts state premises of their own, which a reference is compared with."""

    @abstractmethod
    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        """Return the verdict on an attempt."""

    def check(self, certificate: CertificateRecord) -> bool:
        """Replay the evidence of a certificate whose `kind` is the name of a package's format.

        Returns whether that was a second solver's opinion; raises `critics.replay.certificate.Rejected`. Certificates
        of kinds that are built in have a checker already.
        """
        raise Rejected("unknown_kind")

    def restored(self, evidence: Any) -> Restored:
        """Return the attempt that a certificate's evidence, which was replayed, holds, and its problem's `meta`."""
        return str(evidence.get("program", evidence.get("completion"))), {}

    def proved(self, attempt: Attempt, spans: Sequence[Span]) -> str:
        """Return the text of a certified attempt without what nothing stands behind; of a reply, its program alone."""
        from critics.text.trust.comments import without

        program = self.answered(attempt).completion
        comments = self.comments(program)
        return program if comments is None else without(program, ((one.start, one.end) for one in comments))

    def explain(self, attempt: Attempt) -> str | None:
        """Return what can be shown of a program that runs and gives no answer; None where there is nothing to show.

        What is said depends on the program alone, never on the gold answer, and certifies nothing: it is advice to
        whoever mends the program. Takes about as long as judging did, so it needs a killable worker as well.
        """
        return None

    def bar(self, problem: Problem, attempt: Attempt, certificate: Certificate, *, aligned: bool) -> Refusal | None:
        """Return why an attempt on trust is not certified; None where nothing bars it."""
        from critics.text.trust.bars import bar_on_trust

        return bar_on_trust(self, problem, attempt, certificate, aligned=aligned)

    def place(self, completion: str) -> Place:
        """Return where the answer stands in a reply, apart from thoughts, and a program apart from prose."""
        return answer_place(completion)

    def answered(self, attempt: Attempt) -> Attempt:
        """Return an attempt without what stands around its answer; the same one where nothing does."""
        start, end = self.place(attempt.completion)
        answer = attempt.completion[start:end]
        return attempt if answer.strip() == attempt.completion.strip() else replace(attempt, completion=answer)

    def steps(self, problem: Problem, completion: str) -> tuple[TextStep, ...]:
        """Return the steps of a text, as a verdict's `first_bad_step` counts them; none where no text is read."""
        start, end = self.place(completion)
        found = self.steps_of(problem, completion[start:end])
        return tuple(replace(step, start=step.start + start, end=step.end + start) for step in found)

    def steps_of(self, problem: Problem, answer: str) -> tuple[TextStep, ...]:
        """Return the steps of an answer, with their places in it."""
        return ()


class CriticPlugin(Format):
    """A format from another package, in three parts: its critic, the checker of its certificates, its catalogue."""

    def __init__(
        self, judge: Judge, check: Callable[[CertificateRecord], bool] | None = None, catalogue: Path | None = None
    ) -> None:
        self._judge, self._check, self.catalogue = judge, check, catalogue

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        """Return the verdict of the package's critic."""
        return self._judge(problem, attempt)

    def check(self, certificate: CertificateRecord) -> bool:
        """Replay a certificate by the package's checker."""
        return super().check(certificate) if self._check is None else self._check(certificate)


@lru_cache
def find_format(name: str) -> Format:
    """Return the format of a name, built in or from a package; raises `PluginError` where there is none."""
    return as_format(registry.load_format(name), name)


def as_format(found: object, name: str) -> Format:
    """Return what was found under a name as a format; a bare function is a critic. Raises `PluginError` for others."""
    if isinstance(found, Format):
        return found
    if callable(found) and not isinstance(found, type):
        return CriticPlugin(cast("Judge", found))
    raise PluginError(
        f"plug-in {name!r}: a critic is a function of a problem and an attempt, or a "
        f"critics.formats.format.Format, not {type(found).__name__}"
    )


def judge_by(plugin: Format, problem: Problem, attempt: Attempt) -> Verdict:
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
        found = cast("object", verdict.certificate)
        try:
            # A critic may hand its certificate over as JSON.
            certificate = found if isinstance(found, Certificate) else read_certificate(found)
        except RecordError as error:
            raise CertificateError(str(error)) from error
        verdict = Certified(verdict.answer, certificate)
    if isinstance(verdict, Certified) and problem.answer not in (None, verdict.answer):
        return wrong_answer(verdict.answer)
    return verdict


def plugin_certificate(
    attempt: Attempt, claim: str, evidence: Mapping[str, object], *, engine: str, formalisation: Grade = "trusted"
) -> Certificate:
    """Return the certificate of an attempt in a package's format; no floats, because digests would differ.

    Its `kind` is the format's name, and its evidence holds the `completion` that it is about.
    """
    found, formal = {**evidence, "completion": attempt.completion}, attempt.problem.formal
    return certify(attempt.format, attempt.problem, claim, found, engine=engine, formal=formal, grade=formalisation)
