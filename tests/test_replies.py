"""Replies: thoughts, fences, special tokens and prose around an answer change no verdict, and nothing hides in them."""

import json
import random
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

import certistar
from critics.judge import judge_record
from critics.recheck.rejudging import recheck
from critics.replay.grades import STRICT
from critics.replay.replies import answer_place, around, json_object, program_place
from rollout.guides.logic import LogicGuide
from rollout.servers.author import GuidedText

JSON = ("asp", "equivalence")
PROGRAMS = (*JSON, "fol", "rules", "csp", "logic-program", "z3-python")
TEXTS = ("guided", "english")
OF_ALL: dict[str, Callable[[str], str]] = {
    "a thought": lambda text: f"<think>\nLet me see. The facts are these.\n</think>\n\n{text}",
    "a thought that the prompt opened": lambda text: f"Let me see, the facts are these.\n</think>\n\n{text}",
    "a draft within a thought": lambda text: f"<think>\n{text}\n</think>\n{text}",
    "channels": lambda text: f"<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>{text}<|return|>",
    "a fence": lambda text: f"```\n{text}\n```",
    "special tokens": lambda text: f"<s>{text}</s><|im_end|>",
    "tags": lambda text: f"<answer>\n{text}\n</answer>",
}
OF_PROGRAMS: dict[str, Callable[[str], str]] = {
    "a sentence before": lambda text: f"Here is the program:\n\n{text}",
    "a sentence before a fence": lambda text: f"Here is the program:\n\n```\n{text}\n```",
    "sentences behind a fence": lambda text: f"```\n{text}\n```\n\nThe program above says all of it.",
    "a sentence behind": lambda text: f"{text}\n\nI hope that this program helps you!",
}
SILENT = ("a fence", "special tokens", "tags")
"""Surroundings that say nothing."""
OF_SCRIPTS = ("a fence", "a thought", "a draft within a thought", "sentences behind a fence")


@lru_cache(maxsize=1)
def honest() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    lines = Path(__file__).with_name("honest_attempts.jsonl").read_text(encoding="utf-8").splitlines()
    judged = [(record, judge_record(record)) for record in map(json.loads, lines)]
    return [(record, verdict) for record, verdict in judged if verdict["verdict"] == "certified"]


def attempts(formats: tuple[str, ...]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """A certified attempt of each format."""
    return [pair for format_ in formats for pair in [p for p in honest() if p[0]["format"] == format_][:1]]


def grade(verdict: dict[str, Any]) -> str:
    return verdict["certificate"]["formalisation"]


@pytest.mark.parametrize("name", [*OF_ALL, *OF_PROGRAMS])
def test_what_stands_around_an_answer_changes_no_verdict_and_the_checker_reads_it_too(name: str) -> None:
    around_it = {**OF_ALL, **OF_PROGRAMS}[name]
    formats = PROGRAMS if name in OF_PROGRAMS else (*PROGRAMS, *TEXTS)
    # A script takes a jail each time; it is cut out of a reply as other programs are.
    for record, verdict in attempts(tuple(f for f in formats if f != "z3-python" or name in OF_SCRIPTS)):
        reply = {**record, "completion": around_it(record["completion"])}
        found = judge_record(reply)
        said = (record["id"], found["reason"], found["feedback"])
        assert (found["verdict"], found["answer"]) == ("certified", verdict["answer"]), said
        assert grade(found) == grade(verdict), said
        with_text, alone = recheck([{**reply, "judgement": found}]), recheck([found])
        assert (with_text["accepted"], alone["accepted"]) == (1, 1), (said, with_text["rejected"], alone["rejected"])
        if name not in SILENT and grade(verdict) in STRICT:
            assert any(span["kind"] == "unread" for span in found["spans"]), said
            assert found["coverage"] < 1, said


def test_what_the_first_reader_accepts_the_checker_reads_whatever_stands_around_it() -> None:
    """Surroundings within surroundings, drawn: thoughts outermost, then tokens, then prose or fences or tags."""
    draw = random.Random(30)
    wrappers = {**OF_ALL, **OF_PROGRAMS}
    inner = ("a fence", "tags", "a sentence before", "a sentence before a fence", "a sentence behind", "none", "none")
    outer = ("special tokens", "a thought", "a thought that the prompt opened", "channels", "none")
    num_certified = 0
    cases = [pair for pair in attempts((*PROGRAMS, *TEXTS)) if pair[0]["format"] != "z3-python"]
    for record, verdict in cases:
        for _ in range(6):
            names = [draw.choice(inner), draw.choice(inner), draw.choice(outer), draw.choice(outer)]
            text = record["completion"]
            for name in names:
                text = text if name == "none" else wrappers[name](text)
            found = judge_record({**record, "completion": text})
            assert found["reason"] != "checker_disagrees", (record["format"], names)
            if found["verdict"] == "certified":
                num_certified += 1
                assert found["answer"] == verdict["answer"], (record["format"], names)
                again = recheck([{**record, "completion": text, "judgement": found}])
                assert again["accepted"] == 1, (record["format"], names, again["rejected"])
    assert num_certified > 3 * len(cases)


BOXES = (
    "\\boxed{yes}",
    "Answer: $\\boxed{\\text{yes}}$",
    "The answer is \\boxed{yes}.",
    "<answer>yes</answer>",
    "- **Yes**",
)
NO_BOXES = (
    "\\boxed{no}",
    "Answer: yes <answer>Tom is a dog</answer>",
    "\\boxed{Tom is a dog.}\nAnswer: yes",
    "\\boxed{}",
)


@pytest.mark.parametrize("ending", [*BOXES, *NO_BOXES])
def test_an_answer_in_a_box_or_a_tag_is_read_as_without(ending: str) -> None:
    text = f"- Tom is a cat.\n- Every cat is warm, so Tom is warm.\n\n{ending}"
    found = certistar.judge("Every cat is warm. Tom is a cat.", "Is Tom warm?", text)
    assert (found.verdict == "certified") == (ending in BOXES), found.feedback


def test_places_of_a_verdict_are_those_of_the_whole_reply() -> None:
    for record, verdict in attempts(TEXTS):
        text, lead = record["completion"], "<think>Hm.</think>\n"
        found = judge_record({**record, "completion": f"{lead}{text}"})
        own = [text[span["start"] : span["end"]] for span in verdict["spans"]]
        assert [f"{lead}{text}"[span["start"] : span["end"]] for span in found["spans"]][-len(own) :] == own


@pytest.mark.parametrize("format_", ["fol", "rules", "csp", "logic-program", "z3-python", *JSON])
def test_a_second_program_beside_a_fence_is_not_hidden_by_it(format_: str) -> None:
    for record, _ in attempts((format_,)):
        text = record["completion"]
        for reply in (f"```\n{text}\n```\n{text}", f"{text}\n```\n{text}\n```", f"```\n{text}\n```\n```\n{text}\n```"):
            found = judge_record({**record, "completion": reply})
            is_kept = found["verdict"] == "certified" and grade(found) in STRICT
            assert not is_kept or found.get("coverage", 1) < 1 or found["certificate"]["repairs"], (format_, reply)


def test_a_closing_sentence_that_gives_another_answer_is_no_part_of_a_proof() -> None:
    for record, verdict in attempts(("fol", "rules", "csp", "logic-program")):
        other = "B" if verdict["answer"] == "A" else "A" if len(verdict["answer"]) == 1 else "unknown"
        found = judge_record({**record, "completion": f"{record['completion']}\n\nThe answer is {other}"})
        is_kept = found["verdict"] == "certified" and grade(found) in STRICT
        assert not is_kept or found["coverage"] < 1, record["id"]


def test_dashes_before_all_premises_list_them_and_one_denies() -> None:
    problem = {"id": "1", "dataset": "mine", "context": "Every cat is warm. Tom is a cat.", "question": "Tom is warm."}
    listed = "Premises:\n- ∀x (Cat(x) → Warm(x))\n- Cat(tom)\nConclusion:\n- Warm(tom)"
    denied = "Premises:\n∀x (Cat(x) → Warm(x))\n- Warm(tom)\nConclusion:\nCat(tom)"
    answers = [
        judge_record({"id": "1", "problem": problem, "format": "fol", "completion": text})["answer"]
        for text in (listed, denied)
    ]
    assert answers == ["true", "false"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>a</think> b ", "b"),
        ("a</think>b<|im_end|>", "b"),
        ("b <think>a", "b"),
        ("<think>a", ""),
        ("<answer>b</answer>", "b"),
        ("<answer>a</answer> <answer>b</answer>", "<answer>a</answer> <answer>b</answer>"),
        ("```\na\n```\n```\nb\n```", "```\na\n```\n```\nb\n```"),
    ],
)
def test_an_answer_stands_behind_the_thoughts_and_within_one_wrapper(text: str, answer: str) -> None:
    start, end = answer_place(text)
    assert text[start:end].strip() == answer


def test_prose_around_a_program_is_told_apart_from_lines_that_can_only_be_its_own() -> None:
    text = "Here is what I found:\nQuery: Is it so.\nThe rest is prose as well.\nx = 1\nThat is all there is."
    start, end = program_place(text, (0, len(text)), lambda line: line.startswith("Query"))
    assert text[start:end] == "Query: Is it so.\nThe rest is prose as well.\nx = 1"
    beside = [text[at:to] for at, to in around(text, (start, end))]
    assert beside == ["Here is what I found:", "That is all there is."]


@pytest.mark.parametrize("text", ["", "no object", '{"a": 1} {"b": 2}', '{"a": 1, "a": 2}', '{"a": "\\ud800"}'])
def test_one_object_is_read_and_no_other_number_of_them(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        json_object(text)


def test_a_thought_that_mentions_a_block_ends_no_guided_text() -> None:
    text = GuidedText(LogicGuide())
    assert text.take("<think>I write [[axiom: and then [[nonsense:]] .\nAnswer: no\n</think>\n")
    assert text.ended is None
    assert not text.take("[[nonsense:")


PROOF = "Rex is a cat. Every cat is a mammal, so Rex is a mammal. Mammals are warm, so Rex is warm."
CONTEXT = "Every cat is a mammal. Mammals are warm. Rex is a cat."


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("<think>\n{}\n</think>\n<answer>True</answer>", "certified"),
        ("<reasoning>\n{}\n</reasoning>\n<answer>True</answer>", "certified"),
        ("<think>{}</think>\nThe answer is True.", "certified"),
        ("{}\n</think>\n\nTrue", "certified"),
        # Attacks: a falsehood in the thought, another answer, two thoughts, a thought that nobody reads.
        ("<think>\n{} Rex is big.\n</think>\nTrue", "unproved"),
        ("<think>\n{}\n</think>\nFalse", "refuted"),
        ("<think>\nRex is big.\n</think>\n<think>\n{}\n</think>\nTrue", "unproved"),
        ("<think>\nHm, is it? {}\n</think>\nTrue", "malformed"),
        ("<think>\nRex is warm.\n</think>\nTrue", "unproved"),
    ],
)
def test_a_bare_answer_behind_a_thought_is_judged_with_it(text, verdict):
    said = text.format(PROOF)
    assert certistar.judge(CONTEXT, "True or false: Rex is warm.", said).verdict == verdict
    row = {"context": CONTEXT, "question": "True or false: Rex is warm.", "rationale": said, "answer": "true"}
    assert len(certistar.filter([row])) == (verdict == "certified")
