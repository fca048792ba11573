"""Names of the checker for other programs: the schema of certificates, and the replay of Horn derivations.

The code is in `critics.replay`, which imports the standard library only and nothing of the critics.
"""

from critics.replay.answers import in_terms_of
from critics.replay.certificate import KEYS, PROBLEM_KEYS, REFERENCES, Rejected, canonical_json, digest
from critics.replay.derivations import HORN_ENGINE, check

__all__ = [
    "HORN_ENGINE",
    "KEYS",
    "PROBLEM_KEYS",
    "REFERENCES",
    "Rejected",
    "canonical_json",
    "check",
    "digest",
    "in_terms_of",
]
