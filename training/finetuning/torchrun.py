"""Several processes of a fine-tuning: torchrun, and what they share of a model.

`accelerate launch --cpu` would silently run one process, and FSDP without an accelerator plain data parallelism: what
was asked for is asserted after start-up.

A process that fails for a reason that we foresaw writes it beside the job, so that the command which started
torchrun can end with that one line in the place of torchrun's summary.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from time import monotonic, sleep
from typing import Any

from critics.errors import InputError, RunFailed
from critics.workers.own_time import die_with_parent
from training.configuration.fine_tuning import TrainingConfig
from training.finetuning.job import FineTuning, PeerLost, TrainingFailed, read_job, write_job
from training.lineage.adapters import MANIFEST
from training.preemption import Preempted, handled

SETTLE_S = 30.0
"""Beyond the patience of a job: how long torchrun may take when its processes are done."""
AGAIN = "start the same command on all machines again: it goes on from its last checkpoint (training.checkpoint_steps)"
_KINDS: dict[str, type[InputError | RunFailed]] = {"input": InputError, "preempted": Preempted}
_LOST = ("closed by peer", "reset by peer", "connection refused", "broken pipe", "timed out", "timeout", "nccl", "gloo")
"""Words in the errors of a process to which another does not answer."""
STARTED_BY = "CERTISTAR_STARTED_BY"
"""The variable in which a process tells those that it starts who it is."""


def launched_already() -> bool:
    """Say whether this process is one of several that torchrun or accelerate started."""
    return "WORLD_SIZE" in os.environ and "RANK" in os.environ


def launch(job: FineTuning) -> None:
    """Run the job's processes of this machine to their end; raises what they failed of.

    Several machines write into one folder at the same moment, so that each keeps its job to itself.
    """
    if job.nnodes == 1:
        _run(job, job.out.with_name(f".{job.out.name}.job.json"))
        return
    with TemporaryDirectory(prefix="certistar-job-") as folder:
        _run(job, Path(folder) / "job.json")


def _run(job: FineTuning, spec: Path) -> None:
    write_job(job, spec)
    failure_path(spec).unlink(missing_ok=True)
    # GLOO_SOCKET_IFNAME: where the host name does not resolve, gloo would not find its own machine.
    environment = {"OMP_NUM_THREADS": "1", **({"GLOO_SOCKET_IFNAME": "lo"} if job.nnodes == 1 else {}), **os.environ}
    environment[STARTED_BY] = str(os.getpid())
    # A folder of the user's that holds a `training/` must not stand in for ours.
    environment["PYTHONSAFEPATH"] = "1"
    arguments = [*_rendezvous(job), f"--nproc-per-node={job.nproc}", "-m", "training.finetuning.stage", str(spec)]
    started = subprocess.Popen([sys.executable, "-m", "training.finetuning.torchrun", *arguments], env=environment)
    with handled(started.terminate):
        status = started.wait()
    if status == 0 or (job.out / MANIFEST).exists():  # written last: who ends badly after it has done its part
        spec.unlink(missing_ok=True)
        return
    hint = f" by one of the {job.nnodes} machines; {AGAIN}" if job.nnodes > 1 else " above"
    if not (told := failure_path(spec)).exists():
        raise TrainingFailed(f"torchrun ended with status {status}; the cause is printed{hint}")
    record = json.loads(told.read_text())
    told.unlink()
    raise _KINDS.get(record["kind"], TrainingFailed)(record["message"])


def _rendezvous(job: FineTuning) -> list[str]:
    if job.nnodes == 1:
        return ["--standalone"]
    if not job.rendezvous:
        raise InputError(f"--nnodes {job.nnodes}: say where the machines meet, such as --rendezvous node0:29500")
    waits = f"join_timeout={job.answer_s:.0f},read_timeout={job.answer_s:.0f}"
    place = ["--rdzv-backend=c10d", f"--rdzv-endpoint={job.rendezvous}", "--rdzv-id=certistar"]
    return [f"--nnodes={job.nnodes}", *place, f"--rdzv-conf={waits}"]


def failure_path(spec: Path) -> Path:
    """Return where a process of a job says why it failed."""
    return spec.with_suffix(".failure")


def write_failure(spec: Path, error: Exception) -> None:
    """Say why this process fails; of several that fail at once, one is heard, and who only lost another is not."""
    if isinstance(error, PeerLost) and failure_path(spec).exists():
        return
    kind = next((name for name, known in _KINDS.items() if isinstance(error, known)), "failed")
    failure_path(spec).write_text(json.dumps({"kind": kind, "message": str(error)}))


def die_with_starter() -> None:
    """Die with the process that started this one, also where it ended while this one was loading.

    Else a second fine-tuning would soon write beside it: that of the run which goes on.
    """
    started_by = os.environ.get(STARTED_BY)
    die_with_parent(None if started_by is None else int(started_by))


def _main() -> int:
    """Be torchrun; return the status."""
    die_with_starter()
    os.environ[STARTED_BY] = str(os.getpid())
    spec = Path(sys.argv[-1])
    job = read_job(spec)
    if job.nnodes > 1:
        Thread(target=_end_without_processes, args=(job.answer_s + SETTLE_S,), daemon=True).start()
    from torch.distributed.elastic.rendezvous import RendezvousError

    run: Any = import_module("torch.distributed.run")
    try:
        run.main()
    except RendezvousError as error:
        said = (
            f"{job.nnodes} machines were to meet at {job.rendezvous} within {job.answer_s:.0f} s and did not "
            f"({type(error).__name__}); start the same command on each, with the same --nnodes, and let the port be "
            "reached"
        )
        write_failure(spec, PeerLost(said))
        return 1
    return 0


def _end_without_processes(patience_s: float) -> None:
    """End torchrun some time after its processes: it may wait for ever for a machine that is there and does not answer.

    torch (2.13) reads from the machine where all meet without a limit of time, unless the connection breaks.
    """
    seen, last = False, monotonic()
    while not seen or monotonic() - last < patience_s:
        if _has_processes():
            seen, last = True, monotonic()
        sleep(1)
    os._exit(1)


def _has_processes() -> bool:
    """Say whether a child of this process lives; without Linux's /proc, always so."""
    try:
        lists = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    except OSError:  # a thread that ended meanwhile
        return True
    return not lists or any(_lives(pid) for children in lists for pid in children.split())


def _lives(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def is_lost_peer(error: BaseException) -> bool:
    """Say whether an error of one of several processes means that another does not answer."""
    import torch.distributed as distributed

    network = (distributed.DistNetworkError, distributed.DistStoreError, distributed.DistBackendError)
    return isinstance(error, network) or any(sign in str(error).lower() for sign in _LOST)


def lost_peer(error: BaseException) -> str:
    """Return one line for people."""
    what = str(error).strip().partition("\n")[0]
    return f"another training process ended or answers no more ({what}); see what its machine says, and {AGAIN}"


if __name__ == "__main__":
    sys.exit(_main())


def sharding_arguments(config: TrainingConfig) -> Any:
    """Return the keys of `TrainingArguments` for the sharding: weights, gradients and optimiser in parts."""
    if config.sharding == "none":
        return {}
    fsdp2 = {
        "version": 2,
        "auto_wrap_policy": "TRANSFORMER_BASED_WRAP",
        "reshard_after_forward": True,
        "cpu_offload": config.offload,
        "state_dict_type": "FULL_STATE_DICT",
    }
    return {"fsdp": True, "fsdp_config": fsdp2}


def check_launcher(config: TrainingConfig, environment: Mapping[str, str]) -> None:
    """Raise `InputError` where a file for accelerate asks for what would not be done, or not alike."""

    def asks(variable: str) -> bool:
        return environment.get(f"ACCELERATE_USE_{variable}", "").lower() in ("true", "1")

    refused = {"MEGATRON_LM": "Megatron-LM", "PARALLELISM_CONFIG": "a parallelism_config", "DEEPSPEED": "DeepSpeed"}
    for variable, name in refused.items():
        if asks(variable):
            raise InputError(f"accelerate's file asks for {name}, which is not for here; take it out")
    asked = f"fsdp{environment.get('FSDP_VERSION', '1')}" if asks("FSDP") else "none"
    if asked not in ("none", config.sharding):
        remedy = "set training.sharding=fsdp2, or take it out" if asked == "fsdp2" else "write fsdp2"
        raise InputError(f"accelerate's file asks for {asked} and training.sharding is {config.sharding}; {remedy}")
    mixed = environment.get("ACCELERATE_MIXED_PRECISION", "no")
    if mixed not in ("no", "bf16") or (mixed == "bf16" and config.precision == "float32"):
        raise InputError(
            f"accelerate's file asks for mixed_precision {mixed} and training.precision is {config.precision}; write "
            "`mixed_precision: 'no'` there, since training.precision decides"
        )


def shard_without_accelerator(fsdp_plugin: Any, mixed_precision: str | None) -> None:
    """Let FSDP2 shard over gloo, which accelerate (1.15) only does on accelerators and otherwise drops in silence.

    Its state is shared by all instances, so that one made before the Trainer's is the Trainer's. For tests: a CPU is
    no place to train what has to be sharded.
    """
    states: Any = import_module("accelerate.state")
    utils: Any = import_module("accelerate.utils")
    state = states.AcceleratorState(
        mixed_precision=mixed_precision,
        cpu=True,
        dynamo_plugin=utils.TorchDynamoPlugin(),
        fsdp_plugin=fsdp_plugin,
        _from_accelerator=True,
    )
    states.PartialState().distributed_type = utils.DistributedType.FSDP  # each AcceleratorState copies it from there
    state.fsdp_plugin = fsdp_plugin


def assert_sharded(config: TrainingConfig, accelerator: Any, num_processes: int) -> None:
    """Raise `TrainingFailed` unless as many processes run as were asked for, sharded as they were to be."""
    if accelerator.num_processes != num_processes:
        raise TrainingFailed(f"{num_processes} training processes were asked for and {accelerator.num_processes} run")
    found = accelerator.distributed_type.value
    if config.sharding == "fsdp2" and found != "FSDP":
        raise TrainingFailed(f"training.sharding {config.sharding} was asked for and accelerate runs {found}")
