"""Every part of a certificate counts: whatever is changed, checker or recheck refuses it, or it still is a proof.

Certificates of the three kinds of evidence (proofs from translated, given and trusted formalisations, with and
without terms, and saturations) are changed in every entry, one change at a time, under the old digest and under a
new one. A mutant passes only where `is_proof_of` says that it proves the same claim of the same problem: a reader
and an evaluator that know neither the kernel nor the checker, and decide by trying everything.
"""

import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from critics.judge import judge
from critics.problem import Attempt, Formal, Problem
from critics.recheck.rejudging import judge_anew, recheck_texts
from critics.replay.certificate import Rejected, digest
from critics.replay.derivations import check
from critics.replay.formula import canonical_statement, parse_statement
from critics.verdict import Certified, Unproved
from rollout.problems.prontoqa import PrOntoQA, generate
from rollout.prompts.demonstration import demonstrate

Json = Any
Atom = tuple[bool, Any]
"""A sign and (predicate, arguments ..); a function term is a tuple as well, and a variable starts with a quote."""
Made = tuple[Problem, dict[str, Any]]
"""A problem, and the certificate of an honest attempt at it."""
OPTIONS = (("A) True", "B) False"), ("Unknown", "False", "True"), ("Valid", "Invalid"))


# The certificates.


def certificates(num: int) -> Iterator[Made]:
    """Yield half proofs about PrOntoQA's texts, three tenths proofs with terms, two tenths saturations."""
    for index, problem in enumerate(generate(PrOntoQA(hops=(1, 2, 3, 4, 5)), num // 2, seed=11)):
        yield made(*about_a_text(problem, index))
    yield from itertools.islice(filter(None, map(with_terms, itertools.count())), num * 3 // 10)
    yield from itertools.islice(filter(None, map(saturation, itertools.count())), num // 5)


def made(problem: Problem, text: str) -> Made:
    verdict = judge(problem, Attempt("a", problem, "guided", text))
    assert isinstance(verdict, Certified), verdict
    return problem, json.loads(json.dumps(verdict.certificate.record()))


def about_a_text(problem: Problem, index: int) -> tuple[Problem, str]:
    """Return a demonstration; every fifth is on trust, and every other fifth answers by an option."""
    assert problem.formal is not None
    text = demonstrate(problem, problem.formal)
    if index % 5 == 0:
        return Problem(problem.id, "mine", "Prose.", problem.question, None, problem.answer), text
    if index % 5 == 1:
        options = OPTIONS[index % 3]
        answer = "C" if len(options) == 3 and problem.answer == "true" else "AB"[problem.answer == "false"]
        text = f"{text.rpartition(chr(10))[0]}\nAnswer: {answer}"
        return Problem(problem.id, "prontoqa", problem.context, problem.question, options, answer), text
    return Problem(problem.id, "prontoqa", problem.context, problem.question, None, problem.answer), text


def with_terms(seed: int) -> Made | None:
    """Return a proof in a random theory with function terms or universal facts, if something follows in it."""
    rng = random.Random(seed)
    theory = random_theory(rng, functions=seed % 2 == 0)
    derived = model(theory, theory[0][0])
    if not derived or is_contradictory([*(axiom[0] for axiom in theory if len(axiom) == 1), *derived]):
        return None
    last = rng.choice(derived)
    goal = (last[0] == (rng.random() < 0.7), last[1])
    needed = [*itertools.takewhile(lambda atom: atom != last, derived), last]
    formal = Formal(tuple(map(shown, theory)), shown([goal]))
    problem = Problem(f"t{seed}", "mine", "Prose.", "Is it?", formal=formal)
    return made(problem, attempt(formal, needed, "true" if last == goal else "false"))


def saturation(seed: int) -> Made | None:
    """Return a saturation of a random theory, if it leaves its goal open, backwards and by cases too."""
    rng = random.Random(f"saturation {seed}")
    theory = random_theory(rng, functions=False)
    goal = random_atom(rng, ("a", "b", "d"))
    derived = model(theory, goal)
    true = [*(axiom[0] for axiom in theory if len(axiom) == 1), *derived]
    if is_contradictory([*true, goal]) or goal in true or not derived:
        return None
    formal = Formal(tuple(map(shown, theory)), shown([goal]))
    options = OPTIONS[1] if seed % 3 == 0 else None
    problem = Problem(f"s{seed}", "mine", "Prose.", "Is it?", options, formal=formal)
    text = attempt(formal, derived, "unknown", "nothing")
    verdict = judge(problem, Attempt("a", problem, "guided", text))
    is_decided = isinstance(verdict, Unproved) and verdict.reason == "decided_classically"
    return None if is_decided else made(problem, text)


def attempt(formal: Formal, inferred: Any, answer: str, *more: str) -> str:
    steps = [*(shown([atom]) for atom in inferred), *more]
    blocks = [*(f"[[axiom:{a}]]" for a in formal.axioms), f"[[goal:{formal.goal}]]", *(f"[[infer:{s}]]" for s in steps)]
    return f"{' '.join(blocks)}\nAnswer: {answer}"


def random_theory(rng: random.Random, *, functions: bool) -> list[list[Atom]]:
    axioms = [random_axiom(rng, functions=functions) for _ in range(rng.randint(4, 10))]
    return list({canonical_statement(parse_statement(shown(axiom))): axiom for axiom in axioms}.values())


def random_axiom(rng: random.Random, *, functions: bool) -> list[Atom]:
    objects = ("a", ("f", "a"), ("g", ("f", "a"), "b")) if functions else ("a", "b")
    kind = rng.random()
    if kind < 0.4:
        return [random_atom(rng, objects)]
    if kind < 0.5 and not functions:
        return [random_atom(rng, ("'x", "'y", "a"))]
    patterns = ("'x", "'y", "a", *((("f", "'x"), ("g", "'z", "'y")) if functions else ()))
    premises = [random_atom(rng, patterns) for _ in range(rng.choice([1, 1, 2, 3]))]
    return [*premises, random_atom(rng, tuple(sorted({v for _, t in premises for v in variables(t)})) or ("a",))]


def random_atom(rng: random.Random, terms: tuple[Any, ...]) -> Atom:
    name, num = rng.choice([("p", 1), ("q", 1), ("s", 1), ("r", 2)])
    return rng.random() < 0.85, (name, *(rng.choice(terms) for _ in range(num)))


# The evaluator.


def shown(statement: list[Atom]) -> str:
    return " -> ".join(f"({shown_term(t)})" if sign else f"(not ({shown_term(t)}))" for sign, t in statement)


def shown_term(term: Any) -> str:
    return " ".join(part if isinstance(part, str) else f"({shown_term(part)})" for part in term)


def read(text: str) -> list[Atom]:
    """Read a statement by cutting it at its brackets; raises `ValueError`."""
    return [read_atom(part) for part in text.split("->")]


def read_atom(text: str) -> Atom:
    nested = json.loads(re.sub(r"(?<=[\]\"])\s*(?=[\[\"])", ",", quoted(text)))
    sign = not (isinstance(nested, list) and len(nested) == 2 and nested[0] == "not" and isinstance(nested[1], list))
    atom = as_term(nested if sign else nested[1])
    if isinstance(atom, str) or len(atom) > 3:
        raise ValueError(text)
    return sign, atom


def quoted(text: str) -> str:
    return re.sub(r"[^\s()]+", lambda word: json.dumps(word[0]), text).replace("(", "[").replace(")", "]")


def as_term(nested: Any) -> Any:
    """Check the words of a term, and that a function has a name and arguments."""
    if isinstance(nested, str):
        if re.fullmatch(r"'[a-z]|\w+(-\w+)*", nested, re.ASCII) is None or nested in ("not", "nothing"):
            raise ValueError(nested)
        return nested
    term = tuple(map(as_term, nested))
    if len(term) < 2 or not isinstance(term[0], str) or term[0].startswith("'"):
        raise ValueError(term)
    return term


def variables(term: Any) -> set[str]:
    if isinstance(term, str):
        return {term} if term.startswith("'") else set()
    return {v for part in term for v in variables(part)}


def parts(term: Any) -> Iterator[Any]:
    for part in term[1:]:
        yield part
        if not isinstance(part, str):
            yield from parts(part)


def filled(term: Any, binding: dict[str, Any]) -> Any:
    return binding.get(term, term) if isinstance(term, str) else tuple(filled(part, binding) for part in term)


def instances(statement: list[Atom], terms: set[Any]) -> Iterator[list[Atom]]:
    names = sorted({v for _, atom in statement for v in variables(atom)})
    for values in itertools.product(sorted(terms, key=repr), repeat=len(names)):
        yield [(sign, filled(atom, dict(zip(names, values, strict=True)))) for sign, atom in statement]


def ground_terms(atoms: Any) -> set[Any]:
    return {t for _, atom in atoms for t in parts(atom) if not variables(t)}


def model(theory: list[list[Atom]], goal: Atom) -> list[Atom]:
    """Return what follows, in an order of inference, by trying everything for every variable."""
    known = [axiom[0] for axiom in theory if len(axiom) == 1 and not variables(axiom[0][1])]
    num_given, mentioned = len(known), [goal, *(atom for axiom in theory for atom in axiom)]
    while True:
        terms = ground_terms([*known, *mentioned])
        reached = [i for axiom in theory for i in instances(axiom, terms) if set(i[:-1]) <= set(known)]
        new = dict.fromkeys(i[-1] for i in reached if i[-1] not in known)
        if not new:
            return known[num_given:]
        known += new


def is_contradictory(atoms: list[Atom]) -> bool:
    return any((not sign, atom) in atoms for sign, atom in atoms)


def is_same(one: list[Atom], other: list[Atom]) -> bool:
    """Say whether two statements differ at most in the names of variables and the order of premises."""
    names, taken = (sorted({v for _, atom in s for v in variables(atom)}) for s in (one, other))
    for values in itertools.permutations(taken, len(names)) if len(names) == len(taken) else ():
        renamed = [(sign, filled(atom, dict(zip(names, values, strict=True)))) for sign, atom in one]
        if renamed[-1] == other[-1] and sorted(renamed[:-1], key=repr) == sorted(other[:-1], key=repr):
            return True
    return False


def is_proof_of(problem: Problem, claim: str, mutant: dict[str, Any]) -> bool:
    """Say whether a certificate, its digest aside, is evidence for the claim about the problem."""
    stated, evidence = mutant["problem"], mutant["evidence"]
    asked = problem.record()
    if mutant["claim"] != claim or any(
        stated[key] != asked[key] for key in ("context", "question", "options", "answer")
    ):
        return False
    formal = problem.formal if problem.formal or mutant["formalisation"] == "trusted" else reference_of(problem)
    if (formal is None) != (stated["formal"] is None):
        return False
    statements = [read(step["statement"]) for step in evidence["steps"]]
    goal = read(evidence["goal"])
    if formal is not None and not is_about(formal, stated["formal"], goal, statements, evidence["steps"]):
        return False
    applied = zip(statements, evidence["steps"], strict=True)
    if not all(step["by"] == "axiom" or is_application(step, new, statements) for new, step in applied):
        return False
    facts = [s[0] for s in statements if len(s) == 1 and not variables(s[0][1])]
    if is_contradictory(facts):
        return False
    if mutant["kind"] == "horn-saturation":
        given_ = [s for s, step in zip(statements, evidence["steps"], strict=True) if step["by"] == "axiom"]
        reached = set(facts) == {*model(given_, goal[0]), *(s[0] for s in given_ if len(s) == 1 and s[0] in facts)}
        return (
            reached
            and not is_contradictory([*facts, *goal])
            and goal[0] not in facts
            and says(problem, claim, "unknown")
        )
    proved = {goal[0]: "true", (not goal[0][0], goal[0][1]): "false"}
    return statements[-1][0] in proved and says(problem, claim, proved[statements[-1][0]])


def reference_of(problem: Problem) -> Formal:
    from critics.text.translators.prontoqa import translate

    return translate(problem.context, problem.question)


def is_about(formal: Formal, stated: Any, goal: Any, statements: list[list[Atom]], steps: list[dict[str, Any]]) -> bool:
    """Say whether the reference is the problem's own, and axioms and goal are the reference's."""
    reference, own = [*map(read, formal.axioms)], [*map(read, stated["axioms"])]
    if not all(any(is_same(x, y) for y in reference) for x in own) or read(stated["goal"]) != read(formal.goal):
        return False
    if not all(any(is_same(x, y) for y in own) for x in reference) or goal != read(formal.goal):
        return False
    axioms = [s for s, step in zip(statements, steps, strict=True) if step["by"] == "axiom"]
    return all(any(is_same(x, y) for y in reference) for x in axioms)


def is_application(step: dict[str, Any], new: list[Atom], statements: list[list[Atom]]) -> bool:
    """Say whether some instance of the cited rule has the cited facts as premises and the new one as conclusion."""
    at = next(i for i, statement in enumerate(statements) if statement is new)
    cited = [step["rule"], *step["premises"]]
    if not all(type(i) is int and 0 <= i < at for i in cited):
        return False
    rule, premises = statements[cited[0]], [statements[i] for i in cited[1:]]
    if len(rule) == 1 and not variables(rule[0][1]):
        return False
    wanted = [*(premise[0] for premise in premises), *new]
    return all(len(s) == 1 for s in (*premises, new)) and wanted in instances(rule, ground_terms(wanted))


def says(problem: Problem, claim: str, value: str) -> bool:
    """Say whether the claim is what a truth value is called among the problem's options."""
    if problem.options is None:
        return claim == value
    names = {"true": ("true", "valid"), "false": ("false", "invalid"), "unknown": ("unknown", "invalid")}[value]
    return problem.options[ord(claim) - ord("A")].split(") ")[-1].lower() in names


# The mutations.


def changed(tree: Json, path: tuple[Any, ...], value: Json) -> Json:
    """Return the tree with another value at the path, sharing the rest."""
    if not path:
        return value
    copied = tree.copy()
    copied[path[0]] = changed(tree[path[0]], path[1:], value)
    return copied


def nodes(tree: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    yield path, tree
    for key, item in tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ():
        yield from nodes(item, (*path, key))


def mutants(
    certificate: dict[str, Any], rng: random.Random, share: float = 1.0
) -> Iterator[tuple[tuple[Any, ...], Json]]:
    """Yield the certificate with one change at a time, in every entry, and the path to it.

    Of the changes to a text, only the given share is made.
    """
    words = sorted(set(re.findall(r"[a-z][\w-]+|'[a-z]", json.dumps(certificate["evidence"]))))
    for path, value in nodes(certificate):
        if path == ("digest",):
            continue
        others = list(other_values(path, value, words, rng, len(certificate["evidence"]["steps"])))
        for other in others:
            if repr(other) != repr(value) and not (isinstance(value, str) and rng.random() > share):
                yield path, changed(certificate, path, other)


def other_values(path: Any, value: Json, words: list[str], rng: random.Random, num_steps: int) -> Iterator[Json]:
    match value:
        case dict():
            yield from ({k: v for k, v in value.items() if k != gone} for gone in value if gone != "digest")
            yield from ({**value, "more": 1}, None, [])
        case list():
            yield from other_lists(value)
        case str() if path[-1] in ("statement", "goal") or "axioms" in path:
            yield from other_statements(value, words, rng)
        case str():
            yield from other_texts(value)
        case int():
            yield from (*range(-1, num_steps + 1), value + 1, True, float(value), str(value), None)
        case _:
            yield from ("true", "false", "A", 0, [], {}, {"axioms": [], "goal": "(p a)"})


def other_lists(value: list[Json]) -> Iterator[list[Json] | Json]:
    for i, item in enumerate(value):
        yield [*value[:i], *value[i + 1 :]]
        yield [*value[:i], item, *value[i:]]
        yield [*value[:i], *value[i + 1 :], item]
        yield [*value[:i], *value[i + 1 : i + 2], item, *value[i + 2 :]]
        yield [*value[:i], None, *value[i + 1 :]]
    yield from ([*value, 0], [*value, value], value[::-1], [], {}, None, "")


NAMED = (*("horn-proof", "horn-saturation", "certistar-horn/1", "certistar-horn/2", "checked", "trusted", "none"),)
NAMED += (*("given", "prontoqa", "proofwriter", "axiom", "rule", "true", "false", "unknown", "A", "B", "C", "D"),)


def other_texts(value: str) -> Iterator[Json]:
    yield from (None, 0, [], [value], "", value + " ", value.upper(), value + " Rex is red.", *NAMED)
    pieces = value.split(" ")
    for i in range(len(pieces)):
        yield " ".join([*pieces[:i], *pieces[i + 1 :]])
        yield " ".join([*pieces[:i], "not", *pieces[i:]])


def other_statements(value: str, words: list[str], rng: random.Random) -> Iterator[Json]:
    tokens = re.findall(r"\(|\)|->|[^\s()]+", value)
    yield from (None, 0, "", value + " ", f" {value}".replace(" ", "\t"), f"{value} -> {value}", f"\u00a0{value}")
    yield from (joined(swapped) for swapped in toggled(tokens))
    for i, token in enumerate(tokens):
        yield joined([*tokens[:i], *tokens[i + 1 :]])
        yield joined([*tokens[:i], *tokens[i + 1 : i + 2], token, *tokens[i + 2 :]])
        if token not in ("(", ")", "->"):
            for word in (rng.choice(words), "zorple", "'x", "'q"):
                yield joined([*tokens[:i], word, *tokens[i + 1 :]])
            yield joined([*tokens[:i], "(", "f", token, ")", *tokens[i + 1 :]])


def toggled(tokens: list[str]) -> Iterator[list[str]]:
    """Negate one literal after the other, or take its negation away."""
    starts = [i for i, token in enumerate(tokens) if token == "(" and depth(tokens[:i]) == 0]
    for start in starts:
        end = next(i for i in range(start + 1, len(tokens) + 1) if depth(tokens[start:i]) == 0)
        inside = tokens[start:end]
        other = inside[2:-1] if inside[1] == "not" else ["(", "not", *inside, ")"]
        yield [*tokens[:start], *other, *tokens[end:]]


def depth(tokens: list[str]) -> int:
    return tokens.count("(") - tokens.count(")")


def joined(tokens: list[str]) -> str:
    return " ".join(tokens).replace("( ", "(").replace(" )", ")")


# What becomes of them.


def why_refused(problem: Problem, mutant: Json) -> str | None:
    """Return why checker or recheck refuses the certificate of a trace about the problem; None if both accept."""
    record = {"id": "a", "verdict": "certified", "certificate": mutant, "problem": problem.record()}
    record["answer"] = mutant.get("claim") if isinstance(mutant, dict) else None
    try:
        check(mutant)
    except Rejected as rejection:
        return str(rejection)
    rejected = recheck_texts([record], lambda attempts: map(judge_anew, attempts)).evidence.rejected
    return rejected[0]["reason"] if rejected else None


def sealed(mutant: Json) -> Json:
    """Return the mutant under the digest that it should have, if it can have one."""
    try:
        return {**mutant, "digest": digest(mutant)}
    except (TypeError, ValueError, AttributeError):
        return mutant


def survivors(num: int, share: float = 1.0) -> tuple[Counter[str], Counter[str]]:
    """Change every entry of so many certificates; return the reasons of refusal, and where mutants passed."""
    reasons: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for number, (problem, certificate) in enumerate(certificates(num)):
        rng = random.Random(number)
        assert why_refused(problem, certificate) is None
        assert is_proof_of(problem, certificate["claim"], certificate), problem
        for path, mutant in mutants(certificate, rng, share):
            with pytest.raises(Rejected):
                check(mutant)
            reason = why_refused(problem, sealed(mutant))
            if reason is None:
                where = ".".join(key for key in path if isinstance(key, str))
                assert path[0] == "limits" or is_proof_of(problem, certificate["claim"], mutant), (
                    problem,
                    path,
                    mutant,
                )
                passed[where] += 1
            else:
                reasons[reason] += 1
    return reasons, passed


PASSING = {
    "limits.work",
    "evidence.goal",
    "evidence.steps",
    "evidence.steps.statement",
    "evidence.steps.rule",
    "evidence.steps.premises",
    "problem.formal.axioms",
    "problem.formal.goal",
}
"""Where a change may leave a proof of the same claim of the same problem.

The work limit, on which no evidence depends; blanks, variables renamed, premises reordered; steps in another order;
another earlier entry that says the same; axioms of the reference in another order, or twice.
"""


MET = {"ill_formed", "unknown_kind", "forward_reference", "invalid_step", "unused_step", "goal_not_reached", "claim"}
MET |= {
    "axiom_not_in_context",
    "axiom_missing",
    "not_closed",
    "not_decidable",
    "repeated_step",
    "answer",
    "goal_mismatch",
}
MET |= {"other_problem", "reference_is_not_the_text", "inconsistent", "inconsistent_context", "unbound_head_var"}


def test_of_20_certificates_no_mutant_passes_that_is_no_proof():
    reasons, passed = survivors(20, share=0.3)
    assert reasons.total() > 5_000
    assert passed.keys() <= PASSING
    assert passed.total() < reasons.total() / 10
    assert reasons.keys() >= MET


@pytest.mark.slow
def test_of_1000_certificates_no_mutant_passes_that_is_no_proof():
    reasons, passed = survivors(1000)
    print(f"\nrefused {reasons.total()}: {dict(reasons)}\npassed {passed.total()}: {dict(passed)}")
    assert reasons.total() > 1_000_000
    assert passed.keys() <= PASSING
    assert reasons.keys() >= MET
