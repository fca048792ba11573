"""The format `equivalence`: two formulas or regular expressions, the same or with a witness of the difference."""

import json
from typing import Any

from critics.formats.format import Format, Restored
from critics.problem import Attempt, Problem
from critics.replay.replies import Place, object_place
from critics.verdict import Verdict


class Equivalence(Format):
    """Claims that two expressions mean the same."""

    asking = "autoeval"
    kinds = ("propositional-equivalence", "first-order-equivalence", "regex-equivalence")

    def judge(self, problem: Problem, attempt: Attempt) -> Verdict:
        from critics.formats.equivalence.critic import judge_equivalence

        return judge_equivalence(problem, attempt)

    def place(self, completion: str) -> Place:
        return object_place(completion)

    def restored(self, evidence: Any) -> Restored:
        said = {key: evidence[key] for key in ("language", "left", "right")}
        alphabet = {key: value for key, value in evidence["detail"].items() if key == "alphabet"}
        return json.dumps(said, ensure_ascii=False), {"language": said["language"], **alphabet}


FORMAT = Equivalence()
