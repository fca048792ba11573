"""Seeds of the search: honest attempts in each format, at problems whose truth is computed apart.

Every problem comes without its gold answer, which would catch a wrong answer by itself. It comes in two kinds: with a
text that the critic can read, so that the formalisation is checked, and as prose that nothing reads, so that it is
trusted; there a changed formalisation may rightly change the answer.
"""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal as Choice

from critics.problem import Attempt, Formal, Problem
from critics.replay.formula import Literal, parse_literal, parse_statement
from rollout.problems import prontoqa, proofwriter
from rollout.problems.catalogue import family, item_seed
from rollout.prompts.demonstration import demonstrate
from tools.selfplay.truth import expressions_differ, formulas_differ, horn_truth, ordering_truth

Kind = Choice["checked", "trusted"]
"""checked: a text that can be read stands beside the attempt; trusted: none does.

A program for clingo is trusted even then, and yet held to what the text plainly says: a wrong answer is a finding.
"""
TRUTH_OPTIONS = ("A) True", "B) False", "C) Unknown")


@dataclass(frozen=True, slots=True)
class Seed:
    """An honest attempt, and what is true of its problem."""

    attempt: Attempt
    kind: Kind
    truth: str | None
    """In the problem's own terms; None where it depends on the attempt (`equivalence`)."""


def seeds(format_: str, seed: int, num: int) -> list[Seed]:
    """Return `num` seeds of a format, of both kinds in turn where it has both."""
    return [made for index in range(num) if (made := MAKERS[format_](format_, item_seed(format_, seed, index), index))]


def _horn(format_: str, seed: int, index: int) -> Seed | None:
    """A Horn theory in English; as prose in every third seed, except where the formalisation is the attempt's own."""
    problem = _theory(format_, seed, index)
    assert problem.formal is not None
    truth = horn_truth(problem.formal.axioms, problem.formal.goal)
    kind: Kind = "trusted" if index % 3 == 2 and format_ != "cot" else "checked"
    attempt = Attempt(f"{format_}-{index}", problem, format_, WRITERS[format_](problem, problem.formal, truth))
    blind = replace(problem, answer=None, formal=None, meta=_premises(problem) if format_ in ("fol", "asp") else {})
    if kind == "trusted":
        blind = replace(blind, dataset="someone's", context="Prose.", question="Is it so?")
    in_options = truth if blind.options is None else "ABC"[("true", "false", "unknown").index(truth)]
    return Seed(replace(attempt, problem=blind), kind, in_options)


def _premises(problem: Problem) -> dict[str, int]:
    assert problem.formal is not None
    return {"num_premises": len(problem.formal.axioms)}


def _theory(format_: str, seed: int, index: int) -> Problem:
    if index % 2 and format_ in ("guided", "rules", "fol"):
        settings = proofwriter.ProofWriter(split="train", depths=(0, 1, 2), facts=(2, 3), extra_rules=(1, 2))
        problem = proofwriter.item(settings, index, seed=seed)
        return replace(problem, options=TRUTH_OPTIONS if format_ != "guided" else None, answer=None)
    own = prontoqa.item(prontoqa.PrOntoQA(split="train", hops=(1, 2), extra_kinds=(0, 1)), index, seed=seed)
    return replace(own, answer=None)


def _guided(problem: Problem, formal: Formal, truth: str) -> str:
    return demonstrate(problem, formal)


def _free_text(problem: Problem, formal: Formal, truth: str) -> str:
    return f"It follows from what is said.\nAnswer: {truth}"


def _rules(problem: Problem, formal: Formal, truth: str) -> str:
    statements = [parse_statement(axiom) for axiom in formal.axioms]
    facts = [_logic_lm(s) for s in statements if isinstance(s, Literal)]
    rules = [
        f"{' && '.join(map(_logic_lm, s.premises))} >>> {_logic_lm(s.conclusion)}"
        for s in statements
        if not isinstance(s, Literal)
    ]
    lines = ["Facts:", *facts, "Rules:", *rules, "Query:", _logic_lm(parse_literal(formal.goal))]
    return "\n".join(lines)


def _name(word: str) -> str:
    return word.replace("-", "_").capitalize()


def _logic_lm(literal: Literal) -> str:
    terms = [f"${str(term)[1:]}" if str(term).startswith("'") else _name(str(term)) for term in literal.arguments]
    return f"{_name(literal.predicate)}({', '.join([*terms, str(literal.positive)])})"


def _first_order(problem: Problem, formal: Formal, truth: str) -> str:
    lines = [_quantified(axiom) for axiom in formal.axioms]
    return "\n".join(["Premises:", *lines, "Conclusion:", _quantified(formal.goal)])


def _quantified(text: str) -> str:
    statement = parse_statement(text)
    if isinstance(statement, Literal):
        return _formula(statement)
    names = sorted({name for part in (*statement.premises, statement.conclusion) for name in part.variables()})
    body = f"{' ∧ '.join(map(_formula, statement.premises))} → {_formula(statement.conclusion)}"
    return "".join(f"∀{name[1:]} " for name in names) + f"({body})"


def _formula(literal: Literal) -> str:
    sign = "" if literal.positive else "¬"
    return f"{sign}{literal.predicate}({', '.join(str(term).lstrip(chr(39)) for term in literal.arguments)})".replace(
        "-", "_"
    )


def _program(problem: Problem, formal: Formal, truth: str) -> str:
    """An answer set program with a test for each rule."""
    lines, tests = [], []
    for number, axiom in enumerate(formal.axioms, 1):
        statement = parse_statement(axiom)
        if isinstance(statement, Literal):
            lines += [f"% R{number}", f"{_atom(statement)}."]
            continue
        lines += [f"% R{number}", f"{_atom(statement.conclusion)} :- {', '.join(map(_atom, statement.premises))}."]
        fresh = f"t{number}"
        given = [f"{_atom(part)}.".replace("X", fresh) for part in statement.premises]
        wanted = _atom(statement.conclusion).replace("X", fresh)
        tests.append({"facts": given, "infer-All": [wanted], "rules": [f"R{number}"], "why": f"rule {axiom}"})
    query = [f"ATOM({_atom(parse_literal(formal.goal))})"]
    return json.dumps({"Model": "\n".join(lines), "Tests": tests, "Query": query})


def _atom(literal: Literal) -> str:
    terms = ", ".join("X" if str(term).startswith("'") else str(term) for term in literal.arguments)
    return f"{'' if literal.positive else '-'}{literal.predicate}({terms})"


def _script(problem: Problem, formal: Formal, truth: str) -> str:
    """A script that checks the goal, and its negation where the goal does not follow."""
    literals = [parse_statement(text) for text in (*formal.axioms, formal.goal)]
    parts = [p for s in literals for p in ((s,) if isinstance(s, Literal) else (*s.premises, s.conclusion))]
    predicates = sorted({part.predicate for part in parts})
    objects = sorted({str(t) for part in parts for t in part.arguments if not str(t).startswith("'")})
    lines = ["from z3 import *", "Thing = DeclareSort('Thing')", "x = Const('x', Thing)"]
    lines += [f"{name} = Const('{name}', Thing)" for name in objects]
    lines += [f"{name} = Function('{name}', Thing, BoolSort())" for name in predicates]
    lines += ["s = Solver()", *(f"s.add({_z3(text)})" for text in formal.axioms), f"claim = {_z3(formal.goal)}"]
    lines += ["s.push()", "s.add(Not(claim))", "first = s.check()", "s.pop()", "s.push()", "s.add(claim)"]
    lines += ["second = s.check()", "s.pop()", "if first == unsat:", "    print('True')"]
    lines += ["elif second == unsat:", "    print('False')", "else:", "    print('Unknown')"]
    return "\n".join(lines) + "\n"


def _z3(text: str) -> str:
    statement = parse_statement(text)
    if isinstance(statement, Literal):
        return _z3_literal(statement)
    premises = ", ".join(map(_z3_literal, statement.premises))
    joined = premises if len(statement.premises) == 1 else f"And({premises})"
    return f"ForAll([x], Implies({joined}, {_z3_literal(statement.conclusion)}))"


def _z3_literal(literal: Literal) -> str:
    atom = f"{literal.predicate}({', '.join('x' if str(t).startswith(chr(39)) else str(t) for t in literal.arguments)})"
    return atom if literal.positive else f"Not({atom})"


WRITERS: dict[str, Callable[[Problem, Formal, str], str]] = {
    "cot": _free_text,
    "guided": _guided,
    "rules": _rules,
    "fol": _first_order,
    "asp": _program,
    "z3-python": _script,
}
_COLOURS: tuple[str, ...] = ("red", "blue", "green", "white", "black")
_PLACES = ("leftmost", "second from the left", "third from the left", "fourth from the left")


def _ordering(format_: str, seed: int, index: int) -> Seed | None:
    """Objects in a row, told by comparisons and places; None where the text leaves the asked place open."""
    rng = random.Random(seed)
    names = rng.sample(_COLOURS, rng.choice((3, 4)))
    order = rng.sample(names, len(names))
    shown = list(pairwise(order))[: rng.randint(1, len(names) - 1)]
    fixed = order[rng.randrange(len(names))]
    asked = rng.randrange(len(names))

    def holds(places: "dict[str, int]") -> bool:
        return all(places[one] < places[other] for one, other in shown) and places[fixed] == order.index(fixed) + 1

    options = [(name, asked + 1) for name in names]
    truth = ordering_truth(names, holds, options)  # type: ignore[arg-type]
    if not truth:
        return None
    kind: Kind = "trusted" if format_ == "logic-program" or index % 3 == 2 else "checked"
    places = [_PLACES[at] if at < len(names) - 1 else "rightmost" for at in range(len(names))]
    said = [f"The {one} jar is to the left of the {other} jar." for one, other in shown]
    listed = ", ".join(f"a {name} jar" for name in names[:-1]) + f", and a {names[-1]} jar"
    text = f"The following paragraphs.\n\nOn a shelf, there are {('three', 'four')[len(names) - 3]} jars: {listed}. "
    text += " ".join([*said, f"The {fixed} jar is the {places[order.index(fixed)]}."])
    letters = tuple(f"{chr(65 + at)}) The {name} jar is the {places[asked]}." for at, (name, _) in enumerate(options))
    dataset = "logicaldeduction" if kind == "checked" else "someone's"
    problem = Problem("p", dataset, text if kind == "checked" else "Prose.", "Which of the following is true?", letters)
    written = _csp if format_ == "csp" else _logic_program
    completion = written(names, shown, (fixed, order.index(fixed) + 1), options)
    return Seed(Attempt(f"{format_}-{index}", problem, format_, completion), kind, truth)


Pairs = list[tuple[str, str]]
Places = list[tuple[str, int]]


def _csp(names: list[str], shown: Pairs, fixed: tuple[str, int], options: Places) -> str:
    values = list(range(1, len(names) + 1))
    lines = ["Domain:", "1: leftmost", f"{len(names)}: rightmost", "Variables:"]
    lines += [f"{name}_jar [IN] {values}" for name in names]
    lines += ["Constraints:", *(f"{one}_jar < {other}_jar" for one, other in shown), f"{fixed[0]}_jar == {fixed[1]}"]
    lines += [f"AllDifferentConstraint([{', '.join(f'{name}_jar' for name in names)}])", "Query:"]
    return "\n".join([*lines, *(f"{chr(65 + at)}) {name}_jar == {place}" for at, (name, place) in enumerate(options))])


def _logic_program(names: list[str], shown: Pairs, fixed: tuple[str, int], options: Places) -> str:
    values = ", ".join(str(value) for value in range(1, len(names) + 1))
    lines = ["# Declarations", f"jars = EnumSort([{', '.join(f'{name}_jar' for name in names)}])"]
    lines += [f"places = EnumSort([{values}])", "at = Function([jars] -> [places])", "", "# Constraints"]
    lines += ["Distinct([j:jars], at(j))", *(f"at({one}_jar) < at({other}_jar)" for one, other in shown)]
    lines += [f"at({fixed[0]}_jar) == {fixed[1]}", "", "# Options", "Question ::: Which of the following is true?"]
    asked = (f"is_valid(at({name}_jar) == {place}) ::: ({chr(65 + at)})" for at, (name, place) in enumerate(options))
    return "\n".join([*lines, *asked])


def _pair(format_: str, seed: int, index: int) -> Seed | None:
    """A formula or an expression beside itself; as the problem's own in every other seed."""
    name = ("autoeval-pl", "autoeval-3cnf", "autoeval-fol", "autoeval-re")[index % 4]
    made = family(name)
    problem = next(iter(made.generate(made.configured({}, "train"), 1, seed=seed, start=index)))
    assert problem.formal is not None
    text = problem.formal.goal
    made = {"language": problem.meta["language"], "left": text, "right": text}
    kind: Kind = "checked" if index % 2 == 0 else "trusted"
    own = problem if kind == "checked" else Problem("p", "autoeval", "", "")
    return Seed(Attempt(f"{format_}-{index}", replace(own, answer=None), format_, json.dumps(made)), kind, None)


MAKERS: dict[str, Callable[[str, int, int], Seed | None]] = {
    **dict.fromkeys(WRITERS, _horn),
    "csp": _ordering,
    "logic-program": _ordering,
    "equivalence": _pair,
}


def is_false(seed: Seed, completion: str, answer: str, rng: random.Random) -> bool:
    """Say whether an answer is shown wrong by what computes the truth apart; of a pair, whether its sides differ."""
    if seed.truth is not None:
        return answer != seed.truth
    read = json.loads(completion)
    if answer != "true" or read["language"] == "first-order":
        return False
    if read["language"] == "regex":
        return expressions_differ(read["left"], read["right"], rng)
    return formulas_differ(read["left"], read["right"])


def formats() -> Iterator[str]:
    """Yield the formats that have seeds."""
    yield from MAKERS
