"""Reads `rules` programs: `Cold($x, True) && Needs($x, cow, True) >>> Kind($x, False)`, facts and one query.

The reader takes what models write: rules among the facts, `and` and `&` for `&&`, `->` for `>>>`, `Not(..)`, `!`, `¬`
or `= False` for a false value, a value that is left out, `x` or `Something` for `$x`. Each liberty has its word in
`repairs`. What remains unclear is refused with its line: a rule that is left out would make the program another one.

Names are merged where they are spelt differently, and matched with the reference's. `Bald_Eagle`, `BaldEagle` and `bald
eagle` are one name, and so are `Wumpuses` and `Wumpus` where the reference has one of them or the text has both as one
noun (`Tom is a wumpus`) or verb. Objects keep a final -s (James). Several spellings of a name count as a repair.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from critics.grammar.inflection import is_plural, singular
from critics.logic.programs.sections import ProgramError, ProgramLine, Repairs, split_sections
from critics.replay.cursor import TokenCursor
from critics.replay.formula import (
    MAX_ARITY,
    MAX_NAME_LENGTH,
    MAX_PREMISES,
    NAME,
    RESERVED_NAMES,
    Literal,
    Rule,
    Statement,
    Term,
)
from critics.replay.kernel import literals_of

TITLES = {
    "predicates": ("Predicates", "Predicate"),
    "facts": ("Facts", "Fact"),
    "rules": ("Rules", "Rule"),
    "query": ("Query", "Queries", "Question"),
}
MAX_DEPTH = 20
"""Negations in each other."""
MAX_TOKENS = 1_000
"""Tokens of one line; recorded lines have under a hundred."""
_TOKEN = re.compile(r"\s*(>>>|<<<|=>|->|→|&&|==|[(),=&∧¬!~?]|\$?[A-Za-z0-9_][A-Za-z0-9_'’-]*)")
_AND, _IMPLIES = ("&&", "&", "∧", "and"), (">>>", "=>", "->", "→")
_NOT = ("¬", "!", "~", "not")
_VALUES = {"true": True, "false": False}
_OPEN_VALUES = ("bool", "?", "unknown", "x", "value", "true/false")
_PRONOUNS = ("something", "someone", "somebody", "anything", "anyone", "everything", "everyone", "x", "y", "z")
_NO_LINES = ("none", "none.", "n/a", "-", "(none)")


@dataclass(frozen=True, slots=True)
class RulesProgram:
    """A program as it is written, rules without premises being facts; variables start with `$`."""

    clauses: tuple[Rule, ...]
    query: Literal
    query_is_open: bool
    """True if the query asks for a value and states none."""


def read_rules(text: str, repairs: Repairs) -> RulesProgram:
    """Read a program, noting every repair; raises `ProgramError` naming the line."""
    sections = split_sections(text, TITLES, repairs)
    declared = dict(_declarations(sections.get("predicates", []), repairs))
    clauses = [
        clause
        for section in ("facts", "rules")
        for line in sections.get(section, [])
        if line.text.lower() not in _NO_LINES and line.text
        for clause in _clauses(line, section, declared, repairs)
    ]
    query, is_open = _query(sections.get("query", []), declared, repairs)
    if not clauses:
        raise ProgramError("no_rules", "the program states neither facts nor rules")
    return RulesProgram(tuple(clauses), query, is_open)


def _declarations(lines: Sequence[ProgramLine], repairs: Repairs) -> Iterator[tuple[str, int]]:
    """Yield each predicate with the number of its arguments, the value counted where it is declared."""
    for line in lines:
        try:
            reader = ClauseReader(line, {}, repairs)
            name, arguments = reader.application()
        except ProgramError:
            repairs.note("declaration_ignored")
            continue
        if arguments[-1].lower() == "bool":
            yield name, len(arguments)


def _clauses(line: ProgramLine, section: str, declared: dict[str, int], repairs: Repairs) -> list[Rule]:
    reader = ClauseReader(line, declared, repairs)
    left, sign, right = reader.clause()
    if sign == "":
        if len(left) > 1:
            if any(str(a).startswith("$") for atom in left for a in atom.arguments):
                raise line.error("syntax", "a conjunction with variables and without a conclusion")
            repairs.note("conjoined_facts")
        return [Rule((), atom) for atom in left]
    if sign == "<<<":
        repairs.note("reversed_rule")
        left, right = right, left
    if section == "facts":
        repairs.note("rule_among_facts")
    if len(right) > 1:
        repairs.note("split_conclusion")
    return [_with_variables(Rule(tuple(left), atom), repairs) for atom in right]


def _with_variables(clause: Rule, repairs: Repairs) -> Rule:
    """Read the names `x` and `Something` as variables: a rule has no object of that name."""
    atoms = (*clause.premises, clause.conclusion)
    written = {argument for atom in atoms for argument in map(str, atom.arguments)}
    meant: dict[str, Term] = {name: f"${name.lower()}" for name in written if name.lower() in _PRONOUNS}
    if not meant:
        return clause
    repairs.note("bare_variable")
    *premises, conclusion = (atom.substitute(meant) for atom in atoms)
    return Rule(tuple(premises), conclusion)


def _query(lines: Sequence[ProgramLine], declared: dict[str, int], repairs: Repairs) -> tuple[Literal, bool]:
    """Read the first line; prose may follow, another query must not."""
    if not lines:
        raise ProgramError("no_query", "the program has no query")
    reader = ClauseReader(lines[0], declared, repairs, asks=True)
    atom = reader.literal()
    reader.end()
    for line in lines[1:]:
        if _reads_as_query(line, declared):
            # Attack: ask something easy as well.
            raise line.error("multiple_queries", "there is another query")
        repairs.note("text_after_query")
    if reader.open_value:
        repairs.note("open_query")
    return atom, reader.open_value


def _reads_as_query(line: ProgramLine, declared: dict[str, int]) -> bool:
    try:
        ClauseReader(line, declared, Repairs(), asks=True).literal()
    except ProgramError:
        return False
    return True


class ClauseReader(TokenCursor):
    """Reader of one line: atoms, and an arrow between them."""

    def __init__(self, line: ProgramLine, declared: dict[str, int], repairs: Repairs, *, asks: bool = False) -> None:
        self._line, self._declared, self._repairs, self._asks = line, declared, repairs, asks
        self.open_value = False
        super().__init__(line.tokens(_TOKEN, MAX_TOKENS))

    def clause(self) -> tuple[list[Literal], str, list[Literal]]:
        """Read atoms, and where an arrow follows those behind it; the sign is the arrow's direction."""
        left = self._atoms()
        sign = self.peek()
        if sign not in (*_IMPLIES, "<<<"):
            self.end()
            return left, "", []
        if sign in _IMPLIES and sign != ">>>":
            self._repairs.note("arrow")
        self.take()
        right = self._atoms()
        self.end()
        return left, "<<<" if sign == "<<<" else ">>>", right

    def literal(self, depth: int = 0) -> Literal:
        """Read one signed atom, within `depth` negations in brackets."""
        if depth > MAX_DEPTH:
            raise self.fault(f"more than {MAX_DEPTH} negations in each other")
        value = True
        while self.peek().lower() in _NOT and self.peek(1) != "(":
            self.take()
            self._repairs.note("negation_sign")
            value = not value
        atom = self._negated(depth) if self.peek().lower() in _NOT else self._atom()
        if self.takes("=", "=="):
            self._repairs.note("value_after_atom")
            value = value == self._value(self.take())
        return Literal(atom.positive == value, atom.predicate, atom.arguments)

    def application(self) -> tuple[str, list[str]]:
        """Read a name and its arguments in brackets; a name may have several words."""
        name = self._words()
        self.expect("(")
        arguments = [self._words()]
        while self.takes(","):
            arguments.append(self._words())
        self.expect(")")
        return name, arguments

    def _atoms(self) -> list[Literal]:
        atoms = [self.literal()]
        while self.peek().lower() in _AND:
            if self.take() != "&&":
                self._repairs.note("conjunction_sign")
            atoms.append(self.literal())
        return atoms

    def _negated(self, depth: int) -> Literal:
        """Read `Not(Cold(x, True))`, `Not(Cold(x), True)` or `!(Cold(x, True))`."""
        self.take()
        self.expect("(")
        inner = self.literal(depth + 1)
        value = False
        if self.takes(","):
            value = not self._value(self.take())
        self.expect(")")
        self._repairs.note("negation_sign")
        return Literal(inner.positive == value, inner.predicate, inner.arguments)

    def _atom(self) -> Literal:
        name, arguments = self.application()
        last = arguments[-1].lower()
        if last in _VALUES:
            arguments, value = arguments[:-1], _VALUES[last]
        elif last in _OPEN_VALUES and self._declared.get(name, len(arguments)) == len(arguments) > 1:
            if not self._asks:
                raise self.fault(f"{name} has no value")
            arguments, value, self.open_value = arguments[:-1], True, True
        else:
            self._repairs.note("implicit_true")
            value = True
        if not arguments:
            raise self._line.error("arity", f"{name} says nothing of anything")
        return Literal(value, name, tuple(arguments))

    def _value(self, token: str) -> bool:
        if token.lower() not in _VALUES:
            raise self.fault(f"{token!r} is neither True nor False")
        return _VALUES[token.lower()]

    def _words(self) -> str:
        words: list[str] = []
        while re.match(r"[$\w?]", self.peek()):
            words.append(self.take())
        if not words:
            raise self.fault(f"a name is needed before {self.peek()!r}")
        if len(words) > 1:
            self._repairs.note("name_of_several_words")
        return " ".join(words)

    def fault(self, why: str) -> ProgramError:
        """Return the error that names the line."""
        return self._line.error("syntax", why)


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATOR = re.compile(r"[ _-]+")
_VARIABLES = "xyzuvwabcdefghijklmnopqrst"


class RuleNames:
    """The names of the reference, and the program's own names as they come; `text` is the problem's."""

    def __init__(self, reference: list[Statement], repairs: Repairs, text: str) -> None:
        self._repairs, self._text = repairs, text.lower()
        self._known: dict[tuple[str, str], str] = {}
        self._spelt: dict[tuple[str, str], str] = {}
        for literal in (literal for statement in reference for literal in literals_of(statement)):
            self._known["predicate", literal.predicate] = literal.predicate
            self._known.setdefault(("predicate", _predicate_key(literal.predicate)), literal.predicate)
            for argument in literal.arguments:
                if isinstance(argument, str) and not argument.startswith("'"):
                    self._known[("object", _object_key(argument))] = argument
        self._stated = frozenset(key for role, key in self._known if role == "predicate")

    def statement(self, clause: Rule) -> Statement:
        """Return a clause in the formal language; raises `ProgramError` for what this cannot say."""
        variables: dict[str, str] = {}
        premises = tuple(self.literal(atom, variables) for atom in clause.premises)
        conclusion = self.literal(clause.conclusion, variables)
        if not premises:
            return Rule((), conclusion) if variables else conclusion
        if len(premises) > MAX_PREMISES:
            raise ProgramError("too_many_premises", f"{conclusion}: more than {MAX_PREMISES} premises")
        bound = {variable for premise in premises for variable in premise.variables()}
        if not set(conclusion.variables()) <= bound:
            raise ProgramError("unbound_head_var", f"{conclusion} speaks of what no premise speaks of")
        return Rule(premises, conclusion)

    def literal(self, atom: Literal, variables: dict[str, str]) -> Literal:
        """Return an atom in the formal language; `variables` holds the statement's, and is extended."""
        if len(atom.arguments) > MAX_ARITY:
            raise ProgramError("arity", f"{atom.predicate} has more than {MAX_ARITY} arguments")
        predicate = self._name("predicate", atom.predicate, len(atom.arguments))
        written = map(str, atom.arguments)
        named = [self._variable(a, variables) if a[0] == "$" else self._name("object", a) for a in written]
        return Literal(atom.positive, predicate, tuple(named))

    def _variable(self, name: str, variables: dict[str, str]) -> str:
        if name not in variables and len(variables) == len(_VARIABLES):
            raise ProgramError("syntax", f"more than {len(_VARIABLES)} variables in one rule")
        return variables.setdefault(name, f"'{_VARIABLES[len(variables) % len(_VARIABLES)]}")

    def _name(self, role: str, written: str, arity: int = 0) -> str:
        key = (role, self._predicate(written, arity) if role == "predicate" else _object_key(written))
        if self._spelt.setdefault(key, written) != written:
            self._repairs.note("names_merged")
        name = self._known.setdefault(key, _plain(written))
        if NAME.fullmatch(name) is None or len(name) > MAX_NAME_LENGTH or name in RESERVED_NAMES:
            raise ProgramError("name", f"{written!r} cannot name a {role}")
        return name

    def _predicate(self, written: str, arity: int) -> str:
        """Return what a predicate is known by: without a plural's -s only where both are one word for sure."""
        name, one = _predicate_name(written), _predicate_key(written)
        if name == one or name in self._stated:
            return name
        # Attack: `Good` and `Goods` are two words, of which the one is said and the other asked.
        return one if one in self._stated or self._is_one_word(one, name, arity) else name

    def _is_one_word(self, one: str, many: str, arity: int) -> bool:
        said = (one.replace("-", "[ _-]"), many.replace("-", "[ _-]"))
        as_noun = rf"\b(?:an?|each|every|another|any|one) (?:[a-z-]+ )?{said[0]}\b"
        first = rf"\b{said[0]}\b" if arity > 1 else as_noun
        return all(re.search(pattern, self._text) for pattern in (first, rf"\b{said[1]}\b"))


def elaborate(program: RulesProgram, vocabulary: RuleNames) -> tuple[list[Statement], Literal]:
    """Return the program's statements, each once, and its query in the formal language."""
    statements = list(dict.fromkeys(map(vocabulary.statement, program.clauses)))
    variables: dict[str, str] = {}
    query = vocabulary.literal(program.query, variables)
    if variables:
        raise ProgramError("free_variable", "the query has a variable")
    return statements, query


def _plain(written: str) -> str:
    return _SEPARATOR.sub("-", _HUMP.sub(" ", written)).strip("-").lower()


def _object_key(written: str) -> str:
    return _plain(written).removeprefix("the-")


def _predicate_name(written: str) -> str:
    return _plain(written).removeprefix("is-")


def _predicate_key(written: str) -> str:
    name = _predicate_name(written)
    last = name.rpartition("-")[2]
    return name.removesuffix(last) + singular(last) if is_plural(last) else name
