"""Replay of entailments, `fol-entailment` and `english-entailment`: models are evaluated, the rest a solver confirms.

What is compared with a reference is compared here as well: every premise is one of its axioms or follows from one of
them alone, and the conclusion is its goal. That premises and steps say what the sentences beside them say is for their
critic to judge again (`critics.recheck.rejudging`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count, permutations, product
from typing import Any

from critics.replay.answers import check_claim
from critics.replay.certificate import Rejected, SealedCertificate, are_texts, of_kinds
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.models import check_model
from critics.replay.first_order.reader import read, read_theory
from critics.replay.first_order.smtlib import script
from critics.replay.sat import Contradictory, check_proof, solve_clauses
from critics.replay.solvers import Budget, Trust, decide, weakest

KIND, CHAIN_KIND = "fol-entailment", "english-entailment"
BUDGET = Budget(cvc5_ms=3_000, finite_models=True)
MAX_CHARACTERS = 80_000
MAX_COMPARED = 64
"""Pairs of a premise and an axiom that a solver compares."""
MODELS = {"true": ("holds", "contingent"), "false": ("fails", "contingent"), "unknown": ("holds", "fails")}
"""The models that a result needs: of the premises and the conclusion, of the premises without it, and one that shows
the conclusion to be neither a tautology nor a contradiction."""


def _formulas(texts: list[str]) -> list[fo.Formula]:
    """Read closed formulas that fit together."""
    if not are_texts(texts) or sum(map(len, texts)) > MAX_CHARACTERS:
        raise Rejected("ill_formed")
    formulas = list(map(read, texts))
    fo.signature(formulas)
    if any(fo.open_names([formula]) for formula in formulas):
        raise Rejected("free_variable")
    return formulas


@of_kinds(CHAIN_KIND)
def check_chain(certificate: SealedCertificate) -> Trust:
    """Accept a text's steps, each confirmed from those before it, or raise `Rejected` with the reason."""
    evidence = certificate.evidence
    steps: Any = evidence["steps"]
    result = evidence["result"]
    if any(step.keys() != {"sentence", "says"} for step in steps) or result not in MODELS:
        raise Rejected("ill_formed")
    if not steps and result != "unknown":
        raise Rejected("ill_formed")
    check_claim(certificate, result)
    formulas = _formulas([*evidence["premises"], *(step["says"] for step in steps), evidence["goal"]])
    num = len(evidence["premises"])
    premises, said, goal = formulas[:num], formulas[num:-1], formulas[-1]
    answer = fo.negated(goal) if result == "false" else goal
    if evidence["models"].keys() != {"premises", "contingent"}:
        raise Rejected("models")
    check_model(evidence["models"]["premises"], [*premises, answer])
    # What is said to be unknown can fail under the premises too.
    under = premises if result == "unknown" else []
    check_model(evidence["models"]["contingent"], [*under, fo.negated(answer)])
    if result == "unknown":
        _check_mentioned(goal, premises)
    # The step comes last: what entails it stands before.
    asked = [[*premises, *said[:at], fo.negated(step)] for at, step in enumerate(said)]
    decided = [] if result == "unknown" else [[*said, fo.negated(answer)]]
    return weakest(*(confirm([question]) for question in [*asked, *decided]))


def _check_mentioned(goal: fo.Formula, premises: list[fo.Formula]) -> None:
    if not fo.signature([goal]).symbols() <= fo.signature(premises).symbols():
        raise Rejected("not_in_premises")


@of_kinds(KIND)
def check_entailment(certificate: SealedCertificate) -> Trust:
    """Accept by returning what it rests on, or raise `Rejected` with the reason."""
    evidence, formal = certificate.evidence, certificate.problem.formal
    result, texts = evidence["result"], [*evidence["premises"], evidence["conclusion"]]
    if result not in MODELS or len(texts) < 2:
        raise Rejected("ill_formed")
    check_claim(certificate, result)
    *premises, goal = _formulas(texts)
    answer = goal if result == "true" else fo.negated(goal)
    known = None if formal is None else read_theory(formal)
    theory = None if known is None else [*known.axioms, known.goal]
    # Evaluate the models that a result needs; there are no others.
    models = evidence["models"]
    stated = [*(theory or [])[:-1], *premises]
    claimed = {
        "holds": [*stated, goal],
        "fails": [*stated, fo.Not(goal)],
        "contingent": [fo.Not(goal) if result == "true" else goal],
    }
    if models.keys() != claimed.keys() or any((models[name] is None) == (name in MODELS[result]) for name in models):
        raise Rejected("models")
    for name in MODELS[result]:
        check_model(models[name], claimed[name])
    if theory is None and result != "unknown" and fo.key(answer) in set(map(fo.key, premises)):
        raise Rejected("goal_assumed")
    if theory is None and result == "unknown":
        _check_mentioned(goal, premises)
    asked = _given_apart(premises, answer, result) if theory is None else _questions(premises, goal, theory)
    if result != "unknown":
        asked.append([[*premises, fo.negated(answer)]])
    # All are asked, also after one that cvc5 could not tell: any of them may be rejected.
    return weakest(*[confirm(group) for group in asked])


def _given_apart(premises: list[fo.Formula], answer: fo.Formula, result: str) -> list[list[list[fo.Formula]]]:
    """Return what must have no model where a premise has the answer as a part: the others must give it too."""
    # Attack: hide the answer in a conjunction, where nothing else gives it.
    parts = [part for premise in premises for part in fo.conjuncts(premise)]
    others = [part for part in parts if fo.key(part) != fo.key(answer)]
    if result == "unknown" or len(others) == len(parts):
        return []
    return [[[*others, fo.Not(answer)]]]


def _questions(premises: list[fo.Formula], goal: fo.Formula, theory: list[fo.Formula]) -> list[list[list[fo.Formula]]]:
    """Return groups of sets of formulas; one of each must have no model, for the program to say what is stated."""
    if not shares_vocabulary([*premises, goal], theory):
        raise Rejected("other_vocabulary")
    try:
        groups = [
            [[axiom, fo.Not(part)] for axiom in candidates] for part, candidates in reworded(premises, theory[:-1])
        ]
    except fo.FormulaError as error:
        raise Rejected("too_large") from error
    if fo.key(goal) != fo.key(theory[-1]):
        groups.append([[fo.Not(fo.Compound(fo.Operator.IFF, (goal, theory[-1])))]])
    return groups


def shares_vocabulary(formulas: Sequence[fo.Formula], reference: Sequence[fo.Formula]) -> bool:
    """Say whether formulas use the reference's symbols only, and as it uses them."""
    try:
        fo.signature([*reference, *formulas])
    except fo.FormulaError:
        return False
    return fo.signature(formulas).symbols() <= fo.signature(reference).symbols()


def unstated(formulas: Sequence[fo.Formula], given: Sequence[fo.Formula]) -> tuple[fo.Formula, ...]:
    """Return the formulas that are none of the given ones, up to names of variables, order and groups."""
    stated = set(map(fo.key, given))
    return tuple(formula for formula in formulas if fo.key(formula) not in stated)


def reworded(
    premises: Sequence[fo.Formula], axioms: Sequence[fo.Formula]
) -> list[tuple[fo.Formula, tuple[fo.Formula, ...]]]:
    """Return what the premises say in words of their own, each with the axioms, one of which alone must entail it.

    One axiom, because from all of them the conclusion follows as well, and could be written as a premise. A
    conjunction is taken apart. Raises `FormulaError` where there are too many pairs to compare.
    """
    parts = [part for premise in unstated(premises, axioms) for part in fo.conjuncts(premise)]
    used = {axiom: fo.signature([axiom]).symbols() for axiom in axioms}
    found: list[tuple[fo.Formula, tuple[fo.Formula, ...]]] = []
    for part in unstated(parts, axioms):
        symbols = fo.signature([part]).symbols()
        found.append((part, tuple(axiom for axiom in axioms if symbols <= used[axiom])))
    if sum(len(candidates) for _, candidates in found) > MAX_COMPARED:
        raise fo.FormulaError("too_large", "too many premises are in other words than the problem's")
    return found


def confirm(group: Sequence[list[fo.Formula]]) -> Trust:
    """Raise `Rejected` unless one of these sets of formulas has no model; return on whose word.

    What instances refute is proved here; a solver is asked for the rest.
    """
    if any(map(refuted, group)):
        return Trust.CHECKED
    opinions = [decide(script(formulas), BUDGET) for formulas in group]
    confirmed = [trust for found, trust in opinions if found is False]
    if confirmed:
        return min(confirmed, key=list(Trust).index)
    raise Rejected("not_confirmed" if any(found is None for found, _ in opinions) else "has_a_model")


MAX_INSTANCES = 2_000
MAX_TERMS = 24
MAX_RELATED = 14
"""Terms, where some formula speaks of equality: each three of them are related."""
MAX_CLAUSES = 20_000
DEPTHS = 3
WORK = 60_000


class _TooMuch(Exception):  # noqa: N818
    pass


def refuted(formulas: Sequence[fo.Formula]) -> bool:
    """Say whether instances of these closed formulas were shown to contradict each other."""
    try:
        matrices = _matrices(formulas)
        return any(_contradicts(matrices, terms) for terms in _universes(matrices))
    except (_TooMuch, fo.FormulaError):
        return False


def _matrices(formulas: Sequence[fo.Formula]) -> list[fo.Formula]:
    """Return affirmative forms without quantifiers, whose variables are all universal; raises `FormulaError`."""
    used = fo.signature(formulas)
    prefix = "some"
    while any(name.startswith(prefix) for name in (*used.functions, *used.constants, *used.predicates)):
        prefix += "_"
    skolem = _Skolem(prefix)
    parts = [part for formula in formulas for part in fo.conjuncts(formula)]
    return [skolem.matrix(fo.affirmative(part), {}, ()) for part in parts]


@dataclass
class _Skolem:
    prefix: str
    numbers: Iterator[int] = field(default_factory=count)

    def matrix(self, formula: fo.Formula, bound: Mapping[str, fo.Term], around: tuple[fo.Variable, ...]) -> fo.Formula:
        """Return an affirmative form without its quantifiers."""
        match formula:
            case fo.Quantified(fo.Quantifier.ALL, variable, body):
                own = fo.Variable(f"v{next(self.numbers)}")
                return self.matrix(body, {**bound, variable: own}, (*around, own))
            case fo.Quantified(_, variable, body):
                name = f"{self.prefix}{next(self.numbers)}"
                witness: fo.Term = fo.Application(name, around) if around else fo.Constant(name)
                return self.matrix(body, {**bound, variable: witness}, around)
            case _:
                return fo.rebuilt(
                    formula, lambda part: self.matrix(part, bound, around), lambda term: fo.replaced(term, bound)
                )


def _universes(matrices: Sequence[fo.Formula]) -> Iterator[list[fo.Term]]:
    """Yield the terms that variables stand for: constants, then with functions of them, nested deeper each time."""
    used = fo.signature(matrices)
    terms: list[fo.Term] = [fo.Constant(name) for name in sorted(used.constants) or ["something"]]
    yield terms
    for _ in range(DEPTHS - 1 if used.functions else 0):
        nested: list[fo.Term] = [
            fo.Application(name, arguments)
            for name, arity in sorted(used.functions.items())
            if len(terms) ** arity <= MAX_TERMS
            for arguments in product(terms, repeat=arity)
        ]
        grown = list(dict.fromkeys([*terms, *nested]))
        if len(grown) == len(terms) or len(grown) > MAX_TERMS:
            return
        terms = grown
        yield terms


def _contradicts(matrices: Sequence[fo.Formula], terms: Sequence[fo.Term]) -> bool:
    """Say whether the instances for these terms contradict each other."""
    clauses = _Clauses()
    num = 0
    for matrix in matrices:
        names = sorted(fo.free_variables(matrix))
        num += len(terms) ** len(names)
        if num > MAX_INSTANCES:
            raise _TooMuch
        for values in product(terms, repeat=len(names)):
            clauses.add([clauses.number(matrix, dict(zip(names, values, strict=True)))])
    clauses.equate()
    found = solve_clauses(clauses.listed, WORK)
    if not isinstance(found, Contradictory):
        return False
    check_proof(clauses.listed, found.learned)
    return True


class _Clauses:
    """Clauses over numbers of ground atoms and of what is joined of them (Tseitin)."""

    def __init__(self) -> None:
        self.listed: list[list[int]] = []
        self._atoms: dict[fo.Formula, int] = {}
        self._num = 0

    def add(self, clause: list[int]) -> None:
        self.listed.append(clause)
        if len(self.listed) > MAX_CLAUSES:
            raise _TooMuch

    def number(self, matrix: fo.Formula, values: Mapping[str, fo.Term]) -> int:
        """Return a number that only holds if the instance does."""
        match matrix:
            case fo.Not(fo.Atom() | fo.Equality() as atom):
                return -self.number(atom, values)
            case fo.Compound(fo.Operator.AND | fo.Operator.OR as operator, operands):
                parts = [self.number(operand, values) for operand in operands]
                own = self._new()
                for clause in [[part] for part in parts] if operator is fo.Operator.AND else [parts]:
                    self.add([-own, *clause])
                return own
            case fo.Atom() | fo.Equality():
                return self._atom(fo.rebuilt(matrix, lambda part: part, lambda term: fo.replaced(term, values)))
            case _:
                raise AssertionError(f"{matrix} is not affirmative, or has quantifiers")

    def _new(self) -> int:
        self._num += 1
        return self._num

    def _atom(self, atom: fo.Formula) -> int:
        if isinstance(atom, fo.Equality):
            left, right = sorted((atom.left, atom.right), key=repr)
            atom = fo.Equality(left, right)
        if atom not in self._atoms:
            self._atoms[atom] = self._new()
        return self._atoms[atom]

    def equate(self) -> None:
        """Say what equality is of the terms, where any formula speaks of it."""
        if not any(isinstance(atom, fo.Equality) for atom in self._atoms):
            return
        terms = sorted({term for atom in self._atoms for term in fo.terms(atom)}, key=repr)
        if len(terms) > MAX_RELATED:
            raise _TooMuch
        for term in terms:
            self.add([self._equal(term, term)])
        for one, two, three in permutations(terms, 3):
            self.add([-self._equal(one, two), -self._equal(two, three), self._equal(one, three)])
        for one, two in combinations([term for term in terms if isinstance(term, fo.Application)], 2):
            if one.function == two.function:
                self.add([*self._differ(one.arguments, two.arguments), self._equal(one, two)])
        for one, two in permutations([atom for atom in self._atoms if isinstance(atom, fo.Atom) and atom.arguments], 2):
            if one.predicate == two.predicate:
                self.add([*self._differ(one.arguments, two.arguments), -self._atoms[one], self._atoms[two]])

    def _equal(self, one: fo.Term, two: fo.Term) -> int:
        return self._atom(fo.Equality(one, two))

    def _differ(self, some: Iterable[fo.Term], others: Iterable[fo.Term]) -> list[int]:
        return [-self._equal(one, other) for one, other in zip(some, others, strict=True) if one != other]
