"""Fine-tuning: transformers' Trainer on kept examples, LoRA by default, loss on the completion only.

Own code is the collators, the checks on examples, weights and losses, and the manifest; precision, accumulation,
distribution, optimisers and resuming are the Trainer's. The adapter is in place when its manifest is.
"""

import atexit
import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from critics.errors import InputError, RunFailed
from rollout.decoding.rows import is_out_of_memory
from rollout.policies.models import require_positions
from rollout.policies.policy import load_tokenizer
from rollout.records.digests import adapter_weights_digest
from training.configuration.fine_tuning import USUAL_ROWS, TrainingConfig
from training.finetuning import torchrun
from training.finetuning.architecture import require_suited
from training.finetuning.compute import ModelShape, explanation, fits
from training.finetuning.examples import Example, length, read_examples, rows_of
from training.finetuning.job import FineTuning, PeerLost, TrainingFailed, quiet, read_job
from training.hardware import memory_of_a_core
from training.lineage.adapters import MANIFEST, AdapterManifest, not_finite, read_manifest
from training.lineage.entries import LINEAGE, check_dataset, lineage_digest, read_entries
from training.logs import quieten
from training.preemption import Preempted, noticed
from training.records.store import is_disk_full, read_records, write_json, write_records

SHOWN_S = 60.0
ON = "run the same command again to go on"


def fine_tune(job: FineTuning) -> AdapterManifest:
    """Run a fine-tuning here, or under torchrun where it has several processes; return the manifest.

    An adapter that is there already is returned if it is this very fine-tuning's. Raises `InputError` for any other.
    """
    if (job.out / MANIFEST).exists():
        made = read_manifest(job.out / MANIFEST)
        origin = job.origin()
        of = [name for name, digest in origin.items() if getattr(made, name) != digest]
        if not made.trained or of:
            why = (
                f"was made with another {' and another '.join(of)}" if made.trained else "says that nothing was trained"
            )
            raise InputError(f"{job.out}: is there already and {why}; name another --out, or delete it to train anew")
        if made.weights != adapter_weights_digest(job.out):
            raise InputError(f"{job.out}: its weights are not those that {MANIFEST} names; delete it to train anew")
        return made
    if job.num_processes > 1 and not torchrun.launched_already():
        torchrun.launch(job)
        return _made(job)
    return train_here(job)


def train_here(job: FineTuning) -> AdapterManifest:
    """Fine-tune in this process, which under torchrun is one of several; raises `TrainingFailed`."""
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if world_size != job.num_processes:
        raise TrainingFailed(f"{job.num_processes} training processes were asked for and {world_size} run")
    if torchrun.launched_already():
        torchrun.check_launcher(job.training, os.environ)
    try:
        return _train(job)
    except Exception as error:
        if isinstance(error, InputError | RunFailed):
            raise
        if is_disk_full(error, job.out):
            raise TrainingFailed(f"no room is left on the disk of {job.out}; make some, and {ON}") from error
        if is_out_of_memory(error):
            raise TrainingFailed(explanation(job.training, job.num_processes)) from error
        if job.num_processes > 1 and torchrun.is_lost_peer(error):
            raise PeerLost(torchrun.lost_peer(error)) from error
        raise


def _train(job: FineTuning) -> AdapterManifest:
    quieten()
    import torch
    from transformers import set_seed

    from training.finetuning.architecture import trainable_model
    from training.finetuning.trainer import (
        build_trainer,
        check_goes_on,
        delete_broken,
        leave_group,
        newest_whole,
        wait_for_all,
    )

    if not torch.cuda.is_available():
        torch.set_num_threads(1)  # two busy threads on two busy cores were measured five times slower than one
    tokenizer = load_tokenizer(job.model.pinned)
    settings = job.training
    examples = read_examples(job.data, job.model, tokenizer, max_tokens=settings.max_tokens, loss_on=settings.loss_on)
    check_dataset(job.data)
    set_seed(job.seed)
    architecture = require_suited(job.model, settings)
    model = trainable_model(job, architecture)
    require_positions(model, max(example.num_tokens for example in examples), "an example")
    work = job.out.with_name(f".{job.out.name}.work")
    rows = rows_of(examples, job.training)
    job = replace(job, training=_settled(job, architecture.shape, max(map(length, rows))))
    max_steps = _step_limit(job.training, len(rows), job.num_processes)
    trainer = build_trainer(job, model, tokenizer, rows, work, max_steps)
    if (checkpoint := newest_whole(work)) is not None:
        check_goes_on(checkpoint, trainer.of)
        trainer.goes_on_from = checkpoint
    wait_for_all()
    if trainer.is_world_process_zero():
        delete_broken(work)
    with quiet(job.tracking), noticed():
        result = trainer.train(resume_from_checkpoint=trainer.goes_on_from and str(trainer.goes_on_from))
    if (step := trainer.on_request.stopped_at) is not None:
        raise Preempted(f"asked to end (SIGTERM): checkpoint at step {step} in {work}; {ON}")
    accelerator, loss = trainer.accelerator, result.metrics["train_loss"]
    # Weights that processes hold in parts, all of them must ask for.
    whole = None if job.training.sharding == "none" else accelerator.get_state_dict(trainer.model)
    if accelerator.num_processes > 1:  # of the steps after the last logged one, each has its own rows' loss
        loss = float(accelerator.gather(torch.tensor([loss], dtype=torch.float64, device=accelerator.device)).mean())
    if trainer.is_world_process_zero():
        _put_in_place(job, accelerator.unwrap_model(trainer.model), whole, work, examples, loss)
    wait_for_all()
    atexit.register(leave_group)
    return _made(job)


def _made(job: FineTuning) -> AdapterManifest:
    """Return the manifest that the first machine wrote, which a network's file system may show others late."""
    path = job.out / MANIFEST
    deadline = monotonic() + (SHOWN_S if job.nnodes > 1 else 0)
    while not path.exists():
        if monotonic() > deadline:
            raise TrainingFailed(f"{path} is not to be seen on this machine; --out must lie where all machines see it")
        sleep(1)
    return read_manifest(path)


def _step_limit(config: TrainingConfig, num_rows: int, nproc: int) -> int:
    """Return the Trainer's `max_steps`: the limit where the epochs would reach it, else -1 (no limit)."""
    steps = config.num_steps(num_rows, nproc)
    return steps if 0 < steps == config.max_steps else -1


def _settled(job: FineTuning, shape: ModelShape | None, longest: int) -> TrainingConfig:
    """Return the settings with the rows that this process computes at once; `longest` is a row's tokens."""
    if job.training.batch_size is not None:
        return job.training.on(job.num_processes)
    if shape is None:
        return job.training.on(job.num_processes, lambda rows: rows <= USUAL_ROWS)
    import torch

    gpu: Any = torch.cuda if torch.cuda.is_available() else None
    fit = fits(
        shape,
        job.training,
        tokens=longest,
        bytes_a_weight=2 if gpu and job.model.dtype != "float32" else 4,
        num_processes=job.num_processes,
        memory=gpu.get_device_properties(gpu.current_device()).total_memory if gpu else memory_of_a_core(),
    )
    return job.training.on(job.num_processes, fit)


def _put_in_place(job: FineTuning, model: Any, whole: Any, work: Path, examples: list[Example], loss: float) -> None:
    """Save the weights beside, look at them, move them over, and write the manifest last."""
    saved = work / "final"
    shutil.rmtree(saved, ignore_errors=True)
    model.save_pretrained(str(saved), **({} if whole is None else {"state_dict": whole}))
    if (strange := not_finite(saved)) is not None:
        raise TrainingFailed(
            f"{strange} has numbers that are not finite, so nothing was saved; lower the learning rate"
        )
    if (adapter := saved / "adapter_config.json").exists():
        config = json.loads(adapter.read_text(encoding="utf-8"))
        if isinstance(config.get("target_modules"), list):  # from a set, whose order differs between processes
            write_json(adapter, {**config, "target_modules": sorted(config["target_modules"])})
    shutil.rmtree(job.out, ignore_errors=True)
    job.out.mkdir(parents=True)
    for path in sorted(saved.iterdir()):
        if path.suffix in (".safetensors", ".json"):
            path.replace(job.out / path.name)
    # Where the examples come from lies beside the weights, so that an adapter that is moved keeps its origin.
    if (job.data / LINEAGE).exists():
        write_records(job.out / LINEAGE, read_records(job.data / LINEAGE))
    write_json(job.out / MANIFEST, dict(_manifest(job, examples, round(loss, 6)).record()))
    shutil.rmtree(work, ignore_errors=True)


def _manifest(job: FineTuning, examples: list[Example], loss: float) -> AdapterManifest:
    """Return what the adapter was made from, by digest, and the digest of its weights, which are in place."""
    from training.finetuning.trainer import uses_bfloat16

    lineage = job.out / LINEAGE
    return AdapterManifest(
        trained=True,
        **job.origin(),
        lineage=lineage_digest(read_entries(lineage)) if lineage.exists() else None,
        weights=adapter_weights_digest(job.out),
        precision="bfloat16" if uses_bfloat16(job.training) else "float32",
        examples=len(examples),
        supervised_tokens=sum(example.num_learnt for example in examples),
        mean_loss=loss,
    )


def _main(spec: Path) -> int:
    """Do one process's part of a job; return its exit status."""
    torchrun.die_with_starter()
    try:
        train_here(read_job(spec))
    except (InputError, RunFailed) as error:
        torchrun.write_failure(spec, error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1])))
