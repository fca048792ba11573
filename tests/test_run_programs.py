"""A run whose arms write programs for solvers, from rollouts to a fine-tuned translator."""

import json

import pytest

from critics.judge import judge_record
from rollout.policies.policy import Completion
from rollout.programs.prompt import problem_text, solved_examples
from rollout.records.digests import PolicyDigests
from rollout.records.traces import read_trace
from training.configuration.run import RunConfig
from training.lessons.teaching import file_examples
from training.records.store import read_records, write_json, write_records
from training.rounds.line import Line
from training.rounds.loop import measure, run_line
from training.rounds.run import lines_of
from training.workers.local import LocalWorkers

EXAMPLES = [example for example in solved_examples() if example.format == "rules"]


class Mending:
    """A translator that writes prose first and a certified program once it is told what is wrong."""

    def __init__(self) -> None:
        self.digests = PolicyDigests("mending")

    def conversation(self, messages) -> str:
        return json.dumps(messages)

    def complete(self, prompts, guides, seeds, sampling) -> list[Completion]:
        return [Completion(self._reply(json.loads(prompt)), (), True) for prompt in prompts]

    def _reply(self, messages) -> str:
        asked = [message["content"] for message in messages if message["role"] == "user"]
        if len(asked) == 1:
            return "The answer is clear."
        return next(e.program for e in EXAMPLES if problem_text(e.problem) in asked[0])


class Here(LocalWorkers):
    def judge(self, records):
        return [judge_record(record) for record in records]


@pytest.fixture(scope="module")
def run(tiny_model, tmp_path_factory):
    import torch

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("programs")
    taught, asked = folder / "taught.jsonl", folder / "asked.jsonl"
    write_records(taught, [EXAMPLES[0].problem.record()])
    write_records(asked, [EXAMPLES[1].problem.record()])
    config = RunConfig.model_validate(
        {
            "name": "test",
            "model": {"name": str(tiny_model)},
            "problems": {"file": str(taught)},
            "held_out": {"file": str(asked)},
            "arms": [{"name": "strict", "keep": "strict", "decoding": "free", "strategy": "translate-and-refine"}],
            "programs": {"examples": 0, "language": "rules"},
            "star": {"rounds": 1, "problems_per_round": 1},
            "training": {"global_batch_size": 1, "learning_rate": 1e-3},
            "evaluation": {"num_problems": 1, "greedy": "never"},
        }
    )
    write_json(folder / "lines.json", lines_of(config))
    line = Line(config, folder, config.arms[0], 0, Here(load=lambda _: Mending()))
    measure(line, None, None)
    run_line(line)
    return folder


def test_what_was_mended_is_certified_and_learnt_in_one_turn(run):
    (trace,) = read_records(run / "round-000/traces.jsonl", checksum=True)
    assert trace["judgement"]["verdict"] == "certified"
    assert trace["steps"][0]["purpose"] == "sample"
    (example,) = read_records(run / "round-000/dataset/examples.jsonl")
    assert [message["role"] for message in example["messages"]] == ["system", "user", "assistant"]
    assert example["messages"][-1]["content"] == trace["completion"]
    assert example["certificate"] == trace["judgement"]["certificate"]["digest"]
    assert json.loads((run / "round-000/adapter/manifest.json").read_text())["examples"] == 1


def test_held_out_problems_are_answered_by_the_same_strategy(run):
    mode = json.loads((run / "round-000/evaluation.json").read_text())["modes"]["sampled"]
    assert (mode["n"], mode["right"], mode["certified"]) == (1, 1, 1)


def test_filter_makes_the_same_example_of_a_trace_in_a_file(run):
    traces = list(read_records(run / "round-000/traces.jsonl"))
    (made,) = file_examples(map(read_trace, traces))
    (example,) = read_records(run / "round-000/dataset/examples.jsonl")
    assert {**made, "id": f"round-000/{made['id']}"} == example


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"programs": {"refiners": ["magic"]}}, "magic"),
        ({"arms": [{"name": "a", "keep": "strict", "decoding": "guided", "strategy": "translate-and-refine"}]}, "free"),
        ({"arms": [{"name": "a", "keep": "strict", "decoding": "guided", "programs": {"samples": 2}}]}, "programs"),
        (
            {
                "arms": [
                    {
                        "name": "a",
                        "keep": "strict",
                        "decoding": "free",
                        "strategy": {"name": "translate-and-refine", "k": 1},
                    }
                ]
            },
            "translate-and-refine.k",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(changes, told):
    with pytest.raises(ValueError, match=told):
        RunConfig.model_validate({"name": "t", "model": {"name": "m"}, **changes})
