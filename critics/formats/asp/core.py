"""Explanations: the rules that a contradiction needs, the ground instances that it needs, and a sentence.

A core is a minimal strongly inconsistent subset: every program between it and the whole is inconsistent with
what is asked, which is the right notion where rules are non-monotonic and makes deletion correct (notes, A4).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from critics.formats.asp.control import CompileError, GuardedControl, selector
from critics.logic.cores import smallest
from critics.replay.answer_sets.language import AspLiteral, AspRule, Choice, Comparison, Condition, Element
from critics.replay.answer_sets.reader import AspProgram
from critics.replay.answer_sets.stable_models import (
    GroundRule,
    Possible,
    SearchWork,
    apart,
    atom_of,
    bindings,
    matched,
    plain,
)
from critics.replay.certificate import TooLarge

MAX_GROUND = 2_000
"""Ground instances of one explanation; beyond, its rules alone are told."""


def strong_core(
    solver: GuardedControl, num_rules: int, on: frozenset[str], first: tuple[int, ...] = ()
) -> tuple[int, ...] | None:
    """Return the rules of a core of the guards `on`, sorted; None where these can hold. `first` are tried last."""
    selectors = frozenset(map(selector, range(num_rules)))
    found = solver.core(on | selectors)
    if found is None:
        return None
    order = sorted((i for i in range(num_rules) if selector(i) in found), key=lambda i: (i in first, -i))
    kept = smallest(map(selector, order), _clashing(solver, selectors, on))
    return tuple(i for i in range(num_rules) if selector(i) in kept)


def _clashing(
    solver: GuardedControl, guards: frozenset[str], on: frozenset[str] = frozenset()
) -> Callable[[Sequence[str]], Sequence[str] | None]:
    """Return a test for `smallest`: some guards, where they clash beside `on` whatever the others are."""
    return lambda rest: None if solver.satisfiable(on.union(rest), free=guards.difference(rest)) else rest


def grounded(program: AspProgram, core: tuple[int, ...], extra: tuple[AspRule, ...]) -> list[tuple[int, AspRule]]:
    """Return the ground instances of the core's rules that contradict `extra`, with the rules' positions.

    Empty where there are too many instances, or where these alone do not contradict it.
    """
    numbered = [(i, program.rules[i]) for i in core] + [(-1 - n, rule) for n, rule in enumerate(extra)]
    try:
        found = list(_instances(numbered))
    except TooLarge:
        return []
    if not found or len(found) > MAX_GROUND:
        return []
    own = [(i, rule) for i, rule in found if i >= 0]
    given = "\n".join(str(rule) for i, rule in found if i < 0)
    guards = {f"__g{n}": [rule.render(f"__g{n}")] for n, (_, rule) in enumerate(own)}
    try:
        solver = GuardedControl(given, guards)
    except CompileError:
        return []
    everything = frozenset(guards)
    if solver.satisfiable(everything):
        return []
    # Last first: what becomes derivable late is what a proof most often does without.
    kept = smallest(list(guards)[::-1], _clashing(solver, everything))
    return [own[n] for n, guard in enumerate(guards) if guard in kept]


def _instances(rules: list[tuple[int, AspRule]]) -> Iterator[tuple[int, AspRule]]:
    """Yield ground instances whose conditions could hold, in the order in which they become derivable."""
    known: Possible = {}
    seen: dict[tuple[int, AspRule], None] = {}
    work, simple = SearchWork(), [apart(plain(rule)) for _, rule in rules]
    grown = True
    while grown and len(seen) <= MAX_GROUND:
        grown = False
        for (position, rule), conditions in zip(rules, simple, strict=True):
            for binding in list(bindings(conditions.body, known, {}, work)):
                instance = (position, _ground(rule, conditions, binding, known, work))
                if instance not in seen:
                    seen[instance] = None
                    grown = True
                    for head in instance[1].heads():
                        known.setdefault((atom_of(head)[0], 1 + len(head.arguments)), {})[atom_of(head)] = None
    # A choice gains elements as atoms become known: its last form replaces the earlier ones.
    yield from {(position, rule.body): (position, rule) for position, rule in seen}.values()


def _ground(rule: AspRule, simple: GroundRule, binding: dict[str, str], known: Possible, work: SearchWork) -> AspRule:
    body = tuple(_filled(condition, binding) for condition in rule.body)
    if not isinstance(rule.head, Choice):
        return AspRule(tuple(_filled_literal(literal, binding) for literal in rule.head), body)
    elements = [
        Element(_filled_literal(e.literal, local), tuple(_filled(c, local) for c in e.condition))
        for e, (_, condition) in zip(rule.head.elements, simple.heads, strict=True)
        for local in bindings(condition, known, binding, work)
    ]
    return AspRule(replace(rule.head, elements=tuple(dict.fromkeys(elements))), body)


def givers(program: AspProgram, literal: AspLiteral) -> list[tuple[int, AspRule]]:
    """Return the rules that could conclude a literal, with its terms in the place of their variables."""
    found: list[tuple[int, AspRule]] = []
    for position, rule in enumerate(program.rules):
        for head in rule.heads():
            binding = matched(atom_of(head), atom_of(literal), {}) if head.signed == literal.signed else None
            if binding is not None:
                filled = tuple(_filled(condition, binding) for condition in rule.body)
                shown = rule.head if isinstance(rule.head, Choice) else (literal,)
                found.append((position, AspRule(shown, filled)))
    return found


def _filled(condition: Condition, binding: dict[str, str]) -> Condition:
    if isinstance(condition, AspLiteral):
        return _filled_literal(condition, binding)
    left, right = (binding.get(term, term) for term in condition.arguments)
    return Comparison(left, condition.operator, right)


def _filled_literal(literal: AspLiteral, binding: dict[str, str]) -> AspLiteral:
    return replace(literal, arguments=tuple(binding.get(term, term) for term in literal.arguments))


def cited(program: AspProgram, rule: int) -> str:
    """Return how a rule is named: its number and its comment, or else its text."""
    block = program.block_of(rule)
    if block is None or not (block.comment or block.number is not None):
        return str(program.rules[rule])
    said = block.comment.rstrip(". ") or str(program.rules[rule])
    return said if block.number is None else f"{said} (R{block.number})"


def sentence(program: AspProgram, core: tuple[int, ...], conclusion: str) -> str:
    """Return one sentence from the rules' own comments; without rules, the conclusion alone."""
    reasons = list(dict.fromkeys(cited(program, rule) for rule in core))
    if not reasons:
        return f"{conclusion}."
    listed = reasons[0] if len(reasons) == 1 else f"{', '.join(reasons[:-1])} and {reasons[-1]}"
    return f"{conclusion}, because {listed}."


def steps(program: AspProgram, instances: list[tuple[int, AspRule]]) -> str:
    """Return the ground instances, one a line, each after its rule's number."""
    named = ((program.block_of(position), rule) for position, rule in instances)
    lines = (f"{'' if block is None or block.number is None else f'R{block.number}: '}{rule}" for block, rule in named)
    return "\n".join(chain(dict.fromkeys(lines)))
