"""A program on trust that other problems would take as well is not kept; one about its own problem is."""

from dataclasses import replace

from critics.judge import judge_record
from critics.problem import Problem
from rollout.records.traces import Trace, read_judgement
from training.curation.filters import independent, select

CONTEXTS = ("Tom is a cat. All cats are warm.", "Tom is a dog. All dogs are warm.", "Tom is an owl. No owl is warm.")
FITTING = "Premises:\n{0}(tom)\n∀x ({0}(x) → warm(x))\nConclusion:\nwarm(tom)\n"


def trace(number: int, completion: str, **changes: object) -> Trace:
    """Return a judged attempt at one of the problems, whatever it says."""
    problem = Problem(f"p{number}", "mine", CONTEXTS[number], "Is Tom warm?")
    bare = Trace(f"t{number}", problem, "fol", completion)
    return replace(bare, judgement=read_judgement(judge_record(bare.record()) | changes))


def judging(records):
    return [judge_record(record) for record in records]


def test_an_honest_program_fits_its_own_problem_alone():
    traces = [trace(0, FITTING.format("cat")), trace(1, FITTING.format("dog"))]
    assert [t.judged.verdict for t in traces] == ["certified", "certified"]
    assert independent(select(traces, "trusted"), "trusted", judging) == (traces, [])


def test_a_program_that_fits_other_problems_is_left_out():
    traces = [trace(0, FITTING.format("cat")), trace(1, FITTING.format("dog"))]
    lenient = [{"verdict": "certified"}]

    def of_all(records):
        return [verdict for record in records for verdict in lenient if record["problem"]["answer"] is None]

    assert independent(traces, "trusted", of_all) == ([], ["t0", "t1"])
    assert independent(traces, "naive", of_all) == (traces, [])


def test_what_was_compared_with_the_text_is_not_judged_again():
    checked = replace(trace(0, FITTING.format("cat")).judged, certificate={"formalisation": "checked", "evidence": {}})
    others = [replace(trace(number, ""), judgement=checked) for number in (0, 1)]

    def never(records):
        raise AssertionError("what was compared needs no second look")

    assert independent(others, "strict", never) == (others, [])
