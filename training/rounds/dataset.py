"""The dataset of a round: what the arm's filter keeps, and where it comes from."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from critics.judge import Judging
from rollout.policies.models import PolicyError
from rollout.policies.policy import load_tokenizer
from rollout.records.sampling import derived_seed
from rollout.records.traces import Trace, read_trace
from training.configuration.learning import CERTIFIED, Text
from training.curation import filters
from training.curation.derivation import derive
from training.curation.outcomes import KeptSummary, coverage
from training.lessons.teaching import ExampleRecord
from training.lineage.entries import (
    LINEAGE,
    Origin,
    entries,
    origin,
    read_entries,
    read_revocations,
    write_entries,
)
from training.lineage.kept import CERTIFICATES, SUMMARY, slim, write_card
from training.lineage.revocation import unrevoked
from training.records.run_folder import DERIVED, read_file
from training.records.store import is_stored, read_records, write_json, write_records
from training.rounds.line import Line, line_path
from training.rounds.rollout import AT_A_TIME, chunks
from training.watchdog import Progress

log = logging.getLogger(__name__)


def curate(line: Line, number: int, judged: Path) -> Path:
    """Return the folder of the round's dataset, with what the filter kept of its judged traces.

    Where rounds start at the base model, it begins with what earlier rounds kept.
    """
    folder = line.round_path(number) / "dataset"
    if (folder / SUMMARY).exists():
        return folder
    progress = Progress("curating", "the dataset of the round")
    line.on_progress(progress)
    candidates = Candidates(judged, _text(line), line.judging(progress))
    selected = filters.select(unrevoked(candidates, read_revocations(line.run)), line.arm.keep)
    kept, foreign = filters.independent(selected, line.arm.keep, candidates.judging)
    if line.arm.false_positives:
        lucky = filters.false_positives(_stored(judged), line.arm.false_positives, line.arm.flaw, seed=line.seed)
        kept = sorted([*kept, *lucky], key=lambda trace: trace.id)
    if line.arm.balance:
        kept = filters.balanced(kept, seed=line.seed)
    if line.arm.match is not None:
        other = next(arm for arm in line.config.arms if arm.name == line.arm.match)
        path = line.run / line_path(line.config, other, line.seed) / f"round-{number:03d}" / "dataset" / "summary.json"
        num = read_file(path)["kept"]
        is_random = line.arm.matched == "random"
        kept = filters.subsample(kept, num, seed=line.seed) if is_random else filters.likeliest(kept, num)
    goes_on = number > 0 and line.config.star.start == "base"
    before = line.round_path(number - 1) / "dataset"
    earlier = read_records(before / "examples.jsonl") if goes_on else ()
    origins = read_entries(before / LINEAGE) if goes_on else ()
    taught = line.strategy.examples(kept, seed=derived_seed(line.seed, "lessons", number))
    prefix = f"round-{number:03d}/"
    fresh: list[ExampleRecord] = [{**example, "id": prefix + example["id"]} for example in taught]
    num_examples = write_records(folder / "examples.jsonl", chain(earlier, fresh))
    of_fresh = entries(fresh, _origins(kept, judged), prefix=prefix)
    write_entries(folder / LINEAGE, chain(origins, of_fresh))
    if candidates.text != "sampled":
        write_records(folder / DERIVED, (trace.record() for trace in kept if trace.derived_from), checksum=True)
    of_before = read_records(before / CERTIFICATES) if goes_on and is_stored(before / CERTIFICATES) else ()
    certified = (slim(trace) for trace in kept if trace.judged.is_certified)
    write_records(folder / CERTIFICATES, chain(of_before, certified), checksum=True)
    summary: KeptSummary = {
        **filters.funnel(candidates.outlines, len(kept)),
        "kept_lucky": sum(map(filters.is_lucky, kept)),
    }
    if candidates.text != "sampled":
        num_cut = sum(trace.derived_from is not None for trace in kept)
        summary.update({"cut": num_cut, "cut_failed": candidates.num_failed})
    if foreign:
        summary["fits_another_problem"] = len(foreign)
    if line.arm.keep == "proved":
        summary["kept_by_grade"] = filters.kept_by_grade(kept)
    if told := filters.by_answer(candidates.outlines, kept):
        summary["by_answer"] = told
    if len(told) > 1 and len(only := [gold for gold, each in told.items() if each["kept"]]) == 1:
        where = f"{line.arm.name}, seed {line.seed}, round {number + 1}"
        log.warning("%s: all %d that were kept answer %s; set balance: true, or sample more", where, len(kept), only[0])
    summary = {**summary, **coverage(kept, _tokenizer(line) if kept else None), "examples": num_examples}
    write_card(folder, f"{line.arm.name}, round {number + 1}", {**summary, "keep": line.arm.keep})
    write_json(folder / SUMMARY, summary)
    return folder


def _tokenizer(line: Line) -> Any:
    """Return the tokenizer of the model that is trained; None where none gives the places of its tokens."""
    try:
        tokenizer = load_tokenizer(line.config.model.pinned)
    except (PolicyError, ImportError):
        return None
    return tokenizer if tokenizer.is_fast else None


def _origins(kept: Sequence[Trace], judged: Path) -> dict[str, Origin]:
    """Return the origins of what is kept, by id; a digest is of the stored line."""
    derived = {trace.id: origin(trace.record()) for trace in kept if trace.derived_from}
    names = {trace.id for trace in kept} - derived.keys()
    return derived | {line["id"]: origin(line) for line in read_records(judged) if line["id"] in names}


def _stored(judged: Path) -> Iterator[Trace]:
    return map(read_trace, read_records(judged, checksum=True))


def _text(line: Line) -> Text:
    """Return to what an arm cuts its texts; one that asks for no certificate cuts none, unless it says so."""
    return line.arm.text or (line.config.training.text if line.arm.keep in CERTIFIED else "sampled")


@dataclass
class Candidates:
    """The traces of a sealed file with what is derived of them; what is counted is known once they were gone through.

    Go through them once.
    """

    path: Path
    text: Text
    judging: Judging
    num_failed: int = 0
    """Texts that were not certified once they were cut."""
    outlines: list[filters.Outline] = field(default_factory=list[filters.Outline])
    """Facts of each trace that the funnel counts; equal ones are one object, so that a million of them are a list."""
    _known: dict[filters.Outline, filters.Outline] = field(default_factory=dict[filters.Outline, filters.Outline])

    def __iter__(self) -> Iterator[Trace]:
        """Yield the candidates in the traces' order."""
        for chunk in chunks(_stored(self.path), AT_A_TIME):
            for counted in map(filters.outline, chunk):
                self.outlines.append(self._known.setdefault(counted, counted))
            derived, failed = (chunk, 0) if self.text == "sampled" else derive(chunk, self.judging, self.text)
            self.num_failed += failed
            yield from derived
