"""The problem's text, read a second time by the critics' translators: what it says, and what it bears out.

`critics.recheck.second_reading` says what is shared with the critics.
"""

from collections.abc import Iterable
from functools import lru_cache

from critics.problem import Attempt, Formal, Problem
from critics.recheck.records import Origin
from critics.replay.answers import in_terms_of
from critics.replay.certificate import FIRST_ORDER_REFERENCES, REFERENCES, UNTRUSTED, Rejected, SealedCertificate
from critics.replay.formula import Literal, canonical_statement, parse_literal, parse_statement
from critics.replay.grades import Grade
from critics.replay.saturations import answer, can_hold
from critics.replay.semantics import semantics_of

_LANGUAGES = frozenset(REFERENCES) - {"given"}
"""The data sets whose English a translator reads."""
_ALL_LANGUAGES = _LANGUAGES | frozenset(FIRST_ORDER_REFERENCES)
EQUIVALENCE_KINDS = ("propositional-equivalence", "first-order-equivalence", "regex-equivalence")


def check_text(certificate: SealedCertificate, dataset: str | None) -> bool:
    """Translate the problem's text again and compare; say whether it could be.

    Where it cannot, it may still show that what is formalised is its opposite. Raises `Rejected`.
    """
    problem, source = certificate.problem, certificate.reference
    _check_semantics(certificate, dataset)
    if certificate.kind == "answer-sets":
        # No translator writes programs: what their rules say in words is trusted, unless the text denies it.
        check_not_denied(certificate, dataset)
        return False
    if certificate.kind == "english-proof":
        return _is_read_as_english(certificate, dataset)
    languages = _ALL_LANGUAGES if certificate.kind == "fol-entailment" else _LANGUAGES
    if dataset in languages and source == "none":
        # Attack: withhold the reference, so that any formalisation will do.
        raise Rejected("reference_is_missing")
    if dataset in languages and source not in ("given", dataset):
        # Attack: name a translator whose language the text is not in.
        raise Rejected("other_problem")
    language = dataset if dataset in languages else source
    check_not_denied(certificate, dataset)
    if source == "given" and problem.formal is not None and _is_foreign(certificate, dataset):
        # Attack: a formalisation of another text.
        raise Rejected("reference_is_not_the_text")
    if language not in languages:
        return False
    again = _translated(language, problem.context, problem.question)
    if again is None:
        if source not in languages:
            return False
        raise Rejected("reference_is_not_the_text")
    meaning = _meaning if language in _LANGUAGES else _text
    if problem.formal is None or meaning(*again) != meaning(tuple(problem.formal.axioms), problem.formal.goal):
        raise Rejected("reference_is_not_the_text")
    return True


def problem_of(certificate: SealedCertificate, dataset: str | None) -> Problem:
    """Return the problem that a certificate embeds as critics read one."""
    sealed = certificate.problem
    options = None if sealed.options is None else tuple(sealed.options)
    formal = None if sealed.formal is None else Formal(tuple(sealed.formal.axioms), sealed.formal.goal)
    return Problem("", dataset or "", sealed.context, sealed.question, options, sealed.answer, formal)


def _is_foreign(certificate: SealedCertificate, dataset: str | None) -> bool:
    from critics.text.trust.bars import is_foreign

    problem = problem_of(certificate, dataset)
    assert problem.formal is not None
    with UNTRUSTED:
        return is_foreign(problem, problem.formal)


def _is_read_as_english(certificate: SealedCertificate, dataset: str | None) -> bool:
    """Say that the problem's text is read again with the attempt (`_english`), by the reader of its data set."""
    from critics.text.english.language import reader_of

    if dataset is not None and certificate.reference != reader_of(dataset):
        # Attack: name a reader in whose semantics more follows.
        raise Rejected("other_problem")
    check_not_denied(certificate, dataset)
    return True


def check_not_denied(certificate: SealedCertificate, dataset: str | None) -> None:
    """Raise `Rejected` where a text that some translator can read says something else than the claim.

    Of a problem that brings a reference, the text may leave open what the reference decides: but only where the record
    holds that problem.
    """
    problem, source = certificate.problem, certificate.reference
    if source in _ALL_LANGUAGES:
        return
    said = _decided(semantics_of(dataset or source).forward, problem.context, problem.question)
    if said is None or (said == "unknown" and source != "none" and dataset is not None):
        return
    # Attack: a bare verdict, whose certificate brings its own reference for a text that says nothing of it.
    if in_terms_of(said, problem.options) != certificate.claim:
        raise Rejected("text_says_otherwise")


@lru_cache(maxsize=128)
def _translated(language: str, context: str, question: str) -> tuple[tuple[str, ...], str] | None:
    """Return axioms and goal; None where the text is not in the language."""
    from critics.text.reference import translation
    from critics.text.translators.translation import TranslationError

    try:
        found = translation(language, context, question)
    except TranslationError:
        return None
    return found.axioms, found.goal


@lru_cache(maxsize=128)
def _decided(forward: bool, context: str, question: str) -> str | None:
    """Return what the text says in the first language in which it decides the question."""
    from critics.text.reference import TRANSLATORS, puzzle_decides

    if (found := puzzle_decides(context, question)) is not None:
        return found
    for language in TRANSLATORS:
        translated = _translated(language, context, question)
        if translated is None:
            continue
        try:
            said = _answer(translated[0], translated[1], forward)
        except Rejected:
            continue
        if said in ("true", "false"):
            return said
        found = said or found
    return found


def _answer(axioms: Iterable[str], goal: str, forward: bool) -> str | None:
    """Return what axioms answer, forwards alone or classically; None where they contradict each other."""
    rules, asked = list(map(parse_statement, axioms)), parse_literal(goal)
    said = answer(rules, asked)
    if said != "unknown" or forward:
        return said
    if not can_hold(rules, asked):
        return "false"
    return "unknown" if can_hold(rules, asked.negated()) else "true"


_SATURATIONS = ("horn-saturation", "rules-saturation")


def _check_semantics(certificate: SealedCertificate, dataset: str | None) -> None:
    """Raise `Rejected` where the claim is not what the reference answers in the data set's semantics.

    Evidence that rests on all models is not enough where rules run forwards, and a saturation where they do not.
    """
    problem, semantics = certificate.problem, semantics_of(dataset or certificate.reference)
    if problem.formal is None or not (semantics.forward or certificate.kind in _SATURATIONS):
        return
    with UNTRUSTED:
        said = _answer(problem.formal.axioms, problem.formal.goal, semantics.forward)
    if said is None or in_terms_of(said, problem.options) != certificate.claim:
        # Attack: reason backwards or by cases, or pass over it, so that two formats certify two answers.
        raise Rejected("semantics")


def _meaning(axioms: tuple[str, ...], goal: str) -> tuple[Literal, frozenset[str]]:
    try:
        return parse_literal(goal), frozenset(canonical_statement(parse_statement(axiom)) for axiom in axioms)
    except (ValueError, IndexError) as error:
        raise Rejected("ill_formed") from error


def _text(axioms: tuple[str, ...], goal: str) -> tuple[str, frozenset[str]]:
    return goal, frozenset(axioms)


def confirmed_grade(origin: Origin, certificate: SealedCertificate) -> Grade:
    """Return the grade that the text confirms; raises `Rejected` where it denies it.

    A text bears out the whole attempt, and not what its proof uses of it: without the attempt, `aligned` is `trusted`.
    """
    if certificate.grade != "aligned" or certificate.kind == "english-entailment":
        # Of a chain of thought the whole text is there, and its reader has graded it once more.
        return certificate.grade
    if origin.attempt is None or origin.format is None:
        return "trusted"
    from critics.formats.format import find_format
    from critics.grammar.alignment import is_aligned

    attempt = Attempt("", problem_of(certificate, origin.dataset), origin.format, origin.attempt)
    if not is_aligned(find_format(origin.format), attempt, certificate.claim):
        # Attack: call a formalisation on trust one that the text bears out.
        raise Rejected("not_aligned")
    return "aligned"


def check_task(certificate: SealedCertificate, dataset: str | None) -> None:
    """Raise `Rejected` where an equivalence answers a data set that asks for something else."""
    if certificate.kind not in EQUIVALENCE_KINDS:
        return
    from critics.formats.equivalence.critic import asks_equivalence

    formal = problem_of(certificate, dataset).formal
    if dataset is not None and not asks_equivalence(dataset, formal, certificate.evidence["language"]):
        # Attack: certify any answer `true` by the equivalence of a formula with itself.
        raise Rejected("other_task")
