"""The critics as an environment of other libraries: a reward is a certificate, and what is undecided says so.

The contracts with verifiers and OpenEnv run where their extras are installed (docs/environments.md names versions).
"""

import asyncio
import json
from itertools import count
from threading import Thread

import pytest

from critics.errors import InputError
from critics.judge import judge_record
from rollout.problems.prontoqa import PrOntoQA, generate
from training.records.store import write_records
from training.rewards import questions
from training.rewards.questions import Critics, Limits, Questions, solved

PROBLEMS = list(generate(PrOntoQA(hops=(1,), extra_kinds=(0, 0)), 4, seed=3))


def solution(problem):
    return solved(problem, "cot")


def guess(problem):
    """The right answer without a proof."""
    return f"That is so.\nAnswer: {problem.answer}"


@pytest.fixture
def pools(monkeypatch):
    """Pools that judge here, and say `timeout` to a text that asks for it."""

    class Here:
        def __init__(self, *, timeout_s):
            self.timeout_s = timeout_s

        def judge(self, attempts):
            for attempt in attempts:
                late = {"id": attempt["id"], "verdict": "timeout", "answer": None, "reason": "time_limit"}
                yield late | {"feedback": ""} if "wait" in attempt["completion"] else judge_record(attempt)

    monkeypatch.setattr(questions, "JudgePool", Here)


@pytest.fixture
def file(tmp_path):
    write_records(tmp_path / "p.jsonl", [problem.record() for problem in PROBLEMS])
    return {"file": str(tmp_path / "p.jsonl")}


@pytest.mark.parametrize("format_", ["cot", "guided"])
def test_a_perfect_writer_is_paid_and_a_guess_is_not(format_, pools):
    critics = Critics(Limits())
    for problem in PROBLEMS:
        assert critics.rewarded("a", problem, format_, solved(problem, format_)).reward == 1
        assert critics.rewarded("b", problem, format_, guess(problem)).reward == 0
        assert critics.rewarded("c", problem, format_, "wait").reward is None


@pytest.mark.slow
def test_attempts_are_judged_in_processes_that_can_be_killed():
    critics = Critics(Limits(jobs=1))
    found = critics.rewarded("a", PROBLEMS[0], "cot", solution(PROBLEMS[0]))
    assert (found.reward, found.record["judgement"]) == (1, judge_record(found.record))


def test_a_problem_without_an_answer_would_pay_for_any_proof(tmp_path):
    write_records(tmp_path / "p.jsonl", [{**PROBLEMS[0].record(), "answer": None}])
    with pytest.raises(InputError, match="has no answer"):
        Questions(problems={"file": str(tmp_path / "p.jsonl")}).load()


class TestVerifiers:
    @pytest.fixture
    def env(self, file, pools):
        pytest.importorskip("verifiers.v1", reason="pip install 'certistar[verifiers]'")
        from certistar_verifiers import load_environment
        from training.rewards import taskset

        taskset._critics.cache_clear()
        yield load_environment(problems=file, num_problems=4)
        taskset._critics.cache_clear()

    @staticmethod
    def scored(task, reply):
        import verifiers.v1 as vf

        trace = vf.Trace(
            task=vf.TraceTask(type=type(task).__name__, data=task.data, key=task.key, hash=task.hash),
            agent=vf.AgentInfo(name="agent", config=vf.AgentConfig()),
            root_reply=reply,
        )
        asyncio.run(task.score(trace))
        return vf.WireTrace.model_validate(json.loads(json.dumps(trace.to_record())))

    def test_the_reward_is_the_certificate_which_travels_in_the_trace(self, env):
        for task, problem in zip(env.taskset, PROBLEMS, strict=True):
            proved, lucky = self.scored(task, solution(problem)), self.scored(task, guess(problem))
            assert (proved.rewards["certified"].score, proved.metrics) == (1, {"undecided": 0})
            assert (lucky.rewards["certified"].score, lucky.metrics) == (0, {"undecided": 0})
            assert proved.info["certistar"]["judgement"] == judge_record(proved.info["certistar"])

    def test_what_is_undecided_is_no_wrong_answer_and_never_certified(self, env):
        undecided = self.scored(next(iter(env.taskset)), "wait")
        assert (undecided.rewards["certified"].score, undecided.metrics) == (0, {"undecided": 1})
        assert undecided.info["certistar"]["judgement"]["verdict"] == "timeout"

    def test_the_gold_check_of_verifiers_holds_and_no_reply_earns_nothing(self, env):
        for task in env.taskset:
            assert asyncio.run(task.validate(None)) is True
            assert self.scored(task, "").rewards["certified"].score == 0

    def test_thoughts_beside_the_reply_are_judged_with_it(self, env, monkeypatch):
        import verifiers.v1 as vf

        task, problem = next(zip(env.taskset, PROBLEMS, strict=True))
        thought = [vf.AssistantMessage(content=solution(problem), reasoning_content="It is wrong.")]
        monkeypatch.setattr(vf.Trace, "assistant_messages", property(lambda trace: thought))
        assert self.scored(task, solution(problem)).rewards["certified"].score == 0

    def test_a_policy_gets_neither_tools_nor_the_answer(self, env):
        assert [type(harness).__name__ for harness in env.config.agent_harnesses().values()] == ["NullHarnessConfig"]
        for task, problem in zip(env.taskset, PROBLEMS, strict=True):
            assert problem.question in task.data.prompt_text
            assert f"Answer: {problem.answer}." not in task.data.prompt_text


class TestOpenEnv:
    @pytest.fixture
    def environment(self, file, pools):
        pytest.importorskip("openenv.core", reason="pip install 'certistar[openenv]'")
        from training.rewards.openenv_server import CertifiedEnvironment

        asked = Questions(problems=file, num_problems=4)
        return CertifiedEnvironment(asked, asked.load(), Critics(Limits()), count())

    @staticmethod
    def tried(environment, completion, place=0):
        from training.rewards.openenv_server import Attempt

        environment.reset(problem=place)
        return environment.step(Attempt(completion=completion))

    def test_a_step_is_judged_and_what_is_undecided_has_no_reward(self, environment):
        shown = [self.tried(environment, said) for said in (solution(PROBLEMS[0]), guess(PROBLEMS[0]), "wait")]
        assert [(one.reward, one.undecided, one.done) for one in shown] == [
            (1, False, True), (0, False, True), (None, True, True)
        ]  # fmt: skip
        assert shown[0].record["judgement"] == judge_record(shown[0].record)

    def test_answers_cannot_be_tried_until_one_is_paid(self, environment):
        from training.rewards.openenv_server import Attempt

        self.tried(environment, guess(PROBLEMS[0]))
        with pytest.raises(ValueError, match="no open question"):
            environment.step(Attempt(completion=solution(PROBLEMS[0])))

    def test_questions_come_in_turn_or_by_their_place(self, environment):
        asked = [environment.reset(**how).messages[-1]["content"] for how in ({}, {}, {"seed": 5}, {"problem": 2})]
        assert [next(n for n, p in enumerate(PROBLEMS) if p.question in said) for said in asked] == [0, 1, 1, 2]

    def test_a_client_of_openenv_gets_the_certificate_over_the_wire(self, file, pools):
        pytest.importorskip("openenv.core", reason="pip install 'certistar[openenv]'")
        import uvicorn
        from openenv import GenericEnvClient

        from training.rewards.openenv_server import Served, served

        app = served(Served(questions={"problems": file, "num_problems": 4}))
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
        thread = Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            thread.join(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]

        async def played():
            async with GenericEnvClient(base_url=f"http://127.0.0.1:{port}") as client:
                await client.reset(problem=1)
                return await client.step({"completion": solution(PROBLEMS[1])})

        result = asyncio.run(played())
        server.should_exit = True
        thread.join()
        assert (result.reward, result.done) == (1, True)
        assert result.observation["record"]["judgement"] == judge_record(result.observation["record"])
