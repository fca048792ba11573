"""The format `english`: a chain of thought in regular English, judged sentence by sentence."""

import re
from collections.abc import Sequence
from typing import Any

from critics.formats.format import Format, Restored
from critics.problem import Attempt, Problem
from critics.replay.replies import Place, answer_place, thought_place
from critics.text.part import TextStep
from critics.verdict import Verdict
from critics.verdict.reading import Span

_MARKS = re.compile(r"[*_`]+")


class English(Format):
    """Chains of thought that end in an answer."""

    kinds = ("english-proof", "english-entailment")
    is_replayed = True

    def restored(self, evidence: Any) -> Restored:
        written: Any = evidence.get("formulas")
        if written is not None and set(written) - {"axioms", "two_readings"} == {"conventions"}:
            # The grammar read the sentences: no model wrote formulas.
            return evidence["completion"], {key: value for key, value in written.items() if key != "two_readings"}
        return evidence["completion"], {key: value for key, value in evidence.items() if key == "formulas"}

    def proved(self, attempt: Attempt, spans: Sequence[Span]) -> str:
        """Return the sentences behind which something stands, each with what leads to it: its number, its line."""
        text, kept, at = attempt.completion, "", self.place(attempt.completion)[0]
        for step in self.steps(attempt.problem, text):
            marks = _MARKS.match(text, step.end)
            end = step.end if marks is None else marks.end()
            held = (span for span in spans if span.kind not in ("filler", "unread"))
            if any(span.start < step.end and step.start < span.end for span in held):
                kept += text[at:end]
            at = end
        return kept.strip()

    def place(self, completion: str) -> Place:
        """Return where the text stands; where a bare answer stands behind a thought, the thought is of the text."""
        return thought_place(completion) or answer_place(completion)

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.english.critic import judge_english

        return judge_english(problem, attempt)

    def steps_of(self, problem: Problem, answer: str) -> tuple[TextStep, ...]:
        from critics.text.english.passage import lines

        passages = [line.passage for line in lines(answer, problem.question)]
        return tuple(TextStep(*passage.span, passage.text) for passage in passages)


FORMAT = English()
