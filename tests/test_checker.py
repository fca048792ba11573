import copy
import gzip
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import critics
from critics.formats.guided.critic import judge_guided
from critics.formats.horn import horn_certificate
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.answers import in_terms_of
from critics.replay.certificate import Rejected, canonical_json, digest
from critics.replay.derivations import check
from critics.replay.formula import parse_literal, parse_statement
from critics.replay.kernel import Kernel
from critics.text.reference import reference
from critics.verdict import Certified
from rollout.prompts.demonstration import demonstrate

Json = Any
Keys = tuple[str | int, ...]
"""The keys that lead to a text inside a certificate."""
CONTEXT = (
    "Rex is a dog. Every dog is a mammal. Mammals are warm. Tom is a cat. Every cat is not a dog. Dogs are not red."
)
AXIOMS = (
    "(dog rex)",
    "(dog 'x) -> (mammal 'x)",
    "(mammal 'x) -> (warm 'x)",
    "(cat tom)",
    "(cat 'x) -> (not (dog 'x))",
    "(dog 'x) -> (not (red 'x))",
)
RELATIONS = ("(r a b)", "(r b c)", "(r 'x 'y) -> (r 'y 'z) -> (r 'x 'z)", "(r 'x 'y) -> (q 'x) -> (q 'y)", "(q a)")


def certificate_of(problem: Problem) -> dict[str, Any]:
    """Return the certificate of the reference attempt, as it is read back from a file."""
    formal = problem.formal or Formal(AXIOMS, "(warm rex)")
    verdict = judge_guided(problem, Attempt("a", problem, "guided", demonstrate(problem, formal)))
    assert isinstance(verdict, Certified), verdict
    return json.loads(json.dumps(verdict.certificate.record()))


def translated(question: str = "True or false: Rex is warm.") -> dict[str, Any]:
    problem = Problem("p", "prontoqa", CONTEXT, question)
    known = reference(problem)
    assert known is not None
    return certificate_of(Problem("p", "prontoqa", CONTEXT, question, formal=known.formal))


def given() -> dict[str, Any]:
    return certificate_of(Problem("p", "mine", "Prose.", "Is it?", formal=Formal(RELATIONS, "(q c)"), answer="true"))


def lettered() -> dict[str, Any]:
    formal, question = Formal(AXIOMS, "(red rex)"), "Rex is red."
    proof = [AXIOMS[0], AXIOMS[5], "(not (red rex))"]
    problem = Problem("p", "prontoqa", CONTEXT, question, ("A) True", "B) False"), "B", formal)
    text = f"[[axiom:{proof[0]}]][[axiom:{proof[1]}]][[goal:(red rex)]][[infer:{proof[2]}]]\nAnswer: B"
    verdict = judge_guided(problem, Attempt("a", problem, "guided", text))
    assert isinstance(verdict, Certified)
    return json.loads(json.dumps(verdict.certificate.record()))


def trusted() -> dict[str, Any]:
    return certificate_of(Problem("p", "mine", "Prose.", "Is it?"))


MADE = {
    "translated": translated(),
    "disproved": translated("Rex is red."),
    "given": given(),
    "options": lettered(),
    "trusted": trusted(),
}


def sealed(certificate: dict[str, Any]) -> dict[str, Any]:
    """Return the certificate with the digest that it should have."""
    return {**certificate, "digest": digest(certificate)}


def changed(certificate: dict[str, Any], path: Keys, value: Json) -> dict[str, Any]:
    copied = copy.deepcopy(certificate)
    place: Any = copied
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return copied


def leaves(value: Json, path: Keys = ()) -> Iterator[tuple[Keys, Json]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, value


def other_texts(text: str, certificate: dict[str, Any]) -> Iterator[str]:
    """Replace one word after another: by a word that the certificate uses elsewhere, and by one of its own."""
    words = sorted(set(re.findall(r"'?[\w-]+", json.dumps(certificate["evidence"]))))
    pieces = re.split(r"('?[\w-]+|[().:?])", text)
    for index, piece in enumerate(pieces):
        if piece.strip():
            for word in ("zorple", "not", "'x", "rex", words[index % len(words)]):
                if word != piece:
                    yield "".join((*pieces[:index], word, *pieces[index + 1 :]))


def changes(certificate: dict[str, Any]) -> Iterator[tuple[Keys, dict[str, Any]]]:
    """Yield the certificate with one word, number or flag changed, digest left alone."""
    for path, value in leaves(certificate):
        if path == ("digest",):
            continue
        if isinstance(value, str):
            others: Iterator[Json] | list[Json] = other_texts(value, certificate)
        elif isinstance(value, int):
            others = [value + 1, value - 1, -1, True, str(value)]
        else:
            others = ["true", "A", [], {}, 0]
        for other in others:
            yield path, changed(certificate, path, other)


def refused(certificate: Any) -> str | None:
    """Return why checker or recheck refuses; None if both accept."""
    record = {"id": "a", "verdict": "certified", "certificate": certificate}
    record["answer"] = certificate.get("claim") if isinstance(certificate, dict) else None
    rejected = recheck([record])["rejected"]
    return rejected[0]["reason"] if rejected else None


def unverifiable(path: Keys, source: str, claim: str) -> bool:
    """Say what a forger with a correct digest may change, because no evidence depends on it.

    The limits under which the critic worked, and the text of an option that is not claimed, always; context
    and question, where nobody can translate them; with a reference that came with the problem, what it says
    beyond the proof; with no reference, an axiom, as long as the proof still goes through.
    """
    if path[0] == "limits":
        return True
    if path[:2] == ("problem", "options"):
        return path[2] != ord(claim) - ord("A")
    if source == "prontoqa":
        return False
    texts = path[0] == "problem" and path[1] in ("context", "question")
    beyond = source == "given" and path[:3] == ("problem", "formal", "axioms")
    return texts or beyond or (source == "none" and path[:2] == ("evidence", "steps"))


@pytest.mark.parametrize("name", MADE)
def test_what_the_critic_certifies_is_accepted(name: str):
    check(MADE[name])
    assert refused(MADE[name]) is None


def test_every_published_problem_gets_a_certificate_that_is_accepted(shared: Path):
    num_checked = 0
    with gzip.open(shared / "data" / "prontoqa_seed19_1to5hop.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in list(lines)[::20]:
            record = json.loads(line)
            known = reference(Problem("p", "prontoqa", record["context"], record["query"]))
            assert known is not None
            problem = Problem("p", "prontoqa", record["context"], record["query"], None, record["answer"].lower())
            text = demonstrate(problem, known.formal, style="annotated")
            verdict = judge_guided(problem, Attempt("a", problem, "guided", text))
            assert isinstance(verdict, Certified)
            assert refused(json.loads(json.dumps(verdict.certificate.record()))) is None
            num_checked += 1
    assert num_checked > 20


@pytest.mark.parametrize("name", MADE)
def test_every_change_of_one_word_breaks_the_digest(name: str):
    for path, forged in changes(MADE[name]):
        with pytest.raises(Rejected) as rejection:
            check(forged)
        assert str(rejection.value) in ("digest", "unknown_kind", "ill_formed"), path


@pytest.mark.parametrize("name", MADE)
def test_every_change_of_one_word_is_refused_under_a_new_digest(name: str):
    source = MADE[name]["evidence"]["reference"]
    num_refused = 0
    for path, forged in changes(MADE[name]):
        if refused(sealed(forged)) is None:
            same = path[-1] == "answer" and forged["problem"]["answer"] == forged["claim"]
            assert same or unverifiable(path, source, forged["claim"]), (path, forged)
        else:
            num_refused += 1
    assert num_refused > 100


@pytest.mark.parametrize("name", ["given", "trusted"])
def test_what_is_unverifiable_never_changes_claim_goal_or_proof_shape(name: str):
    for _path, forged in changes(MADE[name]):
        if refused(sealed(forged)) is None:
            kept = forged["evidence"]
            assert forged["claim"] == MADE[name]["claim"]
            assert kept["goal"] == MADE[name]["evidence"]["goal"]
            assert [s.get("premises") for s in kept["steps"]] == [
                s.get("premises") for s in MADE[name]["evidence"]["steps"]
            ]


@pytest.mark.parametrize("name", MADE)
def test_dropped_doubled_and_swapped_steps_are_refused(name: str):
    steps = MADE[name]["evidence"]["steps"]
    for index, step in enumerate(steps):
        for forged in (
            [*steps[:index], *steps[index + 1 :]],
            [*steps[:index], step, *steps[index:]],
            [*steps, step],
            [*steps[:index], steps[(index + 1) % len(steps)], *steps[index + 1 :]],
        ):
            assert refused(sealed(changed(MADE[name], ("evidence", "steps"), forged))) is not None


def test_every_missing_and_every_additional_key_is_refused():
    for certificate in MADE.values():
        for path in [(), ("problem",), ("evidence",), ("evidence", "steps", 0), ("evidence", "steps", -1)]:
            place = certificate
            for key in path:
                place = place[key]
            for forged in [{k: v for k, v in place.items() if k != gone} for gone in place] + [{**place, "more": 1}]:
                whole = changed(certificate, path, forged) if path else forged
                assert refused(sealed(whole) if "digest" in whole else whole) is not None


STEPS = MADE["translated"]["evidence"]["steps"]
FORGED: dict[str, tuple[Keys, Json, str]] = {
    "the goal stated": (("evidence", "steps"), [{"statement": "(warm rex)", "by": "axiom"}], "axiom_not_in_context"),
    "a statement nobody uses": (("evidence", "steps"), [*STEPS[:4], STEPS[0], STEPS[4]], "unused_step"),
    "no steps": (("evidence", "steps"), [], "ill_formed"),
    "a proof of something else": (("evidence", "steps"), STEPS[:1], "goal_not_reached"),
    "a proof of a rule": (("evidence", "steps"), [{"statement": AXIOMS[1], "by": "axiom"}], "ill_formed"),
    "a rule taken as a premise": (("evidence", "steps", -1, "premises"), [1], "invalid_step"),
    "a fact taken as a rule": (("evidence", "steps", -1, "rule"), 0, "invalid_step"),
    "a premise too many": (("evidence", "steps", -1, "premises"), [3, 3], "invalid_step"),
    "a step that rests on itself": (("evidence", "steps", -1, "premises"), [4], "forward_reference"),
    "a step that counts from the end": (("evidence", "steps", -1, "premises"), [-1], "forward_reference"),
    "a truth value as an index": (("evidence", "steps", -2, "rule"), True, "forward_reference"),
    "no reference under checked": (("problem", "formal"), None, "ill_formed"),
    "a reference under trusted": (("formalisation",), "trusted", "ill_formed"),
    "the axioms as one text": (("problem", "formal", "axioms"), " ".join(AXIOMS), "ill_formed"),
    "a claim of nothing": (("claim",), None, "ill_formed"),
    "a repair": (("repairs",), ["(warm rex)"], "ill_formed"),
    "a float": (("limits", "work"), 1.0, "ill_formed"),
    "another kind": (("kind",), "answer-set", "unknown_kind"),
    "no digest": (("digest",), None, "digest"),
    "another goal": (("evidence", "goal"), "(dog rex)", "goal_not_reached"),
    "deep nesting": (("limits",), json.loads('{"a":' * 900 + "1" + "}" * 900), "ill_formed"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_refused(name: str):
    path, value, reason = FORGED[name]
    forged = changed(MADE["translated"], path, value)
    with pytest.raises(Rejected) as rejection:
        check(forged if path == ("digest",) else sealed_or_as_it_is(forged))
    assert str(rejection.value) == reason


def sealed_or_as_it_is(certificate: dict[str, Any]) -> dict[str, Any]:
    try:
        return sealed(certificate)
    except ValueError:
        return certificate


def test_a_claim_that_no_option_says_is_refused():
    forged = changed(MADE["options"], ("problem", "options"), ["Warm", "Cold"])
    for claim in (None, "B", "false"):
        for answer in (None, claim):
            both = changed(changed(forged, ("claim",), claim), ("problem", "answer"), answer)
            assert refused(sealed(both)) is not None


def test_a_contradiction_among_the_steps_is_refused():
    steps = [
        {"statement": "(p a)", "by": "axiom"},
        {"statement": "(not (p a))", "by": "axiom"},
        {"statement": "(p 'x) -> (not (p 'x)) -> (q 'x)", "by": "axiom"},
        {"statement": "(q a)", "by": "rule", "rule": 2, "premises": [0, 1]},
    ]
    forged = changed(changed(MADE["trusted"], ("evidence", "steps"), steps), ("evidence", "goal"), "(q a)")
    with pytest.raises(Rejected, match="inconsistent"):
        check(sealed(forged))


def test_a_cycle_does_not_prove_an_assumed_goal():
    steps = [
        {"statement": "(p a)", "by": "axiom"},
        {"statement": "(p 'x) -> (q 'x)", "by": "axiom"},
        {"statement": "(q 'x) -> (p 'x)", "by": "axiom"},
        {"statement": "(q a)", "by": "rule", "rule": 1, "premises": [0]},
        {"statement": "(p a)", "by": "rule", "rule": 2, "premises": [3]},
    ]
    forged = changed(changed(MADE["trusted"], ("evidence", "steps"), steps), ("evidence", "goal"), "(p a)")
    with pytest.raises(Rejected, match="goal_assumed"):
        check(sealed(forged))


def test_variables_of_premises_must_agree_and_must_not_be_captured():
    for statement, expected in (("(s b a)", None), ("(s a b)", "invalid_step"), ("(s b b)", "invalid_step")):
        steps = [
            {"statement": "(r a b)", "by": "axiom"},
            {"statement": "(r 'y 'x) -> (s 'x 'y)", "by": "axiom"},
            {"statement": statement, "by": "rule", "rule": 1, "premises": [0]},
        ]
        forged = changed(changed(MADE["trusted"], ("evidence", "steps"), steps), ("evidence", "goal"), statement)
        assert refused(sealed(forged)) == expected


@pytest.mark.parametrize("junk", [None, 1, "text", [], {}, [{}], {"digest": ""}, {1: 2}, {"kind": []}])
def test_what_is_no_certificate_is_rejected_and_never_raises_anything_else(junk: Any):
    with pytest.raises(Rejected):
        check(junk)
    for path, _ in leaves(MADE["given"]):
        with pytest.raises(Rejected):
            check(sealed(changed(MADE["given"], path[:-1], junk)) if path[:-1] else junk)


def test_the_reference_may_be_worded_otherwise_but_not_mean_something_else():
    reworded = Formal(tuple(a.replace("'x", "'q").replace(" ->", "  ->") for a in AXIOMS[::-1]), "( warm rex )")
    problem = Problem("p", "mine", "Prose.", "Is it?", formal=reworded)
    text = demonstrate(problem, Formal(AXIOMS, "(warm rex)"))
    assert isinstance(judge_guided(problem, Attempt("a", problem, "guided", text)), Certified)


def test_a_long_proof_and_a_long_statement_are_checked_in_linear_time():
    steps = 300
    kernel = Kernel()
    for axiom in ["(p0 a)", "(p1 a)"] + [f"(p{i} a) -> (p{i + 1} a) -> (p{i + 2} a)" for i in range(steps - 1)]:
        kernel.add_axiom(parse_statement(axiom))
    kernel.saturate()
    goal = parse_literal(f"(p{steps} a)")
    certificate = horn_certificate(
        "horn-proof", Problem("p", "mine", "", ""), None, "true", goal, kernel.proof(goal), {"work": 1}
    )
    start = time.process_time()
    check(certificate.record())
    long = changed(MADE["trusted"], ("evidence", "steps", 1, "statement"), "(p a) -> " * 50_000 + "(q a)")
    with pytest.raises(Rejected):
        check(sealed(long))
    assert time.process_time() - start < 2


def test_canonical_json_has_one_spelling():
    assert canonical_json({"b": [1, None], "a": "é"}) == '{"a":"é","b":[1,null]}'.encode()
    with pytest.raises(ValueError, match="floats"):
        canonical_json({"a": [{"b": 1.0}]})


@pytest.mark.parametrize(
    ("value", "options", "said"),
    [
        ("true", None, "true"),
        ("true", ["A) True", "B) False"], "A"),
        ("false", ["(A) true.", "(B) false."], "B"),
        ("unknown", ["True", "False", "C. Uncertain"], "C"),
        ("true", ["True", "A) True"], "A"),
        ("true", ["B) True", "A) False"], None),
        ("true", ["True", "true"], None),
        ("true", [], None),
    ],
)
def test_a_truth_value_is_said_by_exactly_one_option(value: str, options: list[str] | None, said: str | None):
    assert in_terms_of(value, options) == said


def test_the_critics_import_neither_torch_nor_transformers():
    code = (
        "import sys, pkgutil, importlib, critics\n"
        "for module in pkgutil.walk_packages(critics.__path__, 'critics.'): importlib.import_module(module.name)\n"
        "assert not {'torch', 'transformers', 'rollout', 'training'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(critics.__file__).parents[1])
