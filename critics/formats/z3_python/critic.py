"""The critic of `z3-python` attempts: a script that prints its answer, and that this answer follows from its premises.

The script is run in the jail, and what it printed is only what it claims. Premises and statement are read off the log
of its solver calls and decided again elsewhere; the answer is certified where both agree. Satisfiable is not entailed:
the published template prints `A` where premises and statement can hold together, which a statement that nothing is
known about does as well (Deng et al., appendix A).

Of the reference two encodings are understood. A predicate may be a function from one sort to Bool; or, where the
reference speaks of one object alone, a Bool (`wumpus`, `polly_is_small`), and then the object's own Bool (`polly`) says
nothing. Premises must each follow from one statement of the reference, because from all of them the answer does as
well.
"""

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

from critics.formats.z3_python import decision
from critics.formats.z3_python.exploration import explore, script_of
from critics.formats.z3_python.jail import UNLIMITED, JailAnswer, JailDied, Overran, run_jailed
from critics.formats.z3_python.report import (
    JailBroken,
    ScriptRuns,
    Wording,
    answer_of_text,
    read_report,
    wording,
)
from critics.formats.z3_python.values import ScriptError
from critics.grammar.inflection import is_plural, singular
from critics.logic.first_order import solvers
from critics.logic.first_order.comparison import refuse_other_theory
from critics.problem import Attempt, Problem
from critics.replay.first_order import syntax as fo
from critics.replay.first_order.reader import FolTheory, read_theory
from critics.replay.formula import FormulaError
from critics.replay.scripts import Mode, Term, needed, negated, opened, script, symbols, written
from critics.text.question import read_question
from critics.text.reference import ReferenceMismatch, holds_in_semantics, reference
from critics.verdict import Certified, CriticError, Malformed, TimedOut, Unproved, Verdict
from critics.verdict.certificate import Certificate, Reference, certify, source_name
from critics.verdict.conclusion import Refusal, brief, is_wrong, no_reference, refused, wrong_answer

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_Known = TypeVar("_Known")
_FILLERS = frozenset({"is", "are", "a", "an", "the", "be", "being"})
_CONNECTIVES = {
    "and": fo.Operator.AND, "or": fo.Operator.OR, "xor": fo.Operator.XOR, "=>": fo.Operator.IMPLIES,
    "=": fo.Operator.IFF,
}  # fmt: skip
_QUANTIFIERS = {"forall": fo.Quantifier.ALL, "exists": fo.Quantifier.SOME}


def refuse_other_premises(found: decision.Examined, known: Reference) -> None:
    """Raise `Refusal` where the script says what the reference does not, asks else, or leaves out too much."""
    try:
        theory = read_theory(known.formal)
    except FormulaError as error:
        raise Refusal(Unproved, "no_reference", "the problem's own formalisation cannot be read") from error
    if found.argument.mode != "truth":
        raise Refusal(Unproved, "goal_mismatch", "the problem asks whether one statement is true")
    matched = _matched(found, theory)
    if matched.sort is None:
        theory = replace(theory, axioms=tuple(map(_of_one, theory.axioms)), goal=_of_one(theory.goal))
    premises = [matched.formula(said) for each in found.argument.premises if (said := matched.own(each)) != "true"]
    (statement,) = map(matched.own, found.argument.statements)
    refuse_other_theory(premises, matched.formula(statement), theory, found.value)
    if solvers.decided(theory.axioms, theory.goal).result != found.value:
        raise Refusal(Unproved, "premises_missing", "what is left out, or taken for granted, decides the statement")


def _of_one(formula: fo.Formula) -> fo.Formula:
    """Return what a formula says of the one object there is, with a proposition for each predicate."""
    match formula:
        case fo.Atom(predicate):
            return fo.Atom(predicate)
        case fo.Quantified(fo.Quantifier.ALL, _, body):
            return _of_one(body)
        case fo.Quantified() | fo.Equality():
            raise _other_vocabulary()
        case _:
            return fo.rebuilt(formula, _of_one)


@dataclass(frozen=True, slots=True)
class _Matched:
    """The script's symbols as the reference's."""

    predicates: Mapping[str, tuple[str, int]]
    constants: Mapping[str, str]
    sort: str | None
    """The sort of objects; None where every symbol is about the one object there is."""
    markers: frozenset[str] = frozenset()
    """Symbols that say that the one object is itself."""

    def own(self, term: Term) -> Term:
        """Return a formula of the script's without its markers."""
        if isinstance(term, str):
            return "true" if term in self.markers else term
        return _simplified(tuple(map(self.own, term)))

    def formula(self, term: Term, bound: frozenset[str] = frozenset()) -> fo.Formula:
        """Return a formula of the script's in the reference's symbols; raises `Refusal` where it is in others."""
        match term:
            case ("not", inner):
                return fo.Not(self.formula(inner, bound))
            case ("and" | "or", only):
                return self.formula(only, bound)
            case ("=", one, _) if isinstance(one, str) and one in bound | self.constants.keys():
                left, right = self._objects(term[1:], bound)
                return fo.Equality(left, right)
            case ("and" | "or" | "xor" | "=>" | "=" as word, *parts):
                return fo.Compound(_CONNECTIVES[word], tuple(self.formula(part, bound) for part in parts))
            case ("ite", test, one, other):
                cases = (("=>", test, one), ("=>", ("not", test), other))
                return self.formula(("and", *cases), bound)
            case ("forall" | "exists" as word, ((str(name), self.sort), *others), body):
                inner: Term = (word, tuple(others), body) if others else body
                return fo.Quantified(_QUANTIFIERS[word], name, self.formula(inner, bound | {name}))
            case ("distinct", *parts):
                pairs = tuple(negated(("=", *pair)) for pair in combinations(parts, 2))
                return self.formula(("and", *pairs), bound)
            case str(symbol) | (str(symbol), *_) if symbol in self.predicates:
                arguments = () if isinstance(term, str) else term[1:]
                return fo.Atom(self.predicates[symbol][0], self._objects(arguments, bound))
            case _:
                raise _other_vocabulary()

    def _objects(self, terms: Sequence[Term], bound: frozenset[str]) -> tuple[fo.Term, ...]:
        found: list[fo.Term] = []
        for term in terms:
            if not isinstance(term, str) or term not in bound | self.constants.keys():
                raise _other_vocabulary()
            found.append(fo.Variable(term) if term in bound else fo.Constant(self.constants[term]))
        return tuple(found)


def _simplified(term: tuple[Term, ...]) -> Term:
    """Return a formula without `true` where it says nothing."""
    match term:
        case ("=>", "true", right):
            return right
        case ("and", *parts):
            left = [part for part in parts if part != "true"]
            return ("and", *left) if len(left) > 1 else left[0] if left else "true"
        case _:
            return term


def _matched(found: decision.Examined, theory: FolTheory) -> _Matched:
    used = {s for f in (*found.argument.premises, *found.argument.statements) for s in symbols(f)}
    reference = fo.signature([*theory.axioms, theory.goal])
    if reference.functions:
        raise _other_vocabulary()
    functions = {str(d[1]): (d[2], d[3]) for d in opened(found.report.declarations) if d[1] in used}
    names = {symbol: found.report.names[symbol] for symbol in functions}
    sorts = {str(a) for arguments, result in functions.values() for a in (*arguments, result)} - {"Bool"}
    if any(result != "Bool" and arguments for arguments, result in functions.values()) or len(sorts) > 1:
        raise _other_vocabulary()
    wanted = sorted({(name, 0) for name in reference.propositions} | set(reference.predicates.items()))
    if sorts:
        # Match functions with predicates and constants with objects, one to one.
        by_arity = {(_key(name), arity): (name, arity) for name, arity in wanted}
        objects = {_key(name): name for name in reference.constants}
        arities = {symbol: len(arguments) for symbol, (arguments, result) in functions.items() if result == "Bool"}
        predicates = {symbol: by_arity.get((_key(names[symbol]), arity)) for symbol, arity in arities.items()}
        constants = {symbol: objects.get(_key(names[symbol])) for symbol in functions if symbol not in arities}
        return _Matched(_one_to_one(predicates), _one_to_one(constants), sorts.pop())
    if len(reference.constants) > 1 or any(arity > 1 for _, arity in wanted):
        raise _other_vocabulary()
    # Match Bools with predicates of the one object; its name may stand in theirs, and alone it is a marker.
    thing, by_key = _key(next(iter(reference.constants), "")), {_key(name): (name, arity) for name, arity in wanted}
    markers = frozenset(symbol for symbol, name in names.items() if _key(name) == thing and thing not in by_key)
    found_ = {
        symbol: by_key.get(_key(name)) or by_key.get(tuple(word for word in _key(name) if word not in thing))
        for symbol, name in names.items()
        if symbol not in markers
    }
    return _Matched(_one_to_one(found_), {}, None, markers)


def _one_to_one(found: Mapping[str, _Known | None]) -> dict[str, _Known]:
    """Return the reference's symbol for each of the script's; raises `Refusal` where one has none, or two have one."""
    matched = {ours: theirs for ours, theirs in found.items() if theirs is not None}
    if len(set(matched.values())) != len(found):
        raise _other_vocabulary()
    return matched


def _other_vocabulary() -> Refusal:
    return Refusal(Unproved, "other_vocabulary", "the script's symbols are not those of the problem's formalisation")


def _key(name: str) -> tuple[str, ...]:
    """Return a name's words: lower case, singular, without `is` and articles; `Is_Bald_Eagle` is `bald eagle`."""
    words = [word.lower() for word in _WORD.findall(_HUMP.sub(" ", name))]
    kept = [word for word in words if word not in _FILLERS] or words
    return tuple(singular(word).lower() if is_plural(word) else word for word in kept)


LIMIT_S = 4.0
"""For all runs of a script; natural ones take 20 to 200 milliseconds."""


def report_of(completion: str, wording: Wording) -> ScriptRuns:
    """Run a completion's script in the jail; raises `Refusal` and `JailBroken`."""
    options = wording.truths is None
    importlib.import_module("z3")  # before the fork: nothing can be imported in the jail
    try:
        text = script_of(completion)
        ended = run_jailed(lambda: explore(text, options=options), limit_s=LIMIT_S)
        if isinstance(ended, JailAnswer):
            return read_report(ended.answer)
    except ScriptError as error:
        raise Refusal(Malformed, error.reason, error.told()) from error
    match ended:
        case Overran():
            raise Refusal(TimedOut, "time_limit", f"the script takes longer than {LIMIT_S:g} seconds")
        case JailDied(status) if status == UNLIMITED:
            raise JailBroken("the script's process could not be limited; judge scripts on Linux")
        case JailDied():
            # Attack: bring the solver down, so that no verdict is left.
            raise Refusal(Malformed, "crashed", "the script takes too much memory, or brings the solver down")


def examined(report: ScriptRuns, wording: Wording) -> decision.Examined:
    """Decide a report's argument; raises `Refusal`."""
    argument = decision.argument_of(report, wording)
    results = decision.decided(argument, report.declarations)
    value = decision.value_of(argument, results)
    decision.refuse_closed_world(argument, report.declarations, results)
    return decision.Examined(report, argument, results, value)


KIND = "z3-script"
ENGINE = "certistar-z3-script/1"


def _certificate(
    problem: Problem, completion: str, known: Reference | None, found: decision.Examined, answer: str
) -> Certificate:
    """Return the certificate; its evidence is the same for the same script, problem and version of Z3."""
    argument, report = found.argument, found.report
    sets = decision.question_sets(argument)
    declarations = needed(report.declarations, [formula for formulas in sets for formula in formulas])
    used = {token for declaration in map(written, declarations) for token in report.names if token in declaration}
    evidence = {
        "program": completion,
        "reference": source_name(known),
        "names": {ours: theirs for ours, theirs in sorted(report.names.items()) if ours in used},
        "declarations": list(map(written, declarations)),
        "mode": argument.mode,
        "premises": list(map(written, argument.premises)),
        "statements": list(map(written, argument.statements)),
        "value": found.value,
        "checks": [
            {"script": script(report.declarations, formulas), "result": found.results[formulas]} for formulas in sets
        ],
    }
    formal, limits = (
        None if known is None else known.formal,
        {"rlimit": decision.RLIMIT, "conflicts": decision.MAX_CONFLICTS},
    )
    return certify(KIND, problem, answer, evidence, engine=ENGINE, formal=formal, limits=limits)


_ASKED: dict[str, Mode] = {
    "must": "unsat", "cannot": "unsat", "list": "unsat", "could": "sat", "could_be_false": "sat",
}  # fmt: skip
"""The result of an option's check that lets it hold, by what the question asks of it."""


_NEGATED: dict[str, bool] = {"must": True, "could_be_false": True, "could": False, "cannot": False}
"""True where an option's check tests the negation of what the option says, by what the question asks of it."""


def judge_script(problem: Problem, attempt: Attempt) -> Verdict:
    """Judge one script; where its process cannot be limited, the verdict is `error`, and nothing is run."""
    written = wording(problem.options)
    try:
        known = reference(problem)
    except (ReferenceMismatch, FormulaError) as error:
        return no_reference(error)
    try:
        report = report_of(attempt.completion, written)
        return _judged(problem, attempt.completion, known, written, report)
    except Refusal as refusal:
        return refused(refusal, problem, None)
    except JailBroken as error:
        return CriticError("jail_broken", None, brief(str(error)))


def _judged(
    problem: Problem, completion: str, known: Reference | None, written: Wording, report: ScriptRuns
) -> Verdict:
    answer = decision.answer_of(report, written)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    try:
        found = examined(report, written)
        if known is None:
            decision.refuse_groundless(found.argument, found.value)
        if answer != answer_for(found.value, written):
            # Attack: print true because premises and statement can hold together.
            raise Refusal(Unproved, "not_entailed", f"what follows is {found.value}, and not what the script prints")
        if found.argument.mode != "truth" and read_question(problem.question) is None:
            raise Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(problem.question)}")
        if asks_otherwise(problem.question, found.argument, problem.options):
            raise Refusal(Unproved, "goal_mismatch", "the options' checks do not ask what the question asks")
        if known is not None:
            refuse_other_premises(found, known)
            if not holds_in_semantics(problem, known, found.value):
                raise Refusal(
                    Unproved, "other_semantics", "the data set's rules run forwards, which does not lead there"
                )
        if text_says_otherwise(problem, written, source_name(known), answer):
            raise Refusal(Unproved, "text_says_otherwise", "the formulas answer something else than the text asks")
    except Refusal as refusal:
        return refused(refusal, problem, answer)
    assert answer is not None
    return Certified(answer, _certificate(problem, completion, known, found, answer))


def answer_for(value: str, written: Wording) -> str | None:
    """Return an examination's value in the problem's terms."""
    return value if written.truths is None else written.truths.get(value)


_NEGATIVE = re.compile(r"\b(?:not|no|never|neither|nor|none|cannot|nobody|nothing|without|un\w+)\b|n't", re.IGNORECASE)


def asks_otherwise(question: str, argument: decision.Argument, options: Sequence[str] | None) -> bool:
    """Say whether the options' checks ask what must be where the question asks what could be, or the other way.

    To say that an option must hold, or could fail, is to test its negation; where no option denies anything, the tests
    have to be negations, or none of them all.
    """
    asked = read_question(question)
    if argument.mode == "truth" or asked in (None, "unsaid"):
        return False
    if asked != "fact" and _ASKED.get(asked) != argument.mode:
        return True
    if argument.mode == "unsat" and asked == "fact":
        asked = "must"
    # Attack: test what each option says where its negation is to be tested, so that what is impossible is the answer.
    denied = [isinstance(tested, tuple) and tested[0] in ("not", "distinct") for tested in argument.statements]
    if asked not in _NEGATED or any(map(_NEGATIVE.search, options or ())):
        return False
    return all(denied) if not _NEGATED[asked] else not any(denied)


def text_says_otherwise(problem: Problem, written: Wording, source: str, answer: str | None) -> bool:
    """Say whether the text, where it is in a language that can be read, answers something else.

    Of a problem that brings a reference (`source`), the text may leave open what the reference decides.
    """
    said = answer_of_text(problem, written)
    if said is None or said == answer:
        return False
    is_open = written.truths is not None and said == written.truths.get("unknown", "none")
    return not is_open or source != "given"
