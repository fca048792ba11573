"""Calling anybody's reward function as its trainer would, and telling what it paid from what went wrong.

An exception, a NaN or a list of another length is a fault of the row at which it happens, and never a crash of ours.
"""

import asyncio
import importlib
import inspect
import math
import os
import sys
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, cast

from critics.errors import InputError
from critics.formats.names import ENGLISH
from critics.judge import JudgePool
from critics.problem import Attempt, Problem
from rollout.records.traces import read_judgement
from training.rewards.certified import reward, said_in

_NEVER_COLUMNS = frozenset({"prompt", "prompts", "completion", "completions"})


@dataclass(frozen=True, slots=True)
class Rollout:
    """A completion that is rewarded, and what stands beside it."""

    id: str
    prompt: str
    completion: str
    columns: Mapping[str, object]
    """Values that a trainer passes by name: the gold answer, and the data set's other columns."""
    problem: Problem | None = None
    format: str = ENGLISH


@dataclass(frozen=True, slots=True)
class Paid:
    """Reward of one rollout: a number, None where the function says nothing on purpose, or the fault."""

    reward: float | None
    fault: str | None = None


Rewarding: TypeAlias = Callable[[Sequence[Rollout]], list[Paid]]


class UnusableReward(InputError):  # noqa: N818
    """A reward that cannot be called at all; the message says what to change."""


@contextmanager
def rewarding(entry: str, *, timeout_s: float, jobs: int = 1, turns: bool = False) -> Generator[Rewarding]:
    """Give what pays rollouts as `entry` says: our critics, or `module:function`.

    `turns`: prompts and completions are lists of messages, and no texts.
    """
    with asyncio.Runner() as runner, JudgePool(jobs=jobs, timeout_s=timeout_s) as pool:
        if entry == "certistar":
            yield partial(_by_critics, pool)
            return
        function = _imported(entry)
        accepted = _Taking.of(function, entry)
        if "completions" not in accepted.names:
            raise UnusableReward(
                f"{entry}: has no parameter `completions`, as TRL passes it; write a function around it that has one"
            )
        yield partial(_at_once, accepted, turns, runner)


def _imported(entry: str) -> Callable[..., Any]:
    module_name, colon, attribute = entry.partition(":")
    if not colon or not attribute:
        raise UnusableReward(f"{entry!r} is no reward: write module:function or certistar")
    if (here := os.getcwd()) not in sys.path:  # noqa: PTH109
        sys.path.append(here)
    try:
        found: Any = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise UnusableReward(f"{entry}: cannot be imported from {here} ({told}); write module:function") from error
    if not callable(found) or inspect.isclass(found):
        raise UnusableReward(
            f"{entry}: is no function but {type(found).__name__}; name a function or a callable object"
        )
    return found


@dataclass(frozen=True, slots=True)
class _Taking:
    """A reward function that is given the columns that it takes."""

    function: Callable[..., Any]
    entry: str
    names: frozenset[str]
    required: frozenset[str]
    takes_all: bool

    @staticmethod
    def of(function: Callable[..., Any], entry: str) -> "_Taking":
        try:
            listed = inspect.signature(function).parameters.values()
        except (TypeError, ValueError) as error:
            raise UnusableReward(
                f"{entry}: its parameters cannot be read ({error}); write a function around it"
            ) from error
        named = [each for each in listed if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
        required = frozenset(each.name for each in named if each.default is each.empty)
        takes_all = any(each.kind is each.VAR_KEYWORD for each in listed)
        return _Taking(function, entry, frozenset(each.name for each in named), required, takes_all)

    def __call__(self, **values: Any) -> Any:
        """Call it; raises `UnusableReward` where it needs a value that is not there."""
        if missing := sorted(self.required - values.keys()):
            raise UnusableReward(
                f"{self.entry}: its parameter {missing[0]!r} is no column (there are {', '.join(sorted(values))}); "
                f"if it is the gold answer, say --columns answer={missing[0]}, else write a function around it"
            )
        return self.function(**{name: values[name] for name in values if self.takes_all or name in self.names})


def _shown(role: str, text: str, turns: bool) -> Any:
    return [{"role": role, "content": text}] if turns else text


def _at_once(call: Callable[..., Any], turns: bool, runner: asyncio.Runner, rollouts: Sequence[Rollout]) -> list[Paid]:
    """Pay a batch; where that fails each of its rows alone, so that the row is named."""
    names = dict.fromkeys(name for each in rollouts for name in each.columns if name not in _NEVER_COLUMNS)
    prompts = [_shown("user", each.prompt, turns) for each in rollouts]
    completions = [_shown("assistant", each.completion, turns) for each in rollouts]
    columns = {name: [each.columns.get(name) for each in rollouts] for name in names}
    try:
        with redirect_stdout(sys.stderr):
            result: Any = call(prompts=prompts, completions=completions, **columns)
            result = runner.run(_awaited(result)) if inspect.isawaitable(result) else result
            if type(result) in (dict, str, type(None)):
                raise TypeError(f"gave {type(result).__name__} and no list")
            listed = list(cast("Iterable[Any]", result))
        if len(listed) != len(rollouts):
            raise ValueError(f"gave {len(listed)} rewards for {len(rollouts)} completions")
        return list(map(_read, listed))
    except UnusableReward:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001
        if len(rollouts) == 1:
            return [_fault(error)]
        alone = [paid for each in rollouts for paid in _at_once(call, turns, runner, [each])]
        if not any(paid.fault for paid in alone):
            alone[0] = Paid(None, f"in a batch of {len(rollouts)}: {_fault(error).fault}")
        return alone


async def _awaited(result: Awaitable[Any]) -> Any:
    return await result


def _read(value: Any) -> Paid:
    """Read a number of Python, numpy or torch."""
    if value is None:
        return Paid(None)
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except Exception as error:  # noqa: BLE001
        return _fault(error)
    return Paid(number) if math.isfinite(number) else Paid(None, f"gave {str(value)[:60]!r}, which is no finite number")


def _fault(error: BaseException) -> Paid:
    return Paid(None, " ".join(f"{type(error).__name__}: {error}".split())[:300])


def _by_critics(pool: JudgePool, rollouts: Sequence[Rollout]) -> list[Paid]:
    """Pay what reinforcement pays; nothing where there is no problem that a critic could read."""
    known = [(each, each.problem) for each in rollouts if each.problem is not None]
    texts = [said_in(each.completion).judged("judged") for each, _ in known]
    attempts = [Attempt(e.id, p, e.format, text).record() for (e, p), text in zip(known, texts, strict=True)]
    paid = {
        each.id: Paid(reward(read_judgement(verdict), each.format))
        for (each, _), verdict in zip(known, pool.judge(attempts), strict=True)
    }
    return [paid.get(each.id, Paid(None)) for each in rollouts]
