"""The format `asp`: a program, tests and a query (LLM-ARC), judged by clingo."""

import json
from collections.abc import Sequence
from typing import Any

from critics.formats.format import Format, Restored
from critics.problem import Attempt, Problem, is_list, is_object
from critics.replay.answers import in_terms_of
from critics.replay.replies import Place, object_place
from critics.verdict import Unproved, Verdict
from critics.verdict.certificate import Certificate
from critics.verdict.conclusion import Refusal
from critics.verdict.reading import Span


class AnswerSets(Format):
    """Answer set programs with tests."""

    kinds = ("answer-sets",)
    is_held_to_text = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.asp.critic import judge_asp

        return judge_asp(problem, attempt)

    def place(self, completion: str) -> Place:
        return object_place(completion)

    def restored(self, evidence: Any) -> Restored:
        return str(evidence["completion"]), {"num_premises": evidence["num_premises"]}

    def proved(self, attempt: Attempt, spans: Sequence[Span]) -> str:
        """Return the object without the words that explain its tests; comments say which premise a rule states."""
        return json.dumps(_unexplained(json.loads(self.answered(attempt).completion)), ensure_ascii=False)

    def bar(self, problem: Problem, attempt: Attempt, certificate: Certificate, *, aligned: bool) -> Refusal | None:
        """Bar a query about what the text does not speak of, and `unknown` of premises that are not the text's."""
        from critics.formats.asp.signs import turned
        from critics.replay.answer_sets.language import is_variable
        from critics.replay.answer_sets.submission import read_query, submission_of
        from critics.text.trust.bars import ELSEWHERE, UNKNOWN
        from critics.text.trust.words import is_placeholder, shares_words

        if is_placeholder(problem):
            # The comments are asked then (`critics.formats.asp.premises`).
            return None
        submission = submission_of(attempt.completion)
        atoms = read_query(submission.query).atoms()
        things = [term for atom in atoms for term in atom.arguments if not is_variable(term)]
        text = f"{problem.context}\n{problem.question}"
        told = things and all(shares_words([thing], problem.context) for thing in things)
        if not told and not shares_words([*things, *(atom.predicate for atom in atoms)], problem.question):
            # Attack: constants that the text lacks, so that the comments are asked instead of it.
            return ELSEWHERE
        rules, numbered = submission.program.rules, submission.program.numbered()
        firsts = [rules[positions[0]] for positions in numbered.values() if positions]
        names = [[lit.predicate for lit in rule.literals()] + list(rule.terms()) for rule in firsts]
        is_told = all(shares_words([name for name in said if not is_variable(name)], text) for said in names)
        if certificate.claim == in_terms_of("unknown", problem.options) and not is_told:
            return UNKNOWN
        opposite = turned(submission, problem)
        # Attack, or a slip: every test is turned with the rule, and passes.
        told = f"{opposite} says the opposite of its sentence"
        return None if opposite is None else Refusal(Unproved, "sign_turned", told)


def _unexplained(value: object) -> object:
    if is_object(value):
        return {k: _unexplained(v) for k, v in value.items() if not ("why" in k.lower() or "expl" in k.lower())}
    return list(map(_unexplained, value)) if is_list(value) else value


FORMAT = AnswerSets()
