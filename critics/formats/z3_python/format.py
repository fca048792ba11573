"""The format `z3-python`: a Python script for Z3, run by an interpreter in a jail."""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from critics.formats.format import Format
from critics.problem import Attempt, Problem
from critics.replay.replies import Place, answer_place, program_place
from critics.verdict import Verdict
from critics.verdict.certificate import Certificate
from critics.verdict.conclusion import Refusal
from critics.verdict.reading import Span

if TYPE_CHECKING:
    from critics.text.trust.comments import Comment

_ASSERTING = re.compile(r"\b(?:is|are|no|not|every|each|all|if)\b", re.IGNORECASE)


class Scripts(Format):
    """Scripts that assert premises and check statements or options."""

    kinds = ("z3-script",)
    is_program = True
    is_held_to_text = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.z3_python.critic import judge_script

        return judge_script(problem, attempt)

    def place(self, completion: str) -> Place:
        from critics.formats.z3_python.exploration import is_script

        return program_place(completion, answer_place(completion), is_script)

    def proved(self, attempt: Attempt, spans: Sequence[Span]) -> str:
        from critics.formats.z3_python.exploration import parse_script, script_of

        return ast.unparse(_Silent().visit(parse_script(script_of(self.answered(attempt).completion))))

    def comments(self, completion: str) -> "Iterator[Comment]":
        """Return what stands beside a script, its comments, and strings that say what comments say."""
        return _comments(completion)

    def claimed(self, problem: Problem, certificate: Certificate) -> tuple[Sequence[str], str]:
        from critics.replay.scripts import check_term, tokens
        from critics.text.trust.bars import position_of, text_of_option

        evidence, claim = certificate.evidence, certificate.claim
        is_truth, names = evidence["mode"] == "truth", evidence["names"]
        shown = check_term(evidence["statements"][0 if is_truth else position_of(claim)])
        asking = problem.question if is_truth else text_of_option(problem, claim)
        return [names[token] for token in tokens(shown) if token in names], asking

    def bar(self, problem: Problem, attempt: Attempt, certificate: Certificate, *, aligned: bool) -> Refusal | None:
        """Bar a script whose premises hold the statement in other words, too."""
        return super().bar(problem, attempt, certificate, aligned=aligned) or _same(certificate)


class _Silent(ast.NodeTransformer):
    """Leaves out strings that stand alone, and what a script prints whatever is found."""

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [each for each in node.body if not (isinstance(each, ast.Expr) and _is_idle(each.value))]
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if isinstance(node.value, ast.Constant) else node


def _same(certificate: Certificate) -> Refusal | None:
    from critics.formats.z3_python.decision import solve
    from critics.replay.scripts import check_declaration, check_term, members, needed, negated, script
    from critics.text.trust.bars import SAME, UNDECIDED

    evidence = certificate.evidence
    if evidence["mode"] != "truth" or evidence["value"] == "unknown":
        return None
    declarations = [check_declaration(text) for text in evidence["declarations"]]
    *premises, statement = map(check_term, [*evidence["premises"], *evidence["statements"]])
    if members(needed(declarations, [statement])):
        # Of finitely many values one is the others' denial: what is left of them when all others are denied is proved.
        return None
    claimed = statement if evidence["value"] == "true" else negated(statement)
    found = solve([script(declarations, [claimed, negated(premise)]) for premise in premises])
    said = [premise for premise, result in zip(premises, found, strict=True) if result == "unsat"]
    rest = solve([script(declarations, [*said, negated(claimed)])]) if said else ["sat"]
    if "unknown" in [*found, *rest]:
        return UNDECIDED
    return SAME if rest == ["unsat"] else None


def _comments(script: str) -> "Iterator[Comment]":
    from critics.formats.z3_python.exploration import parse_script, script_of
    from critics.text.trust.comments import CODE, comment_in, comments_of_lines

    lines, at = script.split("\n"), 0
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        code, mark, said = line.partition("#")
        if mark and _ASSERTING.search(said):
            yield comment_in(line, len(code) + 1, at, CODE, code.strip() or following)
        at += len(line) + 1
    for said in _idle_strings(parse_script(script_of(script))):
        place = max(script.find(said), 0)
        yield from (each for each in comments_of_lines(said, place, CODE) if _ASSERTING.search(each.text))


def _idle_strings(tree: ast.Module) -> Iterator[str]:
    """Yield the strings of a script, but for names of symbols and for what it prints or chooses by a check.

    Attack: a falsehood in a list, in a message of an assertion, in an f-string.
    """
    useful: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name(name), arguments) if name != "print":
                useful |= set(map(id, arguments))
            case ast.If(test) if not isinstance(test, ast.Constant):
                prints = (each for each in ast.walk(node) if _is_print(each))
                useful |= {id(part) for each in prints for part in ast.walk(each)}
            case ast.IfExp(test, body, other) if not isinstance(test, ast.Constant):
                useful |= {id(body), id(other)}
            case _:
                pass
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in useful)
    yield from (node.value for node in strings if isinstance(node.value, str))


def _is_print(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _is_idle(value: ast.expr) -> bool:
    """Say whether a value is a constant, or printed constants."""
    arguments = value.args if isinstance(value, ast.Call) and _is_print(value) else [value]
    return all(isinstance(each, ast.Constant) for each in arguments)


FORMAT = Scripts()
