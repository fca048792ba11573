"""Runs with a revoked certificate: refused, or cleared of what it taints so that the rounds are made again.

Tainted rounds are moved to `revoked/000` in the run folder, the last round first and a round's dataset last. The run is
refused while a tainted dataset is in place, so that a move that was killed midway is noticed and finished.
"""

from collections.abc import Iterator, Mapping, Set
from pathlib import Path

from critics.errors import RunFailed
from rollout.records.traces import read_trace
from training.lineage.adapter_files import REVOKED
from training.lineage.adapters import AdapterFolder, find_adapters
from training.lineage.entries import LINEAGE, read_entries
from training.lineage.revocation import Revocations, read_revocations, taint, write_mark
from training.records.store import is_stored, read_records

ASIDE = "revoked"
_KEPT = ("traces.jsonl", "traces.jsonl.gz")
"""Files that the first tainted round keeps: its attempts were sampled before anything tainted was trained on."""


class RunTainted(RunFailed):
    """Something that a run would go on from rests on a revoked certificate."""


def settle_revocations(lines: Mapping[str, int], run: Path, *, retrain: bool) -> None:
    """Raise `RunTainted` where a round rests on what is revoked; with `retrain` put those rounds aside instead.

    `lines` has the number of rounds of each line by its path below the run folder.
    """
    revoked = read_revocations(run)
    if not revoked:
        return
    weights = {each.adapter.weights for each in taint(find_adapters([run]), revoked).adapters}
    tainted = {
        path: first
        for path, num in lines.items()
        if (first := next((n for n in range(num) if _is_tainted(_round(run / path, n), revoked, weights)), -1)) >= 0
    }
    if tainted and not retrain:
        shown = ", ".join(f"{path} from round {first} on" for path, first in tainted.items())
        raise RunTainted(
            f"{run}: {shown} rests on a revoked certificate ({run / REVOKED}); add --retrain to put it aside and train "
            "again without the revoked examples"
        )
    if tainted:
        place = _next_place(run / ASIDE)
        for path, first in tainted.items():
            _put_aside(run / path, first, lines[path], place / path, weights)
    write_mark(run, revoked, taint(live_adapters(run), revoked))


def live_adapters(run: Path) -> Iterator[AdapterFolder]:
    """Yield a run's adapters, without those that were put aside."""
    return (a for a in find_adapters([run]) if not is_aside(a.path, run))


def is_aside(path: Path, run: Path) -> bool:
    """Say whether a folder was put aside in a run folder."""
    return path.resolve().is_relative_to(run.resolve() / ASIDE)


def _is_tainted(folder: Path, revoked: Revocations, weights: Set[str | None]) -> bool:
    """Say whether what a round sampled, kept or trained rests on what is revoked; `weights` are tainted adapters'."""
    return (
        _is_sampled_by(folder, weights)
        or _rests_on(folder / "dataset", "summary.json", revoked, weights)
        or _rests_on(folder / "adapter", LINEAGE, revoked, weights)
    )


def _rests_on(folder: Path, last_file: str, revoked: Revocations, weights: Set[str | None]) -> bool:
    if not (folder / last_file).exists() or not is_stored(folder / LINEAGE):
        return False
    origins = (entry.origin for entry in read_entries(folder / LINEAGE))
    return any(revoked.cover(o.certificate, o.engine) or (o.sampler or "base") in weights for o in origins)


def _is_sampled_by(folder: Path, weights: Set[str | None]) -> bool:
    """Say whether a round's attempts, all of which one policy wrote, are a tainted adapter's."""
    traces = folder / "traces.jsonl"
    if not is_stored(traces):
        return False
    first = next(map(read_trace, read_records(traces)), None)
    adapter = None if first is None or first.policy is None else first.policy.adapter
    return (adapter or "base") in weights  # no adapter has the digest "base"


def _put_aside(line: Path, first: int, num_rounds: int, place: Path, weights: Set[str | None]) -> None:
    for number in reversed(range(first, num_rounds)):
        folder = _round(line, number)
        if not folder.is_dir():
            continue
        kept = _KEPT if number == first and not _is_sampled_by(folder, weights) else ()
        names = [path.name for path in folder.iterdir() if path.name not in kept]
        for name in sorted(names, key=lambda name: (name == "dataset", name)):
            target = place / folder.name / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (folder / name).rename(target)


def _round(line: Path, number: int) -> Path:
    return line / f"round-{number:03d}"


def _next_place(folder: Path) -> Path:
    num = len(list(folder.iterdir())) if folder.is_dir() else 0
    return folder / f"{num:03d}"
