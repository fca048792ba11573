"""The language of `csp` programs (Logic-LM's for LogicalDeduction): Domain, Variables, Constraints, Query.

Variables are functions without arguments over the values that they list; an option is a formula that is to hold in
every solution. Values may be written by the domain's words (`[cheapest, most expensive]`) where these have numbers.

Where the problem's text is in LogicalDeduction's language, the program must have the same solutions, and its options
must say the same: a program that runs and was translated wrongly is not believed. Elsewhere the formalisation is
trusted, and the certificate says so.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product

from critics.logic.programs.declarations import INTEGER, Declarations, FunctionType, is_reserved
from critics.logic.programs.elaborator import Elaborator
from critics.logic.programs.expression import read_expression
from critics.logic.programs.options import (
    NO_CONSTRAINTS,
    REPEATED,
    Execution,
    Option,
    OptionLanguage,
    OptionProgram,
    are_repeated,
    searched,
)
from critics.logic.programs.ordering_text import At, Claim, Ordering, read_ordering
from critics.logic.programs.sections import MAX_OPTIONS, ProgramError, ProgramLine, Repairs, split_sections
from critics.problem import Problem
from critics.replay.finite.models import CSP_KIND
from critics.replay.finite.search import MAX_NODES, compiled, solutions
from critics.replay.finite.terms import Application, Constant, Function, Operator, Term, Variable, called
from critics.text.question import adds_condition, read_question
from critics.verdict import Unproved, Vacuous
from critics.verdict.conclusion import Refusal, brief

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
    read: Term = read_expression(line, repairs)
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


_DIFFERENCES = {
    "options": ("goal_mismatch", "an option is not the formula of its text"),
    "premise": ("axiom_not_in_context", "a constraint is not what any one sentence says"),
    "labels": ("domain_mismatch", "a number of the domain is called otherwise than the text counts"),
    "constraints": ("constraint_mismatch", "the constraints do not say what the text says"),
    "domain": ("domain_mismatch", "the variables do not take one value for each object"),
    "names": ("names_not_in_context", "the variables are not the objects of the text"),
}
"""Differences between a program and its text, from the least to the worst."""
DATASET = "logicaldeduction"
"""The data set whose texts are compared with."""


def _bar(program: OptionProgram, run: Execution, problem: Problem, difference: str | None) -> Refusal | None:
    """Return what bars the answer from being believed, or None."""
    if not program.constraints:
        return NO_CONSTRAINTS
    if difference:
        # Attack: solve another puzzle, whose answer is the gold one.
        return Refusal(Unproved, *_DIFFERENCES[difference])
    if difference is None and any(option.trivial for option in run.options):
        # Attack: replace the right option by a tautology.
        return Refusal(Vacuous, "trivial_option", "the option holds whatever the constraints are")
    return REPEATED if are_repeated(run) else _bar_of_text(problem, difference)


def _bar_of_text(problem: Problem, difference: str | None) -> Refusal | None:
    """Return a refusal where the question does not ask which option must be true: a program here says no more.

    A program that is compared with the context must not leave out what the question adds to it, and a text of the
    data set whose English is regular must be compared.
    """
    question = problem.question
    asked = read_question(question)
    if asked is None or asked == "unsaid":
        return Refusal(Unproved, "question_not_read", f"what is asked cannot be read: {brief(question)}")
    if asked not in ("must", "fact"):
        return Refusal(Unproved, "goal_mismatch", "the question does not ask which option must be true")
    if difference is not None and adds_condition(question):
        # Attack: answer without the condition under which the question asks.
        return Refusal(Unproved, "question_not_read", "the question adds a condition to the text")
    if difference is None and problem.dataset == DATASET:
        # Attack: one sentence that is not read, and nothing is compared.
        return Refusal(Unproved, "text_not_read", "the puzzle has a sentence that cannot be read, or names that differ")
    return None


def difference_from_text(problem: Problem, program: OptionProgram) -> str | None:
    """Return where program and text differ, one of `_DIFFERENCES` or nothing; raises `TooLarge` beyond the budget.

    None: the text is not in the language that can be read, and nothing is known.
    """
    options, functions = problem.options, program.declared.functions
    text = read_ordering(problem.context, options or ())
    if text is None or not options or len(options) != len(program.options):
        return None
    names = _variables_for(text.objects, functions)
    if names is None:
        return "names"
    values = sorted(next(iter(functions.values())).values or ())
    if len(values) != len(names) or any(sorted(f.values or ()) != values for f in functions.values()):
        return "domain"
    directions = [(names, values, "lt"), (names, values[::-1], "gt")]
    found = [_difference(program, text, *direction) for direction in directions]
    return min(found, key=["", *_DIFFERENCES].index)


def _variables_for(objects: Sequence[str], functions: Mapping[str, Function]) -> dict[str, str] | None:
    """Return the variable named after each object, by all of its words or some; None where that is not clear.

    One object and one variable that are left over belong together (the text says `motorcyle`, models `motorcycle`).
    """
    named: dict[str, str] = {}
    nameless: list[str] = []
    for name in functions:
        words = _words(name)
        same = [thing for thing in objects if _words(thing) == words]
        found = same or [thing for thing in objects if _words(thing) >= words or _words(thing) <= words]
        if len(found) == 1 and found[0] not in named:
            named[found[0]] = name
        else:
            nameless.append(name)
    left = [thing for thing in objects if thing not in named]
    if len(left) == len(nameless) == 1:
        named[left[0]] = nameless[0]
    return named if len(named) == len(objects) == len(functions) else None


def _words(name: str) -> set[str]:
    return {word.rstrip("s") for word in name.lower().replace("_", " ").replace("-", " ").split()}


def _difference(
    program: OptionProgram, text: Ordering, names: Mapping[str, str], values: Sequence[int], before: str
) -> str:
    """Compare under one direction of counting: a program may count from the newest as well as from the oldest."""
    functions = program.declared.functions
    distinct = Operator("distinct", tuple(Application(name, ()) for name in functions))
    said = [distinct, *(_term(claim, names, values, before) for claim in text.statements)]
    if _all(functions, said) != _all(functions, program.constraints):
        return "constraints"
    places = [(number, text.place_of(words.replace("_", " "))) for words, number in program.labels]
    if any(number not in values or place != values.index(number) for number, place in places):
        # Attack: `1: newest` where 1 is the oldest.
        return "labels"
    if not all(_is_stated(constraint, said, functions) for constraint in program.constraints):
        # Attack: the answer, which follows from all sentences together, as one more constraint.
        return "premise"
    own = [option.formulas[0] for option in program.options]
    wanted = (_term(claim, names, values, before) for claim in text.options)
    return "" if all(map(_equivalent, wanted, own, [functions] * len(own))) else "options"


def _is_stated(constraint: Term, said: Sequence[Term], functions: Mapping[str, Function]) -> bool:
    """Say whether one sentence says a constraint, or gives it where no two objects are in one place."""
    if constraint in said or any(_equivalent(one, constraint, functions) for one in said):
        return True
    holds = compiled(constraint)
    return any(all(map(holds, solutions(functions, [said[0], one]))) for one in said)


def _term(claim: Claim, names: Mapping[str, str], values: Sequence[int], before: str) -> Term:
    one = Application(names[claim.one], ())
    if isinstance(claim, At):
        return Operator("eq", (one, Constant(values[claim.position])))
    return Operator(before, (one, Application(names[claim.other], ())))


def _all(functions: Mapping[str, Function], constraints: Sequence[Term]) -> set[tuple[int, ...]]:
    return {tuple(solution[name] for name in functions) for solution in solutions(functions, constraints)}


def _equivalent(one: Term, other: Term, functions: Mapping[str, Function]) -> bool:
    names = sorted(called(one) | called(other))
    if len(names) > 3:
        return False
    choices = product(*(functions[name].values or () for name in names))
    left, right = compiled(one), compiled(other)
    return all(left(values) == right(values) for c in choices for values in [dict(zip(names, c, strict=True))])


LANGUAGE = OptionLanguage(
    CSP_KIND, "certistar-csp/1", {"nodes": MAX_NODES}, TITLES, read_csp, searched, _bar, difference_from_text
)
