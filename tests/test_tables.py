from critics.problem import Problem
from training.reporting.evaluations import Mode, read_mode
from training.reporting.tables import table


def problems() -> list[Problem]:
    made = [Problem(f"s{i}", "syllogism", "", "", meta={"condition": c}) for i, c in enumerate("aabb")]
    return [*made, *(Problem(f"w{i}", "wason", "", "") for i in range(2))]


def mode(right: list[int]) -> Mode:
    outcomes = {"right": right, "certified": [0, 1, 0, 0, 0, 1], "no_answer": [1, 0, 0, 0, 0, 0]}
    return read_mode({"decoding": "free", "seed": 3, "outcomes": {"ids": list("abcdef"), **outcomes}})


def cells(text: str) -> dict[str, list[str]]:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return {row[0]: row[1:] for row in rows}


def test_a_row_for_each_data_set_and_for_each_of_several_conditions():
    rows = cells(table(problems(), {"guided": mode([1, 1, 0, 1, 0, 1])}))
    assert list(rows) == ["problems", "---", "syllogism", "syllogism, a", "syllogism, b", "wason"]
    assert [row[0] for row in rows.values()] == ["n", "---", "4", "2", "2", "2"]
    assert rows["syllogism"][1].startswith("75.0% (")
    assert rows["syllogism, a"][2:] == ["50.0%", "50.0%"]


def test_two_arms_are_compared_answer_by_answer():
    modes = {"guided": mode([1, 1, 1, 1, 0, 1]), "unguided": mode([0, 1, 0, 1, 1, 1])}
    rows = cells(table(problems(), modes))
    assert rows["problems"][-2:] == ["guided - unguided", "p"]
    assert rows["syllogism"][-2].startswith("+50.0% (")
    assert rows["syllogism"][-1] == "0.500"
    assert rows["wason"][-2].startswith("-50.0% (")
