"""Zebra puzzles, ProverQA and FLD: read, demonstrated and certified, and what must not be."""

import json
from pathlib import Path

import pytest

from critics.errors import InputError
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.recheck.rejudging import recheck
from critics.text.reference import puzzle_decides
from critics.text.translators.translation import TranslationError
from critics.text.translators.zebra import decide, read_zebra
from critics.verdict import verdict_record
from rollout.actor_critic.demonstration import demonstrate
from rollout.problems.zebra import ZebraPuzzles, generate, item, num_solutions
from rollout.published.loaders import load_published
from training.lessons.references import completions

STREET = """There are 3 houses, numbered 1 to 3 from left to right, as seen from the park.
 - Each person has a unique name: `Ada`, `Ben`, `Cleo`
 - Each person keeps a unique animal: `heron`, `otter`, `gecko`

## Clues:
1. Ada is directly left of the otter owner.
2. The person who keeps the heron is Cleo.
3. Cleo is not in the first house.
4. Ben is in the second house.
"""
PROVER = {
    "id": 4,
    "options": ["A) True", "B) False", "C) Uncertain"],
    "answer": "A",
    "context": "Mara rows. Whoever rows is either fit or reckless. Mara is not reckless.",
    "question": "Based on the above information, is the following statement true, false, or uncertain? Mara is fit.",
    "nl2fol": {
        "Mara rows.": "rows(Mara)",
        "Whoever rows is either fit or reckless.": "∀x (rows(x) → (fit(x) ⊕ reckless(x)))",
        "Mara is not reckless.": "¬reckless(Mara)",
    },
    "conclusion_fol": "fit(Mara)",
}
FLD = {
    "hypothesis": "the loom is mossy.",
    "context": "sent1: if something is tidal it is mossy. sent2: the loom is tidal and the fen is wry.",
    "hypothesis_formula": "{B}{a}",
    "context_formula": "sent1: (x): {A}x -> {B}x sent2: ({A}{a} & {C}{b})",
    "world_assump_label": "PROVED",
}


def loaded(tmp_path: Path, *rows: object) -> list[Problem]:
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return list(load_published(path))


def by_formulas(problem: Problem):
    (trace,) = completions([problem], "fol")
    return judge(problem, Attempt(trace.id, problem, "fol", trace.completion))


def zebra_row(context: str, names: tuple[str, ...], **more: object) -> dict[str, object]:
    rows = [[str(house), name, "?"] for house, name in enumerate(names, 1)]
    return {"id": "z", "puzzle": context, "solution": {"header": ["House", "Name", "Animal"], "rows": rows}, **more}


def test_generated_puzzles_have_one_solution_and_no_clue_too_many():
    config = ZebraPuzzles(lists=(2,))
    listed = list(generate(config, 6, seed=2))
    assert item(config, 4, seed=2) == listed[4]
    for problem in listed:
        assert num_solutions(problem.context) == 1
        assert decide(problem.context, problem.question) == problem.answer
        lines = problem.context.splitlines()
        for at in range(lines.index("Clues:") + 1, len(lines)):
            assert num_solutions("\n".join(lines[:at] + lines[at + 1 :])) == 2


def test_a_demonstration_is_certified_by_clingo_and_checked_again_and_its_opposite_is_not():
    problem = item(ZebraPuzzles(houses=(2,), lists=(2,)), 0, seed=1)
    text = demonstrate(problem)
    verdict = judge(problem, attempt := Attempt("a", problem, "asp", text))
    assert (verdict.verdict, verdict.answer) == ("certified", problem.answer)
    report = recheck([{**attempt.record(), "judgement": verdict_record("a", verdict)}])
    assert (report["accepted"], report["rejected"]) == (1, [])
    # The same program beside a text that says otherwise, and nobody told the answer.
    first, second = "in the first house", "in the second house"
    asked = problem.question.replace(first, "#").replace(second, first).replace("#", second)
    blind = Problem("b", "zebra", problem.context, asked)
    other = judge(blind, Attempt("a", blind, "asp", text))
    assert other.verdict != "certified"


def test_a_contradictory_puzzle_proves_nothing():
    context = STREET.replace("4. Ben is in the second house.", "4. Ada is in the second house.\n5. Ben is Ada.")
    with pytest.raises(StopIteration):
        next(read_zebra(context).solutions())
    assert decide(context, "Ada is in the first house.") is None
    assert completions([Problem("a", "zebra", context, "Ada is in the first house.")], "fol") == []


def test_published_grids_become_questions_and_wrong_ones_say_so(tmp_path):
    right, *_ = problems = loaded(tmp_path, zebra_row(STREET, ("Ada", "Ben", "Cleo")))
    assert [(p.answer, p.meta.get("inexpressible")) for p in problems] == [
        ("true", None),
        ("false", None),
        ("true", None),
    ]
    assert (right.id, right.question) == ("z/Ada", "True or false: Ada is in the first house.")
    wrong, *_ = loaded(tmp_path, zebra_row(STREET, ("Cleo", "Ben", "Ada")))
    assert "does not say" in wrong.meta["inexpressible"]
    open_ = STREET.replace("directly left", "somewhere to the left").replace("4. Ben is in the second house.", "")
    loose, *_ = loaded(tmp_path, zebra_row(open_, ("Ada", "Ben", "Cleo")))
    assert "several" in loose.meta["inexpressible"]
    with pytest.raises(InputError, match="left out"):
        loaded(tmp_path, zebra_row(STREET, ("___", "___", "___")))


@pytest.mark.parametrize(
    "clue",
    [
        "Zed is in the first house.",
        "Ada is in the fourth house.",
        "Ada and the person who does not keep the otter are next to each other.",
        "The owner of the heron or the gecko is in the first house.",
        "Ada waves at Ben.",
        "Ada is directly left of Ada.",
        "Ada is directly left of the cat owner.",
        "Ada is in the first house. Ben is in the second house.",
    ],
)
def test_clues_that_are_not_understood_are_refused(clue):
    with pytest.raises(TranslationError):
        read_zebra(STREET.replace("Ben is in the second house.", clue))


@pytest.mark.parametrize("context", ["", " ", "\n", "Clues:", "Cats are warm.", "Clues:\n1. Ada waves."])
def test_a_text_that_is_no_puzzle_says_nothing(context):
    assert puzzle_decides(context, "Cats are warm.") is None
    assert puzzle_decides(context, "") is None


def test_proverqas_formulas_are_given_and_decide(tmp_path):
    (problem,) = loaded(tmp_path, PROVER)
    verdict = by_formulas(problem)
    assert (problem.id, problem.dataset) == ("proverqa/rows/4", "proverqa")
    assert (verdict.verdict, verdict.answer, verdict.grade) == ("certified", "A", "given")
    (wrong,) = loaded(tmp_path, {**PROVER, "answer": "C"})
    assert by_formulas(wrong).verdict == "refuted"
    paradox = {**PROVER["nl2fol"], "Mara rows.": "¬rows(Mara) ∧ rows(Mara)"}
    (broken,) = loaded(tmp_path, {**PROVER, "nl2fol": paradox})
    assert by_formulas(broken).reason == "inconsistent_premises"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"nl2fol": {"Mara rows.": "rows(Mara)"}}, "does not formalise"),
        ({"nl2fol": {**PROVER["nl2fol"], "Zed rows.": "rows(Zed)"}}, "Zed"),
        ({"conclusion_fol": "fit(Mara) ∧"}, "end"),
        ({"conclusion_fol": "fit(x)"}, "binds"),
        ({"conclusion_fol": "fit(Mara, Mara)"}, "fit"),
    ],
)
def test_formulas_that_are_not_the_texts_are_left_out_with_the_reason(tmp_path, changed, why):
    (problem,) = loaded(tmp_path, {**PROVER, **changed})
    assert problem.formal is None
    assert why in problem.meta["inexpressible"]


def test_flds_formulas_are_given_and_its_world_is_open(tmp_path):
    unknown = {
        **FLD,
        "hypothesis": "the fen is mossy.",
        "hypothesis_formula": "{B}{b}",
        "world_assump_label": "UNKNOWN",
    }
    false = {**FLD, "hypothesis": "the fen is not wry.", "hypothesis_formula": "¬{C}{b}"}
    problems = loaded(tmp_path, FLD, unknown, {**false, "world_assump_label": "__DISPROVED__"}, false)
    verdicts = [by_formulas(problem) for problem in problems]
    assert [(v.verdict, v.answer) for v in verdicts] == [
        *(("certified", answer) for answer in ("true", "unknown", "false")),
        ("refuted", "false"),
    ]
    (bare,) = loaded(tmp_path, {k: v for k, v in FLD.items() if not k.endswith("_formula")})
    assert (bare.formal, bare.context.splitlines()[0]) == (None, "if something is tidal it is mossy.")
    (fewer,) = loaded(tmp_path, {**FLD, "context_formula": "sent1: (x): {A}x -> {B}x"})
    assert "1 formulas for 2 facts" in fewer.meta["inexpressible"]
    with pytest.raises(InputError, match="world_assump_label"):
        loaded(tmp_path, {**FLD, "world_assump_label": "MAYBE"})
