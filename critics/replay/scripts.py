"""Replay of `z3-script` certificates: the questions are those of premises and statements, and give the value.

The questions are built anew from the evidence's formulas, their results make the value by rules of this module, and
cvc5 decides every one. That the script says these formulas is for `critics.recheck.rejudging`, which runs
it again.

Formulas leave the jail in a small part of SMT-LIB 2, for which the strict reader is here. Names are ours and numbered
(`c0` symbols, `e0` members, `S0` sorts, `x0` bound variables), so no text of a script is ever a solver's syntax. A
token that is not listed (`set-option`, `echo`, a string) is refused, and so is a declaration of another form.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from critics.replay import smtlib
from critics.replay.answers import in_terms_of
from critics.replay.certificate import Rejected, SealedCertificate, are_texts, of_kinds
from critics.replay.solvers import Budget, Trust, decide, weakest

Term: TypeAlias = "str | tuple[Term, ...]"
"""A token, or what stands between two brackets."""
OPERATORS = frozenset({
    "true", "false", "and", "or", "not", "=>", "xor", "=", "distinct", "ite", "forall", "exists", "+", "-", "*", "/",
    "div", "mod", "abs", "<=", "<", ">=", ">", "to_real", "to_int", "is_int",
})  # fmt: skip
SORTS = frozenset({"Bool", "Int", "Real"})
MAX_CHARACTERS = 400_000
"""Characters of one run's declarations and formulas."""
MAX_DEPTH = 150
_SYMBOL = re.compile(r"[ce]\d{1,5}")
_SORT = re.compile(r"S\d{1,5}")
_BOUND = re.compile(r"x\d{1,3}")
_NUMERAL = re.compile(r"\d{1,400}(?:\.0)?")
_TOKEN = re.compile(r"[()]|[^\s()]+")


class DialectError(ValueError):
    """The text is not in the dialect."""


def read(text: str) -> Term:
    """Read one expression, without regard to what it says; raises `DialectError`."""
    if len(text) > MAX_CHARACTERS or not text.isascii():
        raise DialectError("too long, or not ASCII")
    stack: list[list[Term]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            stack.append([])
            if len(stack) > MAX_DEPTH:
                raise DialectError("nested too deeply")
        elif token == ")":
            if len(stack) == 1:
                raise DialectError("a bracket closes nothing")
            inner = tuple(stack.pop())
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    if len(stack) != 1 or len(stack[0]) != 1:
        raise DialectError("not one expression")
    return stack[0][0]


def written(term: Term) -> str:
    """Return an expression's text."""
    return term if isinstance(term, str) else f"({' '.join(map(written, term))})"


def check_term(text: str) -> Term:
    """Read a formula; raises `DialectError` for any token that is not listed."""
    term = read(text)
    for token in tokens(term):
        known = token in OPERATORS or token in SORTS or _NUMERAL.fullmatch(token)
        if not known and not any(kind.fullmatch(token) for kind in (_SYMBOL, _SORT, _BOUND)):
            raise DialectError(f"{token[:20]!r} is no part of a formula")
    return term


def check_declaration(text: str) -> Term:
    """Read a declaration of a sort, a symbol or a finite sort with its members; raises `DialectError`."""
    match read(text):
        case ("declare-sort", str(sort), "0") as found if _SORT.fullmatch(sort):
            return found
        case ("declare-fun", str(symbol), (*arguments,), result) as found if _SYMBOL.fullmatch(symbol):
            if all(isinstance(s, str) and (s in SORTS or _SORT.fullmatch(s)) for s in (*arguments, result)):
                return found
        case ("declare-datatypes", ((str(sort), "0"),), ((*members,),)) as found if _SORT.fullmatch(sort):
            if members and all(len(m) == 1 and isinstance(m[0], str) and _SYMBOL.fullmatch(m[0]) for m in members):
                return found
        case _:
            pass
    raise DialectError("no declaration")


def tokens(term: Term) -> Iterator[str]:
    """Yield an expression's tokens in order."""
    if isinstance(term, str):
        yield term
    else:
        for part in term:
            yield from tokens(part)


def symbols(term: Term) -> set[str]:
    """Return the symbols of a formula, members included."""
    return {token for token in tokens(term) if _SYMBOL.fullmatch(token)}


def negated(term: Term) -> Term:
    """Return the negation, without a second `not`."""
    match term:
        case ("not", inner):
            return inner
        case _:
            return ("not", term)


def conjuncts(term: Term) -> list[Term]:
    """Return what a formula says at once, conjunctions and double negations taken apart."""
    match term:
        case ("and", *parts):
            return [c for part in parts for c in conjuncts(part)]
        case ("not", ("not", inner)):
            return conjuncts(inner)
        case ("not", ("or", *parts)):
            return [c for part in parts for c in conjuncts(negated(part))]
        case ("not", ("=>", left, right)):
            return [*conjuncts(left), *conjuncts(negated(right))]
        case _:
            return [term]


def needed(declarations: Sequence[Term], formulas: Sequence[Term]) -> list[Term]:
    """Return the declarations that formulas use, in their order."""
    used = {token for formula in formulas for token in tokens(formula)}
    kept: list[Term] = []
    for declaration in reversed(declarations):
        if _declared(declaration) & used:
            used |= set(tokens(declaration))
            kept.insert(0, declaration)
    return kept


def _declared(declaration: Term) -> set[str]:
    """Return the names that a declaration introduces."""
    match declaration:
        case ("declare-datatypes", ((str(sort), _),), _):
            return {sort} | symbols(declaration)
        case (_, str(name), *_):
            return {name}
        case _:
            return set()


def opened(declarations: Sequence[Term]) -> Iterator[tuple[Term, ...]]:
    """Yield declarations with every finite sort as an open one: that there is nothing else, few texts say."""
    for declaration in declarations:
        match declaration:
            case ("declare-datatypes", ((sort, _),), (members,)):
                yield ("declare-sort", sort, "0")
                for member in members:
                    yield ("declare-fun", member[0], (), sort)
            case tuple():
                yield declaration
            case _:
                pass


def members(declarations: Sequence[Term]) -> list[tuple[str, ...]]:
    """Return the members of each finite sort."""
    return [
        tuple(str(member[0]) for member in declaration[2][0])
        for declaration in declarations
        if declaration[0] == "declare-datatypes"
    ]


def script(declarations: Sequence[Term], formulas: Sequence[Term]) -> str:
    """Return a script that asks whether the formulas hold together."""
    return smtlib.script(map(written, needed(declarations, formulas)), map(written, formulas))


KIND = "z3-script"
BUDGET = Budget(cvc5_ms=5_000)
_QUANTIFIED = Budget(cvc5_ms=5_000, finite_models=True)
Mode = Literal["truth", "unsat", "sat"]
"""Question of an argument: the truth of one statement, or the option whose test alone is `unsat`, or `sat`."""
Question = tuple[Term, ...]
"""The formulas that are to hold together."""


@of_kinds(KIND)
def check_script(certificate: SealedCertificate) -> Trust:
    """Accept by returning what it rests on; raises `Rejected`."""
    evidence, problem = certificate.evidence, certificate.problem
    premises, statements, declarations = (evidence[key] for key in ("premises", "statements", "declarations"))
    if not are_texts([evidence["program"], evidence["value"], evidence["mode"]]):
        raise Rejected("ill_formed")
    for text in declarations:
        check_declaration(text)
    premises, statements = list(map(check_term, premises)), list(map(check_term, statements))
    asked = [_asked(check, declarations) for check in evidence["checks"]]
    mode = evidence["mode"]
    of_truth = mode == "truth"
    if mode not in ("truth", "sat", "unsat") or (of_truth and len(statements) != 1):
        raise Rejected("other_questions")
    wanted = questions(mode, premises, statements)
    if [question for question, _ in asked[: len(wanted)]] != wanted or (asked[len(wanted) :] and not of_truth):
        raise Rejected("other_questions")
    for question, result in asked[len(wanted) :]:
        # Other words for the statement, which must not be told apart from it.
        if len(question) != 1 or question[0][:2] != ("xor", statements[0]) or result != "unsat":
            raise Rejected("other_questions")
    value = value_of(mode, premises, statements, dict(asked))
    if value != evidence["value"]:
        raise Rejected("other_value")
    said = in_terms_of(value, problem.options) if of_truth else value
    if certificate.claim != (said or certificate.claim):
        raise Rejected("claim")
    if problem.answer not in (None, certificate.claim):
        raise Rejected("wrong_answer")
    return weakest(*[_confirm(check["script"], check["result"]) for check in evidence["checks"]])


def _asked(check: Any, declarations: list[str]) -> tuple[Question, str]:
    """Take a script apart: declarations of the evidence, then one assertion a line; and its result."""
    if check.keys() != {"script", "result"} or check["result"] not in ("sat", "unsat"):
        raise Rejected("ill_formed")
    first, *lines, last, end = check["script"].split("\n")
    if (first, last, end) != ("(set-logic ALL)", "(check-sat)", ""):
        raise Rejected("ill_formed")
    asserted = [line for line in lines if line.startswith("(assert ")]
    declared = lines[: len(lines) - len(asserted)]
    if lines != [*declared, *asserted] or declared != [line for line in declarations if line in declared]:
        raise Rejected("ill_formed")
    if any(line[-1] != ")" for line in asserted):
        raise Rejected("ill_formed")
    return tuple(check_term(line[len("(assert ") : -1]) for line in asserted), check["result"]


def questions(
    mode: Mode, premises: Sequence[Term], statements: Sequence[Term], same: Sequence[Term] = ()
) -> list[Question]:
    """Return all sets of formulas to be decided; `same` are other words for the statement."""
    alone: list[Question] = [(side,) for statement in statements for side in (statement, negated(statement))]
    if mode == "truth":
        (statement,) = statements
        beside = [(*premises, side) for side in (statement, negated(statement))]
        return [*beside, *alone, *((("xor", statement, other),) for other in same)]
    return [tuple(premises), *((*premises, tested) for tested in statements), *alone]


def value_of(mode: Mode, premises: Sequence[Term], statements: Sequence[Term], results: Mapping[Question, str]) -> str:
    """Return what follows: true, false or unknown of the statement, or the letter of the one option that holds.

    Raises `Rejected`: `inconsistent_premises`, `trivial_statement`, `no_option_holds` or `several_options_hold`.
    """
    beside = [results[*premises, statement] for statement in statements]
    if mode == "truth":
        beside.append(results[*premises, negated(statements[0])])
        consistent = "sat" in beside
    else:
        consistent = results[tuple(premises)] == "sat"
    if not consistent:
        # Attack: contradict yourself, and everything follows.
        raise Rejected("inconsistent_premises")
    if any("unsat" in (results[statement,], results[negated(statement),]) for statement in statements):
        # Attack: test `p or not p`.
        raise Rejected("trivial_statement")
    if mode == "truth":
        holds, fails = (result == "sat" for result in beside)
        return "unknown" if holds and fails else "true" if holds else "false"
    holding = [chr(ord("A") + place) for place, result in enumerate(beside) if result == mode]
    if len(holding) != 1:
        raise Rejected("several_options_hold" if holding else "no_option_holds")
    return holding[0]


def _confirm(script: str, result: str) -> Trust:
    """Raise where a solver contradicts; what none can tell rests on the run in the jail, which asks Z3."""
    quantified = "forall" in script or "exists" in script
    found, trust = decide(script, _QUANTIFIED if quantified else BUDGET)
    if found is not None and found != (result == "sat"):
        raise Rejected("second_solver_disagrees")
    return Trust.SOLVED_AGAIN if found is None else trust
