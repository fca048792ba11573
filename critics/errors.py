"""Errors that users see, and the one of texts that cannot be read; everything else is a bug and shows its traceback.

InputError   a file, a line, a key or a folder is not what it should be: exit status 2
RunFailed    the work itself failed, and what was finished is kept: exit status 1
"""


class ReasonedError(ValueError):
    """A text is not of its language: `reason` is one machine-readable word, the message says where and why."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class InputError(ValueError):
    """Input that cannot be used; the message names the file, the line or the key, and the remedy."""


class RunFailed(RuntimeError):  # noqa: N818
    """The run cannot go on; the message says why and what to do."""
