"""Names of a program: merged where they are spelt differently, and matched with the reference's.

`Bald_Eagle`, `BaldEagle` and `bald eagle` are one name, and so are `Wumpuses` and `Wumpus` where the reference has one
of them or the text has both as one noun (`Tom is a wumpus`) or verb. Objects keep a final -s (James). Names that are
spelt in several ways, and are merged, count as a repair.
"""

import re
from collections.abc import Iterator

from critics.formats.rules.reader import Clause, RulesProgram, WrittenAtom
from critics.logic.programs.sections import ProgramError, Repairs
from critics.replay.formula import (
    MAX_ARITY,
    MAX_NAME_LENGTH,
    MAX_PREMISES,
    NAME,
    RESERVED_NAMES,
    Literal,
    Rule,
    Statement,
)
from critics.text.inflection import is_plural, singular

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SEPARATOR = re.compile(r"[ _-]+")
_VARIABLES = "xyzuvwabcdefghijklmnopqrst"


class RuleNames:
    """The names of the reference, and the program's own names as they come; `text` is the problem's."""

    def __init__(self, reference: list[Statement], repairs: Repairs, text: str) -> None:
        self._repairs, self._text = repairs, text.lower()
        self._known: dict[tuple[str, str], str] = {}
        self._spelt: dict[tuple[str, str], str] = {}
        for literal in (literal for statement in reference for literal in _literals(statement)):
            self._known["predicate", literal.predicate] = literal.predicate
            self._known.setdefault(("predicate", _predicate_key(literal.predicate)), literal.predicate)
            for argument in literal.arguments:
                if isinstance(argument, str) and not argument.startswith("'"):
                    self._known[("object", _object_key(argument))] = argument
        self._stated = frozenset(key for role, key in self._known if role == "predicate")

    def statement(self, clause: Clause) -> Statement:
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

    def literal(self, atom: WrittenAtom, variables: dict[str, str]) -> Literal:
        """Return an atom in the formal language; `variables` holds the statement's, and is extended."""
        if len(atom.arguments) > MAX_ARITY:
            raise ProgramError("arity", f"{atom.predicate} has more than {MAX_ARITY} arguments")
        return Literal(
            atom.value,
            self._name("predicate", atom.predicate, len(atom.arguments)),
            tuple(self._variable(a, variables) if a[0] == "$" else self._name("object", a) for a in atom.arguments),
        )

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


def _literals(statement: Statement) -> Iterator[Literal]:
    if isinstance(statement, Literal):
        yield statement
    else:
        yield from (*statement.premises, statement.conclusion)


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
