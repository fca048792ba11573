"""The command line: one file of `training/commands` is one command, loaded when it is asked for.

Exit status:
    0: done.
    1: the work failed, or something was rejected; what was finished is kept.
    2: wrong input: the message names the file, the line, the key or the option, and the remedy.
    75: asked to end by a scheduler (SIGTERM); the same command again goes on.
    130: interrupted; the same command again goes on.
"""

import ast
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

COMMANDS = (
    *("demo", "run", "compare", "report", "reproduce"),
    *("problems", "demonstrate", "rollout", "judge", "explain", "recheck", "filter", "read"),
    *("train", "evaluate", "answer", "guide", "audit"),
    *("export", "push", "pull", "lineage", "doctor"),
)
FURTHER = ("bench", "merge", "schema")
"""Commands for rarer work, below the others in the help."""
ALIASES = {
    **{"prefer": "export", "trace": "explain"},
    **{"audit-data": "audit", "revoke": "lineage"},
}
"""Names that are not listed, with the command that does their work."""
EXIT_STATUS = (
    "\b\nExit status: 0 done, 1 failed or rejected, 2 wrong input, 75 preempted (run it again), 130 interrupted."
)
Plain = partial(typer.Typer, rich_markup_mode=None, pretty_exceptions_enable=False)


class Commands(TyperGroup):
    """A group whose commands are imported one at a time, so that `--help` answers at once."""

    def __init__(self, **settings: Any) -> None:
        settings["commands"] = dict.fromkeys((*COMMANDS, *FURTHER))
        super().__init__(**settings)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command; None where there is none of that name."""
        return command(cmd_name) if cmd_name in (*COMMANDS, *FURTHER, *ALIASES) else None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands by the first line of their docstrings, without importing them."""
        limit = formatter.width - 6 - max(map(len, (*COMMANDS, *FURTHER)))
        for title, names in (("Commands", COMMANDS), ("Further commands", FURTHER)):
            with formatter.section(title):
                shown = ((name, TyperCommand(name, help=_help(name)).get_short_help_str(limit)) for name in names)
                formatter.write_dl(list(shown))


_WRITTEN = ("out", "table", "figure")
"""Options that name what a command writes anew."""
_ASKING = ("answer", "demo", "evaluate", "problems", "rollout", "run")
"""Commands that may ask servers."""


def command(name: str) -> Any:
    """Return a command whose help ends in an example and the exit statuses."""
    module = import_module(f"training.commands.{_module(name)}")
    single = Plain(add_completion=False)
    epilog = f"\b\nExample: {module.EXAMPLE}\n\n{EXIT_STATUS}"
    single.command(name, epilog=epilog)(guarded(getattr(module, _module(name))))
    return typer.main.get_command(single)


def _module(name: str) -> str:
    return ALIASES.get(name, name).replace("-", "_")


def _help(name: str) -> str:
    path = Path(__file__).parent / "commands" / f"{_module(name)}.py"
    functions = ast.parse(path.read_text(encoding="utf-8")).body
    function = _module(name)
    found = next(node for node in functions if isinstance(node, ast.FunctionDef) and node.name == function)
    return ast.get_docstring(found) or ""


def guarded(function: Callable[..., None]) -> Callable[..., None]:
    """Make foreseen failures one line on standard error and exit status 2 or 1."""

    @wraps(function)
    def guarded(*args: Any, **kwargs: Any) -> None:
        from critics.errors import InputError, RunFailed
        from training.extras import lack
        from training.preemption import STATUS, Preempted, raised

        try:
            _refuse_to_overwrite(**kwargs)
            # Other commands end at once, or answer to SIGTERM themselves.
            ended = raised() if function.__name__ == "evaluate" else nullcontext()
            kept: Any = nullcontext()
            if function.__name__ in _ASKING:
                kept = import_module("training.workers.replies").kept_replies(function.__name__, **kwargs)
            with ended, kept:
                function(*args, **kwargs)
        except InputError as error:
            _fail(error, 2)
        except RunFailed as error:
            _fail(error, STATUS if isinstance(error, Preempted) else 1)
        except ModuleNotFoundError as error:
            if (said := lack(error)) is None:
                raise
            _fail(InputError(f"{function.__name__}: {said}"), 2)
        except KeyboardInterrupt:
            _fail(RunFailed("interrupted; run the same command again to go on"), 130)

    return guarded


def _refuse_to_overwrite(**options: object) -> None:
    """Raise `InputError` where a file that is to be read would be written over: what stood in it would be lost."""
    from critics.errors import InputError

    written = {name: path for name in _WRITTEN if isinstance(path := options.get(name), Path) and path.is_file()}
    for name, given in options.items():
        for read in cast(list[object], given) if isinstance(given, list) else [given]:
            if name in _WRITTEN or not isinstance(read, Path) or not read.is_file():
                continue
            for option, path in written.items():
                if path.samefile(read):
                    raise InputError(f"--{option} {path}: is read by this command too, and would be lost; name another")


def _fail(error: Exception, status: int) -> None:
    from training.preemption import STATUS

    if status != STATUS or os.environ.get("RANK", "0") == "0":  # of several that are asked to end, one speaks
        sys.stderr.write(f"certistar: {' '.join(str(error).split())}\n")
    raise typer.Exit(status)


app = Plain(
    name="certistar",
    cls=Commands,
    help="Train language models to reason on nothing but reasoning that a symbolic critic has certified.",
    no_args_is_help=True,
    epilog=f"\b\nExample: certistar demo\n\n{EXIT_STATUS}",
)
app.callback()(lambda: None)
