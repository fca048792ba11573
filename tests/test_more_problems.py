"""ProverQA and FLD: read, demonstrated and certified, and what must not be."""

import json
from pathlib import Path

import pytest

from critics.errors import InputError
from critics.judge import judge
from critics.problem import Attempt, Problem
from rollout.published.loaders import load_published
from training.lessons.references import completions

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
