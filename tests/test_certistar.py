"""The face for Python: `judge`, `filter` and `recheck` as a user calls them, and what importing it loads."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import certistar

ROOT = Path(__file__).parents[1]
CONTEXT = "Every cat is a mammal. Mammals are warm. Rex is a cat."
QUESTION = "True or false: Rex is warm."
PROOF = (
    "[[axiom:(cat 'x) -> (mammal 'x)]] [[axiom:(mammal 'x) -> (warm 'x)]] [[axiom:(cat rex)]] [[goal:(warm rex)]]\n"
    "[[infer:(mammal rex)]] [[infer:(warm rex)]]\nAnswer: true"
)
GUESS = PROOF.replace("[[infer:(warm rex)]]", "")
ROWS = [
    {"number": n, "context": CONTEXT, "question": QUESTION, "completion": text, "answer": "true"}
    for n, text in enumerate((PROOF, GUESS, PROOF.replace("Answer: true", "Answer: false")))
]
GUIDED = {"format": "guided", "language": "prontoqa"}


def judged(completion, **options):
    return certistar.judge(CONTEXT, QUESTION, completion, **{"format": "guided", "dataset": "prontoqa", **options})


def test_a_proof_is_certified_and_its_certificate_holds():
    verdict = judged(PROOF, answer=True)
    assert isinstance(verdict, certistar.Certified)
    assert (verdict.verdict, verdict.reason, verdict.answer, verdict.grade) == (
        "certified",
        "proved",
        "true",
        "checked",
    )
    assert isinstance(verdict.certificate, certistar.Certificate)
    assert certistar.recheck([verdict])["accepted"] == 1


def test_the_grade_says_on_whose_word_the_formulas_are_about_the_text():
    assert judged(PROOF, dataset=None).grade == "aligned"


def test_a_guess_is_unproved_and_has_the_same_attributes():
    verdict = judged(GUESS, answer="true")
    assert isinstance(verdict, certistar.Unproved)
    assert (verdict.verdict, verdict.reason, verdict.answer) == ("unproved", "goal_not_reached", "true")
    assert verdict.certificate is None
    assert verdict.grade is None
    assert verdict.feedback


@pytest.mark.parametrize(
    ("gold", "options", "answer"),
    [("true", None, "true"), (True, None, "true"), ("A", ["True", "False"], "A"), ("True", ["True", "False"], "A")],
)
def test_a_gold_answer_may_be_a_truth_value_a_letter_or_an_options_text(gold, options, answer):
    verdict = judged(PROOF, answer=gold, options=options)
    assert (verdict.verdict, verdict.answer) == ("certified", answer)


def test_what_contradicts_the_gold_answer_is_refuted():
    assert judged(PROOF, answer=False).verdict == "refuted"


def test_a_context_of_another_language_is_refused_with_the_name_of_that_language():
    context = "Every impus is not brown. Rex is an impus."
    question, text = "True or false: Rex is not brown.", "Rex is an impus. Every impus is not brown. Answer: true"
    refused = certistar.judge(context, question, text)
    assert refused.reason == "context_not_read"
    assert 'dataset="prontoqa" (--dataset prontoqa)' in refused.feedback
    assert certistar.judge(context, question, text, dataset="prontoqa").reason != "context_not_read"
    other = certistar.judge("Most impuses are brown. Rex is an impus.", question, text)
    assert (other.reason, "dataset=" in other.feedback) == ("context_not_read", False)


def test_wrong_input_names_the_value():
    with pytest.raises(ValueError, match="'perhaps'"):
        judged(PROOF, answer="perhaps")
    with pytest.raises(ValueError, match="'gided' is not one of"):
        judged(PROOF, format="gided")


# -- filter


def test_kept_rows_are_as_they_came_with_their_verdicts():
    (kept,) = certistar.filter(ROWS, **GUIDED)
    assert {key: kept[key] for key in ROWS[0]} == ROWS[0]
    assert (kept["verdict"], kept["reason"], kept["grade"]) == ("certified", "proved", "checked")
    assert certistar.recheck([kept])["accepted"] == 1


def test_a_statement_that_the_gold_answer_judges_is_the_question_as_in_folio():
    row = {"premises": ["Every cat is a mammal.", "Rex is a cat."], "conclusion": "Rex is a mammal."}
    own = {"rationale": "Rex is a cat. Every cat is a mammal, so Rex is a mammal. Answer: true"}
    folio = [{**row, "label": label, **own} for label in ("True", "Uncertain", "False")]
    kept = certistar.filter(folio)
    assert [each["label"] for each in kept] == ["True"]
    assert certistar.filter(folio[1:]) == []
    # Attack: a text's own conclusion, about a question that is not in the table.
    for other in ({**row, **own}, {**row, "label": "42", **own}, {**row, "conclusion": "true", "label": "True", **own}):
        with pytest.raises(ValueError, match="no column is known to be the question"):
            certistar.filter([other])
    # Where there is a question, the conclusion is the text's answer as before.
    asked = {**row, "question": "Is Rex a mammal?", "conclusion": "true", "label": "True"}
    assert len(certistar.filter([{**asked, "rationale": own["rationale"].partition(" Answer")[0]}])) == 1


def test_naive_keeps_the_lucky_guess_too():
    assert [row["verdict"] for row in certistar.filter(ROWS, "naive", **GUIDED)] == ["certified", "unproved"]


def test_columns_may_have_names_of_their_own():
    renamed = [{"facts": r["context"], "ask": r["question"], "why": r["completion"]} for r in ROWS]
    columns = {"context": "facts", "question": "ask", "rationale": "why"}
    assert certistar.filter(renamed, columns=columns, **GUIDED) == certistar.filter(renamed, columns=columns, **GUIDED)
    with pytest.raises(ValueError, match="no column 'asks'"):
        certistar.filter(renamed, columns={**columns, "question": "asks"}, **GUIDED)


def test_attempts_are_judged_in_their_own_format():
    problem = {"id": "p", "dataset": "prontoqa", "context": CONTEXT, "question": QUESTION}
    attempts = [
        {"id": str(n), "problem": problem, "format": "guided", "completion": t} for n, t in enumerate((GUESS, PROOF))
    ]
    (kept,) = certistar.filter(attempts)
    assert kept["id"] == "1"
    assert certistar.recheck([kept])["accepted"] == 1
    assert certistar.filter([kept]) == [kept]
    with pytest.raises(ValueError, match="row 1: the id '0' is row 0's already"):
        certistar.filter([attempts[0], attempts[0]])


def test_a_dataset_comes_back_as_a_dataset():
    datasets = pytest.importorskip("datasets")
    kept = certistar.filter(datasets.Dataset.from_list(ROWS), **GUIDED)
    assert isinstance(kept, datasets.Dataset)
    assert kept.remove_columns(["verdict", "reason", "grade", "judgement", "attempt"]).to_list() == ROWS[:1]
    assert certistar.recheck(kept)["accepted"] == 1
    assert len(certistar.filter(kept, **GUIDED)) == 1
    assert certistar.filter(datasets.Dataset.from_list(ROWS[1:]), **GUIDED)["verdict"][:] == []


def test_rows_that_cannot_be_read_are_named_and_left_out():
    with pytest.warns(UserWarning, match="1 of 4 rows cannot be read .*; row 3: the answer 'perhaps'"):
        assert len(certistar.filter([*ROWS, {**ROWS[0], "answer": "perhaps"}], **GUIDED)) == 1
    with pytest.raises(ValueError, match="no row can be read"):
        certistar.filter([{**ROWS[0], "answer": "perhaps"}], **GUIDED)


def test_a_users_own_column_is_not_written_over():
    with pytest.raises(ValueError, match="'reason' is there already"):
        certistar.filter([{**ROWS[0], "reason": "mine"}], **GUIDED)


SCRIPT = f"""
import certistar
print("imported once")
print([row["number"] for row in certistar.filter({ROWS!r}, "naive", jobs=2, **{GUIDED!r})])
"""


@pytest.mark.parametrize("how", ["a script", "standard input"])
def test_several_jobs_need_no_main_guard(tmp_path, how):
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT)
    for name in ("training", "critics"):  # beside what a user may have in the working folder
        (tmp_path / "elsewhere" / name).mkdir(parents=True)
        (tmp_path / "elsewhere" / name / "__init__.py").touch()
    called = [sys.executable, "-P", str(script)] if how == "a script" else [sys.executable, "-P", "-"]
    done = subprocess.run(
        called, input=SCRIPT, cwd=tmp_path / "elsewhere", capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["imported once", "[0, 1]"], done.stderr


# -- what importing it costs


def modules_after(code: str) -> set[str]:
    asked = f"{code}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_it_loads_nothing_else_of_ours_and_no_dependency():
    plain = modules_after("")
    ours = {name for name in modules_after("import certistar") - plain if not name.startswith("_")}
    assert {name.partition(".")[0] for name in ours} <= {"certistar", *sys.stdlib_module_names}
    assert len(ours) < 60


def test_judging_a_proof_loads_no_model_library_and_no_data_library():
    code = f"import certistar; certistar.judge({CONTEXT!r}, {QUESTION!r}, {PROOF!r}, format='guided')"
    assert not {"torch", "transformers", "datasets", "pydantic", "training"} & modules_after(code)


def test_every_name_is_there():
    for name in certistar.__all__:
        assert getattr(certistar, name) is not None
    assert set(dir(certistar)) == set(certistar.__all__)
    with pytest.raises(AttributeError, match="no attribute 'jugde'"):
        certistar.jugde  # noqa: B018
