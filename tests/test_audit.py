"""The cheat catalogue: every cheat is stopped by its rule, every honest attempt certified, and an audit can fail."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from critics import registry
from critics.audit import catalogue_file
from critics.audit.audit import CaseResult, audit, report, without_slow_cases
from critics.audit.catalogue_file import Catalogue, ForgeryCase, HonestCase, load_catalogue, own_catalogue
from critics.errors import InputError
from critics.formats.format import find_format
from critics.formats.horn import horn_certificate
from critics.judge import judge_record
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.formula import parse_literal
from critics.replay.kernel import Axiom
from critics.verdict import Certified, Unproved, Verdict
from tools.seeded_attacks import records
from training.cli import app

CATALOGUES = {name: own_catalogue(name) for name in registry.formats()}
MINIMUM = {"arithmetic": 10, "cot": 5, "guided": 20, "asp": 30, "rules": 15, "csp": 15, "equivalence": 12, "fol": 15}
MINIMUM |= {"logic-program": 18, "z3-python": 20, "english": 20}


def audited(catalogue: Catalogue, judging: Any = judge_record) -> list[CaseResult]:
    return audit(catalogue, lambda records: map(judging, records))


def quickly(catalogue: Catalogue) -> Catalogue:
    """The catalogue without what takes seconds; where a case takes a process or a solver, the first of its kind."""
    quick = without_slow_cases(catalogue)
    if catalogue.format not in ("z3-python", "logic-program", "fol"):
        return quick
    kinds = {
        case.cheat_class if catalogue.format == "z3-python" else re.sub(r" \d+@.*|@.*", "", case.id): case
        for case in reversed(quick.cheats)
    }
    first = tuple(kinds.values())
    return Catalogue(quick.format, quick.classes, quick.honest[:4], first, without_cases_of(quick, quick.honest[:4]))


def without_cases_of(catalogue: Catalogue, honest: tuple[HonestCase, ...]) -> tuple[ForgeryCase, ...]:
    return tuple(case for case in catalogue.forgeries if case.honest in honest)


def wrong(findings: list[CaseResult]) -> list[CaseResult]:
    return [finding for finding in findings if not finding.is_right or not finding.is_by_its_rule]


def slow_where_jailed(name: str) -> Any:
    """A jail for each script takes long; tests/test_script_critic.py has cheats of its own in the default run."""
    return pytest.param(name, marks=pytest.mark.slow) if name in ("z3-python", "z3_python") else name


@pytest.mark.parametrize("name", map(slow_where_jailed, sorted(CATALOGUES)))
def test_every_cheat_is_stopped_by_its_rule_and_every_honest_attempt_certified(name: str) -> None:
    findings = audited(quickly(CATALOGUES[name]))
    assert findings
    assert not wrong(findings)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CATALOGUES))
def test_the_whole_catalogue_with_what_runs_into_budgets(name: str) -> None:
    assert not wrong(audited(CATALOGUES[name]))


@pytest.mark.parametrize("name", registry.formats())
def test_a_catalogue_is_read_where_yaml_has_no_parser_in_c(name: str) -> None:
    text = (registry.folder_of(name) / "catalogue.yaml").read_text(encoding="utf-8")
    assert yaml.load(text, yaml.SafeLoader)["format"] == name


def test_every_format_has_a_catalogue_whose_classes_all_have_cases() -> None:
    assert CATALOGUES.keys() == set(registry.formats())
    for name, catalogue in CATALOGUES.items():
        assert len(catalogue.classes) >= MINIMUM[name]
        used = {case.cheat_class for case in (*catalogue.cheats, *catalogue.forgeries)}
        assert used == catalogue.classes.keys()
        assert len(catalogue.honest) >= 4 or name == "cot"
    assert sum(len(catalogue.cheats) for catalogue in CATALOGUES.values()) >= 1000
    assert sum(len(catalogue.forgeries) for catalogue in CATALOGUES.values()) >= 75


def believe(problem: Problem, attempt: Attempt) -> Verdict:
    """Certify whatever is claimed: what the audit is there to find."""
    formal = Formal(("(p a)",), "(p a)")
    goal = parse_literal(formal.goal)
    entries = [Axiom(goal)]
    claim = problem.answer or "true"
    return Certified(claim, horn_certificate("horn-proof", problem, None, claim, goal, entries, {"work": 1}))


def doubt(problem: Problem, attempt: Attempt) -> Verdict:
    """Certify nothing, which is safe and worthless."""
    return Unproved("no", None, "I do not believe it")


@pytest.mark.parametrize("name", ["cot", "guided", "csp"])
def test_a_critic_that_believes_or_doubts_everything_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = quickly(CATALOGUES[name])
    monkeypatch.setattr(type(find_format(name)), "is_held_to_text", False)
    monkeypatch.setattr(type(find_format(name)), "judge", staticmethod(believe))
    believed = report(name, audited(catalogue))
    monkeypatch.setattr(type(find_format(name)), "judge", staticmethod(doubt))
    doubted = report(name, audited(catalogue))
    assert believed["cheats_certified"] >= len(catalogue.cheats)
    assert (doubted["cheats_certified"], doubted["honest_rejected"]) == (0, len(catalogue.honest))


def test_the_command_prints_what_failed_and_exits_with_1() -> None:
    run = CliRunner().invoke(app, ["audit", "--format", "cot", "--critic", "tests.test_audit:none", "--json"])
    assert run.exit_code == 2
    assert "cannot be imported" in run.stderr
    passed = CliRunner().invoke(app, ["audit", "--format", "cot", "--quick", "--json"])
    assert passed.exit_code == 0
    (shown,) = json.loads(passed.stdout)
    assert (shown["format"], shown["cheats_certified"], shown["wrong"]) == ("cot", 0, [])
    failed = CliRunner().invoke(
        app, ["audit", "--format", "rules", "--quick", "--json", "--critic", "critics.formats.cot.critic:judge_answer"]
    )
    assert failed.exit_code == 1
    (shown,) = json.loads(failed.stdout)
    assert shown["honest_rejected"] == shown["honest"] > 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("- 1", "keys"),
        ("format: x\nnonsense: 1", "keys"),
        ("format: x\ncheats: [{id: a, class: b, completion: c}]\nproblems: {p: {dataset: d}}", "class"),
        ("format: x\nclasses: {b: c}\ncheats: [{id: a, class: b, at: [q], completion: c}]", "no problem"),
        ("format: x\nclasses: {b: c}\ncheats: [{id: a, class: b}]\nproblems: {p: {dataset: d}}", "needed"),
        ("format: x\nhonest: [{id: a, completion: c}]\nproblems: {p: {dataset: d}}", "answer"),
        ("format: x\nhonest: [{id: a, from: z, answer: A}]\nproblems: {p: {dataset: d}}", "KeyError"),
        ("format: [", "not YAML"),
    ],
)
def test_a_catalogue_that_is_none_says_why(text: str, complaint: str, tmp_path: Path) -> None:
    path = tmp_path / "catalogue.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint) as caught:
        load_catalogue(path)
    assert str(path) in str(caught.value)


def test_edits_and_families_are_written_out(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.yaml"
    path.write_text(
        "format: x\nclasses: {b: c}\nproblems: {p: {dataset: d}, q: {dataset: d}}\n"
        'honest: [{id: h, answer: "true", completion: {Model: one, Tests: [{a: 1}]}}]\n'
        "cheats: [{id: k, class: b, at: [p], from: h, each: {n: [2, [3]]}, set: {Tests/0/a: <n>}, in: Model,\n"
        "  replace: [[one, {text: ab, times: 2}]], append: '!<n>', rule: {p: r}}]",
        encoding="utf-8",
    )
    read = load_catalogue(path)
    assert [json.loads(case.attempt.completion) for case in read.cheats] == [
        {"Model": "abab!2", "Tests": [{"a": 2}]},
        {"Model": "abab![3]", "Tests": [{"a": [3]}]},
    ]
    assert [case.rules for case in read.cheats] == [("r",), ("r",)]
    assert [case.attempt.id for case in read.honest] == ["x/honest/h@p", "x/honest/h@q"]


TRUTHS = {"True": "true", "False": "false", "Uncertain": "unknown"}


def shared_attempt(case: dict[str, Any]) -> dict[str, Any]:
    """A recorded case as an attempt at a problem of its own."""
    given, kind = case["input"], case["kind"]
    if kind == "peano_trace":
        formal = Formal(tuple(given["context_axioms"]), given["goal"])
        problem = Problem("p", "mine", "(see formal)", "(see formal)", answer=given["label"], formal=formal)
        return Attempt(case["id"], problem, "guided", given["trace"]).record()
    if kind == "asp":
        meta = {"num_premises": given["premises"]}
        problem = Problem("p", "mine", "", "Is it?", answer=TRUTHS[given["label"]], meta=meta)
        completion = json.dumps({"Model": given["program"], "Tests": given["tests"], "Query": given["query"]})
        return Attempt(case["id"], problem, "asp", completion).record()
    if kind == "logic_program":
        options = tuple(f"{chr(ord('A') + place)})" for place in range(given["n_options"]))
        problem = Problem("p", "ar-lsat", "Prose.", "q", options, given["label"])
        return Attempt(case["id"], problem, "logic-program", given["program"]).record()
    problem = Problem("p", "mine", ".", "?", tuple(given["options"]), given["label"])
    return Attempt(case["id"], problem, "z3-python", given["code"]).record()


@pytest.mark.parametrize("kind", map(slow_where_jailed, ["peano_trace", "asp", "logic_program", "z3_python"]))
def test_every_shared_case_is_on_the_right_side(shared: Path, kind: str) -> None:
    lines = (shared / "adversarial" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, filter(None, lines)) if case["kind"] == kind]
    assert len(cases) >= 10
    for case in cases:
        record = shared_attempt(case)
        verdict = judge_record(record)
        # Of one trace submitted twice the first is honest; the filter drops the second.
        expected = case["verdict"] == "accept"
        assert (verdict["verdict"] == "certified") == expected, (case["id"], verdict["verdict"], verdict["reason"])
        assert verdict["verdict"] != "error"
        assert not recheck([{**record, "judgement": verdict}])["rejected"]


def test_the_seeded_attacks_are_those_that_their_code_writes():
    path = catalogue_file.SEEDED
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == list(records())
