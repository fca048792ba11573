"""A run whose arms write programs in a dialog with their critic, from rollouts to the report."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from critics.judge import judge_record
from critics.problem import Problem
from rollout.actor_critic.demonstration import demonstrate
from rollout.policies.policy import Completion
from rollout.records.digests import PolicyDigests
from rollout.records.traces import read_trace
from training.configuration.learning import KEEPS
from training.configuration.run import RunConfig
from training.configuration.section import ConfigError
from training.curation.filters import kept
from training.records.store import read_records, write_json
from training.reporting.comparison import write_report
from training.rounds.line import Line
from training.rounds.loop import measure, run_line
from training.rounds.run import lines_of, num_attempts, num_shared
from training.workers.local import LocalWorkers

ARMS = [
    {"name": "strict", "keep": "trusted", "decoding": "free", "strategy": "actor-critic"},
    {"name": "label", "keep": "label", "decoding": "free", "strategy": "actor-critic"},
]


def config_for(model: Path, **changes) -> RunConfig:
    return RunConfig.model_validate(
        {
            "name": "test",
            "model": {"name": str(model)},
            "problems": {"dataset": "controlled-english"},
            "arms": ARMS,
            "actor_critic": {"instructions": False, "max_retries": 1},
            "star": {"rounds": 1, "problems_per_round": 4},
            "sampling": {"max_new_tokens": 30, "batch_size": 2},
            "training": {"global_batch_size": 2, "learning_rate": 1e-3},
            "evaluation": {"num_problems": 3, "greedy": "never", "resampled": True},
            **changes,
        }
    )


class Mending:
    """An actor that leaves the query out and writes a certified reply once it is told so."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.digests = PolicyDigests("mending")
        self.replies = {problem.question: demonstrate(problem) for problem in problems}

    def conversation(self, messages) -> str:
        return json.dumps(messages)

    def complete(self, prompts, guides, seeds, sampling) -> list[Completion]:
        return [Completion(self._reply(json.loads(prompt)), (), True) for prompt in prompts]

    def _reply(self, messages) -> str:
        asked = messages[1]["content"].rpartition("Query: ")[2]
        good = self.replies[asked]
        if any("Query" in m["content"] for m in messages[2:] if m["role"] == "user"):
            return good
        parts = json.loads(good)
        del parts["Query"]
        return json.dumps(parts)


class Here(LocalWorkers):
    def judge(self, records):
        return [judge_record(record) for record in records]


def mending(author):
    """The policy is not the model, but what it learns is the model's."""
    known = (author.config.problems.generate(split, 4, seed=0) for split in ("train", "test"))
    return Mending(list(chain.from_iterable(known)))


@pytest.fixture(scope="module")
def run(tiny_model, tmp_path_factory):
    import torch

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("dialogs")
    config = config_for(tiny_model)
    write_json(folder / "lines.json", lines_of(config))
    reports = []
    for arm in config.arms:
        line = Line(config, folder, arm, 0, Here(load=mending), reports.append)
        measure(line, None, None)
        run_line(line)
    write_report(folder)
    # Lines that are run by hand do not take another arm's first round.
    shared = num_shared(config) * config.star.problems_per_round * config.sampling.samples_per_problem
    assert sum(event.attempts for event in reports) == num_attempts(config) + shared
    return folder


def test_rollouts_hold_whole_dialogs_with_their_verdicts(run):
    traces = list(read_records(run / "strict/seed-0/round-000/traces.jsonl", checksum=True))
    assert len(traces) == 4
    for trace in traces:
        assert [turn["review"]["kind"] for turn in trace["steps"]] == ["reply", "clean"]
        assert trace["judgement"]["verdict"] == "certified"
        assert [message["role"] for message in trace["messages"]] == [
            "system",
            "user",
            "assistant",
            "user",
            "assistant",
        ]


def test_kept_dialogs_become_lessons_with_their_certificates_and_train_the_model(run):
    folder = run / "strict/seed-0/round-000"
    lessons = list(read_records(folder / "dataset/examples.jsonl"))
    assert [lesson["kind"] for lesson in lessons] == ["compile-fix", "direct"] * 4
    digests = [t["judgement"]["certificate"]["digest"] for t in read_records(folder / "traces.jsonl")]
    assert [lesson["certificate"] for lesson in lessons[::2]] == digests
    summary = json.loads((folder / "dataset/summary.json").read_text())
    assert (summary["kept"], summary["examples"]) == (4, 8)
    manifest = json.loads((folder / "adapter/manifest.json").read_text())
    assert manifest["examples"] == 8
    assert manifest["supervised_tokens"] > 0


def test_evaluation_counts_after_every_retry_and_without_feedback(run):
    modes = json.loads((run / "strict/seed-0/round-000/evaluation.json").read_text())["modes"]
    told, resampled = modes["sampled"]["by_retries"], modes["resampled"]["by_retries"]
    assert [(cell["right"], cell["compiled"], cell["certified"]) for cell in told] == [(0, 0, 0), (3, 3, 3)]
    assert [cell["certified"] for cell in resampled] == [0, 0]
    assert modes["sampled"]["certified"] == 3


def test_the_report_shows_retries_and_what_feedback_is_worth(run):
    report = json.loads((run / "report.json").read_text())
    last = report["arms"]["label"]["rounds"][-1]
    assert [point["tests_passed"] for point in last["by_retries"]] == [0, 1]
    assert last["feedback"][-1]["metric"] == "certified"
    assert last["feedback"][-1]["difference"] == 1
    assert {c["metric"] for c in report["comparisons"]} == {"accuracy", "gain", "certified", "tests_passed"}
    page = (run / "report.html").read_text()
    assert "Dialogs over retries" in page
    assert "feedback − resampling" in page


def test_tests_are_asked_of_dialogs_alone(run):
    (record, *_) = read_records(run / "strict/seed-0/round-000/traces.jsonl")
    trace = read_trace(record)
    of_guided_text = ("guided", "proved", "strict", "explicit", "faithful", "well-formed")
    assert all(kept(trace, keep) for keep in KEEPS if keep not in of_guided_text)
    refused = replace(trace.turns[-1], refused=True)
    assert not kept(replace(trace, steps=(*trace.turns[:-1], refused)), "tests")
    with pytest.raises(ValueError, match="no dialog"):
        kept(replace(trace, steps=()), "tests")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"arms": [{**ARMS[0], "decoding": "guided"}]}, "free"),
        ({"arms": [{**ARMS[0], "strategy": "guided", "keep": "tests"}]}, "strategy: actor-critic"),
        ({"arms": [{**ARMS[0], "strategy": {"name": "actor-critic", "histori": "none"}}]}, "histori"),
        ({"arms": [{**ARMS[0], "strategy": {"name": "actor-critic", "timeout_s": 3}}]}, "one for all arms"),
        ({"actor_critic": {"tests": False}}, "depth"),
        ({"star": {"rationalise": True}}, "rationalise"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(tmp_path, changes, told):
    with pytest.raises((ConfigError, ValueError), match=told):
        config_for(tmp_path, **changes)


def test_an_arm_may_ask_otherwise_and_has_a_start_of_its_own(tmp_path):
    resampled = {**ARMS[0], "name": "resampled", "strategy": {"name": "actor-critic", "history": "none"}}
    config = config_for(tmp_path, arms=[*ARMS, resampled])
    assert config.arms[2].strategy.history == "none"
    assert config.arms[2].strategy.max_retries == 1
    bases = [entry["base"] for entry in _lines_of(config)]
    assert bases == ["base/free-asp/seed-0", "base/free-asp/seed-0", "base/free-asp-resampled/seed-0"]


def _lines_of(config):
    from training.rounds.line import base_path

    return [{"base": base_path(config, arm, 0)} for arm in config.arms]
