"""Programs on trust under other names: what the names decide is refused, and honest programs keep their verdicts."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from critics.formats.fol.critic import judge_fol
from critics.formats.format import find_format
from critics.formats.guided.critic import judge_guided
from critics.formats.logic_program.language import LANGUAGE
from critics.formats.rules.critic import judge_rules
from critics.judge import judge, judge_record
from critics.problem import Attempt, Problem, read_attempt
from critics.text.trust.renaming import rests_on_names
from critics.verdict import Certified, Unproved, Verdict

WREN = Problem(
    "p", "own", "They say that wrens are birds. Pip, as all know, is a wren.", "True or false: Pip is a bird."
)
PROGRAMS = {
    "guided": (judge_guided, "[[axiom:(wren pip)]] [[axiom:(wren 'x) -> (bird 'x)]] [[goal:(bird pip)]] "
                             "[[infer:(bird pip)]]\nAnswer: true"),
    "rules": (judge_rules, "Predicates:\nWren($x, bool) ::: a bird?\nFacts:\nWren(Pip, True) ::: Pip is a Wren\n"
                           "Rules:\n"
                           "Wren($x, True) >>> Bird($x, True)\nQuery:\nBird(Pip, True)"),
    "fol": (judge_fol, "Premises:\nWren(pip) ::: Pip\n∀x (Wren(x) → Bird(x))\nConclusion:\nBird(pip)"),
}  # fmt: skip
SEATS = Problem(
    "p", "ar-lsat", "", "Which one of the following must be true?", ("A) Ann sits first.", "B) Bea sits first.")
)
SEATED = (
    "# Declarations\npeople = EnumSort([Ann, Bea])\nplaces = EnumSort([1, 2])\nsits = Function([people] -> [places])\n"
    "# Constraints\nsits(Ann) != sits(Bea) ::: Ann sits elsewhere\nsits(Bea) == 2\n# Options\n"
    "Question ::: Which one of the following must be true?\n"
    "is_valid(sits(Ann) == 1) ::: (A)\nis_valid(sits(Bea) == 1) ::: (B)"
)


def _attempt(format_: str, text: str, problem: Problem = WREN) -> Attempt:
    return Attempt("a", problem, format_, text)


@pytest.mark.parametrize("format_", PROGRAMS)
def test_proofs_stand_under_any_names(format_: str) -> None:
    critic, text = PROGRAMS[format_]
    attempt = _attempt(format_, text)
    verdict, other = critic(WREN, attempt), find_format(attempt.format).renamed(attempt.completion)
    assert isinstance(verdict, Certified)
    assert other is not None
    stated = " ".join(line.partition(":::")[0] for line in other.lower().splitlines())
    assert not {"wren", "pip", "bird"} & set(re.findall(r"\w+", stated))
    assert not rests_on_names(find_format(format_), WREN, attempt, verdict, critic)


def test_members_sorts_and_functions_of_a_logic_program_are_renamed() -> None:
    attempt = _attempt("logic-program", SEATED, SEATS)
    verdict, other = LANGUAGE.judge(SEATS, attempt), find_format(attempt.format).renamed(attempt.completion)
    assert isinstance(verdict, Certified)
    assert other is not None
    assert "sits(Ann)" not in other
    assert "EnumSort([N2q, N3q])" in other
    assert "::: (A)" in other
    assert not rests_on_names(find_format("logic-program"), SEATS, attempt, verdict, LANGUAGE.judge)


def test_a_verdict_that_the_names_decide_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: a name that the critic knows, where the others would not be certified."""

    def by_name(problem: Problem, attempt: Attempt) -> Verdict:
        found = judge_fol(problem, attempt)
        return found if "Bird" in attempt.completion else Unproved("not_entailed", found.answer, "other names")

    def other_answer(problem: Problem, attempt: Attempt) -> Verdict:
        found = judge_fol(problem, attempt)
        assert isinstance(found, Certified)
        return found if "Bird" in attempt.completion else replace(found, answer="false")

    attempt = _attempt("fol", PROGRAMS["fol"][1])
    for critic in (by_name, other_answer):
        monkeypatch.setattr(type(find_format("fol")), "judge", staticmethod(critic))
        verdict = judge(WREN, attempt)
        assert (type(verdict), verdict.reason) == (Unproved, "names_decide")
    monkeypatch.undo()
    assert isinstance(judge(WREN, attempt), Certified)


def test_what_is_not_read_has_no_other_names() -> None:
    verdict = judge_fol(WREN, _attempt("fol", PROGRAMS["fol"][1]))
    assert isinstance(verdict, Certified)
    assert find_format("z3-python").renamed("print(1)") is None
    assert not rests_on_names(find_format("fol"), WREN, _attempt("fol", "no program"), verdict, judge_fol)


@pytest.mark.slow
def test_no_recorded_program_rests_on_its_names(shared: Path) -> None:
    from rollout.published.recorded import load_recorded

    judged = 0
    for record in load_recorded(shared / "data" / "logiclm_programs_partA.jsonl.gz"):
        if record["format"] not in ("fol", "logic-program"):
            continue
        blind = {**record, "problem": {**record["problem"], "answer": None}}
        assert judge_record(blind)["reason"] != "names_decide"
        attempt = read_attempt(blind)
        judged += (
            find_format(attempt.format).renamed(attempt.completion) is not None
            if judge_record(blind)["verdict"] == "certified"
            else 0
        )
    assert judged > 40
