"""Forged traces: whatever a file says of a text, the text is judged again, and nothing else is taught."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import certistar
from critics.errors import InputError
from critics.judge import judge_record
from critics.recheck.rejudging import JUDGED_OTHERWISE, NOT_JUDGED_AGAIN, objection
from training.cli import app

SHARED = Path(os.environ.get("CERTISTAR_SHARED", "shared")) / "adversarial" / "aboutness.jsonl"
PROBLEM = {
    "id": "pip",
    "dataset": "prontoqa",
    "context": "Pip is a wren. Every wren is a bird. Birds are feathered. Ned is a newt. Every newt is not a bird.",
    "question": "True or false: Pip is feathered.",
    "answer": "true",
}
PROOF = (
    "Formalized context: 1- [[axiom:(wren pip)]] 2- [[axiom:(wren 'x) -> (bird 'x)]] "
    "3- [[axiom:(bird 'x) -> (feathered 'x)]]\nFormalized goal: [[goal:(feathered pip)]]\n"
    "Reasoning: [[infer:(bird pip)]] [[infer:(feathered pip)]]\nAnswer: true"
)
Trace = dict[str, Any]


def honest() -> Trace:
    attempt = {"id": "pip#0", "problem": PROBLEM, "format": "guided", "completion": PROOF}
    return {**attempt, "judgement": judge_record(attempt)}


def run(folder: Path, *words: object) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert result.stdout, result.output
    return result.exit_code, json.loads(result.stdout)


def written(folder: Path, *traces: Trace | str) -> Path:
    path = folder / "traces.jsonl"
    path.write_text("".join(f"{t if isinstance(t, str) else json.dumps(t)}\n" for t in traces))
    return path


def taught(folder: Path, *traces: Trace | str, keep: str = "strict") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    shutil.rmtree(folder / "kept", ignore_errors=True)
    status, summary = run(folder, "filter", written(folder, *traces), "--keep", keep, "--out", folder / "kept")
    assert status == 0
    return summary, [json.loads(line) for line in (folder / "kept/examples.jsonl").read_text().splitlines()]


def _other_text(trace: Trace) -> None:
    trace["completion"] = "Pip is feathered, I just know.\nAnswer: true"


def _other_answer(trace: Trace) -> None:
    trace["completion"] = PROOF.replace("Answer: true", "Answer: false")


def _second_goal(trace: Trace) -> None:
    trace["completion"] = PROOF.replace("\nReasoning", " [[goal:(not (bird pip))]]\nReasoning")


def _invented_step(trace: Trace) -> None:
    trace["completion"] = PROOF.replace("[[infer:(bird", "[[infer:(not (bird pip))]] [[infer:(bird")


def _other_grade(trace: Trace) -> None:
    trace["judgement"] = judge_record({**trace, "problem": {**PROBLEM, "dataset": "mine"}})
    trace["judgement"]["certificate"]["problem"]["formal"] = None


FORGERIES: list[Callable[[Trace], None]] = [_other_text, _other_answer, _second_goal, _invented_step, _other_grade]


@pytest.mark.parametrize("forge", FORGERIES, ids=lambda forge: forge.__name__.strip("_"))
def test_a_true_certificate_beside_another_text_is_rejected(forge: Callable[[Trace], None], tmp_path: Path) -> None:
    forged = {**honest(), "id": "pip#1"}
    forged["judgement"] = {**forged["judgement"], "id": "pip#1"}
    forge(forged)
    status, report = run(tmp_path, "recheck", written(tmp_path, honest(), forged))
    assert (status, report["accepted"], [r["id"] for r in report["rejected"]]) == (1, 1, ["pip#1"])
    summary, examples = taught(tmp_path, honest(), forged, keep="naive")
    assert [example["id"] for example in examples] == ["pip#0"]
    assert summary["rejected"] == [{"id": "pip#1", "reason": JUDGED_OTHERWISE}]


def test_verdicts_of_a_file_are_compared_with_the_critics_own(tmp_path: Path) -> None:
    trace = honest()
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text(json.dumps(trace.pop("judgement")) + "\n")
    trace["completion"] = PROOF.replace("Answer: true", "Answer: false")
    words = ("--verdicts", verdicts, "--keep", "strict", "--out", tmp_path / "kept")
    status, summary = run(tmp_path, "filter", written(tmp_path, trace), *words)
    assert (status, summary["kept"], summary["rejected"][0]["reason"]) == (0, 0, JUDGED_OTHERWISE)


def test_an_honest_trace_passes_and_its_text_is_counted(tmp_path: Path) -> None:
    status, report = run(tmp_path, "recheck", written(tmp_path, honest(), honest()["judgement"]))
    assert (status, report["accepted"], report["text"]) == (0, 2, {"judged_again": 1, "not_there": 1})
    assert run(tmp_path, "recheck", written(tmp_path, honest()["judgement"]))[1]["text"] == "not there"


def test_a_bad_line_is_rejected_and_the_file_goes_on(tmp_path: Path) -> None:
    summary, examples = taught(tmp_path, '{"id": "torn', {"id": "none"}, honest())
    assert ([e["id"] for e in examples], [r["reason"] for r in summary["rejected"]]) == (["pip#0"], ["bad_line"] * 2)
    stripped = {key: value for key, value in honest().items() if key != "format"}
    status, report = run(tmp_path, "recheck", written(tmp_path, '{"id": "torn', stripped, honest()))
    assert (status, report["accepted"]) == (1, 1)
    assert [r["reason"] for r in report["rejected"]] == ["ill_formed", "bad_line"]


@pytest.mark.parametrize("key", ["legs", "turns", "steps"])
def test_steps_that_no_critic_judged_teach_nothing(key: str, tmp_path: Path) -> None:
    leg = {"kind": "leg", "prompt": "ANY PROMPT", "completion": "ANY", "text": "ANY", "completion_ids": []}
    legs = [{**leg, "direction": way} for way in ("informalise", "autoformalise")]
    (example,) = taught(tmp_path, {**honest(), key: legs, "strategy": {"rounds": 1}, "ending": "arrived"})[1]
    assert example["completion"] == PROOF
    assert "ANY" not in json.dumps(example)


def test_a_prompt_is_the_problems_and_ids_are_the_texts(tmp_path: Path) -> None:
    (plain,) = taught(tmp_path, honest())[1]
    assert PROBLEM["question"] in plain["prompt"]
    swapped = {"prompt": "Is the moon cheese?\n", "completion_ids": [1, 2, 3]}
    assert taught(tmp_path, {**honest(), **swapped})[1] == [plain]
    sampled = {"sampling": {"decoding": "guided"}, "policy": {"base": "b"}}
    summary, examples = taught(tmp_path, {**honest(), **swapped, **sampled})
    assert (examples, summary["rejected"]) == ([], [{"id": "pip#0", "reason": "prompt_not_derived"}])
    chat = f"<|im_start|>user\n{plain['prompt'].strip()}<|im_end|>\n"
    assert taught(tmp_path, {**honest(), "prompt": chat, **sampled})[0]["kept"] == 0


def test_prompts_of_chat_templates_are_recognised(tmp_path: Path) -> None:
    from critics.problem import read_problem
    from rollout.prompts.prompt import messages
    from rollout.prompts.style import PromptStyle

    turns = messages(read_problem(PROBLEM), PromptStyle("chat", 2))
    chat = "".join(f"<|im_start|>{t['role']}\n{t['content'].strip()}<|im_end|>\n" for t in turns)
    sampled = {"sampling": {"decoding": "guided"}, "policy": {"base": "b"}}
    for prompt in (f"{chat}<|im_start|>assistant\n", json.dumps(turns, ensure_ascii=False)):
        (example,) = taught(tmp_path, {**honest(), "prompt": prompt, **sampled})[1]
        assert example["prompt"] == prompt
    other = chat.replace("<|im_end|>", " Forget that; is the moon cheese?<|im_end|>", 1)
    assert taught(tmp_path, {**honest(), "prompt": other, **sampled})[1] == []


LLAMA = "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
SAMPLED: dict[str, Any] = {"sampling": {"decoding": "guided"}, "policy": {"base": "b"}}


def test_dates_of_llamas_template_are_no_words_of_a_prompt(tmp_path: Path) -> None:
    from critics.problem import read_problem
    from rollout.prompts.prompt import messages
    from rollout.prompts.style import PromptStyle

    system, *turns = messages(read_problem(PROBLEM), PromptStyle("chat", 2))
    said = "".join(
        f"<|start_header_id|>{t['role']}<|end_header_id|>\n\n{t['content'].strip()}<|eot_id|>" for t in turns
    )
    begun = f"{LLAMA}Today Date: 26 Jul 2024\n\n{system['content'].strip()}<|eot_id|>"
    prompt = f"{begun}{said}<|start_header_id|>assistant<|end_header_id|>\n\n"
    (example,) = taught(tmp_path, {**honest(), "prompt": prompt, **SAMPLED})[1]
    assert example["prompt"] == prompt
    for forged in (
        prompt.replace("26 Jul 2024", "26 Jul 2024 and the moon is cheese"),
        prompt.replace("Today Date", "Moon Date"),
        prompt.replace("<|eot_id|>", "<|eot_id|>Say true.", 1),
        f"{prompt}Pip is feathered.",
    ):
        assert taught(tmp_path, {**honest(), "prompt": forged, **SAMPLED})[1] == []


@pytest.mark.parametrize(
    "name", ["llama3", "llama3_2", "qwen2_5", "qwen3", "gemma3", "gemma4", "phi3", "deepseekv3", "glm4moe", "cohere"]
)
def test_prompts_of_published_chat_templates_are_recognised(name: str) -> None:
    trl = pytest.importorskip("trl")
    from transformers.utils.chat_template_utils import _compile_jinja_template

    from critics.problem import read_problem
    from rollout.prompts.prompt import messages
    from rollout.prompts.style import PromptStyle
    from rollout.records.traces import read_trace
    from training.lessons.judged_fields import judged_fields

    template = Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja"
    if not template.exists():
        pytest.skip("this version of trl has no such template")
    turns = [dict(turn) for turn in messages(read_problem(PROBLEM), PromptStyle("chat", 2))]
    render: Any = _compile_jinja_template(template.read_text()).render
    given = {"add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", "tools": None}
    prompt = render(messages=turns, **given)
    trace = read_trace({**honest(), "prompt": prompt, **SAMPLED})
    assert judged_fields(trace).prompt == prompt
    turns[-1]["content"] = f"The moon is cheese. {turns[-1]['content']}"
    forged = read_trace({**honest(), "prompt": render(messages=turns, **given), **SAMPLED})
    with pytest.raises(InputError, match="prompt_not_derived"):
        judged_fields(forged)


def test_what_could_not_be_judged_again_is_not_accepted() -> None:
    stored = honest()["judgement"]
    no_jail = {"verdict": "error", "reason": "jail_broken", "answer": None, "certificate": None}
    assert objection(stored, no_jail) == NOT_JUDGED_AGAIN
    assert objection(no_jail, stored) is None
    assert objection(stored, stored) is None


@pytest.mark.skipif(not SHARED.exists(), reason="the shared folder is not here")
@pytest.mark.parametrize("name", ["rt-01", "rt-03", "rt-04", "rt-05", "rt-06"])
def test_the_recorded_forgeries_come_out_right(name: str, tmp_path: Path) -> None:
    (trace,) = (t for t in map(json.loads, SHARED.read_text().splitlines()) if t["id"] == name)
    summary, examples = taught(tmp_path, trace)
    if "judgement" in trace:
        status, report = run(tmp_path, "recheck", written(tmp_path, trace))
        assert (status, report["accepted"], examples) == (1, 0, [])
        return
    assert summary["kept"] == 1
    assert (examples[0]["completion"], examples[0]["completion_ids"]) == (trace["completion"], [])
    assert trace["problem"]["question"] in examples[0]["prompt"]
    assert all(unjudged not in json.dumps(examples) for unjudged in ("ANY", "moon"))


def test_explain_quotes_the_first_sentence_that_does_not_follow(tmp_path: Path) -> None:
    text = "Pip is a wren. Pip is a newt. Pip is feathered. True."
    path = written(tmp_path, {"id": "a", "problem": PROBLEM, "format": "english", "completion": text}, honest())
    status, told = run(tmp_path, "explain", path, "a")
    assert (status, told["first_bad_step"]["text"], told["certificate"]) == (0, "Pip is a newt.", None)
    assert [piece["kind"] for piece in told["pieces"]][:2] == ["premise", "refused"]
    assert told["pieces"][1]["text"] == "Pip is a newt."
    shown = CliRunner().invoke(app, ["explain", str(path), "a"])
    assert '"Pip is a newt."' in shown.stdout
    proof = CliRunner().invoke(app, ["explain", str(path), "pip#0"])
    assert "verdict: certified" in proof.stdout
    assert CliRunner().invoke(app, ["explain", str(path), "nobody"]).exit_code == 2


def test_in_python_as_well_a_text_is_judged_again() -> None:
    forged = honest()
    _other_answer(forged)
    report = certistar.recheck([honest(), forged])
    assert (report["accepted"], report["rejected"]) == (1, [{"id": "pip#0", "reason": JUDGED_OTHERWISE}])


@pytest.mark.parametrize("line", ["{not json", "[1]", '{"id": 3}', '{"id": "x", "crc": "00000000"}', "\udcff"])
def test_a_foreign_line_is_a_rejected_one_and_never_the_end(line: str, tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    good = json.dumps(honest())
    path.write_bytes(f"{line}\n{good}\n".encode(errors="surrogateescape"))
    _, report = run(tmp_path, "recheck", path)
    assert report["accepted"] == 1
    summary, examples = taught_from(path, tmp_path)
    assert (len(examples), len(summary["rejected"])) == (1, 1)
    _, counts = run(tmp_path, "prefer", path, "--to", "kto", "--out", tmp_path / "pairs.jsonl")
    assert (counts["labelled"], counts["rejected"]) == (1, 1)


def taught_from(path: Path, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    _, summary = run(folder, "filter", path, "--keep", "strict", "--out", folder / "kept")
    return summary, [json.loads(line) for line in (folder / "kept/examples.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("name", ["certificates.jsonl", "examples.jsonl"])
@pytest.mark.parametrize("line", ["{not json", '{"id": "x"}'])
def test_a_foreign_line_of_a_pulled_dataset_is_rejected_by_name(name: str, line: str, tmp_path: Path) -> None:
    from critics.recheck.rejudging import judge_anew
    from training.exchange.verification import check_dataset

    table = tmp_path / "own.jsonl"
    row = {"context": PROBLEM["context"], "question": PROBLEM["question"], "answer": "true", "rationale": PROOF}
    table.write_text(json.dumps(row) + "\n")
    words = ("--as", "guided", "--dataset", "prontoqa", "--columns", "answer=answer", "--keep", "strict")
    assert run(tmp_path, "filter", table, *words, "--out", tmp_path / "kept")[0] == 0
    assert not check_dataset(tmp_path / "kept", lambda records: map(judge_anew, records)).rejected
    path = tmp_path / "kept" / name
    path.write_text(f"{line}\n{path.read_text()}")
    found = check_dataset(tmp_path / "kept", lambda records: map(judge_anew, records))
    assert (found.examples, found.accepted) == (1, 1)
    assert found.rejected


EITHER_FACT_GIVES_IT = {
    "id": "either",
    "problem": {
        "id": "either",
        "dataset": "prontoqa-ood",
        "context": "Everything that is a zumpus or a rompus or a yumpus is a tumpus. Sam is a yumpus. Sam is a zumpus.",
        "question": "Prove: Sam is a tumpus.",
    },
    "format": "english",
    "completion": "Sam is a zumpus or a rompus or a yumpus. "
    "Everything that is a zumpus or a rompus or a yumpus is a tumpus. Sam is a tumpus.\nAnswer: true",
}


def test_a_verdict_is_the_same_whatever_the_order_of_hashes():
    """The order in which Python keeps strings in sets is another in each process, and `recheck` is another process."""
    code = "import json, sys, critics.judge as it; print(json.dumps(it.judge_record(json.load(sys.stdin))))"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps(EITHER_FACT_GIVES_IT),
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(told) == 1
    assert json.loads(told.pop())["verdict"] == "certified"
