"""`train`: a dataset folder in, an adapter out."""

import os
from pathlib import Path
from typing import Annotated

import typer

from training.commands.options import Config, Json, Out, Overrides, Seed, say_or_print

EXAMPLE = "certistar train configs/smoke.yaml --data kept --out adapter"


def train(
    config: Config,
    out: Out,
    data: Annotated[Path, typer.Option("--data", help="A folder that `filter` or a round wrote.", show_default=False)],
    nproc: Annotated[str, typer.Option("--nproc", help="Processes on this machine: a number, or auto.")] = "auto",
    nnodes: Annotated[int, typer.Option("--nnodes", min=1, help="Machines that train together.")] = 1,
    rendezvous: Annotated[
        str, typer.Option("--rendezvous", help="HOST:PORT of one of them, where there are several.")
    ] = "",
    seed: Seed = 0,
    overrides: Overrides = None,
    as_json: Json = False,
) -> None:
    """Fine-tune the configuration's model; starts torchrun itself where there are several GPUs."""
    from rollout.policies.policy import model_digest
    from training.configuration.run import load_run
    from training.configuration.section import ConfigError
    from training.finetuning.examples import examples_path
    from training.finetuning.job import check_installed
    from training.finetuning.stage import FineTuning, fine_tune
    from training.logs import quieten

    quieten()
    loaded = load_run(config, overrides)
    examples_path(data)
    if nproc != "auto" and not (nproc.isdigit() and int(nproc) > 0):
        raise ConfigError(f"--nproc {nproc!r}: write a number from 1, or auto")
    check_installed(loaded.training.trackers)
    job = FineTuning(
        model=loaded.model,
        training=loaded.training,
        data=data,
        out=out,
        seed=seed,
        base_digest=model_digest(loaded.model.pinned),
        nproc=_num_processes(nnodes) if nproc == "auto" else int(nproc),
        progress=True,
        nnodes=nnodes,
        rendezvous=rendezvous,
        log=out.parent / "log" / f"{out.name}.jsonl",
    )
    trained = fine_tune(job)
    if int(os.environ.get("RANK", "0")):
        return  # of several that were started elsewhere, one speaks
    said = f"trained on {trained.examples} examples, {trained.supervised_tokens} supervised tokens; adapter in {out}"
    said = f"{said}, losses in {job.log}"
    say_or_print(said, {**trained.record(), "out": str(out)}, as_json)


def _num_processes(nnodes: int) -> int:
    """Return as many processes as a launcher started on a machine, or one a GPU where there was none."""
    from training.finetuning.torchrun import launched_already
    from training.hardware import num_training_processes

    return int(os.environ["WORLD_SIZE"]) // nnodes if launched_already() else num_training_processes()
