"""Bars against programs on trust that say nothing of their problem, each with the attack that it stops.

Nothing here understands the text. A program whose claim shares no word with what is asked would be certified of any
other problem as well; so would one whose premises are the claim in other words, or `unknown` of next to nothing.
"""

import re
from collections.abc import Sequence

from critics.certificate import Certificate, Evidence
from critics.checker import in_terms_of
from critics.conclusion import Refusal
from critics.formats.asp.query import read_query
from critics.formats.asp.rules import is_variable
from critics.formats.asp.submission import read_submission
from critics.formats.csp.certificate import SolutionEvidence
from critics.formats.csp.reader import variables_of
from critics.formats.logic_program.certificate import OptionsEvidence
from critics.formats.rules.certificate import RulesEvidence
from critics.formats.z3_python.certificate import ScriptEvidence
from critics.formats.z3_python.dialect import members, needed, script, tokens
from critics.formats.z3_python.dialect import negated as denied
from critics.formats.z3_python.examination import Examined, asking
from critics.logic.first_order.entailment import can_fail
from critics.logic.first_order.solvers import Answer
from critics.logic.first_order.syntax import (
    Application,
    Atom,
    Formula,
    Not,
    Quantified,
    Variable,
    negated,
    subformulas,
    terms,
)
from critics.logic.first_order.theory import first_order
from critics.logic.formula import Literal, parse_literal, parse_statement
from critics.logic.horn import HornEvidence
from critics.problem import TRUTH_VALUES, Attempt, Formal, Problem
from critics.text.background import background
from critics.text.faithfulness.checks import names_of_goal, names_of_premises, read
from critics.text.faithfulness.english import asked
from critics.text.faithfulness.finding import Failed
from critics.text.faithfulness.formalisation import Formalisation, atoms_of, formalisation
from critics.text.reference import TRANSLATORS
from critics.text.trust.words import content, is_placeholder, shared_words, shares_words
from critics.verdict import TimedOut, Unproved, Vacuous

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_NAME = re.compile(r"(?<!['\w])(?!(?:not|forall|exists|all)\b)[A-Za-z]{3,}")
"""Words of formulas; `f1` is a code and none."""
# Attack: formalise next to nothing, from which nothing follows.
_UNKNOWN = Refusal(Unproved, "unknown_on_trust", "that nothing follows cannot be checked without a reference")
_UNDECIDED = Refusal(TimedOut, "solver_budget", "the solver could not tell what the answer rests on")
_ELSEWHERE = Refusal(Unproved, "question_words_missing", "what is proved shares no word with what is asked")
_UNTOLD = Refusal(Unproved, "context_words_missing", "the answer rests on premises that share no word with the text")
_SAME = Refusal(Vacuous, "premises_are_the_claim", "what the answer rests on says no more than the answer")


def bar_on_trust(problem: Problem, attempt: Attempt, certificate: Certificate, *, aligned: bool) -> Refusal | None:
    """Return why an attempt on trust is not certified; None where nothing bars it.

    `aligned` says that the text bears its formulas out.
    """
    claim = certificate.claim
    if attempt.format == "asp":
        return _of_answer_sets(problem, attempt.completion, claim)
    if claim == in_terms_of("unknown", problem.options) and not aligned and content(problem.question):
        return _UNKNOWN
    formalised = formalisation(attempt)
    if formalised is not None:
        value = next(v for v in TRUTH_VALUES if in_terms_of(v, problem.options) == claim)
        return _of_formulas(problem, formalised, certificate.evidence, value)
    evidence = certificate.evidence
    if not shares_words(_claimed(evidence, claim), _asked(problem, evidence, claim)):
        return _ELSEWHERE
    return _of_script(evidence.examined) if isinstance(evidence, ScriptEvidence) else None


def _asked(problem: Problem, evidence: Evidence, claim: str) -> str:
    """Return the text of what is claimed: of the option, where options are more than their letters."""
    if isinstance(evidence, ScriptEvidence) and evidence.examined.argument.mode == "truth":
        return problem.question
    if isinstance(evidence, (SolutionEvidence, OptionsEvidence, ScriptEvidence)) and problem.options is not None:
        option = problem.options[_position(claim)]
        return problem.question if option == claim else option
    return problem.question


def _position(claim: str) -> int:
    return ord(claim) - ord("A")


def _claimed(evidence: Evidence, claim: str) -> Sequence[str]:
    """Return the names in what a program claims: in its statement, or in the option that holds."""
    match evidence:
        case SolutionEvidence(program=program):
            return list(variables_of(program.options[_position(claim)]))
        case OptionsEvidence(program=program):
            return _IDENTIFIER.findall(program.options[_position(claim)].line.text.partition(":::")[0])
        case ScriptEvidence(examined=examined):
            statements = examined.argument.statements
            shown = statements[0] if examined.argument.mode == "truth" else statements[_position(claim)]
            names = examined.report.names
            return [names[token] for token in tokens(shown) if token in names]
        case _:
            return []


def _of_script(examined: Examined) -> Refusal | None:
    """Bar a script whose premises hold the statement in other words."""
    argument, declarations = examined.argument, examined.report.declarations
    if argument.mode != "truth" or examined.value == "unknown" or members(needed(declarations, argument.statements)):
        # Of finitely many values one is the others' denial: what is left of them when all others are denied is proved.
        return None
    (statement,) = argument.statements
    claimed = statement if examined.value == "true" else denied(statement)
    ask = asking()
    found = ask([script(declarations, [claimed, denied(premise)]) for premise in argument.premises])
    said = [premise for premise, result in zip(argument.premises, found, strict=True) if result == "unsat"]
    rest = ask([script(declarations, [*said, denied(claimed)])]) if said else ["sat"]
    if "unknown" in [*found, *rest]:
        return _UNDECIDED
    return _SAME if rest == ["unsat"] else None


def _of_answer_sets(problem: Problem, completion: str, claim: str) -> Refusal | None:
    """Bar a query about what the text does not speak of, and `unknown` of premises that are not the text's."""
    if is_placeholder(problem):
        # The comments are asked then (`critics.formats.asp.premises`).
        return None
    submission = read_submission(completion)
    atoms = read_query(submission.query).atoms()
    things = [term for atom in atoms for term in atom.arguments if not is_variable(term)]
    text = f"{problem.context}\n{problem.question}"
    told = things and all(shares_words([thing], problem.context) for thing in things)
    if not told and not shares_words([*things, *(atom.predicate for atom in atoms)], problem.question):
        # Attack: constants that the text lacks, so that the comments are asked instead of it.
        return _ELSEWHERE
    rules, numbered = submission.program.rules, submission.program.numbered()
    firsts = [rules[positions[0]] for positions in numbered.values() if positions]
    names = [[lit.predicate for lit in rule.literals()] + list(rule.terms()) for rule in firsts]
    is_told = all(shares_words([name for name in said if not is_variable(name)], text) for said in names)
    return None if claim != in_terms_of("unknown", problem.options) or is_told else _UNKNOWN


def _of_formulas(problem: Problem, formalised: Formalisation, evidence: Evidence, value: str) -> Refusal | None:
    """Bar what is proved of another question, of another text, or of itself."""
    predicates, things = _names(formalised.goal)
    # A synonym is a word as well, where the question names what it is about by two words or more.
    is_named = len(shared_words(things, problem.question) & content(problem.question)) > 1
    if not shares_words(predicates or things, problem.question) and not is_named:
        return _ELSEWHERE
    if things and not shares_words(things, problem.question):
        # Attack: ask of an object of one's own what the question asks of another.
        return _ELSEWHERE
    if value == "unknown":
        return None
    if _is_denied(problem, formalised):
        # Attack: prove the opposite of what is asked, and answer it.
        return Refusal(Unproved, "question_denied", "the goal denies what the question asserts, or the other way")
    if isinstance(evidence, (HornEvidence, RulesEvidence)):
        horn = evidence.derivation if isinstance(evidence, RulesEvidence) else evidence
        axioms = [first_order(parse_statement(step.statement)) for step in horn.steps if step.rule is None]
        return None if all(_is_told(axiom, problem) for axiom in axioms) else _UNTOLD
    claim = formalised.goal if value == "true" else negated(formalised.goal)
    return _of_premises([premise for premise in formalised.premises if _is_told(premise, problem)], claim)


def _is_denied(problem: Problem, formalised: Formalisation) -> bool:
    """Say whether the goal denies a word of a question without negation, or denies nothing where the question does."""
    question, atoms = asked(problem.question), atoms_of(formalised.goal)
    if question is None or atoms is None or question.has_unclear_words() or question.ranges_over_several():
        return False
    denied_words = [atom.stems() for atom in atoms if atom.denied]
    if question.negations():
        return not denied_words
    return any(stems <= set(question.stems) for stems in denied_words)


def _is_told(premise: Formula, problem: Problem) -> bool:
    """Say whether a premise shares a word with the text; so it does with a mere placeholder of a text."""
    predicates, things = _names(premise)
    return is_placeholder(problem) or shares_words(predicates or things, f"{problem.context}\n{problem.question}")


def _names(formula: Formula) -> tuple[set[str], set[str]]:
    """Return a formula's predicates, and its constants and functions; a name may be both."""
    inner = [term for term in terms(formula) if not isinstance(term, Variable)]
    things = {term.function if isinstance(term, Application) else term.name for term in inner}
    return {part.predicate for part in subformulas(formula) if isinstance(part, Atom)}, things


def _of_premises(told: Sequence[Formula], claim: Formula) -> Refusal | None:
    try:
        if not _entail(told, claim):
            return _UNTOLD
        if _entail([premise for premise in told if _entail([claim], premise)], claim):
            return _SAME
        containing = [premise for premise in told if _is_ground(premise) and _entail([premise], claim)]
        rest = [premise for premise in told if premise not in containing]
        if containing and _is_literal(claim) and not _entail(rest, claim):
            return Refusal(Vacuous, "goal_assumed", "a premise hands the answer over, and nothing else gives it")
    except Undecided:
        return _UNDECIDED
    return None


class Undecided(Exception):  # noqa: N818
    """The solver gave up."""


def _entail(premises: Sequence[Formula], claim: Formula) -> bool:
    found = can_fail(premises, claim)
    if found is Answer.UNDECIDED:
        raise Undecided
    return found is Answer.UNSATISFIABLE


def _is_ground(formula: Formula) -> bool:
    return not any(isinstance(part, Quantified) for part in subformulas(formula))


def _is_literal(formula: Formula) -> bool:
    return isinstance(formula.body if isinstance(formula, Not) else formula, Atom)


def is_foreign(problem: Problem, formal: Formal) -> bool:
    """Say whether a formalisation that came with a problem speaks of what no one sentence of its text does.

    Attack: one sentence that the translator cannot read, and a formalisation of another text. What a user's own data
    set formalises need not have its text's words, but for one at least.
    """
    if is_placeholder(problem):
        return False
    if problem.dataset not in TRANSLATORS:
        # Whatever the notation: it may be first-order logic.
        said = {name for one in (formal.goal, *formal.axioms) for name in _NAME.findall(one)}
        return bool(said) and not shared_words(said, f"{problem.context}\n{problem.question}")
    statements = [parse_statement(axiom) for axiom in formal.axioms]
    goal = parse_literal(formal.goal)
    if background(problem.dataset).signature is not None:
        # A theory has words of its own for what prose says in many ways: what is spoken of is compared alone, where it
        # has a name that is a word and no code (`f1`).
        facts = [fact for fact in (*statements, goal) if isinstance(fact, Literal)]
        things = {part for fact in facts for part in fact.arguments if isinstance(part, str) and part.isalpha()}
        return bool(things) and not shared_words(things, f"{problem.context}\n{problem.question}")
    reading = read(problem, Formalisation(tuple(map(first_order, statements)), first_order(goal)))
    return reading is None or any(isinstance(check(reading), Failed) for check in (names_of_goal, names_of_premises))
