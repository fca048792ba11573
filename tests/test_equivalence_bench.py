"""The bench of equivalences: its rows, and counterparts that are formulas of the same language."""

import json
import random

import pytest

from critics.formats.equivalence.critic import decide, read_pair
from critics.formats.equivalence.language import Language, read_formula, read_regex
from critics.formats.equivalence.sampling import Different, Equivalent
from critics.replay.equivalences.regex import write_regex
from critics.replay.first_order.reader import canonical
from critics.replay.first_order.syntax import flattened
from tools.bench.catalogue import bench
from tools.bench.counterparts import formula_counterpart, regex_counterpart


def test_the_rows_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    bench("equivalence", True, repeats=1)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert {"propositional_ms", "first_order_ms", "first_order_p99_ms", "regex_ms", "strings_per_s"} <= set(rows)
    assert (rows["first_order_ms"]["unit"], rows["strings_per_s"]["unit"]) == ("ms", "1/s")
    assert rows["first_order_undecided"]["value"] <= 0.05
    assert rows["first_order_ms"]["value"] <= rows["first_order_p99_ms"]["value"]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (Language.PROPOSITIONAL, "¬(p1 ∧ ¬p2 ∧ p3) ∨ (p2 ∧ ¬¬p4)"),
        (Language.FIRST_ORDER, "∀x1. ∃x2. (pred1(x1, x2) ∨ ¬(pred2(x1) ∧ pred2(p3)))"),
    ],
)
def test_half_of_the_counterparts_mean_the_same(language: Language, text: str) -> None:
    formula, found = read_formula(text, language).formula, list[type]()
    for number in range(60):
        other = formula_counterpart(random.Random(number), formula)
        assert other == formula_counterpart(random.Random(number), formula)
        assert flattened(read_formula(canonical(other), language).formula) == flattened(other)
        found.append(type(decide(read_pair(language, text, canonical(other)))))
    assert 20 <= found.count(Equivalent) <= 45
    assert found.count(Different) >= 15


def test_the_counterpart_of_an_expression_is_one() -> None:
    regex = read_regex("(0*1|10)*1(01*)*")
    others = {write_regex(regex_counterpart(random.Random(number), regex)) for number in range(30)}
    assert len(others) > 5
    assert all(read_regex(other) for other in others)
