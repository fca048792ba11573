"""Every example of `--help` runs as written, one after the other in a folder that holds what a clone does."""

import contextlib
import importlib.util
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from typer import Exit
from typer.testing import CliRunner

from training import cli

ROOT = Path(__file__).parents[1]
QUICK = (
    *("schema", "read", "guide", "doctor", "problems", "demonstrate", "judge", "recheck", "filter", "explain"),
    *("export", "train", "merge", "rollout", "answer", "evaluate"),
)
"""Each makes what the next ones name."""
SLOW = ("run", "lineage", "push", "pull", "demo", "compare", "report", "reproduce", "audit", "bench")
NUM_ASKED = 2
"""Problems that are left to the commands that ask a model."""
FILES = {
    "contract.txt": "Every lease is a contract. Paper nine is a lease.\n",
    "texts.jsonl": '{"id": "a", "text": "[[axiom:(cat rex)]] [[goal:(cat rex)]] "}\n',
    "rationales.csv": "context,question,rationale\n"
    + "".join(
        f'Every cat is a mammal. {name} is a cat.,Is {name} a mammal?,"{name} is a mammal. Answer: yes"\n'
        for name in ("Rex", "Max", "Fay")
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("clone")
    (made / "configs").symlink_to(ROOT / "configs")
    (made / "checkpoints").mkdir()
    for each in (ROOT / "checkpoints").iterdir():
        (made / "checkpoints" / each.name).symlink_to(each)
    for name, text in FILES.items():
        (made / name).write_text(text, encoding="utf-8")
    with contextlib.chdir(made):
        yield made


def run_example(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the example that a command's help ends in, as a shell in the folder would."""
    monkeypatch.setenv("PWD", str(folder))
    (line,) = (line for line in cli.command(name).epilog.splitlines() if line.startswith("Example: "))
    program, *words = shlex.split(os.path.expandvars(line.removeprefix("Example: ")))
    assert program == "certistar"
    done = CliRunner().invoke(cli.app, words)
    assert done.exit_code == 0, done.output


def test_every_command_is_in_one_of_the_lists() -> None:
    assert sorted((*QUICK, *SLOW)) == sorted((*cli.COMMANDS, *cli.FURTHER))


@pytest.mark.xdist_group("help examples")
def test_examples_of_seconds_run_as_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in QUICK:
        run_example(name, folder, monkeypatch)
        if name == "train":
            lines = (folder / "problems.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
            assert len(lines) == 200
            (folder / "problems.jsonl").write_text("".join(lines[:NUM_ASKED]), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.xdist_group("help examples")
@pytest.mark.parametrize("name", SLOW)
def test_examples_of_minutes_run_as_written(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "audit" and importlib.util.find_spec("reasoning_gym") is None:
        pytest.skip("reasoning-gym is not installed")
    if name == "bench" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    run_example(name, folder, monkeypatch)


def test_every_command_on_every_page_has_the_options_that_it_is_given() -> None:
    seen = 0
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for line in re.findall(r"^certistar (.*)$", block.replace("\\\n", " "), re.MULTILINE):
                name, *words = shlex.split(line, comments=True)
                end = next((at for at, word in enumerate(words) if word in ("|", ">", "&&", "&")), len(words))
                with contextlib.suppress(Exit):  # of --help
                    cli.command(name).make_context(name, words[:end])
                seen += 1
    assert seen > 100
