"""A run whose arms put formulas into words and back, and AutoEval as the yardstick of any policy."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from critics.errors import InputError
from critics.formats.equivalence.language import Language
from critics.judge import judge_record
from critics.problem import Problem
from rollout.formulas.description import understand
from rollout.policies.policy import Completion
from rollout.records.digests import PolicyDigests
from rollout.records.sampling import Sampling
from rollout.records.steps import Leg
from rollout.records.traces import Judgement, Trace, read_trace
from rollout.settings import RoundTripSettings
from tools.seeds.descriptions import describe
from training.autoeval.yardstick import Asked, RoundTrips, measure_trips, measure_verifier, read_benchmark
from training.cli import app
from training.configuration.run import PromotionConfig, RunConfig
from training.curation.filters import select
from training.lessons.teaching import file_examples
from training.records.store import read_records, write_json, write_records
from training.reporting.comparison import write_report
from training.rounds.evaluation import chance_of, refusal
from training.rounds.line import Line
from training.rounds.loop import measure, run_line
from training.rounds.problems import training_problems
from training.rounds.run import lines_of
from training.rounds.run import run as run_all
from training.workers.local import LocalWorkers


class Translator:
    """A perfect translator of bare prompts, but for what `spoilt` makes of a formula that it writes."""

    def __init__(self, spoilt=lambda formula: formula) -> None:
        self.digests = PolicyDigests("translator")
        self.spoilt = spoilt

    def prompt(self, problem, *, hint=False) -> str:
        raise AssertionError("a round trip asks in conversations, or barely")

    def conversation(self, messages) -> str:
        return json.dumps(messages)

    def complete(self, prompts, guides, seeds, sampling) -> list[Completion]:
        return [Completion(self._reply(prompt), (), True) for prompt in prompts]

    def _reply(self, prompt: str) -> str:
        task, _, text = prompt.strip().partition(": ")
        if task == "say":
            return describe(text, Language.PROPOSITIONAL)
        if task == "write":
            return self.spoilt(understand(text, Language.PROPOSITIONAL))
        return "I cannot tell.\nAnswer: yes"


def by_operators(formula: str) -> str:
    """Right with one operator, of another meaning with two, unreadable with three."""
    operators = formula.count("∧") + formula.count("∨") + formula.replace("¬p", "").count("¬")
    return [formula, f"¬({formula})", f"({formula}"][operators - 1]


class Here(LocalWorkers):
    def judge(self, records):
        return [judge_record(record) for record in records]


def settings(**changes: Any) -> dict[str, Any]:
    return {
        "name": "test",
        "model": {"name": "m"},
        "problems": {"dataset": "autoeval-pl", "family": {"categories": [1, 2, 3]}},
        "round_trip": {"prompt": "bare"},
        "arms": [
            {"name": "strict", "keep": "strict", "decoding": "free", "strategy": "round-trip"},
            {"name": "naive", "keep": "naive", "decoding": "free", "strategy": "round-trip"},
        ],
        "star": {"rounds": 1, "problems_per_round": 6},
        "training": {"global_batch_size": 2, "learning_rate": 1e-3},
        "evaluation": {"num_problems": 6, "greedy": "never"},
        **changes,
    }


@pytest.fixture(scope="module")
def run(tiny_model, tmp_path_factory):
    import torch

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("trips")
    arms = [{"name": "strict", "keep": "strict", "decoding": "free", "strategy": "round-trip"}]
    config = RunConfig.model_validate(settings(model={"name": str(tiny_model)}, arms=arms))
    write_json(folder / "lines.json", lines_of(config))
    line = Line(config, folder, config.arms[0], 0, Here(load=lambda _: Translator(by_operators)))
    measure(line, None, None)
    run_line(line)
    return folder


def test_strict_keeps_what_came_back_equivalent_and_naive_what_came_back_readable(run):
    folder = run / "round-000"
    examples = list(read_records(folder / "dataset/examples.jsonl"))
    assert [example["direction"] for example in examples] == ["informalise", "autoformalise"] * 2
    assert json.loads((folder / "dataset/summary.json").read_text())["kept"] == 2
    assert json.loads((folder / "adapter/manifest.json").read_text())["examples"] == 4
    traces = list(read_records(folder / "traces.jsonl", checksum=True))
    assert [t.problem.meta["category"] for t in select(map(read_trace, traces), "naive")] == [1, 2, 1, 2]


def test_evaluation_has_scores_by_operators_with_malformed_ones_apart(run):
    mode = json.loads((run / "round-000/evaluation.json").read_text())["modes"]["sampled"]
    found = mode["round_trips"]["autoeval-pl"]
    assert [(row["category"], row["score"], row["malformed"]) for row in found["rows"]] == [
        (1, 1, 0),
        (2, 0, 0),
        (3, 0, 2),
    ]
    assert (found["calibrated"]["score"], found["calibrated"]["compliance"]) == (1 / 3, 4 / 6)
    assert (mode["certified"], mode["right"], mode["lucky"]) == (2, 2, 0)


def test_nobody_comes_back_from_a_round_trip_by_guessing(run):
    mode = json.loads((run / "round-000/evaluation.json").read_text())["modes"]["sampled"]
    assert mode["accuracy_with_guess"] == 2 / 6
    problems = read_benchmark("autoeval:PL:12").problems(5, "test", seed=0)
    assert chance_of(problems) == 0
    assert refusal({"n": 300, "right": 12, "answered": 264}, chance_of(problems), PromotionConfig()) is None


def test_the_report_shows_the_round_trips(run):
    summary = write_report(run)
    last = summary["arms"]["strict"]["rounds"][-1]["round_trips"]["autoeval-pl"]
    assert (last["calibrated"]["equivalent"], last["calibrated"]["malformed"]) == (2, 2)
    page = (run / "report.html").read_text()
    assert ">Round trips</h2>" in page
    crossed = summary["arms"]["strict"]["rounds"][-1]["false_positives"]
    assert (crossed["p_h"]["hallucinated"], crossed["descriptions"]["right"]) == (0, 2)
    assert crossed["bound"] == crossed["p_h"]["upper"] > 0
    assert "Wrong descriptions that came back right" in page


def test_files_of_round_trips_are_filtered_like_a_round(run, tmp_path):
    folder = run / "round-000"
    traces = list(read_records(folder / "traces.jsonl", checksum=True))
    made = file_examples(select(map(read_trace, traces), "strict"))
    known = list(read_records(folder / "dataset/examples.jsonl"))
    assert [{**example, "id": f"round-000/{example['id']}"} for example in made] == known
    write_records(tmp_path / "traces.jsonl", ({k: v for k, v in t.items() if k != "judgement"} for t in traces))
    done = CliRunner().invoke(
        app, ["filter", str(tmp_path / "traces.jsonl"), "--keep", "naive", "--out", str(tmp_path / "kept")]
    )
    assert done.exit_code == 0, done.output
    assert len(list(read_records(tmp_path / "kept/examples.jsonl"))) == 8


def test_trips_that_say_it_in_other_words_are_kept_beside_each_other():
    problem = Problem("p", "mine", "c", "q", answer="true")
    proved = Judgement("certified", "proved", "true", "")
    one, other = (
        Trace("t", problem, "equivalence", "the same claim", judgement=proved, steps=(leg,))
        for leg in (Leg("informalise", "say", said, (), True, said, 1) for said in ("p1 and p2", "both p1 and p2"))
    )
    assert select([one, other, one], "trusted") == [one, other]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"problems": {}}, "autoeval-pl"),
        ({"round_trip": {"rounds": 0}}, "round_trip.rounds"),
        ({"star": {"curriculum": {"first": 9}}}, "first: 9"),
        ({"arms": [{"name": "a", "keep": "tests", "decoding": "free", "strategy": "round-trip"}]}, "tests"),
        ({"arms": [{"name": "a", "keep": "guided", "decoding": "free", "strategy": "round-trip"}]}, "strict, naive"),
        ({"arms": [{"name": "a", "keep": "strict", "decoding": "guided", "strategy": "round-trip"}]}, "free"),
        ({"star": {"rationalise": True}}, "rationalise"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(changes, told):
    with pytest.raises(ValueError, match=told):
        RunConfig.model_validate(settings(**changes))


def test_trips_of_several_rounds_are_measured_and_not_trained_on(tmp_path):
    with pytest.raises(InputError, match="rounds"):
        run_all(RunConfig.model_validate(settings(round_trip={"rounds": 2})), tmp_path)


def test_a_curriculum_starts_with_the_fewest_operators():
    config = RunConfig.model_validate(settings(star={"rounds": 2, "problems_per_round": 6, "curriculum": {"first": 1}}))
    drawn = [{p.meta["category"] for p in training_problems(config, 0, number)} for number in (0, 1)]
    assert drawn[0] == {1}
    assert {2, 3} <= drawn[1]
    ids = [problem.id for number in (0, 1) for problem in training_problems(config, 0, number)]
    assert len(set(ids)) == len(ids)


# -- the yardstick


def measured(policy: Any, num: int = 12, **keys: Any) -> tuple[dict[str, Any], list[Trace]]:
    problems = read_benchmark("autoeval:PL:12").problems(num, "test", seed=0)
    asked = Asked(RoundTrips(RoundTripSettings(prompt="bare", rounds=keys.pop("rounds", 1))), Sampling("free"), 5)
    return measure_trips(policy, problems, asked, lambda r: [judge_record(x) for x in r], seed=0, **keys)


@pytest.mark.parametrize(
    ("spoilt", "equivalent", "different", "malformed"),
    [
        (lambda f: f, 12, 0, 0),
        (lambda f: f"¬({f})", 0, 12, 0),
        (lambda f: "p1 ∧ ¬p1", 0, 12, 0),
        (lambda f: "(", 0, 0, 12),
    ],
    ids=["perfect", "lying", "one formula for all", "no formula"],
)
def test_scripted_policies_have_the_scores_that_they_must(spoilt, equivalent, different, malformed):
    found, _ = measured(Translator(spoilt))
    whole = found["scores"]["autoeval-pl"]["calibrated"]
    assert [whole[fate] for fate in ("equivalent", "different", "malformed")] == [equivalent, different, malformed]
    assert whole["score"] == equivalent / 12
    assert whole["compliance"] == 1 - malformed / 12


def test_repeated_runs_have_their_deviation_and_longer_trips_a_score_for_each_round():
    found, _ = measured(Translator(), runs=2)
    assert {row["score_sd"] for row in found["repeated"]} == {0}
    assert found["scores"]["autoeval-pl"]["calibrated"]["n"] == 24
    found, _ = measured(Translator(lambda f: f"¬({f})"), rounds=2)
    assert [level["scores"]["autoeval-pl"]["calibrated"]["score"] for level in found["by_rounds"]] == [0, 1]


def test_crossed_descriptions_measure_how_often_a_wrong_one_comes_back_right():
    found, _ = measured(Translator(), num=82)
    rate = found["false_positives"]["p_h"]
    assert (rate["hallucinated"], rate["rate"]) == (0, 0)
    assert rate["n"] > 30
    assert found["false_positives"]["bound"] == rate["upper"] < 0.15
    assert found["false_positives"]["descriptions"] == {
        "certified": 82, "right": 82, "wrong": 0, "unreadable": 0, "undecided": 0
    }  # fmt: skip


def test_a_verifier_that_always_agrees_has_the_f1_of_its_precision():
    def sloppy(formula: str) -> str:
        return formula if "p1" in formula else f"¬({formula})"

    policy = Translator(sloppy)
    found, trips = measured(policy, num=30)
    right = found["scores"]["autoeval-pl"]["calibrated"]["equivalent"]
    assert 0 < right < 30
    said, _ = measure_verifier(policy, trips, Sampling("free"), seed=0)
    assert [said[cell] for cell in ("tp", "fp", "fn", "tn")] == [right, 30 - right, 0, 0]
    assert said["f1"] == 2 * right / (2 * right + 30 - right)


@pytest.mark.parametrize(
    ("name", "dataset", "keys"),
    [
        ("autoeval:PL:12", "autoeval-pl", {"num_propositions": 12}),
        ("autoeval:3cnf:5", "autoeval-3cnf", {"num_propositions": 5}),
        ("autoeval:FOL:8,12", "autoeval-fol", {"num_predicates": 8, "num_objects": 12}),
        ("autoeval:FOL:8,12:english", "autoeval-fol-english", {"num_predicates": 8, "num_objects": 12}),
        ("autoeval:RE:3", "autoeval-re", {"alphabet_size": 3}),
    ],
)
def test_benchmarks_are_named_as_in_the_paper(name, dataset, keys):
    found = read_benchmark(name)
    assert (found.dataset, found.keys) == (dataset, keys)


def test_a_benchmark_can_end_at_a_category():
    found = read_benchmark("autoeval:3CNF:12@8").problems(12, "test", seed=0)
    assert {problem.meta["category"] for problem in found} == {2, 5, 8}
    with pytest.raises(InputError, match="name at least one"):
        read_benchmark("autoeval:3CNF:12@1").problems(1, "test", seed=0)


@pytest.mark.parametrize(
    "name",
    ["autoeval", "autoeval:PL", "autoeval:PL:8,12", "autoeval:FOL:8", "autoeval:RE:2:english", "autoeval:PL:0"],
)
def test_a_benchmark_that_is_none_is_refused(name):
    with pytest.raises(InputError, match="autoeval:PL:12"):
        read_benchmark(name)


def test_evaluate_takes_a_benchmark_for_any_configuration(tiny_model, tmp_path):
    config = tmp_path / "c.yaml"
    config.write_text(f"name: c\nmodel: {{name: {tiny_model}}}\nsampling: {{max_new_tokens: 4}}\n")
    words = [
        "evaluate",
        str(config),
        "--benchmark",
        "autoeval:RE:2",
        "--num",
        "3",
        "--json",
        "--out",
        str(tmp_path / "o"),
    ]
    done = CliRunner().invoke(app, [*words, "--verifier", "--set", "round_trip.prompt=bare"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["scores"]["autoeval-re"]["calibrated"]["n"] == 3
    assert len(list(read_records(tmp_path / "o/traces.jsonl", checksum=True))) == 3
    assert "<svg" in (tmp_path / "o/scores.svg").read_text()
    both = CliRunner().invoke(app, [*words, "--problems", "p.jsonl"])
    assert (both.exit_code, "either --problems" in both.output) == (2, True)
