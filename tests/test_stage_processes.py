"""Stages and samplers in processes of their own: what they tell, how they die, and that how many changes nothing."""

import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.policy import Completion
from rollout.traces import PolicyDigests, Sampling
from training.configuration.run import RunConfig
from training.records.store import OpenStore
from training.rounds.heartbeat import no_pulse
from training.rounds.line import RunError
from training.rounds.processes import StageProcesses
from training.rounds.questions import Pass
from training.rounds.traces import RoundTraces
from training.rounds.work_units import Asking, StoredUnits
from training.workers.backend import Author, Batch
from training.workers.local import LocalWorkers
from training.workers.process import Child

PROBLEMS = [Problem(f"p{n}", "mine", "Rex.", "Is Rex a wumpus?", None, "true") for n in range(6)]
SAMPLING = Sampling("free", 1.0, 1, 50)
BATCHES = [Batch([problem], SAMPLING) for problem in PROBLEMS]
CONFIG = RunConfig.model_validate(
    {"name": "t", "model": {"name": "m"}, "arms": [{"name": "a", "keep": "naive", "decoding": "free", "format": "cot"}]}
)
AUTHOR = Author(CONFIG, CONFIG.arms[0], None, 7)


class Numbering:
    """A policy that answers with the seed of each attempt."""

    digests = PolicyDigests("numbering")

    def prompt(self, problem, *, hint=False):
        return problem.id

    def complete(self, prompts, guides, seeds, sampling):
        return [Completion(f"{seed}. Answer: true", (seed % 100,), True) for seed in seeds]


def numbering(_author):
    return Numbering()


def dying_once(marker, author):
    """The first process that loads the policy is killed, as by the kernel for want of memory."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return Numbering()
    os.kill(os.getpid(), signal.SIGKILL)
    return numbering(author)


def dying(_author):
    os.kill(os.getpid(), signal.SIGKILL)


def refusing(_author):
    raise InputError("model.name: no such folder; name another")


def attempts(workers: LocalWorkers) -> dict[str, list]:
    found = list(workers.sample(AUTHOR, BATCHES))
    assert sorted(map(id, BATCHES)) == sorted(id(batch) for batch, _ in found)
    return {batch.name: records for batch, records in found}


def test_two_samplers_give_the_attempts_of_one():
    one = attempts(LocalWorkers(load=numbering))
    assert attempts(LocalWorkers(load=numbering, places=[{}, {}])) == one
    assert len({records[0]["completion"] for records in one.values()}) == len(PROBLEMS)


def test_a_sampler_that_dies_is_replaced_and_its_batch_comes_once(tmp_path):
    load = partial(dying_once, tmp_path / "died")
    assert attempts(LocalWorkers(load=load, places=[{}, {}])) == attempts(LocalWorkers(load=numbering))
    assert (tmp_path / "died").exists()


def test_a_batch_that_ends_every_sampler_ends_the_run_and_says_what_to_change():
    with pytest.raises(RunFailed, match=r"status -9, 3 times .* lower sampling.batch_size or workers.samplers"):
        attempts(LocalWorkers(load=dying, places=[{}, {}]))


def test_what_a_sampler_refuses_is_raised_as_it_is():
    with pytest.raises(InputError, match=r"model.name: no such folder"):
        attempts(LocalWorkers(load=refusing, places=[{}, {}]))


# -- certification beside the rollout


def test_attempts_are_judged_while_others_are_sampled(tmp_path):
    attempts, verdicts = OpenStore(tmp_path / "a.jsonl"), OpenStore(tmp_path / "v.jsonl")
    asking = Asking({}, 7, PolicyDigests("m"), is_batched=True)
    sampled = LocalWorkers(load=numbering)

    def judging(records):
        return [{"verdict": "no_certificate"} for _ in records]

    def round_traces(store):
        units = StoredUnits(store, asking)
        return RoundTraces(units, verdicts, partial(sampled.sample, AUTHOR), judging, 2, lambda _: None, no_pulse)

    rollout = round_traces(OpenStore(tmp_path / "a.jsonl"))
    judged = []

    def rollout_ended(_timeout_s):
        """Another pair of problems is sampled each time that this is asked."""
        judged.append(verdicts.num_records)
        rollout.sample(Pass(PROBLEMS[: 2 * len(judged)], SAMPLING))
        return len(judged) == 3

    certification = round_traces(attempts)
    certification.judge(Pass(PROBLEMS, SAMPLING), rollout_ended)
    assert judged == [0, 2, 4]
    assert [trace["problem"]["id"] for trace in certification.judged(Pass(PROBLEMS, SAMPLING))] == [
        problem.id for problem in PROBLEMS
    ]


# -- stages


def processes(out: Path, told: list | None = None, **environment: str) -> StageProcesses:
    report = (told if told is not None else []).append
    return StageProcesses(CONFIG, out, CONFIG.arms[0], 0, "a-seed-0", report, 1, environment)


def surroundings(_line):
    return os.environ.get("MINE"), os.environ.get("OURS"), str(Path.cwd()), os.getpid()


def crash_once(line):
    try:
        (line.run / "crashed").touch(exist_ok=False)
    except FileExistsError:
        return "done"
    return os.kill(os.getpid(), signal.SIGSEGV)


def crash(_line):
    os._exit(3)


def refuse(_line):
    raise InputError("problems.source: no such file")


def wait_long(line):
    (line.run / "waits").touch()
    time.sleep(600)


def follow(line):
    """Return when the other stage has ended, and leave a mark."""
    while not line.rollout_ended(0.05):
        pass
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
    mine, ours, folder, pid = processes(tmp_path, MINE="1").run(surroundings)
    assert (mine, ours, folder) == ("1", "set later", str(tmp_path))
    assert pid != os.getpid()


def _nothing(_channel):
    return None


def test_a_stage_that_crashes_is_started_once_more_and_said(tmp_path):
    told = []
    assert processes(tmp_path, told).run(crash_once) == "done"
    assert [event.message for event in told] == [
        "a-seed-0: crash once: its process ended with status -11; it is started once more"
    ]


def test_a_stage_that_crashes_twice_ends_the_run(tmp_path):
    with pytest.raises(RunError, match=r"crash: its process ended with status 3, for the second time"):
        processes(tmp_path).run(crash)


def test_a_stages_own_error_is_raised_as_it_is(tmp_path):
    with pytest.raises(InputError, match=r"problems.source: no such file"):
        processes(tmp_path).run(refuse)


def test_the_second_of_two_stages_hears_of_the_end_of_the_first(tmp_path):
    processes(tmp_path).overlap(lead, follow)
    assert {path.name for path in tmp_path.iterdir()} >= {"led", "followed"}


def test_a_stage_whose_follower_fails_is_ended_and_the_followers_error_told(tmp_path):
    began = time.monotonic()
    with pytest.raises(InputError, match=r"problems.source"):
        processes(tmp_path).overlap(wait_long, crash_beside)
    assert time.monotonic() - began < 300
