"""What evaluation counts, problem by problem, and how a configuration asks for it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.judge import judge_record
from critics.problem import Formal, Problem
from rollout.policies.policy import ScriptedPolicy
from rollout.problems.catalogue import QUESTIONS
from rollout.published.loaders import looks_like
from rollout.records.sampling import Sampling
from rollout.records.traces import Judgement, Trace, read_trace
from training.cli import app
from training.configuration.run import load_run
from training.configuration.section import ConfigError
from training.curation.filters import formal_outcome, judged
from training.reporting.comparison import write_report
from training.rounds.evaluation import asked, measure, tally
from training.rounds.problems import held_out_problems, load_problems, training_problems
from training.workers.strategies import SingleAttempt

ROOT = Path(__file__).parents[1]
FORMAL = Formal(("(cat tom)", "(cat 'x) -> (warm 'x)"), "(warm tom)")
TRUE = Problem("t", "mine", "Prose.", "Is Tom warm?", None, "true", FORMAL, {"hops": 1, "condition": "belief"})
FALSE = Problem(
    "f", "mine", "Prose.", "Is Tom not warm?", None, "false", Formal(FORMAL.axioms, "(not (warm tom))"), {"hops": 2}
)
LETTERED = Problem("o", "other", "Prose.", "Is Tom warm?", ("A) True", "B) False", "C) Unknown"), "A", FORMAL)
VALID = Problem("v", "arguments", "Prose.", "Does it follow?", ("Valid", "Invalid"), "A", None, {"condition": "belief"})
AXIOMS = "[[axiom:(cat tom)]] [[axiom:(cat 'x) -> (warm 'x)]]"
PROOF = f"{AXIOMS} [[goal:(warm tom)]] [[infer:(warm tom)]]\nAnswer: true"
MISREAD = "[[axiom:(cat tom)]] [[axiom:(cat 'x) -> (not (warm 'x))]] [[goal:(warm tom)]] [[infer:(not (warm tom))]]"
STUCK = "[[axiom:(cat tom)]] [[goal:(warm tom)]] [[infer:nothing]]\nAnswer: "


def judging(records):
    return [judge_record(record) for record in records]


def record(problem: Problem, completion: str, format_: str = "guided") -> Trace:
    attempt = {"id": problem.id, "problem": problem.record(), "format": format_, "completion": completion}
    return read_trace({**attempt, "judgement": judge_record(attempt)})


def counts(*records: Trace) -> dict:
    told = tally(records)
    return {
        name: told[name]
        for name in told
        if told[name] and name not in ("outcomes", "grades", "n", "coverage", "chance") and name[:3] != "by_"
    }


@pytest.mark.parametrize(
    ("problem", "completion", "expected"),
    [
        (TRUE, PROOF, {"right": 1, "certified": 1, "answered": 1, "accuracy_with_guess": 1.0}),
        (TRUE, "Answer: true", {"right": 1, "lucky": 1, "answered": 1, "accuracy_with_guess": 1.0}),
        (TRUE, f"{AXIOMS} [[goal:(warm tom)]]", {"no_answer": 1, "accuracy_with_guess": 0.5}),
        (TRUE, "It cannot be concluded.", {"no_answer": 1, "accuracy_with_guess": 0.5}),
        (TRUE, f"{STUCK}unknown", {"answered": 1, "abstained": 1, "exhausted": 1}),
        (TRUE, f"{STUCK}false", {"answered": 1, "exhausted": 1}),
        (TRUE, f"{MISREAD}\nAnswer: false", {"answered": 1, "wrong_formal": 1}),
        (TRUE, f"{MISREAD} so", {"no_answer": 1, "wrong_formal": 1, "accuracy_with_guess": 0.5}),
        (TRUE, f"{MISREAD}\nAnswer: true", {"right": 1, "lucky": 1, "answered": 1, "wrong_formal": 1,
                                           "accuracy_with_guess": 1.0}),
        (LETTERED, "nothing", {"no_answer": 1, "accuracy_with_guess": pytest.approx(1 / 3)}),
        (LETTERED, f"{STUCK}C", {"answered": 1, "abstained": 1, "exhausted": 1}),
        (LETTERED, f"{MISREAD}\nAnswer: C", {"answered": 1, "abstained": 1, "wrong_formal": 1}),
        (VALID, "Answer: Invalid", {"answered": 1}),
        (VALID, "", {"no_answer": 1, "accuracy_with_guess": 0.5}),
    ],
)  # fmt: skip
def test_every_attempt_is_counted_for_what_it_is(problem, completion, expected):
    assert counts(record(problem, completion)) == expected


def test_an_attempt_that_no_critic_read_has_neither_answered_nor_kept_silent():
    attempt = record(TRUE, PROOF)
    attempt = replace(attempt, judgement=Judgement("timeout", "time_limit", None, ""))
    assert counts(attempt) == {}


def test_without_options_a_guess_is_among_the_answers_of_the_data_set():
    unknown = Problem("u", "mine", "Prose.", "?", answer="unknown")
    elsewhere = Problem("e", "else", "Prose.", "?", answer="unknown")
    assert tally([record(TRUE, "")])["accuracy_with_guess"] == 0.5
    assert tally([record(TRUE, ""), record(unknown, "")])["accuracy_with_guess"] == pytest.approx(1 / 3)
    assert tally([record(TRUE, ""), record(elsewhere, "")])["by_dataset"]["mine"]["accuracy_with_guess"] == 0.5


def test_groups_add_up_and_outcomes_pair():
    told = tally([record(TRUE, PROOF), record(FALSE, "Answer: true"), record(LETTERED, ""), record(VALID, "Answer: A")])
    assert set(told["by_hops"]) == {"1", "2", "unknown"}
    assert set(told["by_condition"]) == {"belief"}
    assert told["by_condition"]["belief"]["n"] == 2
    assert told["by_condition"]["belief"]["right"] == 2
    assert set(told["by_dataset"]) == {"mine", "other", "arguments"}
    for groups in (told["by_hops"], told["by_dataset"]):
        for name in ("n", "right", "certified", "lucky", "answered", "no_answer", "abstained", "wrong_formal"):
            assert sum(group[name] for group in groups.values()) == told[name], name
    outcomes = told["outcomes"]
    assert outcomes["ids"] == ["t", "f", "o", "v"]
    assert all(len(values) == 4 for values in outcomes.values())
    assert outcomes["no_answer"] == [0, 0, 1, 0]


def test_the_formal_outcome_trusts_the_formalisation_and_no_step():
    cases = {
        PROOF: "true",
        MISREAD: "false",
        f"{AXIOMS} [[goal:(warm tom)]] [[infer:(dog tom)]]": None,
        f"{AXIOMS} [[goal:(warm rex)]] [[infer:(warm tom)]]": "unknown",
        f"{AXIOMS} [[infer:(warm tom)]]": None,
        "[[goal:(warm tom)]] [[axiom:(warm tom)]] [[infer:(wa": "true",
        "[[goal:(]] [[nonsense]] \udc00 [[axiom:(\udc00 tom)]]": None,
    }
    for completion, outcome in cases.items():
        assert formal_outcome(Trace("t", TRUE, "guided", completion)) == outcome, completion


def test_a_mode_keeps_its_keys_and_holds_the_new_ones():
    policy, strategy = ScriptedPolicy([PROOF, "Answer: false"]), SingleAttempt("guided")
    attempts = asked(policy, [TRUE, FALSE], Sampling(), strategy, seed=1, batch_size=1)
    mode = measure(list(judged(attempts, judging)), Sampling(), judging, strategy.shortened, seed=1)
    old = {"decoding", "temperature", "seed", "n", "right", "certified", "lucky", "by_hops", "outcomes"}
    assert old <= mode.keys()
    assert (mode["right"], mode["certified"], mode["lucky"]) == (2, 1, 1)
    assert mode["conclusion"] == "free"
    assert json.loads(json.dumps(mode)) == mode


# -- what a configuration asks for


def configured(tmp_path: Path, body: str) -> Path:
    path = tmp_path / "c.yaml"
    path.write_text(f"name: c\nmodel: {{name: x}}\n{body}\n")
    return path


@pytest.mark.parametrize("dataset", [name for name in QUESTIONS if name != "prontoqa"])
def test_every_data_set_has_problems_to_train_on_and_others_to_evaluate(tmp_path, dataset):
    body = f"problems: {{dataset: {dataset}}}\nstar: {{problems_per_round: 6}}\nevaluation: {{num_problems: 6}}"
    config = load_run(configured(tmp_path, body))
    first, second = (training_problems(config, 0, number) for number in (0, 1))
    held_out = held_out_problems(config, 0)
    assert {p.dataset for p in (*first, *second, *held_out)} == {dataset}
    assert len({p.id for p in (*first, *second, *held_out)}) == 18


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("problems: {dataset: folio}", ["dataset", "folio", "proofwriter"]),
        ("problems: {dataset: proofwriter, hops: [1]}", ["hops", "family"]),
        ("problems: {dataset: proofwriter, family: {depth: [1]}}", ["family.depth", "depths"]),
        ("problems: {dataset: proofwriter, family: {depths: [99]}}", ["family.depths", "99"]),
        ("problems: {dataset: proofwriter, family: {facts: [1]}}", ["family.facts"]),
        ("problems: {dataset: proofwriter, family: {split: test}}", ["family.split"]),
        ("problems: {family: {hops: [1]}}", ["family"]),
        ("model: {name: x, examples: -1}", ["examples"]),
        ("sampling: {conclusion: forced}", ["sampling.conclusion"]),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(tmp_path, body, words):
    with pytest.raises(ConfigError) as refused:
        load_run(configured(tmp_path, body))
    assert all(word in str(refused.value) for word in words), refused.value


def test_what_changes_a_result_changes_the_digest(tmp_path):
    plain = load_run(configured(tmp_path, "")).digest()
    assert load_run(configured(tmp_path, "jobs: 3\ntraining: {trackers: [wandb]}")).digest() == plain
    for change in (
        "sampling: {conclusion: decided}",
        "problems: {dataset: proofwriter}",
        "model: {name: x, examples: 3}",
    ):
        assert load_run(configured(tmp_path, change)).digest() != plain


def test_conclusions_are_held_under_the_guide_alone(tmp_path):
    sampling = load_run(configured(tmp_path, "sampling: {conclusion: decided}")).sampling
    assert sampling.sampling("guided").conclusion == "decided"
    assert sampling.sampling("free").conclusion == "free"


PUBLISHED = {
    "prontoqa_seed19_1to5hop.jsonl.gz": "prontoqa",
    "prontoqa_dev_partA.jsonl.gz": "prontoqa",
    "prontoqa_ood_seed2026.jsonl.gz": "prontoqa-ood",
    "syllogisms.jsonl.gz": "syllogism",
    "wason.jsonl.gz": "wason",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_file_is_read_by_what_it_looks_like(shared, name):
    first = next(load_problems(shared / "data" / name))
    assert first.dataset == PUBLISHED[name]
    assert next(load_problems(shared / "data" / name, PUBLISHED[name])) == first


@pytest.mark.parametrize("keys", [["hypothesis", "label"], ["premises", "question"], ["passage"], ["puzzle"]])
def test_a_key_that_others_have_too_names_no_data_set(keys: list[str], tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(dict.fromkeys(keys, "Every cat is warm.")))
    assert looks_like(path) is None


def test_problem_records_of_any_data_set_are_read_as_they_are(tmp_path):
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps(p.record()) + "\n" for p in (TRUE, VALID)))
    assert list(load_problems(path)) == [TRUE, VALID]


def written_run(folder: Path, modes: list[dict]) -> Path:
    """Write a run folder of one line: the base model's evaluation, then one round's."""
    rounds = [folder / "base", folder / "round-000"]
    for path, mode in zip(rounds, modes, strict=True):
        path.mkdir()
        told = {"problems": {"n": 4, "digest": "d"}, "modes": {"sampled": {"decoding": "guided", **mode}}}
        (path / "evaluation.json").write_text(json.dumps(told))
    (rounds[1] / "dataset").mkdir()
    kept = {"sampled": 4, "right": 1, "certified": 1, "lucky": 0, "kept": 1}
    (rounds[1] / "dataset" / "summary.json").write_text(json.dumps(kept))
    lines = {"lines": [{"arm": "strict", "seed": 0, "path": ".", "base": "base"}], "num_rounds": 1}
    (folder / "lines.json").write_text(json.dumps(lines))
    return folder


def test_a_report_tells_abstentions_and_content_effects(tmp_path):
    nonsense = Problem("n", "mine", "Prose.", "?", None, "true", FORMAL, {"condition": "nonsense"})
    records = [record(TRUE, PROOF), record(FALSE, ""), record(LETTERED, f"{STUCK}C"), record(nonsense, "Answer: false")]
    run = written_run(tmp_path, [tally(records), tally(records)])
    (arm,) = write_report(run)["arms"].values()
    last = arm["rounds"][-1]
    assert last["answers"]["no_answer"] == last["answers"]["abstained"] == last["answers"]["exhausted"] == 0.25
    assert last["answers"]["accuracy_with_guess"] == (1 + 0.5) / 4
    assert {name: rates["accuracy"] for name, rates in last["by_condition"].items()} == {"belief": 1.0, "nonsense": 0.0}
    page = (run / "report.html").read_text()
    assert "Content effects" in page
    assert "Answers and abstentions" in page


# -- the commands


def certistar(*words: object):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("dataset", QUESTIONS)
def test_every_data_set_can_be_generated_from_the_command_line(tmp_path, dataset):
    out = tmp_path / "problems.jsonl"
    assert certistar("problems", dataset, "--num", 5, "--split", "test", "--out", out).exit_code == 0
    assert [p.dataset for p in load_problems(out)] == [dataset] * 5


def test_a_generators_own_keys_are_set_on_the_command_line(tmp_path):
    out = tmp_path / "problems.jsonl"
    keys = ("--set", "depths=[2]", "--set", "unknown_share=0")
    assert certistar("problems", "proofwriter", "--num", 4, *keys, "--out", out).exit_code == 0
    assert {(p.meta["depth"], p.answer) for p in load_problems(out)} == {(2, "A"), (2, "B")}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("problems", "proofwriter", "--hops", "1"), "PrOntoQA"),
        (("problems", "proofwriter", "--set", "depth=[1]"), "depths"),
        (("problems", "proofwriter", "--set", "depths"), "key=value"),
        (("problems", "folio"), "folio"),
        (("problems", "nli", "--from", "gone.jsonl"), "nli"),
    ],
)
def test_what_a_data_set_does_not_have_is_refused(tmp_path, words, told):
    result = certistar(*words, "--out", tmp_path / "p.jsonl")
    assert result.exit_code == 2
    assert told in result.stderr


def test_every_named_arm_is_evaluated(tmp_path, tiny_model):
    problems, config = tmp_path / "problems.jsonl", tmp_path / "c.yaml"
    problems.write_text(json.dumps(TRUE.record()) + "\n")
    config.write_text(
        f"name: c\nmodel: {{name: {tiny_model}}}\nsampling: {{max_new_tokens: 20, conclusion: decided}}\narms:\n"
        "  - {name: guided, keep: guided, decoding: guided}\n"
        "  - {name: plain, keep: naive, decoding: free, strategy: cot}\n"
    )
    told = certistar("evaluate", config, "--problems", problems, "--arm", "plain", "--arm", "guided", "--json")
    modes = json.loads(told.stdout)
    assert {name: mode["conclusion"] for name, mode in modes.items()} == {"plain": "free", "guided": "decided"}
    refused = certistar("evaluate", config, "--problems", problems, "--arm", "naive")
    assert refused.exit_code == 2
    assert "guided, plain" in refused.stderr


def test_certified_answers_are_counted_by_grade_beside_each_answer():
    told = tally([record(TRUE, PROOF), record(TRUE, "Answer: true")])
    assert told["grades"] == {"checked": 0, "given": 1, "aligned": 0, "trusted": 0}
    assert told["outcomes"]["grades"] == ["given", None]
