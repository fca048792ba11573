"""Files that people copy: each is what its tool reads, and names commands and configurations that exist."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

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
    from accelerate.utils.launch import prepare_deepspeed_cmd_env

    parsed = launch_command_parser().parse_args(["--config_file", str(path), "-m", "training", "train", "c.yaml"])
    arguments, read, _ = _validate_launch_command(parsed)
    if arguments.use_deepspeed:
        arguments.deepspeed_fields_from_accelerate_config = ",".join(read.deepspeed_config)  # as its launcher does
        _, environment = prepare_deepspeed_cmd_env(arguments)
        assert environment["ACCELERATE_USE_DEEPSPEED"] == "true"
        assert environment["ACCELERATE_DEEPSPEED_ZERO_STAGE"] == path.stem[-1]
        return
    environment = prepare_multi_gpu_env(arguments)
    assert environment["ACCELERATE_MIXED_PRECISION"] == "bf16"
    assert (environment.get("ACCELERATE_USE_FSDP") == "true") == (path.stem == "fsdp2")
    if path.stem == "fsdp2":
        assert environment["FSDP_VERSION"] == "2"


@pytest.mark.parametrize("sharding", ["fsdp2"])
def test_trainer_reads_the_configurations_own_sharding(sharding, tmp_path):
    from transformers import TrainingArguments

    from training.configuration.fine_tuning import TrainingConfig
    from training.finetuning.sharding import sharding_arguments

    made = sharding_arguments(TrainingConfig.model_validate({"sharding": sharding, "offload": True}))
    arguments = TrainingArguments(output_dir=str(tmp_path), use_cpu=True, report_to=[], **made)
    assert arguments.fsdp_plugin_args["fsdp_version"] == 2
    assert arguments.fsdp_plugin_args["cpu_offload"] is True


@pytest.mark.parametrize(("sharding", "stage"), [("zero2", 2), ("zero3", 3)])
def test_deepspeed_gets_a_configuration_that_trainer_can_fill_in(sharding, stage):
    from accelerate.utils.deepspeed import HfDeepSpeedConfig

    from training.configuration.fine_tuning import TrainingConfig
    from training.finetuning.sharding import deepspeed

    read = HfDeepSpeedConfig(deepspeed(TrainingConfig.model_validate({"sharding": sharding, "offload": True})))
    assert (read.is_zero2(), read.is_zero3()) == (stage == 2, stage == 3)
    assert read.is_offload()
    assert read.get_value("train_micro_batch_size_per_gpu") == "auto"


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_templates_name_configurations_that_exist(path):
    named = re.findall(r"configs/[\w./-]+", text_of(path))
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_templates_call_the_one_command(path):
    assert re.search(r"certistar[, ]+(run|train)", text_of(path))
    assert "accelerate launch" not in text_of(path)


@pytest.mark.parametrize("path", [p for p in LAUNCH if p.suffix == ".yaml"], ids=lambda path: path.name)
def test_templates_are_yaml(path):
    read = yaml.safe_load(text_of(path))
    if read.get("kind") == "Job":
        (container,) = read["spec"]["template"]["spec"]["containers"]
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in read["spec"]["template"]["spec"]["volumes"]}
        assert read["spec"]["template"]["spec"]["restartPolicy"] == "OnFailure"
    else:
        assert {"resources", "setup", "run"} <= read.keys()


@pytest.mark.parametrize("path", [p for p in LAUNCH if p.suffix in (".sh", ".sbatch")], ids=lambda path: path.name)
def test_scripts_parse(path):
    done = subprocess.run(["bash", "-n", str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture
def machines(tmp_path) -> Path:
    """An ssh that runs nothing and writes down what it was to run; on the host `bad` it fails."""
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text(
        f'#!/bin/bash\nHOST="${{@: -2:1}}"\necho "$HOST: ${{@: -1}}" >> {tmp_path}/said\n[ "$HOST" != bad ]\n'
    )
    fake.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(("hosts", "status"), [("node0 node1", 0), ("node0 bad", 1)])
def test_the_plain_ssh_template_starts_every_machine_and_hears_of_failures(machines, hosts, status):
    script = [str(ROOT / "configs" / "launch" / "ssh.sh"), hosts, "c.yaml", "kept", "adapter"]
    path = f"{machines / 'bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        script, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode != 0) == (status != 0), done.stderr
    said = (machines / "said").read_text()
    for host in hosts.split():
        assert f"{host}: cd" in said
    assert said.count("--nnodes 2 --rendezvous 'node0:29500'") == 2
