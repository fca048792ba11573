"""Peano's theory text as the DeontiQA problems use it, read with the repairs that its typos need.

    let b1 : person.                                       an object
    let org2 : (organizer f2 b2).                          a fact
    let rem1 : reminder = (hours_before b1 f1).            a name for a value
    let d1 : [('f : event) -> (short 'f) -> (long 'f)].    a rule; what stands before a colon binds
    Result:
    (d1 f1 dur1) : (long f1)                               a step of the gold derivation

Names come back with hyphens for underscores, as this project writes them. Nothing here knows sorts or symbols.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from critics.replay.formula import FormulaError, Literal, Rule, Term, parse_statement

_START = re.compile(r"(?:^[ \t]*(?:let[ \t]+)?|\blet[ \t]+)(?P<name>[A-Za-z]\w*)[ \t]*:", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BINDER = re.compile(r"\(\s*(?P<variable>'[a-z])\s*:\s*(?P<sort>[\w-]+)\s*\)")
_VALUE_BINDER = re.compile(r"\(\s*(?P<value>\(.*\))\s*:\s*(?P<sort>[\w-]+)\s*\)")
_STEP = re.compile(r"\((?P<call>\s*\w[\w\s-]*)\)\s*:\s*(?P<conclusion>\(.*\))\s*\.?")


@dataclass(frozen=True, slots=True)
class Repair:
    """A change to the source that leaves no doubt about what was meant."""

    word: str
    """What kind of change; `rollout.published.deontiqa.REPAIRS` explains it."""
    name: str
    """The declaration that was changed."""
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.word}: {self.name}{self.detail and f' ({self.detail})'}"


@dataclass(frozen=True, slots=True)
class Clause:
    """A rule as it is written: the sorts of its bound variables, what it asks for, and what it gives."""

    binders: Mapping[str, str]
    premises: tuple[Literal, ...]
    """A bound value, `((individual_invite a1 'e) : invite)`, is the premise that there is such an invite."""
    conclusion: Literal


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the gold derivation: a rule, or a fact, with its arguments, and what it gives."""

    rule: str
    arguments: tuple[str, ...]
    conclusion: Literal


@dataclass(slots=True)
class TheoryText:
    """Declarations of a text, in order. Facts and rules are pairs of a name and what it stands for."""

    objects: dict[str, str] = field(default_factory=dict[str, str])
    values: dict[str, tuple[str, Term]] = field(default_factory=dict[str, tuple[str, Term]])
    """The sort and the term of each named value."""
    facts: list[tuple[str, Literal]] = field(default_factory=list[tuple[str, Literal]])
    clauses: list[tuple[str, Clause]] = field(default_factory=list[tuple[str, Clause]])
    steps: list[Step] = field(default_factory=list[Step])
    repairs: list[Repair] = field(default_factory=list[Repair])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What cannot be read: its name, and why."""


def read_theory(text: str) -> TheoryText:
    """Read declarations and derivation; what cannot be read is listed, and raises nothing."""
    declared, _, derivation = _COMMENT.sub(" ", text).partition("Result:")
    theory = TheoryText()
    seen: set[str] = set()
    for name, body in _declarations(declared):
        if name in seen:
            theory.repairs.append(Repair("redeclared", name, "both are kept"))
        seen.add(name)
        if not body.endswith("."):
            theory.repairs.append(Repair("missing-dot", name))
        try:
            _declare(theory, name, body.rstrip(".").strip())
        except FormulaError as error:
            theory.left_out.append((name, str(error)))
    _derive(theory, derivation)
    return theory


def _declarations(text: str) -> Iterator[tuple[str, str]]:
    """Yield names and bodies; a body ends where the next declaration starts, so that no full stop is needed."""
    starts = list(_START.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=True):
        yield _hyphenated(start["name"]), _hyphenated(text[start.end() : end].strip())


def _declare(theory: TheoryText, name: str, body: str) -> None:
    if "->" in body:
        theory.clauses.append((name, _clause(theory, name, body)))
    elif "=" in body:
        sort, _, value = body.partition("=")
        theory.values[name] = sort.strip(), _term(_balanced(theory, name, value))
    elif body.startswith("("):
        theory.facts.append((name, _literal(_balanced(theory, name, body))))
    elif theory.objects.setdefault(name, body) != body:
        raise FormulaError("redeclared", f"{name} is a {theory.objects[name]} already, and cannot be a {body}")


def _clause(theory: TheoryText, name: str, body: str) -> Clause:
    if not (body.startswith("[") and body.endswith("]")):
        theory.repairs.append(Repair("unbalanced", name, "square brackets"))
    *inputs, conclusion = body.removeprefix("[").removesuffix("]").split("->")
    binders: dict[str, str] = {}
    premises: list[Literal] = []
    for part in map(str.strip, inputs):
        if (binder := _BINDER.fullmatch(part)) is not None:
            binders[binder["variable"]] = binder["sort"]
        elif (value := _VALUE_BINDER.fullmatch(part)) is not None:
            premises.append(Literal(True, value["sort"], (_term(value["value"]),)))
        else:
            premises.append(_literal(_balanced(theory, name, part)))
    return Clause(binders, tuple(premises), _literal(_balanced(theory, name, conclusion)))


def _balanced(theory: TheoryText, name: str, text: str) -> str:
    """Add or drop closing parentheses at the end; elsewhere it would be a guess, and the text stays as it is."""
    text = text.strip()
    missing = text.count("(") - text.count(")")
    if missing == 0:
        return text
    if missing < 0 and not text.endswith(")" * -missing):
        return text
    theory.repairs.append(Repair("unbalanced", name, "parentheses"))
    return text + ")" * missing if missing > 0 else text[:missing].rstrip()


def _literal(text: str) -> Literal:
    statement = parse_statement(text)
    return statement.conclusion if isinstance(statement, Rule) else statement


def _term(text: str) -> Term:
    return _literal(f"(it {text})").arguments[0]


def _derive(theory: TheoryText, text: str) -> None:
    for line in filter(None, map(str.strip, _hyphenated(text).splitlines())):
        match = _STEP.fullmatch(line)
        try:
            if match is None:
                raise FormulaError("syntax", f"{line!r} is not '(rule arguments) : conclusion'")
            rule, *arguments = match["call"].split()
            theory.steps.append(Step(rule, tuple(arguments), _literal(match["conclusion"])))
        except FormulaError as error:
            theory.left_out.append(("Result", str(error)))


def _hyphenated(text: str) -> str:
    return text.replace("_", "-")
