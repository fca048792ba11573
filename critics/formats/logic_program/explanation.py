"""Explanation of a `logic-program` of which no option holds, or several: each query, with a model or a clash.

A query that has a model is shown by it, and one that has none by the constraints that rule it out. So a missing
constraint is seen in two situations that differ, and an excessive one in the core that it belongs to.
"""

from collections.abc import Iterator, Sequence

from critics.formats.logic_program.execution import Execution, execute
from critics.formats.logic_program.reader import TITLES, LogicProgram, read_logic_program
from critics.logic.programs.declarations import Declarations, Type
from critics.logic.programs.sections import ProgramError, Repairs, split_sections
from critics.logic.programs.z3_solver import Clashes, Satisfiable, Z3Solver, described, situation
from critics.problem import Attempt
from critics.replay.certificate import TooLarge
from critics.replay.finite.grounding import Grounder, Tables
from critics.replay.finite.terms import Undefined

MAX_OPTIONS_SHOWN = 3


def explain_options(attempt: Attempt) -> str | None:
    """Return what the solver finds; None where the program answers, or cannot be run."""
    try:
        program = read_logic_program(attempt.completion, Repairs())
        run = execute(program)
        holding = run.holding()
        if not run.decided() or (len(holding) == 1 and run.constraints.model is not None):
            return None
        explainer = _Explainer(program, run, _constraint_texts(program, attempt.completion))
        return explainer.clash() if run.constraints.model is None else explainer.options(holding)
    except (ProgramError, TooLarge, Undefined, RecursionError):
        return None


def _constraint_texts(program: LogicProgram, text: str) -> list[str]:
    """Return each constraint as written; its number where the lines are not one for each."""
    lines = [*program.declared.constraints, *split_sections(text, TITLES, Repairs()).get("constraints", [])]
    written = [line.text for line in lines if line.text]
    if len(written) == len(program.constraints):
        return written
    return [f"constraint {number}" for number, _ in enumerate(program.constraints, 1)]


class _Explainer:
    def __init__(self, program: LogicProgram, run: Execution, texts: Sequence[str]) -> None:
        self._program, self._run, self._texts = program, run, texts
        grounder = Grounder(program.declared.functions)
        constraints = [grounder.ground(term) for term in program.constraints]
        queries = [[grounder.ground(query.formula) for query in option.queries] for option in program.options]
        statements = [*constraints, *(query for asked in queries for query in asked)]
        self._grounder, self._constraints, self._statements = grounder, constraints, statements
        self._clashes = Clashes(grounder.unknowns(), statements)
        numbers = iter(range(len(constraints), len(statements)))
        self._queries = [[next(numbers) for _ in asked] for asked in queries]

    def clash(self) -> str | None:
        """Tell which constraints contradict each other."""
        core = self._clashes.among(range(len(self._texts)))
        return None if core is None else f"These constraints cannot hold together: {self._quoted(core)}"

    def options(self, holding: Sequence[int]) -> str:
        """Tell of several options why each holds, or of none why each does not."""
        lines: list[str] = []
        situations: list[tuple[str, dict[str, str]]] = []
        for heading, number, model in self._deciding(holding):
            if model is not None:
                situations.append((f"{heading}, because the constraints allow", self._words(model)))
                if len(situations) == 1:
                    situations += self._otherwise(number)
            elif core := self._clashes.among([*range(len(self._texts)), number]):
                kept = [statement for statement in core if statement < len(self._texts)]
                lines.append(f"{heading}, because of {self._quoted(kept) if kept else 'what it says itself'}")
        return "\n".join([*lines, *described(situations)])

    def _deciding(self, holding: Sequence[int]) -> Iterator[tuple[str, int, Tables | None]]:
        """Yield the queries that let options hold, or keep them from it: a heading, the number, the model if any."""
        for position in list(holding or range(len(self._program.options)))[:MAX_OPTIONS_SHOWN]:
            option, results = self._program.options[position], self._run.options[position].queries
            letter, claim = chr(ord("A") + position), "holds" if holding else "does not hold"
            for query, result, number in zip(option.queries, results, self._queries[position], strict=True):
                if holding or (result.model is not None) != query.wanted:
                    yield f"({letter}) {option.line.text} {claim}", number, result.model

    def _otherwise(self, number: int) -> list[tuple[str, dict[str, str]]]:
        """Return a situation that differs in what a query asks, where there is one."""
        query = self._statements[number]
        found = Z3Solver(self._grounder.unknowns(), self._constraints, [query]).check(0, negated=True)
        if not isinstance(found, Satisfiable):
            return []
        return [("The constraints also allow", self._words(self._grounder.model(found.values)))]

    def _quoted(self, numbers: Sequence[int]) -> str:
        return "; ".join(f"`{self._texts[number]}`" for number in numbers)

    def _words(self, model: Tables) -> dict[str, str]:
        declared = self._program.declared
        arguments = {
            name: [_names(type_, declared) for type_ in signature.arguments]
            for name, signature in declared.signatures.items()
        }
        results = {name: _names(signature.result, declared) for name, signature in declared.signatures.items()}
        return situation(declared.functions, model, arguments, results)


def _names(type_: Type, declared: Declarations) -> dict[int, str]:
    return {number: name for name, (universe, number) in declared.members.items() if universe == type_.universe}
