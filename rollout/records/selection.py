"""Selection of one answer from several judged attempts at a problem: one with a proof, or none.

The gold answer is never looked at: attempts that were judged with it are refused. Where proofs are compared with the
text (`checked`), two of them cannot differ. Where the formalisation is the model's own (`trusted`), a proof of
something else than the question may stand beside the right one; then proofs are votes, and too small a lead is a
conflict.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rollout.records.traces import Trace


@dataclass(frozen=True, slots=True)
class AnswerRule:
    """Conditions for giving an answer."""

    proofs: int = 1
    """So many attempts must prove the answer."""
    share: float = 1.0
    """So much of all proofs must be of it: 1.0 abstains as soon as two proofs differ."""


@dataclass(frozen=True, slots=True)
class ProvedAnswer:
    """An answer, and the attempts that prove it: those of other formats first, then in the order they were made."""

    answer: str
    proofs: tuple[Trace, ...]

    @property
    def formalisms(self) -> tuple[str, ...]:
        """The formats that agree, sorted."""
        return tuple(sorted({proof.format for proof in self.proofs}))


@dataclass(frozen=True, slots=True)
class Abstained:
    """No answer, and why: nothing was proved, too little was, or proofs contradict each other."""

    reason: Literal["no_proof", "too_few_proofs", "conflict"]


Outcome: TypeAlias = ProvedAnswer | Abstained


def select(attempts: Sequence[Trace], rule: AnswerRule) -> Outcome:
    """Return the answer that the attempts' proofs give; two formalisms that agree come before one that is alone."""
    proofs: dict[str, list[Trace]] = {}
    for attempt in attempts:
        if attempt.problem.answer is not None:
            # Attack: judge with the gold answer at hand, which refutes every wrong proof for the model.
            raise ValueError(f"attempt {attempt.id!r} was judged with the gold answer; withhold it (`blind`)")
        certificate = attempt.judged.certificate
        if attempt.judged.is_certified and certificate is not None:
            proofs.setdefault(certificate["claim"], []).append(attempt)
    if not proofs:
        return Abstained("no_proof")
    agreed = {claim for claim in proofs if len({proof.format for proof in proofs[claim]}) > 1}
    if len(agreed) == 1:
        (claim,) = agreed
    else:
        claim = max(proofs, key=lambda claim: len(proofs[claim]))
        total = sum(map(len, proofs.values()))
        if len(proofs[claim]) < rule.share * total or 2 * len(proofs[claim]) <= total:
            return Abstained("conflict")
    if len(proofs[claim]) < rule.proofs:
        return Abstained("too_few_proofs")
    return ProvedAnswer(claim, _varied(proofs[claim]))


def is_settled(attempts: Sequence[Trace], rule: AnswerRule, num_formalisms: int = 1) -> bool:
    """Say whether no further attempt is needed: as many formalisms agree as there can be, two at most."""
    match select(attempts, rule):
        case ProvedAnswer() as answered:
            return len(answered.formalisms) >= min(2, num_formalisms)
        case Abstained():
            return False


def outcome(attempts: Sequence[Trace], rule: AnswerRule, num_formalisms: int = 1) -> Outcome:
    """Return what comes of attempts that are made one by one, until nothing more is needed or there are no more."""
    for num in range(1, len(attempts)):
        if is_settled(attempts[:num], rule, num_formalisms):
            return select(attempts[:num], rule)
    return select(attempts, rule)


def majority(attempts: Sequence[Trace]) -> tuple[str, float] | None:
    """Return the answer that most attempts give, proved or not, the first of equals, and its share of all attempts."""
    votes = Counter(a.judged.answer for a in attempts if a.judged.answer is not None)
    if not votes:
        return None
    answer, count = votes.most_common(1)[0]
    return answer, count / len(attempts)


def _varied(proofs: Sequence[Trace]) -> tuple[Trace, ...]:
    """Put the first proof of each format first."""
    firsts = {proof.format: proof for proof in reversed(proofs)}
    leading = [proof for proof in proofs if firsts[proof.format] is proof]
    return (*leading, *(proof for proof in proofs if firsts[proof.format] is not proof))
