"""The adapter of a round: fine-tuned on its dataset, on all GPUs that the line has."""

import shutil
from pathlib import Path

from rollout.records.sampling import derived_seed
from training.finetuning.stage import MANIFEST, FineTuning, fine_tune
from training.hardware import num_training_processes
from training.records.store import read_records, write_json
from training.rounds.line import Line
from training.watchdog import Progress


def fine_tune_round(line: Line, number: int, dataset: Path, adapter: Path | None) -> Path | None:
    """Return the round's adapter; the one before where nothing was kept, since there is nothing to learn from."""
    out = line.round_path(number) / "adapter"
    goes_on = line.config.star.start == "last"
    start = adapter if goes_on else None
    line.on_progress(Progress("training", f"the adapter of round {number}"))
    if next(read_records(dataset / "examples.jsonl"), None) is None:
        write_json(out / MANIFEST, {"trained": False, "reason": "no example was kept"})
        return start
    fine_tune(
        FineTuning(
            model=line.config.model,
            training=line.config.training,
            data=dataset,
            out=out,
            seed=derived_seed(line.seed, "training", number) % 2**32,
            start=start,
            base_digest=line.base_digest,
            nproc=num_training_processes(),
            log=line.run / "log" / f"training-{line.arm.name}-{line.seed}.jsonl",
            tracked_as=line.tracking.run_name,
            heartbeat=line.heartbeat,
        )
    )
    shutil.rmtree(out.with_name(f".{out.name}.work"), ignore_errors=True)  # of one killed just after it was done
    return out
