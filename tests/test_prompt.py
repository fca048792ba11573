"""Prompts: solved examples of the problem's own data set, as many as the paper shows, every guided one certified."""

import gzip
import json
import re
from collections import Counter
from pathlib import Path

import pytest
import torch
import yaml

from critics.judge import judge
from critics.problem import Attempt, Problem, read_problem
from critics.replay.formula import parse_literal
from critics.text.answer_reader import read_answer
from critics.text.blocks import final_answer
from rollout.decoding.masks import MaskEngine
from rollout.decoding.sampling import Request, sample_batch
from rollout.decoding.vocabulary import token_bytes
from rollout.policies.policy import HuggingFacePolicy
from rollout.problems.catalogue import QUESTIONS, family
from rollout.problems.proofwriter import ProofWriter, item
from rollout.prompts import prompt
from rollout.prompts.conversation import SEPARATOR
from rollout.prompts.prompt import messages, problem_text, solved_examples, text
from rollout.prompts.sentence import read_aloud
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.strategies.single import sample

FORMAL_DATASETS = ["prontoqa", "proofwriter", "prontoqa-ood", "syllogism", "deontiqa"]
THREE_VALUED = {"proofwriter"}
MINE = Problem("p", "mine", "Tom is a cat.", "True or false: Tom is warm.", answer="true")


def problems_by_text(dataset: str) -> dict[str, Problem]:
    made = family(dataset)
    drawn = made.generate(made.configured(made.shown, "pretrain"), 48, seed=2023)
    return {problem_text(problem): problem for problem in drawn}


@pytest.mark.parametrize("dataset", FORMAL_DATASETS)
def test_every_guided_example_is_certified(dataset):
    problems = problems_by_text(dataset)
    shown = solved_examples(8, "guided", dataset)
    assert len(shown) == 8
    for asked, solution in shown:
        verdict = judge(problems[asked], Attempt("a", problems[asked], "guided", solution))
        assert hasattr(verdict, "certificate"), (solution, verdict)


@pytest.mark.parametrize("dataset", QUESTIONS)
def test_every_unguided_example_ends_in_the_gold_answer_and_holds_no_block(dataset):
    problems = problems_by_text(dataset)
    shown = solved_examples(8, "cot", dataset)
    assert len(shown) == 8
    for asked, solution in shown:
        problem = problems[asked]
        assert final_answer(solution, problem) == problem.answer
        assert "[[" not in solution
        # A text that a critic reads shows nothing but what is certified.
        verdict = judge(problem, Attempt("shown", problem, "cot", solution))
        assert verdict.verdict == "certified" or verdict.reason == "free_text", solution


@pytest.mark.parametrize("dataset", FORMAL_DATASETS)
@pytest.mark.parametrize(("format_", "num"), [("guided", 2), ("cot", 4)])
def test_the_paper_shows_four_examples_without_the_guide_and_two_with_it(dataset, format_, num):
    problems = problems_by_text(dataset)
    shown = [problems[asked] for asked, _ in solved_examples(None, format_, dataset)]
    assert len(shown) == (1 if dataset == "deontiqa" else num + (dataset in THREE_VALUED))
    if dataset == "deontiqa":
        return
    gold = Counter(problem.answer for problem in shown)
    assert len(gold) == len({problem.answer for problem in problems.values()})
    assert max(gold.values()) - min(gold.values()) <= 1


@pytest.mark.parametrize("dataset", FORMAL_DATASETS)
def test_guided_examples_show_proofs_of_several_steps(dataset):
    shown = [solution for _, solution in solved_examples(None, "guided", dataset)]
    assert max(solution.count("[[infer:") for solution in shown) >= 2
    rules = messages(Problem("p", dataset, "c", "q"), PromptStyle("chat", 0))[0]["content"]
    assert ("[[relation:..]]" in rules) or not any("[[relation:" in solution for solution in shown)


def test_two_syllogisms_show_every_mood():
    said = "".join(solution for _, solution in solved_examples(None, "guided", "syllogism"))
    for mood in ("[[axiom:(all ", "[[axiom:(some ", "[[axiom:(not (some ", "[[goal:(not (all "):
        assert mood in said


def test_marks_stand_in_the_sentence_where_it_has_the_name():
    (_, solution), *_ = solved_examples(None, "guided", "prontoqa")
    assert re.search(r"\d- (?:Every|Each) \[\[prop:\w+\]\] is (?:an? )?\[\[prop:\w+\]\]\. \[\[axiom:", solution)


@pytest.mark.parametrize("dataset", ["folio", "folio-formulas", "logicaldeduction", "ar-lsat", "multi-logieval"])
def test_data_sets_without_a_generator_have_examples_of_their_own_kind(dataset):
    records = yaml.safe_load((Path(prompt.__file__).with_name("worked_examples.yaml")).read_text(encoding="utf-8"))
    own = [read_problem({"id": "w", **record}) for record in records if record["dataset"] == dataset]
    problems = {problem_text(problem): problem for problem in own}
    for format_ in ("cot", "answer"):
        shown = solved_examples(None, format_, dataset)
        assert len(shown) == len(own)
        assert all(read_answer(solution, problems[asked]) == problems[asked].answer for asked, solution in shown)


def test_worked_examples_are_in_no_published_file(shared):
    records = yaml.safe_load((Path(prompt.__file__).with_name("worked_examples.yaml")).read_text(encoding="utf-8"))
    own = {record["context"].strip().rpartition(". ")[2] for record in records}
    published = (shared / "data" / "folio_validation_partA.jsonl").read_text(encoding="utf-8")
    for name in ("arlsat_train", "arlsat_dev_partA", "logicaldeduction_partA", "folio_train"):
        published += gzip.decompress((shared / "data" / f"{name}.jsonl.gz").read_bytes()).decode()
    assert not [sentence for sentence in own if json.dumps(sentence)[1:-1] in published]


def test_formulas_of_folio_may_be_unknown():
    rules = messages(Problem("p", "folio-formulas", "A(b)", "C(b)"), PromptStyle("chat", 0, "cot"))[0]["content"]
    assert "Answer: unknown" in rules


def test_what_has_no_formalisation_has_no_guided_examples():
    assert solved_examples(None, "guided", "wason") == ()
    assert len(solved_examples(None, "cot", "wason")) == 4


def test_another_data_set_is_shown_prontoqa():
    style = PromptStyle("few-shot")
    assert solved_examples(None, "guided", "mine") == solved_examples(None, "guided", "prontoqa")
    assert text(MINE, style).count(f"{SEPARATOR}\n") == 2
    assert text(MINE, style).endswith(problem_text(MINE))


@pytest.mark.parametrize("dataset", QUESTIONS)
@pytest.mark.parametrize("format_", ["guided", "cot"])
def test_the_rules_ask_for_the_answers_that_the_problem_has(dataset, format_):
    problem = next(iter(problems_by_text(dataset).values()))
    rules = messages(problem, PromptStyle("chat", 0, format_))[0]["content"]
    assert ("one of the options" in rules) is (problem.options is not None)
    assert ("[[axiom:" in rules) is (format_ == "guided")
    assert [turn["role"] for turn in messages(problem, PromptStyle("chat", 0, format_))] == ["system", "user"]


def test_a_bare_prompt_is_the_problem_alone():
    assert text(MINE, PromptStyle()) == problem_text(MINE)
    assert text(MINE, PromptStyle(), hint=True) == problem_text(MINE, hint=True)


@pytest.fixture(scope="module")
def policy(tiny_model):
    torch.set_num_threads(1)
    return HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle())


def test_a_row_stops_within_the_token_that_completes_its_stop(policy):
    table = token_bytes(policy.tokenizer)
    masks = MaskEngine(table, [policy.tokenizer.eos_token_id])
    ids = policy.tokenizer(problem_text(MINE))["input_ids"]
    options = {"temperature": 1.0, "max_new_tokens": 60, "eos_id": policy.tokenizer.eos_token_id, "pad_id": 0}

    def written(stop: bytes) -> list[list[int]]:
        requests = [Request(ids, seed, None, stop) for seed in range(6)]
        return sample_batch(policy.model, requests, masks, **options)

    whole = written(b"")
    num_stopped = 0
    for long, short in zip(whole, written(b"us"), strict=True):
        assert long[: len(short)] == short
        texts = [b"".join(table[i] or b"" for i in ids) for ids in (short[:-1], short)]
        assert b"us" not in texts[0]
        num_stopped += b"us" in texts[1]
        assert b"us" in texts[1] or len(short) == len(long)
    assert num_stopped > 0


def test_a_few_shot_completion_ends_where_the_next_example_would_begin(tiny_model, policy, monkeypatch):
    monkeypatch.setattr("rollout.policies.policy.SEPARATOR", "us")
    shown = HuggingFacePolicy(str(tiny_model), prompt_style=PromptStyle("few-shot", 0))
    traces = list(sample(shown, [MINE], Sampling("free", 1.0, 6, 60), seed=1, format_="cot"))
    stopped = [trace for trace in traces if trace.finished]
    assert stopped
    assert all("us" not in trace.completion and trace.completion_ids == () for trace in stopped)


@pytest.mark.parametrize(
    ("literal", "context", "sentence"),
    [
        ("(cat tom)", "Tom is a cat. Cats are warm.", "Tom is a cat."),
        ("(not (impus tom))", "Every impus is warm.", "Tom is not an impus."),
        ("(warm tom)", "Cats are warm. Warm people are kind.", "Tom is warm."),
        ("(chases bald-eagle dog)", "The bald eagle is big. The dog is red.", "The bald eagle chases the dog."),
        ("(not (likes bob ann))", "Bob is kind.", "It is not so that Bob likes Ann."),
        ("(all dogs mammals)", "All dogs are mammals.", "All dogs are mammals."),
        ("(not (all dogs cats))", "", "Some dogs are not cats."),
        ("(not (some dogs cats))", "", "No dogs are cats."),
        ("(not (obligatory (call bob)))", "", "It is not obligatory: call bob."),
    ],
)
def test_an_inference_is_read_aloud_in_the_contexts_words(literal, context, sentence):
    assert read_aloud(parse_literal(literal), context) == sentence


def two_valued(options: tuple[str, ...] | None) -> Problem:
    question = "Based on the above information, is the following statement true or false? Anne is kind."
    return Problem("p", "proofwriter", "Anne is big. All big people are kind.", question, options)


@pytest.mark.parametrize("options", [None, ("A) True", "B) False")])
@pytest.mark.parametrize(("format_", "num"), [("guided", 2), ("cot", 4)])
def test_examples_of_a_two_valued_task_are_two_valued(options, format_, num):
    """Paper 004 leaves unknown out of ProofWriter; LogicGuide's own file has no options at all."""
    asked = messages(two_valued(options), PromptStyle("chat", None, format_))
    shown = "\n".join(turn["content"] for turn in asked)
    assert len(asked) == 2 + 2 * num
    assert "unknown" not in shown.lower()
    assert ("A) True" in shown) == (options is not None)
    ends = [turn["content"].splitlines()[-1] for turn in asked if turn["role"] == "assistant"]
    assert set(ends) == (
        {"Answer: true", "Answer: false"} if options is None else {"Answer: A) True", "Answer: B) False"}
    )


def test_examples_keep_their_own_options_where_the_problem_has_such():
    own = two_valued(("A) True", "B) False", "C) Unknown"))
    shown = messages(own, PromptStyle("chat", None, "cot"))
    assert len(shown) == 2 + 2 * 5
    assert any("C) Unknown" in turn["content"].splitlines()[-1] for turn in shown)


def test_proofwriter_without_unknown_has_two_options_and_asks_for_either():
    config = ProofWriter(unknown_share=0)
    made = [item(config, index, seed=0) for index in range(6)]
    assert {problem.options for problem in made} == {("A) True", "B) False")}
    assert all("true or false?" in problem.question for problem in made)
    assert {problem.answer for problem in made} == {"A", "B"}
