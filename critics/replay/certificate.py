"""Schema of certificates: keys, canonical JSON, digest, and the form of each kind.

A certificate can be re-checked alone: it embeds its problem. docs/certificates.md describes it field by field.
`sealed_certificate` is the edge where untrusted JSON is read; what the evidence says is for the module of its kind.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypedDict, TypeGuard, TypeVar

from critics.replay.grades import Grade, grade_of

_Found = TypeVar("_Found")
KEYS = ("kind", "problem", "claim", "evidence", "formalisation", "engine", "limits", "repairs", "digest")
_KEYS = frozenset(KEYS)
REFERENCES = ("given", "prontoqa", "proofwriter", "syllogism", "prontoqa-ood", "deontiqa")
"""Sources of a reference: the problem itself, or the translator of a data set."""
CONTROLLED = "english"
"""The controlled English as a reference: it reads the text, whatever formalisation comes with it."""
ENGLISH_REFERENCES = (*REFERENCES[1:], CONTROLLED)
"""Readers of chains of thought: one for each data set, and the controlled English."""
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_SOLVER = re.compile(r"[a-z0-9]+ \d+(\.\d+)*")


class Rejected(Exception):  # noqa: N818
    """The certificate does not hold; the text is the short machine-readable reason."""


class Unchecked(Rejected):
    """Nobody here can tell whether the certificate holds; the text says what is missing, such as `needs_cvc5`."""


class TooLarge(Rejected):
    """Checking takes more work than is allowed: undecided. `what` names what does."""

    def __init__(self, what: str = "a term") -> None:
        super().__init__("too_large")
        self.what = what


class Untrusted:
    """Context in which what JSON of a wrong shape raises where it is read is turned into `Rejected`."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, _MISREAD):
            raise Rejected("ill_formed") from error


_MISREAD = (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError, OverflowError)
UNTRUSTED = Untrusted()


class FormalRecord(TypedDict):
    """A reference formalisation in JSON."""

    axioms: list[str]
    goal: str


class ProblemRecord(TypedDict):
    """The part of a problem that a certificate embeds, in JSON."""

    context: str
    question: str
    options: list[str] | None
    answer: str | None
    formal: FormalRecord | None


@dataclass(frozen=True, slots=True)
class Formal:
    """A reference formalisation: axioms as the context states them, and the question as a literal."""

    axioms: tuple[str, ...]
    goal: str

    def record(self) -> FormalRecord:
        """Return the JSON form."""
        return {"axioms": list(self.axioms), "goal": self.goal}


@dataclass(frozen=True, slots=True)
class ProblemText:
    """Text, gold answer and formalisation of a problem: the part that a certificate embeds."""

    context: str
    question: str
    options: tuple[str, ...] | None
    answer: str | None
    formal: Formal | None

    def record(self) -> ProblemRecord:
        """Return the JSON form."""
        return {
            "context": self.context,
            "question": self.question,
            "options": None if self.options is None else list(self.options),
            "answer": self.answer,
            "formal": None if self.formal is None else self.formal.record(),
        }


@dataclass(frozen=True, slots=True)
class SealedCertificate:
    """A certificate whose form and digest were found right; nothing is known yet of what it proves."""

    kind: str
    problem: ProblemText
    claim: str
    evidence: Any
    """An object of JSON with the keys of its kind's form; the kind's module reads it, within `UNTRUSTED`."""
    reference: str
    """Source of the reference, `none` where there is none."""
    grade: Grade
    """On whose word the formulas say what the text says, as the certificate says it; `aligned` shows in the text."""
    repairs: list[str]


@dataclass(frozen=True, slots=True)
class Form:
    """Keys that the certificates of one kind hold beside those of all."""

    engine: str
    """Name and version of the evidence's format; the version of a solver may follow."""
    evidence: frozenset[str]
    """The keys of the evidence, `reference` among them."""
    limits: frozenset[str]
    references: tuple[str, ...] = ()
    """References that the formalisation may have been compared with; none at all where it is always trusted."""
    mends: bool = False
    """Its reader puts things right, and notes them under `repairs`."""


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
    "csp-model": _form("csp/1", "program core constraints options", "nodes", ("text",), mends=True),
    "program-options": _form("logic-program/1", "program core constraints options", "rlimit wall_s", mends=True),
    "fol-entailment": _form("fol/1", "premises conclusion result models", "rlimit wall_ms", REFERENCES, mends=True),
    "z3-script": _form(
        "z3-script/1",
        "program names declarations mode premises statements value checks",
        "rlimit conflicts",
        REFERENCES,
    ),
    "english-proof": _form("english/1", "semantics completion goal entries spans closure", "work", ENGLISH_REFERENCES),
    "english-entailment": _form(
        "english-fol/1", "completion formulas premises steps goal result models", "rlimit wall_ms", ("axioms",)
    ),
    "arithmetic": _form("arithmetic/1", "completion equations"),
    "propositional-equivalence": _EQUIVALENCE,
    "first-order-equivalence": _EQUIVALENCE,
    "regex-equivalence": _EQUIVALENCE,
}
"""The form of each kind."""


def canonical_json(value: object) -> bytes:
    """Return the one spelling of `value`: sorted keys, no blanks, UTF-8 unescaped; raises on floats."""
    _refuse_floats(value)
    return _CANONICAL.encode(value).encode()


def digest(certificate: Mapping[str, object]) -> str:
    """Return the SHA-256 of a certificate without its digest."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(canonical_json(rest)).hexdigest()


def sealed_certificate(value: object, kinds: Collection[str]) -> SealedCertificate:
    """Read a certificate of one of the kinds; raises `Rejected` unless its form is its kind's and its digest its own.

    What was read already is returned as it is.
    """
    if isinstance(value, SealedCertificate):
        return value
    with UNTRUSTED:
        sealed = _sealed(value)
    if sealed.kind not in kinds:
        raise Rejected("unknown_kind")
    return sealed


def of_kinds(*kinds: str) -> Callable[[Callable[[SealedCertificate], _Found]], Callable[[object], _Found]]:
    """Return a decorator: what checks a sealed certificate takes any JSON, and rejects what is not of these kinds."""

    def decorate(check: Callable[[SealedCertificate], _Found]) -> Callable[[object], _Found]:
        @wraps(check)
        def checked(certificate: object) -> _Found:
            sealed = sealed_certificate(certificate, kinds)
            with UNTRUSTED:
                return check(sealed)

        return checked

    return decorate


def _sealed(certificate: Any) -> SealedCertificate:
    if certificate.keys() != _KEYS:
        raise Rejected("ill_formed")
    form = FORMS.get(certificate["kind"])
    if form is None or not _is_engine(certificate["engine"], form.engine):
        raise Rejected("unknown_kind")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    evidence, limits, repairs = certificate["evidence"], certificate["limits"], certificate["repairs"]
    if evidence.keys() != form.evidence or limits.keys() != form.limits:
        raise Rejected("ill_formed")
    if any(type(limit) is not int for limit in limits.values()):
        raise Rejected("ill_formed")
    if not are_texts(repairs) or (repairs and not form.mends) or type(certificate["claim"]) is not str:
        raise Rejected("ill_formed")
    problem = _problem(certificate["problem"])
    grade = _checked_grade(certificate["formalisation"], evidence["reference"], problem.formal, form)
    kind, claim, reference = certificate["kind"], certificate["claim"], evidence["reference"]
    return SealedCertificate(kind, problem, claim, evidence, reference, grade, repairs)


def _is_engine(engine: Any, wanted: str) -> bool:
    name, _, solver = engine.partition(" ")
    return name == wanted and (engine == name or _SOLVER.fullmatch(solver) is not None)


def _problem(record: Any) -> ProblemText:
    options, answer, formal = record["options"], record["answer"], record["formal"]
    if record.keys() != ProblemRecord.__required_keys__ or not are_texts([record["context"], record["question"]]):
        raise Rejected("ill_formed")
    if not (answer is None or are_texts([answer])) or not (options is None or are_texts(options)):
        raise Rejected("ill_formed")
    sealed = None
    if formal is not None:
        if formal.keys() != {"axioms", "goal"} or not are_texts(formal["axioms"]) or not are_texts([formal["goal"]]):
            raise Rejected("ill_formed")
        sealed = Formal(tuple(formal["axioms"]), formal["goal"])
    listed = None if options is None else tuple(options)
    return ProblemText(record["context"], record["question"], listed, answer, sealed)


def _checked_grade(formalisation: object, source: object, formal: Formal | None, form: Form) -> Grade:
    """A reference is there where, and only where, the formalisation was compared with it; `text` is in the context."""
    grade = grade_of(formalisation, source)
    if (
        grade is None
        or source not in (*form.references, "none")
        or (formal is None) != (source in ("none", "text", "axioms"))
    ):
        raise Rejected("ill_formed")
    return grade


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
