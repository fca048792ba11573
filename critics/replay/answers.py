"""Truth values in a problem's own terms: themselves, or the letter of the one option that says it."""

import re

from critics.replay.certificate import Rejected, SealedCertificate

_OPTION_LETTER = re.compile(r"\(?([A-Za-z])[ \t]*[).:]")
_SAYING = {
    "true": ("true", "valid", "yes"),
    "false": ("false", "invalid", "no"),
    "unknown": ("unknown", "uncertain", "invalid"),
}
"""The option texts that say each value. An argument whose conclusion does not follow is as invalid as one
whose premises refute it."""


def in_terms_of(value: str, options: list[str] | tuple[str, ...] | None) -> str | None:
    """Return an answer in the problem's own terms: itself, or the letter of the one option that says it.

    `Uncertain` says `unknown`, `Valid` says `true`, `Invalid` says `false` and `unknown`; case, a final full stop
    and an option's own letter say nothing.
    """
    value = "unknown" if _plain(value) == "uncertain" else _plain(value)
    if options is None:
        return value
    texts = [_plain(_without_letter(option, position)) for position, option in enumerate(options)]
    saying = [position for position, text in enumerate(texts) if text in _SAYING.get(value, (value,))]
    return chr(ord("A") + saying[0]) if len(saying) == 1 else None


def _plain(text: str) -> str:
    return text.strip().rstrip(".").strip().lower()


def _without_letter(option: str, position: int) -> str:
    """Take `A)` off the first option; another letter than its own would make the answer ambiguous."""
    match = _OPTION_LETTER.match(option)
    own = match is not None and ord(match[1].upper()) - ord("A") == position
    return option[match.end() :] if match is not None and own else option


def check_claim(certificate: SealedCertificate, value: str) -> None:
    """Raise `Rejected` unless the claim is what a truth value is in the problem's terms, and the gold answer."""
    problem, claim = certificate.problem, certificate.claim
    if claim != in_terms_of(value, problem.options):
        raise Rejected("claim")
    if problem.answer not in (None, claim):
        raise Rejected("answer")
