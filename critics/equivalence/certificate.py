"""Certificates of equivalences: both sides in canonical text, and what the checker needs to see that they agree."""

from typing import Any

from critics.checker import digest
from critics.equivalence.language import Language
from critics.equivalence.outcome import Equivalent
from critics.equivalence.pair import Pair, RegexPair, free_names, texts
from critics.problem import Problem
from critics.recheck.equivalences.checker import ENGINE, KINDS


def equivalence_certificate(problem: Problem, pair: Pair, claim: str, proved: Equivalent) -> dict[str, Any]:
    """Return the certificate, digest included; where the problem names its formula, the left side is that."""
    language = Language.REGEX if isinstance(pair, RegexPair) else pair.language
    left, right = texts(pair)
    certificate: dict[str, Any] = {
        "kind": KINDS[language.value],
        "problem": {
            "context": problem.context,
            "question": problem.question,
            "options": None if problem.options is None else list(problem.options),
            "answer": problem.answer,
            "formal": None if problem.formal is None else problem.formal.record(),
        },
        "claim": claim,
        "evidence": {
            "language": language.value,
            "left": left,
            "right": right,
            "free": free_names(pair),
            "reference": "none" if problem.formal is None else "given",
            "method": proved.method,
            "detail": dict(proved.detail),
        },
        "formalisation": "trusted" if problem.formal is None else "checked",
        "engine": ENGINE,
        "limits": {},
        "repairs": [] if isinstance(pair, RegexPair) else list(pair.repairs),
    }
    return {**certificate, "digest": digest(certificate)}
