"""`filter`: traces in, a folder that can be trained on out."""

from pathlib import Path
from typing import Any

from critics.errors import InputError
from critics.plugin_certificates import recheck
from critics.verdict import VERDICTS
from training.commands.messages import print_counts, say
from training.commands.problems import read_problems
from training.commands.verdicts import judged, read_attempts
from training.configuration.section import nearest
from training.curation.derivation import DERIVED, Derivation, contents_of, derivation_counts, derive, is_derived
from training.curation.filters import KEEPS, faithfulness_counts, funnel, select
from training.lineage.entries import LINEAGE, entries, origin
from training.records.store import read_records, write_json, write_records
from training.rounds.strategy import file_examples


def filter_file(
    path: Path,
    verdicts: Path | None,
    keep: str,
    out: Path,
    jobs: int,
    timeout_s: float,
    as_json: bool,
    *,
    prune: bool = False,
    hindsight: bool = False,
    held_out: Path | None = None,
) -> None:
    """Write a dataset folder: examples.jsonl and summary.json, and derived.jsonl where traces are made of traces."""
    if keep not in KEEPS:
        raise InputError(f"--keep {keep!r} is not known; {nearest(keep, KEEPS)}")
    derivation = _derivation(keep, prune, hindsight, held_out)
    traces = with_verdicts(read_attempts(path), path, verdicts, jobs, timeout_s)
    candidates, failures = derive(traces, derivation, lambda drafts: judged(list(drafts), jobs, timeout_s))
    kept = select(candidates, keep)  # type: ignore[arg-type]
    examples = file_examples(kept)
    write_records(out / "examples.jsonl", examples)
    write_records(out / LINEAGE, entries(examples, {trace["id"]: origin(trace) for trace in kept}))
    if derivation.wanted:
        write_records(out / DERIVED, filter(is_derived, kept), checksum=True)
    made = derivation_counts(kept, failures, derivation)
    made |= faithfulness_counts(traces) if keep == "faithful" else {}
    summary = {**funnel(traces, len(kept)), **made, "examples": len(examples), "keep": keep}
    write_json(out / "summary.json", summary)
    shown = {k: summary[k] for k in ("sampled", "right", "certified", "lucky", *made, "kept")}
    print_counts(summary if as_json else shown, as_json)


def _derivation(keep: str, prune: bool, hindsight: bool, held_out: Path | None) -> Derivation:
    for option, wanted in (("--prune", prune), ("--hindsight", hindsight)):
        if wanted and keep != "strict":
            raise InputError(f"{option} needs --keep strict, because what it makes is judged by its proof")
    if held_out is not None and not hindsight:
        raise InputError("--held-out is for --hindsight, which alone asks new questions; leave it out")
    if hindsight and held_out is None:
        say("relabelled problems are not compared with evaluation problems; name these by --held-out FILE")
    return Derivation(prune, hindsight, None if held_out is None else contents_of(read_problems(held_out)))


def with_verdicts(
    traces: list[dict[str, Any]], path: Path, verdicts: Path | None, jobs: int, timeout_s: float
) -> list[dict[str, Any]]:
    """Attach verdicts: from the file, else the trace's own, else judged now."""
    given = _read_verdicts(verdicts) if verdicts else {}
    for trace in traces:
        if trace["id"] in given:
            trace["judgement"] = given[trace["id"]]
        elif verdicts is not None:
            raise InputError(f"{verdicts}: there is no verdict for attempt {trace['id']!r} of {path}")
    unjudged = [trace for trace in traces if "judgement" not in trace]
    for trace, verdict in zip(unjudged, judged(unjudged, jobs, timeout_s) if unjudged else (), strict=True):
        trace["judgement"] = verdict
    _refuse_false_certificates(traces)
    return traces


def _read_verdicts(path: Path) -> dict[str, dict[str, Any]]:
    given: dict[str, dict[str, Any]] = {}
    for number, record in enumerate(read_records(path), 1):
        if not isinstance(record.get("id"), str) or record.get("verdict") not in VERDICTS:
            raise InputError(f"{path}: record {number}: a verdict needs an id and one of {', '.join(VERDICTS)}")
        given[record["id"]] = {"reason": "", "answer": None, "feedback": "", "certificate": None, **record}
    return given


def _refuse_false_certificates(traces: list[dict[str, Any]]) -> None:
    """A verdict from a file is believed only as far as its certificate holds and is about this very problem."""
    for trace in traces:
        rejected = recheck([trace])["rejected"]
        if rejected:
            raise InputError(
                f"attempt {trace['id']!r} is said to be certified and its certificate does not hold "
                f"({rejected[0]['reason']}); judge it again"
            )
