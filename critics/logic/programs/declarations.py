"""The sorts, members and functions that a `logic-program` declares, as the core's finite lists of integers.

A sort of digits is a range of integers, any other is numbered from 0 in the order of its members, which is what `<`
and `+ 1` mean for it. A sort whose members all belong to a larger one is a part of it. What is declared must not
take the name of an operator or a helper, and nothing is declared twice: `is_valid = Function(..)` is an attack.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import Literal as Choice

from critics.logic.programs.expression import read_expression
from critics.logic.programs.sections import ProgramError, ProgramLine, Repairs
from critics.replay.finite.terms import Application, Function, Operator, Term, Variable

MAX_MEMBERS = 200
MAX_POINTS = 5_000
"""Points of one function: the tuples of arguments it may be given."""
_SORT = re.compile(
    r"(?P<name>\w+)\s*=\s*(?P<kind>EnumSort|IntSort)\s*\(?\s*[\[({](?P<members>[^\[\](){}]*)[\])}]\s*\)?"
)
_DECLARATION = re.compile(r"(?P<name>\w+)\s*=\s*(?P<right>Function\s*\(.*)")
_MEMBER = re.compile(r"\w+(?:[ .'’-]\w+)*")
RESERVED = frozenset(
    """
    and or not implies iff equiv equivalent xor if ite forall exists count sum abs min max
    distinct alldifferent alldifferentconstraint atleast atmost exactly atleastone atmostone exactlyone
    bool int integer true false none null enumsort intsort function in question
    """.split()  # noqa: SIM905 - a list of forty strings would not be read
)


@dataclass(frozen=True, slots=True)
class Type:
    """Type of a term's values; members and sums of members and numbers belong to a universe."""

    kind: Choice["bool", "int", "member", "offset"]
    universe: str = ""


BOOLEAN, INTEGER = Type("bool"), Type("int")


@dataclass(frozen=True, slots=True)
class Sort:
    """A finite sort: what its elements are, and which."""

    type: Type
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FunctionType:
    """The types of a function's arguments and of its result."""

    arguments: tuple[Type, ...]
    result: Type


@dataclass(slots=True)
class Declarations:
    """Everything declared, and the lines among the declarations that are constraints."""

    sorts: dict[str, Sort] = field(default_factory=dict[str, Sort])
    members: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Each member's universe and number."""
    signatures: dict[str, FunctionType] = field(default_factory=dict[str, FunctionType])
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    free: dict[str, tuple[str, Type]] = field(default_factory=dict[str, tuple[str, Type]])
    """Variables that nothing binds: each one's function without arguments, and its type."""
    constraints: list[ProgramLine] = field(default_factory=list[ProgramLine])


def read_declarations(lines: list[ProgramLine], repairs: Repairs) -> Declarations:
    """Read the section; raises `ProgramError` naming the line."""
    listed: dict[str, tuple[ProgramLine, list[str]]] = {}
    functions: list[tuple[ProgramLine, str, str]] = []
    declared = Declarations()
    for line in lines:
        found = _SORT.fullmatch(line.text) or _DECLARATION.fullmatch(line.text)
        if found is not None and (found["name"] in listed or is_reserved(found["name"])):
            # Attack: redefine what judges the options.
            raise line.error("redeclaration", f"{found['name']} has a meaning already")
        if sort := _SORT.fullmatch(line.text):
            listed[sort["name"]] = line, _members(sort["members"], line, repairs)
        elif function := _DECLARATION.fullmatch(line.text):
            functions.append((line, function["name"], function["right"]))
        else:
            repairs.note("constraint_among_declarations")
            declared.constraints.append(line)
    parts = [(line, name, _signature_parts(ProgramLine(line.number, right, ""))) for line, name, right in functions]
    for line, _, (arguments, result) in parts:
        for union in (part for part in (*arguments, result) if "+" in part):
            repairs.note("sort_union")
            if not all(name in listed for name in union.split("+")):
                raise line.error("undeclared_sort", f"{union} is not made of declared sorts")
            members = dict.fromkeys(member for name in union.split("+") for member in listed[name][1])
            listed[union] = line, list(members)
    _place_sorts(listed, declared, repairs)
    for line, name, (arguments, result) in parts:
        if name in declared.signatures or name in declared.members:
            raise line.error("redeclaration", f"{name} is declared twice")
        _declare(name, arguments, result, declared, line, repairs)
    return declared


def is_reserved(name: str) -> bool:
    """Say whether a name belongs to the language."""
    plain = name.lower()
    return plain.replace("_", "") in RESERVED or plain.startswith("is_")


def _members(text: str, line: ProgramLine, repairs: Repairs) -> list[str]:
    members: list[str] = []
    for part in text.split(","):
        member = part.strip().strip("'\"").strip()
        if not member and not part.strip():
            continue
        if not _MEMBER.fullmatch(member):
            raise line.error("syntax", f"{member!r} cannot name a member")
        plain = re.sub(r"[ .'’-]", "_", member)
        if plain != part.strip():
            repairs.note("member_spelling")
        if is_reserved(plain):
            raise line.error("redeclaration", f"{plain} has a meaning already")
        members.append(plain)
    if not members or len(members) > MAX_MEMBERS or len(set(members)) < len(members):
        raise line.error("sort", "a sort needs members, each once")
    return members


def _place_sorts(listed: dict[str, tuple[ProgramLine, list[str]]], declared: Declarations, repairs: Repairs) -> None:
    """Number the members of the sorts that contain all others, and find these there."""
    universes: dict[str, list[str]] = {}
    for name, (line, members) in sorted(listed.items(), key=lambda item: -len(item[1][1])):
        if all(member.isdigit() for member in members):
            if any(len(member) > 6 for member in members):
                raise line.error("sort", "a number is too large")
            declared.sorts[name] = Sort(INTEGER, tuple(map(int, members)))
            continue
        home = next((u for u, all_ in universes.items() if not set(members).isdisjoint(all_)), None)
        if home is None:
            home = name
            universes[name] = members
        elif set(members) <= set(universes[home]):
            repairs.note("subset_sort")
        else:
            raise line.error("overlapping_sorts", f"{name} shares some but not all members with another sort")
        numbers = tuple(sorted(universes[home].index(member) for member in members))
        declared.sorts[name] = Sort(Type("member", home), numbers)
    for universe, members in universes.items():
        for number, member in enumerate(members):
            if member in declared.members:
                raise ProgramError("redeclaration", f"{member} belongs to two sorts")
            declared.members[member] = universe, number


def _signature_parts(line: ProgramLine) -> tuple[list[str], str]:
    """Return the names of the arguments' sorts and of the result's."""
    read = read_expression(line, Repairs())
    if not isinstance(read, Application) or not read.arguments:
        raise line.error("syntax", "Function([sort, ..] -> [sort]) is needed")
    match read.arguments:
        case (*others, Operator("implies", (left, right))):
            arguments, results = _sort_names([*others, left], line), _sort_names([right], line)
        case _:
            names = _sort_names(read.arguments, line)
            arguments, results = names[:-1], names[-1:]
    if len(results) != 1:
        raise line.error("syntax", "a function has one result")
    return arguments, results[0]


def _sort_names(parts: Iterable[Term], line: ProgramLine) -> list[str]:
    names: list[str] = []
    for part in parts:
        match part:
            case Variable(text):
                names.append(text)
            case Operator("list", items):
                names += _sort_names(items, line)
            case Operator("add", operands):
                names.append("+".join(_sort_names(operands, line)))
            case Application(("IntSort" | "BoolSort") as name, ()):
                names.append("int" if name == "IntSort" else "bool")
            case _:
                raise line.error("syntax", "sorts are needed between the brackets")
    return names


def _declare(
    name: str, arguments: list[str], result: str, declared: Declarations, line: ProgramLine, repairs: Repairs
) -> None:
    sorts = [_sort(argument, declared, line, repairs) for argument in arguments]
    for sort, argument in zip(sorts, arguments, strict=True):
        if sort.type == BOOLEAN or not sort.values:
            raise line.error("unbounded_domain", f"{argument} is no finite sort to speak of")
    if prod(len(sort.values) for sort in sorts) > MAX_POINTS:
        raise line.error("too_large", f"{name} has more than {MAX_POINTS} arguments to be given")
    value = _sort(result, declared, line, repairs)
    declared.signatures[name] = FunctionType(tuple(sort.type for sort in sorts), value.type)
    domains = tuple(sort.values for sort in sorts)
    declared.functions[name] = Function(domains, value.values or None, value.type == BOOLEAN)


def _sort(name: str, declared: Declarations, line: ProgramLine, repairs: Repairs) -> Sort:
    found = declared.sorts.get(name)
    if found is not None:
        return found
    match name.lower():
        case "bool" | "boolean" | "boolsort":
            return Sort(BOOLEAN, ())
        case "int" | "integer" | "intsort":
            return Sort(INTEGER, ())
        case plain:
            alike = [sort for sort in declared.sorts if sort.lower().rstrip("s") == plain.rstrip("s")]
            if len(alike) != 1:
                raise line.error("undeclared_sort", f"{name} is not declared")
            repairs.note("sort_spelling")
            return declared.sorts[alike[0]]
