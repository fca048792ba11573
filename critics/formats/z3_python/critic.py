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
from dataclasses import dataclass
from typing import TypeVar

from critics.formats.z3_python.decision import (
    MAX_CONFLICTS,
    RLIMIT,
    Argument,
    Examined,
    answer_of,
    argument_of,
    decided,
    question_sets,
    refuse_closed_world,
    refuse_groundless,
    solve,
    value_of,
)
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
from critics.problem import Attempt, Problem
from critics.replay.first_order import syntax
from critics.replay.first_order.reader import FolTheory, read_theory
from critics.replay.formula import FormulaError
from critics.replay.scripts import Mode, Term, conjuncts, needed, negated, opened, script, symbols, written
from critics.text.question import read_question
from critics.text.reference import ReferenceMismatch, holds_in_semantics, reference
from critics.verdict import Certified, CriticError, Malformed, TimedOut, Unproved, Verdict
from critics.verdict.certificate import Reference, certify, source_name
from critics.verdict.conclusion import Refusal, brief, is_wrong, no_reference, refused, wrong_answer

MAX_COMPARED = 120
"""Pairs of a premise and a statement that a solver compares."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+")
_Key = TypeVar("_Key")
_FILLERS = frozenset({"is", "are", "a", "an", "the", "be", "being"})
_CONNECTIVES = {
    syntax.Operator.AND: "and", syntax.Operator.OR: "or", syntax.Operator.XOR: "xor", syntax.Operator.IMPLIES: "=>",
    syntax.Operator.IFF: "=",
}  # fmt: skip


def refuse_other_theory(found: Examined, known: Reference) -> None:
    """Raise `Refusal` where the script says what the reference does not, asks else, or leaves out too much."""
    try:
        theory = read_theory(known.formal)
    except FormulaError as error:
        raise Refusal(Unproved, "no_reference", "the problem's own formalisation cannot be read") from error
    if found.argument.mode != "truth":
        raise Refusal(Unproved, "goal_mismatch", "the problem asks whether one statement is true")
    matched = _matched(found, theory)
    axioms = [matched.formula(axiom) for axiom in theory.axioms]
    goal = matched.formula(theory.goal)
    premises = [matched.own(premise) for premise in found.argument.premises]
    (statement,) = map(matched.own, found.argument.statements)
    questions = _Questions(matched.declarations)
    _refuse_unstated(premises, axioms, questions)
    if statement != goal and not questions.unsatisfiable([[("xor", statement, goal)]])[0]:
        raise Refusal(Unproved, "goal_mismatch", "the statement is not what the problem asks")
    fails, holds = questions.unsatisfiable([[*axioms, goal], [*axioms, negated(goal)]])
    if (holds, fails) != (found.value == "true", found.value == "false"):
        raise Refusal(Unproved, "premises_missing", "what is left out, or taken for granted, decides the statement")


def _refuse_unstated(premises: Sequence[Term], axioms: Sequence[Term], questions: "_Questions") -> None:
    stated = {part for axiom in axioms for part in conjuncts(axiom)} | {"true"}
    parts = [p for premise in premises for p in conjuncts(premise) if p not in stated]
    pairs = [(part, axiom) for part in parts for axiom in axioms if symbols(part) <= symbols(axiom)]
    if len(pairs) > MAX_COMPARED:
        raise Refusal(TimedOut, "too_large", "too many premises are in other words than the problem's")
    follows = questions.unsatisfiable([[axiom, negated(part)] for part, axiom in pairs])
    entailed = {part for (part, _), holds in zip(pairs, follows, strict=True) if holds}
    for part in parts:
        if part not in entailed and not questions.unsatisfiable([[negated(part)]])[0]:
            # Attack: write the answer, or what nobody said, as a premise.
            raise Refusal(Unproved, "axiom_not_in_context", "a premise is not what any one statement says")


@dataclass(frozen=True, slots=True)
class _Questions:
    declarations: Sequence[Term]

    def unsatisfiable(self, sets: Sequence[Sequence[Term]]) -> list[bool]:
        """Say of each set whether it has no model; raises `Refusal` where the solver cannot tell."""
        results = solve([script(self.declarations, formulas) for formulas in sets]) if sets else []
        if "unknown" in results:
            raise Refusal(TimedOut, "solver_limit", "the solver cannot compare the script with the problem")
        return [result == "unsat" for result in results]


@dataclass(frozen=True, slots=True)
class _Matched:
    """The reference's symbols as the script's, and the declarations of both, with no sort closed."""

    declarations: tuple[Term, ...]
    predicates: Mapping[tuple[str, int], str]
    constants: Mapping[str, str]
    sort: str | None
    """The sort of objects; None where every symbol is about the one object there is."""
    markers: frozenset[str]
    """Symbols that say that the one object is itself."""

    def own(self, term: Term) -> Term:
        """Return a formula of the script's without its markers."""
        if isinstance(term, str):
            return "true" if term in self.markers else term
        return _simplified(tuple(map(self.own, term)))

    def formula(self, formula: syntax.Formula, bound: tuple[str, ...] = ()) -> Term:
        """Return a formula of the reference's in the dialect; raises `Refusal` for what cannot be said in it."""
        match formula:
            case syntax.Atom(predicate, arguments):
                symbol = self.predicates[predicate, len(arguments)]
                if self.sort is None or not arguments:
                    return symbol
                return (symbol, *(self._argument(argument, bound) for argument in arguments))
            case syntax.Not(body):
                return negated(self.formula(body, bound))
            case syntax.Compound(operator, operands):
                return (_CONNECTIVES[operator], *(self.formula(operand, bound) for operand in operands))
            case syntax.Quantified(quantifier, variable, body):
                return self._quantified(quantifier, variable, body, bound)
            case syntax.Equality():
                raise _other_vocabulary()

    def _quantified(
        self, quantifier: syntax.Quantifier, variable: str, body: syntax.Formula, bound: tuple[str, ...]
    ) -> Term:
        inner = self.formula(body, (*bound, variable))
        if self.sort is None:
            if quantifier is syntax.Quantifier.SOME:
                raise _other_vocabulary()
            return inner
        word = "forall" if quantifier is syntax.Quantifier.ALL else "exists"
        name = (f"x{len(bound)}", self.sort)
        if isinstance(inner, tuple) and inner[0] == word and isinstance(inner[1], tuple):
            return (word, (name, *inner[1]), inner[2])
        return (word, (name,), inner)

    def _argument(self, term: syntax.Term, bound: tuple[str, ...]) -> Term:
        match term:
            case syntax.Variable(name):
                return f"x{len(bound) - 1 - bound[::-1].index(name)}"
            case syntax.Constant(name):
                return self.constants[name]
            case syntax.Application():
                raise _other_vocabulary()


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


def _matched(found: Examined, theory: FolTheory) -> _Matched:
    used = {s for f in (*found.argument.premises, *found.argument.statements) for s in symbols(f)}
    mine = [d for d in opened(found.report.declarations) if d[0] == "declare-sort" or d[1] in used]
    reference = syntax.signature([*theory.axioms, theory.goal])
    if reference.functions:
        raise _other_vocabulary()
    functions = {str(d[1]): (d[2], d[3]) for d in mine if d[0] == "declare-fun"}
    names = {symbol: found.report.names[symbol] for symbol in functions}
    sorts = {str(a) for arguments, result in functions.values() for a in (*arguments, result)} - {"Bool"}
    if any(result != "Bool" and arguments for arguments, result in functions.values()) or len(sorts) > 1:
        raise _other_vocabulary()
    wanted = {(name, 0) for name in reference.propositions} | set(reference.predicates.items())
    if sorts:
        return _matched_objects(mine, functions, names, sorts.pop(), wanted, reference.constants)
    if len(reference.constants) > 1 or any(arity > 1 for _, arity in wanted):
        raise _other_vocabulary()
    return _matched_propositions(mine, names, wanted, next(iter(reference.constants), ""))


def _matched_objects(
    mine: Sequence[tuple[Term, ...]],
    functions: Mapping[str, tuple[Term, Term]],
    names: Mapping[str, str],
    sort: str,
    wanted: set[tuple[str, int]],
    constants: frozenset[str],
) -> _Matched:
    """Match functions with predicates and constants with objects, one to one; what the script lacks is added."""
    predicates = {s: len(arguments) for s, (arguments, result) in functions.items() if result == "Bool"}
    by_key = {(_key(name), arity): (name, arity) for name, arity in wanted}
    found = {s: by_key.get((_key(names[s]), arity)) for s, arity in predicates.items()}
    objects = {_key(name): name for name in constants}
    placed = {s: objects.get(_key(names[s])) for s in functions if s not in predicates}
    chosen, named = _inverse(found), _inverse(placed)
    extra: list[Term] = []
    for number, symbol in enumerate([*sorted(wanted - set(chosen)), *sorted(constants - set(named))]):
        ours = f"c{90000 + number}"
        if isinstance(symbol, tuple):
            chosen[symbol] = ours
            extra.append(("declare-fun", ours, (sort,) * symbol[1], "Bool"))
        else:
            named[symbol] = ours
            extra.append(("declare-fun", ours, (), sort))
    return _Matched((*mine, *extra), chosen, named, sort, frozenset())


def _matched_propositions(
    mine: Sequence[tuple[Term, ...]], names: Mapping[str, str], wanted: set[tuple[str, int]], thing: str
) -> _Matched:
    """Match Bools with predicates of the one object; its name may stand in theirs, and alone it is a marker."""
    by_key = {_key(name): (name, arity) for name, arity in wanted}
    markers = frozenset(s for s, name in names.items() if _key(name) == _key(thing) and _key(name) not in by_key)
    found = {s: _predicate(name, thing, by_key) for s, name in names.items() if s not in markers}
    chosen = _inverse(found)
    extra: list[Term] = []
    for number, symbol in enumerate(sorted(wanted - set(chosen))):
        chosen[symbol] = f"c{90000 + number}"
        extra.append(("declare-fun", chosen[symbol], (), "Bool"))
    return _Matched((*mine, *extra), chosen, {}, None, markers)


def _predicate(name: str, thing: str, by_key: Mapping[tuple[str, ...], tuple[str, int]]) -> tuple[str, int] | None:
    words = _key(name)
    without = tuple(word for word in words if word not in _key(thing))
    return by_key.get(words) or by_key.get(without)


def _inverse(found: Mapping[str, _Key | None]) -> dict[_Key, str]:
    """Return the script's symbol for each of the reference's; raises `Refusal` where one has none, or two have one."""
    inverse = {theirs: ours for ours, theirs in found.items() if theirs is not None}
    if len(inverse) != len(found):
        raise _other_vocabulary()
    return inverse


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


def examined(report: ScriptRuns, wording: Wording) -> Examined:
    """Decide a report's argument; raises `Refusal`."""
    argument = argument_of(report, wording)
    results = decided(argument, report.declarations)
    value = value_of(argument, results)
    refuse_closed_world(argument, report.declarations, results)
    return Examined(report, argument, results, value)


KIND = "z3-script"
ENGINE = "certistar-z3-script/1"


@dataclass(frozen=True, slots=True)
class ScriptEvidence:
    """A script, and what its examination leaves behind."""

    completion: str
    reference: str
    examined: Examined

    def record(self) -> dict[str, object]:
        """Return the JSON form; the same for the same script, problem and version of Z3."""
        argument, report = self.examined.argument, self.examined.report
        sets = question_sets(argument)
        declarations = needed(report.declarations, [formula for formulas in sets for formula in formulas])
        used = {token for declaration in map(written, declarations) for token in report.names if token in declaration}
        return {
            "program": self.completion,
            "reference": self.reference,
            "names": {ours: theirs for ours, theirs in sorted(report.names.items()) if ours in used},
            "declarations": list(map(written, declarations)),
            "mode": argument.mode,
            "premises": list(map(written, argument.premises)),
            "statements": list(map(written, argument.statements)),
            "value": self.examined.value,
            "checks": [
                {"script": script(report.declarations, formulas), "result": self.examined.results[formulas]}
                for formulas in sets
            ],
        }


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
    answer = answer_of(report, written)
    if is_wrong(answer, problem):
        return wrong_answer(answer)
    try:
        found = examined(report, written)
        if known is None:
            refuse_groundless(found.argument, found.value)
        if answer != answer_for(found.value, written):
            # Attack: print true because premises and statement can hold together.
            raise Refusal(Unproved, "not_entailed", f"what follows is {found.value}, and not what the script prints")
        if found.argument.mode != "truth" and read_question(problem.question) is None:
            raise Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(problem.question)}")
        if asks_otherwise(problem.question, found.argument, problem.options):
            raise Refusal(Unproved, "goal_mismatch", "the options' checks do not ask what the question asks")
        if known is not None:
            refuse_other_theory(found, known)
            if not holds_in_semantics(problem, known, found.value):
                raise Refusal(
                    Unproved, "other_semantics", "the data set's rules run forwards, which does not lead there"
                )
        if text_says_otherwise(problem, written, source_name(known), answer):
            raise Refusal(Unproved, "text_says_otherwise", "the formulas answer something else than the text asks")
    except Refusal as refusal:
        return refused(refusal, problem, answer)
    assert answer is not None
    certificate = certify(
        KIND,
        problem,
        answer,
        ScriptEvidence(completion, source_name(known), found),
        engine=ENGINE,
        formal=None if known is None else known.formal,
        limits={"rlimit": RLIMIT, "conflicts": MAX_CONFLICTS},
    )
    return Certified(answer, certificate)


def answer_for(value: str, written: Wording) -> str | None:
    """Return an examination's value in the problem's terms."""
    return value if written.truths is None else written.truths.get(value)


_NEGATIVE = re.compile(r"\b(?:not|no|never|neither|nor|none|cannot|nobody|nothing|without|un\w+)\b|n't", re.IGNORECASE)


def asks_otherwise(question: str, argument: Argument, options: Sequence[str] | None) -> bool:
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
