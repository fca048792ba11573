"""Re-checks chains of thought: replays how each sentence follows, with the standard library alone.

Of a certificate `english-proof` it asks that every entry is an axiom of the reference, an assumption, or follows from
the entries that it names; that the goal or its denial is established under no assumption, or for `unknown` that the
closure is a saturation without either; that the reference does not contradict itself; and that the spans account for
every letter of the text, each claim with an entry of its kind behind it.

Where the semantics is `forward`, rules are applied as they stand. Where it is `classical`, the entries named and the
denial of the sentence are put into ground instances, which must have no model. What the text says is read once more
by `critics.recheck.rejudging`, by the critic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from critics.replay.answers import check_claim
from critics.replay.certificate import Rejected, SealedCertificate, is_list, of_kinds
from critics.replay.clauses import (
    MAX_INSTANCES,
    Implication,
    OutOfWork,
    clause_of,
    denied,
    fact,
    follows,
    is_consistent,
    read_clause,
    statement_of,
)
from critics.replay.formula import Literal, Statement, Term, parse_statement
from critics.replay.kernel import fits
from critics.replay.saturations import is_contradictory, undecided
from critics.replay.semantics import semantics_of
from critics.replay.solvers import Trust

KIND = "english-proof"
MAX_RULES = {"rule": 1, "chain": 2, "cases": 9}
"""Number of entries, facts apart, on which a step may rest."""
_ENTRY_KEYS = frozenset({"says", "how", "premises"})
_SPAN_KEYS = frozenset({"start", "end", "kind", "by"})


@dataclass(slots=True)
class _Established:
    clauses: list[Implication] = field(default_factory=list[Implication])
    hows: list[str] = field(default_factory=list[str])
    under: list[frozenset[int]] = field(default_factory=list[frozenset[int]])


@of_kinds(KIND)
def check_english(certificate: SealedCertificate) -> Trust:
    """Accept a certificate by returning what it rests on, or raise `Rejected` with the reason."""
    evidence, formal = certificate.evidence, certificate.problem.formal
    semantics = semantics_of(certificate.reference)
    if formal is None or evidence["semantics"] != semantics.kind:
        raise Rejected("semantics")
    axioms = [read_clause(axiom) for axiom in formal.axioms]
    if " and ".join(evidence["goal"]) != formal.goal:
        raise Rejected("goal_mismatch")
    goal = [read_clause(text) for text in evidence["goal"]]
    forward = semantics.forward
    replay = _replayed(evidence["entries"], {axiom.canonical() for axiom in axioms}, forward)
    _check_consistency(axioms, goal, forward)
    value = _value(formal.axioms, evidence["closure"], replay, goal, forward)
    check_claim(certificate, value)
    _check_spans(evidence["spans"], evidence["completion"], replay.hows)
    return Trust.CHECKED


def _replayed(entries: Any, axioms: set[str], forward: bool) -> _Established:
    replay = _Established()
    if not is_list(entries):
        raise Rejected("ill_formed")
    for at, entry in enumerate(entries):
        how: str = entry["how"]
        premises: list[int] = entry["premises"]
        clause = read_clause(entry["says"])
        if entry.keys() != _ENTRY_KEYS or not all(type(p) is int and 0 <= p < at for p in premises):
            raise Rejected("forward_reference")
        under = frozenset[int]().union(*(replay.under[p] for p in premises))
        match how:
            case "context":
                if premises or clause.canonical() not in axioms:
                    raise Rejected("axiom_not_in_context")
            case "assumption":
                if forward or premises or not clause.is_fact:
                    raise Rejected("invalid_step")
                under = frozenset({at})
            case "reductio" | "discharge":
                _check_given_up(how, clause, premises, replay)
                under -= {premises[0]}
            case _:
                _check_step([replay.clauses[p] for p in premises], clause, MAX_RULES[how], forward)
        replay.clauses.append(clause)
        replay.hows.append(how)
        replay.under.append(under)
    return replay


def _check_given_up(how: str, clause: Implication, premises: Sequence[int], replay: _Established) -> None:
    """Raise unless an assumption led to a contradiction (`reductio`), or to what is now implied by it."""
    first, *others = premises
    if replay.hows[first] != "assumption":
        raise Rejected("invalid_step")
    assumed = replay.clauses[first].conclusions[0]
    if how == "reductio":
        one, other = (replay.clauses[p] for p in others)
        clashes = one.is_fact and other.is_fact and one.fact == other.fact.negated()
        if not clashes or clause != fact(assumed.negated()):
            raise Rejected("invalid_step")
        return
    (said,) = (replay.clauses[p] for p in others)
    if said.premises or clause != Implication((assumed,), said.conclusions):
        raise Rejected("invalid_step")


def _check_step(given: Sequence[Implication], clause: Implication, max_rules: int, forward: bool) -> None:
    if sum(not premise.is_fact for premise in given) > max_rules:
        raise Rejected("skipped_steps")
    if not forward:
        if not follows(given, clause):
            raise Rejected("invalid_step")
        return
    opened = clause.substitute({variable: f"fresh_{place}" for place, variable in enumerate(clause.variables())})
    facts = {premise.fact for premise in given if premise.is_fact} | set(opened.premises)
    rules = [premise for premise in given if not premise.is_fact]
    for _ in range(max_rules):
        facts |= {conclusion for rule in rules for conclusion in _applied(rule, facts, opened.conclusions)}
    if len(opened.conclusions) != 1 or opened.conclusions[0] not in facts:
        raise Rejected("invalid_step")


def _applied(rule: Implication, facts: set[Literal], wanted: Sequence[Literal]) -> Iterator[Literal]:
    """Yield what a rule gives from facts; a universal fact gives what is wanted of it."""
    if len(rule.conclusions) != 1:
        return
    conclusion = rule.conclusions[0]
    if not rule.premises:
        yield from (literal for literal in wanted if fits(conclusion, literal, {}) is not None)
        return
    bindings: list[dict[str, Term]] = [{}]
    for premise in rule.premises:
        found = (fits(premise, known, old) for old in bindings for known in facts)
        bindings = [binding for binding in found if binding is not None]
        if len(bindings) > MAX_INSTANCES:
            raise Rejected("too_large")
    yield from (conclusion.substitute(binding) for binding in bindings)


def _check_consistency(axioms: Sequence[Implication], goal: Sequence[Implication], forward: bool) -> None:
    """Raise where the reference contradicts itself; where its instances are too many, as far as rules show it."""
    if not forward:
        try:
            if not is_consistent(tuple(axioms)):
                raise Rejected("inconsistent_context")
            return
        except OutOfWork:
            pass
    statements = list(map(statement_of, axioms))
    if is_contradictory([_stated(statement) for statement in statements], goal[0].conclusions[0]):
        raise Rejected("inconsistent_context")


def _stated(statement: Statement | None) -> Statement:
    if statement is None:
        raise Rejected("too_large")
    return statement


def _value(
    stated: Sequence[str], closure: Any, replay: _Established, goal: Sequence[Implication], forward: bool
) -> str:
    held = {clause.canonical() for clause, under in zip(replay.clauses, replay.under, strict=True) if not under}
    if closure is not None:
        if not forward:
            raise Rejected("semantics")
        statements = [parse_statement(step["statement"]) for step in closure]
        _check_closure(closure, statements)
        axioms = [said for step, said in zip(closure, statements, strict=True) if step["by"] == "axiom"]
        return undecided(stated, axioms, statements, goal[0].conclusions[0])
    if all(clause.canonical() in held for clause in goal):
        return "true"
    denial = denied(tuple(goal))
    if denial is not None and all(clause.canonical() in held for clause in denial):
        return "false"
    raise Rejected("goal_not_reached")


def _check_closure(closure: Sequence[Any], statements: Sequence[Statement]) -> None:
    for step, said in zip(closure, statements, strict=True):
        if step["by"] == "rule":
            premises: list[int] = step["premises"]
            by: int = step["rule"]
            given = [statements[by], *(statements[p] for p in premises)]
            _check_step(list(map(clause_of, given)), clause_of(said), 1, True)
        elif step["by"] != "axiom":
            raise Rejected("ill_formed")


def _check_spans(spans: Any, completion: str, hows: Sequence[str]) -> None:
    covered = 0
    for span in spans:
        start, end, kind = span["start"], span["end"], span["kind"]
        by: Any = span["by"]
        if span.keys() != _SPAN_KEYS or not covered <= start < end <= len(completion):
            raise Rejected("spans")
        if completion[covered:start].strip():
            raise Rejected("spans")
        if kind == "unread" or (kind in ("premise", "citation") and by is None):
            raise Rejected("spans")
        if by is not None and (type(by) is not int or not 0 <= by < len(hows)):
            raise Rejected("spans")
        if kind == "premise" and (by is None or hows[by] != "context"):
            raise Rejected("spans")
        covered = end
    if completion[covered:].strip():
        raise Rejected("spans")
