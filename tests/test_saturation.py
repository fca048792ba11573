"""`unknown`: certified where a model says that neither the goal nor its negation follows, and nowhere else."""

import copy
import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

import critics
import critics.text.background
from critics.formats.horn import horn_certificate
from critics.judge import judge
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import recheck
from critics.replay.certificate import Rejected, digest
from critics.replay.derivations import check
from critics.replay.formula import canonical_statement, parse_literal, parse_statement
from critics.replay.kernel import Axiom, Entry, Inference
from critics.text.background import Background
from critics.verdict import verdict_record
from critics.verdict.certificate import Reference

Atom = tuple[bool, Any]
"""A sign and (predicate, arguments ..); a function term is a tuple as well, and a variable starts with a quote."""
Theory = list[list[Atom]]
"""Each axiom's premises, and its conclusion last."""
PREDICATES = {"p": 1, "q": 1, "s": 1, "t": 1, "r": 2}
OBJECTS = ("a", "b")
AXIOMS = ("(dog rex)", "(dog 'x) -> (warm 'x)", "(cat 'x) -> (red 'x)", "(warm 'x) -> (not (blue 'x))", "(cat tom)")
GOAL = "(red rex)"
STEPS = ("(warm rex)", "(not (blue rex))", "(red tom)", "nothing")
REFERENCE = Formal(AXIOMS, GOAL)
PROSE: dict[str, Any] = {"id": "p", "dataset": "proofwriter", "context": "Prose.", "question": "Is it?"}


def shown(statement: list[Atom]) -> str:
    return " -> ".join(f"({shown_term(t)})" if sign else f"(not ({shown_term(t)}))" for sign, t in statement)


def shown_term(term: Any) -> str:
    return " ".join(part if isinstance(part, str) else f"({shown_term(part)})" for part in term)


def random_atom(rng: random.Random, terms: tuple[Any, ...]) -> Atom:
    name, num = rng.choice(list(PREDICATES.items()))
    return rng.random() < 0.85, (name, *(rng.choice(terms) for _ in range(num)))


def random_axiom(rng: random.Random, *, functions: bool, universal: bool) -> list[Atom]:
    """A fact, a rule of one to three premises, or a universal fact; where there are functions, terms never grow."""
    objects = ("a", ("f", "a"), ("f", ("f", "a"))) if functions else OBJECTS
    kind = rng.random()
    if kind < 0.4:
        return [random_atom(rng, objects)]
    if universal and kind < 0.5:
        return [random_atom(rng, ("'x", "'y", "a"))]
    patterns = ("'x", "'y", "'z", "a", *((("f", "'x"),) if functions else ()))
    premises = [random_atom(rng, patterns) for _ in range(rng.choice([1, 1, 2, 3]))]
    bound = tuple(sorted({v for _, terms in premises for v in variables(terms)})) or ("a",)
    return [*premises, random_atom(rng, bound)]


def variables(term: Any) -> set[str]:
    if isinstance(term, str):
        return {term} if term.startswith("'") else set()
    return {v for part in term for v in variables(part)}


def parts(term: Any) -> Iterator[Any]:
    """Every term in an atom's or a function's places."""
    for part in term[1:]:
        yield part
        if not isinstance(part, str):
            yield from parts(part)


def filled(term: Any, binding: dict[str, Any]) -> Any:
    return binding.get(term, term) if isinstance(term, str) else tuple(filled(part, binding) for part in term)


def follow(theory: Theory, known: set[Atom], goal: Atom) -> dict[Atom, tuple[int, list[Atom]]]:
    """What one step gives beyond what is known: every rule, every way to put known terms for its variables."""
    atoms = [*known, goal, *(atom for axiom in theory for atom in axiom)]
    terms = sorted({t for _, atom in atoms for t in parts(atom) if not variables(t)}, key=repr)
    found: dict[Atom, tuple[int, list[Atom]]] = {}
    for index, axiom in enumerate(theory):
        names = sorted({v for _, atom in axiom for v in variables(atom)})
        for values in itertools.product(terms, repeat=len(names)):
            binding = dict(zip(names, values, strict=True))
            *premises, conclusion = [(sign, filled(atom, binding)) for sign, atom in axiom]
            if conclusion not in known and all(premise in known for premise in premises):
                found.setdefault(conclusion, (index, premises))
    return found


def model(theory: Theory, goal: Atom) -> dict[Atom, tuple[int, list[Atom]]]:
    """Everything that follows, in an order of inference, with the axiom and the premises of each."""
    known = {atom[0]: (index, []) for index, atom in enumerate(theory) if len(atom) == 1 and not variables(atom[0][1])}
    derived: dict[Atom, tuple[int, list[Atom]]] = {}
    while new := follow(theory, {*known, *derived}, goal):
        derived |= new
    return derived


def said_of(theory: Theory, goal: Atom, derived: dict[Atom, Any]) -> str:
    """Return true, false, unknown, or contradictory."""
    true = {axiom[0] for axiom in theory if len(axiom) == 1} | set(derived)
    if any((not sign, atom) in true for sign, atom in true):
        return "contradictory"
    if any((not sign, atom) in true for sign, atom in [goal]):
        return "false"
    return "true" if goal in true else "unknown"


def drawn(seed: int, *, functions: bool = False, universal: bool = True) -> tuple[Theory, Atom]:
    """Return a theory and a goal, often one that follows or whose negation does."""
    rng = random.Random(seed)
    axioms = [random_axiom(rng, functions=functions, universal=universal) for _ in range(rng.randint(4, 12))]
    theory = list({canonical_statement(parse_statement(shown(axiom))): axiom for axiom in axioms}.values())
    goal = random_atom(rng, (*OBJECTS, "d"))
    derived = list(model(theory, goal))
    if derived and rng.random() < 0.4:
        sign, atom = rng.choice(derived)
        return theory, (sign == (rng.random() < 0.5), atom)
    return theory, goal


def judged(
    axioms: Any,
    goal: str,
    steps: Any,
    answer: str = "unknown",
    *,
    formal: Formal | None = None,
    gold: str | None = None,
    options: tuple[str, ...] | None = None,
    **text: Any,
) -> dict[str, Any]:
    """Return the verdict on an attempt, which is never an error; a certified one is rechecked."""
    asked = Problem(**PROSE | text, formal=formal, answer=gold, options=options)
    blocks = [*(f"[[axiom:{a}]]" for a in axioms), f"[[goal:{goal}]]", *(f"[[infer:{s}]]" for s in steps)]
    attempt = Attempt("a", asked, "guided", f"{' '.join(blocks)}\nAnswer: {answer}")
    record = verdict_record("a", judge(asked, attempt))
    assert record["verdict"] != "error", record
    if record["verdict"] == "certified":
        report = recheck([record | {"problem": asked.record()}])
        assert report["accepted"] == 1, report
    return record


def told(*args: Any, **kwargs: Any) -> tuple[str, str]:
    record = judged(*args, **kwargs)
    return record["verdict"], record["reason"]


KINDS = {"no terms": {}, "terms": {"functions": True, "universal": False}, "no universals": {"universal": False}}


@pytest.mark.parametrize("num", [100, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_unknown_is_certified_exactly_where_the_naive_model_says_so(kind: str, num: int):
    seen = dict.fromkeys(["true", "false", "unknown", "contradictory"], 0)
    for seed in range(num):
        theory, goal = drawn(seed, **KINDS[kind])
        derived = model(theory, goal)
        axioms, said = [shown(axiom) for axiom in theory], said_of(theory, goal, derived)
        formal = Formal(tuple(axioms), shown([goal]))
        record = judged(axioms, shown([goal]), [*(shown([atom]) for atom in derived), "nothing"], formal=formal)
        assert (record["verdict"] == "certified") == (said == "unknown"), (seed, record)
        seen[said] += 1
    assert min(seen.values()) > num / 30, seen


def certificate_of(
    theory: Theory,
    goal: Atom,
    derived: dict[Atom, tuple[int, list[Atom]]],
    *,
    reference: Theory | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Write the certificate of `unknown` that a forger with the naive model's help would write."""
    at = {axiom[0]: index for index, axiom in enumerate(theory) if len(axiom) == 1}
    entries: list[Entry] = [Axiom(parse_statement(shown(axiom))) for axiom in theory]
    for atom, (rule, premises) in derived.items():
        at[atom] = len(entries)
        entries.append(Inference(parse_literal(shown([atom])), rule, tuple(at[premise] for premise in premises)))
    formal = Formal(tuple(map(shown, theory if reference is None else reference)), shown([goal]))
    problem = Problem("p", "mine", "Prose.", "Is it?", formal=formal, **more)
    literal = parse_literal(formal.goal)
    return horn_certificate(
        "horn-saturation", problem, Reference(formal, "given"), "unknown", literal, entries, {"work": 1}
    ).record()


def refused(certificate: dict[str, Any]) -> str | None:
    """Return why the checker rejects a certificate under a digest of its own; None if it accepts."""
    try:
        check({**certificate, "digest": digest(certificate)})
    except Rejected as rejection:
        return str(rejection)
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_the_checker_accepts_a_saturation_exactly_where_the_naive_model_says_so(kind: str):
    reasons = {
        "unknown": {None},
        "true": {"goal_reached"},
        "false": {"goal_reached"},
        "contradictory": {"inconsistent"},
    }
    num = 0
    for seed in range(300, 600):
        theory, goal = drawn(seed, **KINDS[kind])
        derived = model(theory, goal)
        said = said_of(theory, goal, derived)
        assert refused(certificate_of(theory, goal, derived)) in reasons[said], seed
        num += said == "unknown"
    assert num > 40


@pytest.mark.parametrize("kind", KINDS)
def test_a_saturation_that_lacks_an_inference_is_not_closed(kind: str):
    reasons: list[str | None] = []
    for seed in range(400):
        theory, goal = drawn(seed, **KINDS[kind])
        derived = model(theory, goal)
        for gone in derived:
            kept = without(derived, gone)
            if said_of(theory, goal, kept) == "unknown":
                reasons.append(refused(certificate_of(theory, goal, kept)))
    # A universal fact contradicts what it says of an object, also where that is left out.
    assert set(reasons) <= {"not_closed", "inconsistent"}
    assert reasons.count("not_closed") > 150


def without(derived: dict[Atom, tuple[int, list[Atom]]], gone: Atom) -> dict[Atom, tuple[int, list[Atom]]]:
    """Drop an inference and everything whose proof here rests on it."""
    dropped = {gone}
    for atom, (_, premises) in derived.items():
        if dropped & set(premises):
            dropped.add(atom)
    return {atom: how for atom, how in derived.items() if atom not in dropped}


@pytest.mark.parametrize("kind", KINDS)
def test_a_saturation_that_lacks_an_axiom_of_the_reference_is_refused(kind: str):
    num = 0
    for seed in range(60):
        theory, goal = drawn(seed, **KINDS[kind])
        for gone in range(len(theory)):
            rest = [axiom for index, axiom in enumerate(theory) if index != gone]
            derived = model(rest, goal)
            if said_of(rest, goal, derived) == "unknown":
                assert refused(certificate_of(rest, goal, derived, reference=theory)) == "axiom_missing"
                num += 1
    assert num > 60


@pytest.mark.parametrize("kind", KINDS)
def test_a_saturation_with_a_fact_more_than_the_reference_is_refused(kind: str):
    num = 0
    for seed in range(150):
        theory, goal = drawn(seed, **KINDS[kind])
        planted = [random_atom(random.Random(seed), OBJECTS)]
        if planted not in theory and planted[0] not in model(theory, goal):
            derived = model([*theory, planted], goal)
            if said_of([*theory, planted], goal, derived) == "unknown":
                assert (
                    refused(certificate_of([*theory, planted], goal, derived, reference=theory))
                    == "axiom_not_in_context"
                )
                num += 1
    assert num > 20


HONEST = judged(AXIOMS, GOAL, STEPS, formal=REFERENCE)["certificate"]


def forged(**changes: Any) -> dict[str, Any]:
    """Return the honest certificate with other values; a key like `problem__formal` leads inside."""
    certificate = copy.deepcopy(HONEST)
    for path, value in changes.items():
        *way, last = path.split("__")
        place = certificate
        for key in way:
            place = place[key]
        place[last] = value
    return certificate


def added(*steps: dict[str, Any]) -> list[dict[str, Any]]:
    return [*HONEST["evidence"]["steps"], *steps]


def axiom(text: str) -> dict[str, Any]:
    return {"statement": text, "by": "axiom"}


def inferred(text: str, rule: int, premises: Any) -> dict[str, Any]:
    return {"statement": text, "by": "rule", "rule": rule, "premises": premises}


def given(*texts: str, goal: str = GOAL) -> dict[str, Any]:
    return {"axioms": [*AXIOMS, *texts], "goal": goal}


def saturated_by_hand(*texts: str, goal: str, steps: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    """Return a certificate over a reference of its own."""
    evidence = {"goal": goal, "reference": "given", "steps": [*map(axiom, texts), *(steps or [])]}
    return forged(problem__formal={"axioms": list(texts), "goal": goal}, evidence=evidence)


FORGERIES: dict[str, tuple[dict[str, Any], str | None]] = {
    "nothing": (HONEST, None),
    "an inference dropped": (forged(evidence__steps=HONEST["evidence"]["steps"][:-1]), "not_closed"),
    "an axiom dropped": (forged(evidence__steps=HONEST["evidence"]["steps"][1:]), "invalid_step"),
    "a fact planted": (forged(evidence__steps=added(axiom("(red sam)"))), "axiom_not_in_context"),
    "a rule planted": (forged(evidence__steps=added(axiom("(dog 'x) -> (dog 'x)"))), "axiom_not_in_context"),
    "a fact planted as inferred": (
        forged(evidence__steps=added(inferred("(red sam)", 2, [4]))),
        "invalid_step",
    ),
    "a universal fact planted": (forged(evidence__steps=added(axiom("(big 'x)"))), "not_closed"),
    "an entry twice": (forged(evidence__steps=added(axiom("(cat tom)"))), "repeated_step"),
    "a rule in other variables": (forged(evidence__steps=added(axiom("(cat 'y) -> (red 'y)"))), None),
    "the goal as an entry": (
        forged(evidence__steps=added(axiom(GOAL)), problem__formal=given(GOAL)),
        "goal_reached",
    ),
    "the goal's negation as an entry": (
        forged(evidence__steps=added(axiom("(not (red rex))")), problem__formal=given("(not (red rex))")),
        "goal_reached",
    ),
    "a contradictory entry": (
        forged(evidence__steps=added(axiom("(blue rex)")), problem__formal=given("(blue rex)")),
        "inconsistent",
    ),
    "a contradictory universal fact": (
        forged(evidence__steps=added(axiom("(not (cat 'x))")), problem__formal=given("(not (cat 'x))")),
        "inconsistent",
    ),
    "another goal": (forged(evidence__goal="(red sam)"), "goal_mismatch"),
    "the negated goal": (forged(evidence__goal="(not (red rex))"), "goal_mismatch"),
    "a goal that follows": (forged(evidence__goal="(warm rex)"), "goal_reached"),
    "a goal with a variable": (forged(evidence__goal="(red 'x)"), "ill_formed"),
    "trusted": (
        forged(formalisation="trusted", problem__formal=None, evidence__reference="none"),
        "reference_is_missing",
    ),
    "trusted beside a reference": (forged(formalisation="trusted"), "ill_formed"),
    "checked without a reference": (forged(problem__formal=None), "ill_formed"),
    "checked against nothing": (forged(evidence__reference="none"), "ill_formed"),
    "true": (forged(claim="true"), "claim"),
    "false": (forged(claim="false"), "claim"),
    "uncertain": (forged(claim="uncertain"), "claim"),
    "an option's letter": (forged(claim="C"), "claim"),
    "against the gold answer": (forged(problem__answer="true"), "answer"),
    "a proof": (forged(kind="horn-proof"), "unused_step"),
    "another kind": (forged(kind="saturation"), "unknown_kind"),
    "no entries": (forged(evidence__steps=[]), "axiom_missing"),
    "no entries and no reference": (forged(evidence__steps=[], problem__formal={"axioms": [], "goal": GOAL}), None),
    "premises that are no list": (
        saturated_by_hand("(p 'x)", goal="(q a)", steps=[inferred("(p a)", 0, {})]),
        "ill_formed",
    ),
    "an instance about the goal's object missing": (saturated_by_hand("(p 'x)", "(p a)", goal="(q b)"), "not_closed"),
    "every instance there": (saturated_by_hand("(p 'x)", "(p a)", "(p b)", goal="(q b)"), None),
    "a universal fact beside a function": (saturated_by_hand("(p 'x)", "(p (f a))", goal="(q a)"), "not_decidable"),
    "a universal fact beside a function in the goal": (saturated_by_hand("(p 'x)", goal="(q (f a))"), "not_decidable"),
    "a universal fact with a function": (saturated_by_hand("(p (f 'x))", goal="(q a)"), "not_decidable"),
    "terms without end": (
        saturated_by_hand("(p a)", "(p 'x) -> (p (f 'x))", "(p (f a))", goal="(q a)"),
        "not_closed",
    ),
    "a rule about everything": (saturated_by_hand("(p a)", "(p a) -> (q 'x)", goal="(q b)"), "unbound_head_var"),
    "too many matches": (
        saturated_by_hand(*(f"(p o{i})" for i in range(500)), "(p 'x) -> (p 'y) -> (p 'x)", goal="(q a)"),
        "too_large",
    ),
    "too many instances": (
        saturated_by_hand(*(f"(p o{i})" for i in range(500)), "(r 'x 'y)", goal="(q a)"),
        "too_large",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_saturation_is_refused(name: str):
    certificate, reason = FORGERIES[name]
    assert refused(certificate) == reason


@pytest.mark.parametrize(
    "name", [name for name, (_, reason) in FORGERIES.items() if reason is None and name != "nothing"]
)
def test_a_harmless_forgery_is_still_no_certificate_without_its_digest(name: str):
    with pytest.raises(Rejected, match="digest"):
        check(FORGERIES[name][0])


@pytest.mark.parametrize(
    ("options", "claim"),
    [
        (["True", "False", "Unknown"], "C"),
        (["A) Uncertain", "B) True", "C) False"], "A"),
        (["Valid", "Invalid"], "B"),
        (["invalid.", "VALID"], "A"),
        (["True", "False", "Invalid."], "C"),
        (["Valid", "Invalid", "Unknown"], None),
        (["True", "False", "Unknown", "Uncertain"], None),
        (["True", "False"], None),
        (["Yes", "No"], None),
        (["B) Unknown", "A) True"], None),
        (["not unknown", "True"], None),
        ([], None),
    ],
)
def test_unknown_is_said_by_exactly_one_option(options: list[str], claim: str | None):
    for letter in ("A", "B", "C", "D", "unknown", "invalid", ""):
        assert (refused(forged(problem__options=options, claim=letter)) is None) == (letter == claim)
    record = judged(AXIOMS, GOAL, STEPS, answer=claim or "unknown", formal=REFERENCE, options=tuple(options))
    assert (record["verdict"] == "certified") == (claim is not None)


def test_a_proof_of_the_negation_and_no_proof_at_all_are_both_invalid_and_neither_is_valid():
    pair = ("A) Valid", "B) Invalid")
    for goal, steps in ((GOAL, STEPS), ("(blue rex)", STEPS)):
        formal = Formal(AXIOMS, goal)
        assert judged(AXIOMS, goal, steps, "Invalid", formal=formal, options=pair)["answer"] == "B"
        assert judged(AXIOMS, goal, steps, "A", formal=formal, options=pair)["verdict"] != "certified"
    proved = Formal(AXIOMS, "(warm rex)")
    assert told(AXIOMS, "(warm rex)", STEPS, "B", formal=proved, options=pair) == ("refuted", "answer_mismatch")
    assert judged(AXIOMS, "(warm rex)", STEPS, "valid", formal=proved, options=pair)["answer"] == "A"


GROWING = ("(p a)", "(p 'x) -> (p (f 'x))")
ATTEMPTS: dict[str, tuple[dict[str, Any], str]] = {
    "an idle axiom left out": ({"axioms": AXIOMS[:4], "steps": (*STEPS[:2], "nothing")}, "axiom_missing"),
    "nothing at once": ({"steps": ["nothing"]}, "invalid_step"),
    "nothing a step early": ({"steps": [*STEPS[:2], "nothing"]}, "invalid_step"),
    "nothing left out": ({"steps": STEPS[:3]}, "goal_not_reached"),
    "nothing twice": ({"steps": [*STEPS, "nothing"]}, "repeated_step"),
    "more after nothing": ({"steps": [*STEPS, "(red rex)"]}, "invalid_step"),
    "nothing among blanks that are none": ({"steps": [*STEPS[:3], "\u00a0nothing"]}, "syntax"),
    "nothing before a line separator": ({"steps": [*STEPS[:3], "nothing\u2028"]}, "syntax"),
    "nothing in capitals": ({"steps": [*STEPS[:3], "Nothing"]}, "syntax"),
    "a negated nothing": ({"steps": [*STEPS[:3], "(not nothing)"]}, "reserved_name"),
    "an easier goal": ({"goal": "(red sam)"}, "goal_mismatch"),
    "the negated goal": ({"goal": "(not (red rex))"}, "goal_mismatch"),
    "an inference stated": ({"axioms": [*AXIOMS, "(red tom)"]}, "axiom_not_in_context"),
    "a rule stated that offers more": ({"axioms": [*AXIOMS, "(warm 'x) -> (big 'x)"]}, "axiom_not_in_context"),
    "a contradiction stated": ({"axioms": [*AXIOMS, "(blue rex)"]}, "axiom_not_in_context"),
    "a universal fact stated": ({"axioms": [*AXIOMS, "(red 'x)"]}, "axiom_not_in_context"),
    "not derived, so false": ({"answer": "false"}, "goal_not_reached"),
    "not derived, so true": ({"answer": "true"}, "goal_not_reached"),
    "no answer": ({"answer": "perhaps"}, "goal_not_reached"),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_to_get_unknown_for_less_is_told_why_not(name: str):
    honest: dict[str, Any] = {"axioms": AXIOMS, "goal": GOAL, "steps": STEPS}
    changes, reason = ATTEMPTS[name]
    verdict = "malformed" if reason in ("syntax", "reserved_name") else "unproved"
    assert told(**honest | changes, formal=REFERENCE) == (verdict, reason)
    assert told(**honest, formal=REFERENCE) == ("certified", "proved")


DECIDED = {"(warm rex)": "true", "(blue rex)": "false", "(red tom)": "true", "(not (warm rex))": "false"}


@pytest.mark.parametrize("goal", DECIDED)
def test_a_decided_goal_is_never_unknown(goal: str):
    formal = Formal(AXIOMS, goal)
    for kept in itertools.chain.from_iterable(itertools.combinations(AXIOMS, n) for n in range(6)):
        for steps in (STEPS, STEPS[:3], STEPS[1:], STEPS[:1] + STEPS[3:], STEPS[3:], STEPS[2:]):
            record = judged(kept, goal, steps, formal=formal)
            assert record["verdict"] in ("unproved", "refuted"), (kept, steps, record)
    assert told(AXIOMS, goal, STEPS, formal=formal) == ("refuted", "answer_mismatch")
    assert told(AXIOMS, goal, STEPS, DECIDED[goal], formal=formal) == ("certified", "proved")


def test_on_trust_nothing_is_unknown():
    assert told(AXIOMS, GOAL, STEPS, dataset="mine") == ("unproved", "unknown_on_trust")
    assert told(("(dog rex)",), GOAL, ("nothing",), dataset="mine") == ("unproved", "unknown_on_trust")


def test_a_contradictory_context_leaves_nothing_unknown():
    contradictory = (*AXIOMS, "(blue rex)")
    assert told(contradictory, GOAL, STEPS, formal=Formal(contradictory, GOAL)) == ("vacuous", "inconsistent_context")
    about_the_goal = ("(p 'x)", "(not (p 'x))")
    steps = ("(p a)", "(not (p a))", "nothing")
    assert told(about_the_goal, "(q a)", steps, formal=Formal(about_the_goal, "(q a)")) == (
        "vacuous",
        "inconsistent_context",
    )


def test_a_wrong_unknown_is_refuted_whatever_it_is_wrong_about():
    for steps in (STEPS, ("nothing",), ()):
        assert told(AXIOMS, GOAL, steps, formal=REFERENCE, gold="true") == ("refuted", "wrong_answer")


def test_terms_that_grow_leave_unknown_open():
    deepest = "a"
    steps = []
    for _ in range(critics.replay.formula.MAX_TERM_DEPTH):
        deepest = f"(f {deepest})"
        steps.append(f"(p {deepest})")
    formal = Formal(GROWING, "(q a)")
    assert told(GROWING, "(q a)", [*steps, "nothing"], formal=formal) == ("timeout", "work_limit")


def test_universal_facts_beside_functions_leave_unknown_open():
    # (cold (f tom)) holds, so (warm tom) does, but (f tom) occurs nowhere and is never put for the variable.
    axioms = ("(cold 'x)", "(cold (f 'x)) -> (warm 'x)")
    formal = Formal(axioms, "(warm tom)")
    assert told(axioms, "(warm tom)", ["(cold tom)", "nothing"], formal=formal) == ("unproved", "undecidable")


def test_a_saturation_that_the_checker_finds_too_large_is_no_failure_of_the_critic():
    chain = ("(r 'x 'y) -> (r 'y 'z) -> (r 'x 'z)", *(f"(r o{i} o{i + 1})" for i in range(35)))
    steps = [f"(r o{i} o{i + length})" for length in range(2, 36) for i in range(36 - length)]
    assert told(chain, "(r b a)", [*steps, "nothing"], formal=Formal(chain, "(r b a)")) == ("timeout", "work_limit")


def test_an_axiom_in_two_spellings_is_one_axiom():
    axioms = (*AXIOMS, "(dog 'y) -> (warm 'y)", "( cat   tom )")
    assert told(axioms, GOAL, STEPS, formal=REFERENCE) == ("certified", "proved")
    assert told(AXIOMS, GOAL, STEPS, formal=Formal(axioms, GOAL)) == ("certified", "proved")


def test_an_empty_context_leaves_everything_unknown():
    assert told((), "(p a)", ("nothing",), formal=Formal((), "(p a)")) == ("certified", "proved")


RULE = "(warm 'x) -> (alive 'x)"


def test_what_a_data_set_takes_for_granted_counts_where_the_reference_has_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(critics.text.background.BACKGROUNDS, "proofwriter", Background((RULE,)))
    formal, alive = Formal((*AXIOMS, RULE), GOAL), "(alive rex)"
    assert told(AXIOMS, GOAL, (*STEPS[:3], alive, "nothing"), formal=formal) == ("certified", "proved")
    assert told(AXIOMS, GOAL, STEPS, formal=formal) == ("unproved", "invalid_step")
    # A reference without the rule is the problem's own business: then it is not granted either.
    assert told(AXIOMS, GOAL, STEPS, formal=REFERENCE) == ("certified", "proved")
    assert told(AXIOMS, GOAL, (*STEPS[:3], alive, "nothing"), formal=REFERENCE) == ("unproved", "invalid_step")


def test_without_the_background_its_rule_is_missing():
    assert told(AXIOMS, GOAL, STEPS, formal=Formal((*AXIOMS, RULE), GOAL)) == ("unproved", "axiom_missing")


TEXT: dict[str, Any] = {
    "dataset": "prontoqa",
    "context": "Rex is a dog. Every dog is warm. Tom is a cat. Every cat is red.",
    "question": "True or false: Rex is red.",
}


def test_an_unknown_about_a_text_is_translated_again_when_rechecked():
    axioms = ("(dog rex)", "(dog 'x) -> (warm 'x)", "(cat tom)", "(cat 'x) -> (red 'x)")
    record = judged(axioms, GOAL, ("(warm rex)", "(red tom)", "nothing"), **TEXT)
    assert record["verdict"] == "certified"
    assert recheck([record])["accepted"] == 1
    # Attack: a text with one sentence more, which decides the goal, and neither reference nor evidence has it.
    certificate = copy.deepcopy(record["certificate"])
    certificate["problem"]["context"] += " Every dog is red."
    certificate["digest"] = digest(certificate)
    check(certificate)
    assert why_rejected(record | {"certificate": certificate}) == "reference_is_not_the_text"
    problem = Problem(**PROSE | TEXT | {"context": certificate["problem"]["context"]})
    assert why_rejected(record | {"problem": problem.record()}) == "other_problem"


def test_a_reference_that_the_trace_does_not_have_is_no_reference():
    # Attack: what can only be trusted, and so is never unknown, brings a reference of its own along.
    record = judged(AXIOMS, GOAL, STEPS, formal=REFERENCE)
    assert why_rejected(record | {"problem": PROSE | {"options": None, "answer": None}}) == "other_problem"


def why_rejected(record: dict[str, Any]) -> str:
    (rejection,) = recheck([record])["rejected"]
    return rejection["reason"]


def test_a_given_reference_that_leaves_open_what_the_text_decides_is_refused():
    formal, text = (
        Formal(("(dog rex)",), GOAL),
        TEXT | {"dataset": "mine", "context": "Rex is a dog. Every dog is red."},
    )
    assert told(formal.axioms, GOAL, ("nothing",), formal=formal, **text) == ("unproved", "text_says_otherwise")


def test_a_formalisation_on_trust_that_decides_what_the_text_leaves_open_is_refused():
    axioms = ("(dog rex)", "(dog 'x) -> (red 'x)")
    text = TEXT | {"dataset": "mine", "context": "Rex is a dog. Every dog is warm."}
    assert told(axioms, GOAL, (GOAL,), "true", **text) == ("unproved", "text_says_otherwise")
    # What the problem itself brings may know more than its text.
    assert told(axioms, GOAL, (GOAL,), "true", formal=Formal(axioms, GOAL), **text) == ("certified", "proved")
