"""Programs under other names: a proof about `Tom` is one about `n7q`, and a verdict that changes rests on the names.

Attack: a constant that is read as a variable, names that are merged because they look alike, an order by name: then it
is the spelling that is certified, and not what is stated.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from critics.formats.csp.reader import read_csp
from critics.formats.fol.program import read_program
from critics.formats.logic_program.reader import read_logic_program
from critics.formats.rules.reader import WrittenAtom, read_rules
from critics.logic.first_order.printing import canonical
from critics.logic.first_order.syntax import signature
from critics.logic.formula import FormulaError
from critics.logic.programs.declarations import Declarations
from critics.logic.programs.sections import ProgramError, Repairs
from critics.problem import Attempt, Problem
from critics.text.background import background
from critics.text.blocks import BlockError, answer_start, split_blocks
from critics.text.faithfulness.english import name_stems
from critics.verdict import Certified, Verdict

_BLOCK_WORDS = frozenset({"not", "nothing", "->", ":"})
_BLOCK_NAME = re.compile(r"[^\s()\[\]']+")


def rests_on_names(
    problem: Problem, attempt: Attempt, verdict: Certified, critic: Callable[[Problem, Attempt], Verdict]
) -> bool:
    """Say whether a certified program is judged otherwise once its names are others, each for one.

    A theory that all programs of a data set share has names of its own: there nothing is renamed.
    """
    if (known := background(problem.dataset)).axioms or known.signature is not None:
        return False
    try:
        text = renamed(attempt)
    except (BlockError, FormulaError, ProgramError):
        return False
    if text is None:
        return False
    again = critic(problem, replace(attempt, completion=text))
    return not isinstance(again, Certified) or again.answer != verdict.answer


def renamed(attempt: Attempt) -> str | None:
    """Return the program alone, in fresh names; None where the format's names are not found (`asp`, `z3-python`)."""
    match attempt.format:
        case "fol":
            program = read_program(attempt.completion)
            formulas = [canonical(formula) for formula in program.formulas()]
            used = signature(program.formulas())
            names = _fresh([*used.predicates, *used.functions, *used.constants])
            *premises, conclusion = [_written(formula, names) for formula in formulas]
            return "\n".join(["Premises:", *premises, "Conclusion:", conclusion])
        case "guided":
            return _guided(attempt.completion)
        case "rules":
            read = read_rules(attempt.completion, Repairs())
            atoms = [atom for clause in read.clauses for atom in (*clause.premises, clause.conclusion)]
            return _written(attempt.completion, _fresh(_names([*atoms, read.query]), merged=True))
        case "logic-program":
            declared = read_logic_program(attempt.completion, Repairs()).declared
            return _written(attempt.completion, _fresh(_declared(declared)))
        case "csp":
            functions = read_csp(attempt.completion, Repairs()).functions
            return _written(attempt.completion, _fresh(functions))
        case _:
            return None


def _fresh(names: Iterable[str], *, merged: bool = False) -> dict[str, str]:
    """Return a new name for each, of the same case; where names may be `merged`, forms of a word have the same."""
    found: dict[str, str] = {}
    known: dict[object, int] = {}
    for name in dict.fromkeys(names):
        number = known.setdefault(name_stems(name) if merged else name, len(known))
        found[name] = f"{'N' if name[0].isupper() else 'n'}{number}q"
    return found


def _written(text: str, names: Mapping[str, str]) -> str:
    """Return a program with its names replaced, the longest first, in any case; comments stay."""
    if not names:
        return text
    listed = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    written = re.compile(rf"(?<![\w’$-])(?:{listed})(?![\w’-])", re.IGNORECASE)
    known = {name.lower(): new for name, new in reversed(list(names.items()))}

    def replaced(found: re.Match[str]) -> str:
        return names.get(found[0]) or known[found[0].lower()]

    lines = [line.partition(":::") for line in text.splitlines()]
    return "\n".join(written.sub(replaced, code) + mark + comment for code, mark, comment in lines)


def _guided(text: str) -> str:
    start = answer_start(text)
    answer = "" if start is None else text[start:]
    blocks = split_blocks(text)
    words = [word for block in blocks for word in _BLOCK_NAME.findall(block.content)]
    names = _fresh(word for word in words if word not in _BLOCK_WORDS)

    def written(content: str) -> str:
        return re.sub(r"(?<![^\s()\[\]])" + _BLOCK_NAME.pattern, lambda found: names.get(found[0], found[0]), content)

    return " ".join(f"[[{block.action}:{written(block.content)}]]" for block in blocks) + f"\n{answer.strip()}"


def _names(atoms: Iterable[WrittenAtom]) -> list[str]:
    return [name for atom in atoms for name in (atom.predicate, *atom.arguments) if not name.startswith("$")]


def _declared(declared: Declarations) -> list[str]:
    """Return what a program declares by a name that is no number."""
    return [name for name in (*declared.sorts, *declared.members, *declared.functions) if not name.isdigit()]
