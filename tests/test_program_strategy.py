"""Translate-and-refine and prototype-then-refine from scripts: samples, choices, refinements, back-up answers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from critics.errors import InputError, RunFailed
from critics.judge import judge_record
from critics.problem import Problem
from rollout.decoding.guide import Guide
from rollout.policies.policy import Completion, Interrupted, ScriptedPolicy
from rollout.programs.prompt import problem_text, solved_examples
from rollout.records.sampling import Sampling
from rollout.records.steps import ChosenSample, Rating
from rollout.records.traces import BackupAnswer, Trace
from rollout.settings import ProgramSettings
from rollout.strategies.programs import refine
from tests.in_process import review_here

LSAT = next(e for e in solved_examples() if e.format == "logic-program")
PROBLEM, GOOD = LSAT.problem, LSAT.program
WEAK = GOOD.replace("speaks(Levy) == Tuesday ::: Levy speaks on Tuesday.\n", "")
"""No option holds."""
BROKEN = GOOD.replace("speaks(Levy) == Tuesday", "speaks(Levi) == Tuesday")
"""A name that is not declared."""
CLASHING = GOOD.replace("speaks(Moss) != Monday", "speaks(Levy) == Friday").replace("Thursday])", "Thursday, Friday])")
WRONG = GOOD.replace("speaks(Ito) == Monday", "speaks(Ito) == Thursday").replace(
    "speaks(Khan) == Wednesday", "speaks(Ito) == Monday"
)
"""Its answer is B, and the gold one A."""
FOLIO = next(e for e in solved_examples() if e.format == "fol")


class Script(ScriptedPolicy):
    """A script that keeps what it was asked, and rates texts by a table of its own."""

    def __init__(self, completions: Sequence[str | Completion], ratings: dict[tuple[str, str], float] | None = None):
        super().__init__(completions)
        self.asked: list[str] = []
        self.seeds: list[int] = []
        self.guides: list[Guide | None] = []
        self.ratings = ratings or {}

    def complete(
        self, prompts: Sequence[str], guides: Sequence[Guide] | None, seeds: Sequence[int], sampling: Sampling
    ) -> list[Completion]:
        self.asked += prompts
        self.seeds += seeds
        self.guides += guides or [None] * len(prompts)
        return super().complete(prompts, guides, seeds, sampling)

    def score(self, prompts: Sequence[str], continuations: Sequence[str]) -> list[float]:
        """Rate a program after the problem, and the problem after a program."""
        values: list[float] = []
        for prompt, continuation in zip(prompts, continuations, strict=True):
            role = "reviewer" if continuation == problem_text(PROBLEM) else "coder"
            program = prompt if role == "reviewer" else continuation
            found = [value for (name, part), value in self.ratings.items() if name == role and part in program]
            values.append(found[-1] if found else -50.0)
        return values

    @property
    def left(self) -> int:
        return len(self._left)


def run(policy: Any, settings: ProgramSettings, problem: Problem = PROBLEM, **sampling: Any) -> list[Trace]:
    return list(refine(policy, [problem], settings, Sampling(**sampling), seed=7, review=review_here))


def one(script: Sequence[str | Completion], settings: ProgramSettings | None = None, **options: Any) -> Trace:
    policy = Script(script)
    [trace] = run(policy, settings or ProgramSettings(), **options)
    assert policy.left == 0
    return trace


def purposes(trace: Trace) -> list[str]:
    return [step.get("purpose", step["kind"]) for step in trace.record()["steps"]]


def test_a_program_that_answers_is_left_as_it_is():
    trace = one([GOOD])
    assert purposes(trace) == ["sample"]
    assert (trace.review.kind, trace.review.answer, trace.backup) == ("answered", "A", None)
    assert judge_record(trace.record())["verdict"] == "certified"


def test_an_error_is_told_until_the_program_runs():
    policy = Script([BROKEN, BROKEN, GOOD])
    [trace] = run(policy, ProgramSettings())
    assert purposes(trace) == ["sample", "error-feedback", "error-feedback"]
    assert [step["review"]["kind"] for step in trace.record()["steps"]] == ["unreadable", "unreadable", "answered"]
    assert "line 8" in policy.asked[1]
    assert "Levi is not declared" in policy.asked[1]
    assert trace.completion == GOOD
    assert judge_record(trace.record())["verdict"] == "certified"


def test_rounds_end_at_their_limit_and_the_last_program_is_judged():
    trace = one([BROKEN] * 3, ProgramSettings(max_rounds=2))
    assert purposes(trace) == ["sample", "error-feedback", "error-feedback"]
    assert trace.review.kind == "unreadable"
    assert judge_record(trace.record())["verdict"] == "malformed"


def test_fewer_rounds_are_the_beginning_of_more():
    short = one([BROKEN] * 2, ProgramSettings(max_rounds=1))
    longer = one([BROKEN] * 4, ProgramSettings(max_rounds=3))
    assert [step["seed"] for step in longer.record()["steps"]][:2] == [step["seed"] for step in short.record()["steps"]]


def test_nothing_that_is_read_depends_on_the_gold_answer():
    everything = ProgramSettings(
        name="prototype-then-refine",
        samples=1,
        prototypers=(),
        refiners=("self-check", "implicit", "error-feedback", "semantic"),
        max_rounds=1,
    )
    checks = ["The query is wrong.", WEAK, WEAK, BROKEN, WEAK, "Answer: C"]
    asked: list[list[str]] = []
    for answer in ("A", "B", None):
        policy = Script([WRONG, *checks])
        run(policy, everything, replace(PROBLEM, answer=answer))
        asked.append(policy.asked)
    assert asked[0] == asked[1] == asked[2]


def test_a_wrong_answer_is_not_found_out_before_it_is_judged():
    trace = one([WRONG])
    assert trace.review.answer == "B"
    assert judge_record(trace.record())["verdict"] == "refuted"


def test_the_majority_of_the_answers_chooses():
    settings = ProgramSettings(name="prototype-then-refine", samples=4, refiners=())
    trace = one([BROKEN, WRONG, GOOD, f"```\n{GOOD}\n```"], settings)
    assert trace.steps[-1] == ChosenSample("majority", 2)
    assert trace.completion == GOOD


def test_log_probabilities_rank_programs_none_of_which_answers():
    settings = ProgramSettings(name="prototype-then-refine", samples=3, refiners=(), backup="none")
    misspelt = GOOD.replace("speaks(Moss) !=", "speaks(Mosss) !=")
    ratings = {
        ("coder", "Levi"): -10.0, ("coder", "Friday"): -12.0, ("coder", "Mosss"): -11.0,
        ("reviewer", "Levi"): -9.0, ("reviewer", "Friday"): -6.5, ("reviewer", "Mosss"): -30.0,
    }  # fmt: skip
    policy = Script([BROKEN, CLASHING, misspelt], ratings)
    [trace] = run(policy, settings)
    rated, chosen = trace.steps[-2:]
    assert rated == Rating((-10.0, -12.0, -11.0), (-9.0, -6.5, -30.0))
    assert chosen == ChosenSample("coder-reviewer", 1)
    assert trace.completion == CLASHING


def test_either_side_of_the_product_can_decide_the_ranking():
    settings = ProgramSettings(
        name="prototype-then-refine", samples=2, refiners=(), backup="none", prototypers=("coder-reviewer",)
    )
    for coder, reviewer, chosen in (((-5, -9), (-6, -6), 0), ((-5, -5), (-8, -6), 1), ((-5, -9), (-9, -4), 1)):
        ratings = {
            ("coder", "Levi"): coder[0], ("coder", "Friday"): coder[1],
            ("reviewer", "Levi"): reviewer[0], ("reviewer", "Friday"): reviewer[1],
        }  # fmt: skip
        [trace] = run(Script([BROKEN, CLASHING], ratings), settings)
        assert trace.record()["steps"][-1]["chosen"] == chosen


def test_a_policy_that_cannot_rate_is_named():
    settings = ProgramSettings(name="prototype-then-refine", samples=2, refiners=(), backup="none")
    with pytest.raises(InputError, match="ScriptedPolicy does not tell"):
        run(ScriptedPolicy([BROKEN, BROKEN]), settings)


def test_a_random_prototype_comes_from_the_seed():
    settings = ProgramSettings(
        name="prototype-then-refine", samples=5, prototypers=("random",), refiners=(), backup="none"
    )
    chosen = [one([GOOD] * 5, settings).record()["steps"][-1]["chosen"] for _ in range(2)]
    assert chosen[0] == chosen[1]
    seen = {
        trace.record()["steps"][-1]["chosen"] for trace in run(Script([GOOD] * 60), settings, samples_per_problem=12)
    }
    assert len(seen) > 1


def test_refiners_of_the_paper_speak_in_their_order_while_there_is_no_answer():
    settings = ProgramSettings(name="prototype-then-refine", samples=1, backup="none", max_rounds=2)
    policy = Script([WEAK, WEAK, BROKEN, GOOD])
    [trace] = run(policy, settings)
    assert purposes(trace)[-3:] == ["implicit", "consistency", "error-feedback"]
    assert "takes for granted" in policy.asked[1]
    assert "declared" in policy.asked[2].rpartition(" Request\n")[2]
    assert "no option holds: the constraints are too weak" in policy.asked[3]
    assert [step["kept"] for step in trace.record()["steps"][-3:]] == [True, False, True]
    assert trace.completion == GOOD


def test_a_refinement_that_comes_less_far_is_dropped():
    trace = one([WEAK, BROKEN], ProgramSettings(refiners=("semantic",), max_rounds=1))
    assert trace.record()["steps"][-1]["kept"] is False
    assert trace.completion == WEAK


def test_the_semantic_refiner_shows_what_differs_or_clashes():
    settings = ProgramSettings(refiners=("semantic",), max_rounds=3)
    policy = Script([WEAK, CLASHING, GOOD])
    [trace] = run(policy, settings)
    weak, clashing = policy.asked[1:]
    assert "because the constraints allow: speaks(Ito) = " in weak
    assert "the same as before, but" in weak
    assert "These constraints cannot hold together" in clashing
    assert "`speaks(Levy) == Tuesday`; `speaks(Levy) == Friday`" in clashing
    assert trace.review.answer == "A"


def test_a_self_check_can_pass_a_program_or_have_it_mended():
    settings = ProgramSettings(refiners=("self-check",))
    passed = one([GOOD, "FAITHFUL"], settings)
    assert purposes(passed) == ["sample", "self-check"]
    mended = one([WRONG, "Option A is another one.", GOOD], settings)
    assert purposes(mended) == ["sample", "self-check", "self-check-mend"]
    assert mended.completion == GOOD
    assert "Option A is another one." in mended.record()["steps"][-1]["asked"]


def test_strict_feedback_goes_on_where_an_answer_could_not_be_certified():
    unsaid = GOOD.replace("is_valid(speaks(Ito) == Monday)", "is_valid(speaks(Levy) == Tuesday)")
    assert purposes(one([unsaid])) == ["sample"]
    policy = Script([unsaid, GOOD])
    [trace] = run(policy, ProgramSettings(depth="strict"))
    assert purposes(trace) == ["sample", "error-feedback"]
    assert "does not speak of what its text names" in policy.asked[1]


def test_a_back_up_answer_stands_beside_the_program_and_is_never_certified():
    broken = ProgramSettings(refiners=(), backup="llm")
    trace = one([BROKEN, "Ito is first.\nAnswer: A"], broken)
    record = trace.record()
    assert record["backup"] == {"kind": "llm", "answer": "A"}
    verdict = judge_record(record)
    assert (verdict["verdict"], verdict["answer"]) == ("malformed", None)
    assert one([BROKEN, "no idea"], broken).backup == BackupAnswer("llm", None)
    assert one([GOOD], broken).backup is None


def test_a_random_back_up_is_one_of_the_answers_and_comes_from_the_seed():
    settings = ProgramSettings(refiners=(), backup="random")
    drawn = [trace.backup.answer for trace in run(Script(["?"] * 40), settings, samples_per_problem=40)]  # type: ignore[union-attr]
    assert set(drawn) == set("ABCDE")
    assert drawn == [t.backup.answer for t in run(Script(["?"] * 40), settings, samples_per_problem=40)]  # type: ignore[union-attr]
    open_world = Problem("p", "mine", "A cat is warm.", "Is it?")
    answers = {t.backup.answer for t in run(Script(["?"] * 30), settings, open_world, samples_per_problem=30)}  # type: ignore[union-attr]
    assert answers == {"true", "false", "unknown"}


def test_a_trace_keeps_ids_only_of_a_program_that_answers_the_prompt():
    written = Completion(f"{GOOD}\n", (1, 2, 3), True)
    direct = one([written]).record()
    assert (direct["completion"], direct["completion_ids"], direct["finished"]) == (GOOD, [1, 2, 3], True)
    fenced = one([replace(written, text=f"```\n{GOOD}\n```")]).record()
    assert (fenced["completion"], fenced["completion_ids"]) == (GOOD, [])
    mended = one([Completion(BROKEN, (9,), True), written]).record()
    assert (mended["completion"], mended["completion_ids"]) == (GOOD, [])
    assert [step["completion_ids"] for step in mended["steps"]] == [[9], [1, 2, 3]]
    assert mended["prompt"].endswith(f"{problem_text(PROBLEM)}\n### Reply\n")


def test_a_program_that_was_cut_off_is_told_so():
    policy = Script([Completion(GOOD[:300], (1,), False), GOOD])
    [trace] = run(policy, ProgramSettings())
    assert "cut off by the length limit" in policy.asked[1]
    assert trace.finished


def test_a_critic_that_fails_ends_the_attempt():
    def failing(submissions: Any) -> Any:
        return [replace(r, kind="error", reason="critic_failed") for r in review_here(submissions)]

    [ended] = refine(Script([BROKEN]), [PROBLEM], ProgramSettings(), Sampling(), seed=0, review=failing)
    assert purposes(ended) == ["sample"]


def test_languages_come_from_the_data_set_or_the_settings():
    policy = Script([FOLIO.program, FOLIO.program])
    traces = list(
        refine(policy, [FOLIO.problem, PROBLEM], ProgramSettings(refiners=()), Sampling(), seed=0, review=review_here)
    )
    assert [trace.format for trace in traces] == ["fol", "logic-program"]
    with pytest.raises(InputError, match="set language to logic-program"):
        one([FOLIO.program], ProgramSettings(language="fol", refiners=()))
    other = Problem("p", "mine", "A cat is warm.", "Is it?")
    assert one([FOLIO.program], ProgramSettings(refiners=()), problem=other).format == "fol"


def test_what_is_over_is_yielded_before_a_policy_fails():
    class Failing(Script):
        def complete(self, *arguments: Any, **options: Any) -> list[Completion]:
            if self.left == 0:
                raise Interrupted([None], RunFailed("the server is gone"))
            return super().complete(*arguments, **options)

    seen: list[Trace] = []
    with pytest.raises(RunFailed, match="the server is gone"):
        seen.extend(
            refine(
                Failing([GOOD, BROKEN]),
                [PROBLEM, replace(PROBLEM, id="q")],
                ProgramSettings(),
                Sampling(),
                seed=0,
                review=review_here,
            )
        )
    assert [trace.completion for trace in seen] == [GOOD]


def test_attempts_do_not_depend_on_their_neighbours():
    alone = one([BROKEN, GOOD])
    policy = Script([BROKEN, BROKEN, GOOD, GOOD])
    both = list(
        refine(policy, [PROBLEM, replace(PROBLEM, id="q")], ProgramSettings(), Sampling(), seed=7, review=review_here)
    )
    assert both[0].record() == alone.record()
    assert both[1].seed != alone.seed


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"language": "guided"}, "language"),
        ({"refiners": ("hope",)}, "refiners"),
        ({"prototypers": ("hope",)}, "prototypers"),
        ({"backup": "hope"}, "backup"),
        ({"samples": 0}, "samples"),
    ],
)
def test_settings_that_mean_nothing_are_refused(changes: dict[str, Any], named: str):
    with pytest.raises(ValueError, match=named):
        ProgramSettings(**changes)


def test_refiners_show_how_a_program_was_mended_where_examples_are_shown():
    settings = ProgramSettings(name="prototype-then-refine", samples=1, backup="none", max_rounds=1)
    shown, bare = Script([WEAK, WEAK, WEAK, WEAK]), Script([WEAK, WEAK, WEAK, WEAK])
    run(shown, settings)
    run(bare, settings.trained())
    assert [asked.count("### Reply") for asked in shown.asked] == [3, 6, 6, 6]
    assert [asked.count("### Reply") for asked in bare.asked] == [1, 2, 2, 2]
    for asked, there in zip(shown.asked[1:], ("Bo sits", "nurses", "earlier"), strict=True):
        assert asked.index(there) < asked.rindex(problem_text(PROBLEM))


def test_linc_is_an_arm_of_first_order_samples_and_a_majority():
    settings = ProgramSettings(
        name="prototype-then-refine", language="fol", samples=3, prototypers=("majority",), refiners=(), backup="none"
    )
    turned = FOLIO.program.replace("OnShelf(atlas) :::", "¬OnShelf(atlas) :::")
    trace = one([turned, FOLIO.program, FOLIO.program], settings, problem=FOLIO.problem)
    assert (trace.completion, trace.review.answer) == (FOLIO.program, "A")


def test_the_prompt_opens_with_two_examples_of_the_same_data_set():
    policy = Script([GOOD])
    [trace] = run(policy, ProgramSettings())
    assert policy.asked[0] == trace.prompt
    assert trace.prompt.count("### Reply") == 3
