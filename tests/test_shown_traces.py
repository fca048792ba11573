"""The few traces of a run that a page shows."""

from pathlib import Path

from rollout.records.traces import read_trace
from training.records.store import line_of
from training.reporting import traces as shown_traces
from training.reporting.traces import RolloutFile, Shown, survey


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


def test_a_text_that_never_ends_is_cut():
    record = trace(1, text="")
    record["messages"] = [{"role": role, "content": "y" * 2_000} for role in ("user", "assistant") * 5]
    del record["completion"]
    assert Shown("a", 0, 1, read_trace(record)).view()["text"].endswith("(cut here for display)")


def test_a_lucky_guess_is_one_that_a_critic_read_whole():
    lucky, wrong = trace(1), trace(2, "refuted", "false")
    unread = {**lucky, "judgement": {**lucky["judgement"], "reason": "free_text"}}
    assert [Shown("naive", 0, 1, read_trace(one)).is_lucky for one in (lucky, wrong, unread)] == [True, False, False]
