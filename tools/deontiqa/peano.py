"""Peano's theory text as the DeontiQA problems use it, read with the repairs that its typos need.

    let b1 : person.                                       an object
    let org2 : (organizer f2 b2).                          a fact
    let rem1 : reminder = (hours_before b1 f1).            a name for a value
    let d1 : [('f : event) -> (short 'f) -> (long 'f)].    a rule; what stands before a colon binds
    Result:
    (d1 f1 dur1) : (long f1)                               a step of the gold derivation

Names come back with hyphens for underscores, as this project writes them. Nothing here knows sorts or symbols.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from critics.replay.formula import (
    Application,
    FormulaError,
    Literal,
    Rule,
    Statement,
    Term,
    is_variable,
    parse_statement,
    replaced,
)
from critics.replay.sorts import ANY, SortedSignature, SortError

_START = re.compile(r"(?:^[ \t]*(?:let[ \t]+)?|\blet[ \t]+)(?P<name>[A-Za-z]\w*)[ \t]*:", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_BINDER = re.compile(r"\(\s*(?P<variable>'[a-z])\s*:\s*(?P<sort>[\w-]+)\s*\)")
_VALUE_BINDER = re.compile(r"\(\s*(?P<value>\(.*\))\s*:\s*(?P<sort>[\w-]+)\s*\)")
_STEP = re.compile(r"\((?P<call>\s*\w[\w\s-]*)\)\s*:\s*(?P<conclusion>\(.*\))\s*\.?")


@dataclass(frozen=True, slots=True)
class Repair:
    """A change to the source that leaves no doubt about what was meant."""

    word: str
    """Kind of the change; `rollout.published.deontiqa.REPAIRS` explains it."""
    name: str
    """The declaration that was changed."""
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.word}: {self.name}{self.detail and f' ({self.detail})'}"


@dataclass(frozen=True, slots=True)
class PeanoRule:
    """A rule as it is written: the sorts of its bound variables, what it asks for, and what it gives."""

    binders: Mapping[str, str]
    premises: tuple[Literal, ...]
    """A bound value, `((individual_invite a1 'e) : invite)`, is the premise that there is such an invite."""
    conclusion: Literal


@dataclass(frozen=True, slots=True)
class PeanoStep:
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
    clauses: list[tuple[str, PeanoRule]] = field(default_factory=list[tuple[str, PeanoRule]])
    steps: list[PeanoStep] = field(default_factory=list[PeanoStep])
    repairs: list[Repair] = field(default_factory=list[Repair])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Statements that cannot be read: the name, and the reason."""


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


def _clause(theory: TheoryText, name: str, body: str) -> PeanoRule:
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
    return PeanoRule(binders, tuple(premises), _literal(_balanced(theory, name, conclusion)))


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
            theory.steps.append(PeanoStep(rule, tuple(arguments), _literal(match["conclusion"])))
        except FormulaError as error:
            theory.left_out.append(("Result", str(error)))


def _hyphenated(text: str) -> str:
    return text.replace("_", "-")


_Fits = TypeVar("_Fits", Literal, Rule)
_CLOSENESS = 0.9
"""Least likeness of a typo and its symbol; `permissible` and `impermissible` are 0.92 alike, and are both symbols."""


@dataclass(slots=True)
class Fitted:
    """The statements of a theory, each with the name of its source, in order."""

    declarations: list[Literal] = field(default_factory=list[Literal])
    """The sorts of those objects that some rule asks for: `(person b1)`."""
    facts: list[tuple[str, Literal]] = field(default_factory=list[tuple[str, Literal]])
    rules: list[tuple[str, Rule]] = field(default_factory=list[tuple[str, Rule]])
    derivation: list[tuple[str, Literal]] = field(default_factory=list[tuple[str, Literal]])
    """The rule and the conclusion of each step of the gold derivation."""
    repairs: list[Repair] = field(default_factory=list[Repair])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def statements(self) -> list[Statement]:
        """Return declarations, facts and rules, in this order."""
        return [*self.declarations, *(fact for _, fact in self.facts), *(rule for _, rule in self.rules)]


def fit(theory: TheoryText, signature: SortedSignature) -> Fitted:
    """Return what can be stated; the repairs of the text are among the repairs."""
    fitter = _Fitter(theory, signature)
    fitted = Fitted(repairs=list(theory.repairs), left_out=list(theory.left_out))

    def collect(name: str, into: list[tuple[str, _Fits]], make: Callable[[list[Repair]], _Fits]) -> None:
        repairs: list[Repair] = []
        try:
            into.append((name, make(repairs)))
            fitted.repairs += repairs
        except SortError as error:
            fitted.left_out.append((name, str(error)))

    recorded = list(fitter.recorded())
    fitted.repairs += (Repair("recorded", name, str(fact)) for name, fact in recorded)
    for name, fact in [*recorded, *theory.facts]:
        collect(name, fitted.facts, partial(fitter.literal, name, fact, {}))
    for name, clause in theory.clauses:
        collect(name, fitted.rules, partial(fitter.rule, name, clause))
    for step in theory.steps:
        collect(step.rule, fitted.derivation, partial(fitter.literal, "Result", step.conclusion, {}))
    fitted.declarations += fitter.declarations(rule for _, rule in fitted.rules)
    return fitted


class _Fitter:
    """Mends and sorts literals by a signature and by the objects that a text declares.

    Every method that mends notes the repairs in the list it is given, and raises `SortError` where something can
    be made well-sorted in no one way.
    """

    def __init__(self, theory: TheoryText, signature: SortedSignature) -> None:
        self.signature = signature
        self._predicates = {**signature.predicates, **{sort: (sort,) for sort in signature.sorts}}
        self._objects = theory.objects
        self._values = theory.values
        self._aliases: dict[str, Term] = {
            **{
                name: Application(f.predicate, f.arguments)
                for name, f in theory.facts
                if f.predicate in signature.functions
            },
            **{name: term for name, (_, term) in theory.values.items()},
        }

    def recorded(self) -> Iterator[tuple[str, Literal]]:
        """Yield the values that are facts by this theory, such as a consent."""
        for name, (_, term) in self._values.items():
            if isinstance(term, Application) and term.function not in self.signature.functions:
                yield name, Literal(True, term.function, term.arguments)

    def rule(self, name: str, clause: PeanoRule, repairs: list[Repair]) -> Rule:
        """Return a rule mended, with a premise for each variable whose sort the other premises do not tell."""
        literals = (*clause.premises, clause.conclusion)
        *premises, conclusion = (self.literal(name, literal, clause.binders, repairs) for literal in literals)
        told, needed = self._sorts(premises), self._sorts([*premises, conclusion])
        for variable, sort in needed.items():
            bound = clause.binders.get(variable, sort)
            if variable not in clause.binders and variable not in told:
                repairs.append(Repair("unbound", name, f"{variable} is any {sort}"))
            if not self.signature.is_below(told.get(variable, ANY), bound):
                premises.append(Literal(True, bound, (variable,)))
        rule = Rule(tuple(premises), conclusion)
        self.signature.sorts_in(rule, self._objects)
        return rule

    def declarations(self, rules: Iterable[Rule]) -> Iterator[Literal]:
        """Yield the sorts, as facts, of all objects and values whose sort is some rule's premise."""
        sorts = self.signature.sorts
        asked = dict.fromkeys(p.predicate for rule in rules for p in rule.premises if p.predicate in sorts)
        named: dict[str, tuple[str, Term]] = {**{n: (sort, n) for n, sort in self._objects.items()}, **self._values}
        for wanted in asked:
            for sort, term in named.values():
                if sort in sorts and self.signature.is_below(sort, wanted):
                    yield Literal(True, wanted, (term,))

    def literal(self, name: str, literal: Literal, binders: Mapping[str, str], repairs: list[Repair]) -> Literal:
        """Return a literal with its symbols spelled right and its arguments in their places."""
        if literal.predicate in self.signature.functions and literal.predicate not in self._predicates:
            raise SortError(f"{literal} is of sort {self.signature.functions[literal.predicate][1]}, and no statement")
        predicate = _spelled(name, literal.predicate, self._predicates, repairs)
        wanted = self._predicates[predicate]
        arguments = self._arguments(name, str(literal), literal.arguments, wanted, binders, repairs)
        return Literal(literal.positive, predicate, arguments)

    def _arguments(
        self,
        name: str,
        whole: str,
        given: tuple[Term, ...],
        wanted: tuple[str, ...],
        binders: Mapping[str, str],
        repairs: list[Repair],
    ) -> tuple[Term, ...]:
        if len(given) != len(wanted):
            raise SortError(f"{whole}: {len(wanted)} argument(s) are needed ({', '.join(wanted)}), not {len(given)}")
        terms = tuple(self._term(name, replaced(term, self._aliases), binders, repairs) for term in given)
        if self._fit(terms, wanted, binders):
            return terms
        if len(terms) == 2 and self._fit(terms[::-1], wanted, binders):
            repairs.append(Repair("swapped", name, whole))
            return terms[::-1]
        raise SortError(f"{whole}: its arguments are not of the sorts {', '.join(wanted)}")

    def _term(self, name: str, term: Term, binders: Mapping[str, str], repairs: list[Repair]) -> Term:
        if isinstance(term, str):
            return term
        function = _spelled(name, term.function, self.signature.functions, repairs)
        wanted, _ = self.signature.functions[function]
        return Application(function, self._arguments(name, str(term), term.arguments, wanted, binders, repairs))

    def _fit(self, terms: tuple[Term, ...], wanted: tuple[str, ...], binders: Mapping[str, str]) -> bool:
        return all(
            (is_variable(term) and term not in binders)
            or self.signature.is_below(binders.get(str(term)) or self.signature.sort_of(term, self._objects), sort)
            for term, sort in zip(terms, wanted, strict=True)
        )

    def _sorts(self, literals: Iterable[Literal]) -> dict[str, str]:
        """Return the narrowest sort that some place gives each variable."""
        sorts: dict[str, str] = {}
        for literal in literals:
            for term, sort in self.signature.places(literal):
                if is_variable(term) and not self.signature.is_below(sorts.get(term, ANY), sort):
                    sorts[term] = sort
        return sorts


def _spelled(where: str, name: str, known: Mapping[str, object], repairs: list[Repair]) -> str:
    """Return a known symbol: the name itself, or the only one that it is a typo of."""
    if name in known:
        return name
    close = difflib.get_close_matches(name, known, n=2, cutoff=_CLOSENESS)
    if len(close) != 1:
        raise SortError(f"there is no symbol {name}")
    repairs.append(Repair("spelling", where, f"{name} is {close[0]}"))
    return close[0]
