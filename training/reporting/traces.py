"""Traces and certificates as people read them; what the traces of a run cost, and the few that a report shows.

Shown are equal shares of every (arm, round, verdict, right or wrong), in each the first by a hash of their ids: the
same traces every time, chosen by nothing that they say.
"""

import hashlib
import heapq
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from critics.problem import Problem, ProblemText, is_list
from critics.replay.formula import FormulaError, Rule, parse_statement
from critics.verdict.certificate import Certificate, read_certificate
from rollout.prompts.sentence import read_aloud
from rollout.records.sampling import GUIDED
from rollout.records.traces import Trace, read_trace
from training.curation.outcomes import is_decided
from training.outcomes import Record
from training.records.store import is_stored, read_records

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
    return [
        *_problem_lines(certificate.problem),
        "",
        *(_step_lines(certificate) or _part_lines(certificate)),
        f"Hence the answer: {certificate.claim}.",
        _TRUST[certificate.formalisation],
        f"certificate {certificate.digest} ({certificate.kind}, {certificate.engine})",
    ]


def _step_lines(certificate: Certificate) -> list[str]:
    """Return a derivation's steps, each with the steps that it follows from; none for other evidence."""
    steps, lines = certificate.evidence.get("steps"), list[str]()
    for number, step in enumerate(steps if is_list(steps) else (), 1):
        match step:
            case {"statement": str(said), "by": "rule", "rule": int(rule), "premises": [*premises]}:
                reason = f"from {', '.join(str(place + 1) for place in (rule, *map(int, premises)))}"
            case {"statement": str(said)}:
                reason = "given"
            case _:
                return []
        lines.append(f"{number:3}. {in_words(said, certificate.problem.context)}  [{reason}]  {said}")
    return lines


def _part_lines(certificate: Certificate) -> list[str]:
    lines = [_KINDS[certificate.kind]] if certificate.kind in _KINDS else []
    for name, part in certificate.evidence.items():
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


MAX_TRACES, MAX_IN_STRATUM = 120, 12
COSTS = ("attempts", "turns", "tokens", "cut_off")
"""Attempts, replies (more than attempts where a critic asked for another), tokens written, and ends at the limit."""
LONGEST_TEXT = 6_000
"""Characters of one trace shown: a model that never stops must not make a page that never ends."""


class RolloutFile(NamedTuple):
    """The traces of one round of a line."""

    arm: str
    seed: int
    round: int
    path: Path


@dataclass(frozen=True, slots=True)
class Shown:
    """A trace that the report shows, and whose it is."""

    arm: str
    seed: int
    round: int
    trace: Trace

    @property
    def key(self) -> str:
        """A name for it in the page."""
        return f"{self.arm}/{self.seed}/{self.round}/{self.trace.id}"

    @property
    def is_right(self) -> bool | None:
        """True if the answer is the gold one; None where that is not known."""
        gold = self.trace.problem.answer
        return None if gold is None else str(self.trace.judged.answer).casefold() == gold.casefold()

    @property
    def is_lucky(self) -> bool:
        """True if the answer is right, and a critic that read the whole text found no proof."""
        return bool(self.is_right) and self.trace.judged.verdict == "unproved" and is_decided(self.trace)

    def view(self) -> Record:
        """Return what the page says of it; the template escapes it."""
        right = {True: "right", False: "wrong", None: "right or wrong is not known"}[self.is_right]
        lines = "\n".join(trace_lines(self.trace))
        text = lines if len(lines) <= LONGEST_TEXT else lines[:LONGEST_TEXT] + " … (cut here for display)"
        of = f"{self.arm} · seed {self.seed} · round {self.round} · {right}"
        return {"key": self.key, "verdict": self.trace.judged.verdict, "of": of, "text": text}


@dataclass(frozen=True, slots=True)
class Survey:
    """Findings of one pass over all traces."""

    num_traces: int = 0
    costs: Mapping[tuple[str, int], Record] = field(default_factory=dict[tuple[str, int], Record])
    """Sums of `COSTS` over all seeds, by arm and round, from 1."""
    shown: Sequence[Shown] = ()


def survey(rollouts: Iterable[RolloutFile]) -> Survey:
    """Read every trace once, holding no more than what may be shown; absent files are left out.

    One from each stratum is dealt in turn until there are enough; they come sorted by round, arm and id.
    """
    costs: dict[tuple[str, int], Record] = {}
    strata: dict[tuple[str, int, str, str], list[tuple[int, int, Shown]]] = {}
    num = 0
    for arm, seed, number, path in rollouts:
        for trace in map(read_trace, read_records(path) if is_stored(path) else ()):
            num += 1
            total, turns = costs.setdefault((arm, number), dict.fromkeys(COSTS, 0)), trace.turns or (trace,)
            own = (1, len(turns), sum(len(turn.completion_ids) for turn in turns), int(not trace.finished))
            for name, count in zip(COSTS, own, strict=True):
                total[name] += count
            shown = Shown(arm, seed, number, trace)
            stratum = strata.setdefault((arm, number, trace.judged.verdict, str(shown.is_right)), [])
            # The smallest hashes are kept: the heap's top is the largest of them.
            rank = -int.from_bytes(hashlib.sha256(shown.key.encode("utf-8", "replace")).digest()[:8])
            add = heapq.heappush if len(stratum) < MAX_IN_STRATUM else heapq.heappushpop
            add(stratum, (rank, num, shown))
    rows = [[shown for *_, shown in sorted(strata[key], reverse=True)] for key in sorted(strata)]
    dealt = [row[depth] for depth in range(MAX_IN_STRATUM) for row in rows if depth < len(row)]
    return Survey(num, costs, sorted(dealt[:MAX_TRACES], key=lambda s: (s.round, s.arm, s.seed, s.trace.id)))


def certified_examples(shown: Sequence[Shown], num: int) -> list[Shown]:
    """Return certified traces of the last round, of the strict arm if it has any."""
    certified = [each for each in shown if each.trace.judged.is_certified]
    of_strict = [each for each in certified if each.arm == "strict"] or certified
    return [each for each in of_strict if each.round == of_strict[-1].round][:num]
