"""Re-checks chains of thought: replays how each sentence follows, with the standard library and no code of the critic.

Of a certificate `english-proof` it asks that every entry is an axiom of the reference, an assumption, or follows from
the entries that it names; that the goal or its denial is established under no assumption, or for `unknown` that the
closure is a saturation without either; that the reference does not contradict itself; and that the spans account for
every letter of the text, each claim with an entry of its kind behind it.

Where the semantics is `forward`, rules are applied as they stand. Where it is `classical`, the entries named and the
denial of the sentence are put into ground instances, which must have no model. What the text says is read once more
by `critics.recheck.second_reading`, with the critics' own reader.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from critics.replay.answers import check_claim
from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, is_list, sealed_certificate
from critics.replay.clauses import (
    MAX_INSTANCES,
    Alternatives,
    TooMany,
    has_model,
    instance,
    opposite,
    read_alternatives,
)
from critics.replay.consequences import is_contradictory
from critics.replay.saturations import undecided
from critics.replay.semantics import semantics_of
from critics.replay.solvers import Trust
from critics.replay.statements import Atom, Term, filled, has_variables, matches, read_rule

KIND = "english-proof"
MAX_RULES = {"rule": 1, "chain": 2, "cases": 9}
"""How many entries that are no facts a step may rest on."""
_ENTRY_KEYS = frozenset({"says", "how", "premises"})
_SPAN_KEYS = frozenset({"start", "end", "kind", "by"})


@dataclass(slots=True)
class _Established:
    clauses: list[Alternatives] = field(default_factory=list[Alternatives])
    hows: list[str] = field(default_factory=list[str])
    under: list[frozenset[int]] = field(default_factory=list[frozenset[int]])


def check_english(certificate: object) -> Trust:
    """Accept a certificate, sealed or not, by returning, or raise `Rejected` with the reason."""
    sealed = sealed_certificate(certificate, (KIND,))
    with UNTRUSTED:
        _check(sealed)
    return Trust.CHECKED


def _check(certificate: SealedCertificate) -> None:
    evidence, formal = certificate.evidence, certificate.problem.formal
    semantics = semantics_of(certificate.reference)
    if formal is None or evidence["semantics"] != semantics.kind:
        raise Rejected("semantics")
    axioms = [read_alternatives(axiom) for axiom in formal.axioms]
    if " and ".join(evidence["goal"]) != formal.goal:
        raise Rejected("goal_mismatch")
    goal = [read_alternatives(text) for text in evidence["goal"]]
    forward = semantics.forward
    replay = _replayed(evidence["entries"], {axiom.meaning() for axiom in axioms}, forward)
    _check_consistency(axioms, goal, forward)
    value = _value(formal.axioms, evidence["closure"], replay, goal, forward)
    check_claim(certificate, value)
    _check_spans(evidence["spans"], evidence["completion"], replay.hows)


def _replayed(entries: Any, axioms: set[frozenset[tuple[Atom, ...]]], forward: bool) -> _Established:
    replay = _Established()
    if not is_list(entries):
        raise Rejected("ill_formed")
    for at, entry in enumerate(entries):
        how: str = entry["how"]
        premises: list[int] = entry["premises"]
        clause = read_alternatives(entry["says"])
        if entry.keys() != _ENTRY_KEYS or not all(type(p) is int and 0 <= p < at for p in premises):
            raise Rejected("forward_reference")
        under = frozenset[int]().union(*(replay.under[p] for p in premises))
        match how:
            case "context":
                if premises or clause.meaning() not in axioms:
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


def _check_given_up(how: str, clause: Alternatives, premises: Sequence[int], replay: _Established) -> None:
    """Raise unless an assumption led to a contradiction (`reductio`), or to what is now implied by it."""
    first, *others = premises
    if replay.hows[first] != "assumption":
        raise Rejected("invalid_step")
    assumed = replay.clauses[first].conclusions[0]
    if how == "reductio":
        one, other = (replay.clauses[p] for p in others)
        clashes = one.is_fact and other.is_fact and one.conclusions[0] == opposite(other.conclusions[0])
        if not clashes or clause != Alternatives((), (opposite(assumed),)):
            raise Rejected("invalid_step")
        return
    (said,) = (replay.clauses[p] for p in others)
    if said.premises or clause != Alternatives((assumed,), said.conclusions):
        raise Rejected("invalid_step")


def _check_step(given: Sequence[Alternatives], clause: Alternatives, max_rules: int, forward: bool) -> None:
    if sum(not premise.is_fact for premise in given) > max_rules:
        raise Rejected("skipped_steps")
    constants = {variable: f"fresh_{place}" for place, variable in enumerate(clause.variables())}
    opened = instance(clause, constants)
    if forward:
        facts = {premise.conclusions[0] for premise in given if premise.is_fact} | set(opened.premises)
        rules = [premise for premise in given if not premise.is_fact]
        for _ in range(max_rules):
            facts |= {conclusion for rule in rules for conclusion in _applied(rule, facts, opened.conclusions)}
        if len(opened.conclusions) != 1 or opened.conclusions[0] not in facts:
            raise Rejected("invalid_step")
        return
    denied = [Alternatives((), (opposite(atom),)) for atom in opened.atoms]
    if has_model([*given, *denied]):
        raise Rejected("invalid_step")


def _applied(rule: Alternatives, facts: set[Atom], wanted: Sequence[Atom]) -> Iterator[Atom]:
    """Yield what a rule gives from facts; a universal fact gives what is wanted of it."""
    if len(rule.conclusions) != 1:
        return
    if not rule.premises:
        yield from (atom for atom in wanted if matches(rule.conclusions[0], atom, {}))
        return
    bindings: list[dict[str, Term]] = [{}]
    for premise in rule.premises:
        bindings = [new for old in bindings for fact in facts if matches(premise, fact, new := dict(old))]
        if len(bindings) > MAX_INSTANCES:
            raise Rejected("too_large")
    for binding in bindings:
        conclusion = filled(rule.conclusions[0], binding)
        if not has_variables(conclusion[1]):
            yield conclusion


def _check_consistency(axioms: Sequence[Alternatives], goal: Sequence[Alternatives], forward: bool) -> None:
    """Raise where the reference contradicts itself; where its instances are too many, as far as rules show it."""
    if not forward:
        try:
            if not has_model(axioms):
                raise Rejected("inconsistent_context")
            return
        except TooMany:
            pass
    if any(len(axiom.conclusions) != 1 for axiom in axioms):
        raise Rejected("too_large")
    if is_contradictory([[*a.premises, *a.conclusions] for a in axioms], goal[0].conclusions[0]):
        raise Rejected("inconsistent_context")


def _value(stated: list[str], closure: Any, replay: _Established, goal: Sequence[Alternatives], forward: bool) -> str:
    held = {clause.meaning() for clause, under in zip(replay.clauses, replay.under, strict=True) if not under}
    if closure is not None:
        if not forward:
            raise Rejected("semantics")
        rules = [read_rule(step["statement"]) for step in closure]
        _check_closure(closure, rules)
        axioms = [rule for step, rule in zip(closure, rules, strict=True) if step["by"] == "axiom"]
        return undecided(stated, axioms, rules, goal[0].conclusions[0])
    if all(clause.meaning() in held for clause in goal):
        return "true"
    if len(goal) == 1 and not goal[0].premises and not goal[0].variables():
        denial = [Alternatives((), (opposite(atom),)) for atom in goal[0].conclusions]
        if all(clause.meaning() in held for clause in denial):
            return "false"
    raise Rejected("goal_not_reached")


def _check_closure(closure: Sequence[Any], rules: Sequence[list[Atom]]) -> None:
    for step, rule in zip(closure, rules, strict=True):
        if step["by"] == "rule":
            premises: list[int] = step["premises"]
            by: int = step["rule"]
            given, applied = [Alternatives((), (rules[p][0],)) for p in premises], rules[by]
            _check_step(
                [Alternatives(tuple(applied[:-1]), (applied[-1],)), *given], Alternatives((), tuple(rule)), 1, True
            )
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
