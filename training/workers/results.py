"""Results streamed from a worker process, ending in its error if it failed."""

import pickle
import traceback
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from critics.errors import RunFailed

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class WorkerResult(Generic[Made]):
    """Traces or verdicts that a worker made, and the error that ended its work, if one did."""

    made: list[Made]
    error: Exception | None = None


def result_of(making: Iterable[Made]) -> WorkerResult[Made]:
    """Return what is made, and as a value what their making raised after them."""
    done: list[Made] = []
    try:
        done.extend(making)
    except Exception as error:  # noqa: BLE001 - raised again by who asked
        return WorkerResult(done, portable(error))
    return WorkerResult(done)


def portable(error: Exception) -> Exception:
    """Return the error with its traceback as a note; where it cannot travel, another that says what it says."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - what an exception holds may raise anything
        return RunFailed(f"{type(error).__name__}: {error}")
    error.add_note("".join(traceback.format_exception(error)))
    return error
