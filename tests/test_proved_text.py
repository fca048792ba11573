"""A certified text is cut to what is proved: canonical programs, sentences that something stands behind, no detours."""

import copy
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from critics.judge import judge_record
from critics.problem import Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.formula import parse_statement
from critics.replay.kernel import Kernel
from rollout.problems.prontoqa import PrOntoQA, item
from rollout.prompts.demonstration import compose, decide
from rollout.records.traces import Trace, read_trace
from training.cli import app
from training.configuration.run import ArmConfig
from training.curation import derivation as derivations
from training.curation.derivation import RationaleError, take_apart

PETS = Formal(("(cat tom)", "(cat 'x) -> (pet 'x)", "(cat 'x) -> (furry 'x)", "(pet 'x) -> (loved 'x)"), "(loved tom)")
HEAD = (
    "Formalized context: 1- [[axiom:(cat tom)]] 2- [[axiom:(cat 'x) -> (pet 'x)]] "
    "3- [[axiom:(cat 'x) -> (furry 'x)]] 4- [[axiom:(pet 'x) -> (loved 'x)]]\n"
    "Formalized goal: [[goal:(loved tom)]]\nReasoning:"
)
AFTER = (
    f"{HEAD} [[infer:(furry tom)]] Tom is furry. [[infer:(pet tom)]] Tom is a pet. "
    "[[infer:(loved tom)]] Loved.\nAnswer: true"
)
BEFORE = (
    f"{HEAD} (cat 'x) -> (furry 'x) [[infer:(furry tom)]] (cat 'x) -> (pet 'x) [[infer:(pet tom)]] "
    "(pet 'x) -> (loved 'x) [[infer:(loved tom)]]\nAnswer: true"
)


def derive(traces: list[dict], judging) -> tuple[list[dict], int]:
    left, failed = derivations.derive(list(map(read_trace, traces)), judging)
    return [trace.record() for trace in left], failed


def pets(options: tuple[str, ...] | None = None, answer: str = "true") -> Problem:
    return Problem("pets", "mine", "Tom is a cat.", "Tom is loved.", options, answer, PETS)


def judged(completion: str, problem: Problem | None = None, *, trace_id: str = "pets#0", **changes) -> dict:
    problem = problem or pets()
    trace = {"id": trace_id, "problem": problem.record(), "format": "guided", "completion": completion, **changes}
    return {**trace, "judgement": judge_record(trace)}


def judging(records):
    return [judge_record(record) for record in records]


def pruning(trace: dict) -> tuple[dict, int]:
    """Return what pruning leaves in the trace's place, and how often it failed; its words stay, as if all were read."""
    assert trace["judgement"]["verdict"] == "certified", trace["judgement"]
    read = {**trace, "judgement": {**trace["judgement"], "spans": []}}
    (left,), failed = derive([read], judging)
    return trace if left == read else left, failed


def with_detours(formal: Formal, rng: random.Random) -> list:
    """Return a proof's inferences with others that follow mixed in, all in an order that works."""
    wanted = decide(formal)[1]
    kernel = Kernel()
    for axiom in formal.axioms:
        kernel.add_axiom(parse_statement(axiom))
    inferences: list = []
    for literal in wanted:
        while rng.random() < 0.5 and (others := sorted((x for x in kernel.offers if x not in wanted), key=str)):
            inferences.append(rng.choice(others))
            kernel.infer(inferences[-1])
        inferences.append(literal)
        kernel.infer(literal)
    return inferences


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["compact", "annotated"]))
def test_every_detour_of_a_generated_proof_is_dropped_with_its_words(index, style):
    problem = item(PrOntoQA(), index, seed=3)
    inferences = with_detours(problem.formal, random.Random(index))
    trace = judged(compose(problem, problem.formal, inferences, problem.answer, style=style), problem)
    left, failed = pruning(trace)
    wanted = decide(problem.formal)[1]
    assert failed == 0
    assert left["completion"] == compose(problem, problem.formal, wanted, problem.answer, style=style)
    assert ("derived_from" in left) == (len(inferences) > len(wanted))
    assert recheck([left])["accepted"] == 1


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([AFTER, BEFORE, HEAD, f"{HEAD}\nAnswer: true", f"{HEAD} [[infer:nothing]] so.", "Answer: true"]),
    st.text(" \n\tab.", max_size=4),
    st.text(" \n\t", max_size=4),
)
def test_a_text_taken_apart_and_put_together_is_the_same(text, words, blanks):
    text = text.replace(" [[infer:", f" {words}[[infer:").replace("]] ", f"]]{blanks} ") + blanks
    try:
        assert take_apart(text).text == text
    except RationaleError:
        assert words.strip()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (AFTER, " [[infer:(pet tom)]] Tom is a pet. [[infer:(loved tom)]] Loved.\nAnswer: true"),
        (
            BEFORE,
            " (cat 'x) -> (pet 'x) [[infer:(pet tom)]] (pet 'x) -> (loved 'x) [[infer:(loved tom)]]\nAnswer: true",
        ),
    ],
    ids=["words after", "words before"],
)
def test_words_stay_with_their_inference_wherever_they_stand(text, kept):
    left, failed = pruning(judged(text))
    assert (left["completion"], failed) == (HEAD + kept, 0)


def test_what_follows_the_goal_is_a_detour_too():
    text = f"{HEAD} [[infer:(pet tom)]] A pet. [[infer:(loved tom)]] Loved. [[infer:(furry tom)]] Furry.\nAnswer: true"
    assert pruning(judged(text))[0]["completion"].endswith("[[infer:(loved tom)]] Loved.\nAnswer: true")


def test_lines_stay_lines():
    first, rest = "(cat 'x) -> (furry 'x) [[infer:(furry tom)]]\n", "A [[infer:(pet tom)]]\nB [[infer:(loved tom)]]"
    left, _ = pruning(judged(f"{HEAD} {first}{rest}\nAnswer: true\n"))
    assert left["completion"] == f"{HEAD} {rest}\nAnswer: true\n"


def test_a_cut_trace_says_where_it_comes_from_and_what_was_sampled():
    left, _ = pruning(judged(AFTER, completion_ids=[1, 2], prompt="P", crc="0"))
    assert (left["id"], left["derived_from"], left["by"]) == ("pets#0~proved", "pets#0", "proved")
    assert left["sampled"] == AFTER
    assert (left["completion_ids"], left["prompt"]) == ([], "P")
    assert left["judgement"]["id"] == left["id"]
    assert "crc" not in left


def test_a_trace_without_a_detour_is_left_as_it_is():
    trace = judged(AFTER.replace(" [[infer:(furry tom)]] Tom is furry.", ""), completion_ids=[1])
    assert pruning(trace) == (trace, 0)


def test_a_proof_by_a_letter_keeps_its_letter():
    problem = pets(options=("A) False", "B) True"), answer="B")
    left, _ = pruning(judged(AFTER.replace("Answer: true", "Answer: B"), problem))
    assert left["by"] == "proved"
    assert left["judgement"]["answer"] == "B"
    assert left["completion"].endswith("\nAnswer: B")


def test_that_nothing_follows_is_never_pruned():
    formal = Formal(("(cat tom)", "(cat 'x) -> (pet 'x)"), "(loved tom)")
    problem = Problem("pets", "mine", "Tom is a cat.", "Tom is loved.", answer="unknown", formal=formal)
    text = (
        "1- [[axiom:(cat tom)]] 2- [[axiom:(cat 'x) -> (pet 'x)]]\n[[goal:(loved tom)]]\n"
        "Reasoning: [[infer:(pet tom)]] A pet. [[infer:nothing]] No more.\nAnswer: unknown"
    )
    trace = judged(text, problem)
    assert trace["judgement"]["certificate"]["kind"] == "horn-saturation"
    assert pruning(trace) == (trace, 0)


def test_a_dialog_is_left_as_it_is():
    trace = judged(AFTER)
    del trace["completion"]
    trace["messages"] = [{"role": "assistant", "content": AFTER}]
    assert pruning(trace) == (trace, 0)


@pytest.mark.parametrize(
    "steps",
    [
        "[[infer:(furry tom)]] Tom is furry. [[infer:(pet tom)]] Tom is a pet. [[infer:(loved tom)]]",
        "Look: [[infer:(furry tom)]] Indeed. [[infer:(pet tom)]] A pet. [[infer:(loved tom)]] Loved.",
    ],
    ids=["words at neither end", "words at both ends"],
)
def test_where_words_belong_cannot_be_told_nothing_is_dropped(steps):
    trace = judged(f"{HEAD} {steps}\nAnswer: true")
    assert pruning(trace) == (trace, 0)


def test_blocks_alone_can_always_be_dropped():
    left, _ = pruning(judged(f"{HEAD} [[infer:(furry tom)]] [[infer:(pet tom)]] [[infer:(loved tom)]]\nAnswer: true"))
    assert left["completion"] == f"{HEAD} [[infer:(pet tom)]] [[infer:(loved tom)]]\nAnswer: true"


def test_words_that_go_back_to_a_dropped_inference_keep_it():
    trace = judged(BEFORE.replace("(cat 'x) -> (pet 'x) [[infer:", "Tom is furry. (cat 'x) -> (pet 'x) [[infer:"))
    assert pruning(trace) == (trace, 0)


def test_an_inference_in_plain_words_is_no_inference():
    words = "First infer:(furry tom) and [infer:(furry tom)]; then"
    text = BEFORE.replace("(cat 'x) -> (furry 'x) [[infer:", f"{words} [[infer:")
    assert words not in pruning(judged(text))[0]["completion"]
    mentioned = BEFORE.replace("(cat 'x) -> (furry 'x) [[infer:", "so [[infer is written, [[infer:")
    assert judged(mentioned)["judgement"]["verdict"] == "malformed"


def test_a_certificate_exchanged_for_another_texts_drops_nothing():
    forged = judged(AFTER)
    other = AFTER.replace("[[infer:(pet tom)]] Tom is a pet.", "[[infer:(dear tom)]] Dear.")
    forged["completion"] = other
    assert pruning(forged) == (forged, 0)


def test_a_block_repeated_under_a_forged_verdict_drops_nothing():
    forged = judged(AFTER)
    forged["completion"] = AFTER.replace("\nAnswer", " [[infer:(pet tom)]] A pet again.\nAnswer")
    assert pruning(forged) == (forged, 0)


def test_a_malformed_text_under_a_forged_verdict_drops_nothing():
    forged = judged(AFTER)
    forged["completion"] = f"{AFTER} ]]"
    assert pruning(forged) == (forged, 0)


def test_a_text_that_is_not_certified_once_it_is_cut_is_not_kept():
    (left,), failures = derive([judged(AFTER)], lambda drafts: [{"verdict": "timeout"} for _ in drafts])
    assert left["judgement"]["verdict"] == "timeout"
    assert failures == 1


def test_a_trace_that_strict_does_not_keep_is_not_rewritten():
    cut_off = judged(AFTER, finished=False)
    lucky = judged(f"{HEAD} \nAnswer: true", trace_id="pets#1")
    assert derive([cut_off, lucky], judging)[0] == [cut_off, lucky]


def test_deriving_changes_no_trace():
    trace = judged(AFTER, completion_ids=[1])
    before = copy.deepcopy(trace)
    derive([trace], judging)
    assert trace == before


def test_only_what_is_kept_for_its_proof_is_cut_to_it():
    assert ArmConfig(name="a", keep="strict", decoding="guided", text="proved").text == "proved"
    with pytest.raises(ValueError, match=r"text: .*needs? `keep: strict`"):
        ArmConfig.model_validate({"name": "a", "keep": "naive", "decoding": "free", "text": "proved"})


def written(path, records) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def test_the_filter_writes_examples_and_traces_that_recheck(tmp_path):
    # Nobody reads the prose about these pets, so that `strict` keeps none of it.
    alike = {**judged(AFTER.replace(" [[infer:(furry tom)]] Tom is furry.", "")), "id": "pets#1"}
    del alike["judgement"]
    traces = written(tmp_path / "traces.jsonl", [judged(AFTER), alike])
    done = CliRunner().invoke(
        app, ["filter", traces, "--keep", "trusted", "--text", "proved", "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0, done.output
    (example,) = map(json.loads, (tmp_path / "out/examples.jsonl").read_text().splitlines())
    assert (example["id"], example["derived_from"], example["by"]) == ("pets#0~proved", "pets#0", "proved")
    assert (example["completion_ids"], "furry tom" in example["completion"].split("Reasoning:")[1]) == ([], False)
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (summary["kept"], summary["cut"], summary["cut_failed"], "relabelled" in summary) == (1, 1, 0, False)
    derived = [json.loads(line) for line in (tmp_path / "out/derived.jsonl").read_text().splitlines()]
    assert recheck(derived)["accepted"] == 1
    assert derived[0]["judgement"]["certificate"]["digest"] == example["certificate"]


def test_the_filter_refuses_another_traces_certificate(tmp_path):
    mine, other = (
        judged(AFTER),
        judged(AFTER, Problem("p", "mine", "Rex is a cat.", "Rex is loved.", None, "true", PETS)),
    )
    traces = written(tmp_path / "traces.jsonl", [{**mine, "judgement": {**other["judgement"], "id": mine["id"]}}])
    done = CliRunner().invoke(
        app, ["filter", traces, "--keep", "strict", "--text", "proved", "--out", str(tmp_path / "out")]
    )
    assert done.exit_code == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["kept"] == 0
    assert [entry["reason"] for entry in summary["rejected"]] == ["judged_otherwise"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--keep", "naive", "--text", "proved"], "--text proved needs --keep strict"),
    ],
)
def test_the_filter_says_which_options_go_together(tmp_path, options, said):
    traces = written(tmp_path / "traces.jsonl", [judged(AFTER)])
    done = CliRunner().invoke(app, ["filter", traces, *options, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert said in done.output


PET = Problem("pet", "mine", "Every cat is warm. Tom is a cat.", "Is Tom warm?")
SCRIPT = '''"""Tom is a cat."""
from z3 import *
# Tom is a dog, and the moon is cheese.
Thing = DeclareSort("Thing")
cat = Function("cat", Thing, BoolSort())
warm = Function("warm", Thing, BoolSort())
tom = Const("tom", Thing)
x = Const("x", Thing)
s = Solver()
s.add(ForAll([x], Implies(cat(x), warm(x))))
s.add(cat(tom))
s.add(Not(warm(tom)))
print("Tom is no dog")
print("True" if s.check() == unsat else "Unknown")'''
RULES = "Facts:\nCat(Tom, True){}\nRules:\nCat($x, True) >>> Warm($x, True){}\nQuery:\nWarm(Tom, True){}"
CSP = "Domain:\n1: oldest\n3: newest{}\nVariables:\nred [IN] [1, 2, 3]\nblue [IN] [1, 2, 3]\ngreen [IN] [1, 2, 3]\n"
CSP += "Constraints:\nred < blue{}\ngreen == 3\nAllDifferentConstraint([red, blue, green])\n"
CSP += "Query:\nA) red == 1\nB) blue == 1\nC) green == 1"
LOGIC = "# Declarations\npeople = EnumSort([ann, bea])\ndays = EnumSort([1, 2])\nbakes = Function([people] -> [days])\n"
LOGIC += "# Constraints\nbakes(ann) < bakes(bea){}\n# Options\nis_valid(bakes(ann) == 2){}\nis_valid(bakes(ann) == 1)"


def cut(problem: Problem, format_: str, completion: str) -> Trace:
    trace = {"id": "a", "problem": problem.record(), "format": format_, "completion": completion}
    (left,), _ = derivations.derive([read_trace({**trace, "judgement": judge_record(trace)})], judging)
    assert left.judged.is_certified, left.judged
    assert not left.judged.unread
    return left


THINKING = "Let's think step by step.\n1. **Tom is a cat.**\n2. Every cat is warm, so Tom is warm.\nAnswer: yes"
OWLS = replace(PET, context="Pip is kind. Tom is an owl. Owls are wise.", question="Is Tom wise?")
OWLS_PROVED = "Owls are wise. Tom is an owl. Tom is wise.\nAnswer: true"
FOL = "Premises:\n∀x{} (Cat(x) → Warm(x)){}\nCat(tom){}\nConclusion:\nWarm(tom)"
BOOKS = replace(PET, context="Three books.", question="Which?", options=("red is 1", "blue is 1", "green is 1"))
BAKERS = replace(PET, context="Ann bakes before Bea.", question="Which?", options=("Ann on day 2", "Ann on day 1"))
SAME = Problem("e", "autoeval", "", "", meta={"language": "propositional"})
CLAIM = '{"language": "propositional", "left": "p1 ∧ p2", "right": "p2 ∧ p1"}'
BARE = [
    line.replace('"', "'") for line in SCRIPT.splitlines() if line[:3] not in ('"""', "# T") and "no dog" not in line
]
GUIDED = HEAD + " [[infer:(pet tom)]]{} [[infer:(loved tom)]]{}\nAnswer: true"


@pytest.mark.parametrize(
    ("format_", "problem", "sampled", "proved"),
    [
        ("english", PET, THINKING, THINKING.partition("\n")[2]),
        ("english", OWLS, "Pip is kind. Owls are wise. Tom is an owl. Tom is wise.\nAnswer: true", OWLS_PROVED),
        (
            "fol",
            PET,
            "Here is the whole program:\n" + FOL.format("", " ::: all cats", " ::: and the moon is cheese"),
            FOL.format(".", "", ""),
        ),
        ("rules", PET, RULES.format(" ::: Tom is a cat", " ::: the moon is cheese", ""), RULES.format("", "", "")),
        ("csp", BOOKS, CSP.format("", " ::: The moon is cheese."), CSP.format("", "")),
        ("logic-program", BAKERS, LOGIC.format(" ::: The moon is cheese.", " ::: day 2"), LOGIC.format("", "")),
        ("equivalence", SAME, f"The two are the same:\n{CLAIM}", CLAIM),
        ("z3-python", PET, SCRIPT, "\n".join(BARE)),
        ("guided", pets(), GUIDED.format(" Hooray!", " Ha."), GUIDED.format("", "")),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 14 else "",
)
def test_what_nothing_stands_behind_is_cut_in_every_format(format_, problem, sampled, proved):
    left = cut(problem, format_, sampled)
    assert (left.completion, left.sampled) == (proved, sampled)
    assert cut(problem, format_, left.completion).completion == left.completion


HONEST = Path(__file__).with_name("honest_attempts.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", HONEST, ids=lambda line: json.loads(line)["id"])
def test_an_honest_attempt_proves_the_same_once_it_is_cut(line):
    honest = read_trace({**json.loads(line), "judgement": judge_record(json.loads(line))})
    left = cut(honest.problem, honest.format, honest.completion)
    assert (left.judged.answer, left.judged.grade) == (honest.judged.answer, honest.judged.grade)
