"""Hindsight relabels what is sound in a failed trace, launders nothing else, and asks no held-out question."""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from critics.judge import judge_record
from critics.problem import Formal, Problem, read_attempt, read_problem
from critics.recheck.rejudging import recheck
from critics.replay.formula import parse_literal, parse_statement
from critics.replay.kernel import Kernel
from critics.text.reference import reference
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import compose
from rollout.prompts.prompt import problem_text, text
from rollout.prompts.style import PromptStyle
from rollout.records.traces import read_trace
from training.cli import app
from training.configuration.run import RunConfig
from training.curation import derivation as derivations
from training.curation.derivation import Derivation, contents_of, derivation_counts
from training.curation.filters import select
from training.records.store import read_records, write_records
from training.rounds.dataset import curate
from training.rounds.line import Line
from training.workers.local import LocalWorkers

CONTEXT = (
    "Every wumpus is a tumpus. Tumpuses are numpuses. Each numpus is not warm. Jompuses are warm. Rex is a wumpus."
)
AXIOMS = (
    "(wumpus 'x) -> (tumpus 'x)",
    "(tumpus 'x) -> (numpus 'x)",
    "(numpus 'x) -> (not (warm 'x))",
    "(jompus 'x) -> (warm 'x)",
    "(wumpus rex)",
)
FORMAL = Formal(AXIOMS, "(warm rex)")
REX = Problem("rex", "prontoqa", CONTEXT, "True or false: Rex is warm.", answer="false", meta={"hops": 3, "key": "old"})
HEAD = " ".join(f"{i}- [[axiom:{axiom}]]" for i, axiom in enumerate(AXIOMS, 1))
GOAL = "[[goal:(warm rex)]]"
STEPS = "(wumpus 'x) -> (tumpus 'x) [[infer:(tumpus rex)]] (tumpus 'x) -> (numpus 'x) [[infer:(numpus rex)]]"
EARLY = f"Formalized context: {HEAD}\nFormalized goal: {GOAL}\nReasoning: {STEPS}\nAnswer: true"
"""Stops before the proof ends, and guesses wrong."""
HINDSIGHT = Derivation(hindsight=True, held_out=frozenset())


def trace_of(completion: str, problem: Problem = REX, *, trace_id: str = "rex#0", **changes) -> dict:
    return {"id": trace_id, "problem": problem.record(), "format": "guided", "completion": completion, **changes}


def judging(records):
    return [judge_record(record) for record in records]


def judged(trace: dict) -> dict:
    return {**trace, "judgement": judge_record(trace)}


def derive(traces: list[dict], derivation: Derivation, judging) -> tuple[list[dict], Counter[str]]:
    left, failures = derivations.derive(list(map(read_trace, traces)), derivation, judging)
    return [trace.record() for trace in left], failures


def relabelled(trace: dict) -> dict | None:
    made = derivations.relabelled(read_trace(trace))
    return None if made is None else made.record()


def relabelling(trace: dict, derivation: Derivation = HINDSIGHT) -> dict | None:
    """Return the relabelled trace, judged anew, of a trace that fails; None if none is made."""
    failed = judged(trace)
    assert failed["judgement"]["verdict"] != "certified"
    (left,), _ = derive([failed], derivation, judging)
    return None if left == failed else left


def test_an_attempt_that_stops_early_becomes_a_proof_of_where_it_stopped():
    made = relabelling(trace_of(EARLY, completion_ids=[3], finished=False))
    assert made is not None
    assert made["judgement"]["verdict"] == "certified"
    problem = read_problem(made["problem"])
    straight = problem.answer == "true"
    assert problem.question == f"True or false: Rex is {'' if straight else 'not '}a numpus."
    assert problem.formal == Formal(AXIOMS, "(numpus rex)" if straight else "(not (numpus rex))")
    assert (problem.id, problem.context, problem.meta) == ("rex#0~hindsight", CONTEXT, {"hops": 2})
    expected = EARLY.replace(GOAL, f"[[goal:{problem.formal.goal}]]").replace(": true", f": {problem.answer}")
    assert made["completion"] == expected
    assert (made["id"], made["derived_from"], made["by"]) == ("rex#0~hindsight", "rex#0", "hindsight")
    assert (made["completion_ids"], "finished" in made) == ([], False)


def wandering(problem: Problem, rng: random.Random) -> str:
    """Return a text that infers at random, stops short of the goal, and answers wrong."""
    goal = parse_literal(problem.formal.goal)
    kernel = Kernel()
    for axiom in problem.formal.axioms:
        kernel.add_axiom(parse_statement(axiom))
    inferences: list = []
    for _ in range(rng.randint(1, 6)):
        if not (offers := sorted((x for x in kernel.offers if x not in (goal, goal.negated())), key=str)):
            break
        inferences.append(rng.choice(offers))
        kernel.infer(inferences[-1])
    wrong = "false" if problem.answer == "true" else "true"
    return compose(problem, problem.formal, inferences, wrong, style=rng.choice(["compact", "annotated"]))


def test_whatever_is_relabelled_is_certified_and_asks_what_it_proves():
    problems = list(generate(PrOntoQA(ontologies=("fictional", "false", "true")), 240, seed=5))
    failed = [
        judged(trace_of(wandering(p, random.Random(i)), p, trace_id=f"{p.id}#0", prompt=text(p, PromptStyle())))
        for i, p in enumerate(problems)
    ]
    left, failures = derive(failed, HINDSIGHT, judging)
    made = [trace for trace in left if "derived_from" in trace]
    assert len(made) > 150
    assert failures["relabel_failed"] == 0
    result = recheck(made)
    assert result["accepted"] == len(made)
    for trace in made:
        problem = read_problem(trace["problem"])
        assert reference(replace(problem, formal=None)).formal.goal == problem.formal.goal
        assert trace["prompt"] == text(problem, PromptStyle())
        proof = trace["judgement"]["certificate"]["evidence"]["steps"]
        assert trace["completion"].count("[[infer:") == sum(step["by"] == "rule" for step in proof)
        assert problem.meta["hops"] == trace["completion"].count("[[infer:")
    share = sum(trace["problem"]["answer"] == "true" for trace in made) / len(made)
    assert 0.4 < share < 0.6


def test_what_is_made_of_a_trace_depends_on_nothing_but_itself():
    others = [judged(trace_of(EARLY, trace_id=f"rex#{n}")) for n in range(1, 20)]
    alone = relabelled(trace_of(EARLY))
    assert relabelled(trace_of(EARLY)) == alone
    (first, *rest), _ = derive([judged(trace_of(EARLY)), *others], HINDSIGHT, judging)
    assert {**first, "judgement": None} == {**alone, "judgement": None}
    assert {trace["problem"]["answer"] for trace in rest} == {"true", "false"}


def test_a_wrong_formalisation_is_not_laundered():
    wrong = EARLY.replace("(tumpus 'x) -> (numpus 'x)]]", "(tumpus 'x) -> (jompus 'x)]]")
    launder = wrong.replace("[[infer:(numpus rex)]]", "[[infer:(jompus rex)]]")
    assert relabelled(trace_of(wrong)) is None
    assert relabelled(trace_of(launder)) is None
    unused = EARLY.replace("5- [[axiom", "5- [[axiom:(jompus rex)]] 6- [[axiom")
    assert relabelled(trace_of(unused)) is None
    late = EARLY.replace("(tumpus 'x) -> (numpus 'x) [[infer", "[[axiom:(jompus rex)]] [[infer")
    assert "jompus rex" not in relabelling(trace_of(late))["completion"]


@pytest.mark.parametrize(
    "move",
    [
        "[[infer:(warm rex)]]",
        "[[infer:(tumpus rex)]]",
        "[[infer:(wumpus rex)]]",
        "[[infer:nothing]]",
        "[[goal:(numpus rex)]]",
    ],
    ids=["invalid", "repeated", "given", "nothing", "another goal"],
)
def test_a_trace_is_cut_at_its_first_unsound_move(move):
    made = relabelling(trace_of(EARLY.replace("(tumpus 'x) -> (numpus 'x) [[infer", f"so {move} then [[infer")))
    assert made["problem"]["formal"]["goal"].replace("(not ", "").startswith("(tumpus rex)")
    assert made["completion"].count("[[infer:") == 1
    assert move not in made["completion"].replace("[[infer:(tumpus rex)]]", "", 1)


@pytest.mark.parametrize(
    "unsound",
    [
        EARLY.replace(STEPS, ""),
        EARLY.replace(STEPS, "[[infer:(warm rex)]]"),
        EARLY.replace(STEPS, "[[infer:nothing]]"),
        EARLY.replace(GOAL, ""),
        EARLY.replace(GOAL, f"{GOAL} [[goal:(not (warm rex))]]"),
        EARLY.replace("[[infer:(numpus rex)]]", "[[infer (numpus rex)]]"),
        EARLY.replace("[[infer:(numpus rex)]]", "[[infer:(numpus rex"),
    ],
    ids=["none", "invalid", "nothing", "no goal", "two goals", "infer in plain words", "open block"],
)
def test_what_proves_nothing_is_not_relabelled(unsound):
    assert relabelling(trace_of(unsound)) is None


def test_a_proof_of_what_was_asked_with_the_wrong_answer_proves_no_other_goal():
    proved = "(numpus 'x) -> (not (warm 'x)) [[infer:(not (warm rex))]]"
    only = Formal(("(numpus 'x) -> (not (warm 'x))", "(numpus rex)"), "(warm rex)")
    problem = replace(REX, context="Each numpus is not warm. Rex is a numpus.")
    assert relabelling(trace_of(compose(problem, only, [parse_literal("(not (warm rex))")], "true"), problem)) is None
    made = relabelling(trace_of(EARLY.replace("\nAnswer", f" {proved}\nAnswer")))
    assert made["problem"]["question"].endswith("a numpus.")
    assert "warm" not in made["completion"].split("Reasoning:")[1]


@pytest.mark.parametrize(
    "spoiled",
    [
        EARLY.replace("(tumpus 'x) -> (numpus 'x) [[infer", "(jompus 'x) -> (warm 'x) [[infer"),
        EARLY.replace("(tumpus 'x) -> (numpus 'x) [[infer", "which contradicts the goal [[infer"),
        EARLY.replace("(tumpus 'x) -> (numpus 'x) [[infer", "so it is not true [[infer"),
        EARLY.replace(GOAL, f"Is Rex hot? {GOAL}"),
        EARLY.replace(f"{GOAL}\n", f"{GOAL}\nRex may be hot.\n"),
    ],
    ids=["the old property", "the goal", "a truth value", "a question before the goal", "a sentence after it"],
)
def test_words_about_the_old_question_are_not_kept(spoiled):
    made = relabelling(trace_of(spoiled))
    assert made is None or "[[infer:(numpus rex)]]" not in made["completion"]
    assert made is None or "Is Rex hot" not in made["completion"]


def test_words_after_their_inference_stay_with_it():
    steps = "[[infer:(tumpus rex)]] Rex is a tumpus. [[infer:(numpus rex)]] Rex is a numpus."
    made = relabelling(trace_of(EARLY.replace(STEPS, steps)))
    assert f"\nReasoning: {steps}\nAnswer: {made['problem']['answer']}" in made["completion"]


def test_options_keep_their_order_and_their_letters():
    problem = replace(REX, options=("A) False", "B) True"), answer="A")
    letters = {"true": "B", "false": "A"}
    for number in range(8):
        made = relabelling(trace_of(EARLY, problem, trace_id=f"rex#{number}"))
        truth = made["completion"].rpartition("Answer: ")[2]
        assert made["problem"]["options"] == ["A) False", "B) True"]
        assert made["problem"]["answer"] == made["judgement"]["answer"] == letters[truth]


def test_options_that_say_neither_true_nor_false_are_left_alone():
    problem = replace(REX, options=("A) Rex is warm", "B) Rex is cold"), answer="B")
    assert relabelling(trace_of(EARLY, problem)) is None


def test_a_dialog_is_left_alone():
    trace = trace_of(EARLY)
    trace["messages"] = [{"role": "assistant", "content": trace.pop("completion")}]
    assert relabelling(trace) is None


def test_without_a_translated_text_nothing_is_relabelled():
    assert relabelling(trace_of(EARLY, replace(REX, dataset="mine", formal=FORMAL))) is None
    untranslatable = replace(REX, context=f"{CONTEXT} Rex, who is big, sleeps.", formal=FORMAL)
    assert relabelling(trace_of(EARLY, untranslatable)) is None


@pytest.mark.parametrize("verdict", ["timeout", "error", "malformed", "vacuous"])
def test_a_verdict_that_says_nothing_of_the_text_is_no_failure(verdict):
    trace = judged(trace_of(EARLY))
    trace["judgement"]["verdict"] = verdict
    assert derive([trace], HINDSIGHT, judging)[0] == [trace]


def test_a_contradictory_context_proves_nothing():
    context = f"{CONTEXT} Tumpuses are not numpuses."
    axioms = [*AXIOMS, "(tumpus 'x) -> (not (numpus 'x))"]
    text = EARLY.replace(HEAD, " ".join(f"[[axiom:{axiom}]]" for axiom in axioms))
    trace = judged(trace_of(text, replace(REX, context=context)))
    left, failures = derive([trace], HINDSIGHT, judging)
    assert left == [trace]
    assert failures["relabel_failed"] == 1


@pytest.mark.parametrize("question", ["Rex is a numpus.", "Rex is not a numpus.", "True or false: Rex is a numpus."])
def test_a_held_out_question_or_its_negation_never_becomes_training_data(question):
    shuffled = ". ".join(reversed(CONTEXT.rstrip(".").split(". "))) + "."
    held_out = Problem("h", "prontoqa", shuffled, question, answer="true")
    derivation = Derivation(hindsight=True, held_out=contents_of([held_out]))
    trace = judged(trace_of(EARLY))
    left, failures = derive([trace], derivation, judging)
    assert left == [trace]
    assert derivation_counts(list(map(read_trace, left)), failures, derivation)["leaked"] == 1
    elsewhere = contents_of([replace(held_out, question="Rex is a tumpus.")])
    assert relabelling(trace_of(EARLY), Derivation(hindsight=True, held_out=elsewhere)) is not None


def test_without_held_out_problems_the_leaks_are_unknown_not_none():
    unknown = Derivation(hindsight=True)
    left, failures = derive([judged(trace_of(EARLY))], unknown, judging)
    counts = derivation_counts(list(map(read_trace, left)), failures, unknown)
    assert counts == {
        "relabelled": 1,
        "relabel_failed": 0,
        "leaked": None,
    }


def test_the_same_question_with_the_same_text_is_kept_once():
    again = [judged(trace_of(EARLY, trace_id=f"rex#{n}")) for n in range(12)]
    left, _ = derive(again, HINDSIGHT, judging)
    kept = select(map(read_trace, left), "strict")
    assert sorted(trace.problem.answer for trace in kept) == ["false", "true"]


def test_the_prompt_asks_the_new_question_and_keeps_its_examples():
    style = PromptStyle("few-shot", 2)
    made = relabelling(trace_of(EARLY, prompt=text(REX, style)))
    assert made["prompt"] == text(read_attempt(made).problem, style)
    chat = f"<|user|>{problem_text(REX).strip()}<|assistant|>"
    asked = problem_text(read_attempt(made).problem).strip()
    assert relabelling(trace_of(EARLY, prompt=chat))["prompt"] == f"<|user|>{asked}<|assistant|>"


def test_a_prompt_that_asks_in_other_words_is_not_rewritten():
    assert relabelling(trace_of(EARLY, prompt="Is Rex warm?")) is None


def test_the_filter_relabels_and_says_what_it_did_not_compare(tmp_path):
    traces, held_out = tmp_path / "traces.jsonl", tmp_path / "held_out.jsonl"
    traces.write_text(json.dumps(trace_of(EARLY)) + "\n")
    held_out.write_text(json.dumps(replace(REX, question="Rex is a numpus.").record()) + "\n")
    command = ["filter", str(traces), "--keep", "strict", "--hindsight", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "not compared" in done.output
    (example,) = read_records(tmp_path / "out/examples.jsonl")
    assert "numpus.\n" in example["prompt"]
    (derived,) = read_records(tmp_path / "out/derived.jsonl", checksum=True)
    assert recheck([derived])["accepted"] == 1
    assert derived["judgement"]["certificate"]["digest"] == example["certificate"]
    command[-1] = str(tmp_path / "compared")
    done = CliRunner().invoke(app, [*command, "--held-out", str(held_out)])
    assert done.exit_code == 0, done.output
    assert not list(read_records(tmp_path / "compared/examples.jsonl"))
    assert json.loads((tmp_path / "compared/summary.json").read_text())["leaked"] == 1


class Here(LocalWorkers):
    def judge(self, records):
        return judging(records)


SEED = Path(__file__).parents[1] / "checkpoints/seed"


def line(run, **arm) -> Line:
    arms = [{"name": "both", "keep": "strict", "decoding": "guided", "text": "proved", "hindsight": True, **arm}]
    config = RunConfig.model_validate({"name": "t", "model": {"name": str(SEED)}, "arms": arms})
    return Line(config, run, config.arms[0], 0, Here())


def stored(folder, traces):
    write_records(folder / "traces.jsonl", traces, checksum=True)
    return folder / "traces.jsonl"


def test_a_round_curates_derived_traces_and_a_killed_one_ends_the_same(tmp_path):
    tumpus = replace(REX, question="True or false: Rex is a tumpus.", answer="true")
    sampled = {"completion_ids": [1], "hint": False, "sample": 0}
    traces = [
        judged(trace_of(EARLY, prompt=text(REX, PromptStyle()), **sampled)),
        judged(trace_of(EARLY.replace(GOAL, "[[goal:(tumpus rex)]]"), tumpus, trace_id="rex#1", prompt="p", **sampled)),
    ]
    for name in ("one", "two"):
        curate(line(tmp_path / name), 0, stored(tmp_path, traces))
    folders = [tmp_path / name / "round-000" / "dataset" for name in ("one", "two")]
    (folders[1] / "summary.json").unlink()
    (folders[1] / "derived.jsonl").unlink()
    curate(line(tmp_path / "two"), 0, stored(tmp_path, traces))
    for file in ("examples.jsonl", "derived.jsonl", "summary.json"):
        assert (folders[0] / file).read_bytes() == (folders[1] / file).read_bytes()
    summary = json.loads((folders[0] / "summary.json").read_text())
    assert {k: summary[k] for k in ("sampled", "certified", "kept", "cut", "relabelled", "leaked", "examples")} == {
        "sampled": 2, "certified": 1, "kept": 2, "cut": 1, "relabelled": 1, "leaked": 0, "examples": 2,
    }  # fmt: skip
    ids = [example["id"] for example in read_records(folders[0] / "examples.jsonl")]
    assert ids == ["round-000/rex#0~hindsight", "round-000/rex#1~proved"]
    assert recheck(read_records(folders[0] / "derived.jsonl", checksum=True))["accepted"] == 2


def test_a_round_asks_no_question_that_its_evaluation_asks(tmp_path):
    own = line(tmp_path)
    asked = replace(REX, question="True or false: Rex is a numpus.", answer="true").record()
    held_out = tmp_path / "held_out.jsonl"
    held_out.write_text("".join(json.dumps({**asked, "id": f"h{n}"}) + "\n" for n in range(2)))
    sections = {"held_out": {"file": str(held_out)}, "evaluation": {"num_problems": 2}}
    config = RunConfig.model_validate({**own.config.model_dump(), **sections})
    curate(replace(own, config=config), 0, stored(tmp_path, [judged(trace_of(EARLY))]))
    summary = json.loads((tmp_path / "round-000" / "dataset" / "summary.json").read_text())
    assert (summary["leaked"], summary["relabelled"], summary["kept"]) == (1, 0, 0)


def test_a_plain_strict_round_derives_nothing(tmp_path):
    trace = judged(trace_of(EARLY, prompt="p", completion_ids=[1]))
    curate(line(tmp_path, text="sampled", hindsight=False), 0, stored(tmp_path, [trace]))
    folder = tmp_path / "round-000" / "dataset"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "certificates.jsonl",
        "examples.jsonl",
        "lineage.jsonl",
        "summary.json",
    ]
    assert not {"cut", "relabelled", "leaked"} & json.loads((folder / "summary.json").read_text()).keys()


def test_other_data_sets_are_asked_in_their_own_words():
    lead = "Based on the above information, is the following statement true, false, or unknown?"
    problem = Problem(
        id="pw",
        dataset="proofwriter",
        context="Bob is kind. Charlie is rough. If something is rough then it is cold. All cold things are round.",
        question=f"{lead} Charlie is kind.",
        options=("A) True", "B) False", "C) Unknown"),
        answer="C",
    )
    formal = reference(problem).formal
    steps = [parse_literal(text) for text in ("(cold charlie)", "(round charlie)")]
    asked = {"A": f"{lead} Charlie is round.", "B": f"{lead} Charlie is not round."}
    answers = set()
    for number in range(8):
        made = relabelling(trace_of(compose(problem, formal, steps, "true"), problem, trace_id=f"pw#{number}"))
        assert made["problem"]["question"] == asked[made["problem"]["answer"]]
        assert recheck([made])["accepted"] == 1
        answers.add(made["problem"]["answer"])
    assert answers == {"A", "B"}


def test_a_goal_that_cannot_be_denied_in_words_is_not_asked():
    context = (
        "The cat likes the dog. If something likes the dog then it likes the cow. Bob is red. All red things are big."
    )
    problem = Problem("pw", "proofwriter", context, "True or false: Bob is kind.", answer="unknown")
    formal = reference(problem).formal
    likes, big = parse_literal("(likes cat cow)"), parse_literal("(big bob)")
    for number in range(6):
        only, both = (
            trace_of(compose(problem, formal, steps, "true", style="annotated"), problem, trace_id=f"pw#{number}")
            for steps in ([likes], [likes, big])
        )
        assert relabelling(only) is None
        assert "big" in relabelling(both)["problem"]["question"]
