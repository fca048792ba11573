"""Replay of equivalence certificates, with the standard library alone.

The certificate holds both sides in canonical text. This module reads them again, and asks that

* its digest, keys and claim are right, and its free names are those that nothing binds;
* where it says `checked`, the left side is the formula that the problem names (its text is read by the caller), and
  is not seen to be constant;
* by its method: `propositional`, that both have one graph, one truth table (up to 20 atoms), or that the clauses of
  the proof follow by unit propagation and end in falsity, quantified parts being atoms; `prefix`, that the
  quantifiers pulled out are the same up to the given order of neighbours of one kind, and the matrices
  propositionally equivalent; `automaton`, that every set of positions of either expression stands for one state of
  the given automaton.

`solver` is the one method of which nothing can be replayed: then the other solver is asked.
"""

import re
from typing import Any

from critics.replay.answers import check_claim
from critics.replay.certificate import Rejected, SealedCertificate, Unchecked, are_texts, of_kinds
from critics.replay.equivalences.automaton import is_language_of
from critics.replay.equivalences.graph import Graph, check_equal, is_constant, places_of, prenex
from critics.replay.equivalences.regex import read_canonical
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import read
from critics.replay.first_order.smtlib import script
from critics.replay.solvers import Budget, Trust, decide, refute

ENGINE = "certistar-equivalence/1"
KINDS = {
    "propositional": "propositional-equivalence",
    "3cnf": "propositional-equivalence",
    "first-order": "first-order-equivalence",
    "regex": "regex-equivalence",
}
"""The kind of certificate by language."""
SOLVERS = ("cvc5", "z3")
BUDGET = Budget(cvc5_ms=4_000, finite_models=True)
_METHODS = {
    "propositional": {"propositional": {"clauses"}},
    "3cnf": {"propositional": {"clauses"}},
    "first-order": {"propositional": {"clauses"}, "prefix": {"order", "clauses"}, "solver": {"solver"}},
    "regex": {"automaton": {"alphabet", "transitions", "accepting"}},
}
_ALPHABET = re.compile(r"(?!.*(.).*\1)\d{1,10}", re.ASCII)
MAX_STATES = 20_000


@of_kinds(*KINDS.values())
def check_equivalence(certificate: SealedCertificate) -> Trust:
    """Accept by returning what it rests on, or raise `Rejected` with the reason."""
    _check_frame(certificate)
    evidence = certificate.evidence
    detail, method = evidence["detail"], evidence["method"]
    if method == "automaton":
        _check_automaton(evidence, detail)
        return Trust.CHECKED
    left, right = read(evidence["left"]), read(evidence["right"])
    fo.signature([left, right])
    applied = (isinstance(part, fo.Atom) and part.arguments for side in (left, right) for part in fo.subformulas(side))
    if evidence["language"] != "first-order" and any(applied):
        raise Rejected("not_propositional")
    if evidence["free"] != {"left": list(fo.open_names([left])), "right": list(fo.open_names([right]))}:
        raise Rejected("free_names")
    if certificate.reference != "none":
        _check_contingent(left)
    match method:
        case "propositional":
            graph = Graph()
            check_equal(graph, graph.add(left), graph.add(right), detail["clauses"])
        case "prefix":
            _check_prefix(left, right, detail["order"], detail["clauses"])
        case _:
            return _confirm(left, right, detail["solver"])
    return Trust.CHECKED


def _confirm(left: fo.Formula, right: fo.Formula, proved_by: str) -> Trust:
    """Nothing of a solver's proof can be replayed: the other one is asked, or the same once more."""
    if proved_by not in SOLVERS:
        raise Rejected("ill_formed")
    return refute(script([fo.Not(fo.Compound(fo.Operator.IFF, (left, right)))]), BUDGET, proved_by)


def _check_frame(certificate: SealedCertificate) -> None:
    """Check all that does not depend on what the two sides say."""
    evidence, formal = certificate.evidence, certificate.problem.formal
    if KINDS.get(evidence["language"]) != certificate.kind:
        raise Rejected("unknown_kind")
    if not are_texts([evidence["left"], evidence["right"]]):
        raise Rejected("ill_formed")
    if formal is not None and formal.axioms:
        # Attack: answer another question, with axioms, by an equivalence.
        raise Rejected("other_task")
    check_claim(certificate, "true")
    if evidence["detail"].keys() != _METHODS[evidence["language"]][evidence["method"]]:
        raise Rejected("ill_formed")


def _check_prefix(left: fo.Formula, right: fo.Formula, order: list[int], proof: list[list[int]]) -> None:
    if any(type(place) is not int for place in order):
        raise Rejected("ill_formed")
    one, other, graph = prenex(left), prenex(right), Graph()
    if one is None or other is None:
        raise Rejected("not_a_prefix")
    literal = graph.add(one.matrix, one.places)
    check_equal(graph, literal, graph.add(other.matrix, places_of(one, other, order)), proof)


def _check_contingent(formula: fo.Formula) -> None:
    """Raise where the problem's formula always holds or never: any other that does would be equivalent to it."""
    found, graph = prenex(formula), Graph()
    if found is not None and is_constant(graph, graph.add(found.matrix, found.places)):
        raise Rejected("constant_formula")
    if not any(isinstance(part, fo.Quantified) for part in fo.subformulas(formula)):
        return
    try:
        if any(decide(script([side]), BUDGET)[0] is False for side in (formula, fo.Not(formula))):
            raise Rejected("constant_formula")
    except Unchecked:
        return  # Without a solver only the matrix is looked at.


def _check_automaton(evidence: Any, detail: Any) -> None:
    alphabet, transitions, accepting = detail["alphabet"], detail["transitions"], detail["accepting"]
    if evidence["free"] != {"left": [], "right": []} or not _ALPHABET.fullmatch(alphabet):
        raise Rejected("ill_formed")
    num = len(transitions)
    if not 0 < num <= MAX_STATES or any(len(row) != len(alphabet) for row in transitions):
        raise Rejected("ill_formed")
    if any(type(state) is not int or not 0 <= state < num for row in [*transitions, accepting] for state in row):
        raise Rejected("ill_formed")
    for side in ("left", "right"):
        expression = read_canonical(evidence[side], alphabet)
        if not is_language_of(expression, transitions, frozenset(accepting), alphabet):
            raise Rejected("other_language")
