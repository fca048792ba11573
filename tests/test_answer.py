"""An answer with a proof or none: the gold answer selects nothing, and trusted proofs that differ are a conflict."""

import json

import pytest
import yaml
from typer.testing import CliRunner

from critics.judge import judge_on_trust, judge_record
from critics.problem import Problem, read_problem
from critics.recheck.rejudging import recheck
from rollout.policies.policy import ScriptedPolicy
from rollout.records.sampling import Sampling
from rollout.records.selection import Abstained, AnswerRule, ProvedAnswer, is_settled, majority, outcome, select
from rollout.records.traces import Trace, read_trace
from training.cli import app
from training.commands.answers import Answering, Formalism, attempts_at, blind
from training.workers.strategies import SingleAttempt

CONTEXT = "Every wumpus is a tumpus. Tumpuses are not warm. Rex is a wumpus."
HEAD = "1- [[axiom:(wumpus 'x) -> (tumpus 'x)]] 2- [[axiom:(tumpus 'x) -> {}]] 3- [[axiom:(wumpus rex)]]"
PROOF = (
    HEAD.format("(not (warm 'x))") + "\nFormalized goal: [[goal:(warm rex)]]\n"
    "Reasoning: [[infer:(tumpus rex)]] [[infer:(not (warm rex))]]\nAnswer: false"
)
MISREAD = (
    HEAD.format("(warm 'x)") + "\nFormalized goal: [[goal:(warm rex)]]\n"
    "Reasoning: [[infer:(tumpus rex)]] [[infer:(warm rex)]]\nAnswer: true"
)
"""Proves the opposite from a rule that it has wrong."""
GUESS = "Answer: true"


def problem(number: int = 0, answer: str | None = "false") -> Problem:
    return Problem(f"rex-{number}", "prontoqa", CONTEXT, "True or false: Rex is warm.", answer=answer)


def judged(completion: str, number: int = 0, *, format_: str = "guided", judge=judge_on_trust) -> dict:
    record = {"id": f"rex#{number}", "problem": problem(answer=None).record(), "format": "guided"}
    record |= {"completion": completion}
    return {**record, "format": format_, "judgement": judge(record)}


def made(*completions: str) -> list[Trace]:
    return [read_trace(judged(completion, number)) for number, completion in enumerate(completions)]


def test_a_misread_rule_is_proved_on_trust_alone():
    assert judged(MISREAD)["judgement"]["verdict"] == "certified"
    assert judged(MISREAD)["judgement"]["certificate"]["formalisation"] == "trusted"
    assert judged(MISREAD, judge=judge_record)["judgement"]["reason"] == "axiom_not_in_context"
    assert judged(PROOF, judge=judge_record)["judgement"]["certificate"]["formalisation"] == "checked"


def test_trust_ends_with_the_judging_that_asked_for_it():
    """A cache that remembers what a trusting critic did not look up would make later certificates worthless."""
    trusted = judged(MISREAD)
    assert judged(MISREAD, judge=judge_record)["judgement"]["verdict"] != "certified"
    assert recheck([trusted])["rejected"] == [{"id": "rex#0", "reason": "reference_is_missing"}]
    assert recheck([trusted["judgement"]])["rejected"] == [{"id": "rex#0", "reason": "text_says_otherwise"}]


def test_trust_does_not_use_a_formalisation_that_is_there():
    formal = {"axioms": ["(wumpus rex)"], "goal": "(cold rex)"}
    record = {"id": "a", "problem": {**problem(answer=None).record(), "formal": formal}, "format": "guided"}
    assert judge_on_trust({**record, "completion": PROOF})["verdict"] == "certified"


def test_the_first_proof_answers_and_no_guess_does():
    assert select(made(GUESS, GUESS), AnswerRule()) == Abstained("no_proof")
    found = select(made(GUESS, PROOF), AnswerRule())
    assert isinstance(found, ProvedAnswer)
    assert (found.answer, [proof.id for proof in found.proofs]) == ("false", ["rex#1"])


def test_proofs_of_different_answers_are_a_conflict_until_one_leads_clearly():
    assert select(made(PROOF, MISREAD), AnswerRule()) == Abstained("conflict")
    assert select(made(PROOF, MISREAD), AnswerRule(share=0.5)) == Abstained("conflict")
    many = made(PROOF, PROOF, MISREAD, PROOF, PROOF)
    assert select(many, AnswerRule()) == Abstained("conflict")
    assert isinstance(select(many, AnswerRule(share=0.8)), ProvedAnswer)
    assert select(many[:4], AnswerRule(share=0.8)) == Abstained("conflict")


def test_several_proofs_may_be_asked_for():
    assert select(made(PROOF, GUESS, PROOF), AnswerRule(3)) == Abstained("too_few_proofs")
    found = outcome(made(PROOF, GUESS, PROOF, PROOF, MISREAD), AnswerRule(3))
    assert isinstance(found, ProvedAnswer)
    assert len(found.proofs) == 3


def test_two_formalisms_that_agree_come_before_many_proofs_in_one():
    other = judged(PROOF, 9, format_="fol")
    crowd = [*made(MISREAD, MISREAD, MISREAD, PROOF), read_trace(other)]
    found = select(crowd, AnswerRule(share=0.8))
    assert isinstance(found, ProvedAnswer)
    assert found.formalisms == ("fol", "guided")
    assert found.answer == "false"
    assert not is_settled(made(PROOF), AnswerRule(), 2)
    assert is_settled([*made(PROOF), read_trace(other)], AnswerRule(), 2)


def test_attempts_judged_with_the_gold_answer_select_nothing():
    told = {**judged(PROOF), "problem": problem().record()}
    with pytest.raises(ValueError, match="judged with the gold answer"):
        select([read_trace(told)], AnswerRule())


def test_the_majority_counts_guesses_and_takes_the_first_of_equals():
    assert majority(made(GUESS, PROOF, GUESS)) == ("true", 2 / 3)
    assert majority(made(GUESS, PROOF)) == ("true", 1 / 2)
    assert majority(made("no answer")) is None


def asking(policy: ScriptedPolicy, rule: AnswerRule) -> Answering:
    formalism = Formalism(SingleAttempt("guided"), policy, Sampling(decoding="free"))
    return Answering([formalism], lambda r: map(judge_on_trust, r), 8, 0, lambda made: is_settled(made, rule))


def test_asking_stops_at_each_problem_once_it_is_settled():
    blinded = [blind(problem(i), trusting=True) for i in range(2)]
    policy = ScriptedPolicy([PROOF, GUESS, GUESS, PROOF])
    found = attempts_at(blinded, asking(policy, AnswerRule()), range(5))
    assert [a.id for a in found["rex-0"]] == ["rex-0#0"]
    assert [a.id for a in found["rex-1"]] == ["rex-1#0", "rex-1#1", "rex-1#2"]
    assert len({a.seed for a in found["rex-1"]}) == 3
    assert all(a.problem.answer is None for a in found["rex-1"])


def test_who_writes_and_who_judges_must_not_know_the_answer():
    with pytest.raises(AssertionError, match="blind"):
        attempts_at([problem()], asking(ScriptedPolicy([PROOF]), AnswerRule()), range(1))


EACH = [PROOF, MISREAD, GUESS, PROOF, PROOF, GUESS, PROOF, PROOF, GUESS]
"""Three attempts at each of three problems."""


@pytest.fixture
def scripted(monkeypatch, tmp_path):
    """Return a maker of command lines for three problems, answered by a script."""
    config = {"name": "t", "model": {"name": "none"}, "sampling": {"batch_size": 3}}
    config["arms"] = [{"name": "strict", "keep": "strict", "decoding": "free"}]
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    records = [json.dumps(problem(number).record()) for number in range(3)]
    (tmp_path / "p.jsonl").write_text("\n".join(records))

    def command(*words: str, script=EACH):
        monkeypatch.setattr("training.commands.answers.quiet_policy", lambda *_: ScriptedPolicy(script))
        first = ["answer", str(tmp_path / "c.yaml"), "--problems", str(tmp_path / "p.jsonl"), "-k", "3"]
        return CliRunner().invoke(app, [*first, *words])

    return command


def test_the_command_prints_answers_proofs_and_abstentions(scripted):
    shown = scripted("--formalisation", "trusted", "--proofs", "1", script=[PROOF, MISREAD, GUESS, GUESS, GUESS])
    assert shown.exit_code == 0, shown.output
    assert "rex-0: false (proofs: 1, attempts: 1)" in shown.stdout
    assert "If X is a tumpus, then X is not warm." in shown.stdout
    assert "rex-1: true" in shown.stdout
    assert "rex-2: no answer after 3 attempts, nothing was proved" in shown.stdout
    assert "2 of 3 problems answered" in shown.stderr


def test_checked_proofs_are_of_the_text(scripted):
    shown = scripted("--json", script=[PROOF, MISREAD, GUESS, PROOF, GUESS, GUESS])
    answers = json.loads(shown.stdout)["answers"]
    assert [(a["answer"], a["attempts"], a["reason"]) for a in answers] == [
        ("false", 1, "proved"),
        ("false", 2, "proved"),
        (None, 3, "no_proof"),
    ]


def test_attempts_are_written_where_explain_reads_them(scripted, tmp_path):
    out = tmp_path / "out"
    shown = scripted("--formalisation", "trusted", "--out", str(out), "--json")
    assert shown.exit_code == 0, shown.output
    assert {path.name for path in out.iterdir()} == {"answers.jsonl", "traces.jsonl"}
    told = json.loads(shown.stdout)
    assert told["selective"] == {"n": 3, "answered": told["answered"], "right": told["answered"]}
    (digest,) = {a["certificate"] for a in map(json.loads, (out / "answers.jsonl").open()) if a["certificate"]}
    assert "verdict: certified" in CliRunner().invoke(app, ["trace", digest[:16], "--run", str(out)]).stdout


@pytest.mark.parametrize("words", [["--formalisation", "guessed"], ["--arm", "nobody"]])
def test_what_cannot_be_asked_is_refused(scripted, words):
    assert scripted(*words).exit_code == 2


def test_problems_without_an_answer_can_be_answered_and_not_measured(scripted, tmp_path):
    (tmp_path / "p.jsonl").write_text(json.dumps(problem(answer=None).record()))
    assert read_problem(problem(answer=None).record()).answer is None
    assert "selective" not in json.loads(scripted("--json").stdout)
