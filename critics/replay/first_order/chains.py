"""Replay of `english-entailment` certificates: models are evaluated, and a solver confirms each step of the text.

That the premises and the steps say what the sentences beside them say is read once more by
`critics.recheck.second_reading`; here only what follows from what is checked.
"""

from typing import Any

from critics.replay.answers import check_claim
from critics.replay.certificate import UNTRUSTED, Rejected, SealedCertificate, are_texts, sealed_certificate
from critics.replay.first_order.entailments import MAX_CHARACTERS, confirm
from critics.replay.first_order.models import Model
from critics.replay.first_order.reader import Formula, read
from critics.replay.first_order.trees import negated, open_names, symbols_of
from critics.replay.solvers import Trust, weakest

KIND = "english-entailment"


def check_chain(certificate: object) -> Trust:
    """Accept by returning what it rests on, or raise `Rejected` with the reason."""
    sealed = sealed_certificate(certificate, (KIND,))
    with UNTRUSTED:
        return _check(sealed)


def _check(certificate: SealedCertificate) -> Trust:
    evidence = certificate.evidence
    steps: Any = evidence["steps"]
    if not are_texts(evidence["premises"]) or any(step.keys() != {"sentence", "says"} for step in steps):
        raise Rejected("ill_formed")
    texts = [*evidence["premises"], *(step["says"] for step in steps), evidence["goal"]]
    if sum(map(len, texts)) > MAX_CHARACTERS or evidence["result"] not in ("true", "false") or not steps:
        raise Rejected("ill_formed")
    check_claim(certificate, evidence["result"])
    formulas = list(map(read, texts))
    symbols_of(formulas)
    if any(map(open_names, formulas)):
        raise Rejected("free_variable")
    num = len(evidence["premises"])
    premises, said, goal = formulas[:num], formulas[num:-1], formulas[-1]
    answer = goal if evidence["result"] == "true" else negated(goal)
    _check_models(evidence["models"], premises, answer)
    # The step comes last: what entails it stands before.
    asked = [[*premises, *said[:at], negated(step)] for at, step in enumerate(said)]
    return weakest(*(confirm([question]) for question in [*asked, [*said, negated(answer)]]))


def _check_models(models: Any, premises: list[Formula], answer: Formula) -> None:
    wanted = {"premises": [*premises, answer], "contingent": [negated(answer)]}
    if models.keys() != wanted.keys():
        raise Rejected("models")
    for name, formulas in wanted.items():
        if not Model(models[name]).satisfies(formulas):
            raise Rejected("no_model")
