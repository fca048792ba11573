import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critics.errors import InputError
from critics.judge import judge_record
from critics.recheck.rejudging import recheck
from critics.replay.formula import Application, FormulaError, parse_literal
from critics.replay.sorts import SortError
from critics.text.background import background
from rollout.prompts.demonstration import demonstrate
from rollout.published.loaders import load_published
from tools.deontiqa.convert import BARRING, DEFECTS, REPAIRS, load_deontiqa, story_names, survey_deontiqa
from tools.deontiqa.peano import fit, read_theory

CONSENTS = ("consent-given", "consent-withdrawn")
GRANTED = background("deontiqa")
SIGNATURE = GRANTED.signature
SOURCE = """
let b1 : person.
let g1 : group.
let f1 : event.
let f2 : event.
let org1 : (organizer f1 b1).
let dur1 : (short f1). let rem1 : reminder = (hours_before b1 f1).
let d1 : [('f : event) -> (short 'f) -> (impermissible (cancel_event 'f))].

Result:
(d1 f1 dur1) : (impermissible (cancel_event f1))
"""
BASE = {
    "id": "one",
    "domain": "calendar",
    "level": 1,
    "index": 0,
    "variant": "base",
    "context": "1- There are two people. 2- The gala is short.",
    "rules": None,
    "question": "Is it impermissible to cancel the gala?",
    "answer": "yes",
    "peano": SOURCE,
}
NEGATED = {
    **BASE,
    "id": "one_negated_0",
    "variant": "negated_0",
    "question": "Is it permissible to cancel the gala?",
    "answer": "no",
    "peano": None,
}


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def published(shared: Path) -> Path:
    return shared / "data" / "deontiqa.jsonl.gz"


def attempt(problem) -> dict:
    text = demonstrate(problem, problem.formal)
    return {"id": problem.id, "problem": problem.record(), "format": "guided", "completion": text}


def fitted(*extra: str, source: str = SOURCE):
    """The source with more declarations before its result."""
    return fit(read_theory(source.replace("\nResult", "\n".join(["", *extra]) + "\n\nResult")), SIGNATURE)


def test_a_source_becomes_facts_rules_and_the_rules_nobody_states(tmp_path: Path):
    base, negated = load_deontiqa(write(tmp_path / "set.jsonl", BASE, NEGATED))
    stated = ("(organizer f1 b1)", "(short f1)", "(short 'f) -> (impermissible (cancel-event 'f))")
    assert base.formal.axioms == negated.formal.axioms == (*stated, *GRANTED.axioms)
    assert (base.formal.goal, base.answer) == ("(impermissible (cancel-event f1))", "true")
    assert (negated.formal.goal, negated.answer) == ("(permissible (cancel-event f1))", "false")
    assert negated.meta == {
        "domain": "calendar",
        "level": 1,
        "index": 0,
        "variant": "negated_0",
        "names": {},
        "repairs": [],
        "left_out": [],
        "defects": [],
    }


@pytest.mark.parametrize(
    ("asked", "goal"),
    [
        ("Is it not obligatory to cancel the gala?", "(not (obligatory (cancel-event f1)))"),
        ("Is it obligatory to cancel the gala?", "(obligatory (cancel-event f1))"),
    ],
)
def test_the_question_gives_the_modality_and_the_source_the_action(tmp_path: Path, asked, goal):
    record = {**NEGATED, "question": asked, "answer": "yes" if "not" in asked else "no"}
    path = write(tmp_path / "set.jsonl", BASE, record)
    assert list(load_deontiqa(path))[1].formal.goal == goal
    assert survey_deontiqa(path)["one_negated_0"].is_sound


def test_a_binder_is_a_premise_only_where_nothing_else_tells_the_sort():
    got = fitted(
        "let d2 : [('f : event) -> ('b : person) -> (busy 'b 'f) -> (permissible (add_participant 'f 'b))].",
        "let d3 : [('f : event) -> ('g : group) -> (long 'f) -> (obligatory (add_participant 'f 'g))].",
        "let d4 : [('f : event) -> ((hours_before b1 'f) : reminder) -> (long 'f)].",
        "let d5 : [('f : event) -> ('b : person) -> (short 'f) -> (long 'f)].",
    )
    assert [str(rule) for _, rule in got.rules][1:] == [
        "(busy 'b 'f) -> (permissible (add-participant 'f 'b))",
        "(long 'f) -> (group 'g) -> (obligatory (add-participant 'f 'g))",
        "(reminder (hours-before b1 'f)) -> (long 'f)",
        "(short 'f) -> (long 'f)",
    ]
    assert list(map(str, got.declarations)) == ["(group g1)", "(reminder (hours-before b1 f1))"]


@pytest.mark.parametrize(
    ("line", "word", "statement"),
    [
        ("let e1 : (long f2)\nlet e2 : (short f2).", "missing-dot", "(long f2)"),
        ("let e1 : (long f2.", "unbalanced", "(long f2)"),
        ("let e1 : (long f2)).", "unbalanced", "(long f2)"),
        ("let e1 : [(long f1) -> (short f1).", "unbalanced", "(long f1) -> (short f1)"),
        ("let e1 : [(long f1 -> (short f1)].", "unbalanced", "(long f1) -> (short f1)"),
        ("let e1 : (organizer b1 f2).", "swapped", "(organizer f2 b1)"),
        (
            "let e1 : [(long f1) -> (permissible (add_participant b1 f1))].",
            "swapped",
            "(long f1) -> (permissible (add-participant f1 b1))",
        ),
        ("let e1 : (organizr f2 b1).", "spelling", "(organizer f2 b1)"),
        ("let org1 : (organizer f2 b1).", "redeclared", "(organizer f2 b1)"),
        (
            "let e1 : [(organizer f2 'b) -> (permissible (add_participant 'f 'b))].",
            "unbound",
            "(organizer f2 'b) -> (event 'f) -> (permissible (add-participant 'f 'b))",
        ),
    ],
)
def test_what_is_plainly_meant_is_repaired_and_reported(line, word, statement):
    got = fitted(line)
    assert not got.left_out
    assert statement in [str(s) for s in got.statements()]
    assert [repair.word for repair in got.repairs] == [word]
    assert word in REPAIRS


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("let e1 : (available b1 f1).", "no symbol available"),
        ("let e1 : [(long 'f) -> (cancel_event 'f)].", "is of sort action, and no statement"),
        ("let e1 : [(group_participant 'f 'g) -> (permissible (delegate_event 'f 'g))].", "'g is of sort group"),
        ("let e1 : (long f1 f2).", "1 argument"),
        ("let e1 : (long f9).", "not of the sorts event"),
        ("let e1 : ((long f1)).", "'(' is not a name"),
        ("let e1 : consent = (consent_given p1 t1).", "not of the sorts patient, treatment"),
        ("let e1 : (permissible (send_notification f1)).", "not of the sorts invite"),
    ],
)
def test_what_is_in_no_one_way_well_sorted_is_left_out(line, told):
    got = fitted(line)
    ((name, why),) = got.left_out
    assert name == "e1"
    assert told in why
    assert len(got.facts) + len(got.rules) == 3


def test_consent_is_a_fact_about_the_treatment_that_a_name_stands_for():
    source = "let p1 : patient.\nlet t1 : (surgery p1).\nlet c1 : consent = (consent_given p1 t1).\n\nResult:\n"
    got = fit(read_theory(source), SIGNATURE)
    assert [str(fact) for _, fact in got.facts] == ["(consent-given p1 (surgery p1))", "(surgery p1)"]
    assert [repair.word for repair in got.repairs] == ["recorded"]


@pytest.mark.parametrize(
    ("change", "defects"),
    [
        ({"answer": "no"}, ("wrong-answer",)),
        ({"question": "Is it obligatory to cancel the gala?"}, ("other-question", "wrong-answer")),
        ({"question": "May one cancel the gala?"}, ("other-question",)),
        ({"peano": SOURCE.partition("Result")[0]}, ("no-conclusion",)),
        ({"peano": SOURCE.replace("dur1) :", "dur1)")}, ("left-out", "no-conclusion")),
        ({"peano": SOURCE.replace("dur1 : (short", "dur1 : (long")}, ("undecided",)),
        ({"peano": SOURCE.replace("\nRes", "let d2 : (permissible (cancel_event f1)).\n\nRes")}, ("inconsistent",)),
        ({"peano": SOURCE.replace("\nRes", "let d2 : (long f1 f1).\n\nRes")}, ("left-out",)),
    ],
)
def test_what_stays_wrong_is_named(tmp_path: Path, change, defects):
    path = write(tmp_path / "set.jsonl", {**BASE, **change})
    (finding,) = survey_deontiqa(path).values()
    (problem,) = load_deontiqa(path)
    assert finding.defects == tuple(problem.meta["defects"]) == defects
    assert finding.is_sound == (defects == ("left-out",))
    assert set(defects) <= set(DEFECTS)


def test_a_record_that_asks_nothing_is_no_problem_but_is_listed(tmp_path: Path):
    lost = {**NEGATED, "question": None}
    orig = {**BASE, "id": "orig", "variant": "orig", "question": None, "context": None, "answer": None, "peano": None}
    path = write(tmp_path / "set.jsonl", BASE, lost, orig)
    assert [problem.id for problem in load_deontiqa(path)] == ["one"]
    found = survey_deontiqa(path)
    assert {id_: f.defects for id_, f in found.items()} == {
        "one": (),
        "one_negated_0": ("no-question",),
        "orig": ("no-source",),
    }


def test_a_variant_without_its_base_has_no_formalisation(tmp_path: Path):
    (problem,) = load_deontiqa(write(tmp_path / "set.jsonl", NEGATED))
    assert problem.formal is None
    assert problem.meta["defects"] == ["no-source"]


def test_the_projects_own_lines_come_back_unchanged(tmp_path: Path):
    problems = list(load_deontiqa(write(tmp_path / "a.jsonl", BASE, NEGATED)))
    again = write(tmp_path / "b.jsonl", *(problem.record() for problem in problems))
    assert list(load_deontiqa(again)) == problems
    assert list(load_published(again)) == problems
    with pytest.raises(InputError, match=r"convert the file in a clone"):
        list(load_published(write(tmp_path / "c.jsonl", BASE), "deontiqa"))


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({**BASE, "answer": "perhaps"}, "line 2: answer: 'perhaps' is neither"),
        ({**BASE, "peano": 7}, "line 2: peano: the text"),
        ({**BASE, "context": None}, "line 2: problem.context must be text"),
        ({"id": "x", "dataset": "wason"}, "line 2: dataset: 'wason' is not deontiqa"),
        ([], "line 2: a problem must be a JSON object"),
    ],
)
def test_a_bad_record_is_named_with_its_line(tmp_path: Path, record, told):
    path = write(tmp_path / "set.jsonl", {**BASE, "id": "zero", "index": 1}, record)
    with pytest.raises(InputError, match=told):
        list(load_deontiqa(path))


STORY = (
    '1- There are two employees: Dr. Adams and Manager Lee. 2- They have a group called "Exec Team". '
    "3- They have two upcoming events: a board dinner and an event on new ideas. 4- Adams hosts the board dinner."
)
OBJECTS = {"b1": "person", "b2": "person", "g1": "group", "f1": "event", "f2": "event"}


def named(question: str, fact: str = "(organizer f1 b1)", taken: tuple[str, ...] = ()):
    goal = parse_literal("(obligatory (delegate-event f1 b2))")
    return story_names(STORY, question, OBJECTS, [parse_literal(fact)], goal, taken)


def test_a_story_names_the_objects_in_the_order_of_the_source():
    assert named("Is it obligatory to delegate the board dinner to Lee?") == {
        "b1": "adams",
        "b2": "lee",
        "g1": "exec-team",
        "f1": "board-dinner",
        "f2": "event-on-new-ideas",
    }


def test_names_stay_where_the_story_is_not_in_order():
    assert named("Is it obligatory to delegate the event on new ideas to Lee?") == {}
    assert named("Is it obligatory to delegate the board dinner to Lee?", fact="(organizer f2 b2)") == {}
    assert named("Is it obligatory to delegate the board dinner to Lee?", taken=("lee",)) == {}


def test_of_112_published_records_88_are_problems_and_58_can_be_proved(shared: Path):
    found = survey_deontiqa(published(shared))
    problems = {problem.id: problem for problem in load_deontiqa(published(shared))}
    assert (len(found), len(problems)) == (112, 88)
    assert set(problems) == {f.id for f in found.values() if f.is_problem}
    assert sum(f.is_sound for f in found.values()) == 58
    assert Counter(d for f in found.values() for d in f.defects if d in BARRING) == {
        "inconsistent": 18,
        "no-source": 16,
        "undecided": 10,
        "no-question": 8,
        "wrong-answer": 2,
    }
    bases = [found[id_] for id_, problem in problems.items() if problem.meta["variant"] == "base"]
    assert Counter(r.split(":")[0] for f in bases for r in f.repairs) == {
        "swapped": 18,
        "redeclared": 6,
        "recorded": 8,
        "missing-dot": 4,
        "unbound": 2,
        "spelling": 1,
    }
    assert sum(len(f.left_out) for f in bases) == 31
    assert sum(bool(p.meta["names"]) for p in problems.values() if p.meta["variant"] == "base") == 30


def test_the_known_wrong_labels_and_inconsistent_theories_are_found(shared: Path):
    found = survey_deontiqa(published(shared))
    ids = {id_.removeprefix("deontiqa/"): f.defects for id_, f in found.items()}
    assert {i for i, d in ids.items() if "wrong-answer" in d} == {
        "calendar_problem_1_00_negated_1",
        "triage_problem_1_00",
    }
    assert {i for i, d in ids.items() if "inconsistent" in d and "negated" not in i} == {
        "calendar_problem_3_01",
        "calendar_problem_4_00",
        "triage_problem_2_00",
        "triage_problem_3_03",
        "triage_problem_4_00",
        "triage_problem_4_03",
    }


def test_every_sound_problem_is_certified_and_rechecks(shared: Path):
    found = survey_deontiqa(published(shared))
    records = [attempt(p) for p in load_deontiqa(published(shared)) if found[p.id].is_sound]
    judged = [{**record, "judgement": judge_record(record)} for record in records]
    assert Counter(record["judgement"]["verdict"] for record in judged) == {"certified": 58}
    assert {record["judgement"]["certificate"]["formalisation"] for record in judged} == {"given"}
    result = recheck(judged)
    assert (result["accepted"], result["rejected"]) == (58, [])


def test_no_unsound_problem_is_certified(shared: Path):
    found = survey_deontiqa(published(shared))
    for problem in load_deontiqa(published(shared)):
        if not found[problem.id].is_sound:
            assert judge_record(attempt(problem))["verdict"] in ("refuted", "vacuous"), problem.id


def sources(shared: Path) -> list[tuple[str, str]]:
    with gzip.open(published(shared), "rt") as lines:
        records = [json.loads(line) for line in lines]
    return [(record["id"], record["peano"]) for record in records if record["peano"]]


def test_every_step_of_every_gold_derivation_is_offered_in_its_turn(shared: Path):
    num_steps = 0
    for id_, source in sources(shared):
        got = fit(read_theory(source), SIGNATURE)
        kernel = GRANTED.kernel()
        for statement in got.statements():
            kernel.add_axiom(statement)
        for _, conclusion in got.derivation:
            assert conclusion in kernel.offers or conclusion in kernel.known, (id_, str(conclusion))
            if conclusion in kernel.offers:
                kernel.infer(conclusion)
            num_steps += 1
    assert num_steps == 80


def is_of_sort(term, wanted: str, objects: dict[str, str]) -> bool:
    """Say so by a way of its own, from the sorts that the source declares."""
    if isinstance(term, Application):
        sorts, result = SIGNATURE.functions[term.function]
        parts = zip(term.arguments, sorts, strict=True)
        return SIGNATURE.is_below(result, wanted) and all(is_of_sort(t, s, objects) for t, s in parts)
    return SIGNATURE.is_below(SIGNATURE.constants.get(term) or objects[term], wanted)


def test_no_reachable_state_of_any_theory_offers_what_is_ill_sorted(shared: Path):
    num_offers = 0
    for id_, source in sources(shared):
        text = read_theory(source)
        kernel = GRANTED.kernel()
        for statement in fit(text, SIGNATURE).statements():
            kernel.add_axiom(statement)
        rng, seen = random.Random(id_), set()
        while kernel.offers:
            for offer in kernel.offers.keys() - seen:
                wanted = SIGNATURE.predicates[offer.predicate]
                assert all(is_of_sort(t, s, text.objects) for t, s in zip(offer.arguments, wanted, strict=True))
            seen |= kernel.offers.keys()
            kernel.infer(rng.choice(sorted(kernel.offers, key=str)))
        num_offers += len(seen)
    assert num_offers > 1000


def offered(step: dict[str, Any]) -> dict[Any, set[str]]:
    """What the real engine offered, with the rules that give it."""
    found = {}
    for text in step["offered"]:
        try:
            literal = parse_literal(text.replace("_", "-"))
        except FormulaError:
            assert text == "nothing"
            continue
        found[literal] = {proof[0].replace("_", "-") for proof in step["proofs"].get(text, [])}
    return found


def recorded(shared: Path) -> list[dict[str, Any]]:
    with gzip.open(shared / "conformance" / "peano_deontic.jsonl.gz", "rt") as lines:
        return [record for record in map(json.loads, lines) if "error" not in record]


def test_the_offers_are_the_recorded_ones_but_for_repairs_and_ill_sorted_rules(shared: Path):
    """The real engine, state by state; it has no contrapositives, and takes any event for `((..'e) : invite)`."""
    shared_offers, num_files = 0, 0
    for record in recorded(shared):
        num_files += 1
        got = fit(read_theory(record["theory"]), SIGNATURE)
        kernel = GRANTED.kernel()
        names = dict(enumerate([["ob-perm"], ["im-perm"], ["ours"], ["ours"]]))
        for statement in [*got.declarations, *(fact for _, fact in got.facts)]:
            kernel.add_axiom(statement)
        for name, rule in got.rules:
            names.setdefault(kernel.add_axiom(rule), []).append(name)
        changed = {repair.name for repair in got.repairs} | {name for name, _ in got.left_out} | {"ours"}
        # Rules about an invite or a consent that exists, which the engine reads otherwise.
        changed |= {
            name for name, rule in got.rules if any(p.predicate in ("invite", *CONSENTS) for p in rule.premises)
        }
        for step in record["steps"]:
            theirs = {literal: rules for literal, rules in offered(step).items() if literal not in kernel.known}
            ours = {literal: set(names[rule]) for literal, (rule, _) in kernel.offers.items()}
            for literal in ours.keys() - theirs.keys():
                assert ours[literal] <= changed, (record["id"], str(literal))
            for literal in theirs.keys() - ours.keys():
                assert theirs[literal] <= changed, (record["id"], str(literal))
            shared_offers += len(ours.keys() & theirs.keys())
            picked = parse_literal(step.get("picked", "(no pick)").replace("_", "-"))
            if picked in kernel.offers:
                kernel.infer(picked)
            elif picked not in kernel.known:
                break
    assert num_files == 28
    assert shared_offers == 4090


def test_the_real_engine_offers_ill_sorted_conclusions_in_most_of_these_files(shared: Path):
    ill_sorted = set()
    for record in recorded(shared):
        objects = read_theory(record["theory"]).objects
        for step in record["steps"]:
            for literal in offered(step):
                try:
                    SIGNATURE.sorts_in(literal, objects)
                except SortError:
                    ill_sorted.add(record["id"])
    assert len(ill_sorted) == 17
