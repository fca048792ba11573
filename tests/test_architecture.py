"""Fences: what the design promises about the code as a whole, checked by reading it."""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
PACKAGES = ("critics", "rollout", "training")
DRAWERS = {"utils", "util", "common", "helpers", "types", "misc", "manager", "base"}
HEAVY = ("torch", "transformers", "peft", "accelerate", "datasets")
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
DOCUMENTS = [ROOT / "README.md", CONTRIBUTING, *sorted((ROOT / "docs").rglob("*.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TREE_ROOTS = {".", "./", "certistar/"}
TREE_PREFIX = re.compile(r"^[\s│├└─|`+-]*")


def module_paths() -> dict[str, Path]:
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {_module_name(path): path for path in paths}


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """Every name imported anywhere in a file, late imports, those for type checkers and those by a text included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = imports_by_text(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def imports_by_text(tree: ast.AST) -> set[str]:
    """Every text that `import_module` is called with, or may be, where a module calls it with names that it lists."""
    calls = [
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func)
    ]
    given = [argument for call in calls for argument in call.args[:1]]
    is_listed = any(not isinstance(argument, ast.Constant) for argument in given)
    texts = ast.walk(tree) if is_listed else given
    return {node.value for node in texts if isinstance(node, ast.Constant) and node.value in MODULES}


def packages_of(names: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in names}


MODULES = module_paths()


@cache
def all_imports() -> dict[str, set[str]]:
    """Return the imports of every module, read once, and not where tests are only collected."""
    return {module: imports(path) for module, path in MODULES.items()}


def of_package(package: str) -> list[str]:
    return [module for module in MODULES if module.partition(".")[0] == package]


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [("critics", {"rollout", "training"}), ("rollout", {"training"}), ("critics", set(HEAVY))],
    ids=["critics stand alone", "rollout knows no training", "critics need no torch"],
)
def test_imports_point_one_way(package: str, forbidden: set[str]) -> None:
    wrong = {
        module: found for module in of_package(package) if (found := packages_of(all_imports()[module]) & forbidden)
    }
    assert not wrong


REPLAY, RECHECK = "critics.replay", "critics.recheck"
JUDGING_AGAIN = {f"{RECHECK}.{name}" for name in ("rejudging", "foreign")}
NOTATIONS = {f"critics.logic.first_order.{name}" for name in ("parser", "printing")}
"""A reference in first-order logic is in anybody's notation, which the critics' parser reads."""
DYNAMIC = re.compile(r"import_module|__import__|\beval\(|\bexec\(")


def reached(start: str) -> set[str]:
    """Every module that is imported from one on, packages on the way included."""
    found: set[str] = set()
    waiting = {start}
    while waiting:
        module = waiting.pop()
        found.add(module)
        parents = {module.rsplit(".", up)[0] for up in range(1, module.count(".") + 1)}
        waiting |= {name for name in (*all_imports().get(module, ()), *parents) if name in MODULES} - found
    return found


def below(package: str) -> list[str]:
    return [module for module in MODULES if module == package or module.startswith(f"{package}.")]


def test_a_replay_reaches_no_critic_and_nothing_but_the_standard_library() -> None:
    # Critics may use what the replay has: it is the kernel. The other way is closed.
    modules = {name for start in below(REPLAY) for name in reached(start)}
    assert {"critics.replay.derivations", "critics.replay.answer_sets.submission"} < modules
    assert modules == {"critics", *below(REPLAY)}
    outside = {name for module in modules for name in packages_of(all_imports()[module])} - {"critics"}
    assert outside <= sys.stdlib_module_names


def test_of_a_recheck_only_what_judges_again_imports_critics() -> None:
    floor = {"critics", "critics.errors", "critics.registry", *below(REPLAY), *below(RECHECK), *NOTATIONS}
    above = {name: {found for found in all_imports()[name] if found in MODULES} - floor for name in below(RECHECK)}
    assert {name for name, found in above.items() if found} == JUDGING_AGAIN
    # No critic can ask for a re-check of itself: the re-check stands above them.
    packages = {"critics.audit"}
    askers = {name for name in of_package("critics") if any(found in below(RECHECK) for found in all_imports()[name])}
    assert {name for name in askers - {*below(RECHECK)} if not any(name.startswith(part) for part in packages)} == set()


def test_only_the_solvers_are_imported_by_name() -> None:
    texts = {module: MODULES[module].read_text(encoding="utf-8") for module in (*below(REPLAY), *below(RECHECK))}
    assert [module for module, text in texts.items() if DYNAMIC.search(text)] == [f"{REPLAY}.solvers"]
    assert re.findall(r"Literal\[(.*?)\]", texts[f"{REPLAY}.solvers"]) == ['"cvc5", "z3"']


def test_the_authors_instruments_are_not_needed() -> None:
    """`guide logic --mode compatible` and `bench gpu` ask for some by a text, and say where they are."""
    needed = {
        module for module, names in all_imports().items() if any(name.partition(".")[0] == "tools" for name in names)
    }
    assert needed <= {"training.commands.guide", "training.commands.bench"}


def test_no_module_imports_itself_through_others() -> None:
    assert cycle(all_imports()) is None
    assert cycle({"critics.text.blocks": {"critics.judge"}, "critics.judge": {"critics.text.blocks"}}) is not None


def test_an_import_by_a_text_is_one() -> None:
    by_list = "NAMES = ('critics.judge', 'other')\n[import_module(name) for name in NAMES]"
    for code in ("x: Any = import_module('critics.judge')", "importlib.import_module('critics.judge')", by_list):
        assert imports_by_text(ast.parse(code)) == {"critics.judge"}


def cycle(imported: dict[str, set[str]]) -> str | None:
    """Return the modules of a cycle of imports; None where there is none."""
    graph = {module: {name for name in names if name in MODULES} - {module} for module, names in imported.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " <- ".join(error.args[1])
    return None


LAYERS = {
    "critics": (
        *("errors", "replay", "registry", "problem", "workers", "verdict", "logic", "grammar", "text", "formats"),
        *("judge", "recheck", "audit"),
    ),
    "rollout": (
        *("settings", "records", "problems", "prompts", "decoding", "policies", "guides", "engines", "servers"),
        *("formulas", "published", "programs", "actor_critic", "strategies"),
    ),
    "training": (
        *(
            "extras",
            "logs",
            "hardware",
            "records",
            "figures",
            "outcomes",
            "watchdog",
            "preemption",
        ),
        *(
            "configuration",
            "curation",
            "lessons",
            "lineage",
            "finetuning",
            "autoeval",
            "reporting",
            "workers",
            "rounds",
        ),
        *("planning", "rewards", "exchange", "commands", "cli", "__main__"),
    ),
}
"""Each imports only those before it: an arrow back would make two folders one."""


def neighbours(package: str) -> set[tuple[str, str]]:
    """Return which sub-packages and top-level modules of a package import which others."""
    return {
        (module.split(".")[1], name.split(".")[1])
        for module in of_package(package)
        for name in all_imports()[module] & MODULES.keys()
        if name.startswith(f"{package}.") and module != package and module.split(".")[1] != name.split(".")[1]
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_no_two_parts_of_a_package_import_each_other(package: str) -> None:
    arrows = neighbours(package)
    assert not {pair for pair in arrows if pair[::-1] in arrows}


@pytest.mark.parametrize("package", LAYERS)
def test_each_layer_imports_only_those_below_it(package: str) -> None:
    place = {name: number for number, name in enumerate(LAYERS[package])}
    parts = {module.split(".")[1] for module in of_package(package) if module != package}
    assert parts <= place.keys(), "give a new part its place among the layers"
    assert not {pair for pair in neighbours(package) if place[pair[0]] < place[pair[1]]}


def test_texts_and_logics_know_no_format_and_the_root_is_no_drawer() -> None:
    below_formats = [*below("critics.text"), *below("critics.logic"), *below("critics.grammar")]
    assert not {m for m in below_formats if any(n.startswith("critics.formats") for n in all_imports()[m])}
    entries = {path.stem for path in (ROOT / "critics").iterdir() if not path.name.startswith(("_", "py.typed"))}
    assert len(entries - {"formats"}) <= 12


def test_no_drawers_and_no_name_of_the_standard_library() -> None:
    names = {module: module.rpartition(".")[2] for module in MODULES}
    assert not {module for module, name in names.items() if name in DRAWERS}
    assert not {module for module, name in names.items() if name in sys.stdlib_module_names}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_config_loads(path: Path) -> None:
    from training.configuration.run import load_run

    loaded = load_run(path)
    assert loaded.name.replace("-", "_") == path.stem


def test_there_are_configs() -> None:
    assert CONFIGS


def commands(text: str) -> Iterator[list[str]]:
    """Yield the words after `certistar` of each command line in a fenced `console` or `sh` block."""
    for language, block in FENCED.findall(text):
        if language not in ("console", "sh", "bash", "shell"):
            continue
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|\||;", line.partition(" #")[0]):
                words = part.removeprefix("$ ").split()
                if words and words[0].removeprefix(".venv/bin/") == "certistar":
                    yield words[1:]


def complaints(command: list[str]) -> list[str]:
    """What is wrong with a documented command: a subcommand or an option that does not exist."""
    from training.cli import app

    name, *words = command or ["--help"]
    if name.startswith("-"):
        return [] if name == "--help" else [name]
    shown = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": "200"})
    if shown.exit_code != 0:
        return [name]
    known = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", shown.output))
    options = [word.partition("=")[0] for word in words if word.startswith("-")]
    return [f"{name} {option}" for option in options if option not in known]


def tree_paths(text: str) -> Iterator[str]:
    """Yield the paths of the first fenced block that lists `critics/`, placeholders left out."""
    blocks = [block for _, block in FENCED.findall(text)]
    tree = next((b for b in blocks if re.search(r"^[\s│├└─|`+-]*critics/", b, re.MULTILINE)), "")
    parents: list[tuple[int, str]] = []
    for line in tree.splitlines():
        indent = len(TREE_PREFIX.match(line)[0])  # type: ignore[index]
        while parents and parents[-1][0] >= indent:
            parents.pop()
        folder = parents[-1][1] if parents else ""
        for name in _names(line[indent:]):
            if name in TREE_ROOTS and not folder:
                continue
            if name.endswith("/"):
                parents.append((indent, folder + name))
            if not re.search(r"[<>{}…]|\.\.\.", folder + name):
                yield folder + name


def _names(line: str) -> Iterator[str]:
    """Yield the names at the start of a line of the tree: one, or several with commas between them."""
    for word in line.split():
        yield word.rstrip(",")
        if not word.endswith(","):
            return


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_documents_name_commands_and_options_that_exist(path: Path) -> None:
    shown = list(commands(path.read_text(encoding="utf-8")))
    assert not [complaint for command in shown for complaint in complaints(command)]


def test_the_readme_shows_commands() -> None:
    assert list(commands((ROOT / "README.md").read_text(encoding="utf-8")))


def test_contributing_draws_the_tree_that_is_there() -> None:
    paths = list(tree_paths(CONTRIBUTING.read_text(encoding="utf-8")))
    assert {f"{package}/" for package in PACKAGES} <= set(paths)
    assert not [path for path in paths if not any(ROOT.glob(path.rstrip("/")))]


@pytest.mark.parametrize(("title", "most"), [("to a sampled token", 11), ("to its verdict", 6)])
def test_the_tour_leads_through_files_that_are_there(title: str, most: int) -> None:
    walk = CONTRIBUTING.read_text(encoding="utf-8").partition(f"{title}\n")[2].partition("\n#")[0]
    steps = re.findall(r"^\| \d+ \| `([\w/]+\.py)` \| (.*) \|$", walk, re.MULTILINE)
    assert 0 < len(steps) <= most
    for path, what in steps:
        text = (ROOT / path).read_text(encoding="utf-8")
        for name in re.findall(r"^`(\w+)", what):
            assert re.search(rf"(def|class) {name}\b", text), (path, name)


def test_a_wrong_document_would_be_found() -> None:
    text = "```console\n$ .venv/bin/certistar judge a \\\n    --out b --jbos 2 && certistar jugde  # c\n```\n"
    assert [complaints(command) for command in commands(text)] == [["judge --jbos"], ["jugde"]]
    tree = "```\n.\n├── critics/      judge\n│   ├── kernel.py, gone.py  infer\n└── configs/\n```\n"
    assert list(tree_paths(tree)) == ["critics/", "critics/kernel.py", "critics/gone.py", "configs/"]
