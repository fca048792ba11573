"""What every certificate is, whatever it proves: its keys, its one spelling, its digest, its form.

A certificate can be re-checked alone: it embeds its problem. docs/certificates.md describes it field by field.
`check_form` is the schema, and the same for all kinds; what the evidence says is for the module of its kind.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, TypeGuard

KEYS = ("kind", "problem", "claim", "evidence", "formalisation", "engine", "limits", "repairs", "digest")
PROBLEM_KEYS = ("context", "question", "options", "answer", "formal")
REFERENCES = ("given", "prontoqa", "proofwriter", "syllogism", "prontoqa-ood", "deontiqa")
"""Where a reference may come from: the problem itself, or the translator of a data set."""
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_SOLVER = re.compile(r"[a-z0-9]+ \d+(\.\d+)*")


class Rejected(Exception):  # noqa: N818
    """The certificate does not hold; the text is the short machine-readable reason."""


class Unchecked(Rejected):
    """Nobody here can tell whether the certificate holds; the text says what is missing, such as `needs_cvc5`."""


@dataclass(frozen=True, slots=True)
class Form:
    """What the certificates of one kind hold beside what all hold."""

    engine: str
    """Name and version of the evidence's format; the version of a solver may follow."""
    evidence: frozenset[str]
    """The keys of the evidence, `reference` among them."""
    limits: frozenset[str]
    references: tuple[str, ...] = ()
    """What the formalisation may have been compared with; none at all where it is always trusted."""
    mends: bool = False
    """Whether its reader puts things right, and notes them under `repairs`."""


def _form(engine: str, evidence: str, limits: str = "", references: tuple[str, ...] = (), mends: bool = False) -> Form:
    return Form(
        f"certistar-{engine}", frozenset(evidence.split()) | {"reference"}, frozenset(limits.split()), references, mends
    )


_HORN = _form("horn/1", "goal steps", "work", REFERENCES)
_RULES = _form("rules/1", "goal steps program", "work", REFERENCES, mends=True)
_EQUIVALENCE = _form("equivalence/1", "language left right free method detail", "", ("given",), mends=True)
FORMS = {
    "horn-proof": _HORN,
    "horn-saturation": _HORN,
    "rules-proof": _RULES,
    "rules-saturation": _RULES,
    "answer-sets": _form("asp/1", "completion num_premises witness value support tests num_mutants", "conflicts"),
    "csp-model": _form("csp/1", "program core solution failing", "nodes", ("text",), mends=True),
    "program-options": _form("logic-program/1", "program core constraints options", "rlimit wall_s", mends=True),
    "fol-entailment": _form("fol/1", "premises conclusion result models", "rlimit wall_ms", REFERENCES, mends=True),
    "z3-script": _form(
        "z3-script/1",
        "program names declarations mode premises statements value checks",
        "rlimit conflicts",
        REFERENCES,
    ),
    "propositional-equivalence": _EQUIVALENCE,
    "first-order-equivalence": _EQUIVALENCE,
    "regex-equivalence": _EQUIVALENCE,
}
"""The form of each kind."""


def canonical_json(value: object) -> bytes:
    """Return the one spelling of `value`: sorted keys, no blanks, UTF-8 unescaped; raises on floats."""
    _refuse_floats(value)
    return _CANONICAL.encode(value).encode()


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of a certificate without its digest."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(canonical_json(rest)).hexdigest()


def check_form(certificate: Any) -> None:
    """Raise `Rejected` unless a value has the form of a certificate of its kind, and its digest is its own.

    Raises what a wrong type raises (`TypeError`, `KeyError`, ..) as well: the caller takes these for `ill_formed`.
    """
    if certificate.keys() != set(KEYS):
        raise Rejected("ill_formed")
    form = FORMS.get(certificate["kind"])
    if form is None or not _is_engine(certificate["engine"], form.engine):
        raise Rejected("unknown_kind")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    problem, evidence, limits = certificate["problem"], certificate["evidence"], certificate["limits"]
    if problem.keys() != set(PROBLEM_KEYS) or evidence.keys() != form.evidence or limits.keys() != form.limits:
        raise Rejected("ill_formed")
    if any(type(limit) is not int for limit in limits.values()):
        raise Rejected("ill_formed")
    repairs = certificate["repairs"]
    if not are_texts(repairs) or (repairs and not form.mends):
        raise Rejected("ill_formed")
    _check_problem(problem, certificate["claim"])
    _check_reference(certificate["formalisation"], evidence["reference"], problem["formal"], form)


def _is_engine(engine: Any, wanted: str) -> bool:
    name, _, solver = engine.partition(" ")
    return name == wanted and (engine == name or _SOLVER.fullmatch(solver) is not None)


def _check_problem(problem: dict[str, Any], claim: Any) -> None:
    options, answer, formal = problem["options"], problem["answer"], problem["formal"]
    if not are_texts([problem["context"], problem["question"], claim]) or not (answer is None or are_texts([answer])):
        raise Rejected("ill_formed")
    if options is not None and not are_texts(options):
        raise Rejected("ill_formed")
    if formal is None:
        return
    if formal.keys() != {"axioms", "goal"} or not are_texts(formal["axioms"]) or not are_texts([formal["goal"]]):
        raise Rejected("ill_formed")


def _check_reference(formalisation: Any, source: Any, formal: Any, form: Form) -> None:
    """A reference is there where, and only where, the formalisation was compared with it; `text` is in the context."""
    wanted = {"checked": form.references, "trusted": ("none",)}.get(formalisation, ())
    if source not in wanted or (formal is None) != (source in ("none", "text")):
        raise Rejected("ill_formed")


def are_texts(values: object) -> bool:
    """Say whether a value is a list of texts."""
    return is_list(values) and all(type(value) is str for value in values)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Say whether a value read from JSON is a list."""
    return isinstance(value, list)


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Say whether a value read from JSON is an object."""
    return isinstance(value, dict)


def _refuse_floats(value: Any) -> None:
    kind = value.__class__
    if kind is str:
        return
    if kind is float:
        raise ValueError("a certificate holds no floats")
    for item in value.values() if kind is dict else value if kind in (list, tuple) else ():
        if item.__class__ is not str:
            _refuse_floats(item)
