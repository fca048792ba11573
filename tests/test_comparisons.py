"""The benchmarks that AutoEval's scores are compared with, from files made here, and reasoning models' thinking."""

import json
from pathlib import Path

import pytest

from critics.errors import InputError
from critics.judge import judge_record
from rollout.policies.policy import Completion, ScriptedPolicy
from rollout.policies.reasoning import AnswersOnly
from rollout.prompts.prompt import text
from rollout.prompts.style import PromptStyle
from rollout.published.comparisons import load_folio_formulas, load_multi_logieval
from rollout.published.first_order import load_folio
from rollout.records.sampling import Sampling
from rollout.strategies.single import sample
from tools.autoeval.premises import Rendering, autoformalised, informalised, premises, written

STORY = {
    "premises": ["Every baker rises early.", "Ina bakes or sings.", "Ina is the one who sings."],
    "premises_fol": ["∀x (Baker(x) → RisesEarly(x))", "Baker(ina) ∨ Sings(ina)", "∀x (Sings(x) → x = ina)"],
    "conclusion": "Ina rises early.",
    "conclusion_fol": "RisesEarly(ina)",
    "label": "Uncertain",
}
FREE = Sampling("free")


@pytest.fixture
def folio(tmp_path: Path) -> Path:
    path = tmp_path / "folio.jsonl"
    path.write_text(json.dumps(STORY, ensure_ascii=False) + "\n")
    return path


def test_a_story_can_be_asked_in_its_formulas_alone(folio):
    (problem,) = load_folio_formulas(folio)
    assert problem.context.splitlines() == STORY["premises_fol"]
    assert (problem.question, problem.answer, problem.dataset) == ("RisesEarly(ina)", "unknown", "folio-formulas")
    assert "baker rises" not in text(problem, PromptStyle("few-shot", format="cot")).partition("RisesEarly")[2]


def test_questions_of_multi_logieval_are_read_in_each_shape(tmp_path):
    samples = [
        {"id": 1, "context": "If it rains, it pours. It rains.", "question": "Does it pour?", "answer": "Yes"},
        {"context": "If it rains, it pours. It pours.", "question": "Does it rain?", "answer": "no."},
    ]
    (tmp_path / "d1").mkdir()
    (tmp_path / "d1/mp.json").write_text(json.dumps({"rule": "MP", "depth": 1, "samples": samples}))
    (tmp_path / "list.json").write_text(json.dumps(samples))
    named, folder = list(load_multi_logieval(tmp_path / "d1/mp.json")), list(load_multi_logieval(tmp_path))
    assert [problem.answer for problem in named] == ["A", "B"]
    assert named[0].meta == {"rule": "MP", "depth": 1}
    assert named[0].options == ("A) Yes", "B) No")
    assert len(folder) == 4
    attempt = {"id": "a", "problem": named[1].record(), "format": "cot", "completion": "It may snow.\nAnswer: B"}
    assert judge_record(attempt)["answer"] == "B"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ([{"context": "c", "question": "q"}], "record 1"),
        ([{"context": "c", "question": "q", "answer": "maybe"}], "neither yes nor no"),
        ({"samples": [{"context": "", "question": "q", "answer": "yes"}]}, "samples 0"),
        ({"samples": [7]}, "samples 0"),
    ],
)
def test_a_sample_that_is_none_is_named(tmp_path, content, told):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InputError, match=told):
        list(load_multi_logieval(path))


def test_premises_are_asked_after_another_one_of_their_story(folio):
    first, second = premises(load_folio(folio))
    assert (first.sentence, second.sentence) == ("Every baker rises early.", "Ina bakes or sings.")
    assert first.example == (second.formula, second.sentence)
    policy = ScriptedPolicy(["<think>hm</think>¬¬(Baker(ina) ∨ Sings(ina))"])
    (reply,) = written(policy, [second], "autoformalise", FREE, seed=0, batch_size=5)
    assert reply.text == "¬¬(Baker(ina) ∨ Sings(ina))"
    assert second.formula not in reply.prompt
    assert first.formula in reply.prompt


def test_formulas_are_judged_against_the_annotation(folio):
    asked = list(premises(load_folio(folio)))
    replies = [Rendering("", "forall y. (¬risesearly(y) -> ¬baker(y))"), Rendering("", "Baker(ina) ∧ Sings(ina)")]
    found = autoformalised(replies, asked, lambda records: [judge_record(record) for record in records])
    assert (found["equivalent"], found["different"], found["score"]) == (1, 1, 0.5)
    assert [row["category"] for row in found["rows"]] == [1]


def test_words_are_compared_with_the_sentences(folio):
    pytest.importorskip("sacrebleu")
    pytest.importorskip("rouge_score")
    pytest.importorskip("nltk")
    asked = list(premises(load_folio(folio)))
    same = informalised([Rendering("", premise.sentence) for premise in asked], asked)
    other = informalised([Rendering("", "Nothing of the kind.")] * 2, asked)
    assert same["n"] == 2
    assert same["rouge"] == pytest.approx(1)
    assert all(same[key] > other[key] for key in ("bleu", "rouge", "meteor"))


# -- reasoning models


def test_thinking_is_kept_beside_the_answer_and_is_not_learnt(folio):
    (problem,) = load_folio(folio)
    spoken = "<think>Answer: True?</think>Not known.\nAnswer: Unknown"
    policy = AnswersOnly(ScriptedPolicy([Completion(spoken, (1, 2, 3), True), "No thought.\nAnswer: True"]))
    traces = [t.record() for t in sample(policy, [problem, problem], FREE, seed=0, format_="cot")]
    assert [trace["completion"] for trace in traces] == ["Not known.\nAnswer: Unknown", "No thought.\nAnswer: True"]
    assert (traces[0]["thoughts"], traces[0]["completion_ids"]) == (spoken, [])
    assert "thoughts" not in traces[1]
    assert judge_record(traces[0])["answer"] == "unknown"
