"""Bars against programs on trust that say nothing of their problem, each with the attack that it stops.

Nothing here understands the text. A program whose claim shares no word with what is asked would be certified of any
other problem as well; so would one whose premises are the claim in other words, or `unknown` of next to nothing.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import cast

from critics.grammar.reader import Reading
from critics.grammar.text import sentences
from critics.logic.first_order.comparison import entails
from critics.problem import TRUTH_VALUES, Attempt, Formal, Problem
from critics.replay.answers import in_terms_of
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import first_order
from critics.replay.formula import Literal, Statement, parse_literal, parse_statement
from critics.text.background import background
from critics.text.faithfulness.alignment import ReadProblem, are_shown
from critics.text.part import Formalisation, TextPart
from critics.text.reference import TRANSLATORS
from critics.text.trust.words import content, is_placeholder, names_of, shared_words, shares_words, speaks_of
from critics.verdict import TimedOut, Unproved, Vacuous
from critics.verdict.certificate import Certificate
from critics.verdict.conclusion import Refusal

_NAME = re.compile(r"(?<!['\w])(?!(?:not|forall|exists|all)\b)[A-Za-z]{3,}")
"""Words of formulas; `f1` is a code and none."""
_CLAUSE = re.compile(r"[.!?,;:\n]|\b(?:and|or|but|nor|who|which)\b")
# Attack: formalise next to nothing, from which nothing follows.
UNKNOWN = Refusal(Unproved, "unknown_on_trust", "that nothing follows cannot be checked without a reference")
UNDECIDED = Refusal(TimedOut, "solver_budget", "the solver could not tell what the answer rests on")
ELSEWHERE = Refusal(Unproved, "question_words_missing", "what is proved shares no word with what is asked")
_UNTOLD = Refusal(Unproved, "context_words_missing", "the answer rests on premises that share no word with the text")
SAME = Refusal(Vacuous, "premises_are_the_claim", "what the answer rests on says no more than the answer")
_MIXED = re.compile(
    r"[A-Za-z][\u0400-\u04ff\uff21-\uff3a\uff41-\uff5a]|[\u0400-\u04ff\uff21-\uff3a\uff41-\uff5a][A-Za-z]"
)
"""Letters of two alphabets in one word, whose shapes are the same."""
_ERASING = re.compile(r"[\x08\x1b\x7f]")
"""Controls that take back or hide what a terminal shows."""


def bar_on_trust(
    part: TextPart, problem: Problem, attempt: Attempt, certificate: Certificate, *, aligned: bool
) -> Refusal | None:
    """Return why an attempt on trust is not certified; None where nothing bars it.

    `aligned` says that the text bears its formulas out.
    """
    claim = certificate.claim
    if claim == in_terms_of("unknown", problem.options) and not aligned and content(problem.question):
        return UNKNOWN
    formalised = part.theory(attempt)
    if formalised is not None:
        value = next(v for v in TRUTH_VALUES if in_terms_of(v, problem.options) == claim)
        return _of_formulas(problem, formalised, certificate, value)
    names, asking = part.claimed(problem, certificate)
    return None if shares_words(names, asking) else ELSEWHERE


def text_of_option(problem: Problem, claim: str) -> str:
    """Return the text of the option that is claimed; the question where options are no more than their letters."""
    option = None if problem.options is None else problem.options[position_of(claim)]
    return problem.question if option in (None, claim) else option


def position_of(claim: str) -> int:
    """Return the position of an option's letter."""
    return ord(claim) - ord("A")


def _of_formulas(problem: Problem, formalised: Formalisation, certificate: Certificate, value: str) -> Refusal | None:
    """Bar what is proved of another question, of another text, or of itself."""
    predicates, things = names_of(formalised.goal)
    # A synonym is a word as well, where the question names what it is about by two words or more.
    is_named = len(shared_words(things, problem.question) & content(problem.question)) > 1
    if not shares_words(predicates or things, problem.question) and not is_named:
        return ELSEWHERE
    if things and not shares_words(things, problem.question):
        # Attack: ask of an object of one's own what the question asks of another.
        return ELSEWHERE
    if value == "unknown":
        return None
    if _is_denied(problem, formalised):
        # Attack: prove the opposite of what is asked, and answer it.
        return Refusal(Unproved, "question_denied", "the goal denies what the question asserts, or the other way")
    if isinstance(steps := certificate.evidence.get("steps"), list):
        # A derivation, which shows what it starts from.
        given = [step["statement"] for step in cast("list[dict[str, str]]", steps) if step["by"] == "axiom"]
        axioms = [first_order(parse_statement(statement)) for statement in given]
        return None if all(_is_told(axiom, problem) for axiom in axioms) else _UNTOLD
    claim = formalised.goal if value == "true" else fo.negated(formalised.goal)
    return _of_premises([premise for premise in formalised.premises if _is_told(premise, problem)], claim)


def _is_denied(problem: Problem, formalised: Formalisation) -> bool:
    """Say whether the goal is the denial of what the grammar reads the question as."""
    read = ReadProblem(problem)
    try:
        goal = read.names([formalised.goal]).of(formalised.goal)
    except KeyError:
        return False
    question = read.question
    return (
        isinstance(question, Reading)
        and are_shown([goal], fo.Not(question.formula))
        and are_shown([fo.Not(question.formula)], goal)
    )


def _is_told(premise: fo.Formula, problem: Problem) -> bool:
    """Say whether a premise shares a word with the text; so it does with a mere placeholder of a text."""
    predicates, things = names_of(premise)
    return is_placeholder(problem) or shares_words(predicates or things, f"{problem.context}\n{problem.question}")


def _of_premises(told: Sequence[fo.Formula], claim: fo.Formula) -> Refusal | None:
    is_literal = isinstance(claim.body if isinstance(claim, fo.Not) else claim, fo.Atom)
    try:
        if not entails(told, claim):
            return _UNTOLD
        if entails([premise for premise in told if entails([claim], premise)], claim):
            return SAME
        containing = [premise for premise in told if _is_ground(premise) and entails([premise], claim)]
        rest = [premise for premise in told if premise not in containing]
        if containing and is_literal and not entails(rest, claim):
            return Refusal(Vacuous, "goal_assumed", "a premise hands the answer over, and nothing else gives it")
    except Refusal:
        return UNDECIDED
    return None


def _is_ground(formula: fo.Formula) -> bool:
    return not any(isinstance(part, fo.Quantified) for part in fo.subformulas(formula))


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
    told = sentences(problem.context)
    # Attack: state more premises than the text can hold.
    room = len(_CLAUSE.findall(problem.context)) + 1
    return (
        len(statements) > room
        or not _says(problem.question, goal)
        or not all(any(_says(sentence, statement) for sentence in told) for statement in statements)
    )


def _says(text: str, statement: Statement) -> bool:
    return all(speaks_of(text, name) for part in names_of(first_order(statement)) for name in part)


def hidden_character(text: str, *, is_prose: bool) -> str | None:
    """Return the first character that is not seen, or in prose the first word of two alphabets; None without one."""
    if (erasing := _ERASING.search(text)) is not None:
        return f"a control character, U+{ord(erasing[0]):04X}"
    if text.isascii():
        return None
    for char in text:
        # Blanks of no width, and signs that turn the direction of writing.
        if unicodedata.category(char) in ("Cf", "Co"):
            return unicodedata.name(char, f"U+{ord(char):04X}")
    mixed = _MIXED.search(text) if is_prose else None
    return None if mixed is None else f"letters of two alphabets in one word, {mixed[0]!r}"
