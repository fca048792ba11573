"""The format `rules`: Logic-LM's language for ProntoQA and ProofWriter, judged by forward chaining."""

from critics.formats.programs import SectionedPrograms
from critics.logic.programs.sections import Repairs
from critics.problem import Attempt, Problem
from critics.replay.cursor import ReasonedError
from critics.text.part import Formalisation, of_statements
from critics.verdict import Verdict


class RulePrograms(SectionedPrograms):
    """Facts, rules and a query."""

    kinds = ("rules-proof", "rules-saturation")
    is_quick = True
    has_one_query = True

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.rules.critic import judge_rules

        return judge_rules(problem, attempt)

    def explain(self, attempt: Attempt) -> str | None:
        from critics.formats.rules.critic import explain_derivations

        return explain_derivations(attempt)

    def theory(self, attempt: Attempt) -> Formalisation | None:
        from critics.formats.rules.reader import RuleNames, elaborate, read_rules

        repairs, text = Repairs(), f"{attempt.problem.context} {attempt.problem.question}"
        try:
            statements, goal = elaborate(read_rules(attempt.completion, repairs), RuleNames([], repairs, text))
            return of_statements(statements, goal)
        except ReasonedError:
            return None


FORMAT = RulePrograms()
