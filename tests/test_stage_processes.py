"""Stages and samplers in processes of their own: what they tell, how they die, and that how many changes nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import pytest

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.policies.policy import Completion
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling
from training.configuration.run import RunConfig, load_run
from training.records.open_store import OpenStore
from training.records.run_folder import read_times
from training.rounds.evaluation import RoundMeasured
from training.rounds.line import Line, Notice, Shard
from training.rounds.loop import run_round
from training.rounds.processes import Child, Slot, StageProcesses
from training.rounds.rollout import RoundTraces, ShardedRollout, certify, roll_out, sample_missing
from training.rounds.rollout_store import RolloutKey, RolloutStore
from training.rounds.run import Slots
from training.watchdog import Progress, unwatched
from training.workers import choice
from training.workers.local import LocalWorkers
from training.workers.requests import ArmPolicy, RolloutRequest

PROBLEMS = [Problem(f"p{n}", "mine", "Rex.", "Is Rex a wumpus?", None, "true") for n in range(6)]
SAMPLING = Sampling("free", 1.0, 1, 50)
CONFIG = RunConfig.model_validate(
    {
        "name": "t",
        "model": {"name": "m"},
        "arms": [{"name": "a", "keep": "naive", "decoding": "free", "strategy": "cot"}],
    }
)
AUTHOR = ArmPolicy(CONFIG, CONFIG.arms[0], None, 7)


class Numbering:
    """A policy that answers with the seed of each attempt."""

    digests = PolicyDigests("numbering")

    def prompt(self, problem, *, hint=False):
        return problem.id

    def complete(self, prompts, guides, seeds, sampling):
        return [Completion(f"{seed}. Answer: true", (seed % 100,), True) for seed in seeds]


def numbering(_author):
    return Numbering()


def test_a_stage_that_runs_out_of_memory_says_what_the_same_command_goes_on_with(tmp_path):
    import torch

    from training.rounds.processes import Channel, _LineTask, _StageTask, _work_on

    def fails(_line):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    work = _LineTask(CONFIG, tmp_path, CONFIG.arms[0], 7, 1, "digest", {}, _StageTask(fails, (), "a-7"))
    with pytest.raises(RunFailed, match="a-7: fails: out of memory: run the same command again with --set") as caught:
        _work_on(Channel(None, SimpleQueue()), work)
    settings = str(caught.value).partition("--set ")[2].replace(" or ", " ").split(", ")
    assert settings == ["sampling.num_seats=75", "jobs=1", "workers.samplers=1"]
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(CONFIG.model_dump(mode="json")))
    assert {load_run(path, [setting.strip()]).digest() for setting in settings} == {CONFIG.digest()}


# -- certification beside the rollout


def test_attempts_are_judged_while_others_are_sampled(tmp_path):
    attempts, verdicts = OpenStore(tmp_path / "a.jsonl"), OpenStore(tmp_path / "v.jsonl")
    asking = RolloutKey({}, 7, PolicyDigests("m"), is_batched=True)
    sampled = LocalWorkers(load=numbering)

    judged = []

    def judging(records):
        """Another pair of problems is sampled as each is judged."""
        judged.append(len(records))
        rollout.sample(RolloutRequest(PROBLEMS[: 2 * len(judged) + 2], SAMPLING))
        return [{"verdict": "unproved"} for _ in records]

    def round_traces(store):
        units = RolloutStore(store, asking)
        return RoundTraces(units, verdicts, partial(sampled.sample, AUTHOR), judging, 2, lambda _: None, unwatched)

    rollout, certification = round_traces(OpenStore(tmp_path / "a.jsonl")), round_traces(attempts)
    rollout.sample(RolloutRequest(PROBLEMS[:2], SAMPLING))
    certification.judge(RolloutRequest(PROBLEMS, SAMPLING))
    assert judged == [2, 2, 2]
    assert [trace.problem.id for trace in certification.judged(RolloutRequest(PROBLEMS, SAMPLING))] == [
        problem.id for problem in PROBLEMS
    ]


# -- stages


def processes(out: Path, told: list | None = None, *, samplers: int = 0, gpus: tuple[str, ...] = ()) -> StageProcesses:
    report = (told if told is not None else []).append
    workers = CONFIG.workers.model_copy(update={"samplers": samplers})
    config = CONFIG.model_copy(update={"workers": workers})
    return StageProcesses(config, out, config.arms[0], 0, "a-seed-0", report, 1, Slot(gpus))


def surroundings(_line):
    return os.environ.get("CUDA_VISIBLE_DEVICES"), os.environ.get("OURS"), str(Path.cwd()), os.getpid()


def digest_of_base(line):
    return line.base_digest


def seat(line):
    """Leave a file that says which portion was whose."""
    gpu = os.environ.get("CUDA_VISIBLE_DEVICES")
    (line.run / f"{line.shard.number} of {line.shard.of} on {gpu}").touch()


def waited_for(line):
    return [json.loads(path.read_text())["waiting_for"] for path in (line.run / "log").glob("*.heartbeat.json")]


def note_process(line):
    (line.run / f"{time.monotonic_ns()} {os.getpid()}").touch()


def note_process_and_crash_once(line):
    note_process(line)
    crash_once(line)


def note_process_and_refuse(line):
    note_process(line)
    refuse(line)


def crash_once(line):
    try:
        (line.run / "crashed").touch(exist_ok=False)
    except FileExistsError:
        return "done"
    return os.kill(os.getpid(), signal.SIGSEGV)


def count_and_crash_once(line):
    line.report(Notice(attempts=5))
    return crash_once(line)


def crash(_line):
    os._exit(3)


def refuse(_line):
    raise InputError("problems.source: no such file")


def wait_long(line):
    (line.run / "waits").touch()
    time.sleep(600)


def follow(line):
    """Return when the other stage has left its mark, and leave another."""
    while not (line.run / "led").exists():
        time.sleep(0.05)
    (line.run / "followed").touch()


def lead(line):
    assert not (line.run / "followed").exists()
    (line.run / "led").touch()


def crash_beside(line):
    while not (line.run / "waits").exists():
        time.sleep(0.02)
    refuse(line)


def test_a_stage_sees_what_was_set_after_the_server_began(tmp_path, monkeypatch):
    Child(_nothing).result()
    monkeypatch.setenv("OURS", "set later")
    monkeypatch.chdir(tmp_path)
    gpus, ours, folder, pid = processes(tmp_path, gpus=("3", "5")).run(surroundings)
    assert (gpus, ours, folder) == ("3,5", "set later", str(tmp_path))
    assert pid != os.getpid()


def test_a_users_own_package_named_training_is_not_taken_for_ours(tmp_path):
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__init__.py").touch()
    asked = (
        "import sys; sys.path.pop(0); from training.rounds import processes; "
        "processes.PRELOADED = 'training.hardware'; print(processes.Child(repr).result())"
    )
    done = subprocess.run([sys.executable, "-c", asked], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("Channel("), done.stderr


def test_the_base_model_is_not_read_anew_by_each_stage(tmp_path):
    told = StageProcesses(CONFIG, tmp_path, CONFIG.arms[0], 0, "a-seed-0", lambda _: None, 1, base_digest="b" * 64)
    assert told.run(digest_of_base) == "b" * 64


@pytest.mark.parametrize("stage", [roll_out, certify])
def test_what_a_stage_reads_before_its_first_batch_is_no_start_of_a_process(tmp_path, stage):
    """A round's problems, and what was sampled of them, take longer than that may."""
    beats = []
    config = RunConfig.model_validate({**CONFIG.model_dump(), "model": {"name": str(tmp_path / "none")}})
    line = Line(config, tmp_path, config.arms[0], 0, LocalWorkers(), on_progress=beats.append)
    with pytest.raises(InputError, match="none"):
        stage(line, 0, None, False)
    assert [beat.stage for beat in beats] == ["sampling"]


def test_each_verdict_on_many_attempts_is_progress(tmp_path):
    class Slow(LocalWorkers):
        def judge(self, records):
            return iter(records)

    beats, beat = [], Progress("evaluation", "verdicts")
    line = Line(CONFIG, tmp_path, CONFIG.arms[0], 0, Slow(), on_progress=beats.append)
    verdicts = line.judging(beat)([{"id": "a"}, {"id": "b"}])
    assert [(verdict["id"], len(beats)) for verdict in verdicts] == [("a", 1), ("b", 2)]


@pytest.mark.parametrize(("trackers", "told"), [([], 0), (["tensorboard"], 1)])
def test_trackers_are_told_in_a_process_of_their_own(tmp_path, trackers, told):
    """They go by the environment and redirect the output, which the lines of the command share."""

    class Noting:
        def run(self, stage, *_):
            stages.append(stage.__name__)
            return RoundMeasured(tmp_path, None)

        def spread(self, stage, *_, **__):
            stages.append(stage.__name__)

    stages = []
    config = RunConfig.model_validate({**CONFIG.model_dump(), "training": {"trackers": trackers}})
    before = dict(os.environ)
    run_round(Line(config, tmp_path, config.arms[0], 0, LocalWorkers(), elsewhere=Noting()), 0, None)
    assert stages.count("tell_trackers") == told
    assert dict(os.environ) == before


def _nothing(_channel):
    return None


def test_where_there_is_a_gpu_the_server_imports_nothing_that_could_wake_it(tmp_path):
    (tmp_path / "nvidiactl").touch()
    program = (
        "import pathlib, sys\n"
        f"exists = pathlib.Path.exists\n"
        f"pathlib.Path.exists = lambda path: exists(path) if not str(path).startswith('/dev/') "
        f"else exists(pathlib.Path({str(tmp_path / 'nvidiactl')!r}))\n"
        "import training.rounds.preloaded\n"
        "print('bitsandbytes' in sys.modules, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"] * 2


def test_what_hangs_before_it_can_say_anything_is_waited_for_too(tmp_path):
    assert processes(tmp_path).run(waited_for) == ["the process of waited for"]
    assert [path.name for path in (tmp_path / "log").iterdir()] == ["stage-times.jsonl"]


def test_each_gpu_has_a_process_with_its_portion_and_no_more_than_there_are_batches(tmp_path):
    processes(tmp_path, gpus=("3", "5", "7")).spread(seat, most=2)
    seats = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert seats == {"0 of 2 on 3", "1 of 2 on 5"}


def test_as_many_as_are_asked_for_have_a_process_each(tmp_path):
    processes(tmp_path, samplers=2).spread(seat, most=9)
    assert len([path for path in tmp_path.iterdir() if " of 2 on " in path.name]) == 2


@pytest.mark.parametrize("num", [1, 2, 4])
def test_shards_are_the_whole_whatever_their_number(tmp_path, num):
    def ask(name, number, of):
        store = OpenStore(tmp_path / name)
        units = RolloutStore(store, RolloutKey({}, 7, PolicyDigests("m"), is_batched=True))
        question = ShardedRollout(units, RolloutRequest(PROBLEMS, SAMPLING), 1, Shard(number, of))
        sample = partial(LocalWorkers(load=numbering).sample, AUTHOR)
        sample_missing([question], sample, "sampling", steps.append, unwatched)
        return question

    steps = []
    for number in range(num):
        ask("shards", number, num)
    assert sum(steps) == len(PROBLEMS)
    steps.clear()
    assert list(ask("shards", 0, 1).stored()) == list(ask("whole", 0, 1).stored())
    assert steps == [len(PROBLEMS), 0] + [1] * len(PROBLEMS)


def test_a_stage_that_crashes_is_started_once_more_and_said(tmp_path):
    told = []
    assert processes(tmp_path, told).run(crash_once) == "done"
    assert [event.message for event in told] == [
        "a-seed-0: crash once: its process ended with status -11; it is started once more"
    ]
    (timed,) = read_times(tmp_path)
    assert (timed.line, timed.stage, timed.processes, timed.gpus) == ("a-seed-0", "crash_once", 1, 0)
    assert timed.seconds > 0
    assert timed.peak_memory_bytes > 0


def test_a_stage_that_failed_has_no_time(tmp_path):
    with pytest.raises(InputError):
        processes(tmp_path).run(refuse)
    assert read_times(tmp_path) == []


def test_what_a_crashed_stage_told_is_taken_back(tmp_path):
    told = []
    processes(tmp_path, told).run(count_and_crash_once)
    assert [event.attempts for event in told] == [5, -5, 5]


def test_without_gpus_there_are_no_more_policies_than_the_memory_holds(tmp_path, monkeypatch):
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(2**30)
    config = CONFIG.model_copy(update={"model": CONFIG.model.model_copy(update={"name": str(tmp_path)})})
    monkeypatch.setattr(choice, "num_cores", lambda: 8)
    monkeypatch.setattr(choice, "available_memory", lambda: 10 * 2**30)
    assert choice.num_samplers(config, cores=8, gpus=0) == 4
    assert choice.num_samplers(config, cores=4, gpus=0) == 2
    assert choice.num_samplers(config, cores=8, gpus=6) == 6
    assert choice.num_samplers(CONFIG, cores=8, gpus=0) == 1


def test_a_stage_that_crashes_twice_ends_the_run(tmp_path):
    with pytest.raises(RunFailed, match=r"crash: its process ended with status 3, for the second time"):
        processes(tmp_path).run(crash)


def test_a_stages_own_error_is_raised_as_it_is(tmp_path):
    with pytest.raises(InputError, match=r"problems.source: no such file"):
        processes(tmp_path).run(refuse)


def test_the_second_of_two_stages_works_beside_the_first(tmp_path):
    processes(tmp_path).spread(lead, most=1, beside=follow)
    assert {path.name for path in tmp_path.iterdir()} >= {"led", "followed"}


def test_a_stage_whose_follower_fails_is_ended_and_the_followers_error_told(tmp_path):
    began = time.monotonic()
    with pytest.raises(InputError, match=r"problems.source"):
        processes(tmp_path, samplers=2).spread(wait_long, most=2, beside=crash_beside)
    assert time.monotonic() - began < 300


HANGS = """
import os, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, "tests")
from multiprocessing import forkserver
from test_stage_processes import crash, processes
from critics.errors import RunFailed
from training.rounds.line import Line
from training.rounds.run import Slots
from training.rounds import processes as started

def ended():
    try:
        line.run(crash)
    except RunFailed:
        told.append("ended")

if __name__ == "__main__":
    started.PRELOADED, told = "json", []
    forkserver.set_forkserver_preload(["json"])
    forkserver.ensure_running()
    os.kill(forkserver._forkserver._forkserver_pid, signal.SIGSTOP)
    line = processes(Path(sys.argv[1]))
    starts = threading.Thread(target=ended, daemon=True)
    starts.start()
    time.sleep(0.3)
    line.kill()
    started.end_server()
    starts.join(20)
    print(told)
    sys.stdout.flush()
    os._exit(0)
"""


def test_a_server_that_hangs_keeps_no_run_from_its_end(tmp_path):
    command = [sys.executable, "-c", HANGS, str(tmp_path)]
    done = subprocess.run(
        command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "['ended']\n", done.stderr


AGAIN = """
from training.rounds import processes

def work(channel):
    return "done"

if __name__ == "__main__":
    processes.PRELOADED = "json"
    for _ in range(2):
        print(processes.Child(work).result())
        processes.end_server()
"""


def test_where_a_run_has_failed_the_next_one_of_the_process_starts(tmp_path):
    """A server that dies as it is asked for a process would end the next run before it began."""
    script = tmp_path / "again.py"
    script.write_text(AGAIN)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == 2 * "done\n", done.stderr


def test_a_line_that_begins_as_the_run_ends_is_ended_too(tmp_path):
    slots = Slots([Slot()])
    slots.kill()
    with slots.held(processes(tmp_path)) as stages, pytest.raises(RunFailed):
        stages.run(surroundings)
    assert not list((tmp_path / "log").glob("*"))


# -- residents


def noted(out: Path) -> list[int]:
    return [int(name.split()[1]) for name in sorted(path.name for path in out.iterdir() if " " in path.name)]


def test_a_resident_runs_one_stage_after_another_for_one_line_after_another(tmp_path):
    slot = Slot(keeps=True)
    for _ in range(2):
        stages = processes(tmp_path)
        stages.slot = slot
        for _ in range(2):
            stages.spread(note_process, most=1)
        stages.kill()  # as its line ends, the resident goes on
    slot.kill()
    assert len(noted(tmp_path)) == 4
    assert len(set(noted(tmp_path))) == 1


def test_a_resident_that_dies_is_replaced_and_one_whose_stage_fails_is_ended(tmp_path):
    slot = Slot(keeps=True)
    stages = processes(tmp_path)
    stages.slot = slot
    stages.spread(note_process, most=1)
    stages.spread(note_process_and_crash_once, most=1)
    with pytest.raises(InputError, match="no such file"):
        stages.spread(note_process_and_refuse, most=1)
    slot.kill()
    first, dead, new, failed = noted(tmp_path)
    assert first == dead != new == failed
    assert slot.take({}) is None
