"""Files that people copy: each is what its tool reads, and names commands and configurations that exist."""

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from click import ClickException

from training.cli import command

ROOT = Path(__file__).parents[1]
ACCELERATE = sorted((ROOT / "configs" / "accelerate").glob("*.yaml"))
LAUNCH = sorted((ROOT / "configs" / "launch").iterdir())


@pytest.mark.parametrize("path", ACCELERATE, ids=lambda path: path.name)
def test_accelerate_reads_its_configurations(path):
    from accelerate.commands.config.config_args import ClusterConfig

    config = ClusterConfig.from_yaml_file(yaml_file=str(path))
    assert config.num_processes == 8
    assert config.use_cpu is False
    assert config.mixed_precision == "bf16"


@pytest.mark.parametrize("path", ACCELERATE, ids=lambda path: path.name)
def test_accelerate_launches_with_what_they_say(path):
    """What its own launcher would hand to each process, without starting one."""
    from accelerate.commands.launch import _validate_launch_command, launch_command_parser
    from accelerate.utils import prepare_multi_gpu_env

    parsed = launch_command_parser().parse_args(["--config_file", str(path), "-m", "training", "train", "c.yaml"])
    arguments, _, _ = _validate_launch_command(parsed)
    environment = prepare_multi_gpu_env(arguments)
    assert environment["ACCELERATE_MIXED_PRECISION"] == "bf16"
    assert (environment.get("ACCELERATE_USE_FSDP") == "true") == (path.stem == "fsdp2")
    if path.stem == "fsdp2":
        assert environment["FSDP_VERSION"] == "2"


@pytest.mark.parametrize("sharding", ["fsdp2"])
def test_trainer_reads_the_configurations_own_sharding(sharding, tmp_path):
    from transformers import TrainingArguments

    from training.configuration.fine_tuning import TrainingConfig
    from training.finetuning.torchrun import sharding_arguments

    made = sharding_arguments(TrainingConfig.model_validate({"sharding": sharding, "offload": True}))
    arguments = TrainingArguments(output_dir=str(tmp_path), use_cpu=True, report_to=[], **made)
    assert arguments.fsdp_plugin_args["fsdp_version"] == 2
    assert arguments.fsdp_plugin_args["cpu_offload"] is True


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_templates_name_configurations_that_exist(path):
    named = re.findall(r"configs/[\w./-]+", text_of(path))
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("path", [p for p in LAUNCH if p.name != "machine.sh"], ids=lambda path: path.name)
def test_templates_start_a_run(path):
    """By the command itself, or by what each of several machines does."""
    called = re.search(r"certistar[, ]+(run|train)|machine\.sh\b[^#]*\b(run|WORK)\b", text_of(path), re.DOTALL)
    assert called
    assert "accelerate launch" not in text_of(path)


def documents(path: Path) -> list[dict]:
    return list(yaml.safe_load_all(text_of(path)))


MANIFESTS = [path for path in LAUNCH if path.name.startswith("kubernetes")]
SCRIPTS = [path for path in LAUNCH if path.suffix in (".sh", ".sbatch")]


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_jobs_mount_what_they_name_and_are_started_again(path):
    job = documents(path)[-1]
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert pod["restartPolicy"] == "OnFailure"


def test_the_machines_of_a_job_find_their_first_one_and_are_as_many_as_they_think():
    service, job = documents(ROOT / "configs/launch/kubernetes-ray.yaml")
    name, spec = job["metadata"]["name"], job["spec"]
    told = {one["name"]: one.get("value") for one in spec["template"]["spec"]["containers"][0]["env"]}
    assert told["HEAD"] == f"{name}-0.{service['metadata']['name']}"
    assert spec["template"]["spec"]["subdomain"] == service["metadata"]["name"]
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": name}
    assert {str(spec["completions"]), str(spec["parallelism"])} == {told["MACHINES"]}


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_knows_every_field(path):
    kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")
    for document in documents(path):
        assert kubernetes_validate.validate(document, "1.31", strict=True) == "1.31"


def test_skypilot_reads_its_template():
    (task,) = documents(ROOT / "configs/launch/sky.yaml")
    assert {"resources", "setup", "run"} <= task.keys()
    assert task["envs"]["COPY"].startswith(":s3,")
    assert "file_mounts" not in task, "a run folder cannot lie in a bucket"
    sky = pytest.importorskip("sky", reason="pip install skypilot")
    assert sky.Task.from_yaml(str(ROOT / "configs/launch/sky.yaml")).num_nodes == 1


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_scripts_parse(path):
    done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_finds_nothing_in_scripts(path):
    if shutil.which("shellcheck") is None:
        pytest.skip("shellcheck is not installed")
    done = subprocess.run(["shellcheck", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


FAKES = {
    "ssh": 'HOST="${@: -2:1}"; [ "$HOST" = bad ] && sleep 0.5 && exit 255; exec bash -c "${@: -1}"',
    "srun": """[ "$1" = --kill-on-bad-exit=1 ] && shift
for RANK in $(seq 0 $((SLURM_NNODES - 1))); do SLURM_PROCID=$RANK "$@" & done
for _ in $(seq "$SLURM_NNODES"); do wait -n || exit; done""",
    "rclone": 'echo "rclone $1 $2 $3" >> "$SAID"',
    "scontrol": "echo 127.0.0.1; echo elsewhere",
    "certistar": """echo "certistar $*" >> "$SAID"
case "$*" in *workers.address*) for _ in $(seq 600); do grep -q -- --address= "$SAID" && break; sleep 0.1; done;; esac
exit "${STATUS:-0}\"""",
    "ray": f"""echo "ray $*" >> "$SAID"
case "$*" in *--head*) exec {sys.executable} -m http.server --bind 127.0.0.1 "$RAY_PORT" 2> /dev/null;; esac
exec sleep 60""",
}
"""What the templates call: it runs here whatever is to run elsewhere, and is written down.

A run ends once another machine has joined it, as one that does anything would.
"""


@dataclass(frozen=True)
class Machines:
    """A folder that machines share, all of which are this one."""

    folder: Path
    port: int

    def started(self, template: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a template to its end."""
        bin_path = f"{self.folder}/.venv/bin:{os.environ['PATH']}"
        told = os.environ | {"PATH": bin_path, "SAID": str(self.folder / "said"), "RAY_PORT": str(self.port)}
        command = ["bash", str(Path("configs/launch") / template), *arguments]
        return subprocess.run(
            command,
            cwd=self.folder,
            env=told | {"TRAIN_PORT": "1", "PYTHONPATH": str(ROOT)} | environment,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )

    @property
    def said(self) -> list[str]:
        """What was called, in any order."""
        return sorted((self.folder / "said").read_text().splitlines())

    def answers(self) -> bool:
        """Say whether the head's Ray is still there."""
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self.port)) == 0


@pytest.fixture
def machines(tmp_path) -> Machines:
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name, text in FAKES.items():
        (programs / name).write_text(f"#!/bin/bash\n{text}\n")
        (programs / name).chmod(0o755)
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return Machines(tmp_path, free.getsockname()[1])


def complaint(line: str) -> str | None:
    """What the command line says against a call; None where it takes it."""
    _, name, *words = line.split()
    made = command(name)
    try:
        made.make_context(name, words)
    except ClickException as error:
        return error.message
    return None


RUN = ("run", "configs/smoke.yaml", "--out", "out")
TRAIN = ("train", "configs/smoke.yaml", "--data", "kept", "--out", "adapter")


def through_ray(port: int, run: Sequence[str]) -> list[str]:
    """What two machines call."""
    common = "--object-store-memory=1073741824 --disable-usage-stats --block"
    return [
        f"certistar {' '.join(run)} --set workers.backend=ray --set workers.address=127.0.0.1:{port}",
        f"ray start --address=127.0.0.1:{port} {common}",
        f"ray start --head --port={port} --include-dashboard=false {common}",
    ]


def test_machines_over_ssh_share_a_run_and_all_end_with_it(machines):
    done = machines.started("ssh.sh", "127.0.0.1 127.0.0.1", *RUN, STATUS="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert machines.said == through_ray(machines.port, RUN)
    assert complaint(machines.said[0]) is None
    assert not machines.answers()
    assert (machines.folder / ".ray-token").stat().st_mode & 0o077 == 0


def test_a_run_that_fails_is_heard_of_and_leaves_no_ray(machines):
    done = machines.started("ssh.sh", "127.0.0.1 127.0.0.1", *RUN, STATUS="3")
    assert done.returncode == 3
    assert not machines.answers()


@pytest.mark.parametrize(("hosts", "status"), [("127.0.0.1 127.0.0.1", 0), ("127.0.0.1 bad", 255)])
def test_machines_over_ssh_train_together_and_a_failure_is_heard_of(machines, hosts, status):
    done = machines.started("ssh.sh", hosts, *TRAIN)
    assert done.returncode == status
    assert set(machines.said) == {f"certistar {' '.join(TRAIN)} --nnodes 2 --rendezvous 127.0.0.1:1"}
    assert complaint(machines.said[0]) is None


@pytest.mark.parametrize("nodes", [1, 2])
def test_slurm_runs_on_one_node_and_on_several(machines, nodes):
    done = machines.started(
        "slurm.sbatch", SLURM_NNODES=str(nodes), SLURM_JOB_NODELIST="n[0-1]", CONFIG=RUN[1], OUT=RUN[3]
    )
    assert (done.returncode, done.stderr) == (0, "")
    calls = [line for line in machines.said if line != "certistar doctor"]
    assert calls == (through_ray(machines.port, RUN) if nodes == 2 else [f"certistar {' '.join(RUN)}"])
    assert len(machines.said) - len(calls) == nodes


def test_slurm_trains_where_it_is_given_data(machines):
    told = {
        "SLURM_NNODES": "2",
        "SLURM_JOB_NODELIST": "n[0-1]",
        "CONFIG": TRAIN[1],
        "DATA": "kept",
        "ADAPTER": "adapter",
    }
    assert machines.started("slurm.sbatch", **told).returncode == 0
    call = f"certistar {' '.join(TRAIN)} --nnodes 2 --rendezvous 127.0.0.1:1"
    assert [line for line in machines.said if "doctor" not in line] == [call] * 2


def test_skypilots_machines_find_their_first_one_and_copy_the_run(machines):
    (task,) = documents(ROOT / "configs/launch/sky.yaml")
    (machines.folder / "run.sh").write_text(task["run"])
    told = task["envs"] | {"SKYPILOT_NODE_IPS": "127.0.0.1", "SKYPILOT_NUM_NODES": "1"}
    assert machines.started(str(machines.folder / "run.sh"), HOME=str(machines.folder), **told).returncode == 0
    called, fetched, _, copied = machines.said
    out = f"{machines.folder}/runs/{told['RUN']}"
    assert (fetched, copied) == (f"rclone copy {told['COPY']} {out}", f"rclone sync {out} {told['COPY']}")
    assert called.endswith(f"--out {out}")
    assert complaint(called) is None


def test_a_machine_without_the_shared_word_is_not_let_in(machines):
    with socket.socket() as head:
        head.bind(("127.0.0.1", machines.port))
        head.listen()
        done = machines.started("machine.sh", *RUN, HEAD="127.0.0.1", MACHINE="1", MACHINES="2")
    assert done.returncode == 1
    assert "set the same RAY_AUTH_TOKEN on all" in done.stderr


def test_a_machine_whose_head_does_not_come_says_so(machines):
    done = machines.started("machine.sh", *RUN, HEAD="127.0.0.1", MACHINE="1", MACHINES="2", PATIENCE_S="0")
    assert done.returncode == 1
    assert f"nothing answers at 127.0.0.1:{machines.port}" in done.stderr


@pytest.mark.slow
def test_a_run_on_two_machines_over_ssh_writes_the_bytes_of_a_local_one(machines):
    """Two machines of a Ray cluster on this one."""
    pytest.importorskip("ray", reason="Ray is not installed (pip install 'certistar[ray]')")
    programs = machines.folder / ".venv/bin"
    (programs / "certistar").write_text(f'#!/bin/bash\nexec {sys.executable} -m training "$@"\n')
    (programs / "ray").unlink()
    (programs / "ray").symlink_to(Path(sys.executable).with_name("ray"))
    (machines.folder / "checkpoints").symlink_to(ROOT / "checkpoints")
    small = ["star.problems_per_round=6", "evaluation.num_problems=4", "sampling.max_new_tokens=120"]
    work = [word for setting in small for word in ("--set", setting)]
    there = machines.started("ssh.sh", "127.0.0.1 127.0.0.1", "run", "configs/smoke.yaml", "--out", "there", *work)
    assert there.returncode == 0, there.stderr
    here = [
        sys.executable,
        "-m",
        "training",
        "run",
        "configs/smoke.yaml",
        "--out",
        str(machines.folder / "here"),
        *work,
    ]
    subprocess.run(here, cwd=ROOT, check=True, timeout=600)
    files = {name: data_of(machines.folder / name) for name in ("here", "there")}
    assert len(files["here"]) > 10
    assert files["there"] == files["here"]


def data_of(out: Path) -> dict[str, bytes]:
    found = [path for path in out.rglob("*") if path.suffix in (".jsonl", ".safetensors")]
    found += out.rglob("evaluation.json")
    return {str(p.relative_to(out)): p.read_bytes() for p in found if "log" not in p.parts}
