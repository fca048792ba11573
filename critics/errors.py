"""Errors that users see; everything else is a bug and shows its traceback.

InputError   a file, a line, a key or a folder is not what it should be: exit status 2
RunFailed    the work itself failed, and what was finished is kept: exit status 1
"""


class InputError(ValueError):
    """Input that cannot be used; the message names the file, the line or the key, and the remedy."""


class RunFailed(RuntimeError):  # noqa: N818
    """The run cannot go on; the message says why and what to do."""
