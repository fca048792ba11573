"""Baselines without a program: what they are asked, and reference attempts that a model can be fine-tuned on."""

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from critics.errors import InputError
from critics.formats.fol.program import read_program
from critics.judge import judge_record
from critics.problem import Problem, read_problem
from critics.replay.first_order.syntax import FormulaError
from rollout.policies.policy import HuggingFacePolicy, ScriptedPolicy, load_tokenizer
from rollout.problems.catalogue import family
from rollout.programs import first_order
from rollout.prompts.prompt import messages, solved_examples, text
from rollout.prompts.style import PromptStyle
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace, with_judgement
from tests.in_process import review_here
from training.cli import app
from training.configuration.model import ModelConfig
from training.configuration.problems import ProblemsConfig
from training.configuration.run import ArmConfig, EvaluationConfig, RunConfig, StarConfig, load_run
from training.configuration.section import ConfigError
from training.curation.filters import kept
from training.finetuning.examples import read_examples
from training.lessons.references import completions, dialogs
from training.lessons.teaching import file_examples
from training.records.store import read_records
from training.rounds.problems import held_out_problems, training_problems
from training.rounds.rollout import require_problems
from training.workers.strategies import SingleAttempt, no_review, strategy_of

PREMISES = ("All otters swim.", "Whoever swims and is young plays.", "Olga is a young otter.")
FORMULAS = ["∀x (Otter(x) → Swims(x))", "∀x (Swims(x) ∧ Young(x) → Plays(x))", "Otter(olga) ∧ Young(olga)"]
OTTERS = Problem(
    "otters",
    "folio",
    "\n".join(PREMISES),
    "Olga plays.",
    None,
    "true",
    meta={"num_premises": 3, "premises_fol": FORMULAS, "conclusion_fol": "Plays(olga)"},
)
UNREADABLE = replace(OTTERS, id="unreadable", meta={**OTTERS.meta, "premises_fol": ["∀x (Otter(x) →"]})
BARE = replace(OTTERS, id="bare", meta={})


def controlled(num: int) -> list[Problem]:
    made = family("controlled-english")
    return list(made.generate(made.configured({}, "train"), num, seed=4))


def write(path: Path, problems: Iterable[Problem]) -> Path:
    path.write_text("".join(json.dumps(problem.record()) + "\n" for problem in problems), encoding="utf-8")
    return path


def certistar(*words: Any) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def config(tmp_path: Path, model: Path | str, prompt: str, examples: int | None = None) -> Path:
    arms = [
        {"name": name, "keep": "label", "decoding": "free", "strategy": "actor-critic" if name == "asp" else name}
        for name in ("answer", "cot", "fol", "fol-cot", "asp")
    ]
    section = {"name": str(model), "prompt": prompt, "examples": examples}
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps({"name": "c", "model": section, "arms": arms}))
    return path


def test_an_annotation_becomes_a_program_beside_its_sentences_and_is_certified():
    program = first_order.reference(OTTERS)
    assert program is not None
    assert program.splitlines() == [
        "Predicates:",
        "Otter(x)",
        "Swims(x)",
        "Young(x)",
        "Plays(x)",
        "Premises:",
        "∀x (Otter(x) → Swims(x)) ::: All otters swim.",
        "∀x (Swims(x) ∧ Young(x) → Plays(x)) ::: Whoever swims and is young plays.",
        "Otter(olga) ∧ Young(olga) ::: Olga is a young otter.",
        "Conclusion:",
        "Plays(olga) ::: Olga plays.",
    ]
    (attempt,) = completions([OTTERS], "fol")
    assert judge_record(attempt.record())["verdict"] == "certified"


def test_sentences_are_left_out_where_formulas_are_of_another_number():
    split = replace(OTTERS, meta={**OTTERS.meta, "premises_fol": [*FORMULAS[:2], "Otter(olga)", "Young(olga)"]})
    program = first_order.reference(split)
    assert program is not None
    assert "All otters" not in program
    assert len(read_program(program).premises) == 4


def test_what_lacks_an_annotation_or_cannot_be_read_has_no_reference():
    assert first_order.reference(BARE) is None
    assert first_order.reference_with_answer(replace(OTTERS, answer=None)) is None
    with pytest.raises(FormulaError):
        first_order.reference(UNREADABLE)
    assert [len(completions([OTTERS, UNREADABLE, BARE], name)) for name in ("cot", "fol", "fol-cot")] == [3, 1, 1]


def test_gold_answers_are_right_and_prove_nothing():
    for name in ("cot", "fol-cot"):
        for answer in ("true", "false", "unknown"):
            (attempt,) = completions([replace(OTTERS, answer=answer)], name)
            assert attempt.format == "cot"
            verdict = judge_record(attempt.record())
            assert (verdict["verdict"], verdict["answer"]) == ("unproved", answer)


def test_references_from_controlled_english_are_certified_dialogs_with_tests():
    problems = controlled(6)
    made = dialogs([*problems, OTTERS], review_here)
    assert [trace.id for trace in made] == [f"{problem.id}#demonstration" for problem in problems]
    judged = [with_judgement(trace, judge_record(trace.record())) for trace in made]
    assert all(kept(trace, "trusted") and kept(trace, "tests") for trace in judged)
    lesson: Any = file_examples(judged[:1])[0]
    assert lesson["kind"] == "direct"
    assert "## The tests" in lesson["messages"][0]["content"]


def test_second_turns_mend_the_faults_of_a_models_own_replies(tmp_path: Path):
    """A file of them teaches the repair and not the faulty reply; a reply to another problem teaches nothing."""
    one, clean, other = controlled(3)
    good = {trace.problem.id: trace.completion for trace in dialogs([one, clean, other], review_here, brief=True)}
    assert "Explanation" not in good[one.id]
    faulty = good[one.id].replace(":-", "-:", 1)
    said = ((one, faulty), (clean, good[clean.id]), (other, "I do not know."))
    attempts = [{"id": p.id, "problem": p.record(), "format": "asp", "completion": text} for p, text in said]
    (tmp_path / "attempts.jsonl").write_text("".join(json.dumps(each) + "\n" for each in attempts))
    problems = write(tmp_path / "problems.jsonl", [one, clean])
    asked = ["demonstrate", problems, "--after", tmp_path / "attempts.jsonl", "--style", "brief"]
    made = certistar(*asked, "--format", "asp", "--out", tmp_path / "second.jsonl")
    assert made.exit_code == 0, made.output
    assert "1 problems lack a reply with a fault" in made.output
    assert (
        certistar("filter", tmp_path / "second.jsonl", "--keep", "trusted", "--out", tmp_path / "kept").exit_code == 0
    )
    fix, direct = read_records(tmp_path / "kept" / "examples.jsonl")
    assert [turn["content"] for turn in fix["messages"][-3::2]] == [faulty, good[one.id]]
    assert [turn["learnt"] for turn in fix["turns"]] == [False, True]
    assert (fix["kind"], direct["kind"]) == ("compile-fix", "direct")
    refused = certistar(*asked, "--format", "english", "--out", tmp_path / "none.jsonl")
    assert refused.exit_code == 2
    assert "--after" in refused.output


@pytest.mark.parametrize("format_", ["cot", "fol", "fol-cot", "asp"])
def test_the_command_writes_what_filter_makes_a_dataset_of(format_: str, tmp_path: Path):
    problems = write(tmp_path / "problems.jsonl", [OTTERS, *controlled(1)])
    attempts, data = tmp_path / "attempts.jsonl", tmp_path / "data"
    made = certistar("demonstrate", problems, "--format", format_, "--out", attempts)
    assert made.exit_code == 0, made.output
    num = 2 if format_ == "cot" else 1
    assert f"{num} demonstrations" in made.output
    done = certistar("filter", attempts, "--keep", "label", "--out", data)
    assert done.exit_code == 0, done.output
    assert len(list(read_records(data / "examples.jsonl"))) == num


@pytest.mark.parametrize("dataset", ["prontoqa", "proofwriter", "prontoqa-ood", "syllogism", "deontiqa"])
def test_proofs_in_english_are_certified_and_say_each_premise_before_its_step(dataset: str):
    made = family(dataset)
    problems = list(made.generate(made.configured(made.shown, "train"), 8, seed=3))
    for name in ("english", "english-conclusions"):
        written = completions(problems, name)
        assert [trace.problem for trace in written] == problems
        assert {judge_record(trace.record())["verdict"] for trace in written} == {"certified"}
    (quoted,) = completions(problems[:1], "english")
    said = quoted.completion.removeprefix("Reasoning: ").partition("\n")[0].split(". ")
    assert said[0].rstrip(".") in problems[0].context


def test_no_proof_is_written_of_an_answer_that_is_not_gold():
    made = family("prontoqa")
    (problem,) = made.generate(made.configured(made.shown, "train"), 1, seed=3)
    wrong = {"true": "false", "false": "true"}[str(problem.answer)]
    assert completions([replace(problem, answer=wrong)], "english") == []


def test_wrong_options_are_refused_with_a_remedy(tmp_path: Path):
    problems, out = write(tmp_path / "problems.jsonl", [BARE]), tmp_path / "out.jsonl"
    path = config(tmp_path, "m", "few-shot")
    for words, said in (
        (("--format", "asq"), "must be one of guided, english, cot, fol"),
        (("--format", "fol"), "no problem has a readable annotation"),
        (("--format", "cot", "--arm", "answer"), "--config FILE"),
        (("--format", "cot", "--config", path, "--arm", "fol"), "these do: answer, cot"),
        (("--format", "guided", "--config", path), "these do: none"),
    ):
        done = certistar("demonstrate", problems, "--out", out, *words)
        assert done.exit_code == 2
        assert said in " ".join(done.output.split())
    assert not out.exists()


TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"


@pytest.mark.parametrize("prompt", ["bare", "few-shot", "chat"])
def test_references_hold_the_prompts_that_the_arm_is_evaluated_with(prompt: Any, tiny_model: Path, tmp_path: Path):
    """Attack on the baseline: a model that is trained on one prompt and asked with another looks worse than it is."""
    model = tmp_path / "model"
    shutil.copytree(tiny_model, model)
    settings = json.loads((model / "tokenizer_config.json").read_text())
    (model / "tokenizer_config.json").write_text(json.dumps({**settings, "chat_template": TEMPLATE}))
    (model / "chat_template.jinja").unlink(missing_ok=True)
    problems = write(tmp_path / "problems.jsonl", [OTTERS])
    path = config(tmp_path, model, prompt, examples=1)
    loaded = load_run(path)
    for arm in loaded.arms[:4]:
        shown = "cot" if arm.format == "answer" else arm.format
        out = tmp_path / f"{arm.name}.jsonl"
        done = certistar("demonstrate", problems, "--format", shown, "--config", path, "--arm", arm.name, "--out", out)
        assert done.exit_code == 0, done.output
        (reference,) = read_records(out)
        policy = HuggingFacePolicy(str(model), prompt_style=loaded.model.style(arm.format))
        strategy = strategy_of(loaded, arm, trained=True, review=no_review)
        (asked,) = strategy.attempts(policy, [OTTERS], Sampling("free", max_new_tokens=1), seed=0)
        assert reference["prompt"] == asked.prompt
        assert reference["format"] == asked.format


def test_a_folder_of_other_prompts_than_the_chat_is_told(tiny_model: Path, tmp_path: Path, caplog: Any):
    tokenizer: Any = load_tokenizer(str(tiny_model))
    tokenizer.chat_template = TEMPLATE
    rows = [{"id": "1", "prompt": prompt, "completion": "Tom."} for prompt in ("<system>Prove.<user>a", "<user>b")]
    for told, prompts in ((0, rows), (1, [*rows, {"id": "2", "prompt": "Context: a", "completion": "Tom."}])):
        (tmp_path / "examples.jsonl").write_text("".join(json.dumps(row) + "\n" for row in prompts))
        read_examples(tmp_path, ModelConfig(name=str(tiny_model), prompt="chat"), tokenizer, max_tokens=99)
        assert caplog.text.count("1 of 3 prompts do not begin with '<user>'") == told


def attempts(format_: Any, script: str, prompt: Any = "chat", **keys: Any) -> list[Trace]:
    arm = ArmConfig(name="a", keep="label", decoding="free", strategy=format_)
    run = RunConfig(name="r", model=ModelConfig(name="m", prompt=prompt, **keys), arms=[arm])
    strategy = strategy_of(run, arm, trained=False, review=no_review)
    assert isinstance(strategy, SingleAttempt)
    return list(strategy.attempts(ScriptedPolicy([script]), [OTTERS], Sampling("free"), seed=0))


def test_an_arm_of_formulas_is_decided_by_the_solver_and_one_with_answers_by_itself():
    program = first_order.reference(OTTERS)
    assert program is not None
    (solved,) = attempts("fol", program)
    assert judge_record(solved.record())["verdict"] == "certified"
    (said,) = attempts("fol-cot", f"{program}\nAnswer: false")
    assert judge_record(said.record())["answer"] == "false"
    (alone,) = attempts("answer", "Answer: true")
    assert (alone.format, judge_record(alone.record())["verdict"]) == ("cot", "unproved")


def test_formulas_are_asked_for_with_the_language_and_its_examples():
    (none,), (two,) = attempts("fol", "", examples=0), attempts("fol", "")
    assert "`Conclusion:`" in str(none.prompt)
    assert (str(none.prompt).count("Predicates:\n"), str(two.prompt).count("Predicates:\n")) == (0, 2)
    (answered,) = attempts("fol-cot", "")
    assert str(answered.prompt).count("\nAnswer: ") == 2
    assert "Answer: unknown" in str(answered.prompt)
    (trained,) = attempts("fol", "", prompt="bare")
    assert trained.prompt == text(OTTERS, PromptStyle())


def test_a_hint_gives_the_answer_away_only_where_it_is_asked_for():
    for answers in (False, True):
        told = first_order.request(OTTERS, 1, answers=answers, hint=True)[-1]["content"]
        untold = first_order.request(OTTERS, 1, answers=answers)[-1]["content"]
        assert told == f"{untold}\nHint: the answer is true."


def test_zero_shot_asks_for_the_answer_and_no_reasoning():
    rules = messages(OTTERS, PromptStyle("chat", 0, "answer"))[0]["content"]
    assert "no reasoning" in rules
    assert "Answer: unknown" in rules
    assert all(solution.startswith("Answer: ") for _, solution in solved_examples(4, "answer", "proofwriter"))


@pytest.mark.parametrize("format_", ["answer", "fol", "fol-cot", "actor-critic"])
def test_no_guide_is_for_what_these_arms_write(format_: Any):
    with pytest.raises(ValueError, match="write `free`"):
        ArmConfig(name="a", keep="label", decoding="guided", strategy=format_)


def test_problems_come_from_the_hub_or_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    import datasets

    asked: list[tuple[str, str]] = []

    def load_dataset(name: str, split: str) -> list[dict[str, Any]]:
        asked.append((name, split))
        row = {"premises": OTTERS.context, "premises-FOL": "\n".join(FORMULAS), "label": "True"}
        return [{**row, "conclusion": f"Olga plays with {split} {n}.", "example_id": n} for n in range(3)]

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    hub = {name: ProblemsConfig(dataset="folio", hub=f"yale-nlp/FOLIO:{name}") for name in ("train", "validation")}
    run = RunConfig(
        name="r",
        model=ModelConfig(name="m"),
        problems=hub["train"],
        held_out=hub["validation"],
        star=StarConfig(problems_per_round=2),
        evaluation=EvaluationConfig(num_problems=3),
    )
    questions = [problem.question for problem in training_problems(run, 0, 0)]
    assert questions == ["Olga plays with train 0.", "Olga plays with train 1."]
    assert len(held_out_problems(run, 0)) == 3
    assert asked == [("yale-nlp/FOLIO", "train"), ("yale-nlp/FOLIO", "validation")]
    with pytest.raises(ConfigError, match="it ends after 3"):
        training_problems(run, 0, 1)


def test_only_folio_is_read_from_the_hub():
    with pytest.raises(ValueError, match="dataset: folio"):
        ProblemsConfig(hub="yale-nlp/FOLIO:train")
    with pytest.raises(ValueError, match="no file"):
        ProblemsConfig(dataset="folio", hub="yale-nlp/FOLIO:train", file="here.jsonl")


def test_all_validation_problems_have_references(shared: Path, tmp_path: Path):
    out = tmp_path / "problems.jsonl"
    source = shared / "data" / "folio_validation_partA.jsonl"
    assert certistar("problems", "folio", "--from", source, "--out", out).exit_code == 0
    problems = [read_problem(record) for record in read_records(out)]
    assert [len(completions(problems, name)) for name in ("cot", "fol", "fol-cot")] == [85, 85, 85]
    verdicts = [judge_record(attempt.record()) for attempt in completions(problems[::3], "fol")]
    right = sum(v["answer"] == p.answer for v, p in zip(verdicts, problems[::3], strict=True))
    # Of every third problem. Annotations that do not entail the label that FOLIO gives are refuted, and no model learns
    # from them. A conclusion that is a part of a premise cannot be told from a cheat on trust, nor
    # `unknown` where the text does not bear the formulas out.
    assert (right, sum(v["verdict"] == "certified" for v in verdicts)) == (27, 17)


def test_a_run_whose_references_nobody_wrote_is_refused_before_anything_is_asked(tmp_path: Path):
    """A gold answer is a reference; a problem without one has none."""
    table = tmp_path / "own.csv"
    source = {"file": str(table), "dataset": "mine"}
    arm = {"name": "taught", "keep": "label", "decoding": "free", "strategy": "answer", "taught_by": "references"}
    told = {"name": "x", "model": {"name": "none"}, "problems": source, "held_out": source, "arms": [arm]}
    config = RunConfig.model_validate(
        told | {"star": {"rounds": 1, "problems_per_round": 1}, "evaluation": {"num_problems": 1}}
    )
    row = "context,question,answer\nTom is a cat.,True or false: Tom is a cat.,"
    table.write_text(f"{row}true\n")
    require_problems(config)
    table.write_text(f"{row}\n")
    with pytest.raises(InputError, match="arm taught: no problem has a reference for `strategy: answer`"):
        require_problems(config)
