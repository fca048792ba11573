"""Reads `csp` programs (Logic-LM's language for LogicalDeduction): Domain, Variables, Constraints, Query.

Variables are functions without arguments over the values that they list; an option is a formula that is to hold in
every solution. Values may be written by the domain's words (`[cheapest, most expensive]`) where these have numbers.
"""

import re
from collections.abc import Mapping, Sequence

from critics.logic.programs.declarations import INTEGER, Declarations, FunctionType, is_reserved
from critics.logic.programs.elaborator import Elaborator
from critics.logic.programs.expression import read_expression
from critics.logic.programs.options import Option, OptionProgram
from critics.logic.programs.sections import MAX_OPTIONS, ProgramError, ProgramLine, Repairs, split_sections
from critics.replay.finite.terms import Application, Function, Operator, Term, Variable

TITLES = {
    "domain": ("Domain", "Domains"),
    "variables": ("Variables", "Variable"),
    "constraints": ("Constraints", "Constraint"),
    "query": ("Query", "Queries", "Options"),
}
MAX_VARIABLES = 40
MAX_VALUES = 200
"""Values of one variable."""
_VARIABLE = re.compile(r"(?P<name>\w+(?:[ -]\w+)*)\s*(?:\[IN\]|\bin\b|∈|:)\s*[\[{](?P<values>.*)[\]}]", re.IGNORECASE)
_LABEL = re.compile(r"(?P<number>-?\d{1,6})\s*[:=]\s*(?P<label>.+)")
_LETTER = re.compile(r"\(?([A-Za-z])[).:]\s*")


def read_csp(text: str, repairs: Repairs) -> OptionProgram:
    """Read a program, noting every repair; raises `ProgramError` naming the line."""
    sections = split_sections(text, TITLES, repairs)
    found = (_LABEL.fullmatch(line.text) for line in sections.get("domain", []))
    named = [(_plain(label["label"]), int(label["number"])) for label in found if label is not None]
    labels = dict(named)
    declared = Declarations()
    for line in sections.get("variables", []):
        _declare(line, labels, declared, repairs)
    if not 0 < len(declared.functions) <= MAX_VARIABLES:
        raise ProgramError("variables", f"{len(declared.functions)} variables where 1 to {MAX_VARIABLES} are needed")
    for label, number in labels.items():
        if label not in declared.signatures and re.fullmatch(r"[^\W\d]\w*", label) and not is_reserved(label):
            declared.members[label] = "", number
    constraints = tuple(_constraint(line, declared, repairs) for line in sections.get("constraints", []))
    options = _options(sections.get("query", []), declared, repairs)
    return OptionProgram(declared, constraints, options, labels=named)


def _plain(text: str) -> str:
    return re.sub(r"[\s-]+", "_", text.strip().strip("'\""))


def _declare(line: ProgramLine, labels: Mapping[str, int], declared: Declarations, repairs: Repairs) -> None:
    found = _VARIABLE.fullmatch(line.text)
    if found is None:
        raise line.error("syntax", "name [IN] [value, ..] is needed")
    name = _plain(found["name"])
    if name != found["name"]:
        repairs.note("variable_spelling")
    if name in declared.functions or is_reserved(name):
        raise line.error("redeclaration", f"{name[:40]} has a meaning already")
    values = [_value(part, labels, line, repairs) for part in found["values"].split(",") if part.strip()]
    if not 0 < len(set(values)) == len(values) <= MAX_VALUES:
        raise line.error("sort", "a variable needs values, each once")
    declared.signatures[name] = FunctionType((), INTEGER)
    declared.functions[name] = Function((), tuple(values), is_boolean=False)


def _value(part: str, labels: Mapping[str, int], line: ProgramLine, repairs: Repairs) -> int:
    if re.fullmatch(r"\s*-?\d{1,6}\s*", part):
        return int(part)
    if _plain(part) not in labels:
        raise line.error("sort", f"{part.strip()[:40]!r} is neither a number nor a word of the domain")
    repairs.note("value_by_word")
    return labels[_plain(part)]


def _constraint(line: ProgramLine, declared: Declarations, repairs: Repairs) -> Term:
    read = read_expression(line, repairs)
    if isinstance(read, Application) and read.function.lower().startswith("alldifferent") and not read.arguments:
        repairs.note("all_variables_meant")
        read = Application(read.function, (Operator("list", tuple(map(Variable, declared.functions))),))
    return Elaborator(declared, line, repairs).formula(read)


def _options(lines: Sequence[ProgramLine], declared: Declarations, repairs: Repairs) -> tuple[Option, ...]:
    """Read the options; letters put them in order where every option has one."""
    options: list[tuple[str, Option]] = []
    for line in lines:
        letter = _LETTER.match(line.text)
        formula = ProgramLine(line.number, line.text[letter.end() :] if letter else line.text, "")
        read = Elaborator(declared, line, repairs).formula(read_expression(formula, repairs))
        options.append((letter[1].upper() if letter else "", Option("valid", (read,), formula)))
    letters = [letter for letter, _ in options]
    if not 0 < len(options) <= MAX_OPTIONS:
        raise ProgramError("no_options", f"{len(options)} options where 1 to {MAX_OPTIONS} are needed")
    if not any(letters):
        repairs.note("options_by_position")
        return tuple(option for _, option in options)
    if sorted(letters) != [chr(ord("A") + i) for i in range(len(options))]:
        raise ProgramError("labels", f"the options are lettered {', '.join(letters)}")
    return tuple(option for _, option in sorted(options, key=lambda lettered: lettered[0]))
