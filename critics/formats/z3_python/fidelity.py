"""Fidelity of a script to the reference: names matched, every premise stated, and the question asked.

Two encodings are understood. A predicate may be a function from one sort to Bool; or, where the reference speaks of
one object alone, a Bool (`wumpus`, `polly_is_small`), and then the object's own Bool (`polly`) says nothing. Premises
must each follow from one statement of the reference, because from all of them the answer does as well.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from critics.formats.z3_python.decision import Examined, solve
from critics.grammar.inflection import is_plural, singular
from critics.logic.first_order.theory import FolTheory, read_theory
from critics.replay.first_order import syntax
from critics.replay.formula import FormulaError
from critics.replay.scripts import Term, conjuncts, negated, opened, script, symbols
from critics.verdict import TimedOut, Unproved
from critics.verdict.certificate import Reference
from critics.verdict.conclusion import Refusal

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
