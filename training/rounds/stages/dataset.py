"""The dataset of a round: what the arm's filter keeps, and where it comes from."""

import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from rollout.traces import derived_seed
from training.curation.derivation import DERIVED, Derivation, contents_of, derivation_counts, is_derived
from training.curation.filters import funnel, select, subsample
from training.lineage.entries import LINEAGE, Entry, entries, entries_of_dataset, origin, write_entries
from training.lineage.revocation import read_revocations, unrevoked
from training.records.store import read_records, write_json, write_records
from training.rounds.candidates import Candidates
from training.rounds.line import Line, line_path
from training.watchdog import Beat


def curate(line: Line, number: int, traces: Path) -> None:
    """Write the round's dataset: what the filter kept, after what earlier rounds kept where rounds start at base."""
    folder = line.round_path(number) / "dataset"
    if (folder / "summary.json").exists():
        return
    beat = Beat("curating", "the dataset of the round")
    line.pulse(beat)
    derivation = derivation_of(line)
    candidates = Candidates(traces, derivation, line.judging(beat))
    kept = select(unrevoked(candidates, read_revocations(line.run)), line.arm.keep)
    if line.arm.match is not None:
        kept = subsample(kept, _num_kept_by(line, line.arm.match, number), seed=line.seed)
    earlier: Iterable[dict[str, Any]] = ()
    origins: Iterable[Entry] = ()
    if number and line.config.star.start == "base":
        before = line.round_path(number - 1) / "dataset"
        earlier, origins = read_records(before / "examples.jsonl"), entries_of_dataset(before)
    taught = line.strategy.examples(kept, seed=derived_seed(line.seed, "lessons", number))
    prefix = f"round-{number:03d}/"
    fresh = [{**example, "id": prefix + example["id"]} for example in taught]
    num_examples = write_records(folder / "examples.jsonl", chain(earlier, fresh))
    of_fresh = entries(fresh, {trace.id: origin(trace.record()) for trace in kept}, prefix=prefix)
    write_entries(folder / LINEAGE, chain(origins, of_fresh))
    if derivation.wanted:
        write_records(folder / DERIVED, (trace.record() for trace in kept if is_derived(trace)), checksum=True)
    counts = {**funnel(candidates.outlines, len(kept)), **derivation_counts(kept, candidates.failures, derivation)}
    write_json(folder / "summary.json", {**counts, "examples": num_examples})


def derivation_of(line: Line) -> Derivation:
    """Return what the arm makes of its traces; the held-out problems are compared where questions are rewritten."""
    held_out = contents_of(line.held_out) if line.arm.hindsight else None
    return Derivation(line.arm.prune, line.arm.hindsight, held_out)


def _num_kept_by(line: Line, arm_name: str, number: int) -> int:
    other = next(arm for arm in line.config.arms if arm.name == arm_name)
    path = line.run / line_path(line.config, other, line.seed) / f"round-{number:03d}" / "dataset" / "summary.json"
    return json.loads(path.read_text())["kept"]
