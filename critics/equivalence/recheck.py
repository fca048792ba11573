"""Re-checking certificates of equivalences: the evidence replayed, or two solvers asked where there is none to replay.

What a solver proved is put to the other one, in another way than the critic did, which is a second opinion. Where the
other gives up or is not installed, the first is asked again, and the certificate is accepted without one.
"""

from typing import Any

from critics.checker import Rejected
from critics.equivalence.critic import OTHER_TASKS, asks_something_else, is_of_language, read_attempt_pair
from critics.equivalence.language import Language, is_alphabet
from critics.equivalence.pair import FormulaPair, Pair, free_names, is_left, read_pair, texts
from critics.equivalence.regex import ALPHABET
from critics.equivalence.second.checker import KINDS as KINDS_BY_LANGUAGE
from critics.equivalence.second.checker import SOLVERS, check_replayed
from critics.fol.solvers import Answer, Budget, ask_cvc5, solve
from critics.fol.syntax import Compound, Formula, FormulaError, Not, Operator
from critics.problem import is_object, read_attempt

EQUIVALENCE_KINDS = frozenset(KINDS_BY_LANGUAGE.values())
BUDGETS = {"cvc5": Budget(wall_ms=2_000), "z3": Budget(rlimit=8_000_000, wall_ms=10_000)}
"""More than the critic's, and Z3's in work alone: a busy machine must not reject what an idle one certified."""


def check_equivalence(certificate: Any) -> bool:
    """Accept by returning whether another solver had its say, or raise `Rejected` with the reason."""
    replayed = check_replayed(certificate)
    evidence, formal = certificate["evidence"], certificate["problem"]["formal"]
    try:
        pair = _pair(evidence)
        if formal is not None:
            _check_named(pair, formal)
    except (FormulaError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise Rejected("ill_formed") from error
    if replayed:
        return False
    if not isinstance(pair, FormulaPair):
        raise Rejected("ill_formed")
    return _confirm(pair.left, pair.right, evidence["detail"]["solver"])


def check_same_expressions(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    """A trace's certificate must be about the pair that its attempt wrote; other kinds are left alone.

    Raises `Rejected`, or `FormulaError` and `critics.problem.RecordError` for what cannot be read.
    """
    if certificate["kind"] not in EQUIVALENCE_KINDS:
        return
    problem = record.get("problem")
    if is_object(problem) and problem.get("dataset") in OTHER_TASKS:
        # Attack: certify any answer `true` by the equivalence of a formula with itself.
        raise Rejected("other_task")
    if "format" not in record:
        return
    attempt = read_attempt(record)
    alphabet = attempt.problem.meta.get("alphabet", ALPHABET)
    if not is_alphabet(alphabet):
        raise Rejected("ill_formed")
    written, evidence = read_attempt_pair(attempt.completion, alphabet), certificate["evidence"]
    if not _is_same(written, _pair(evidence)) or _repairs(written) != certificate["repairs"]:
        # Attack: attach the certificate of an honest pair to another.
        raise Rejected("other_attempt")
    if evidence["reference"] == "given" and not is_of_language(written, attempt.problem.meta.get("language")):
        raise Rejected("other_problem")


def _pair(evidence: dict[str, Any]) -> Pair:
    """Read canonical text, in which there is nothing to mend and nothing to guess."""
    language, detail = Language(evidence["language"]), evidence["detail"]
    pair = read_pair(language, evidence["left"], evidence["right"], detail.get("alphabet", ALPHABET))
    if _repairs(pair) or texts(pair) != (evidence["left"], evidence["right"]):
        raise Rejected("not_canonical")
    if free_names(pair) != evidence["free"]:
        raise Rejected("free_names")
    return pair


def _repairs(pair: Pair) -> list[str]:
    return list(pair.repairs) if isinstance(pair, FormulaPair) else []


def _is_same(one: Pair, other: Pair) -> bool:
    alike = isinstance(one, FormulaPair) == isinstance(other, FormulaPair) and texts(one) == texts(other)
    if isinstance(one, FormulaPair) and isinstance(other, FormulaPair):
        return alike and one.language is other.language
    return alike


def _check_named(pair: Pair, formal: dict[str, Any]) -> None:
    if formal.keys() != {"axioms", "goal"} or asks_something_else(None, bool(formal["axioms"])):
        raise Rejected("other_task")
    if not is_left(pair, formal["goal"]):
        raise Rejected("goal_mismatch")


def _confirm(left: Formula, right: Formula, proved_by: str) -> bool:
    """Raise unless a solver confirms that the two cannot differ; return whether that is another than the critic's."""
    question = [Not(Compound(Operator.IFF, (left, right)))]
    for solver in sorted(SOLVERS, key=lambda name: name == proved_by):
        budget = BUDGETS[solver]
        answer = ask_cvc5(question, budget) if solver == "cvc5" else solve(question, budget).answer
        if answer is Answer.UNSATISFIABLE:
            return solver != proved_by
        if answer is Answer.SATISFIABLE:
            raise Rejected("has_a_model")
    raise Rejected("not_confirmed")
