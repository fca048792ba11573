"""The statistics against values worked out elsewhere, and against their own promises."""

import math
import random

import pytest

from training.outcomes import (
    Proportion,
    compare_paired,
    detectable,
    detectable_difference,
    holm,
    mcnemar,
    mean_interval,
    seeds_interval,
    sign_flip,
    widest,
)


def test_wilson_interval_is_the_textbook_one():
    # Newcombe (1998), Statistics in Medicine 17, table I: 81 of 263 and 15 of 148, method 3.
    assert Proportion(81, 263).interval == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert Proportion(15, 148).interval == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert Proportion(0, 20).interval == pytest.approx((0.0, 0.1611), abs=5e-5)


def test_proportion_of_nothing_is_unknown_and_not_zero():
    assert math.isnan(Proportion(0, 0).rate)
    assert Proportion(0, 0).interval == (0.0, 1.0)


@pytest.mark.parametrize(("count", "n"), [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(count, n):
    with pytest.raises(ValueError, match="must lie in"):
        Proportion(count, n)


def test_mcnemar_is_the_binomial_tail_counted_by_hand():
    # 9 discordant pairs, 8 one way: 2 * (C(9,8) + C(9,9)) / 2^9 = 20 / 512.
    assert mcnemar([1] * 8 + [-1] + [0] * 50) == pytest.approx(20 / 512)
    assert mcnemar([1] * 5) == pytest.approx(2 / 32)


def test_mcnemar_without_discordant_pairs_finds_nothing():
    assert mcnemar([0] * 30) == 1.0
    assert mcnemar([1, -1] * 4) == 1.0


def enumerated_sign_flip(differences: list[int]) -> float:
    sums = [0]
    for difference in differences:
        sums = [total + sign * difference for total in sums for sign in (-1, 1)]
    return sum(abs(total) >= abs(sum(differences)) for total in sums) / len(sums)


@pytest.mark.parametrize("seed", range(6))
def test_sign_flip_equals_the_enumeration_of_all_sign_patterns(seed):
    rng = random.Random(seed)
    differences = [rng.randint(-2, 2) + rng.randint(0, 1) for _ in range(11)]
    assert sign_flip(differences) == pytest.approx(enumerated_sign_flip(differences))


def test_sign_flip_of_unit_differences_is_mcnemar():
    differences = [1] * 13 + [-1] * 4 + [0] * 20
    assert sign_flip(differences) == pytest.approx(mcnemar(differences))


def test_sign_flip_of_nothing_is_one():
    assert sign_flip([]) == sign_flip([0, 0]) == pytest.approx(1.0)


def test_comparison_reports_difference_seed_by_seed():
    a, b, seeds = [1, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1], [4, 4, 4, 4, 2, 2]
    found = compare_paired(a, b, seeds, test="mcnemar")
    assert found.difference == pytest.approx(1 / 6)
    assert found.per_seed == (-0.5, 0.5)  # seed 2, then seed 4
    assert (found.n, found.test) == (6, "mcnemar")
    assert found.interval[0] <= found.difference <= found.interval[1]
    assert found == compare_paired(a, b, seeds, test="mcnemar")


def test_swapping_the_arms_negates_the_comparison():
    rng = random.Random(5)
    a, b = ([rng.randint(0, 1) for _ in range(200)] for _ in range(2))
    one, other = (compare_paired(x, y, [0] * 200, test="mcnemar") for x, y in ((a, b), (b, a)))
    assert one.difference == -other.difference
    assert one.p == other.p
    assert one.interval == pytest.approx([-end for end in reversed(other.interval)], abs=0.011)


def test_bootstrap_agrees_with_the_normal_interval_where_n_is_large():
    differences = [1] * 300 + [0] * 600 + [-1] * 100
    centre, deviation = 0.2, math.sqrt(0.4 - 0.04)
    half = 1.96 * deviation / math.sqrt(1000)
    assert mean_interval(differences, [0] * 1000, bound=1) == pytest.approx((centre - half, centre + half), abs=0.002)


def test_resampling_within_seeds_ignores_differences_between_them():
    differences, seeds = [1] * 99 + [0] + [-1] * 99 + [0], [0] * 100 + [1] * 100
    low, high = mean_interval(differences, seeds, bound=1)
    pooled_low, pooled_high = mean_interval(differences, [0] * 200, bound=1)
    assert high - low < (pooled_high - pooled_low) / 5


def test_interval_covers_the_truth_about_as_often_as_it_says():
    rng = random.Random(7)
    num_covering, num_trials = 0, 300
    for _ in range(num_trials):
        a = [int(rng.random() < 0.6) for _ in range(120)]
        b = [int(rng.random() < 0.4) for _ in range(120)]
        low, high = compare_paired(a, b, [0, 1] * 60, test="mcnemar", replicates=1_000).interval
        num_covering += low <= 0.2 <= high
    assert 0.91 <= num_covering / num_trials <= 0.985


def test_pairs_that_never_vary_still_leave_doubt():
    found = compare_paired([1] * 300, [1] * 300, [0] * 300, test="mcnemar")
    assert (found.difference, found.p) == (0.0, 1.0)
    assert found.detectable == pytest.approx(0.0262, abs=0.003)  # six pairs that differ, all in one direction
    # A rate below 1.2% goes unseen in 300 pairs once in forty: 1 - 0.025^(1/300).
    assert found.interval == pytest.approx((-0.01222, 0.01222), abs=1e-5)
    sure = compare_paired([1] * 300, [0] * 300, [0] * 300, test="mcnemar")
    assert sure.interval[0] < sure.interval[1] == 1.0
    assert sure.p < 1e-50


def test_detectable_difference_is_found_four_times_in_five():
    # A discordance of 0.3 with the difference that the formula promises for n = 400.
    promised = detectable_difference([1, -1] * 60 + [0] * 280)
    assert promised == pytest.approx(2.8016 * math.sqrt(0.3 * 400 / 399) / 20, rel=1e-4)
    rng = random.Random(3)
    up = (0.3 + promised) / 2
    draws = [[1 if (u := rng.random()) < up else -1 if u < 0.3 else 0 for _ in range(400)] for _ in range(300)]
    power = sum(mcnemar(draw) < 0.05 for draw in draws) / len(draws)
    assert 0.70 <= power <= 0.88


@pytest.mark.parametrize(("n", "differing"), [(30, 1), (300, 0), (300, 90)])
def test_what_mcnemar_is_said_to_find_it_finds_four_times_in_five(n, differing):
    # Attack: 30 answers, one of which differs: a normal approximation promises to find 9.3 points, and cannot.
    seen = [1] * (differing // 2) + [-1] * (differing - differing // 2) + [0] * (n - differing)
    promised = detectable(len(seen), sum(map(abs, seen)) / len(seen), most=1.0)
    share = max(differing / n, promised)
    rng, up = random.Random(3), (share + promised) / 2
    draws = [[1 if (u := rng.random()) < up else -1 if u < share else 0 for _ in range(n)] for _ in range(400)]
    assert 0.74 <= sum(mcnemar(draw) < 0.05 for draw in draws) / len(draws) <= 0.88


def test_one_pair_tells_nothing_of_spread():
    assert compare_paired([1], [0], [0], test="mcnemar").detectable is None


def test_what_is_not_paired_is_refused():
    with pytest.raises(ValueError, match="not paired"):
        compare_paired([1, 0], [1], [0, 0], test="mcnemar")
    with pytest.raises(ValueError, match="no pairs"):
        compare_paired([], [], [], test="mcnemar")
    with pytest.raises(ValueError, match=r"integers in 0\.\.1, not -1"):
        compare_paired([-1], [0], [0], test="mcnemar")


def test_holm_is_the_textbook_correction_and_keeps_the_order():
    # Holm (1979): 0.01 * 4, 0.02 * 3, 0.03 * 2 raised to the one before, 0.04 raised as well.
    assert holm([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([]) == []


def test_seeds_that_disagree_widen_the_interval_and_one_seed_has_none():
    agreeing, disagreeing = [1, 0, 0, 0] * 100, [1, 0] * 100 + [0, 0] * 100
    seeds = [0] * 200 + [1] * 200
    within, over = mean_interval(disagreeing, seeds, bound=1), seeds_interval(disagreeing, seeds)
    assert over is not None
    assert over[0] < within[0] < within[1] < over[1]
    assert over[0] <= 0 + 0.01  # both draws may be the seed without any difference
    assert seeds_interval(agreeing, [0] * 400) is None


def test_alike_answers_under_all_seeds_are_no_certainty():
    found = compare_paired([1, 0, 1, 0], [1, 0, 1, 0], [0, 0, 1, 1], test="mcnemar")
    assert found.interval_seeds == (0.0, 0.0)
    assert widest(found.interval, found.interval_seeds) == found.interval
    assert widest(found.interval, found.interval_seeds)[0] < 0 < widest(found.interval, found.interval_seeds)[1]
