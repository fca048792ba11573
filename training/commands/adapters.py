"""`train`: a dataset folder in, an adapter out."""

from pathlib import Path

from training.commands.messages import say_or_print
from training.configuration.run import load_run
from training.configuration.section import ConfigError
from training.finetuning.example_files import examples_path
from training.finetuning.trackers import check_installed
from training.logs import quieten


def train_files(
    config_path: Path,
    data: Path,
    out: Path,
    nproc: str,
    seed: int,
    overrides: list[str] | None,
    *,
    nnodes: int = 1,
    rendezvous: str = "",
    as_json: bool = False,
) -> None:
    """Fine-tune on a dataset folder."""
    config = load_run(config_path, overrides)
    examples_path(data)
    if nproc != "auto" and not (nproc.isdigit() and int(nproc) > 0):
        raise ConfigError(f"--nproc {nproc!r}: write a number from 1, or auto")
    from rollout.policy import model_digest
    from training.finetuning.stage import FineTuning, fine_tune
    from training.hardware import num_training_processes

    check_installed(config.training.trackers)
    quieten()
    job = FineTuning(
        model=config.model,
        training=config.training,
        data=data,
        out=out,
        seed=seed,
        base_digest=model_digest(config.model.name),
        nproc=num_training_processes() if nproc == "auto" else int(nproc),
        progress=True,
        nnodes=nnodes,
        rendezvous=rendezvous,
        log=out.parent / "log" / f"{out.name}.jsonl",
    )
    made = fine_tune(job)
    said = f"trained on {made['examples']} examples, {made['supervised_tokens']} supervised tokens; adapter in {out}"
    say_or_print(said, {**made, "out": str(out)}, as_json)
