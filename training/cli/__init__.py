"""The command line. Every command imports what it needs when it runs, so that `--help` answers at once."""

from itertools import chain

import typer

from training.cli import attempts, machine, models, provenance, runs
from training.command_line import EXIT_STATUS, register

app = typer.Typer(
    name="certistar",
    help="Train language models to reason on nothing but reasoning that a symbolic critic has certified.",
    no_args_is_help=True,
    epilog=f"\b\nExample: certistar demo\n\n{EXIT_STATUS}",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

_GROUPS = (runs, attempts, models, provenance, machine)
for _function in chain.from_iterable(group.COMMANDS for group in _GROUPS):
    register(app, _function)
