"""What hangs is named and ended, and what goes on is left alone."""

import json
import pickle

import pytest

from training.configuration.run import RunConfig
from training.rounds.run import jobs_of, lines_of
from training.watchdog import (
    BUDGETS_S,
    REMEDIES,
    SUFFIX,
    WRITE_S,
    Heartbeat,
    Progress,
    StageStalled,
    Watchdog,
    base_name,
)


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def waiting(watch: Watchdog) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted(watch.folder.glob(f"*{SUFFIX}"))]


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def watched(tmp_path, clock):
    folder = tmp_path / "run" / "log"
    return Heartbeat(folder, "strict-seed-0", clock), Watchdog(folder, clock=clock)


def test_a_heartbeat_says_what_is_waited_for(watched):
    heartbeat, watch = watched
    heartbeat.beat(Progress("sampling", "the policy to answer p0 to p9", 30, 200))
    (told,) = waiting(watch)
    assert (told["line"], told["stage"], told["done"], told["total"]) == ("strict-seed-0", "sampling", 30, 200)
    assert told["waiting_for"] == "the policy to answer p0 to p9"
    heartbeat.stop()
    assert waiting(watch) == []


def test_a_stage_without_progress_ends_with_a_diagnosis(watched, clock):
    heartbeat, watch = watched
    heartbeat.beat(Progress("judging", "verdicts from p7#0 on", 7, 40))
    watch.check()
    clock.now += BUDGETS_S["judging"]
    watch.check()
    clock.now += 1
    with pytest.raises(StageStalled) as caught:
        watch.check()
    told = str(pickle.loads(pickle.dumps(caught.value)))
    for word in ("strict-seed-0", "judging", "901 s", "verdicts from p7#0 on", "7 of 40 done", "run the command again"):
        assert word in told
    assert REMEDIES["judging"] in told


def test_each_stage_has_a_budget_and_a_remedy_of_its_own(watched, clock):
    heartbeat, watch = watched
    assert BUDGETS_S.keys() == REMEDIES.keys()
    heartbeat.beat(Progress("training", "the adapter of round 0"))
    watch.check()
    clock.now += BUDGETS_S["judging"] + 1
    watch.check()


def test_progress_of_the_same_work_starts_the_budget_anew(watched, clock):
    heartbeat, watch = watched
    for _ in range(5):
        heartbeat.beat(Progress("judging", "verdicts"))
        watch.check()
        clock.now += BUDGETS_S["judging"] - 1
    watch.check()


def test_a_line_that_ended_is_not_waited_for(watched, clock):
    heartbeat, watch = watched
    heartbeat.beat(Progress("judging", "verdicts"))
    watch.check()
    heartbeat.stop()
    clock.now += 1e6
    watch.check()


def test_one_hanging_line_among_others_is_the_one_that_is_named(watched, clock):
    hanging, watch = watched
    hanging.beat(Progress("sampling", "a server that is gone"))
    other = Heartbeat(watch.folder, "naive-seed-0", clock)
    for _ in range(10):
        other.beat(Progress("sampling", "its next batch"))
        watch.check()
        clock.now += BUDGETS_S["sampling"] / 10
    clock.now += 1
    other.beat(Progress("sampling", "its last batch"))
    with pytest.raises(StageStalled, match=r"strict-seed-0: sampling.*a server that is gone"):
        watch.check()


def test_heartbeats_of_a_killed_run_are_forgotten(watched, clock):
    heartbeat, _ = watched
    heartbeat.beat(Progress("judging", "verdicts"))
    assert waiting(Watchdog(heartbeat.folder, clock=clock)) == []


def test_files_are_not_written_for_every_beat(watched, clock):
    heartbeat, _ = watched
    beats = []
    for _ in range(100):
        heartbeat.beat(Progress("judging", "verdicts"))
        beats.append(json.loads(heartbeat.path.read_text())["beats"])
    assert set(beats) == {1}
    clock.now += WRITE_S
    heartbeat.beat(Progress("judging", "verdicts"))
    assert json.loads(heartbeat.path.read_text())["beats"] == 101


def test_a_log_folder_that_cannot_be_written_stops_nothing(tmp_path, clock):
    (tmp_path / "log").write_text("a file")
    Heartbeat(tmp_path / "log", "strict", clock).beat(Progress("judging", "verdicts"))
    assert (tmp_path / "log").read_text() == "a file"


def test_base_models_that_are_measured_at_once_have_a_heartbeat_each(tiny_model):
    arms = [{"name": kind, "keep": "naive", "decoding": kind} for kind in ("guided", "free")]
    config = RunConfig.model_validate({"name": "t", "model": {"name": str(tiny_model)}, "arms": arms, "seeds": [0, 1]})
    names = [unit.name for unit in jobs_of(config)]
    assert len(names) == len(set(names)) == 8
    assert {base_name(entry["base"]) for entry in lines_of(config)["lines"]} == set(names[:4])
