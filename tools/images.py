"""An image of each command's terminal output, for the pages: the commands are run, and what they print is drawn.

    python -m tools.images            every command, anew
    python -m tools.images judge ..   only these, in the folder that the last call left

A command whose work takes minutes, or needs what only a user has, is shown by its help. The commands run in
`build/images`, on the small inputs that they make for each other, so that no path of a machine is in an image.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner

from training.cli import COMMANDS, FURTHER, app

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "images"
PAGE = ROOT / "docs" / "commands.md"
MOST_BYTES = 60_000
_WORK = ROOT / "build" / "images"
_WIDTH = 100
_MOST_LINES = 34
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""Addresses of fonts that an image would load from another machine."""
_SESSIONS: Mapping[str, str] = {
    "problems": "problems prontoqa --num 3 --hops 2 --out problems.jsonl",
    "demonstrate": "demonstrate problems.jsonl --out attempts.jsonl",
    "judge": "judge attempts.jsonl --out verdicts.jsonl",
    "filter": "filter mine.csv --out kept",
    "explain": "explain kept 2",
    "recheck": "recheck kept",
    "export": "export kept --to sharegpt --out sharegpt.json",
    "guide": "guide logic --batch texts.jsonl",
    "audit": "audit --format cot --quick",
    "schema": "schema --out schema.json",
    "doctor": "doctor",
}
"""What is run for each image, in this order: each finds the files of those before it. Any other shows its help."""


def main() -> None:
    """Draw the images that are named, or all, and the page that shows them."""
    named = sys.argv[1:]
    if not named:
        shutil.rmtree(_WORK, ignore_errors=True)
    _prepare()
    os.chdir(_WORK)
    FOLDER.mkdir(exist_ok=True)
    for name in [*_SESSIONS, *(name for name in (*COMMANDS, *FURTHER) if name not in _SESSIONS)]:
        if not named or name in named:
            words = _SESSIONS.get(name, f"{name} --help")
            (FOLDER / f"{name}.svg").write_text(drawn(words, _said(words)), encoding="utf-8")
            print(name, flush=True)
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page that shows every command."""
    parts = ["# Commands", "", "What each command prints, on small inputs; `python -m tools.images` draws it anew.", ""]
    for name in (*COMMANDS, *FURTHER):
        parts += [f"## {name}", "", f"![certistar {name}](images/{name}.svg)", ""]
    return "\n".join(parts)


def drawn(words: str, said: str) -> str:
    """Return an image of a terminal in which a command was typed, and what it said."""
    lines = said.rstrip().splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f".. {len(lines) - _MOST_LINES + 1} more lines"]
    console = Console(record=True, width=_WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text(f"$ certistar {words}", style="bold green"))
    for line in lines:
        console.print(Text(line), overflow="fold")
    return _FONTS.sub("", console.export_svg(title=f"certistar {words.split()[0]}", unique_id=f"c-{words.split()[0]}"))


def _prepare() -> None:
    """Make the inputs that no command makes: the README's table, and texts for a guide."""
    _WORK.mkdir(parents=True, exist_ok=True)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<<'END'\n(.*?)^END$", readme, re.MULTILINE | re.DOTALL)
    (_WORK / "mine.csv").write_text(table, encoding="utf-8")
    (_WORK / "texts.jsonl").write_text('{"id": "a", "text": "Let us see: [["}\n', encoding="utf-8")
    for name in ("configs", "checkpoints"):
        if not (_WORK / name).is_symlink():
            (_WORK / name).symlink_to(ROOT / name)


def _said(words: str) -> str:
    """Run a command as in a terminal of a fixed width, without what its last call left; raises where it fails."""
    split = shlex.split(words)
    if "--out" in split:
        out = _WORK / split[split.index("--out") + 1]
        shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
    done = CliRunner().invoke(app, split, prog_name="certistar", env={"COLUMNS": str(_WIDTH)})
    if done.exit_code:
        raise SystemExit(f"certistar {words}: exit status {done.exit_code}\n{done.output}")
    return done.output


if __name__ == "__main__":
    main()
