"""Markdown tables, and rates with their intervals as every table and command writes them."""

from collections.abc import Iterable, Sequence

from training.estimates import Estimate, Interval, Proportion


def markdown(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a table in Markdown, a line for each row."""
    return "".join(f"| {' | '.join(row)} |\n" for row in (head, ["---"] * len(head), *rows))


def percent(found: Proportion | Estimate | None, nothing: str = "–") -> str:
    """Return `51.3%`, or `nothing` where nothing was measured."""
    rate = found.rate if isinstance(found, Estimate) else found.rate if found is not None and found.n else None
    return nothing if rate is None else f"{rate:.1%}"


def between(interval: Interval) -> str:
    """Return `48.0% to 54.6%`."""
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def with_interval(found: Proportion | Estimate) -> str:
    """Return `51.3% (48.0% to 54.6%)`, or a dash where nothing was measured."""
    said = percent(found)
    return said if said == "–" else f"{said} ({between(found.interval)})"
