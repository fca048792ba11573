"""The independent checker of certificates: replays evidence, never searches, trusts no digest alone.

This module imports the standard library only and shares no code with the kernel that made the evidence:
it has its own reader of statements and its own matching, so that one bug cannot vouch for another.
A certificate of kind `horn-proof` is accepted when

* its digest is the SHA-256 of the rest as canonical JSON, and its keys are those of the design;
* every entry is an axiom, or a rule applied to earlier entries, re-matched here;
* every entry but the last serves a later one, and the last is the goal or the goal's negation;
* no entry contradicts another;
* the claim is what that means for the problem (true or false, or the option that says so);
* with `formalisation: checked`: every axiom is one of the reference's, and the goal is the reference's.

What needs a search or a translator is left to `critics.recheck`, which calls this module: that the reference
says what the text says, where the text's language is regular, and that nothing contradictory follows from it.
Here the reference in `problem.formal` is taken as it stands. Nothing can be checked of what the evidence does
not depend on: `limits`, a wrong option's text, a `trusted` formalisation's text.
"""

import hashlib
import json
import re
from collections import deque
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
PROBLEM_KEYS = ("context", "question", "options", "answer", "formal")
_BLANKS = " \t\r\n"
_TOKEN = re.compile(rf"[{_BLANKS}]*(\(|\)|->|'[a-z](?![a-zA-Z0-9_-])|[a-zA-Z0-9_]+(?:-[a-zA-Z0-9_]+)*)")
_OPTION_LETTER = re.compile(r"\(?([A-Za-z])[ \t]*[).:]")

Term = str
Atom = tuple[bool, tuple[Term, ...]]
"""A signed atom: whether it is asserted, then the predicate and its arguments."""


class Rejected(Exception):  # noqa: N818
    """The certificate does not hold; the text is the short machine-readable reason."""


def canonical_json(value: object) -> bytes:
    """Return the one spelling of `value`: sorted keys, no blanks, UTF-8 unescaped; raises on floats."""
    _refuse_floats(value)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode()


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
    if certificate["kind"] != "horn-proof" or certificate["engine"] != HORN_ENGINE:
        raise Rejected("unknown_kind")
    if digest(certificate) != certificate["digest"]:
        raise Rejected("digest")
    _check_shapes(certificate)
    evidence, problem = certificate["evidence"], certificate["problem"]
    steps: list[dict[str, Any]] = evidence["steps"]
    goal = read_atom(evidence["goal"])
    rules = _replay(steps)
    conclusion = rules[-1][0]
    _check_claim(certificate, problem, goal, conclusion)
    if certificate["formalisation"] == "checked":
        _check_reference(problem["formal"], steps, rules, goal)
    elif any(s["by"] == "axiom" and rule == [conclusion] for s, rule in zip(steps, rules, strict=True)):
        raise Rejected("goal_assumed")


def _check_shapes(certificate: dict[str, Any]) -> None:
    problem, evidence = certificate["problem"], certificate["evidence"]
    if problem.keys() != set(PROBLEM_KEYS) or evidence.keys() != {"goal", "reference", "steps"}:
        raise Rejected("ill_formed")
    if not _are_texts([problem["context"], problem["question"], certificate["claim"]]):
        raise Rejected("ill_formed")
    if problem["options"] is not None and not _are_texts(problem["options"]):
        raise Rejected("ill_formed")
    compared = {"checked": ("given", "prontoqa"), "trusted": ("none",)}
    if evidence["reference"] not in compared.get(certificate["formalisation"], ()):
        raise Rejected("ill_formed")
    if not _is_formal(problem["formal"], needed=certificate["formalisation"] == "checked"):
        raise Rejected("ill_formed")
    limits, repairs = certificate["limits"], certificate["repairs"]
    if limits.keys() != {"work"} or type(limits["work"]) is not int or repairs != []:
        raise Rejected("ill_formed")
    if type(evidence["steps"]) is not list or not evidence["steps"]:
        raise Rejected("ill_formed")


def _is_formal(formal: Any, *, needed: bool) -> bool:
    """A reference is there where, and only where, the formalisation was compared with it."""
    if not needed:
        return formal is None
    return formal.keys() == {"axioms", "goal"} and _are_texts(formal["axioms"])


def _are_texts(values: Any) -> bool:
    return all(isinstance(value, str) for value in values) and isinstance(values, list)


def _replay(steps: list[dict[str, Any]]) -> list[list[Atom]]:
    """Re-apply every step and return the statements, the last an atom; every earlier step must be used."""
    rules: list[list[Atom]] = []
    used: set[int] = set()
    for index, step in enumerate(steps):
        rule = read_rule(step["statement"])
        if step["by"] == "rule":
            if step.keys() != {"by", "premises", "rule", "statement"}:
                raise Rejected("ill_formed")
            cited: list[int] = [step["rule"], *step["premises"]]
            if not all(type(i) is int and 0 <= i < index for i in cited):
                raise Rejected("forward_reference")
            _apply(rules[cited[0]], [rules[i] for i in cited[1:]], rule)
            used.update(cited)
        elif step["by"] != "axiom" or step.keys() != {"by", "statement"}:
            raise Rejected("ill_formed")
        rules.append(rule)
    if used != set(range(len(steps) - 1)):
        raise Rejected("unused_step")
    if len(rules[-1]) != 1:
        raise Rejected("ill_formed")
    facts = {rule[0] for rule in rules if len(rule) == 1}
    if any((not sign, terms) in facts for sign, terms in facts):
        raise Rejected("inconsistent")
    return rules


def _apply(rule: list[Atom], premises: list[list[Atom]], result: list[Atom]) -> None:
    """Raise unless `rule`, its premises matched in order by `premises`, gives `result`."""
    if len(rule) < 2 or len(rule) - 1 != len(premises) or len(result) != 1:
        raise Rejected("invalid_step")
    binding: dict[Term, Term] = {}
    for pattern, given in zip(rule[:-1], premises, strict=True):
        if len(given) != 1 or not _matches(pattern, given[0], binding):
            raise Rejected("invalid_step")
    sign, terms = rule[-1]
    if any(term.startswith("'") and term not in binding for term in terms):
        raise Rejected("unbound_head_var")
    if result[0] != (sign, tuple(binding.get(term, term) for term in terms)):
        raise Rejected("invalid_step")


def _matches(pattern: Atom, given: Atom, binding: dict[Term, Term]) -> bool:
    """Bind the pattern's variables to the given terms; false where sign, length or a term differs."""
    if pattern[0] != given[0] or len(pattern[1]) != len(given[1]):
        return False
    for wanted, term in zip(pattern[1], given[1], strict=True):
        if wanted.startswith("'"):
            wanted = binding.setdefault(wanted, term)
        if wanted != term or term.startswith("'"):
            return False
    return True


def _check_claim(certificate: dict[str, Any], problem: dict[str, Any], goal: Atom, conclusion: Atom) -> None:
    if conclusion == goal:
        value = "true"
    elif conclusion == (not goal[0], goal[1]):
        value = "false"
    else:
        raise Rejected("goal_not_reached")
    if certificate["claim"] != in_terms_of(value, problem["options"]):
        raise Rejected("claim")
    if problem["answer"] is not None and problem["answer"] != certificate["claim"]:
        raise Rejected("answer")


def in_terms_of(value: str, options: list[str] | tuple[str, ...] | None) -> str | None:
    """Return an answer in the problem's own terms: itself, or the letter of the one option that says it.

    `Uncertain` says `unknown`; case, a final full stop and an option's own letter say nothing.
    """
    value = _plain(value)
    if options is None:
        return value
    texts = [_plain(_without_letter(option, position)) for position, option in enumerate(options)]
    return chr(ord("A") + texts.index(value)) if texts.count(value) == 1 else None


def _plain(text: str) -> str:
    text = text.strip().rstrip(".").strip().lower()
    return "unknown" if text == "uncertain" else text


def _without_letter(option: str, position: int) -> str:
    """Take `A)` off the first option; another letter than its own would make the answer ambiguous."""
    match = _OPTION_LETTER.match(option)
    own = match is not None and ord(match[1].upper()) - ord("A") == position
    return option[match.end() :] if match is not None and own else option


def _check_reference(formal: dict[str, Any], steps: list[dict[str, Any]], rules: list[list[Atom]], goal: Atom) -> None:
    if goal != read_atom(formal["goal"]):
        raise Rejected("goal_mismatch")
    axioms = [(s["statement"], rule) for s, rule in zip(steps, rules, strict=True) if s["by"] == "axiom"]
    reworded = [rule for text, rule in axioms if text not in formal["axioms"]]
    if reworded:
        reference = {_canonical(read_rule(text)) for text in formal["axioms"]}
        if not all(_canonical(rule) in reference for rule in reworded):
            raise Rejected("axiom_not_in_context")


def _canonical(rule: list[Atom]) -> tuple[Atom, ...]:
    """Sort the premises, without regard to the names of variables, then name these by first occurrence."""
    premises = sorted(rule[:-1], key=_shape)
    names: dict[Term, Term] = {}
    renamed: list[Atom] = []
    for sign, terms in [*premises, rule[-1]]:
        for term in terms[1:]:
            if term.startswith("'"):
                names.setdefault(term, f"'{len(names)}")
        renamed.append((sign, tuple(names.get(term, term) for term in terms)))
    return tuple(renamed)


def _shape(atom: Atom) -> tuple[bool, tuple[Term, ...]]:
    return atom[0], tuple("'" if term.startswith("'") else term for term in atom[1])


def _variables(rule: list[Atom]) -> bool:
    return any(term.startswith("'") for _, terms in rule for term in terms)


def read_rule(text: str) -> list[Atom]:
    """Read `P -> .. -> Q` as its atoms, the conclusion last; a fact is a list of one."""
    tokens: deque[str] = deque()
    at, text = 0, text.rstrip(_BLANKS)
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(text)
        tokens.append(match.group(1))
        at = match.end()
    atoms = [_take_atom(tokens)]
    while tokens:
        if tokens.popleft() != "->":
            raise ValueError(text)
        atoms.append(_take_atom(tokens))
    if len(atoms) == 1 and _variables(atoms):
        raise ValueError(text)
    return atoms


def read_atom(text: str) -> Atom:
    """Read one ground signed atom."""
    (atom,) = read_rule(text)
    return atom


def _take_atom(tokens: deque[str], sign: bool = True) -> Atom:
    """Take one atom off the front; raises `IndexError` where the tokens run out."""
    if tokens.popleft() != "(":
        raise ValueError("expected (")
    terms: list[Term] = []
    while (token := tokens.popleft()) != ")":
        if sign and token == "not" and not terms and tokens[0] == "(":
            _, negated = _take_atom(tokens, False)
            if tokens.popleft() != ")":
                raise ValueError("expected )")
            return False, negated
        terms.append(token)
    if not 2 <= len(terms) <= 3 or terms[0].startswith("'") or {"(", "->", "not", "nothing"} & set(terms):
        raise ValueError(f"not an atom: {terms}")
    return sign, tuple(terms)


def _refuse_floats(value: Any) -> None:
    kind = value.__class__
    if kind is float:
        raise ValueError("a certificate holds no floats")
    for item in value.values() if kind is dict else value if kind in (list, tuple) else ():
        _refuse_floats(item)
