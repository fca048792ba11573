"""Attack on fine-tunings and runs by signals within checkpoints and a disk that fills: all end with the same bytes.

python -m tools.preemption [--signals 30] [--rooms 6] [--seed 0] [--out docs/results/scaling]

Only root may mount the small disk.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from critics.errors import RunFailed
from training.configuration.fine_tuning import TrainingConfig
from training.configuration.model import ModelConfig
from training.configuration.run import RunConfig
from training.finetuning.job import FineTuning
from training.rounds.processes import Channel, Child, ChildDied

SMALL = 64
"""Megabytes of the disk that fills."""
WITHIN_A_SAVE = 0.75
"""Share of the signals that are sent while a checkpoint is being written; the others come at any time."""


@dataclass(frozen=True, slots=True)
class Signalled:
    """A signal and its effect."""

    number: int
    signal: str
    moment: str
    ended: str
    went_on: str
    """The checkpoint that the next start goes on from."""


@dataclass(frozen=True, slots=True)
class Filled:
    """One start on a disk with little room."""

    what: str
    room_kib: int
    ended: str
    left: str
    """Work that is whole afterwards."""


def train(channel: Channel, job: FineTuning) -> None:
    """Fine-tune in this process, and tell when the model is there."""
    from training.finetuning.stage import train_here

    channel.tell("started")
    train_here(job)


def tiny(folder: Path) -> str:
    """Make a random model of one layer, and return its folder."""
    import torch

    from tools.seeds.configuration import PhaseConfig, PretrainingConfig, SizeConfig
    from tools.seeds.pretraining import build_model, build_tokenizer

    size = SizeConfig(hidden=32, layers=1, heads=2, mlp=64)
    config = PretrainingConfig(name="tiny", seed=0, model=size, phases=[PhaseConfig(num_examples=1, hops=[1])])
    tokenizer = build_tokenizer(config)
    torch.manual_seed(0)
    build_model(config, tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def fine_tuning(folder: Path, model: str) -> FineTuning:
    """Return a fine-tuning of twelve checkpoints, with dropout, so that a random state that is lost shows."""
    data = folder / "data"
    data.mkdir(parents=True)
    lines = [{"id": str(i), "prompt": f"Question {i}. ", "completion": "true false " * (1 + i)} for i in range(8)]
    (data / "examples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    training = TrainingConfig.model_validate(
        {"global_batch_size": 2, "epochs": 3, "learning_rate": 1e-2, "precision": "float32", "checkpoint_steps": 1}
        | {"lora_dropout": 0.1, "max_tokens": 256}
    )
    return FineTuning(ModelConfig(name=model), training, data, folder / "adapter", seed=3)


def small_run(model: str) -> RunConfig:
    """Return a run of one round that is over in seconds."""
    return RunConfig.model_validate(
        {
            "name": "small",
            "model": {"name": model},
            "problems": {"hops": [1]},
            "star": {"rounds": 1, "problems_per_round": 12},
            "sampling": {"max_new_tokens": 120, "batch_size": 4},
            "training": {"global_batch_size": 4, "checkpoint_steps": 1, "precision": "float32"},
            "evaluation": {"num_problems": 8, "batch_size": 8, "greedy": "never", "square": "never"},
            "jobs": 1,
            "workers": {"samplers": 1},
        }
    )


def signals(folder: Path, job: FineTuning, num: int, chance: random.Random) -> list[Signalled]:
    """Send `num` signals to fine-tunings, each started again until it is done; raises where bytes differ."""
    Child(train, alone := replace(job, out=folder / "alone")).result()
    began = time.monotonic()
    Child(train, replace(job, out=folder / "again")).result()
    must_equal(folder / "again", alone.out)
    whole_s, found, number = time.monotonic() - began, list[Signalled](), 0
    while len(found) < num:
        mine = replace(job, out=folder / f"adapter-{number}")
        while not (mine.out / "manifest.json").exists():
            child = Child(train, mine)
            child.connection.recv()  # it has begun
            if len(found) < num and (moment := _awaited(mine, child, whole_s, chance)) is not None:
                name = "SIGTERM" if len(found) % 2 == 0 else "SIGKILL"
                (child.ask_to_end if name == "SIGTERM" else child.kill)()
                found.append(Signalled(len(found) + 1, name, moment, _end(child), newest(mine)))
                print(found[-1], flush=True)
            else:
                _end(child)
        must_equal(mine.out, alone.out)
        number += 1
    return found


def _awaited(job: FineTuning, child: Child, whole_s: float, chance: random.Random) -> str | None:
    """Wait for the moment of a signal and return which it is; None where the work was done before."""
    work = job.out.with_name(f".{job.out.name}.work")
    if chance.random() > WITHIN_A_SAVE:
        time.sleep(chance.uniform(0, whole_s))
        return "at any time" if not child.connection.poll() else None
    skipped, seen = chance.randrange(3), set[str]()
    while not child.connection.poll():
        for saving in (path for path in work.glob("checkpoint-*") if not (path / "whole.json").exists()):
            if saving.name not in seen:
                seen.add(saving.name)
                if len(seen) > skipped:
                    time.sleep(chance.uniform(0, 0.02))
                    written = sum(len(files) for _, _, files in os.walk(saving))  # nothing, once the folder is gone
                    is_whole = (saving / "whole.json").exists()
                    return f"{'after' if is_whole else 'within'} the save of {saving.name}, {written} files"
        time.sleep(0.002)
    return None


def _end(child: Child) -> str:
    """Wait for a process and return how it ended."""
    try:
        child.result()
    except ChildDied:
        return "killed"
    except RunFailed as error:
        return str(error).partition(";")[0].partition(" in /")[0]
    return "done"


def newest(job: FineTuning) -> str:
    """Return the checkpoint that the next start goes on from, or that nothing is left to do."""
    from training.finetuning.trainer import newest_whole

    if (job.out / "manifest.json").exists():
        return "done"
    found = newest_whole(job.out.with_name(f".{job.out.name}.work"))
    return "the base" if found is None else found.name


def must_equal(one: Path, other: Path) -> None:
    """Raise `AssertionError` unless two folders hold the same files with the same bytes, `log` and locks apart."""
    some, others = contents(one), contents(other)
    differ = [name for name in sorted(some.keys() | others.keys()) if some.get(name) != others.get(name)]
    assert not differ, f"{one} and {other} differ in {differ}"


def contents(folder: Path) -> dict[str, bytes]:
    """Return the data files of a folder: no times, and no figures of speed."""
    timed = ("log", ".lock", "report.html", "report.json", "lines.json", "times.json")
    paths = (path for path in folder.rglob("*") if path.is_file())
    found = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith(timed)}


@contextmanager
def small_disk(folder: Path) -> Generator[Path]:
    """Mount a file system of 64 MB; raises `RunFailed` where that is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}m", "tmpfs", folder], check=False)
    if done.returncode:
        raise RunFailed("this machine lets nobody mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def fill(disk: Path, room_kib: int | None) -> None:
    """Fill a disk with somebody else's file up to so much room; None: take that file away."""
    import shutil

    other = disk / "of-somebody-else"
    other.unlink(missing_ok=True)
    if room_kib is not None:
        with other.open("wb") as file:
            left = shutil.disk_usage(disk).free - 1024 * room_kib
            file.write(bytes(max(0, left)))


def full_disks(folder: Path, job: FineTuning, config: RunConfig, num: int) -> list[Filled]:
    """Start a fine-tuning and a run on a disk that fills, until there is room; raises where bytes differ."""
    found: list[Filled] = []
    Child(train, alone := replace(job, out=folder / "unfilled")).result()
    run_here(config, folder / "run")
    need = {"fine-tuning": 3 * _kib(alone.out), "run": _kib(folder / "run")}
    print(need, flush=True)
    with small_disk(folder / "disk") as disk:
        mine = replace(job, out=disk / "adapter")
        for room in _rooms(need["fine-tuning"], num):
            fill(disk, room)
            ended = _end(Child(train, mine)).replace(str(disk), "DISK")
            found.append(Filled("fine-tuning", room, ended, newest(mine)))
        fill(disk, None)
        found.append(Filled("fine-tuning", 1024 * SMALL, _end(Child(train, mine)), newest(mine)))
        must_equal(mine.out, alone.out)
        for room in _rooms(need["run"], num):
            fill(disk, room)
            found.append(Filled("run", room, run_here(config, disk / "run"), _stages(disk / "run")))
        fill(disk, None)
        found.append(Filled("run", 1024 * SMALL, run_here(config, disk / "run"), _stages(disk / "run")))
        must_equal(disk / "run", folder / "run")
    return found


def _rooms(need_kib: int, num: int) -> list[int]:
    """Return sizes from next to nothing up to nearly what is needed, at equal distances."""
    return [4 + need_kib * number // num for number in range(num)]


def run_here(config: RunConfig, out: Path) -> str:
    """Run a configuration and return how it ended, in one line."""
    from critics.errors import InputError
    from training.rounds.run import run

    try:
        run(config, out)
    except (InputError, RunFailed) as error:
        return " ".join(str(error).split()).replace(str(out.parent), "DISK")
    return "done"


def _stages(out: Path) -> str:
    names = ("traces.jsonl", "dataset/summary.json", "adapter/manifest.json", "evaluation.json")
    found = [name for name in names if any(out.rglob(f"round-000/{name}"))]
    return ", ".join(found) or "nothing"


def _kib(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) // 1024 + 8


def page(record: dict[str, list[dict[str, object]]], seed: int) -> str:
    """Return the tables, as the page has them."""
    sent, filled = record["signals"], record["full_disks"]
    within = sum(str(row["moment"]).startswith("within") for row in sent)
    rooms = len(filled) // 2 - 1
    lines = [
        "# Preemption, attacked",
        "",
        f"Made on a CPU by `python -m tools.preemption --signals {len(sent)} --rooms {rooms} --seed {seed}`.",
        "Fine-tunings have a model of one layer and save after each of twelve steps; runs are of the seed model and",
        "have one round.",
        f"All {len(sent)} signals, {within} of them within a half-written checkpoint, and all {len(filled)} starts on",
        f"a file system of {SMALL} MB (tmpfs, filled by another file up to the room that is said) led to the bytes of",
        "work that was left alone.",
        "",
    ]
    for rows in (sent, filled):
        if rows:
            lines += [f"| {' | '.join(rows[0]).replace('_', ' ')} |", "|" + "---|" * len(rows[0])]
            lines += [f"| {' | '.join(map(str, row.values()))} |" for row in rows] + [""]
    return "\n".join(lines)


def main() -> None:
    """Run the attacks and write their results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signals", type=int, default=30)
    parser.add_argument("--rooms", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", default="checkpoints/seed", help="what the runs sample from")
    parser.add_argument("--out", type=Path, default=Path("docs/results/scaling"))
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = fine_tuning(folder, tiny(folder / "model"))
        sent = signals(folder, job, asked.signals, chance)
        filled = full_disks(folder, job, small_run(asked.model), asked.rooms)
    record = {"signals": [asdict(row) for row in sent], "full_disks": [asdict(row) for row in filled]}
    (asked.out / "preemption.json").write_text(json.dumps({"seed": asked.seed, **record}, indent=1) + "\n")
    (asked.out / "preemption.md").write_text(page(record, asked.seed))


if __name__ == "__main__":
    main()
