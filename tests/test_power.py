"""What a planned comparison can find, before there is anything to compare."""

from pathlib import Path

import pytest

from training.configuration.run import load_run
from training.outcomes import detectable, power
from training.planning.forecast import said

DEMO = Path(__file__).parent.parent / "configs" / "guided_demo.yaml"


def test_power_is_the_sum_over_all_outcomes_counted_by_hand():
    # Six pairs that all differ: only 6:0 has a p below 0.05 (2 / 64), which a share of 0.9 gives in 0.9^6 + 0.1^6.
    assert power(6, 1.0, 0.8) == pytest.approx(0.9**6 + 0.1**6)
    assert power(5, 1.0, 1.0) == 0.0  # 2 / 32 is above the level
    assert power(6, 1.0, 0.8, level=0.03) == 0.0


def test_power_under_no_difference_stays_below_the_level_and_signs_do_not_matter():
    assert power(300, 0.4, 0.0) <= 0.05
    assert power(300, 0.4, 0.1) == pytest.approx(power(300, 0.4, -0.1))
    with pytest.raises(ValueError, match="difference"):
        power(300, 0.1, 0.2)


def test_the_detectable_difference_has_the_power_that_it_promises():
    found = detectable(300, 0.4)
    assert found is not None
    assert power(300, 0.4, found) >= 0.8 > power(300, 0.4, found - 2e-4)
    assert detectable(5, 0.4) is None


def test_a_plan_says_what_its_comparison_can_find_and_what_one_seed_cannot():
    for line, level in zip(said(load_run(DEMO))[:2], ("0.05", "0.025"), strict=True):
        assert line.startswith(f"comparison: 900 paired answers, 80% power at level {level}: ")
    lines = said(load_run(DEMO, ["seeds=[0]", "evaluation.num_problems=4"]))
    assert lines[0].startswith("comparison: 4 paired answers, 80% power at level 0.05: nothing if 20%")
    assert "one seed says nothing of how much another training run would differ" in lines[-1]
    assert said(load_run(DEMO.with_name("star_prontoqa_qwen8b.yaml"))) == [] or len(lines) == 3
