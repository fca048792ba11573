"""Formalisation that an attempt writes: premises and goal in first-order logic.

The model's comments (`::: Bob is big`) are left out: they are its word for what its formulas say, and not the text's.
"""

from dataclasses import dataclass

from critics.formats.fol.program import read_program
from critics.formats.rules.names import RuleNames, elaborate
from critics.formats.rules.reader import read_rules
from critics.logic.first_order.syntax import Formula
from critics.logic.first_order.theory import first_order
from critics.logic.formula import FormulaError, Statement, parse_literal, parse_statement
from critics.logic.programs.sections import ProgramError, Repairs
from critics.problem import Attempt
from critics.text.blocks import BlockError, split_blocks
from critics.text.faithfulness.signs import SignedAtom, UnclearSigns, signed_atoms


@dataclass(frozen=True, slots=True)
class Formalisation:
    """Premises in the attempt's order, each once, and the goal."""

    premises: tuple[Formula, ...]
    goal: Formula


def formalisation(attempt: Attempt) -> Formalisation | None:
    """Return what an attempt formalises; None where the format is not read or the attempt does not parse."""
    try:
        match attempt.format:
            case "guided":
                return _of_guided(attempt.completion)
            case "rules":
                return _of_rules(attempt.completion, f"{attempt.problem.context} {attempt.problem.question}")
            case "fol":
                program = read_program(attempt.completion)
                return Formalisation(tuple(dict.fromkeys(program.premises)), program.conclusion)
            case _:
                return None
    except (BlockError, FormulaError, ProgramError):
        return None


def _of_guided(text: str) -> Formalisation | None:
    blocks = split_blocks(text)
    goals = [block.content for block in blocks if block.action == "goal"]
    axioms = [parse_statement(block.content) for block in blocks if block.action == "axiom"]
    return _of_statements(axioms, parse_literal(goals[0])) if len(goals) == 1 else None


def _of_rules(program: str, text: str) -> Formalisation:
    repairs = Repairs()
    statements, goal = elaborate(read_rules(program, repairs), RuleNames([], repairs, text))
    return _of_statements(statements, goal)


def _of_statements(statements: list[Statement], goal: Statement) -> Formalisation:
    return Formalisation(tuple(dict.fromkeys(map(first_order, statements))), first_order(goal))


def atoms_of(formula: Formula) -> tuple[SignedAtom, ...] | None:
    """Return a formula's signed atoms; None where its signs have no one reading."""
    try:
        return signed_atoms(formula)
    except UnclearSigns:
        return None
