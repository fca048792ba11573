"""Certificates as people read them: what was asked, the steps in words, and what is and is not shown by them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from critics.problem import Problem, ProblemText
from critics.replay.formula import FormulaError, Literal, Rule, parse_statement
from critics.verdict.certificate import Certificate, read_certificate
from rollout.prompts.sentence import read_aloud
from rollout.records.traces import Trace
from training.reporting.derivations import ProofStep, steps_of_evidence

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
    problem, evidence = certificate.problem, certificate.evidence.record()
    steps = steps_of_evidence(evidence)
    return [
        *_problem_lines(problem),
        "",
        *(_step_lines(steps, problem.context) if steps else _evidence_lines(certificate.kind, evidence)),
        f"Hence the answer: {certificate.claim}.",
        _TRUST[certificate.formalisation],
        f"certificate {certificate.digest} ({certificate.kind}, {certificate.engine})",
    ]


def trace_lines(trace: Trace) -> list[str]:
    """Return the lines of an attempt: its proof, or its text and why that proves nothing; then its verdict."""
    verdict = trace.judged
    certificate = None if verdict.certificate is None else read_certificate(verdict.certificate)
    said = _dialog_lines(trace) if certificate is None or trace.turns else _program_lines(trace)
    proof = _problem_lines(trace.problem) if certificate is None else proof_lines(certificate)
    reason = "" if certificate is not None else f": {verdict.reason} ({verdict.feedback})"
    return [f"attempt {trace.id} ({trace.format})", *proof, *said, f"verdict: {verdict.verdict}{reason}"]


def in_words(statement: str, context: str) -> str:
    """Return a statement of the formal language as a sentence, and as it is where it cannot be read."""
    try:
        return _sentence(parse_statement(statement), context)
    except FormulaError:
        return statement


def _sentence(statement: Literal | Rule, context: str) -> str:
    if isinstance(statement, Literal):
        return read_aloud(_lettered(statement, {}), context)
    literals = (*statement.premises, statement.conclusion)
    names = dict.fromkeys(variable for literal in literals for variable in literal.variables())
    letters = dict(zip(names, _LETTERS, strict=False))
    premises = [read_aloud(_lettered(p, letters), context).rstrip(".") for p in statement.premises]
    conclusion = read_aloud(_lettered(statement.conclusion, letters), context)
    return f"If {' and '.join(premises)}, then {conclusion}" if premises else conclusion


def _lettered(literal: Literal, letters: Mapping[str, str]) -> Literal:
    return literal.substitute({name: letters.get(name, name.lstrip("'")) for name in literal.variables()})


def _problem_lines(problem: Problem | ProblemText) -> list[str]:
    options = [f"  {chr(ord('A') + i)}) {option}" for i, option in enumerate(problem.options or ())]
    return [_short(problem.context), _short(problem.question), *options]


def _step_lines(steps: Sequence[ProofStep], context: str) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        used = ", ".join(str(place + 1) for place in step.parents)
        reason = f"from {used}" if used else "given"
        yield f"{number:3}. {in_words(step.statement, context)}  [{reason}]  {step.statement}"


def _evidence_lines(kind: str, evidence: Mapping[str, object]) -> Iterator[str]:
    """Yield what another kind of certificate holds, each part under its name."""
    if (opening := _KINDS.get(kind)) is not None:
        yield opening
    for name, part in evidence.items():
        if part in (None, [], {}):
            continue
        if isinstance(part, list):
            yield f"  {name}:"
            yield from (f"    {place}. {_shown(item)}" for place, item in enumerate(cast("list[object]", part), 1))
        else:
            yield f"  {name}: {_shown(part)}"


def _dialog_lines(trace: Trace) -> list[str]:
    """Return what was written, turn by turn where it is a dialog."""
    if not trace.messages:
        return ["", "It wrote:", _short(trace.completion)]
    return ["", *(f"{turn.get('role')}: {_short(str(turn.get('content')))}" for turn in trace.messages)]


def _program_lines(trace: Trace) -> list[str]:
    """Return the attempt itself where its certificate does not show it in words."""
    return [] if trace.format == "guided" else ["", "It wrote:", "" if trace.messages else _short(trace.completion)]


def _shown(part: object) -> str:
    return _short(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False))


def _short(text: str) -> str:
    shown = text if len(text) <= LONGEST else f"{text[:LONGEST]} … (cut here for display)"
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in shown)
