"""Proofs as graphs, and the few traces of a run that a page shows."""

import json
from pathlib import Path

import pytest

from rollout.records.traces import read_trace
from training.records.store import line_of
from training.reporting import traces as shown_traces
from training.reporting.report import as_data
from training.reporting.traces import (
    RolloutFile,
    Shown,
    drawing,
    pairs,
    replayed,
    steps_of_evidence,
    survey,
    used_alone,
    view,
)

CHAIN = "[[axiom:(a x)]] [[axiom:(a 'y) -> (b 'y)]] [[axiom:(b 'y) -> (c 'y)]] [[goal:(c x)]] [[infer:(b x)]] "


def test_a_text_is_followed_up_to_the_first_block_that_does_not_follow():
    sound = replayed(CHAIN + "[[infer:(c x)]]")
    assert (sound.num_inferences, sound.stopped_at, sound.steps[-1].role) == (2, None, "goal")
    assert sound.steps[-1].parents == (2, 3)
    jumped = replayed(CHAIN + "[[infer:(d x)]] [[infer:(c x)]]")
    assert (jumped.num_inferences, jumped.stopped_at) == (1, len(CHAIN))
    assert replayed("[[axiom:(a x)").steps == ()


def test_steps_that_nothing_uses_are_left_out_and_the_rest_is_numbered_anew():
    steps = used_alone(replayed("[[axiom:(z z)]] " + CHAIN).steps)
    assert [step.statement for step in steps] == ["(a x)", "(a 'y) -> (b 'y)", "(b x)"]
    assert (steps[2].parents, steps[2].because) == ((1, 0), "from 1 by rule 2")


def test_premises_stand_above_what_follows_and_boxes_never_overlap():
    steps = replayed(CHAIN + "[[infer:(c x)]]").steps
    drawn = drawing(steps)
    assert drawn is not None
    nodes = drawn["nodes"]
    for number, step in enumerate(steps):
        assert all(nodes[parent]["y"] + nodes[parent]["h"] <= nodes[number]["y"] for parent in step.parents)
    for i, one in enumerate(nodes):
        assert 0 <= one["x"] <= one["x"] + one["w"] <= drawn["w"] + 0.1
        for other in nodes[i + 1 :]:
            beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
            assert beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]


@pytest.mark.parametrize(
    "evidence",
    [
        {"steps": [{"statement": "(a x)", "by": "rule", "rule": 0, "premises": [0]}]},  # its own premise
        {"steps": [{"statement": "(a x)", "by": "rule", "rule": 9, "premises": [-3]}]},
        {"steps": [{"statement": "(a x)", "by": "rule", "rule": "1", "premises": "all"}]},
        {"steps": "none"},
        None,
    ],
)
def test_evidence_with_steps_out_of_place_is_drawn_as_no_graph(evidence):
    assert drawing(steps_of_evidence(evidence)) is None


def trace(number: int, verdict: str = "unproved", answer: str = "true", text: str = "Answer: true") -> dict:
    problem = {"id": f"q{number}", "dataset": "d", "context": "c", "question": "q", "answer": "true", "meta": {}}
    judgement = {"verdict": verdict, "reason": "r", "answer": answer, "certificate": None}
    record = {"id": f"q{number}#0", "problem": problem, "format": "guided", "completion": text, "judgement": judgement}
    return {**record, "completion_ids": [1, 2, 3], "finished": number != 0}


def write(path: Path, traces: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line_of(one) for one in traces))
    return path


def test_every_kind_of_trace_gets_its_share_whatever_the_order_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(shown_traces, "MAX_TRACES", 8)
    traces = (
        [trace(i) for i in range(40)] + [trace(i, "certified") for i in range(40, 42)] + [trace(50, answer="false")]
    )
    one, two = write(tmp_path / "one", traces), write(tmp_path / "two", traces[::-1])
    found = survey([RolloutFile("strict", 0, 1, one), RolloutFile("strict", 1, 1, tmp_path / "absent")])
    assert [shown.key for shown in found.shown] == [s.key for s in survey([RolloutFile("strict", 0, 1, two)]).shown]
    kinds = [(s.trace.judged.verdict, s.trace.judged.answer) for s in found.shown]
    assert (kinds.count(("certified", "true")), kinds.count(("unproved", "false")), len(kinds)) == (2, 1, 8)
    assert found.num_traces == 43
    assert found.costs["strict", 1] == {"attempts": 43, "turns": 43, "tokens": 129, "cut_off": 1}


def test_a_page_of_long_traces_stays_small(tmp_path, monkeypatch):
    monkeypatch.setattr(shown_traces, "MAX_BYTES", 20_000)
    path = write(tmp_path / "long", [trace(i, text="x" * 4_000) for i in range(20)])
    shown = survey([RolloutFile("a", 0, 1, path)]).shown
    assert 0 < len(shown) <= 5
    endless = view(Shown("a", 0, 1, read_trace(trace(1, text="y" * 50_000))))
    assert len(json.dumps(endless)) < 8_000
    assert endless["text"][0][0].endswith("(cut here for display)")


def test_a_lucky_guess_stands_beside_the_wrong_answer_that_reasoned_furthest():
    lucky, near = trace(1), trace(2, "refuted", "false", CHAIN)
    far = trace(3, "refuted", "false", CHAIN + "[[infer:(c x)]]")
    views = [view(Shown("naive", 0, 1, read_trace(one))) for one in (near, lucky, far)]
    [(left, right)] = pairs(views, 2)
    assert (left["id"], right and right["id"]) == ("q1#0", "q3#0")
    assert [(a["id"], b) for a, b in pairs(views[1:2], 2)] == [("q1#0", None)]
    unread = {**lucky, "judgement": {**lucky["judgement"], "reason": "free_text"}}
    assert pairs([view(Shown("naive", 0, 1, read_trace(unread)))], 2) == []


def test_a_dialog_is_shown_turn_by_turn_with_the_critic_named():
    record = trace(1)
    del record["completion"]
    roles = ["system", "user", "assistant", "user", "assistant"]
    texts = ["", "the task", '{"Model": ["a.", "b."]}', "b is not inferred", "[1"]
    record["messages"] = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
    turns = view(Shown("strict", 0, 1, read_trace(record)))["turns"]
    assert [turn["speaker"] for turn in turns] == ["user", "actor", "critic", "actor"]
    assert turns[1]["text"] == '{\n "Model": [\n  "a.",\n  "b."\n ]\n}'


def test_data_can_end_no_element_and_says_the_same():
    value = {"</script><!--": "\u2028 & ]]> \ud800"}
    text = as_data(value)
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"</script><!--": "\u2028 & ]]> ?"}
