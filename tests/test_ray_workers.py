"""The same attempts and the same verdicts from a cluster as from this machine, whoever dies there."""

import itertools
import json
import operator
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from critics.errors import RunFailed
from critics.judge import JudgePool
from critics.problem import Problem, RecordError
from rollout.policies.policy import ScriptedPolicy
from rollout.records.sampling import Sampling
from training.configuration.run import RunConfig, load_run
from training.configuration.section import ConfigError
from training.workers import distributed
from training.workers.choice import open_workers
from training.workers.local import LocalWorkers
from training.workers.requests import ArmPolicy, RolloutRequest

pytest.importorskip("ray", reason="Ray is not installed (pip install 'certistar[ray]')")
psutil = pytest.importorskip("psutil", reason="psutil is not installed")

ROOT = Path(__file__).parents[1]
FORMAL = {"axioms": ["(p a)", "(p 'x) -> (q 'x)"], "goal": "(q a)"}
PROOF = "[[axiom:(p a)]][[axiom:(p 'x) -> (q 'x)]][[goal:(q a)]][[infer:(q a)]]\nAnswer: true"
PIGEONS = " ".join(
    [
        *(f"p(a{i})." for i in range(12)),
        *(f"h(b{i})." for i in range(11)),
        "1 {at(X,Y) : h(Y)} 1 :- p(X). :- at(X,Y), at(Z,Y), X != Z.",
    ]
)
BOMB = json.dumps({"Model": PIGEONS, "Tests": [], "Query": ["ATOM(p(a1))"]})
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


@pytest.fixture(scope="module")
def ray_cluster():
    """Two workers on this machine, for all tests here."""
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        object_store_memory=80 * 2**20,
    )
    yield ray
    ray.shutdown()


def attempt(number: int, completion: str = PROOF, format_: str = "guided") -> dict:
    problem = {"id": "p", "dataset": "mine", "context": "", "question": "", "answer": "true", "formal": FORMAL}
    return {"id": f"{number}", "problem": problem, "format": format_, "completion": completion}


def mixed(num: int) -> list[dict]:
    """Proofs, wrong answers, texts that do not parse, and a program that is never solved."""
    texts = [PROOF, "Answer: false", "[[infer:(q a)", PROOF.replace("(q a)", "(p b)")]
    records = [attempt(n, texts[n % 4]) for n in range(num)]
    records[num // 2] = attempt(num // 2, BOMB, "asp")
    return records


def ray_workers(**changes):
    return distributed.RayWorkers(**changes)


def test_two_ray_workers_give_the_verdicts_of_the_local_pool(ray_cluster):
    records = mixed(40)
    with JudgePool(jobs=2, timeout_s=60) as pool:
        local = list(pool.judge(records))
    assert {verdict["verdict"] for verdict in local} >= {"certified", "timeout", "malformed"}
    assert list(ray_workers(timeout_s=60).judge(records)) == local


def test_killing_ray_workers_midway_changes_nothing(ray_cluster, monkeypatch):
    monkeypatch.setattr(distributed, "judged", judged_slowly)
    records = mixed(30)
    with JudgePool(jobs=1, timeout_s=60) as pool:
        local = list(pool.judge(records))
    judging = ray_workers(timeout_s=60).judge(records)
    found = [next(judging)]
    os.kill(_worker_that_judges(), signal.SIGKILL)
    found += judging
    assert found == local


def judged_slowly(records, timeout_s, origin):
    """Judge in a Ray worker, slowly enough that one is at work when the first verdict is there."""
    from training.workers import distributed

    time.sleep(1)
    return distributed.judged(records, timeout_s, origin)


def _worker_that_judges() -> int:
    """Return the process id of a Ray worker at work."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for process in psutil.process_iter(["cmdline"]):
            if process.info["cmdline"] and process.info["cmdline"][0].startswith("ray::judged"):
                return process.pid
        time.sleep(0.01)
    raise AssertionError("no worker judges")


def test_a_critic_that_does_not_end_is_killed_and_its_ray_worker_goes_on(ray_cluster, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(distributed, "judged", judged_without_end)
        (verdict,) = ray_workers(timeout_s=0.5).judge([attempt(0)])
    assert (verdict["verdict"], verdict["reason"]) == ("timeout", "time_limit")
    assert next(ray_workers(timeout_s=60).judge([attempt(1)]))["verdict"] == "certified"


def judged_without_end(records, timeout_s, origin):
    """Judge in a Ray worker with a critic that counts for ever how often the attempt occurs in nothing but None."""
    import critics.judge
    from training.workers import distributed

    real = critics.judge.judge_record
    critics.judge.judge_record = partial(operator.countOf, itertools.repeat(None))
    try:
        return distributed.judged(records, timeout_s, origin)
    finally:
        critics.judge.judge_record = real


def test_what_is_no_attempt_is_told_after_the_verdicts_before_it(ray_cluster):
    judging = ray_workers().judge([attempt(0), {"id": "1"}])
    assert next(judging)["verdict"] == "certified"
    with pytest.raises(RecordError):
        next(judging)


def test_a_policy_on_the_cluster_writes_what_it_writes_here(ray_cluster):
    batches = [
        RolloutRequest(PROBLEMS[:2], SAMPLING),
        RolloutRequest(PROBLEMS[2:4], SAMPLING),
        RolloutRequest(PROBLEMS[4:], SAMPLING),
    ]
    found = dict_of(ray_workers(load=says_the_same).sample(AUTHOR, batches))
    assert found == dict_of(LocalWorkers(load=says_the_same).sample(AUTHOR, batches))
    assert sorted(found) == ["p0", "p2", "p4"]


def says_the_same(_: ArmPolicy) -> ScriptedPolicy:
    return ScriptedPolicy(["Answer: true"] * 99)


def dict_of(pairs) -> dict[str, list[dict]]:
    listed = list(pairs)
    found = {batch.problems[0].id: records for batch, records in listed}
    assert len(found) == len(listed)
    return found


def test_a_lost_policy_is_replaced_and_its_batch_comes_once(ray_cluster, tmp_path):
    batches = [RolloutRequest([problem], SAMPLING) for problem in PROBLEMS[:3]]

    def dies_once(_: ArmPolicy) -> ScriptedPolicy:
        if not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return says_the_same(_)

    found = dict_of(ray_workers(load=dies_once).sample(AUTHOR, batches))
    assert found == dict_of(LocalWorkers(load=says_the_same).sample(AUTHOR, batches))


def test_a_batch_that_kills_every_worker_ends_the_run_and_is_named(ray_cluster, monkeypatch):
    def dies(_: ArmPolicy) -> ScriptedPolicy:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    monkeypatch.setattr(distributed, "NUM_LOSSES", 1)
    with pytest.raises(RunFailed, match=r"batch p0 was lost with 1 worker"):
        list(ray_workers(load=dies).sample(AUTHOR, [RolloutRequest(PROBLEMS[:1], SAMPLING)]))


def test_what_a_policy_wrote_before_it_failed_comes_before_its_error(ray_cluster):
    def falls_silent(_: ArmPolicy) -> ScriptedPolicy:
        return ScriptedPolicy([])

    sampling = ray_workers(load=falls_silent).sample(AUTHOR, [RolloutRequest(PROBLEMS[:1], SAMPLING)])
    batch, records = next(sampling)
    assert (batch.name, records) == ("p0", [])
    with pytest.raises(IndexError):
        next(sampling)


def test_a_cluster_without_a_gpu_is_a_diagnosis_where_one_is_wanted(ray_cluster):
    workers = ray_workers(load=says_the_same, gpus=1, patience_s=0.5)
    with pytest.raises(RunFailed, match=r"no machine with 1 CPU and 1 GPU.*0 of 0 GPU free"):
        list(workers.sample(AUTHOR, [RolloutRequest(PROBLEMS[:1], SAMPLING)]))


def test_a_machine_with_other_code_does_not_judge(ray_cluster):
    workers = ray_workers(code="0" * 64)
    with pytest.raises(RunFailed, match="another certistar"):
        list(workers.judge([attempt(0)]))


def test_no_more_is_under_way_than_the_cluster_has_room_for(ray_cluster, monkeypatch):
    monkeypatch.setattr(distributed, "AHEAD", 1)
    taken = 0

    def stream():
        nonlocal taken
        for number in range(200):
            taken += 1
            yield attempt(number)

    judging = ray_workers().judge(stream())
    next(judging)
    assert taken <= 2 * distributed.AT_A_TIME
    judging.close()


def test_an_address_where_nothing_listens_is_told_at_once():
    from training.workers.distributed import kept_cluster

    with pytest.raises(RunFailed, match=r"127\.0\.0\.1:1 .*ray start --head"), kept_cluster("127.0.0.1:1"):
        pass


def test_without_ray_the_configuration_says_what_to_install(monkeypatch):
    from training.workers.choice import cluster

    config = CONFIG.model_copy(update={"workers": CONFIG.workers.model_copy(update={"backend": "ray"})})
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'certistar\[ray\]'"):
        cluster(config).__enter__()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("workers={backend: ray, address: 'ray://head:10001'}", "neither auto nor HOST:PORT"),
        ("workers={address: auto}", "is for `backend: ray`"),
        ("workers={gpus: 1}", "is for `backend: ray`"),
    ],
)
def test_a_section_that_names_no_cluster_is_refused(override, message):
    with pytest.raises(ConfigError, match=message):
        load_run(ROOT / "configs/smoke.yaml", [override])


def test_the_backend_changes_no_digest_and_starts_nothing():
    config = load_run(ROOT / "configs/smoke.yaml", ["workers.backend=ray"])
    assert config.digest() == load_run(ROOT / "configs/smoke.yaml").digest()
    assert isinstance(open_workers(config), distributed.RayWorkers)


@pytest.mark.slow
def test_a_run_on_ray_writes_the_bytes_of_a_local_one(tmp_path):
    files = {}
    for backend in ("local", "ray"):
        out = tmp_path / backend
        command = [sys.executable, "-m", "training", "run", "configs/smoke.yaml", "--out", str(out)]
        subprocess.run([*command, "--set", f"workers.backend={backend}"], cwd=ROOT, check=True, timeout=900)
        data = [p for p in out.rglob("*") if p.is_file() and p.suffix in (".jsonl", ".safetensors")]
        data += out.rglob("evaluation.json")
        files[backend] = {str(p.relative_to(out)): p.read_bytes() for p in data if "log" not in p.parts}
    assert files["ray"].keys() == files["local"].keys()
    assert [name for name, content in files["ray"].items() if content != files["local"][name]] == []
