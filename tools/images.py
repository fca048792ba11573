"""The page of all commands, as text: each one's help, and what those print that end in seconds; and one image.

    python -m tools.images

The commands run in `build/images`, on the small inputs that they make for each other, so that no path of a machine is
in the page.
"""

import os
import re
import shlex
import shutil
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
"""Commands that are run, in this order: each finds the files of those before it."""
_DRAWN = "explain"
"""The command that docs/filtering.md shows as an image."""


def main() -> None:
    """Write the page, and draw the image."""
    shutil.rmtree(_WORK, ignore_errors=True)
    _prepare()
    os.chdir(_WORK)
    FOLDER.mkdir(exist_ok=True)
    said = {name: _said(words) for name, words in _SESSIONS.items()}
    (FOLDER / f"{_DRAWN}.svg").write_text(drawn(_SESSIONS[_DRAWN], said[_DRAWN]), encoding="utf-8")
    PAGE.write_text(page(said), encoding="utf-8")


def page(said: Mapping[str, str]) -> str:
    """Return the page: the help of every command, and what was said by those that were run."""
    parts = ["# Commands", "", "Each command's `--help`, and what some print; `python -m tools.images` writes it anew."]
    for name in (*COMMANDS, *FURTHER):
        shown = [("--help", _said(f"{name} --help"))]
        shown += [(_SESSIONS[name].partition(" ")[2], said[name])] if name in said else []
        parts += ["", f"## {name}"]
        for words, text in shown:
            lines = [line.rstrip() for line in text.strip("\n").splitlines()]
            more = (
                [f".. {len(lines) - _MOST_LINES} more lines"] if words != "--help" and len(lines) > _MOST_LINES else []
            )
            lines = lines[:_MOST_LINES] if more else lines
            parts += ["", "```text", f"$ certistar {name} {words}", *lines, *more, "```"]
    return "\n".join([*parts, ""])


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
