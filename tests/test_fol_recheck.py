"""Re-checking certificates of entailments: what is changed in one is found, also where the digest is made right."""

import copy
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critics.formats.fol.critic import judge_fol
from critics.judge import judge_record
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest
from critics.replay.first_order import entailments
from critics.verdict import Certified
from tools.trust import formalised

AXIOMS = ("∀x. (Cat(x) → Warm(x))", "∀x. (Fish(x) → ¬Warm(x))", "Cat(tom)", "Fish(wanda)", "Small(rex) ∨ Small(tom)")
GOALS = {"true": "Warm(tom)", "false": "Warm(wanda)", "unknown": "Small(tom)"}
Change = Callable[[dict[str, Any]], Any]


def certificate(answer: str = "true", *, checked: bool = False, axioms: tuple[str, ...] = AXIOMS) -> dict[str, Any]:
    formal = Formal(AXIOMS, GOALS[answer]) if checked else None
    given = Problem("p", "mine", "Prose.", "Is it so?", answer=answer, formal=formal)
    text = "Premises:\n" + "\n".join(axioms) + "\nConclusion:\n" + GOALS[answer]
    verdict = judge_fol(given, Attempt("a", given, "fol", text))
    assert isinstance(verdict, Certified)
    return json.loads(json.dumps(verdict.certificate.record()))


def outcome(certified: dict[str, Any], answer: str | None = None) -> str:
    """Return `accepted`, `seconded`, or the reason of the rejection."""
    claim = certified.get("claim") if answer is None else answer
    report = recheck([{"id": "a", "verdict": "certified", "answer": claim, "certificate": certified}])
    if report["rejected"]:
        return report["rejected"][0]["reason"]
    return "seconded" if report["second_opinion"] else "accepted"


def changed(certified: dict[str, Any], change: Change) -> dict[str, Any]:
    """Return a changed copy whose digest is right."""
    copied = copy.deepcopy(certified)
    change(copied)
    copied["digest"] = digest(copied)
    return copied


def evidence(**changes: Any) -> Change:
    return lambda c: c["evidence"].update(changes)


def model(name: str, **changes: Any) -> Change:
    return lambda c: c["evidence"]["models"][name].update(changes)


@pytest.mark.parametrize("answer", GOALS)
@pytest.mark.parametrize("checked", [True, False])
def test_an_honest_certificate_is_accepted_and_its_proof_needs_no_solver(
    answer: str, checked: bool, monkeypatch: pytest.MonkeyPatch
):
    certified = certificate(answer, checked=checked)
    monkeypatch.setattr("critics.replay.first_order.entailments.decide", None)
    assert outcome(certified) == "accepted"


def no_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no instances contradict each other, as where they are too many: a solver has to be asked."""
    monkeypatch.setattr("critics.replay.first_order.entailments.refuted", lambda _: False)


def test_what_instances_do_not_show_another_solver_seconds(monkeypatch: pytest.MonkeyPatch):
    no_instances(monkeypatch)
    assert outcome(certificate("true")) == "seconded"


def test_nine_in_ten_certified_programs_about_folio_are_proofs_and_no_opinions(
    shared: Path, monkeypatch: pytest.MonkeyPatch
):
    """Issue 30, of recorded programs by GPT-5 and R1: the standard library replays them, and no solver is asked."""
    with gzip.open(shared / "data" / "recorded_fol_gpt5_r1_partA.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [formalised(json.loads(line)) for line in list(lines)[1::6]]
    found = [verdict for verdict in map(judge_record, records) if verdict["verdict"] == "certified"]
    asked: list[object] = []
    decide = entailments.decide
    monkeypatch.setattr(entailments, "decide", lambda *given: asked.append(given) or decide(*given))
    proofs = 0
    for verdict in found:
        asked.clear()
        assert recheck([verdict])["accepted"] == 1, verdict["id"]
        proofs += not asked
    assert len(found) > 30
    assert proofs >= 0.9 * len(found), (proofs, len(found))


def test_premises_in_other_words_are_compared_too():
    reworded = ("∀x. (¬Warm(x) → ¬Cat(x))", "Cat(tom)")
    certified = certificate(checked=True, axioms=reworded)
    assert outcome(certified) == "accepted"
    assert outcome(changed(certified, evidence(premises=["∀x. Warm(x)"]))) in ("has_a_model", "no_model")


def test_without_cvc5_z3_solves_again_and_there_is_no_second_opinion(monkeypatch: pytest.MonkeyPatch):
    no_instances(monkeypatch)
    monkeypatch.setitem(sys.modules, "cvc5", None)
    assert outcome(certificate("true")) == "accepted"
    assert outcome(certificate("unknown")) == "accepted"
    stronger = changed(certificate("true"), evidence(conclusion="Warm(rex)"))
    assert outcome(stronger) != "accepted"


CHANGES: dict[str, tuple[Change, set[str]]] = {
    "another claim": (lambda c: c.update(claim="false"), {"claim"}),
    "another gold answer": (lambda c: c["problem"].update(answer="false"), {"answer"}),
    "another result": (evidence(result="unknown"), {"claim"}),
    "a result that there is not": (evidence(result="maybe"), {"ill_formed"}),
    "another conclusion": (evidence(conclusion="Small(rex)"), {"ill_formed", "no_model", "has_a_model"}),
    "the opposite conclusion": (evidence(conclusion="¬Warm(tom)"), {"no_model"}),
    "fewer premises": (evidence(premises=list(AXIOMS[1:])), {"has_a_model"}),
    "no premises": (evidence(premises=[]), {"ill_formed"}),
    "a premise that contradicts": (evidence(premises=[*AXIOMS, "¬Cat(tom)"]), {"no_model"}),
    "the goal as a premise": (evidence(premises=[*AXIOMS, "Warm(tom)"]), {"goal_assumed"}),
    "an open premise": (evidence(premises=[*AXIOMS, "Small(y)"]), {"free_variable"}),
    "a premise with a repair": (evidence(premises=[*AXIOMS, "Cat(tom)."]), {"ill_formed"}),
    "a premise in another spelling": (evidence(premises=["∀x (Cat(x) → Warm(x))", *AXIOMS[1:]]), {"ill_formed"}),
    "a premise that does not parse": (evidence(premises=[*AXIOMS, "Cat(("]), {"ill_formed"}),
    "a premise with another arity": (evidence(premises=[*AXIOMS, "Cat(tom, tom)"]), {"ill_formed"}),
    "premises without end": (evidence(premises=["Cat(tom)"] * 20_000), {"ill_formed"}),
    "a tautology": (evidence(conclusion="Warm(tom) ∨ ¬Warm(tom)"), {"no_model"}),
    "no model of the premises": (lambda c: c["evidence"]["models"].update(holds=None), {"models"}),
    "a model too many": (
        lambda c: c["evidence"]["models"].update(fails=c["evidence"]["models"]["holds"]), {"models"}),
    "an unknown model": (lambda c: c["evidence"]["models"].update(other=None), {"models"}),
    "a model without objects": (model("holds", size=0), {"ill_formed"}),
    "a model that is too large": (model("holds", size=10**9), {"ill_formed"}),
    "a model of nothing": (model("holds", predicates={}), {"ill_formed"}),
    "a model in which the goal fails": (
        lambda c: c["evidence"]["models"].update(holds=c["evidence"]["models"]["contingent"]),
        {"no_model", "ill_formed"}),
    "a reference that is not there": (evidence(reference="given"), {"ill_formed"}),
    "checked without a reference": (lambda c: c.update(formalisation="checked"), {"ill_formed"}),
    "a reference though trusted": (
        lambda c: c["problem"].update(formal={"axioms": list(AXIOMS), "goal": GOALS["true"]}), {"ill_formed"}),
    "another engine": (lambda c: c.update(engine="certistar-horn/1"), {"unknown_kind"}),
    "another kind": (lambda c: c.update(kind="horn-proof"), {"unknown_kind"}),
    "limits of floats": (lambda c: c.update(limits={"rlimit": True, "wall_ms": 1}), {"ill_formed"}),
    "repairs that are none": (lambda c: c.update(repairs=[1]), {"ill_formed"}),
    "a key too many": (lambda c: c.update(more=1), {"ill_formed"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_changed_is_found_though_the_digest_is_right(name: str):
    change, reasons = CHANGES[name]
    certified = changed(certificate(), change)
    assert outcome(certified) in reasons


CHECKED_CHANGES: dict[str, tuple[Change, set[str]]] = {
    "another goal in the reference": (lambda c: c["problem"]["formal"].update(goal="Small(tom)"), {"has_a_model"}),
    "another axiom in the reference": (
        lambda c: c["problem"]["formal"]["axioms"].append("¬Small(rex)"), {"no_model", "accepted", "seconded"}),
    "an axiom less in the reference": (lambda c: c["problem"]["formal"]["axioms"].pop(0), {"has_a_model"}),
    "the goal as a premise": (evidence(premises=[*AXIOMS, "Warm(tom)"]), {"has_a_model"}),
    "a premise that is not said": (evidence(premises=[*AXIOMS, "Small(wanda)"]), {"has_a_model", "no_model"}),
    "other symbols": (evidence(premises=[*AXIOMS, "Fluffy(tom)"]), {"no_model", "ill_formed", "other_vocabulary"}),
    "a reference that does not parse": (lambda c: c["problem"]["formal"].update(goal="(("), {"ill_formed"}),
    "a reference of another form": (lambda c: c["problem"].update(formal=[]), {"ill_formed"}),
    "no reference": (lambda c: c["problem"].update(formal=None), {"ill_formed"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKED_CHANGES)
def test_a_reference_that_says_something_else_is_found(name: str):
    change, reasons = CHECKED_CHANGES[name]
    assert outcome(changed(certificate(checked=True), change)) in reasons


def test_a_changed_byte_is_found_by_the_digest():
    certified = certificate()
    certified["evidence"]["premises"][2] = "Cat(rex)"
    assert outcome(certified) == "digest"


@pytest.mark.parametrize("value", [None, [], "x", 0, {}, {"kind": "fol-entailment"}, {"kind": []}], ids=repr)
def test_what_is_no_certificate_is_rejected(value: Any):
    report = recheck([{"id": "a", "verdict": "certified", "answer": "true", "certificate": value}])
    assert [rejection["reason"] for rejection in report["rejected"]] == ["ill_formed"]


def test_every_part_of_the_evidence_matters():
    """Any one row of a model or sign of a formula that is taken away leaves an honest certificate or a rejected one."""
    certified = certificate("unknown")
    for name in ("holds", "fails"):
        tables = certified["evidence"]["models"][name]["predicates"]
        for symbol, rows in tables.items():
            for row in range(len(rows)):
                lessened = changed(
                    certified, lambda c, n=name, s=symbol, r=row: c["evidence"]["models"][n]["predicates"][s].pop(r)
                )
                assert outcome(lessened) in ("no_model", "accepted", "judged_otherwise")
    swapped = changed(
        certified,
        lambda c: c["evidence"].update(
            models={
                "holds": c["evidence"]["models"]["fails"],
                "fails": c["evidence"]["models"]["holds"],
                "contingent": None,
            }
        ),
    )
    assert outcome(swapped) == "no_model"


def test_a_trace_cannot_borrow_a_certificate():
    given = Problem("p", "mine", "Prose.", "Is it so?", answer="true")
    verdict = {"id": "a", "verdict": "certified", "answer": "true", "certificate": certificate()}
    assert recheck([{"id": "a", "problem": given.record(), "judgement": verdict}])["accepted"] == 1
    other = Problem("p", "mine", "Prose.", "Is it otherwise?", answer="true")
    for problem, name in ((other, "a"), (given, "b")):
        assert recheck([{"id": name, "problem": problem.record(), "judgement": verdict}])["accepted"] == 0
    referred = Problem("p", "mine", "Prose.", "Is it so?", answer="true", formal=Formal(("Cat(tom)",), "Cat(tom)"))
    assert recheck([{"id": "a", "problem": referred.record(), "judgement": verdict}])["accepted"] == 0


def test_a_trace_must_hold_the_formulas_of_its_certificate():
    given = Problem("p", "mine", "Prose.", "Is it so?", answer="true")
    verdict = {"id": "a", "verdict": "certified", "answer": "true", "certificate": certificate()}
    honest = "Premises:\n" + "\n".join(AXIOMS) + "\nConclusion:\nWarm(tom)"

    def accepted(text: str) -> int:
        trace = {"id": "a", "problem": given.record(), "format": "fol", "completion": text, "judgement": verdict}
        return recheck([trace])["accepted"]

    assert accepted(honest) == 1
    assert accepted(honest.replace("∀x. (Cat(x) → Warm(x))", "all x. (Cat(x) -> Warm(x)) ::: cats")) == 1
    for other in (honest.replace("Cat(tom)", "Cat(tom)."), honest.replace("Warm(tom)", "Cat(tom)"), "Warm(tom)", "(("):
        assert accepted(other) == 0


def test_a_record_must_answer_what_its_certificate_claims():
    assert outcome(certificate(), "false") == "answer_is_not_claim"
    assert certificate()["kind"] == "fol-entailment"


def test_an_answer_that_only_a_conjunction_gives_is_not_believed():
    honest = certificate(axioms=(*AXIOMS, "Warm(tom) ∧ Small(tom)"))
    assert outcome(honest) in ("accepted", "seconded")
    hidden = changed(honest, lambda c: c["evidence"]["premises"].remove("∀x. (Cat(x) → Warm(x))"))
    assert outcome(hidden) == "has_a_model"
