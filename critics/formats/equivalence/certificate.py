"""Certificates of equivalences: both sides in canonical text, and what the checker needs to see that they agree."""

from dataclasses import dataclass

from critics.formats.equivalence.language import Language
from critics.formats.equivalence.outcome import Equivalent
from critics.formats.equivalence.pair import Pair, RegexPair, free_names, texts
from critics.problem import Problem
from critics.replay.equivalences.checker import ENGINE, KINDS
from critics.verdict.certificate import Certificate, certify


@dataclass(frozen=True, slots=True)
class EquivalenceEvidence:
    """Both sides, and how to see that they mean the same."""

    pair: Pair
    reference: str
    proved: Equivalent

    def record(self) -> dict[str, object]:
        """Return the JSON form."""
        left, right = texts(self.pair)
        return {
            "language": language_of(self.pair).value,
            "left": left,
            "right": right,
            "free": free_names(self.pair),
            "reference": self.reference,
            "method": self.proved.method,
            "detail": dict(self.proved.detail),
        }


def equivalence_certificate(problem: Problem, pair: Pair, claim: str, proved: Equivalent) -> Certificate:
    """Return the certificate, digest included; where the problem names its formula, the left side is that."""
    reference = "none" if problem.formal is None else "given"
    return certify(
        KINDS[language_of(pair).value],
        problem,
        claim,
        EquivalenceEvidence(pair, reference, proved),
        engine=ENGINE,
        formal=problem.formal,
        reference=reference,
        repairs=() if isinstance(pair, RegexPair) else pair.repairs,
    )


def language_of(pair: Pair) -> Language:
    """Return the language in which both sides are written."""
    return Language.REGEX if isinstance(pair, RegexPair) else pair.language
