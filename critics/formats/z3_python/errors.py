"""Errors of scripts, forbidden actions and mistakes alike; everything that reads and runs scripts raises these."""


class ScriptError(Exception):
    """The script cannot go on; `reason` is the short machine-readable word, the text is what an actor is told."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.line: int | None = None
        """Set by the interpreter, at the innermost statement that failed."""

    def told(self) -> str:
        """Return the message with the line that it is about."""
        return str(self) if self.line is None else f"line {self.line}: {self}"


class Exhausted(ScriptError):  # noqa: N818
    """A budget of the interpreter's own ran out: unknown, not wrong."""


class Stopped(Exception):  # noqa: N818
    """The script called `exit`, which ends it as well as its last line does."""
