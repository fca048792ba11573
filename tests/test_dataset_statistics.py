"""What generated data sets are made of, counted on sets that are small enough to know."""

from critics.problem import Formal, Problem
from rollout.formulas.generator import generate
from rollout.formulas.languages import FirstOrderFormulas, PropositionalFormulas, RegularExpressions
from tools.autoeval.data_sets import PAPER, said, statistics_of


def pl(*texts: str) -> list[Problem]:
    meta = {"language": "propositional", "category": 1}
    return [Problem(str(i), "autoeval-pl", "", "", formal=Formal((), text), meta=meta) for i, text in enumerate(texts)]


def test_repeats_and_constant_formulas_are_found_where_there_are_any():
    found = statistics_of(pl("p1 ∧ p2", "p3 ∧ p1", "p1 ∧ p2", "p1 ∨ ¬p1"))
    assert (
        found["n"],
        found["repeats"],
        found["repeats_but_for_names"],
        found["constant"],
    ) == (4, 1, 2, 1)
    assert found["skeletons"] == 2 / 4


def test_with_one_name_for_all_texts_differ_by_their_shape_alone():
    texts = (
        "greet(Ann, x1) ∧ swim(Bob)",
        "swim(Bob, x2) ∧ bake(Ann)",
        "swim(Bob) ∧ bake(Ann)",
        "pred1(p1) ∧ pred2(p7)",
    )
    assert statistics_of(pl(*texts))["skeletons"] == 2 / 4


def test_a_category_that_has_too_few_is_told():
    found = statistics_of(list(generate(PropositionalFormulas(categories=(0, 5), split="train"), 40, seed=0)), (0, 5))
    assert found["short"] == {"0": found["fewest_in_one"]}
    assert f"no more formulas: 0 ({found['fewest_in_one']})" in "\n".join(said("autoeval-pl", found))


def test_generated_sets_are_balanced_and_have_neither():
    found = statistics_of(list(generate(PropositionalFormulas(categories=(3, 4), distinct="names"), 40, seed=0)))
    assert (found["fewest_in_one"], found["most_in_one"]) == (20, 20)
    assert found["repeats"] == found["repeats_but_for_names"] == found["constant"] == 0


def test_binding_quantifiers_are_a_stratum():
    found = statistics_of(list(generate(FirstOrderFormulas(categories=(5, 6)), 40, seed=0)))
    assert found["binding"] == {"0": 0.25, "1": 0.25, "2": 0.25, "3": 0.25}
    assert any("bind something: 0: 25%" in line for line in said("autoeval-fol", found))


def test_the_papers_figures_stand_beside_ours():
    found = statistics_of(list(generate(RegularExpressions(categories=(5, 6)), 10, seed=0)))
    assert said("autoeval-re", found)[-1] == f"the paper's: {PAPER['autoeval-re']}"
    assert found["most_states"] >= found["median_states"] >= 1
