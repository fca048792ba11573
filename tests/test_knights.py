"""Knights and knaves: generated, published and translated; what is certified of them, and what is not."""

import json
from collections import Counter
from pathlib import Path

import pytest

from critics.errors import InputError
from critics.judge import judge
from critics.problem import Attempt, Problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest
from critics.text.translators.knights import decide, read_island, translate
from critics.text.translators.translation import TranslationError
from critics.verdict import verdict_record
from rollout.problems.catalogue import family
from rollout.problems.knights import FORMS, KnightsAndKnaves, generate, item, posed
from rollout.published.loaders import load_published
from training.lessons.references import completions

FRAME = (
    "Everybody on this island is either a knight or a knave. Knights always tell the truth, and knaves always lie. "
    "Ada, Ben and Cleo live here."
)
PUBLISHED = (
    "A very special island is inhabited only by saints and sinners. Saints always tell the truth, and sinners always "
    "lie. You meet 2 inhabitants: Ada, and Ben. "
)
SAINTS = {"knight": "saint", "knave": "sinner", "a_knight": "a saint", "a_knave": "a sinner"}


def island(*said: str) -> str:
    return f"{FRAME} {' '.join(said)}"


def demonstrated(problem: Problem) -> Attempt:
    (trace,) = completions([problem], "fol")
    return Attempt(trace.id, problem, "fol", trace.completion)


def verdict_of(problem: Problem):
    return judge(problem, demonstrated(problem))


def rechecked(problem: Problem | None, verdict: dict[str, object]) -> dict[str, object]:
    if problem is None:
        return recheck([verdict])
    return recheck([{**demonstrated(problem).record(), "judgement": verdict}])


def row(*said: str, names=("Ada", "Ben"), solution=(True, False), **more: object) -> dict[str, object]:
    quiz = f"{PUBLISHED}{' '.join(said)} So who is a saint and who is a sinner?"
    return {"quiz": quiz, "names": list(names), "solution": list(solution), "knight_knave": SAINTS, **more}


def loaded(tmp_path: Path, *rows: object) -> list[Problem]:
    path = tmp_path / "people2.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return list(load_published(path))


def test_generated_islands_have_one_solution_and_every_item_stands_alone():
    config = KnightsAndKnaves(people=(2, 3, 4, 5))
    listed = list(generate(config, 24, seed=4))
    assert [item(config, i, seed=4) for i in (9, 3)] == [listed[9], listed[3]]
    assert all(len(read_island(p.context).solutions()) == 1 for p in listed)
    assert Counter((p.meta["people"], p.answer) for p in listed) == dict.fromkeys(
        ((num, answer) for num in (2, 3, 4, 5) for answer in ("true", "false")), 3
    )
    assert [decide(p.context, p.question) for p in listed] == [p.answer for p in listed]


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_certified_by_z3_and_proved_again_by_instances(form):
    problem = next(iter(generate(KnightsAndKnaves(people=(3,), forms=("kind", "and", form)), 1, seed=7)))
    verdict = verdict_of(problem)
    assert (verdict.verdict, verdict.answer, verdict.grade) == ("certified", problem.answer, "checked")
    assert rechecked(problem, verdict_record(f"{problem.id}#demonstration", verdict)) == {
        **{"checked": 1, "accepted": 1, "skipped": 0, "second_opinion": 0},
        "rejected": [],
    }


def test_a_certificate_of_another_text_is_rejected():
    problem = posed("a", island("Ada says that Ada is a knight or Ben is a knave."), "Is Ben a knave?", is_true=True)
    one = posed("a", island("Ada says that Ben is a knave.", "Ben says that Ada is a knave and Ben is a knave.",
                            "Cleo says that Ben is a knave."), "Is Ben a knave?", is_true=True)  # fmt: skip
    record = verdict_record("a#demonstration", verdict_of(one))
    assert rechecked(one, record)["accepted"] == 1
    assert rechecked(problem, record)["rejected"]
    certificate = json.loads(json.dumps(record["certificate"]))
    certificate["problem"]["context"] = one.context.replace(
        "Cleo says that Ben is a knave", "Cleo says that Ben is a knight"
    )
    certificate["digest"] = digest(certificate)
    # Without its record a certificate stands for itself: its text is judged again all the same.
    (rejected,) = rechecked(None, {**record, "certificate": certificate})["rejected"]
    assert rejected["reason"] in ("judged_otherwise", "not_judged_again")


def test_attempts_in_one_kind_or_in_both_are_the_same_to_the_critic():
    context = island("Ada says that Ben is a knave.", "Ben says that Ada and Cleo are of the same kind.")
    formal = translate(context, "Is Cleo a knight?")
    literal, alone = formal.axioms[:3], (formal.axioms[0], *formal.axioms[2:])
    assert "Knave(ben)" in literal[1]
    assert "¬Knight(ben)" in alone[2]
    problem = Problem("a", "knights", context, "Is Cleo a knight?")
    for axioms in (literal, alone, formal.axioms):
        program = "\n".join(["Premises:", *axioms, "Conclusion:", formal.goal])
        assert judge(problem, Attempt("a", problem, "fol", program)).answer == decide(context, problem.question)


def test_a_guess_at_what_somebody_said_is_not_certified():
    context = island("Ada says that Ben is a knave.", "Ben says that Ben is a knight and Ada is a knight.")
    problem = posed("a", context, "True or false: Ada is a knight.", is_true=True)
    assert verdict_of(problem).verdict == "certified"
    for premise, reason in (
        ("Knight(ada)", "axiom_not_in_context"),
        ("Knight(ada) ↔ ¬Knave(ben)", "axiom_not_in_context"),
        ("Knight(zed) ↔ Knight(ada)", "other_vocabulary"),
    ):
        program = f"Premises:\n∀x (Knight(x) ⊕ Knave(x))\n{premise}\nConclusion:\nKnight(ada)"
        found = judge(problem, Attempt("a", problem, "fol", program))
        assert found.verdict != "certified"
        assert found.reason in (reason, "wrong_answer")
    # Other formats formalise on trust: the opposite of the text is refused all the same.
    guided = "1- [[axiom:(not (knight ada))]]\nFormalized goal: [[goal:(knight ada)]]\nReasoning: \nAnswer: false"
    blind = Problem("a", "knights", context, problem.question)
    assert judge(blind, Attempt("a", blind, "guided", guided)).verdict != "certified"


def test_what_one_statement_comes_to_is_no_premise():
    """Of one knave's words alone who he is follows, and so may the answer: to write that down is to guess it."""
    context = island("Ada says that Ben is a knave.", "Ben says that Ada is a knave and Ben is a knave.")
    problem = posed("a", context, "True or false: Ada is a knight.", is_true=True)
    assert verdict_of(problem).verdict == "certified"
    axioms = [*translate(context, problem.question).axioms]
    for said in (["Knight(ada)"], [*axioms, "Knight(ada) ∧ Knight(ada)"], [*axioms, "¬¬Knight(ada)"]):
        program = "\n".join(["Premises:", *said, "Conclusion:", "Knight(ada)"])
        found = judge(problem, Attempt("a", problem, "fol", program))
        assert (found.verdict, found.reason) == ("vacuous", "goal_assumed")
    turned = "\n".join(["Premises:", axioms[0], "Knave(ben) ↔ Knight(ada)", *axioms[2:], "Conclusion:", "Knight(ada)"])
    assert judge(problem, Attempt("a", problem, "fol", turned)).verdict == "certified"


def test_contradictory_and_open_islands_prove_nothing():
    paradox = island("Ada says that Ada is a knave.")
    broken = posed("a", paradox, "True or false: Ada is a knight.", is_true=True)
    assert broken.meta["inexpressible"] == "the statements have no solutions"
    assert (verdict_of(broken).verdict, verdict_of(broken).reason) == ("vacuous", "inconsistent_premises")
    either = posed("a", island("Ada says that Ben is a knight."), "True or false: Ada is a knight.", is_true=True)
    assert either.meta["inexpressible"] == "the statements have 4 solutions"
    assert verdict_of(either).verdict == "refuted"


@pytest.mark.parametrize(
    "said",
    [
        "Ada says that Zed is a knave.",
        "Zed says that Ada is a knave.",
        "Ada says that either Ben is a knight or Cleo is a knave.",
        "Ada says that Ben is a knight and Cleo is a knave or Ada is a knight.",
        "Ada says that Ben is a jester.",
        "Ada denied that Ben is a knave.",
        'Ada says, "Ben is a knave".. Cleo is a knight.',
        "Cleo is a knight.",
        "Ada says that Ben is a knave. Nobody lies today.",
        "Ada says that Ben and Ben are of the same kind.",
    ],
)
def test_what_the_translator_does_not_know_is_refused(said):
    with pytest.raises(TranslationError):
        translate(island(said), "Is Ada a knight?")


@pytest.mark.parametrize("question", ["Is Zed a knight?", "Ada lies.", "Is Ada a jester?", "Is I a knight?"])
def test_a_question_about_something_else_is_refused(question):
    with pytest.raises(TranslationError):
        translate(island("Ada says that Ben is a knave."), question)


def test_published_rows_become_a_problem_for_each_of_their_people(tmp_path):
    said = ('Ada stated, "Ben is a sinner".', '"Ada is a sinner and Ben is a sinner," Ben claimed.')
    first, second = loaded(tmp_path, row(*said, index=7))
    assert (first.id, first.answer) == ("knights/people2/7/Ada", "true")
    assert [verdict_of(p).verdict for p in (first, second)] == ["certified"] * 2
    (wrong, _) = loaded(tmp_path, row(*said, solution=(False, True)))
    assert "does not say" in wrong.meta["inexpressible"]
    assert verdict_of(wrong).verdict == "refuted"


def test_rows_that_cannot_be_read_say_why(tmp_path):
    (unread, _) = loaded(tmp_path, row("Ada hinted at Ben.", "Ben laughed."))
    assert "who says what" in unread.meta["inexpressible"]
    assert completions([unread], "fol") == []
    for bad in (row("Ada laughed.", solution=(True,)), row("Ada laughed.", solution=("yes", "no")), {"quiz": 3}):
        with pytest.raises(InputError, match="line 1"):
            loaded(tmp_path, bad)


def test_settings_that_cannot_be_drawn_are_refused():
    with pytest.raises(ValueError, match="people"):
        family("knights").configured({"people": (1,)}, "train")
