import json
from pathlib import Path

import pytest

from critics.errors import InputError
from critics.replay.formula import Literal, Rule
from critics.replay.kernel import Kernel
from tools.bench import real
from tools.bench.catalogue import BENCHES, bench
from tools.bench.kernel import doubling_chain, enumerated, merged_statements
from tools.bench.timing import growth_exponent


def test_kernel_has_the_rows_of_the_design(capsys: pytest.CaptureFixture[str]) -> None:
    bench("kernel", True, repeats=1)
    result = json.loads(capsys.readouterr().out)
    assert result["bench"] == "kernel"
    rows = {row["name"]: row for row in result["rows"]}
    assert {"inference_us_80", "check_us", "chain_exponent"} <= set(rows)
    assert all(list(row) == ["name", "value", "unit", "baseline", "n"] for row in rows.values())
    assert (rows["check_us"]["unit"], rows["check_us"]["n"]) == ("us", 1)
    assert result["provenance"]["peak_memory_mib"] > 0


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("pool", "speedup_2"),
        pytest.param("training", "step_ratio", marks=pytest.mark.slow),
        ("store", "records_per_s"),
    ],
)
def test_other_benches_have_the_rows_of_the_design(name: str, row: str) -> None:
    rows = {row.name: row.value for row in BENCHES[name](1)}
    assert rows[row] > 0
    assert all(value > 0 for value in rows.values())


def test_the_table_has_a_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    bench("kernel", False, repeats=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines][:2] == ["inference_us_80", "inference_speedup_80"]


def test_an_unknown_bench_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="kernel"):
        bench("kernels", True)


def test_the_baseline_offers_what_the_kernel_offers() -> None:
    kernel = Kernel()
    statements = merged_statements(80)
    for statement in statements:
        kernel.add_axiom(statement)
    rules = [statement for statement in statements if isinstance(statement, Rule)]
    num_steps = 0
    while kernel.offers:
        assert set(enumerated(rules, dict.fromkeys(kernel.known))) == set(kernel.offers)
        kernel.infer(next(iter(kernel.offers)))
        num_steps += 1
    assert num_steps > 20
    assert not list(enumerated(rules, dict.fromkeys(kernel.known)))


def test_merged_problems_share_no_name() -> None:
    statements = merged_statements(80)
    assert len(set(statements)) == 80
    assert len({s for s in statements if isinstance(s, Literal)}) >= 5


def test_growth_is_the_slope_on_logarithms() -> None:
    assert growth_exponent([10, 20, 40], [3.0, 12.0, 48.0]) == pytest.approx(2)


def test_a_doubling_chain_is_proved_as_a_graph() -> None:
    assert doubling_chain(200)() > 0


def test_the_bench_of_the_real_model_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real, "OUT", tmp_path)
    with pytest.raises(InputError, match="make real"):
        bench("real", False, repeats=1)
