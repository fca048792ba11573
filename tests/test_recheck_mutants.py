"""Certificates of every kind, changed in one place and signed again: `recheck` refuses each that is not still honest.

The forger owns the whole file: the digest is right, the record's answer is the claim, its problem is the certificate's,
and where the evidence holds the attempt's text, so does the attempt. Only a replay can find what is wrong. A change
that leaves an honest certificate is none (`why_honest`, which asks the critic): it is not counted.
"""

import copy
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from types import MappingProxyType
from typing import Any

import pytest

from critics.formats.csp.language import read_csp
from critics.formats.logic_program.language import read_logic_program
from critics.judge import judge_record
from critics.logic.programs.sections import Repairs
from critics.problem import Formal
from critics.recheck.rejudging import recheck
from critics.replay.certificate import digest
from critics.replay.equivalences.graph import Graph
from critics.replay.finite.terms import OUTSIDE, Application, Constant, Operator, Quantified, Term, Variable, operated
from critics.replay.first_order.models import Model, satisfies
from critics.replay.first_order.parser import parse
from critics.replay.first_order.reader import read_theory
from critics.replay.first_order.syntax import Not
from critics.replay.formula import canonical_statement, parse_literal, parse_statement

Json = Any
Path = tuple[str | int, ...]
SIGNS = (
    ("==", "!="), ("<", ">"), ("∧", "∨"), ("∀", "∃"), ("→", "↔"), ("is_valid", "is_sat"), ("True", "False"),
    (":-", "."), (" not ", " "), ("->", "-> (dog 'x) ->"), ("(not ", "("), ("¬", ""), ("0", "1"), ("|", ""), ("*", ""),
    (">>>", "<<<"), ("every", "no"), ("unsat", "sat"), ("infer-All", "infer-Any"), ("true", "false"), ("A", "B"),
)  # fmt: skip
MODELS = {
    "csp-model": ("constraints", "options"),
    "program-options": ("constraints", "options"),
    "fol-entailment": ("models",),
}
"""The parts of the evidence that are models: any will do."""
VALUES = ("true", "false", "unknown", "A", "B", "C", "given", "none", "checked", "trusted", "horn-proof", "text", "")


def places(value: Json, path: Path = ()) -> Iterator[tuple[Path, Json]]:
    """Yield every part of a value with its path."""
    yield path, value
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def changed(value: Json, rng: random.Random, others: list[str]) -> Json:
    """Return a value that is not the one given."""
    match value:
        case bool():
            return not value
        case int():
            return rng.choice([value + 1, value - 1, value + rng.randrange(2, 6), str(value)])
        case None:
            return rng.choice([0, "true", [], {}, "A"])
        case str():
            return rng.choice(
                [other_text, other_text, other_text, lambda *_: rng.choice(VALUES), lambda *_: rng.choice(others)]
            )(value, rng)
        case list():
            return other_list(value, rng)
        case _:
            return other_object(value, rng)


def other_text(text: str, rng: random.Random) -> str:
    kind = rng.randrange(5)
    if kind == 0 and (
        found := [pair for one, other in SIGNS for pair in ((one, other), (other, one)) if pair[0] and pair[0] in text]
    ):
        old, new = rng.choice(found)
        at = rng.choice([match.start() for match in re.finditer(re.escape(old), text)])
        return text[:at] + new + text[at + len(old) :]
    if kind == 1 and "\n" in text:
        lines = text.split("\n")
        one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[one], lines[other] = lines[other], lines[one]
        return "\n".join(lines[1:] if rng.random() < 0.3 else lines)
    words = [match.span() for match in re.finditer(r"\w+", text)]
    if words and kind in (2, 3):
        (start, end), (first, last) = rng.choice(words), rng.choice(words)
        return text[:start] + ("" if kind == 3 else text[first:last]) + text[end:]
    return (
        text[: rng.randrange(len(text) + 1)]
        + rng.choice(("", ")", "not ", "x", "1", " "))
        + text[rng.randrange(len(text) + 1) :]
    )


def other_list(items: list[Json], rng: random.Random) -> Json:
    if not items:
        return rng.choice([[0], [""], None])
    one, other = rng.randrange(len(items)), rng.randrange(len(items))
    match rng.randrange(4):
        case 0:
            return items[:one] + items[one + 1 :]
        case 1:
            return [*items[:one], items[other], *items[one:]]
        case 2:
            return [items[other] if i == one else items[one] if i == other else item for i, item in enumerate(items)]
        case _:
            return [items[other] if i == one else item for i, item in enumerate(items)]


def other_object(items: dict[str, Json], rng: random.Random) -> Json:
    if not items:
        return {"x": 1}
    one, other = rng.choice(list(items)), rng.choice(list(items))
    match rng.randrange(3):
        case 0:
            return {key: value for key, value in items.items() if key != one}
        case 1:
            return {**items, one: items[other], other: items[one]}
        case _:
            return {("x" if key == one else key): value for key, value in items.items()}


def mutants(trace: dict[str, Any], rng: random.Random, num: int) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield a path and the trace with its certificate changed there; by path, so that long lists do not crowd out."""
    certificate = trace["judgement"]["certificate"]
    found = [(path, value) for path, value in places(certificate) if path and path != ("digest",)]
    by_shape: dict[Path, list[tuple[Path, Json]]] = {}
    for path, value in found:
        by_shape.setdefault(tuple("*" if isinstance(part, int) else part for part in path), []).append((path, value))
    others = [value for _, value in found if isinstance(value, str)]
    while num:
        path, value = rng.choice(rng.choice(list(by_shape.values())))
        new = changed(copy.deepcopy(value), rng, others)
        if repr(new) != repr(value):
            num -= 1
            yield path, forged(trace, path, new)


def forged(trace: dict[str, Any], path: Path, new: Json) -> dict[str, Any]:
    made = copy.deepcopy(trace)
    certificate = made["judgement"]["certificate"]
    place = certificate
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = new
    certificate["digest"] = digest(certificate)
    made["judgement"]["answer"] = certificate.get("claim")
    if isinstance(certificate.get("problem"), dict):
        own = {
            key: value
            for key, value in certificate["problem"].items()
            if key in ("context", "question", "options", "answer")
        }
        made["problem"] |= own
        if certificate["problem"].get("formal") is not None and made["problem"]["formal"] is not None:
            made["problem"]["formal"] = certificate["problem"]["formal"]
    if path in (("evidence", "program"), ("evidence", "completion")):
        made["completion"] = new
    return made


WORDS = (("problem", "question"), ("problem", "context"))


def why_honest(mutant: dict[str, Any], path: Path) -> str | None:
    """Return the argument by which an accepted mutant is no forgery; None where there is none."""
    certificate = mutant["judgement"]["certificate"]
    if path[0] == "limits":
        return "no claim rests on what the critic was allowed"
    if path == ("engine",):
        return "the format is the same, and the version of a solver is a note"
    remade = judge_record({key: value for key, value in mutant.items() if key != "judgement"})["certificate"]
    same = remade is not None and without_models(remade) == without_models(certificate)
    if remade is None and certificate["formalisation"] == "trusted" and path[:2] in WORDS:
        return "on trust the evidence says nothing of the text's words; judging the text again refuses it"
    if same and holds_in_its_models(certificate):
        return "the critic makes this certificate of this problem and attempt, up to models, which hold"
    return None


def without_models(certificate: dict[str, Any]) -> dict[str, Any]:
    left_out = MODELS.get(certificate["kind"], ())
    evidence = {key: value for key, value in certificate["evidence"].items() if key not in left_out}
    if certificate["kind"] == "propositional-equivalence":
        evidence["detail"] = "a proof"
    kept = {key: certificate[key] for key in ("kind", "claim", "formalisation", "repairs")}
    problem, formal = dict(certificate["problem"]), certificate["problem"]["formal"]
    if formal is not None and not certificate["kind"].endswith("equivalence") and formal["goal"].startswith("("):
        # Statements are a set, and blanks say nothing.
        said = {canonical_statement(parse_statement(axiom)) for axiom in formal["axioms"]}
        problem["formal"] = [sorted(said), str(parse_literal(formal["goal"]))]
    return {**kept, "problem": problem, "evidence": evidence}


def holds_in_its_models(certificate: dict[str, Any]) -> bool:
    """Evaluate with the critics' own evaluator and with one of this file, which the re-check does not know."""
    evidence = certificate["evidence"]
    match certificate["kind"]:
        case "fol-entailment":
            *premises, goal = [parse(text).formula for text in (*evidence["premises"], evidence["conclusion"])]
            formal = certificate["problem"]["formal"]
            given = () if formal is None else read_theory(Formal(tuple(formal["axioms"]), formal["goal"])).axioms
            stated = [*premises, *given]
            other = Not(goal) if evidence["result"] == "true" else goal
            asked = {"holds": [*stated, goal], "fails": [*stated, Not(goal)], "contingent": [other]}
            shown = {name: record for name, record in evidence["models"].items() if record is not None}
            return all(satisfies(model_of(record), asked[name]) for name, record in shown.items())
        case "csp-model" | "program-options" as kind:
            program = (read_csp if kind == "csp-model" else read_logic_program)(evidence["program"], Repairs())
            functions = program.declared.functions
            shown = [(evidence["constraints"], None)]
            for option, models in zip(program.options, evidence["options"], strict=True):
                shown += [(rows, query.formula) for rows, query in zip(models, option.queries, strict=True)]
            return all(
                all(
                    holds(functions, tables(rows), term) for term in (*program.constraints, *([query] if query else []))
                )
                for rows, query in shown
                if rows is not None
            )
        case "propositional-equivalence":
            graph = Graph()
            left, right = (graph.add(parse(evidence[side]).formula) for side in ("left", "right"))
            proof = evidence["detail"]["clauses"]
            return proof == [] or is_refuted(graph.difference(left, right), proof)
        case _:
            return True


def is_refuted(clauses: list[list[int]], proof: list[list[int]]) -> bool:
    """Say whether each step, and at last falsity, follows by unit propagation: naively, all clauses again and again."""
    known = [set(clause) for clause in clauses]
    for step in [*proof, []]:
        false, grown = set(step), True
        while grown and all(clause - false for clause in known):
            units = {next(iter(clause - false)) for clause in known if len(clause - false) == 1}
            grown = not {-unit for unit in units} <= false
            false |= {-unit for unit in units}
        if all(clause - false for clause in known):
            return False
        known.append(set(step))
    return True


def tables(rows: Json) -> dict[str, dict[Any, Any]]:
    return {name: {OUTSIDE if row[0] == OUTSIDE else tuple(row[:-1]): row[-1] for row in rows[name]} for name in rows}


def model_of(record: Json) -> Model:
    def symbol(text: str) -> tuple[str, int]:
        name, _, arity = text.rpartition("/")
        return name, int(arity)

    functions = {symbol(name): {tuple(row[:-1]): row[-1] for row in rows} for name, rows in record["functions"].items()}
    predicates = {symbol(name): frozenset(map(tuple, rows)) for name, rows in record["predicates"].items()}
    return Model(record["size"], record["constants"], functions, predicates)


def holds(functions: Json, model: Json, term: Term, env: Json = MappingProxyType({})) -> Any:
    """Return a term's value in a model, by the definition of each operator and nothing clever."""
    match term:
        case Constant(value):
            return value
        case Variable(name):
            return env[name]
        case Application(name, parts):
            point = tuple(holds(functions, model, part, env) for part in parts)
            if not all(value in domain for value, domain in zip(point, functions[name].domains, strict=True)):
                return False if functions[name].is_boolean else model[name][OUTSIDE]
            return model[name][point]
        case Operator("and" | "or" as name, parts):
            return (all if name == "and" else any)(holds(functions, model, part, env) for part in parts)
        case Operator("if", (condition, one, other)):
            return holds(functions, model, one if holds(functions, model, condition, env) else other, env)
        case Operator(name, parts):
            return operated(name, [holds(functions, model, part, env) for part in parts])
        case Quantified(kind, variables, body):
            names, choices = [name for name, _ in variables], product(*(values for _, values in variables))
            found = [holds(functions, model, body, {**env, **dict(zip(names, c, strict=True))}) for c in choices]
            values = {"forall": all(found), "exists": any(found), "count": sum(map(bool, found)), "sum": sum(found)}
            return values.get(kind, len(set(found)) == len(found))


def check_mutants(traces: list[dict[str, Any]], num: int) -> Counter[str]:
    """Re-check mutants until there were `num` forgeries, as many of each trace; return why they were rejected."""
    reasons: Counter[str] = Counter()
    accepted: list[tuple[str, Path]] = []
    for position, trace in enumerate(traces):
        wanted = num // len(traces) + (position < num % len(traces))
        found = 0
        for path, mutant in mutants(trace, random.Random(trace["id"]), 20 * wanted):
            rejected = recheck([mutant])["rejected"]
            if not rejected and why_honest(mutant, path) is not None:
                continue
            found += 1
            reasons[rejected[0]["reason"] if rejected else "accepted"] += 1
            if not rejected:
                accepted.append((trace["id"], path))
            if found == wanted:
                break
        assert found == wanted
    assert accepted == []
    return reasons


def test_every_honest_certificate_is_accepted(honest_traces: list[dict[str, Any]]) -> None:
    report = recheck(honest_traces)
    assert (report["accepted"], report["rejected"]) == (len(honest_traces), [])


def test_of_500_forgeries_none_is_accepted(honest_traces: list[dict[str, Any]]) -> None:
    quick = [trace for trace in honest_traces if trace["format"] != "z3-python"]
    reasons = check_mutants(quick, 500)
    assert reasons.total() == 500
    # Not only the form is what refuses them: premises, models, texts, steps and questions do.
    assert len(reasons) > 20


@pytest.mark.slow
def test_of_5000_forgeries_none_is_accepted(honest_traces: list[dict[str, Any]]) -> None:
    reasons = check_mutants(honest_traces, 5_000)
    print(json.dumps(dict(reasons.most_common())))
    assert reasons.total() == 5_000
