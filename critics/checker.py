"""The independent checker of certificates: replays evidence, never searches, trusts no digest alone.

This module imports the standard library only and shares no code with the kernel that made the evidence:
it has its own reader of statements and its own matching, so that one bug cannot vouch for another.
Of a certificate of either kind it asks that

* its digest is the SHA-256 of the rest as canonical JSON, and its keys are those of the design;
* every entry is an axiom, or a rule applied to earlier entries, re-matched here;
* no fact among the entries contradicts another, or an entry about everything;
* the claim is what the evidence means for the problem (true, false or unknown, or the option that says so);
* with `formalisation: checked`: every axiom is one of the reference's, and the goal is the reference's.

`horn-proof`: every entry but the last serves a later one, and the last is the goal or the goal's negation.
`horn-saturation`: the entries hold every axiom of the reference and are closed under its rules (every way to
match the premises is tried, and gives an entry), and neither the goal nor its negation is among them. Negation is
strong, so they are then a model in which the goal is neither true nor false, and neither follows; reasoning by
cases or by contraposition is not asked for. A formalisation on trust is never saturated: what was left out of it
could decide the goal.

What needs a search or a translator is left to `critics.recheck`, which calls this module: that the reference
says what the text says, where the text's language is regular, and that nothing contradictory follows from it.
Here the reference in `problem.formal` is taken as it stands. Nothing can be checked of what the evidence does
not depend on: `limits`, a wrong option's text, a `trusted` formalisation's text.
"""

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

KEYS = (
    "kind",
    "problem",
    "claim",
    "evidence",
    "formalisation",
    "engine",
    "limits",
    "repairs",
    "digest",
)
HORN_ENGINE = "certistar-horn/1"
KINDS = ("horn-proof", "horn-saturation")
REFERENCES = ("given", "prontoqa", "proofwriter", "syllogism", "prontoqa-ood", "deontiqa")
"""Where a reference may come from: the problem itself, or the translator of a data set."""
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
MAX_MATCHES = 200_000
"""How many matches the closure of a saturation may take, also in vain; fewer where terms are large."""
MAX_DEPTH = 20
"""Of terms; the kernel's language ends at 16."""
MAX_TOKENS = 6_200
"""Of an atom: two terms of the kernel's 1,024 symbols, with two brackets each.

Without a bound, a short certificate could compare one long statement again and again."""
PROBLEM_KEYS = ("context", "question", "options", "answer", "formal")
_AXIOM_KEYS = frozenset({"by", "statement"})
_RULE_KEYS = frozenset({"by", "premises", "rule", "statement"})
_BLANKS = " \t\r\n"
_NO_SYMBOLS = frozenset({"->", "not", "nothing"})
_TOKEN = re.compile(r"\(|\)|->|'[a-z](?![a-zA-Z0-9_-])|[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)*")
_OPTION_LETTER = re.compile(r"\(?([A-Za-z])[ \t]*[).:]")

_SAYING = {
    "true": ("true", "valid", "yes"),
    "false": ("false", "invalid", "no"),
    "unknown": ("unknown", "uncertain", "invalid"),
}
"""The option texts that say each value. An argument whose conclusion does not follow is as invalid as one
whose premises refute it."""

Term = str | tuple["Term", ...]
"""A symbol, a variable (which starts with a quote), or a function followed by its arguments."""
Atom = tuple[bool, tuple[Term, ...]]
"""A signed atom: whether it is asserted, then the predicate and its arguments."""


class Rejected(Exception):  # noqa: N818
    """The certificate does not hold; the text is the short machine-readable reason."""


def canonical_json(value: object) -> bytes:
    """Return the one spelling of `value`: sorted keys, no blanks, UTF-8 unescaped; raises on floats."""
    _refuse_floats(value)
    return _CANONICAL.encode(value).encode()


def digest(certificate: dict[str, Any]) -> str:
    """Return the SHA-256 of a certificate without its digest."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    return hashlib.sha256(canonical_json(rest)).hexdigest()


def check(certificate: object) -> None:
    """Accept a certificate by returning, or raise `Rejected` with the reason."""
    try:
        _check(certificate)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise Rejected("ill_formed") from error


def _check(certificate: Any) -> None:
    if certificate.keys() != set(KEYS):
        raise Rejected("ill_formed")
    if certificate["kind"] not in KINDS or certificate["engine"] != HORN_ENGINE:
        raise Rejected("unknown_kind")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    _check_shapes(certificate)
    evidence, problem = certificate["evidence"], certificate["problem"]
    steps: list[dict[str, Any]] = evidence["steps"]
    goal = read_atom(evidence["goal"])
    rules, facts = _replay(steps)
    if certificate["kind"] == "horn-proof":
        value = _proved(steps, facts, goal)
    else:
        value = _undecided(certificate["formalisation"], problem["formal"], steps, rules, goal)
    _check_claim(certificate, problem, value)
    if certificate["formalisation"] == "checked":
        _check_reference(problem["formal"], evidence, rules, goal)
    elif _is_assumed(steps, rules):
        raise Rejected("goal_assumed")


def _check_shapes(certificate: dict[str, Any]) -> None:
    problem, evidence = certificate["problem"], certificate["evidence"]
    if problem.keys() != set(PROBLEM_KEYS) or evidence.keys() != {"goal", "reference", "steps"}:
        raise Rejected("ill_formed")
    if not _are_texts([problem["context"], problem["question"], certificate["claim"]]):
        raise Rejected("ill_formed")
    if problem["options"] is not None and not _are_texts(problem["options"]):
        raise Rejected("ill_formed")
    compared = {"checked": REFERENCES, "trusted": ("none",)}
    if evidence["reference"] not in compared.get(certificate["formalisation"], ()):
        raise Rejected("ill_formed")
    if not _is_formal(problem["formal"], needed=certificate["formalisation"] == "checked"):
        raise Rejected("ill_formed")
    limits, repairs = certificate["limits"], certificate["repairs"]
    if limits.keys() != {"work"} or type(limits["work"]) is not int or repairs != []:
        raise Rejected("ill_formed")
    if type(evidence["steps"]) is not list:
        raise Rejected("ill_formed")


def _is_formal(formal: Any, *, needed: bool) -> bool:
    """A reference is there where, and only where, the formalisation was compared with it."""
    if not needed:
        return formal is None
    return formal.keys() == {"axioms", "goal"} and _are_texts(formal["axioms"])


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values) and isinstance(values, list)


def _replay(steps: list[dict[str, Any]]) -> tuple[list[list[Atom]], dict[int, Atom]]:
    """Re-apply every step; return the statements, and those that are facts by index. No fact is contradicted."""
    rules: list[list[Atom]] = []
    facts: dict[int, Atom] = {}
    for index, step in enumerate(steps):
        rule = read_rule(step["statement"])
        if _is_fact(rule):
            facts[index] = rule[0]
        if step["by"] == "rule":
            if step.keys() != _RULE_KEYS or step["premises"].__class__ is not list:
                raise Rejected("ill_formed")
            by: int = step["rule"]
            premises: list[int] = step["premises"]
            if not all(type(i) is int and 0 <= i < index for i in (by, *premises)):
                raise Rejected("forward_reference")
            if by in facts or not facts.keys() >= {index, *premises}:
                raise Rejected("invalid_step")
            _apply(rules[by], [facts[i] for i in premises], rule[0])
        elif step["by"] != "axiom" or step.keys() != _AXIOM_KEYS:
            raise Rejected("ill_formed")
        rules.append(rule)
    _check_consistency(rules, set(facts.values()))
    return rules, facts


def _check_consistency(rules: list[list[Atom]], facts: set[Atom]) -> None:
    asserted = {terms for sign, terms in facts if sign}
    if any(terms in asserted for sign, terms in facts if not sign):
        raise Rejected("inconsistent")
    for universal in (rule for rule in rules if len(rule) == 1 and rule[0] not in facts):
        if any(_is_instance((not sign, terms), universal) for sign, terms in facts):
            raise Rejected("inconsistent")


def _is_fact(rule: list[Atom]) -> bool:
    return len(rule) == 1 and not _has_variables(rule[0][1])


def _apply(rule: list[Atom], premises: list[Atom], result: Atom) -> None:
    """Raise unless `rule`, its premises matched in order by the facts `premises`, gives the fact `result`."""
    if len(rule) - 1 != len(premises):
        raise Rejected("invalid_step")
    binding: dict[str, Term] = {}
    for pattern, given in zip(rule[:-1], premises, strict=True):
        if not _matches(pattern, given, binding):
            raise Rejected("invalid_step")
    if len(rule) == 1 and not _matches(rule[0], result, binding):
        # The variables of a universal fact stand for whatever the result has in their places.
        raise Rejected("invalid_step")
    conclusion = _filled(rule[-1], binding)
    if conclusion != result:
        raise Rejected("unbound_head_var" if _has_variables(conclusion[1]) else "invalid_step")


def _matches(pattern: Atom, given: Atom, binding: dict[str, Term]) -> bool:
    """Bind the pattern's variables to the ground terms given; false where sign, length or a symbol differs."""
    return pattern[0] == given[0] and _match_terms(pattern[1], given[1], binding)


def _match_terms(pattern: tuple[Term, ...], given: tuple[Term, ...], binding: dict[str, Term]) -> bool:
    if len(pattern) != len(given):
        return False
    for wanted, term in zip(pattern, given, strict=True):
        if isinstance(wanted, str):
            if term != (binding.setdefault(wanted, term) if wanted[0] == "'" else wanted):
                return False
        elif isinstance(term, str) or not _match_terms(wanted, term, binding):
            return False
    return True


def _is_instance(fact: Atom, statement: list[Atom]) -> bool:
    """Say whether a statement is the fact, or says it of everything."""
    return len(statement) == 1 and _matches(statement[0], fact, {})


def _filled(atom: Atom, binding: Mapping[str, Term]) -> Atom:
    return atom[0], _filled_terms(atom[1], binding)


def _filled_terms(terms: tuple[Term, ...], binding: Mapping[str, Term]) -> tuple[Term, ...]:
    return tuple([binding.get(t, t) if isinstance(t, str) else _filled_terms(t, binding) for t in terms])


def _variables_of(terms: tuple[Term, ...]) -> Iterator[str]:
    for term in terms:
        if not isinstance(term, str):
            yield from _variables_of(term)
        elif term[0] == "'":
            yield term


def _has_variables(terms: tuple[Term, ...]) -> bool:
    # A loop and no generator: most of a check would be spent here.
    for term in terms:  # noqa: SIM110
        if term[0] == "'" if isinstance(term, str) else _has_variables(term):
            return True
    return False


def _proved(steps: list[dict[str, Any]], facts: dict[int, Atom], goal: Atom) -> str:
    """Return whether the last step is the goal (true) or its negation (false); every earlier one must serve it."""
    last = facts.get(len(steps) - 1)
    if last is None:
        raise Rejected("ill_formed")
    cited = {i for step in steps if step["by"] == "rule" for i in (step["rule"], *step["premises"])}
    if cited != set(range(len(steps) - 1)):
        raise Rejected("unused_step")
    if last == goal:
        return "true"
    if last == (not goal[0], goal[1]):
        return "false"
    raise Rejected("goal_not_reached")


def _undecided(
    formalisation: str, formal: dict[str, Any] | None, steps: list[dict[str, Any]], rules: list[list[Atom]], goal: Atom
) -> str:
    """Return `unknown` where the steps hold the whole reference, are closed under it, and lack the goal."""
    if formalisation != "checked" or formal is None:
        raise Rejected("reference_is_missing")
    if len(set(map(tuple, rules))) != len(rules):
        raise Rejected("repeated_step")
    axioms = {_canonical(rule) for step, rule in zip(steps, rules, strict=True) if step["by"] == "axiom"}
    if not axioms >= {_canonical(read_rule(text)) for text in formal["axioms"]}:
        raise Rejected("axiom_missing")
    facts = {rule[0] for rule in rules if _is_fact(rule)}
    if goal in facts or (not goal[0], goal[1]) in facts:
        raise Rejected("goal_reached")
    _check_closed([rule for rule in rules if not _is_fact(rule)], facts, goal)
    return "unknown"


def _check_closed(rules: list[list[Atom]], facts: set[Atom], goal: Atom) -> None:
    """Raise unless every way to match a rule's premises with facts gives a fact."""
    weight = _weight([*facts, *(atom for rule in rules for atom in rule)])
    left = MAX_MATCHES
    by_predicate: dict[tuple[bool, Term], list[Atom]] = {}
    for fact in facts:
        by_predicate.setdefault((fact[0], fact[1][0]), []).append(fact)
    for rule in rules:
        bindings: list[dict[str, Term]] = [{}] if len(rule) > 1 else _assignments(rule, rules, facts, goal)
        left = _spent(left, weight * len(bindings))
        for pattern in rule[:-1]:
            candidates = by_predicate.get((pattern[0], pattern[1][0]), [])
            left = _spent(left, weight * len(bindings) * len(candidates))
            bindings = [new for old in bindings for fact in candidates if _matches(pattern, fact, new := dict(old))]
        if any(_filled(rule[-1], binding) not in facts for binding in bindings):
            raise Rejected("not_closed")


def _weight(atoms: list[Atom]) -> int:
    """Return what a match costs: a conclusion may hold the largest term in every place of the largest conclusion."""
    return 1 + max(_num_symbols(terms) for _, terms in atoms) ** 2 // 64 if atoms else 1


def _num_symbols(terms: tuple[Term, ...]) -> int:
    return sum(1 if isinstance(term, str) else _num_symbols(term) for term in terms)


def _spent(left: int, matches: int) -> int:
    if matches > left:
        raise Rejected("too_large")
    return left - matches


def _assignments(universal: list[Atom], rules: list[list[Atom]], facts: set[Atom], goal: Atom) -> list[dict[str, Term]]:
    """Return every assignment of objects to a universal fact's variables; without functions they are finite."""
    atoms = [goal, *facts, *(atom for rule in rules for atom in rule)]
    if not all(isinstance(term, str) for _, terms in atoms for term in terms):
        raise Rejected("not_decidable")
    objects = sorted({str(term) for _, terms in atoms for term in terms[1:] if not str(term).startswith("'")})
    variables = sorted(set(_variables_of(universal[0][1])))
    _spent(MAX_MATCHES, len(objects) ** len(variables))
    return [dict(zip(variables, values, strict=True)) for values in product(objects, repeat=len(variables))]


def _is_assumed(steps: list[dict[str, Any]], rules: list[list[Atom]]) -> bool:
    """Say whether an axiom is the last step, or says it of everything, however else it is derived."""
    last = rules[-1][0]
    return any(step["by"] == "axiom" and _is_instance(last, rule) for step, rule in zip(steps, rules, strict=True))


def _check_claim(certificate: dict[str, Any], problem: dict[str, Any], value: str) -> None:
    if certificate["claim"] != in_terms_of(value, problem["options"]):
        raise Rejected("claim")
    if problem["answer"] is not None and problem["answer"] != certificate["claim"]:
        raise Rejected("answer")


def in_terms_of(value: str, options: list[str] | tuple[str, ...] | None) -> str | None:
    """Return an answer in the problem's own terms: itself, or the letter of the one option that says it.

    `Uncertain` says `unknown`, `Valid` says `true`, `Invalid` says `false` and `unknown`; case, a final full stop
    and an option's own letter say nothing.
    """
    value = "unknown" if _plain(value) == "uncertain" else _plain(value)
    if options is None:
        return value
    texts = [_plain(_without_letter(option, position)) for position, option in enumerate(options)]
    saying = [position for position, text in enumerate(texts) if text in _SAYING.get(value, (value,))]
    return chr(ord("A") + saying[0]) if len(saying) == 1 else None


def _plain(text: str) -> str:
    return text.strip().rstrip(".").strip().lower()


def _without_letter(option: str, position: int) -> str:
    """Take `A)` off the first option; another letter than its own would make the answer ambiguous."""
    match = _OPTION_LETTER.match(option)
    own = match is not None and ord(match[1].upper()) - ord("A") == position
    return option[match.end() :] if match is not None and own else option


def _check_reference(formal: dict[str, Any], evidence: dict[str, Any], rules: list[list[Atom]], goal: Atom) -> None:
    if formal["goal"] != evidence["goal"] and read_atom(formal["goal"]) != goal:
        raise Rejected("goal_mismatch")
    axioms = [(s["statement"], rule) for s, rule in zip(evidence["steps"], rules, strict=True) if s["by"] == "axiom"]
    reworded = [rule for text, rule in axioms if text not in formal["axioms"]]
    if reworded:
        reference = {_canonical(read_rule(text)) for text in formal["axioms"]}
        if not all(_canonical(rule) in reference for rule in reworded):
            raise Rejected("axiom_not_in_context")


def _canonical(rule: list[Atom]) -> tuple[Atom, ...]:
    """Sort the premises, without regard to the names of variables, then name these by first occurrence."""
    ordered = [*sorted(rule[:-1], key=_shape), rule[-1]]
    names: dict[str, Term] = {}
    for _, terms in ordered:
        for variable in _variables_of(terms):
            names.setdefault(variable, f"'{len(names)}")
    return tuple(_filled(atom, names) for atom in ordered)


def _shape(atom: Atom) -> str:
    return repr(_filled(atom, dict.fromkeys(_variables_of(atom[1]), "'")))


def read_rule(text: str) -> list[Atom]:
    """Read `P -> .. -> Q` as its atoms, the conclusion last; a fact, also a universal one, is a list of one."""
    tokens = deque(_TOKEN.findall(text))
    if sum(map(len, tokens)) != len(text) - sum(map(text.count, _BLANKS)):
        # Something that is neither token nor blank was passed over.
        raise ValueError(text)
    atoms = [_take_atom(tokens)]
    while tokens:
        if tokens.popleft() != "->":
            raise ValueError(text)
        atoms.append(_take_atom(tokens))
    return atoms


def read_atom(text: str) -> Atom:
    """Read one ground signed atom."""
    (atom,) = read_rule(text)
    if _has_variables(atom[1]):
        raise ValueError(text)
    return atom


def _take_atom(tokens: deque[str], sign: bool = True) -> Atom:
    """Take one atom off the front; raises `IndexError` where the tokens run out."""
    num_before = len(tokens)
    if tokens.popleft() != "(":
        raise ValueError("expected (")
    if sign and tokens[0] == "not" and tokens[1] == "(":
        tokens.popleft()
        _, negated = _take_atom(tokens, False)
        if tokens.popleft() != ")":
            raise ValueError("expected )")
        return False, negated
    terms = _take_terms(tokens, 0)
    if not 2 <= len(terms) <= 3 or num_before - len(tokens) > MAX_TOKENS:
        raise ValueError(f"not an atom: {terms}")
    return sign, terms


def _take_terms(tokens: deque[str], depth: int) -> tuple[Term, ...]:
    """Take a symbol and its arguments, up to the closing parenthesis; only arguments may be applications."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    symbol = tokens.popleft()
    if symbol in _NO_SYMBOLS or symbol[0] in "'()":
        raise ValueError(f"{symbol} cannot name anything")
    terms: list[Term] = [symbol]
    while (token := tokens.popleft()) != ")":
        if token in _NO_SYMBOLS:
            raise ValueError(f"{token} cannot stand here")
        terms.append(_take_terms(tokens, depth + 1) if token == "(" else token)
    if len(terms) < 2:
        raise ValueError("a symbol without arguments")
    return tuple(terms)


def _refuse_floats(value: Any) -> None:
    kind = value.__class__
    if kind is str:
        return
    if kind is float:
        raise ValueError("a certificate holds no floats")
    for item in value.values() if kind is dict else value if kind in (list, tuple) else ():
        if item.__class__ is not str:
            _refuse_floats(item)
