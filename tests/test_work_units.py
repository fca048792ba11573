"""What was sampled is never sampled again, and never taken for the answer to another question."""

import tracemalloc
from dataclasses import replace

import pytest

from critics.errors import InputError, RunFailed
from critics.problem import Problem
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from training.configuration.run import ArmConfig, RunConfig
from training.records.open_store import OpenStore
from training.records.store import read_records
from training.rounds import rollout
from training.rounds.rollout import RoundTraces
from training.rounds.rollout_store import RolloutKey, RolloutStore, StoredStrategy, how_asked, unit_name
from training.workers.requests import RolloutRequest

PROBLEMS = [Problem(f"p{n}", "prontoqa", f"Rex is number {n}.", "Is Rex a wumpus?", None, "true") for n in range(6)]
SAMPLING = Sampling("free", 1.0, 2, 50)
REQUEST = RolloutRequest(PROBLEMS[:1], SAMPLING)
KEY = RolloutKey({"format": "cot"}, 7, PolicyDigests("base"), False)


class Asked:
    """A strategy whose policy dies after so many attempts."""

    def __init__(self, *, most: int = 10**9, size: int = 1):
        self.most, self.size = most, size
        self.written: list[str] = []

    def attempts(self, policy, problems, sampling, *, seed, hinted=False):
        for problem in problems:
            for number in range(sampling.samples_per_problem):
                if len(self.written) == self.most:
                    raise RunFailed("the server is gone")
                name = f"{problem.id}#{'hint-' if hinted else ''}{number}"
                self.written.append(name)
                written, digests = "x" * self.size, PolicyDigests("base")
                sampled = {"sample": number, "hint": hinted, "sampling": sampling, "policy": digests}
                yield Trace(name, problem, "cot", written, **sampled)


def attempts_at(path, strategy: Asked, problems, key: RolloutKey = KEY):
    stored = StoredStrategy(strategy, OpenStore(path), key.how, key.is_batched)
    return stored.attempts(Policy(), problems, SAMPLING, seed=key.seed)


class Policy:
    digests = PolicyDigests("base")


def test_what_a_server_wrote_before_it_died_is_not_asked_for_again(tmp_path):
    dying, second = Asked(most=5), Asked()
    with pytest.raises(RunFailed, match="gone"):
        attempts_at(tmp_path / "t", dying, PROBLEMS[:4])
    records = list(attempts_at(tmp_path / "t", second, PROBLEMS[:4]))
    assert [trace.id for trace in records] == [f"p{n}#{k}" for n in range(4) for k in range(2)]
    assert second.written == ["p2#0", "p2#1", "p3#0", "p3#1"]
    assert OpenStore(tmp_path / "t").num_records == 8


def test_a_batch_in_this_process_is_written_as_one_whatever_is_there_of_it(tmp_path):
    key, dying, second, third = replace(KEY, is_batched=True), Asked(most=5), Asked(), Asked()
    with pytest.raises(RunFailed):
        attempts_at(tmp_path / "t", dying, PROBLEMS[:3], key)
    assert len(list(attempts_at(tmp_path / "t", second, PROBLEMS[:3], key))) == 6
    assert len(second.written) == 6
    assert len(list(attempts_at(tmp_path / "t", third, PROBLEMS[:3], key))) == 6
    assert third.written == []
    assert OpenStore(tmp_path / "t").num_records == 6


CHANGES = {
    "problem": lambda: unit_name(replace(REQUEST, problems=[replace(PROBLEMS[0], question="?")]), KEY),
    "sampling": lambda: unit_name(replace(REQUEST, sampling=replace(SAMPLING, temperature=0.5)), KEY),
    "hint": lambda: unit_name(replace(REQUEST, hinted=True), KEY),
    "seed": lambda: unit_name(REQUEST, replace(KEY, seed=8)),
    "adapter": lambda: unit_name(REQUEST, replace(KEY, policy=PolicyDigests("base", "a"))),
    "format": lambda: unit_name(REQUEST, replace(KEY, how={"format": "guided"})),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_decides_an_attempt_decides_the_name_of_its_unit(change):
    name = unit_name(REQUEST, KEY)
    assert unit_name(REQUEST, replace(KEY)) == name
    assert CHANGES[change]() != name


def test_where_a_server_listens_decides_nothing():
    def how(**changes):
        server = {"base_url": "http://one:8000/v1", "model": "m", **changes}
        config = RunConfig.model_validate({"name": "c", "model": {"name": "tokenizer", "server": server}})
        return how_asked(config, ArmConfig(name="a", keep="naive", decoding="free"))

    assert how() == how(base_url="http://two:9000/v1", parallel=3, retries=0, timeout_s=5)
    assert how() != how(model="n")
    assert how() != how(extra_body={"top_p": 0.5})


def test_one_store_serves_several_questions(tmp_path):
    store = OpenStore(tmp_path / "t")
    first, second = Asked(), Asked()
    for strategy, how in ((first, {"arm": "a"}), (second, {"arm": "b"})):
        for _ in range(2):
            remembering = StoredStrategy(strategy, store, how, is_batched=True)
            policy = Policy()
            assert len(list(remembering.attempts(policy, PROBLEMS, SAMPLING, seed=1))) == 12
    assert len(first.written) == len(second.written) == 12


def test_two_problems_of_one_name_are_refused(tmp_path):
    twins = [PROBLEMS[0], replace(PROBLEMS[1], id="p0")]
    with pytest.raises(InputError, match="problem 'p0' stands twice"):
        attempts_at(tmp_path / "t", Asked(), twins)


def a_round(folder, strategy: Asked, judged: list[str]) -> RoundTraces:
    def judging(records):
        for record in records:
            judged.append(record["id"])
            yield {"verdict": "unproved", "reason": "cot", "answer": "true"}

    def sampling(batches):
        for batch in batches:
            traces = strategy.attempts(None, batch.problems, batch.sampling, seed=7, hinted=batch.hinted)
            yield batch, list(traces)

    attempts, verdicts = (OpenStore(folder / f"{name}.open.jsonl") for name in ("traces", "verdicts"))
    return RoundTraces(RolloutStore(attempts, KEY), verdicts, sampling, judging, 2, lambda _: None, lambda _: None)


def test_a_round_is_sealed_by_problem_hint_and_sample_and_judged_once(tmp_path):
    judged: list[str] = []
    plain = RolloutRequest(PROBLEMS, SAMPLING)
    hinted = RolloutRequest(PROBLEMS[1:5:3], Sampling("free", 1.0, 1, 50), hinted=True)
    for _ in range(2):  # the second time everything is there
        traces = a_round(tmp_path, Asked(), judged)
        for asked in (plain, hinted):
            traces.sample(asked)
            traces.judge(asked)
    traces.seal(tmp_path / "traces.jsonl", [plain, hinted])
    names = [trace["id"] for trace in read_records(tmp_path / "traces.jsonl", checksum=True)]
    hints = {1: ["p1#hint-0"], 4: ["p4#hint-0"]}
    assert names == [name for n in range(6) for name in [f"p{n}#0", f"p{n}#1", *hints.get(n, [])]]
    assert sorted(judged) == sorted(names)


def peak_of_a_round(folder, num: int) -> int:
    folder.mkdir()
    problems = [replace(PROBLEMS[0], id=f"p{n}") for n in range(num)]
    traces = a_round(folder, Asked(size=20_000), [])
    asked = RolloutRequest(problems, Sampling("free", 1.0, 1, 50))
    tracemalloc.start()
    traces.sample(asked)
    traces.judge(asked)
    traces.seal(folder / "traces.jsonl", [asked])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_the_memory_of_a_round_does_not_grow_with_its_traces(tmp_path, monkeypatch):
    """Attack: hold the records of a round, of which there may be a million."""
    monkeypatch.setattr(rollout, "AT_A_TIME", 8)
    few, many = peak_of_a_round(tmp_path / "few", 60), peak_of_a_round(tmp_path / "many", 240)
    further = (tmp_path / "many/traces.jsonl").stat().st_size - (tmp_path / "few/traces.jsonl").stat().st_size
    assert further > 3_000_000
    assert many - few < further / 10
