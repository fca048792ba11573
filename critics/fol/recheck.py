"""Re-checking certificates of entailments: models by evaluation, what is said to have no model by another solver.

Nothing is taken from the critic: the canonical text is read again, every model is evaluated, and where a result rests
on a solver's word that there is no model, cvc5 is asked as a second opinion. Where cvc5 is not installed or gives up,
Z3 solves that question again, alone, and the certificate counts as accepted without a second opinion.
"""

from collections.abc import Sequence
from typing import Any

from critics.checker import KEYS, PROBLEM_KEYS, REFERENCES, Rejected, digest, in_terms_of
from critics.fol.certificate import ENGINE, KIND, MODELS
from critics.fol.critic import goal_assumed, is_mentioned
from critics.fol.entailment import DEFAULT_BUDGET
from critics.fol.model import Model, read_model, satisfies
from critics.fol.normal import key
from critics.fol.parser import parse
from critics.fol.printing import canonical
from critics.fol.program import MAX_CHARACTERS, Program, read_program
from critics.fol.solvers import Answer, ask_cvc5, solve
from critics.fol.syntax import Compound, Formula, Not, Operator, open_names, signature
from critics.fol.theory import FolTheory, in_terms_of_theory, read_theory, reworded, shares_vocabulary
from critics.problem import Formal, is_list, read_attempt


def check_entailment(certificate: Any) -> bool:
    """Accept a certificate by returning whether another solver confirmed it, or raise `Rejected` with the reason."""
    try:
        return _check(certificate)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise Rejected("ill_formed") from error


def check_same_formulas(record: dict[str, Any], certificate: dict[str, Any]) -> None:
    """A trace's certificate must be about the formulas that its attempt wrote; other kinds are left alone.

    Raises `Rejected`, or `critics.formula.FormulaError` and `critics.problem.RecordError` for what cannot be read.
    """
    if certificate["kind"] != KIND or "format" not in record:
        return
    program, formal = read_program(read_attempt(record).completion), certificate["problem"]["formal"]
    if formal is not None:
        program = in_terms_of_theory(program, _theory(formal))
    evidence = certificate["evidence"]
    written = [canonical(premise) for premise in program.premises], canonical(program.conclusion)
    if written != (evidence["premises"], evidence["conclusion"]) or list(program.repairs) != certificate["repairs"]:
        # Attack: attach the certificate of an honest program to another.
        raise Rejected("other_attempt")


def _check(certificate: Any) -> bool:
    if certificate.keys() != set(KEYS) or certificate["kind"] != KIND:
        raise Rejected("ill_formed")
    if certificate["engine"].partition(" ")[0] != ENGINE:
        raise Rejected("unknown_kind")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    _check_shapes(certificate)
    problem, evidence = certificate["problem"], certificate["evidence"]
    result = evidence["result"]
    if certificate["claim"] != in_terms_of(result, problem["options"]):
        raise Rejected("claim")
    if problem["answer"] is not None and problem["answer"] != certificate["claim"]:
        raise Rejected("answer")
    program = _program(evidence)
    theory = None if problem["formal"] is None else _theory(problem["formal"])
    _check_models(evidence["models"], result, program, () if theory is None else theory.axioms)
    if theory is None:
        _check_trusted(program, result)
    asked = [] if theory is None else _questions(program, theory)
    if result != "unknown":
        goal = program.conclusion
        asked.append([[*program.premises, Not(goal) if result == "true" else goal]])
    return _confirm(asked)


def _check_shapes(certificate: dict[str, Any]) -> None:
    problem, evidence, limits = certificate["problem"], certificate["evidence"], certificate["limits"]
    if problem.keys() != set(PROBLEM_KEYS) or evidence.keys() != {
        "premises",
        "conclusion",
        "result",
        "reference",
        "models",
    }:
        raise Rejected("ill_formed")
    options: list[Any] = [] if problem["options"] is None else problem["options"]
    texts = [problem["context"], problem["question"], certificate["claim"], evidence["conclusion"]]
    if not _are_texts(texts) or not _are_texts(options) or not _are_texts(evidence["premises"]):
        raise Rejected("ill_formed")
    if not _are_texts(certificate["repairs"]) or evidence["result"] not in MODELS:
        raise Rejected("ill_formed")
    if limits.keys() != {"rlimit", "wall_ms"} or any(type(value) is not int for value in limits.values()):
        raise Rejected("ill_formed")
    compared = {"checked": REFERENCES, "trusted": ("none",)}
    if evidence["reference"] not in compared.get(certificate["formalisation"], ()):
        raise Rejected("ill_formed")
    if (certificate["formalisation"] == "checked") != (problem["formal"] is not None):
        raise Rejected("ill_formed")


def _are_texts(values: Any) -> bool:
    return is_list(values) and all(isinstance(value, str) for value in values)


def _program(evidence: dict[str, Any]) -> Program:
    texts = [*evidence["premises"], evidence["conclusion"]]
    # Quotes and parentheses may double what the program had.
    if len(texts) < 2 or sum(map(len, texts)) > 4 * MAX_CHARACTERS:
        raise Rejected("ill_formed")
    formulas = [_formula(text) for text in texts]
    signature(formulas)
    if open_names(formulas):
        raise Rejected("free_variable")
    return Program(tuple(formulas[:-1]), formulas[-1])


def _formula(text: str) -> Formula:
    """Read canonical text, in which there is nothing to mend and nothing to guess."""
    parsed = parse(text)
    if parsed.repairs or canonical(parsed.formula) != text:
        raise Rejected("not_canonical")
    return parsed.formula


def _theory(formal: dict[str, Any]) -> FolTheory:
    if formal.keys() != {"axioms", "goal"} or not _are_texts([*formal["axioms"], formal["goal"]]):
        raise Rejected("ill_formed")
    return read_theory(Formal(tuple(formal["axioms"]), formal["goal"]))


def _check_models(models: dict[str, Any], result: str, program: Program, axioms: Sequence[Formula]) -> None:
    """Evaluate the models that a result needs; there are no others."""
    goal, stated = program.conclusion, [*axioms, *program.premises]
    claimed = {
        "holds": [*stated, goal],
        "fails": [*stated, Not(goal)],
        "contingent": [Not(goal) if result == "true" else goal],
    }
    if models.keys() != claimed.keys() or any((models[name] is None) == (name in MODELS[result]) for name in models):
        raise Rejected("models")
    for name in MODELS[result]:
        model: Model = read_model(models[name])
        if not satisfies(model, claimed[name]):
            raise Rejected("no_model")


def _check_trusted(program: Program, result: str) -> None:
    if goal_assumed(program.premises, program.conclusion, result):
        raise Rejected("goal_assumed")
    if result == "unknown" and not is_mentioned(program.premises, program.conclusion):
        raise Rejected("not_in_premises")


def _questions(program: Program, theory: FolTheory) -> list[list[list[Formula]]]:
    """Return groups of sets of formulas; one of each must have no model, for the program to say what is stated."""
    if not shares_vocabulary(program.formulas(), theory):
        raise Rejected("other_vocabulary")
    asked = [
        [[axiom, Not(part)] for axiom in candidates] for part, candidates in reworded(program.premises, theory.axioms)
    ]
    if key(program.conclusion) != key(theory.goal):
        asked.append([[Not(Compound(Operator.IFF, (program.conclusion, theory.goal)))]])
    return asked


def _confirm(asked: list[list[list[Formula]]]) -> bool:
    """Raise unless one set of each group has no model; say whether cvc5 said so for all, and for one at least."""
    # All are asked, also after one that cvc5 could not tell: any of them may be rejected.
    seconded = [_confirm_one(group) for group in asked]
    return bool(seconded) and all(seconded)


def _confirm_one(group: list[list[Formula]]) -> bool:
    opinions = [(ask_cvc5(formulas, DEFAULT_BUDGET), formulas) for formulas in group]
    if any(opinion is Answer.UNSATISFIABLE for opinion, _ in opinions):
        return True
    open_ = [formulas for opinion, formulas in opinions if opinion is not Answer.SATISFIABLE]
    if not open_:
        raise Rejected("has_a_model")
    if not any(solve(formulas, DEFAULT_BUDGET).answer is Answer.UNSATISFIABLE for formulas in open_):
        raise Rejected("not_confirmed")
    return False
