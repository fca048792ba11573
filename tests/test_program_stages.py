"""Rates of Elezabi and Akoush: a printed option, or a back-up, stage by stage from one set of traces."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from critics.judge import judge_record
from rollout.policies.policy import ScriptedPolicy
from rollout.programs.lessons import by_stage, stage_names
from rollout.programs.prompt import solved_examples
from rollout.records.sampling import Sampling
from rollout.records.traces import BackupAnswer, Trace
from rollout.settings import ProgramSettings
from rollout.strategies.programs import refine
from tests.in_process import review_here
from training.commands.attempts import read_attempts
from training.curation.filters import judged
from training.reporting.leaderboard import LeaderboardEntry, leaderboard
from training.reporting.programs import program_rows, read_programs, stage_of
from training.rounds.evaluation import measure

LSAT = next(e for e in solved_examples() if e.format == "logic-program")
GOOD, WEAK = LSAT.program, LSAT.program.replace("speaks(Levy) == Tuesday ::: Levy speaks on Tuesday.\n", "")
BROKEN = GOOD.replace("speaks(Levy) ==", "speaks(Levi) ==")
CLASHING = GOOD.replace("speaks(Moss) != Monday", "speaks(Levy) == Thursday")
STAGES = ["prototype", "implicit", "consistency", "error-feedback@1", "error-feedback@2"]


def traced(script: Sequence[str], seed: int = 1, **options: Any) -> Trace:
    asked = {"name": "prototype-then-refine", "samples": 1, "prototypers": (), "max_rounds": 2, **options}
    [trace] = refine(
        ScriptedPolicy(script), [LSAT.problem], ProgramSettings(**asked), Sampling(), seed=seed, review=review_here
    )
    return trace


def judging(records: Any) -> list[dict[str, Any]]:
    return [judge_record(record) for record in records]


def measured(*traces: Trace) -> Any:
    named = [replace(t, problem=replace(t.problem, id=f"q{n}"), id=f"q{n}#0") for n, t in enumerate(traces)]
    return measure(list(judged(named, judging)), Sampling(), judging, by_stage, seed=1)


def counts(mode: Any) -> dict[str, tuple[int, int, int]]:
    return {s["stage"]: tuple(s[k] for k in ("executable", "executable_right", "overall")) for s in mode["by_stage"]}


def test_stages_are_cut_out_of_one_set_of_traces() -> None:
    mended = traced([BROKEN, WEAK, BROKEN, BROKEN, GOOD, "Answer: B"])
    assert stage_names(mended) == STAGES
    versions = [trace.completion for trace in by_stage(mended)]
    assert versions == [BROKEN, WEAK, WEAK, WEAK, GOOD]
    assert by_stage(mended)[-1] is mended
    assert counts(measured(mended, traced([GOOD]))) == {
        "prototype": (1, 1, 1), "implicit": (1, 1, 1), "consistency": (1, 1, 1),
        "error-feedback@1": (1, 1, 1), "error-feedback@2": (2, 2, 2),
    }  # fmt: skip


def test_a_back_up_counts_for_overall_accuracy_and_for_nothing_else() -> None:
    script = [BROKEN, BROKEN, BROKEN, BROKEN, BROKEN]
    right, wrong = traced([*script, "Answer: A"]), traced([*script, "Answer: B"])
    assert (LSAT.problem.answer, right.backup) == ("A", BackupAnswer("llm", "A"))
    mode = measured(right, wrong)
    assert set(counts(mode).values()) == {(0, 0, 1)}
    assert mode["right"] == 0
    records = [right.record(), {**wrong.record(), "id": "other"}]
    [row] = program_rows(read_programs(records, judging(records)), ())
    counted = [row[name]["count"] for name in ("executable_rate", "overall_accuracy", "accuracy")]
    assert counted == [0, 1, 0]


def test_a_right_back_up_saves_no_program_that_answers_wrongly() -> None:
    wrong = GOOD.replace("speaks(Ito) == Monday", "speaks(Ito) == Thursday").replace(
        "speaks(Khan) == Wednesday", "speaks(Ito) == Monday"
    )
    trace = replace(traced([wrong]), backup=BackupAnswer("llm", "A"))
    assert set(counts(measured(trace)).values()) == {(1, 0, 0)}


def test_earlier_stages_have_the_back_up_that_was_not_needed_in_the_end() -> None:
    mended = traced([BROKEN, WEAK, WEAK, GOOD, "Answer: A"])
    assert mended.backup is None
    assert next(iter(by_stage(mended))).backup == BackupAnswer("llm", "A")
    assert counts(measured(mended))["prototype"] == (0, 0, 1)
    lucky = traced([BROKEN, GOOD], seed=3, backup="random", refiners=("error-feedback",))
    alone = traced([BROKEN], seed=3, backup="random", refiners=())
    assert by_stage(lucky)[0].backup == alone.backup
    without = traced([BROKEN, GOOD], backup="none", refiners=("error-feedback",))
    assert by_stage(without)[0].backup is None


@pytest.mark.parametrize("program", [WEAK, CLASHING, BROKEN, "no program at all"])
def test_constraints_that_leave_no_option_are_errors(program: str) -> None:
    trace = traced([program], refiners=(), backup="none")
    mode = measured(trace)
    assert counts(mode)["prototype"] == (0, 0, 0)
    assert sum(mode["errors"].values()) == 1
    assert mode["errors"]["answered"] == 0


def test_the_table_of_an_evaluation_has_rates_stages_and_errors_of_each_arm() -> None:
    modes = {
        name: json.loads(json.dumps(measured(traced(script), traced([GOOD]))))
        for name, script in (("cr", [WEAK, WEAK, GOOD, "Answer: A"]), ("no_cr", [BROKEN] * 5 + ["Answer: B"]))
    }
    answers = [{"dataset": "ar-lsat"}] * 2
    written = leaderboard([LeaderboardEntry("m", name, mode, answers) for name, mode in modes.items()])
    assert "| cr | 2 | 100.0% (2 of 2) | 100.0% (2 of 2) | 100.0% (2 of 2) |" in written
    assert "| cr | prototype | 50.0% (1 of 2) | 100.0% (1 of 1) | 100.0% (2 of 2) |" in written
    assert "| no_cr | error-feedback@2 | 50.0% (1 of 2) | 100.0% (1 of 1) | 50.0% (1 of 2) |" in written
    assert "| name_error | 0 | 1 |" in written
    assert "| the paper's nine | 0 | 1 |" in written


def test_a_file_of_several_arms_is_read_arm_by_arm(tmp_path: Path) -> None:
    records = [{"arm": name, **traced([GOOD]).record()} for name in ("proref", "no_reviewer")]
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    given = read_attempts(path)
    first = traced([GOOD]).id
    assert [each.id for each in given] == [first, f"no_reviewer/{first}"]
    verdicts = [judge_record(dict(each.record)) for each in given]
    rows = program_rows(read_programs([each.record for each in given], verdicts), ())
    assert [row["model"] for row in rows] == ["scripted, proref", "scripted, no_reviewer", "all models"]


def test_one_arm_twice_is_still_refused(tmp_path: Path) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text((json.dumps({"arm": "a", **traced([GOOD]).record()}) + "\n") * 3, encoding="utf-8")
    with pytest.raises(Exception, match="already"):
        read_attempts(path)


def test_an_unknown_gold_answer_makes_nothing_right() -> None:
    trace = replace(traced([GOOD]), problem=replace(LSAT.problem, answer=None))
    judged = measured(trace)
    assert counts(judged)["prototype"] == (1, 0, 0)
    assert stage_of("none", [])["n"] == 0
