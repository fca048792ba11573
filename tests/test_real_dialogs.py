"""Dialogs with feedback against resampling at equal tokens."""

import re
from pathlib import Path

from typer.testing import CliRunner

from rollout.actor_critic.demonstration import demonstrate
from rollout.policies.policy import Completion, ScriptedPolicy
from rollout.problems.controlled_english import ControlledEnglish, generate
from rollout.records.sampling import Sampling
from rollout.records.traces import Trace
from rollout.settings import DialogSettings
from rollout.strategies.dialog import converse
from tests.in_process import review_here
from tools import real_dialogs
from training.records.store import write_records

[PROBLEM] = generate(ControlledEnglish(num_premises=(2,), forms=("is", "every")), 1, seed=0)
GOOD = demonstrate(PROBLEM, brief=True)
TURNED = GOOD.replace('["ATOM(', '["ATOM(-') if '["ATOM(-' not in GOOD else GOOD.replace('["ATOM(-', '["ATOM(')
BROKEN = GOOD.replace(":-", "-:", 1)
TOKENS = 50


def dialog(history: str, *replies: str, retries: int = 4) -> Trace:
    """Return a dialog whose replies take 50 tokens each."""
    settings = DialogSettings.model_validate(
        {"history": history, "max_retries": retries, "max_refusals": 0, "instructions": False, "examples": 0}
    )
    policy = ScriptedPolicy([Completion(reply, tuple(range(TOKENS)), True) for reply in replies])
    [trace] = converse(policy, [PROBLEM], settings, Sampling(), seed=0, review=review_here)
    return trace


def count(said: str) -> int:
    return len(said.split())


def test_resampling_writes_as_long_as_its_dialog_has_tokens() -> None:
    told, anew = dialog("last", BROKEN, BROKEN, GOOD, retries=2), dialog("none", *[BROKEN] * 4, GOOD)
    asked = count(told.messages[1]["content"])
    assert real_dialogs.tokens(anew, count) == [(asked, TOKENS)] * 5
    first, second, _ = real_dialogs.tokens(told, count)
    assert first == (asked, TOKENS)
    assert second[0] == asked + sum(count(turn["content"]) for turn in told.messages[2:4])
    for budget, num in ((asked + TOKENS, 1), (asked + TOKENS + 1, 2), (4 * (asked + TOKENS) + 1, 5)):
        assert len(real_dialogs.within(anew, budget, count).turns) == num
    cells = real_dialogs.cells_of([told], [anew], count)
    assert [len(cells[name][0].turns) for name in (real_dialogs.FEEDBACK, real_dialogs.TURNS)] == [3, 3]
    assert len(cells[real_dialogs.TOKENS][0].turns) > 3


def test_what_counts_is_the_last_reply_and_only_the_references_own_rules_are_faithful() -> None:
    mended = real_dialogs.judged(dialog("last", BROKEN, GOOD))
    found = real_dialogs.counts([mended], count)
    assert (found["certified"], found["accepted"], found["mended"], found["faults"]) == ([1], [1], 1, 1)
    assert found["faithful"] == 1
    assert real_dialogs.says_what_the_reference_says(mended)
    assert not real_dialogs.says_what_the_reference_says(dialog("last", TURNED))
    more = GOOD.replace('"], "Tests"', '", "-odd(X) :- even(X)."], "Tests"')
    assert more != GOOD
    assert not real_dialogs.says_what_the_reference_says(dialog("last", more, retries=0))


def test_folders_that_hold_no_dialogs_and_a_model_that_is_not_there_are_told_in_a_sentence(tmp_path: Path) -> None:
    write_records(tmp_path / "dialogs" / "attempts.open.jsonl", [dialog("last", GOOD).record()])
    for folder, said in (("nothing", "no dialogs can be read"), ("dialogs", "run `make real`")):
        words = [tmp_path / folder, tmp_path / "dialogs", "--out", tmp_path, "--tokenizer", tmp_path / "none"]
        done = CliRunner().invoke(real_dialogs.app, [str(word) for word in words])
        assert done.exit_code == 2
        assert re.fullmatch(rf"real_dialogs: .*{said}.*\n", done.stderr)
