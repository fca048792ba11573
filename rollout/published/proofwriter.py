"""The published ProofWriter files (Tafjord et al. 2021, open world) as problems with a reference formalisation.

Four shapes are read: Logic-LM's records (`context`, `question`, `options`, a letter), LogicGuide's (`context`,
`query`, `True`, `False` or `Unknown`), the authors' own theories with their `questions`, each of which becomes a
problem, and this project's `problem` lines.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from critics.problem import Problem, RecordError
from critics.replay.kernel import WorkLimitExceeded
from critics.text.reference import ReferenceMismatch, reference
from critics.text.translators.regular import translate_proofwriter as translate
from rollout.prompts.demonstration import decide
from rollout.published.records import Fields, PublishedRecord, as_fields, formalised, loader

_ANSWERS = {"true": "true", "false": "false", "unknown": "unknown", "uncertain": "unknown"}
_DEPTH = re.compile(r"-D(?P<depth>\d+)(?:-|_|$)")
_CLOSED_WORLD = re.compile(r"-CWA-")


@loader
def load_proofwriter(entry: PublishedRecord) -> Iterable[Problem]:
    """Read one problem for each question of a theory, or of another record, with `formal` filled in.

    Options stay as they are given (`A) True`). `meta` has the theory's `depth` where the id tells it (`OWA-D5`), and
    as `hops` the number of rule applications in a proof of the statement or of its negation, None where neither
    follows. A problem that the translator refuses has no `formal` and no `hops`, and the reason as
    `meta["inexpressible"]`.
    """
    data = entry.fields()
    if "theory" not in data:
        return [_decided(_problem(data))]
    questions = as_fields(data.get("questions"))
    if questions is None:
        raise RecordError("questions: an object of questions is needed")
    asked = [_question_of(data, name, question) for name, question in questions.values.items()]
    return (_decided(_problem(question)) for question in asked)


def _question_of(theory: Fields, name: str, question: object) -> Fields:
    asked = as_fields(question)
    if asked is None:
        raise RecordError(f"questions.{name}: an object is needed")
    answer = asked.get("answer")
    return Fields(
        {
            "id": f"{theory.get('id')}_{name}",
            "context": theory.get("theory"),
            "query": asked.get("question"),
            "answer": str(answer) if isinstance(answer, bool) else answer,
        }
    )


def _problem(data: Fields) -> Problem:
    problem = _queried(data) if "query" in data else data.problem("proofwriter", "ProofWriter")
    if _CLOSED_WORLD.search(problem.id):
        # What is not derived is false there, and would be certified as unknown here.
        raise RecordError(f"id: {problem.id!r} is a closed-world problem; only open-world ones can be decided")
    depth = _DEPTH.search(problem.id)
    if depth is None or "depth" in problem.meta:
        return problem
    return replace(problem, meta={**problem.meta, "depth": int(depth["depth"])})


def _queried(data: Fields) -> Problem:
    """Read LogicGuide's keys, where the question is called `query` and the answer is a word."""
    answer = data.get("answer")
    truth = _ANSWERS.get(answer.lower()) if isinstance(answer, str) else None
    if truth is None:
        raise RecordError(f"answer: {answer!r} is none of 'True', 'False' and 'Unknown'")
    return data.problem("proofwriter", "ProofWriter", question=data.get("query"), answer=truth, options=None)


def _decided(problem: Problem) -> Problem:
    """Fill in `formal` and `hops`; a formalisation that is given is compared with the text."""
    if problem.formal is not None:
        try:
            reference(problem)
        except ReferenceMismatch as error:
            raise RecordError(str(error)) from error
        return problem
    problem = formalised(problem, translate)
    if problem.formal is None:
        return problem
    try:
        answer, inferences = decide(problem.formal)
    except WorkLimitExceeded:
        return problem
    hops = None if answer == "unknown" else len(inferences)
    return replace(problem, meta={**problem.meta, "hops": hops})
