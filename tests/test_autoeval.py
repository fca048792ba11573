"""AutoEval's scores on round trips whose fates are chosen, so that every figure can be worked out by hand."""

import itertools
import json
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from critics.errors import InputError
from critics.formats.equivalence.language import Language
from critics.judge import judge_record
from critics.problem import Formal, Problem
from rollout.formulas.generator import generate
from rollout.formulas.languages import PropositionalFormulas
from rollout.formulas.prompt import VerifiedPair, opinions, read_answer
from rollout.policies.policy import Completion, ScriptedPolicy
from rollout.records.sampling import Sampling
from rollout.records.traces import Judgement, Trace, with_judgement
from rollout.settings import RoundTripSettings
from rollout.strategies.round_trip import travel
from tools.autoeval.predicts import compared, correlation, predictive_power, published
from tools.reproductions import published_tables
from tools.seeds.descriptions import describe
from tools.seeds.round_trips import bare_lessons
from training.autoeval.joined import joined_files, read_measured
from training.autoeval.scores import (
    counts_record,
    described,
    described_wrongly,
    fate,
    hallucination_rate,
    pooled_scores,
    repeated,
    score_report,
    scores_of,
    shuffled,
    stratified_interval,
    verifier_pairs,
    verifier_record,
    verifier_rows,
    verifier_score,
)
from training.autoeval.yardstick import RoundTrips
from training.configuration.learning import CurriculumConfig
from training.configuration.section import ConfigError
from training.curation.filters import comes_back_readable
from training.lessons.teaching import both_ways
from training.outcomes import exact_interval

VERDICTS = {"e": "certified", "d": "refuted", "u": "timeout", "m": "malformed", "v": "vacuous", "x": "error", "l": "l"}


def problem(name: str, dataset: str, goal: str, meta: dict[str, Any]) -> Problem:
    return Problem(name, dataset, "", "", formal=Formal((), goal), meta=meta)


def judged(fates: str, category: int = 1, dataset: str = "autoeval-pl", prefix: str = "p") -> list[Trace]:
    """One trace for each letter: equivalent, different, undecided, malformed, vacuous, error of the critic, leak."""
    return [
        Trace(
            f"{prefix}{category}/{n}#0",
            problem(f"{prefix}{category}/{n}", dataset, f"p{n}", {"category": category, "binding": n % 2}),
            "equivalence",
            json.dumps({"language": "propositional", "left": f"p{n}", "right": f"p{n}"}),
            ending="leak" if letter == "l" else "arrived",
            judgement=Judgement("malformed" if letter == "l" else VERDICTS[letter], "", None, ""),
        )
        for n, letter in enumerate(fates)
    ]


# -- scores


def test_every_fate_is_counted_under_its_own_name():
    assert [fate(trace) for trace in judged("eduml vx".replace(" ", ""))] == [
        "equivalent", "different", "undecided", "malformed", "leaked", "vacuous", "errors",
    ]  # fmt: skip


def test_the_rates_are_those_worked_out_by_hand():
    (record,) = scores_of(judged("eeeedddumlx"))["rows"]
    assert record["n"] == 10
    assert record["score"] == 0.4
    assert record["score_bounds"] == [0.4, 0.5]
    assert record["compliance"] == 8 / 9
    assert record["errors"] == 1


def test_what_the_critic_failed_on_counts_for_nothing():
    record = counts_record({"errors": 3})
    assert (record["n"], record["score"], record["score_interval"]) == (0, None, [0.0, 1.0])


def test_a_leak_is_no_success_and_no_fault_of_syntax():
    (record,) = scores_of(judged("el"))["rows"]
    assert (record["score"], record["compliance"]) == (0.5, 1.0)


def test_the_parameterised_score_has_a_row_for_each_category():
    rows = scores_of([*judged("ed", 3), *judged("ee", 1)])["rows"]
    assert [(row["category"], row["score"]) for row in rows] == [(1, 1.0), (3, 0.5)]


def test_other_keys_of_the_problems_can_be_categories():
    rows = scores_of(judged("eded"), by="binding")["rows"]
    assert {row["category"]: row["score"] for row in rows} == {0: 1.0, 1: 0.0}
    assert not scores_of(judged("ed"), by="states")["rows"]


def test_the_calibrated_score_gives_every_category_the_same_weight():
    traces = [*judged("eeee", 1), *judged("ed", 2), *judged("dddddddd", 3)]
    assert scores_of(traces)["calibrated"]["score"] == 0.5
    assert scores_of(traces, up_to=2)["calibrated"]["score"] == 0.75
    assert scores_of(traces)["calibrated"]["interval_method"] == "stratified"
    balanced = scores_of([*judged("ee", 1), *judged("ed", 2)])["calibrated"]
    assert (balanced["interval_method"], balanced["score_interval"]) == ("exact", list(exact_interval(3, 4)))


def test_undecided_trips_leave_the_calibrated_score_between_two_bounds():
    assert scores_of([*judged("eu", 1), *judged("uu", 2)])["calibrated"]["score_bounds"] == [0.25, 1.0]


def test_nothing_scored_has_no_score():
    assert scores_of([])["calibrated"]["score"] is None


def test_exact_intervals_are_those_of_clopper_and_pearson():
    low, high = exact_interval(0, 10)
    assert low == 0
    assert math.isclose(high, 1 - 0.025 ** (1 / 10))
    assert exact_interval(0, 0) == (0.0, 1.0)


def test_stratified_intervals_do_not_take_a_stratum_for_certain():
    assert stratified_interval([(5, 5), (0, 5)]) == pytest.approx(exact_interval(5, 10))
    low, high = stratified_interval([(50, 50), (0, 1)])
    assert low < 0.1 < 0.9 < high


@pytest.mark.parametrize("count", [0, 1, 4])
def test_stratified_intervals_hold_the_mean_however_small_the_strata(count):
    strata = [(count, 5 if n % 2 else 4) for n in range(41)]
    low, high = stratified_interval(strata)
    assert low <= sum(count / n for count, n in strata) / 41 <= high
    assert high - low < 0.15


def test_data_sets_are_reported_apart():
    report = score_report([*judged("ee"), *judged("dd", dataset="autoeval-re")])
    rates = {name: scores["calibrated"]["score"] for name, scores in report.items()}
    assert rates == {"autoeval-pl": 1.0, "autoeval-re": 0.0}
    assert pooled_scores([report]) == report


def test_repeated_runs_have_a_deviation():
    (row,) = repeated([judged("ee"), judged("ed"), judged("dd")])
    assert (row["runs"], row["score"], row["score_sd"]) == (3, 0.5, 0.5)
    assert (row["compliance"], row["compliance_sd"]) == (1.0, 0.0)
    with pytest.raises(ValueError, match="same problems"):
        repeated([judged("e"), judged("e", prefix="q")])


# -- false positives


def trips(num: int, script: list[str], **keys: Any) -> list[Trace]:
    problems = list(generate(PropositionalFormulas(**keys), num, seed=1))
    bare = RoundTripSettings(prompt="bare")
    return judge_all(travel(ScriptedPolicy(script), problems, bare, Sampling(), seed=1))


def judge_all(traces: Iterable[Trace]) -> list[Trace]:
    return [with_judgement(trace, judge_record(trace.record())) for trace in traces]


def test_a_policy_that_always_hallucinates_one_formula_is_found_out_by_shuffling():
    problems = list(generate(PropositionalFormulas(categories=(3,)), 12, seed=1))
    own = [problem.formal.goal for problem in problems if problem.formal]
    honest = trips(12, ["some words about it"] * 12 + own, categories=(3,))
    attempts = judge_all(shuffled(honest, seed=1))
    rate = hallucination_rate(attempts)
    assert (rate["n"], rate["hallucinated"], rate["left_out"]) == (12, 0, 0)
    assert 0 < rate["upper"] < 0.3
    assert {attempt.id.rpartition("/")[2] for attempt in attempts} == {"crossed", "originals"}


def test_pairs_that_mean_the_same_anyway_are_no_hallucinations():
    def pair(name: str, crossed: str, originals: str) -> list[Trace]:
        said = {"crossed": crossed, "originals": originals}
        bare = Trace("", problem("p", "d", "p1", {}), "equivalence", "")
        return [replace(bare, id=f"{name}/{k}", judgement=Judgement(v, "", None, "")) for k, v in said.items()]

    listed = [
        *pair("a", "certified", "certified"),
        *pair("b", "certified", "refuted"),
        *pair("c", "timeout", "refuted"),
        *pair("d", "refuted", "timeout"),
    ]
    rate = hallucination_rate(listed)
    assert [rate[key] for key in ("n", "hallucinated", "undecided", "left_out")] == [2, 1, 1, 2]
    assert (rate["rate"], rate["upper"]) == (0.5, 1.0)


# -- a model as verifier


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("They agree.\nAnswer: yes", "yes"),
        ("Answer: no", "no"),
        ("...\n**Answer:** Yes.", "yes"),
        ("[Answer] No, they differ; yes would be wrong", "no"),
        ("Final answer: yes\n\n", "yes"),
        ("<think>Answer: no</think>Answer: yes", "yes"),
        ("Answer: yes\nOr perhaps not.", "unreadable"),
        ("The answer is yes", "yes"),
        ("Answer: yes\nAnswer: no", "unreadable"),
        ("Answer: maybe", "unreadable"),
        ("Answer: yesterday", "unreadable"),
        ("", "unreadable"),
    ],
)
def test_a_verifier_gives_one_answer(text, said):
    assert read_answer(text) == said


def test_an_opinion_is_asked_for_each_pair_and_the_formulas_stand_in_the_question():
    pairs = [VerifiedPair("a", Language.REGEX, "0*", "(0)*"), VerifiedPair("b", Language.PROPOSITIONAL, "p1", "¬p1")]
    policy = ScriptedPolicy(["Answer: yes", Completion("Answer: ", (), False)])
    said = list(opinions(policy, pairs, Sampling(), seed=1))
    assert [opinion.said for opinion in said] == ["yes", "unreadable"]
    assert "First: p1\nSecond: ¬p1" in said[1].prompt


def test_f1_is_worked_out_against_the_critic_and_unreadable_answers_count():
    traces = judged("eeeddu")
    said = ["yes", "no", "unreadable", "yes", "unreadable", "yes"]
    score = verifier_score({trace.id: word for trace, word in zip(traces, said, strict=True)}, traces)
    assert [score[cell] for cell in ("tp", "fn", "fp", "tn")] == [1, 1, 1, 0]
    assert [score[cell] for cell in ("unreadable_equivalent", "unreadable_different", "undecided")] == [1, 1, 1]
    assert score["f1"] == 2 / (2 + 1 + 2)
    assert score["n"] == 5


def test_f1_comes_by_category_and_is_nothing_where_nothing_is_equivalent():
    traces = [*judged("e", 1), *judged("d", 2)]
    rows = verifier_rows({trace.id: "no" for trace in traces}, traces)
    assert [(row["category"], row["f1"]) for row in rows] == [(1, 0.0), (2, None)]


def test_a_verifier_is_asked_about_what_came_back():
    assert [pair.id for pair in verifier_pairs(judged("edmlxu"))] == ["p1/0#0", "p1/1#0", "p1/5#0"]


# -- other benchmarks


def test_the_papers_tables_give_the_correlations_that_its_text_states():
    found = {row["benchmark"]: row for row in compared(published_tables())}
    assert len(found) == 10
    strong = ("FOLIO(R; NL)", "FOLIO(R; FOL)", "FOLIO(A)", "LogiEval(R; PL)", "HumanEval(A)")
    assert all(found[name]["correlation"]["rho"] >= 0.7 for name in strong)
    assert 0.5 <= found["LogiEval(R; FOL)"]["correlation"]["rho"] < 0.7
    assert all(found[name]["correlation"]["p"] <= 0.05 for name in (*strong, "LogiEval(R; FOL)"))
    assert all(row["predictive_power"]["power"] > 0.5 for row in found.values())
    assert round(found["FOLIO(R; NL)"]["predictive_power"]["power"], 3) == 0.892


def test_the_papers_tables_have_sixteen_models_each():
    tables = [table["scores"] for table in published().values() if "scores" in table]
    assert {len(table) for table in tables} == {16}
    models = {model for table in tables for model in table}
    assert len(models) == 16
    assert published()["BBH"]["reported"].keys() == models - {"GPT-4o-mini"}
    assert {name.removesuffix(", elsewhere") for name in published()["HumanEval"]["reported"]} == models


def test_predictive_power_is_the_definition_counted_out():
    a, b = {"x": 1.0, "y": 2.0, "z": 2.0}, {"x": 0.5, "y": 0.1, "z": 0.7}
    pairs = [(one, other) for one, other in itertools.permutations(a, 2) if a[one] >= a[other]]
    agreed = [b[one] >= b[other] for one, other in pairs]
    found = predictive_power(a, b)
    assert found["power"] == sum(agreed) / len(agreed) == 0.5
    assert found["ties"] == 1


def test_a_benchmark_predicts_itself():
    table = {"a": 0.1, "b": 0.5, "c": 0.9}
    assert predictive_power(table, table)["power"] == 1.0
    assert math.isclose(correlation(table, table)["rho"], 1.0)


def test_too_few_models_in_common_are_refused():
    with pytest.raises(ConfigError, match="share 1 models"):
        correlation({"a": 0.1, "b": 0.2}, {"b": 0.1, "c": 0.5})


# -- figures and texts


def test_figures_are_the_same_bytes_each_time():
    trips = scores_of([*judged("ed", 1), *judged("dd", 2)])
    verified = {"rows": [{"dataset": "PL(12)", "category": 1, **verifier_record({"tp": 1, "fp": 1})}]}
    found = [read_measured({"benchmark": "b", "model": "one", "by": "operators", "scores": {"PL(12)": trips}}, "here")]
    found.append(read_measured({"benchmark": "verify", "model": "other", "verifier": verified}, "here"))
    drawn = joined_files(found)["scores.svg"]
    assert "<svg" in drawn
    assert drawn == joined_files(found)["scores.svg"]


def test_a_negation_more_hardly_changes_the_similarity_of_texts():
    pytest.importorskip("sacrebleu")
    pytest.importorskip("rouge_score")
    pytest.importorskip("nltk")
    from tools.autoeval.premises import similarities

    said = "the weather status was sunny yesterday and is raining today"
    found = similarities([said.replace("is raining", "is not raining")], [said])
    assert round(found["bleu"], 2) == 0.74  # as the paper says in section 4.2
    assert found["rouge"] > 0.9
    assert found["meteor"] > 0.9


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("the dogs bark", 1 - 0.5 * (1 / 3) ** 3),
        ("the dog barks", 1 - 0.5 * (1 / 3) ** 3),
        ("the hounds bark", 2 / 3 * (1 - 0.5)),
    ],
)
def test_meteor_pairs_stems_and_no_synonyms(said, score):
    pytest.importorskip("nltk")
    from tools.autoeval.premises import meteor

    assert meteor([said], ["the dogs bark"]) == pytest.approx(score)


def test_a_missing_package_is_named_with_the_remedy(monkeypatch):
    from tools.autoeval import premises as text_similarity

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(text_similarity, "import_module", missing)
    with pytest.raises(InputError, match=r"sacrebleu.*certistar\[autoeval\]"):
        text_similarity.bleu(["a"], ["a"])
    with pytest.raises(InputError, match="0 texts"):
        text_similarity.bleu([], [])


# -- training


def test_a_certified_trip_teaches_both_ways_with_its_certificate():
    (trace,) = trips(1, ["words that are enough", "p1"], categories=(0,))
    told, written = both_ways(trace)
    assert (told["completion"], written["completion"]) == ("words that are enough", "p1")
    assert told["prompt"].startswith("say: ")
    assert written["prompt"] == "write: words that are enough\n"
    assert {told["certificate"], written["certificate"]} == {trace.judged.digest}
    assert [example["id"].rpartition("/")[2] for example in (told, written)] == ["informalise", "autoformalise"]
    assert [example.get("direction") for example in both_ways(trace, "autoformalise")] == ["autoformalise"]


def test_the_digest_is_that_of_the_trips_certificate():
    goal = next(iter(generate(PropositionalFormulas(categories=(0,)), 1, seed=1))).formal.goal  # type: ignore[union-attr]
    (trace,) = trips(1, ["some words", goal], categories=(0,))
    assert {example.get("certificate") for example in both_ways(trace)} == {trace.judged.digest}


def test_what_was_thought_is_not_learnt():
    problems = list(generate(PropositionalFormulas(categories=(0,)), 1, seed=1))
    script = [Completion("<think>hm</think>words", (1, 2, 3), True), Completion("p1", (4, 5), True)]
    (made,) = travel(ScriptedPolicy(script), problems, RoundTripSettings(prompt="bare"), Sampling(), seed=1)
    told, written = both_ways(made)
    assert (told["completion"], told["completion_ids"]) == ("words", [])
    assert written["completion_ids"] == [4, 5]


def test_a_leak_teaches_nothing_whatever_kept_it():
    problems = list(generate(PropositionalFormulas(categories=(2,)), 1, seed=1))
    goal = problems[0].formal.goal  # type: ignore[union-attr]
    settings = RoundTripSettings(prompt="bare", leaks="count")
    (made,) = travel(ScriptedPolicy([goal, goal]), problems, settings, Sampling(), seed=1)
    assert both_ways(made) == []


def test_trips_of_several_rounds_teach_nothing():
    problems = list(generate(PropositionalFormulas(categories=(0,)), 1, seed=1))
    settings = RoundTripSettings(prompt="bare", rounds=2)
    (made,) = travel(ScriptedPolicy(["a", "p1", "b", "p1"]), problems, settings, Sampling(), seed=1)
    with pytest.raises(InputError, match="rounds"):
        both_ways(made)


def test_the_strategy_yields_records_and_examples():
    problems = list(generate(PropositionalFormulas(categories=(0,)), 2, seed=1))
    strategy = RoundTrips(RoundTripSettings(prompt="bare"))
    records = list(strategy.attempts(ScriptedPolicy(["a", "b", "p1", "p2"]), problems, Sampling(), seed=1))
    assert [trace.legs[1].text for trace in records] == ["p1", "p2"]
    assert len(strategy.examples(records, seed=0)) == 4
    assert strategy.shortened(records[0]) == []


def test_several_rounds_can_be_shortened_to_each_number():
    problems = list(generate(PropositionalFormulas(categories=(0,)), 1, seed=1))
    strategy = RoundTrips(RoundTripSettings(prompt="bare", rounds=2))
    (record,) = strategy.attempts(ScriptedPolicy(["a", "p1", "b", "p2"]), problems, Sampling(), seed=1)
    assert [len(cut.legs) for cut in strategy.shortened(record)] == [2, 4]


def test_the_naive_arm_keeps_whatever_can_be_read():
    assert [comes_back_readable(trace) for trace in judged("edumlx")] == [True, True, True, False, False, False]


def test_a_curriculum_ends_with_all_categories_and_starts_with_the_easiest():
    plan = CurriculumConfig(first=2)
    rounds = [plan.of_round(number, range(10), 4, seed=1) for number in range(4)]
    assert rounds[0] == [0, 1]
    assert {category for listed in rounds for category in listed} == set(range(10))
    assert [max(listed) for listed in rounds] == sorted(max(listed) for listed in rounds)
    assert rounds[3][-1] == 9
    assert any(min(listed) < rounds[number][-1] for number, listed in enumerate(rounds[1:]))
    assert plan.of_round(2, range(10), 4, seed=1) == rounds[2]


def test_one_round_draws_from_all_categories():
    assert CurriculumConfig().of_round(0, (3, 1, 2), 1, seed=0) == [1, 2, 3]


@pytest.mark.parametrize("keys", [{"first": 4}, {"first": 0}, {"rehearsed": 1.0}])
def test_a_curriculum_that_cannot_be_is_refused(keys):
    with pytest.raises(ValueError, match=next(iter(keys))):
        CurriculumConfig(**keys).of_round(0, (1, 2, 3), 2, seed=0)


# -- a tiny model's lessons


def test_lessons_teach_both_directions_of_each_formula():
    problems = list(generate(PropositionalFormulas(categories=(2,)), 10, seed=1))
    taught = list(bare_lessons(problems, seed=0))
    assert len(taught) == 20
    for told, written in zip(taught[::2], taught[1::2], strict=True):
        assert told.prompt == f"say: {written.completion}\n"
        assert written.prompt == f"write: {told.completion}\n"


def test_a_share_of_the_lessons_is_wrong_on_purpose():
    problems = list(generate(PropositionalFormulas(categories=(4,)), 100, seed=1))
    right, flawed = (list(bare_lessons(problems, seed=0, error_rate=rate)) for rate in (0.0, 0.5))
    wrong = sum(one.completion != other.completion for one, other in zip(right, flawed, strict=True))
    assert 60 <= wrong <= 120
    assert [lesson.prompt for lesson in right] == [lesson.prompt for lesson in flawed]


def test_a_private_code_comes_back_certified_and_is_still_found_out():
    problems = list(generate(PropositionalFormulas(categories=(1,)), 8, seed=1))
    own = [problem.formal.goal for problem in problems if problem.formal]
    num_joined = sum(len(problem.meta["propositions"]) == 2 for problem in problems)
    assert num_joined > 3
    confused = [word.replace("both", "#").replace("either", "both").replace("#", "either").replace(" and ", " % ")
                .replace(" or ", " and ").replace(" % ", " or ")
                for word in (describe(text, Language.PROPOSITIONAL) for text in own)]  # fmt: skip
    honest = [describe(text, Language.PROPOSITIONAL) for text in own]
    for said, expected in ((confused, "wrong"), (honest, "right")):
        made = trips(8, [*said, *own], categories=(1,))
        found = described_wrongly(made, judge_all(described(made)))
        assert found["certified"] == 8
        assert found[expected] == (num_joined if expected == "wrong" else 8)
