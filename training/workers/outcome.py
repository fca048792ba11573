"""What comes back from another process: records, and after them the error that ended the work, if one did."""

import pickle
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from critics.errors import RunFailed

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker got done, and what ended it, if anything did."""

    records: list[Record]
    error: Exception | None = None


def outcome(records: Iterable[Record]) -> Outcome:
    """Return the records, and as a value what their making raised after them."""
    done: list[Record] = []
    try:
        done.extend(records)
    except Exception as error:  # noqa: BLE001 - raised again by who asked
        return Outcome(done, portable(error))
    return Outcome(done)


def portable(error: Exception) -> Exception:
    """Return the error with its traceback as a note; where it cannot travel, another that says what it says."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - what an exception holds may raise anything
        return RunFailed(f"{type(error).__name__}: {error}")
    error.add_note("".join(traceback.format_exception(error)))
    return error
