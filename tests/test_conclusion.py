"""With `conclusion: decided`, `Answer:` waits for the guide's decision and agrees with it, byte by byte."""

import random
import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.replay.formula import parse_statement
from critics.replay.kernel import Kernel
from critics.text.blocks import final_answer
from rollout.decoding.masks import MaskEngine, Row
from rollout.decoding.rows import ConcludingGuide, spellings
from rollout.guides.logic import LogicGuide
from rollout.policies.policy import HuggingFacePolicy
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.strategies.single import sample

AXIOMS = ("(cat 'x) -> (warm 'x)", "(cat 'x) -> (not (dog 'x))", "(cat tom)")
OPEN = Problem("p", "mine", "", "")
LETTERED = Problem("p", "mine", "", "", ("A) True", "B) False"))
THREE = Problem("p", "mine", "", "", ("A) True", "B) False", "C) Unknown"))
STRADDLERS = [
    "Answer", "Answer:", "\nAnswer", "\nAnswer: ", "\nAnswer: true", "\nanswer :false", " ANSWER", "ans", "wer", "wer:",
    ": true", ": false\n", ":", "]]\nAnswer", "]]\nAnswer: tr", ")]]\nAnswer: true", ")]]\nAnswer: false.",
    ")]] Answer:", "Re: ", "\n\n", "true", " true", "ue.\n", " B", ": A) True", "unknown", "x: y\nAnswer: ", ".\n",
    "[[", "[[infer:(", "[[infer:(warm tom)]]", "[[infer:(not (dog tom))]]", "[[infer:(warm tom)]]\nAnswer: true",
    "[[goal:(dog tom)]]", "[[goal:(warm tom)]]", "[[goal:(warm rex)]]", " : false", "]]", "nothing]]", "[", "\t",
    " : true", "true\nAnswer:",
]  # fmt: skip
VOCABULARY: list[bytes | None] = [
    None, b"\n", *(bytes([b]) for b in range(32, 127)), *(t.encode() for t in STRADDLERS)
]  # fmt: skip
EOS = 0
_WORD = re.compile(rb"[ \t]*answer", re.IGNORECASE)
_LINE = re.compile(rb"[ \t]*answer[ \t]*:(.*)", re.IGNORECASE | re.DOTALL)


def logic_guide() -> LogicGuide:
    kernel = Kernel()
    for axiom in AXIOMS:
        kernel.add_axiom(parse_statement(axiom))
    return LogicGuide(kernel)


def held_row(problem: Problem = OPEN) -> Row:
    return Row(ConcludingGuide(logic_guide(), problem))


def agreeing(before: bytes, problem: Problem) -> list[bytes]:
    """The spellings that the blocks in `before` allow, worked out anew by a guide of its own."""
    guide = logic_guide()
    for block in re.findall(rb"\[\[(.*?)\]\]", before):
        guide.close(block)
    truth = guide.conclusion()
    return [] if truth is None else list(spellings(truth, problem.options))


def may_stand(text: bytes, problem: Problem) -> bool:
    """Say whether the answer in `text`, if there is one, is or may become one that agrees: by reading it whole."""
    at = 0
    for line in text.splitlines(keepends=True):
        if _WORD.match(line) and not agreeing(text[:at], problem):
            return False
        if (match := _LINE.match(line)) is not None:
            written = text[at + match.start(1) :]
            return any(
                (lead + value + end).startswith(written)
                for value in agreeing(text[:at], problem)
                for lead in (b"", b" ")
                for end in (b".\n", b"\n")
            )
        at += len(line)
    return True


def may_end(text: bytes, problem: Problem) -> bool:
    last = text.decode().rstrip().rpartition("\n")[2].encode()
    return _LINE.match(last) is None or final_answer(text.decode(), problem) is not None


@pytest.mark.parametrize("lead", [b"**", b"### ", b"> *", b"`"])
def test_markdown_around_the_word_is_no_way_out(lead: bytes) -> None:
    """Attack: `**Answer:** true` with nothing decided, which the reader takes as it takes the line without marks."""
    for begun in (b"\n" + lead + b"answer", b"\n" + lead + b"Answer**:"):
        assert not held_row(OPEN).accepts(begun)
    assert held_row(OPEN).accepts(b"\n" + lead + b"Note: ")
    decided = held_row(OPEN)
    decided.push(b"[[goal:(dog tom)]]")
    if decided.conclusions:
        right = decided.conclusions[0]
        assert decided.accepts(b"\n" + lead + b"Answer: " + right)
    assert final_answer("**Answer:** true", OPEN) == "true"


STARTS = (b"", b"[[goal:(dog tom)]]", b"[[goal:(not (cat tom))]]\nAnswer")


@pytest.mark.parametrize("problem", [OPEN, LETTERED, THREE], ids=["no options", "two options", "three options"])
def test_a_mask_equals_what_reading_the_whole_text_allows(problem):
    engine = MaskEngine(VOCABULARY, [EOS])
    states, concluded = 0, 0
    for seed in range(9):
        rng, row, free, text = random.Random(seed), held_row(problem), Row(logic_guide()), STARTS[seed % 3]
        row.push(text)
        free.push(text)
        for _ in range(25):
            ids = engine.allowed(row).tolist()
            guided = [i for i, token in enumerate(VOCABULARY) if token and free.accepts(token)]
            legal = [i for i in guided if may_stand(text + VOCABULARY[i], problem)]  # type: ignore[operator]
            assert [i for i in ids if i != EOS] == legal, text
            assert (EOS in ids) == (free.block is None and may_end(text, problem)), text
            states += 1
            long = [i for i in ids if i > 96]
            choice = rng.choice(long if long and rng.random() < 0.8 else ids)
            if choice == EOS:
                break
            token = VOCABULARY[choice]
            assert token is not None
            row.push(token)
            free.push(token)
            text += token
        concluded += final_answer(text.decode(), problem) is not None
    assert states > 100
    assert concluded > 0


@pytest.mark.parametrize(
    ("before", "token"), [(b"[[goal:(warm rex)]]\nAns", b"wer"), (b"[[infer:(warm tom", b")]]\nAnswer: true")]
)
def test_rows_of_both_kinds_share_an_engine(before, token):
    engine = MaskEngine(VOCABULARY, [EOS])
    for row, allowed in ((Row(logic_guide()), True), (held_row(), False), (Row(logic_guide()), True)):
        row.push(before)
        assert (VOCABULARY.index(token) in engine.allowed(row)) is allowed


def test_rows_with_the_same_offers_and_other_goals_share_an_engine():
    engine = MaskEngine(VOCABULARY, [EOS])
    for goal, word in ((b"(cat tom)", b"true"), (b"(not (cat tom))", b"false"), (b"(dog tom)", None)):
        row = held_row()
        row.push(b"[[goal:" + goal + b"]]\n")
        assert (VOCABULARY.index(b"Answer") in engine.allowed(row)) is (word is not None)
        if word is not None:
            row.push(b"Answer:")
            assert (VOCABULARY.index(b" true") in engine.allowed(row)) is (word == b"true")


BEGUN = "[[goal:(dog tom)]] "


@pytest.mark.parametrize("line", ["Answer:", "\nAnswer:", "\n \tanSWER\t :", "\n\nAnswer :"])
def test_no_spelling_of_the_marker_is_allowed_while_the_goal_is_open(line):
    before = f"so\n{BEGUN}\n" if line.startswith("A") else BEGUN
    assert final_answer(f"{before}{line} false", OPEN) == "false"
    row = held_row()
    row.push(before.encode())
    assert not row.accepts(line.encode())
    row.push(b"[[infer:(not (dog tom))]]\n")
    assert row.accepts(line.encode())


def test_what_only_looks_like_the_marker_is_free():
    row = held_row()
    row.push(b"Answe: none. The answer: later\nAn answer:\n-Answer:\n(Answer: no)\nAn\nswer:")
    row.push(b"\n[[goal:(cat tom)]]\nAnswers: none\nAnswer this:\n\tAnswer. Answer:\n[[infer:(warm tom)]]Answer:")
    assert row.may_end


def test_the_value_must_agree_and_then_the_text_ends():
    engine, row = MaskEngine(VOCABULARY, [EOS]), held_row(LETTERED)
    row.push(b"[[goal:(dog tom)]] [[infer:(not (dog tom))]]\nAnswer:")
    assert EOS not in engine.allowed(row)
    for value, agrees in ((b" B", True), (b" B) False", True), (b"false", True), (b" A", False), (b" true", False)):
        assert row.accepts(value) is agrees
    row.push(b" false")
    assert {VOCABULARY[i] for i in engine.allowed(row)} == {None, b".", b"\n", b".\n"}
    row.push(b"\n")
    assert engine.allowed(row).tolist() == [EOS]


def test_unknown_is_for_where_nothing_more_follows_and_the_problem_knows_the_word():
    for problem, values in ((OPEN, {b"unknown", b"Unknown"}), (LETTERED, set())):
        row = held_row(problem)
        row.push(b"[[goal:(warm rex)]] ")
        assert row.conclusions == ()
        row.push(b"[[infer:(warm tom)]] [[infer:(not (dog tom))]] [[infer:nothing]]")
        assert set(row.conclusions) == values
    assert b"C" in spellings("unknown", THREE.options)


def test_a_kernel_that_gave_up_decides_nothing():
    guide = LogicGuide(Kernel(work_limit=0))
    guide.close(b"goal:(dog tom)")
    assert guide.conclusion() == "unknown"
    for axiom in (b"axiom:(cat 'x) -> (dog 'x)", b"axiom:(cat tom)"):
        guide.close(axiom)
    assert guide.conclusion() is None
    assert guide.clone().conclusion() is None


def test_without_a_goal_nothing_can_be_concluded():
    assert held_row().conclusions == ()
    assert not held_row().accepts(b"Answer:")


@pytest.mark.parametrize(
    "options",
    [None, ("A) True", "B) False", "C) Unknown"), ("(A) False.", "(B) TRUE", "(C) Uncertain"), ("True", "False"),
     ("yes", "no"), ("A) True", "B) true"), ("B) True", "A) False"), ("valid\n", "[[x]]")],
)  # fmt: skip
@pytest.mark.parametrize("truth", ["true", "false", "unknown"])
def test_every_spelling_is_read_as_the_answer_that_it_is(options, truth):
    problem = Problem("p", "mine", "", "", options)
    read = {final_answer(f"so\nAnswer: {s.decode()}.\n", problem) for s in spellings(truth, options)}
    assert len(read) <= 1
    assert None not in read


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([t for t in VOCABULARY if t]), max_size=14))
def test_no_text_that_is_accepted_answers_against_the_proof(tokens):
    row = held_row(THREE)
    text = b""
    for token in tokens:
        if row.accepts(token):
            row.push(token)
            text += token
    answer = final_answer(text.decode(), THREE) if row.may_end else None
    if answer is not None:
        truth = {"A": "true", "B": "false", "C": "unknown"}[answer]
        assert row.guide._guide.conclusion() == truth  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def policy(tiny_model):
    torch.set_num_threads(1)
    return HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())


def test_nonsense_never_answers_against_its_own_proof(policy):
    problems = list(generate(PrOntoQA(hops=(1,), extra_kinds=(0, 0)), 6, seed=3))
    sampling = Sampling("guided", 1.5, 3, 150, conclusion="decided")
    for trace in sample(policy, problems, sampling, seed=5, format_="guided"):
        assert trace.record()["sampling"]["conclusion"] == "decided"
        verdict = judge(trace.problem, Attempt(trace.id, trace.problem, "guided", trace.completion))
        assert getattr(verdict, "reason", "") != "answer_mismatch"


def test_a_free_conclusion_is_not_recorded_and_changes_no_row(policy):
    problems = list(generate(PrOntoQA(hops=(1,)), 1, seed=3))
    (trace,) = sample(policy, problems, Sampling("guided", 1.0, 1, 20), seed=5, format_="guided")
    assert "conclusion" not in trace.record()["sampling"]
    assert Row(logic_guide()).place is None
