"""The audit of rewards: planted flaws are found where they are, honest rewards pass, and probes are what they say."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.judge import judge_safely
from critics.problem import Attempt
from critics.replay.grades import STRICT
from training.cli import app
from training.rewards.findings import AuditLimits, audited
from training.rewards.probes import DATASETS, PROBES, Style, cases, generated, is_fair
from training.rewards.rewarding import rewarding

NUM = 4
STRICTLY = AuditLimits(strict=True)


@pytest.fixture(scope="module")
def demonstrations():
    return generated(DATASETS, "english", NUM, 0)


@pytest.fixture(scope="module")
def made(demonstrations):
    return list(cases(demonstrations, Style(), NUM, 0))


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1])
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def report_of(made, entry, limits=AuditLimits(), **how):
    with rewarding(
        entry if ":" in entry or entry == "certistar" else f"tests.toy_rewards:{entry}", timeout_s=5, **how
    ) as pay:
        return audited(made, pay, limits)


def audit(*words):
    return CliRunner().invoke(app, ["audit", *map(str, words)], env={"COLUMNS": "200"})


FLAWS = {
    "substring": "several answers at once",
    "last_word": "right answer denied",
    "length": "wrong answer, very long",
    "accepts_empty": "null: nothing",
    "accepts_both": "several answers at once",
    "case_sensitive": "gold, answer in another case",
    "trusts_a_score": "a word to the judge",
    "accepts_the_prompt": "null: the prompt",
    "first_truth": "wrong answer, the right one hidden",
    "not_wrong": "wrong answer in look-alikes",
    "name_is_known": "gold, other names",
    "boxed": "wrong answer, the right one in another place",
    "in_a_thought": "wrong answer, the right one in another place",
    "in_json": "wrong answer, the right one in another place",
    "qed": "wrong answer, words of proofs",
    "long_therefore": "wrong answer, words of proofs",
    "zero_width": "null: characters that nobody sees",
    "denied_is_false": "wrong answer, a denial before it",
}


@pytest.mark.parametrize("name", FLAWS)
def test_a_planted_flaw_is_found_by_its_probe(made, name):
    report = report_of(made, name)
    assert not report.passed
    (row,) = [row for row in report.probes if row.probe == FLAWS[name]]
    assert row.wrong.k > 0
    kind = "false negative" if row.expects == "accept" else "false positive"
    assert {case.kind for case in report.cases if case.probe == row.probe} == {kind}


@pytest.mark.parametrize("how", [{}, {"turns": True}])
def test_honest_rewards_pass_and_are_told_what_they_accept_unproved(made, how):
    for name in ("honest", "honest_of_messages"):
        report = report_of(made, name, **how)
        assert (report.passed, report.false_positives.k, report.false_negatives.k) == (True, 0, 0)
        assert report.unproved.k > NUM
        assert report.false_positives.n > 13 * NUM


def test_one_that_ignores_the_rationale_fails_where_it_must_read_it_and_the_critics_pass(made):
    assert report_of(made, "reads_no_rationale").passed
    report = report_of(made, "reads_no_rationale", STRICTLY)
    assert not report.passed
    assert {case.probe for case in report.cases} >= {"right answer alone", "right answer without a proof"}
    assert report_of(made, "certistar", STRICTLY).passed


def test_an_exception_a_nan_and_a_wrong_length_are_findings_of_a_row(made):
    for name, fault in (
        ("fails", "ZeroDivisionError"),
        ("nan_where_long", "'nan'"),
        ("one_too_few", "gave 15 rewards for 16"),
    ):
        report = report_of(made, name)
        faults = [case for case in report.cases if case.kind == "fault"]
        assert not report.passed
        assert faults
        assert all(fault in case.fault or "gave" in case.fault for case in faults)
        assert sum(row.faults for row in report.probes) == len(faults) < len(made)
    nothing = report_of(made, "says_nothing")
    assert (nothing.passed, nothing.false_negatives.n) == (False, 0)
    assert nothing.note == "no verifier ran: no completion got a reward"
    assert report_of(made, "always").note == "no verifier ran: every completion got 0"
    assert {row.check.partition(".")[0] for row in nothing.probes} == {"semantic", "statistical"}


def test_one_wrong_reward_may_be_few_enough(made):
    report = report_of(made, "name_is_known")
    most = max(row.wrong.k / row.wrong.n for row in report.probes if row.expects != "either")
    assert report_of(made, "name_is_known", AuditLimits(threshold=most)).passed
    assert not report_of(made, "name_is_known", AuditLimits(threshold=most - 0.01)).passed


@pytest.mark.parametrize("format_", ["english", "guided"])
def test_every_probe_is_made_and_its_critic_bears_it_out(made, demonstrations, format_):
    if format_ == "guided":
        demonstrations = generated(DATASETS, format_, 3, 0)
        made = list(cases(demonstrations, Style(), 3, 0))
    assert {case.probe for case in made} >= {probe.name for probe in PROBES if format_ == "english"}
    for case in made:
        shown = case.rollout
        verdict = judge_safely(Attempt("x", shown.problem, format_, shown.completion))
        assert (verdict.grade in STRICT) == (case.expects == "accept"), (case.probe, shown.completion)
    one = demonstrations[0]
    (gold,) = PROBES[0].write(one)
    assert is_fair(one.problem, format_, gold, "accept")
    assert not is_fair(one.problem, format_, gold, "reject")
    assert not is_fair(one.problem, format_, replace(gold, answer=one.wrong[0]), "accept")
    assert not is_fair(one.problem, format_, replace(gold, rationale=""), "reject")


def test_the_shape_and_the_words_are_the_users(demonstrations):
    style = Style("<think>{rationale}</think><answer>{answer}</answer>", {"true": "yes", "false": "no"}, "target_word")
    made = list(cases(demonstrations, style, NUM, 0))
    assert report_of(made, "honest_in_tags").passed
    assert not report_of(made, "honest").passed
    assert {case.rollout.columns["target_word"] for case in made} >= {"yes", "no"}


ROWS = [
    {
        "facts": "Every cat is a mammal. Rex is a cat.",
        "ask": "Is Rex a mammal?",
        "gold": gold,
        "why": why,
        "judge": judge,
    }
    for gold, why, judge in (
        ("yes", "Rex is a cat. Every cat is a mammal. So Rex is a mammal. Answer: yes", 1.0),
        ("yes", "Rex is a dog. So Rex is a mammal. Answer: yes", 1.0),
        ("yes", "Answer: no", 0.0),
    )
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


def test_the_users_rows_are_probed_with_their_columns(file):
    (file.parent / "my_reward.py").write_text(
        "def mine(completions, gold, facts, judge):\n"
        "    print('noise')\n"
        "    return [c.lower().rstrip('. *\\n').endswith(g) for c, g in zip(completions, gold)]\n"
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(file.parent)
        done = audit("--reward", "my_reward:mine", "--data", file, "--json")
    assert done.exit_code == 1, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["problems"], shown["left_out"], shown["false_negatives"]["k"]) == (1, 2, 0)
    assert shown["false_positives"]["n"] > 10
    assert {case["probe"] for case in shown["cases"] if case["kind"] == "false positive"} >= {"several answers at once"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--reward", "tests.toy_rewards:nowhere"], "cannot be imported"),
        (["--reward", "nothing"], "write module:function"),
        (["--reward", "json:dumps"], "has no parameter `completions`"),
        (["--reward", "tests.toy_rewards:other_column", "--num", 1], "--columns answer=verdict_of_mine"),
        (["--reward", "certistar", "--quick"], "--quick goes with critics or a SOURCE alone"),
        (["--reward", "certistar", "--template", "{answer}"], "--template"),
        (["--reward", "certistar", "--data", "nowhere.jsonl"], "there is no such file"),
        (["--strict"], "--strict goes with --reward alone"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_remedy(words, said):
    done = audit(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert "Traceback" not in done.output


def test_an_honest_reward_passes_the_whole_catalogue(demonstrations):
    """Attack: a text of two answers, the last of which is right, would be held against whoever reads the last."""
    made = list(cases(demonstrations[:1], Style(), 1000, 0))
    assert sum(case.probe.startswith("catalogue") for case in made) > 100
    assert report_of(made, "honest").passed
