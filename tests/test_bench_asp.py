import json
import random

import pytest

from critics.formats.asp.control import GuardedControl
from critics.formats.asp.examination import prepare, run
from critics.replay.answer_sets.language import AspError
from tools.bench.asp import FreshControls, pigeons, program
from tools.bench.catalogue import bench


def test_asp_has_the_rows_of_the_design(capsys: pytest.CaptureFixture[str]) -> None:
    bench("asp", True, repeats=1)
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert (rows["speedup_vs_fresh"]["unit"], rows["speedup_vs_fresh"]["n"]) == ("ratio", 10)
    assert rows["speedup_vs_fresh"]["value"] > 1
    assert rows["core_ms"]["value"] > 0
    assert 0 < rows["kill_and_respawn_s"]["value"] < 60


def test_both_sides_say_the_same_of_programs_of_the_size_that_is_promised() -> None:
    num_tests = []
    for seed in range(60):
        prepared = prepare(program(random.Random(f"bench asp {seed}")))
        assert 10 <= len(prepared.submission.program.rules) <= 20
        assert run(prepared, GuardedControl) == run(prepared, FreshControls)
        num_tests.append(len(prepared.submission.tests))
    assert 3.2 < sum(num_tests) / len(num_tests) < 3.8


def test_more_pigeons_than_the_bound_on_grounding_are_refused() -> None:
    prepare(pigeons(28))
    with pytest.raises(AspError, match="ground instances"):
        prepare(pigeons(40))
