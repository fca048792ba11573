"""The reference formalisation of a problem: given with it, translated from its text, or both and compared."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any
from typing import Literal as Choice

from critics.problem import Formal, Problem
from critics.replay.answers import in_terms_of
from critics.replay.clauses import OutOfWork, clause_of, fact, follows
from critics.replay.formula import FormulaError, Literal, Statement, canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import ArityError, Kernel, WorkLimitExceeded, saturated
from critics.replay.semantics import semantics_of
from critics.text.translators import prontoqa, regular
from critics.text.translators.translation import Answer, TranslationError, Translator
from critics.verdict import Unproved
from critics.verdict.certificate import Reference
from critics.verdict.conclusion import Refusal


def _late(module: str, function: str) -> Callable[[str, str], Any]:
    """Return a function of a translator that few texts need: it is imported when it is called."""

    def call(context: str, question: str) -> Any:
        return getattr(import_module(f"critics.text.translators.{module}"), function)(context, question)

    return call


TRANSLATORS: dict[str, Translator] = {
    "prontoqa": prontoqa.translate,
    "prontoqa-ood": regular.translate_deductions,
    "proofwriter": regular.translate_proofwriter,
    "syllogism": _late("syllogism", "translate"),
    "deontiqa": _late("deontiqa", "translate"),
}
"""The data sets whose language is regular. Their problems are translated whether they bring a formalisation or not."""
_NEEDED = {"syllogism": "follow", "deontiqa": "it"}
"""Words without which no text is in a language; of the others none is known."""
_trusting: ContextVar[bool] = ContextVar("trusting", default=False)


@contextmanager
def formalisation_trusted() -> Generator[None]:
    """Judge without translators and references for a while: every certificate then says `trusted`.

    This measures what proofs alone are worth where there is no translator (`certistar answer`).
    """
    token = _trusting.set(True)
    try:
        yield
    finally:
        _trusting.reset(token)


def is_trusting() -> bool:
    """Say whether formalisations are trusted now, so that no text is read."""
    return _trusting.get()


class ReferenceMismatch(ValueError):  # noqa: N818
    """A problem's formalisation and its text contradict each other, or the text cannot be translated."""


@dataclass(frozen=True, slots=True)
class Theory:
    """A formalisation saturated under its rules."""

    goal: Literal
    stated: frozenset[str]
    """The axioms, each in its one canonical spelling."""
    axioms: frozenset[Statement]
    """The axioms as they stand."""
    clash: Literal | None
    """A literal that follows together with its negation."""
    decided: Choice["true", "false"] | None
    """`true` if the goal follows, `false` if its negation does; None if neither does, or if there is a clash."""

    def states(self, statement: Statement) -> bool:
        """Say whether a statement is an axiom, whatever its variables are called."""
        return statement in self.axioms or canonical_statement(statement) in self.stated


def reference(problem: Problem) -> Reference | None:
    """Return what an attempt's formalisation is compared with; None where there is nothing.

    Raises `ReferenceMismatch` where the text of a problem in a regular language means something else than its
    `formal`, or has no `formal` and cannot be translated: a wrong reference would certify wrong theorems.
    """
    if _trusting.get():
        return None
    if problem.dataset in TRANSLATORS:
        return _translated(problem.dataset, problem.context, problem.question, problem.formal)
    return None if problem.formal is None else Reference(problem.formal, "given")


@lru_cache(maxsize=128)
def _translated(dataset: str, context: str, question: str, given: Formal | None) -> Reference:
    """Translate once for all attempts at one problem."""
    try:
        translated = translation(dataset, context, question)
    except TranslationError as error:
        if given is None:
            raise ReferenceMismatch(str(error)) from error
        return Reference(given, "given")
    if given is not None and not same_formal(translated, given):
        raise ReferenceMismatch("problem.formal is not what the problem's text says")
    return Reference(given or translated, dataset)


@lru_cache(maxsize=128)
def translation(dataset: str, context: str, question: str) -> Formal:
    """Return what a data set's translator makes of a problem; raises `TranslationError`."""
    return TRANSLATORS[dataset](context, question)


def same_formal(one: Formal, other: Formal) -> bool:
    """Say whether two formalisations state the same axioms, as sets, and ask the same."""
    return parse_literal(one.goal) == parse_literal(other.goal) and _stated(one) == _stated(other)


@lru_cache(maxsize=128)
def saturation(formal: Formal) -> Kernel:
    """Return the saturated kernel of a formalisation; raises `FormulaError`, `ArityError`, and `WorkLimitExceeded`."""
    return saturated(map(parse_statement, formal.axioms), parse_literal(formal.goal))


@lru_cache(maxsize=128)
def theory(formal: Formal) -> Theory:
    """Read a formalisation; raises what `saturation` raises."""
    goal, kernel = parse_literal(formal.goal), saturation(formal)
    clash = kernel.contradiction()
    decided = None
    if clash is None and (goal in kernel.known or goal.negated() in kernel.known):
        decided = "true" if goal in kernel.known else "false"
    return Theory(goal, _stated(formal), frozenset(map(parse_statement, formal.axioms)), clash, decided)


def text_contradicts(problem: Problem, claim: str, source: str) -> bool:
    """Say whether the text itself says something else than a claim whose reference comes from `source`.

    Of a problem that brings a reference (`given`), the text may leave open what the reference decides; without
    one (`none`) it may not. With a translated reference there is nothing left to compare.
    """
    if source in TRANSLATORS:
        return False
    said = text_decides(problem.dataset, problem.context, problem.question)
    if said is None or (said == "unknown" and source != "none"):
        return False
    return in_terms_of(said, problem.options) != claim


def text_decides(dataset: str, context: str, question: str) -> Answer | None:
    """Return what the text itself says, whatever a formalisation makes of it; None if that is not known."""
    return None if _trusting.get() else _text_decides(semantics_of(dataset).forward, context, question)


@lru_cache(maxsize=128)
def _text_decides(forward: bool, context: str, question: str) -> Answer | None:
    found = None
    for name in possible(TRANSLATORS, context, question):
        try:
            said = answer_of(TRANSLATORS[name](context, question), forward=forward)
        except (TranslationError, ArityError, WorkLimitExceeded, OutOfWork):
            continue
        if said in ("true", "false"):
            return said
        found = said or found
    return found


def possible(names: Iterable[str], context: str, question: str) -> Iterator[str]:
    """Yield the languages that a text may be in."""
    words = set(re.findall(r"\w+", f"{context} {question}"))
    yield from (name for name in names if name not in _NEEDED or _NEEDED[name] in words)


@lru_cache(maxsize=128)
def answer_of(formal: Formal, *, forward: bool) -> Answer | None:
    """Return what a formalisation answers, forwards alone or classically; None where it contradicts itself.

    Raises what `theory` raises, and `OutOfWork`.
    """
    read = theory(formal)
    if read.clash is not None:
        return None
    if read.decided is not None or forward:
        return read.decided or "unknown"
    clauses = [clause_of(parse_statement(axiom)) for axiom in formal.axioms]
    if follows(clauses, fact(read.goal)):
        return "true"
    return "false" if follows(clauses, fact(read.goal.negated())) else "unknown"


def refuse_decided(problem: Problem, known: Reference | None) -> None:
    """Raise `Refusal` where what saturation leaves open is decided classically, and the semantics is classical."""
    if known is None or semantics_of(problem.dataset).forward:
        return
    try:
        answer = answer_of(known.formal, forward=False)
    except OutOfWork as error:
        raise Refusal(Unproved, "undecidable", "whether it follows backwards or by cases takes too long") from error
    if answer != "unknown":
        # Attack: pass over modus tollens, so that two formats certify two answers.
        raise Refusal(Unproved, "decided_classically", "it follows, or its negation does, backwards or by cases")


def holds_in_semantics(problem: Problem, known: Reference | None, value: str) -> bool:
    """Say whether a value that was found classically is the one of the data set's semantics."""
    if known is None or not semantics_of(problem.dataset).forward:
        return True
    try:
        return answer_of(known.formal, forward=True) == value
    except (FormulaError, ArityError, WorkLimitExceeded):
        return False


@lru_cache(maxsize=256)
def _stated(formal: Formal) -> frozenset[str]:
    return frozenset(canonical_statement(parse_statement(axiom)) for axiom in formal.axioms)
