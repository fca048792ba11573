"""Certificates of chains of thought: what each sentence says, where it stands, and how it follows."""

from collections.abc import Sequence
from dataclasses import dataclass

from critics.formats.english.saturation import saturation
from critics.formats.english.trial import Trial
from critics.formats.horn import derivation
from critics.problem import Problem
from critics.text.english.steps import WORK_LIMIT, Entry
from critics.verdict.certificate import Certificate, certify
from critics.verdict.reading import Span

KIND = "english-proof"
ENGINE = "certistar-english/1"


@dataclass(frozen=True, slots=True)
class EnglishEvidence:
    """Everything that is established, in order, and where the text says it."""

    reference: str
    """The translator that read the problem, or `english`."""
    semantics: str
    completion: str
    goal: tuple[str, ...]
    entries: tuple[Entry, ...]
    spans: tuple[Span, ...]
    closure: list[dict[str, object]] | None
    """Everything that forward chaining gives, where the answer is that nothing decides the question."""

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        return {
            "reference": self.reference,
            "semantics": self.semantics,
            "completion": self.completion,
            "goal": list(self.goal),
            "entries": [
                {"says": str(entry.clause), "how": entry.step.how, "premises": list(entry.step.premises)}
                for entry in self.entries
            ],
            "spans": [span.record() for span in self.spans],
            "closure": self.closure,
        }


def english_certificate(problem: Problem, trial: Trial, spans: Sequence[Span], completion: str) -> Certificate:
    """Return the certificate of a trial that ended well, digest included."""
    assert trial.claimed is not None
    language = trial.language
    closure = derivation(saturation(language).entries) if trial.proved == "unknown" else None
    evidence = EnglishEvidence(
        language.source,
        language.semantics.kind,
        completion,
        tuple(map(str, language.goal)),
        tuple(trial.ledger.entries),
        tuple(spans),
        closure,
    )
    return certify(
        KIND,
        problem,
        trial.claimed,
        evidence,
        engine=ENGINE,
        formal=language.formal,
        limits={"work": WORK_LIMIT},
    )
