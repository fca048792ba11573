import json

import pytest

from tools.bench.catalogue import bench
from tools.bench.cold_masks import mask_times
from tools.bench.decoding import mask_time
from tools.gpu.decoding import FreshOffers, OpeningEngine, OpeningRow, offer_sets, vocabulary


@pytest.mark.slow
def test_decoding_has_the_rows_of_the_design(capsys):
    bench("decoding", True, repeats=1)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    named = {"reference_ratio_n50", "loop_ratio_n50", "gathered_ratio_n50", "forwards_per_token_n50", "mask_us_128k"}
    named |= {"cold_mask_ms_128k", "warm_mask_us_128k", "merged_ratio", "merged_memory_ratio", "outside_ms_256"}
    assert named <= set(rows)
    assert all(row["value"] > 0 for row in rows.values())


def test_the_bench_opens_a_block_after_ten_tokens_and_only_then():
    tokens = vocabulary(2_000)
    engine, row = OpeningEngine(tokens), OpeningRow(FreshOffers("bench", offer_sets(3, 5, seed=0)))
    for _ in range(2):
        for _ in range(10):
            assert engine.mask(row).all_but
            row.push(b"x")
        assert [tokens[i] for i in engine.allowed(row)] == [b" [["]
        assert [tokens[i] for i in engine.forced(row)] == [b" [["]
        row.push(b" [[")
        row.push(row.automaton.words[0][:-2])
        row.push(b"]]")
        assert row.block is None


def test_each_state_is_met_for_the_first_time_once():
    times = mask_times(vocabulary(2_000))
    assert len(times.cold) > 20
    assert len(times.warm) > 2 * len(times.cold)
    assert min(*times.cold, times.tables) > 0


def test_the_time_of_a_mask_is_measured():
    assert mask_time(vocabulary(2_000))() > 0
