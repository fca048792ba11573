"""The checker's names for programs: what a certificate is, and the replay of Horn derivations.

The code is in `critics.recheck`, which imports the standard library only and nothing of the critics.
"""

from critics.recheck.answers import in_terms_of
from critics.recheck.certificate import KEYS, PROBLEM_KEYS, REFERENCES, Rejected, canonical_json, digest
from critics.recheck.derivations import HORN_ENGINE, check

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
