"""Truth values in a problem's own terms: themselves, or the letter of the one option that says it."""

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

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


FREE = ("number", "text")
"""Kinds of free answers, which a problem without options names as `meta.answers`."""
_GIVEN = re.compile(
    r"(?:^[ \t>*_#-]*|(?<=[.!?]\s))(?:final[ \t]+)?answer(?:[ \t]+is)?[*_ \t]*[:=][*_ \t]*(?P<line>[^\n]+)$"
    r"|^[ \t]*####[ \t]*(?P<mark>[^\n]+)$|\\boxed\{(?:\\text\{)?(?P<box>[^{}\n]+)\}"
    r"|\bthe[ \t]+(?:final[ \t]+|correct[ \t]+)?answer[ \t]+is:?[ \t]+(?P<said>[^\n]+?)\.?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMERAL = re.compile(
    r"(?P<sign>[-+]?)[$£€ ]*(?P<whole>\d{1,3}(?:,\d{3})+|\d*)(?P<part>\.\d+)?(?:/(?P<below>[1-9]\d{0,30}))?(?: ?%)?"
    r"(?: ?(?!(?:or|and|not|to|is|was|wrong|false|incorrect|if"
    r"|half|dozen|hundred|thousand|million|billion|percent)\b)[A-Za-z]{1,20}){0,2}"
)


def kind_of(options: object, meta: Mapping[str, object]) -> str | None:
    """Return the kind of a problem's free answers; None where it asks for a truth value or an option."""
    kind = meta.get("answers")
    return kind if options is None and isinstance(kind, str) and kind in FREE else None


def free_answer(value: str, kind: str) -> str | None:
    """Return a free answer in its one spelling: a number as a fraction in lowest terms, a text in small letters."""
    told = " ".join(value.split()).strip("*_`\"' ").rstrip(".").strip("*_`\"'$ ")
    if kind == "text":
        return told.lower() or None
    match = _NUMERAL.fullmatch(told) if len(told) <= 100 else None
    if match is None or not (match["whole"] or match["part"]):
        return None
    number = Fraction(f"{match['sign']}{match['whole'].replace(',', '') or 0}{match['part'] or ''}")
    return str(number / int(match["below"] or 1))


def kind_shown(values: Iterable[object]) -> str | None:
    """Return `number` for gold answers that are numbers and no labels: one of them at least is not 0 to 4."""
    found = {free_answer(str(value), "number") for value in values}
    return "number" if None not in found and found - set("01234") else None


def free_answers(text: str, kind: str) -> list[str | None]:
    """Return the answers that a text gives at the end of a line, in a box or behind `####`, in their order."""
    said = (next(filter(None, match.group("line", "mark", "box", "said"))) for match in _GIVEN.finditer(text))
    boxed = (re.sub(r"^\$?\\boxed\{(?:\\text\{)?([^{}]+)\}+\$?\.?$", r"\1", one.strip()) for one in said)
    return [free_answer(one, kind) for one in boxed]
