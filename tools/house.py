"""Size and order of the product's code in numbers: `python -m tools.house`; `tests/test_house.py` holds the bars."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("critics", "rollout", "training")
FORMATS = ("asp", "cot", "csp", "english", "equivalence", "fol", "guided", "logic-program", "rules", "z3-python")
_FORMAT = re.compile("[\"'](" + "|".join(FORMATS) + ")[\"']")
_LOOSE = re.compile(r"\b(?:dict|Mapping|MutableMapping)\[str, (?:Any|object)\]")
_RIDDLE = re.compile(r"(?:What|Which|Whether|Who|Whose|How|Where|When|Why|Of|That|Those)\b")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)


@dataclass(frozen=True, slots=True)
class Source:
    """One module of the product."""

    path: str
    text: str
    tree: ast.Module


def sources() -> list[Source]:
    """Return every module that users install, in the order of their paths."""
    paths = [
        *sorted(ROOT.glob("certistar*.py")),
        *(p for name in PACKAGES for p in sorted((ROOT / name).rglob("*.py"))),
    ]
    texts = [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
    return [Source(path, text, ast.parse(text)) for path, text in texts]


def lines(found: list[Source]) -> dict[str, int]:
    """Return the lines of each module."""
    return {source.path: source.text.count("\n") for source in found}


def longest_function(found: list[Source]) -> tuple[int, str]:
    """Return the lines and the place of the longest function."""
    functions = (
        ((node.end_lineno or node.lineno) - node.lineno + 1, f"{source.path}:{node.lineno} {node.name}")
        for source in found
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return max(functions)


def shared_class_names(found: list[Source]) -> list[str]:
    """Return the names of classes that are defined in two modules or more."""
    pairs = {(node.name, s.path) for s in found for node in ast.walk(s.tree) if isinstance(node, ast.ClassDef)}
    counts = Counter(name for name, _ in pairs)
    return sorted(name for name, count in counts.items() if count > 1)


def loose_dicts(found: list[Source]) -> int:
    """Return how often a type says no more than that keys are strings."""
    return sum(len(_LOOSE.findall(source.text)) for source in found)


def modules_that_name_a_format(found: list[Source]) -> list[str]:
    """Return the modules with a format's name as a literal, outside the formats' folders and the configuration."""
    apart = ("critics/formats/", "training/configuration/")
    return [s.path for s in found if not s.path.startswith(apart) and _FORMAT.search(s.text)]


def riddles(found: list[Source]) -> list[str]:
    """Return the docstrings, those of attributes included, that open with a question word instead of a noun or verb."""
    return [place for source in found for place, text in _docstrings(source) if _RIDDLE.match(text)]


def _docstrings(source: Source) -> Iterator[tuple[str, str]]:
    for node in ast.walk(source.tree):
        if isinstance(node, _DEFINITIONS) and (text := ast.get_docstring(node)):
            yield f"{source.path}:{getattr(node, 'lineno', 1)}", text
        body: list[ast.stmt] = getattr(node, "body", []) if isinstance(node, ast.ClassDef | ast.Module) else []
        for before, after in pairwise(body):
            value = after.value if isinstance(after, ast.Expr) else None
            if isinstance(before, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Constant):
                yield f"{source.path}:{after.lineno}", str(value.value)


def main() -> None:
    """Print the numbers."""
    found = sources()
    per_file = lines(found)
    by_folder = Counter[str]()
    for path, number in per_file.items():
        by_folder["/".join(path.split("/")[:2]) if path.count("/") > 1 else path.split("/")[0]] += number
    print(f"product lines {sum(per_file.values())} in {len(per_file)} files; longest {max(per_file.values())}")
    print(f"longest function {longest_function(found)}")
    print(f"files of at most 60 lines {sum(number <= 60 for number in per_file.values())}")
    print(f"class names in two modules {len(shared_class_names(found))}: {' '.join(shared_class_names(found))}")
    print(f"loose dicts {loose_dicts(found)}")
    named = modules_that_name_a_format(found)
    print(f"modules that name a format {len(named)}: {' '.join(named)}")
    print(f"riddles {len(riddles(found))}")
    print(f"critics/ {sorted(path.name for path in (ROOT / 'critics').iterdir() if path.name != '__pycache__')}")
    for folder, number in by_folder.most_common():
        print(f"{number:7,} {folder}")


if __name__ == "__main__":
    main()
