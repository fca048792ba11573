"""The format `english`: a chain of thought in regular English, judged sentence by sentence."""

from collections.abc import Mapping
from typing import Any

from critics.formats.format import Format
from critics.problem import Attempt, Problem
from critics.text.part import TextStep
from critics.verdict import Verdict


class English(Format):
    """Chains of thought that end in an answer."""

    kinds = ("english-proof", "english-entailment")

    def restored(self, evidence: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        written: Any = evidence.get("formulas")
        if written is not None and set(written) == {"conventions"}:
            # The grammar read the sentences: no model wrote formulas.
            return evidence["completion"], written
        return evidence["completion"], {key: value for key, value in evidence.items() if key == "formulas"}

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.english.critic import judge_english

        return judge_english(problem, attempt)

    def steps_of(self, problem: Problem, answer: str) -> tuple[TextStep, ...]:
        from critics.text.english.passage import lines

        passages = [line.passage for line in lines(answer, problem.question)]
        return tuple(TextStep(*passage.span, passage.text) for passage in passages)


FORMAT = English()
