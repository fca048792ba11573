"""The critic of `equivalence` attempts: `{"language", "left", "right"}` claims that both sides mean the same.

Proved is certified, `true`; different is refuted, `false`, with the witness in the feedback; what the budgets leave
undecided is a timeout. A problem that names its formula does so as `formal: {"axioms": [], "goal": FORMULA}`, with
`meta.language` and for regular expressions `meta.alphabet`: then the left side must be that formula, up to groups of
one operator within each other, and a formula that holds always or never is vacuous, because any other that does would
match it. Without one the pair is taken on trust, as the certificate says. Identical sides are a perfect round trip.
"""

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

from critics.formats.equivalence.decision import decide_first_order, decide_propositional, is_constant
from critics.formats.equivalence.language import ALPHABET, Language, is_alphabet, read_formula, read_regex
from critics.formats.equivalence.sampling import Different, Equivalent, Outcome, UndecidedPair
from critics.logic.first_order.solvers import Answer, SolverBudget, solve
from critics.problem import Attempt, Formal, Problem, is_object
from critics.replay.answers import in_terms_of
from critics.replay.certificate import TooLarge
from critics.replay.equivalences.automaton import distinguishing_word, matches, minimal_automaton
from critics.replay.equivalences.checker import ENGINE, KINDS
from critics.replay.equivalences.regex import Regex, write_regex
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import canonical
from critics.replay.replies import json_object
from critics.replay.semantics import SEMANTICS
from critics.text.reference import text_contradicts
from critics.verdict import Certified, CriticError, Malformed, Refuted, TimedOut, Unproved, Vacuous, Verdict
from critics.verdict.certificate import Certificate, certify
from critics.verdict.conclusion import brief, is_wrong, wrong_answer

AUTOMATON = "automaton"


@dataclass(frozen=True, slots=True)
class FormulaPair:
    """Two formulas, propositional or first-order, that use every name in one way."""

    language: Language
    left: fo.Formula
    right: fo.Formula
    repairs: tuple[str, ...] = ()
    """A word for each thing that was mended to read them."""


@dataclass(frozen=True, slots=True)
class RegexPair:
    """Two regular expressions over one alphabet."""

    left: Regex
    right: Regex
    alphabet: str = ALPHABET


Pair: TypeAlias = FormulaPair | RegexPair


def read_pair(language: Language, left: str, right: str, alphabet: str = ALPHABET) -> Pair:
    """Read both sides as models write them; raises `FormulaError`."""
    if language is Language.REGEX:
        return RegexPair(read_regex(left, alphabet), read_regex(right, alphabet), alphabet)
    one, other = read_formula(left, language), read_formula(right, language)
    fo.signature([one.formula, other.formula])
    return FormulaPair(language, one.formula, other.formula, (*one.repairs, *other.repairs))


def decide(pair: Pair) -> Outcome:
    """Decide whether both sides mean the same, within budgets."""
    match pair:
        case RegexPair(left, right, alphabet):
            return decide_regex(left, right, alphabet)
        case FormulaPair(Language.FIRST_ORDER, left, right):
            return decide_first_order(left, right)
        case FormulaPair(_, left, right):
            return decide_propositional(left, right)


def decide_regex(left: Regex, right: Regex, alphabet: str = ALPHABET) -> Outcome:
    """Decide whether two expressions match the same words over the alphabet."""
    try:
        word = distinguishing_word(left, right, alphabet)
        if word is None:
            automaton = minimal_automaton(left, alphabet)
            return Equivalent(AUTOMATON, {
                "alphabet": alphabet,
                "transitions": [list(row) for row in automaton.transitions],
                "accepting": list(automaton.accepting),
            })  # fmt: skip
        in_left, in_right = (matches(side, word) for side in (left, right))
    except TooLarge:
        return UndecidedPair()
    if in_left == in_right:
        raise AssertionError("the expressions agree on the word that was said to distinguish them")
    return Different({"word": word, "in_left": in_left}, in_left)


def is_contingent(pair: Pair) -> bool | None:
    """Say whether the left side, where it is a formula, can hold and can fail; None where no solver can tell."""
    if isinstance(pair, RegexPair):
        return True
    if is_constant(pair.left):
        return False
    if not any(isinstance(part, fo.Quantified) for part in fo.subformulas(pair.left)):
        return True  # Of a formula without quantifiers, the matrix is all.
    found = [solve([side], SolverBudget()).answer for side in (pair.left, fo.Not(pair.left))]
    if Answer.UNSATISFIABLE in found:
        return False
    return None if Answer.UNDECIDED in found else True


def texts(pair: Pair) -> tuple[str, str]:
    """Return both sides in canonical text, which reads as the same trees."""
    if isinstance(pair, RegexPair):
        return write_regex(pair.left), write_regex(pair.right)
    return canonical(pair.left), canonical(pair.right)


def free_names(pair: Pair) -> dict[str, list[str]]:
    """Return, for each side, the names that were meant as variables and that nothing binds."""
    if isinstance(pair, RegexPair):
        return {"left": [], "right": []}
    return {"left": list(fo.open_names([pair.left])), "right": list(fo.open_names([pair.right]))}


def is_left(pair: Pair, text: str) -> bool:
    """Say whether a text is the left side, up to groups of one operator within each other; raises `FormulaError`."""
    if isinstance(pair, RegexPair):
        return read_regex(text, pair.alphabet) == pair.left
    return fo.flattened(read_formula(text, pair.language).formula) == fo.flattened(pair.left)


MAX_CHARACTERS = 100_000
_FAMILY = re.compile(r"autoeval(?:-[a-z0-9]+)*")
"""Data sets that ask whether two expressions mean the same."""
_KEYS = {"language", "left", "right"}


def equivalence_certificate(problem: Problem, pair: Pair, claim: str, proved: Equivalent) -> Certificate:
    """Return the certificate, digest included; where the problem names its formula, the left side is that."""
    language, (left, right) = language_of(pair).value, texts(pair)
    evidence = {
        "language": language,
        "left": left,
        "right": right,
        "free": free_names(pair),
        "reference": "none" if problem.formal is None else "given",
        "method": proved.method,
        "detail": dict(proved.detail),
    }
    repairs = () if isinstance(pair, RegexPair) else pair.repairs
    return certify(KINDS[language], problem, claim, evidence, engine=ENGINE, formal=problem.formal, repairs=repairs)


def language_of(pair: Pair) -> Language:
    """Return the language in which both sides are written."""
    return Language.REGEX if isinstance(pair, RegexPair) else pair.language


def judge_equivalence(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one attempt; bounded by the budgets of the solvers, six seconds at worst."""
    alphabet = problem.meta.get("alphabet", ALPHABET)
    if not is_alphabet(alphabet):
        return CriticError("no_reference", None, "meta.alphabet must be a text of different digits")
    try:
        pair = read_attempt_pair(attempt.completion, alphabet)
    except fo.FormulaError as error:
        return Malformed(error.reason, None, brief(str(error)))
    if not asks_equivalence(problem.dataset, problem.formal, problem.meta.get("language")):
        # Attack: answer `true` to any problem by the equivalence of a formula with itself.
        return Unproved("other_task", None, "the problem does not ask whether two expressions mean the same")
    try:
        strays = problem.formal is not None and (
            not is_of_language(pair, problem.meta.get("language")) or not is_left(pair, problem.formal.goal)
        )
    except fo.FormulaError as error:
        return CriticError("no_reference", None, brief(f"the problem's own formula cannot be read: {error}"))
    if strays:
        return Unproved("goal_mismatch", None, "the left side is not the problem's formula")
    return _judged(problem, pair)


def read_attempt_pair(completion: str, alphabet: str) -> Pair:
    """Read a completion; raises `FormulaError`."""
    if len(completion) > MAX_CHARACTERS:
        raise fo.FormulaError("too_long", f"more than {MAX_CHARACTERS} characters")
    try:
        read, _ = json_object(completion)
    except ValueError as error:
        raise fo.FormulaError("json", f"the completion is not one JSON object: {error}") from error
    if not is_object(read) or read.keys() != _KEYS or not all(isinstance(value, str) for value in read.values()):
        raise fo.FormulaError("json", 'an object {"language", "left", "right"} of texts is needed')
    languages = {language.value: language for language in Language}
    if read["language"] not in languages:
        raise fo.FormulaError("language", f"language must be one of {', '.join(languages)}")
    return read_pair(languages[read["language"]], read["left"], read["right"], alphabet)


def asks_equivalence(dataset: str, formal: Formal | None, language: object) -> bool:
    """Say whether a problem asks whether two expressions mean the same: its data set does, or it names a formula.

    One of your own names it as `formal.goal`, without axioms, and its language as `meta.language`.
    """
    if formal is not None and formal.axioms:
        return False
    names_formula = formal is not None and language in [own.value for own in Language]
    return _FAMILY.fullmatch(dataset) is not None or (names_formula and dataset not in SEMANTICS)


def is_of_language(pair: Pair, language: object) -> bool:
    """Say whether a pair is in a language that a problem names; 3-CNF formulas are propositional."""
    own = language_of(pair)
    names = {own.value}
    if own in (Language.PROPOSITIONAL, Language.THREE_CNF):
        names = {Language.PROPOSITIONAL.value, Language.THREE_CNF.value}
    return language is None or language in names


def _judged(problem: Problem, pair: Pair) -> Verdict:
    match decide(pair):
        case UndecidedPair():
            return TimedOut("solver_budget", None, "whether both mean the same could not be decided within the budget")
        case Different(witness, left_holds):
            shown = json.dumps(dict(witness), ensure_ascii=False, sort_keys=True)
            holding = "left" if left_holds else "right"
            feedback = f"they differ: only the {holding} one holds for {shown}"
            return Refuted("different", in_terms_of("false", problem.options), feedback)
        case Equivalent() as proved:
            return _certified(problem, pair, proved)


def _certified(problem: Problem, pair: Pair, proved: Equivalent) -> Verdict:
    answer = in_terms_of("true", problem.options)
    if answer is None:
        return Unproved("no_option", None, "no option, or more than one, says true")
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    source = "none" if problem.formal is None else "given"
    contingent = True if problem.formal is None else is_contingent(pair)
    if contingent is None:
        return TimedOut("solver_budget", answer, "whether the problem's formula says anything could not be decided")
    if not contingent:
        # Attack: of a formula that says nothing, any tautology is a description.
        return Vacuous("constant_formula", answer, "the problem's formula holds always or never")
    if text_contradicts(problem, answer, source):
        return Unproved("text_says_otherwise", answer, "the problem's text asks something else")
    return Certified(answer, equivalence_certificate(problem, pair, answer, proved))
