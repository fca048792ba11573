"""Certificates as people read them: what was asked, the steps in words, and what is and is not shown by them."""

import json
from collections.abc import Mapping
from typing import Any

from critics.problem import Problem, ProblemText, is_list
from critics.replay.formula import FormulaError, Rule, parse_statement
from critics.verdict.certificate import Certificate, read_certificate
from rollout.prompts.sentence import read_aloud
from rollout.records.sampling import GUIDED
from rollout.records.traces import Trace

LONGEST = 2_000
"""Characters of one text: what a model wrote may never end."""
_KINDS = {
    "answer-sets": "An answer set program with tests: by its rules the query has this value in every answer set.",
    "csp-model": "A constraint problem: the option holds in every solution, and each other one fails in one.",
    "program-options": "A program for a solver: of its options exactly this one holds.",
    "fol-entailment": "First-order formulas: a solver shows what follows from the premises.",
    "z3-script": "A script for Z3: each of its questions was put to the solver anew.",
}
_TRUST = {
    "checked": "The formalisation was compared with the text of the problem.",
    "given": "The formalisation was compared with one that came with the problem.",
    "aligned": "The formalisation is the model's own; words, signs and order of the text bear it out.",
    "trusted": "The formalisation is the model's own: the steps are proved, that they are about the question is not.",
}
_LETTERS = ("X", "Y", "Z", "U", "V", "W")


def proof_lines(certificate: Certificate) -> list[str]:
    """Return the lines of a proof: problem, steps, claim, and what they rest on."""
    problem, evidence = certificate.problem, certificate.evidence
    return [
        *_problem_lines(problem),
        "",
        *(_step_lines(evidence, problem.context) or _part_lines(certificate.kind, evidence)),
        f"Hence the answer: {certificate.claim}.",
        _TRUST[certificate.formalisation],
        f"certificate {certificate.digest} ({certificate.kind}, {certificate.engine})",
    ]


def _step_lines(evidence: Mapping[str, Any], context: str) -> list[str]:
    """Return a derivation's steps, each with the steps that it follows from; none for other evidence."""
    steps, lines = evidence.get("steps"), list[str]()
    for number, step in enumerate(steps if is_list(steps) else (), 1):
        match step:
            case {"statement": str(said), "by": "rule", "rule": int(rule), "premises": [*premises]}:
                reason = f"from {', '.join(str(place + 1) for place in (rule, *map(int, premises)))}"
            case {"statement": str(said)}:
                reason = "given"
            case _:
                return []
        lines.append(f"{number:3}. {in_words(said, context)}  [{reason}]  {said}")
    return lines


def _part_lines(kind: str, evidence: Mapping[str, Any]) -> list[str]:
    lines = [_KINDS[kind]] if kind in _KINDS else []
    for name, part in evidence.items():
        if is_list(part) and part:
            lines += [f"  {name}:", *(f"    {place}. {_shown(item)}" for place, item in enumerate(part, 1))]
        elif part not in (None, [], {}):
            lines.append(f"  {name}: {_shown(part)}")
    return lines


def trace_lines(trace: Trace) -> list[str]:
    """Return the lines of an attempt: its proof, or its text and why that proves nothing; then its verdict."""
    verdict = trace.judged
    certificate = None if verdict.certificate is None else read_certificate(verdict.certificate)
    lines = [f"attempt {trace.id} ({trace.format})"]
    lines += _problem_lines(trace.problem) if certificate is None else proof_lines(certificate)
    if trace.messages and (certificate is None or trace.turns):
        lines += ["", *(f"{turn.get('role')}: {_short(str(turn.get('content')))}" for turn in trace.messages)]
    elif certificate is None or trace.turns or trace.format != GUIDED:  # else the proof shows it in words
        lines += ["", "It wrote:", "" if trace.messages else _short(trace.completion)]
    reason = "" if certificate is not None else f": {verdict.reason} ({verdict.feedback})"
    return [*lines, f"verdict: {verdict.verdict}{reason}"]


def in_words(statement: str, context: str) -> str:
    """Return a statement of the formal language as a sentence, and as it is where it cannot be read."""
    try:
        read = parse_statement(statement)
    except FormulaError:
        return statement
    literals = (*read.premises, read.conclusion) if isinstance(read, Rule) else (read,)
    names = dict.fromkeys(variable for literal in literals for variable in literal.variables())
    letters = dict(zip(names, _LETTERS, strict=False)) if isinstance(read, Rule) else {}
    values = {name: letters.get(name, name.lstrip("'")) for name in names}
    *premises, conclusion = (read_aloud(literal.substitute(values), context) for literal in literals)
    joined = " and ".join(premise.rstrip(".") for premise in premises)
    return f"If {joined}, then {conclusion}" if premises else conclusion


def _problem_lines(problem: Problem | ProblemText) -> list[str]:
    options = [f"  {chr(ord('A') + i)}) {option}" for i, option in enumerate(problem.options or ())]
    return [_short(problem.context), _short(problem.question), *options]


def _shown(part: object) -> str:
    return _short(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False))


def _short(text: str) -> str:
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} … (cut here for display)"
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in shown)
