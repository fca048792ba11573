"""Syllogisms and Wason's selection tasks as Dasgupta et al. (2022) published them, and as `problem` lines."""

import ast
import re
from collections.abc import Iterable

from critics.problem import Problem, RecordError, read_problem
from critics.text.translators.syllogism import OPTIONS, ask, translate
from rollout.published.records import Fields, PublishedRecord, as_texts, formalised, loader

_RENAMED = {"name": "name", "order_first": "order", "initial_prompt": "instruction"}
CONDITIONS = {
    "realistic": "realistic",
    "violate": "violate",
    "shuffled_realistic": "shuffled",
    "abstract": "arbitrary",
    "nonsense": "nonsense",
}
"""Name of the condition here, by the start of a task's name."""
_INPUT = re.compile(r"(?P<rule>.+\.) (?P<question>Which of [^.?\n]+\?)\n(?P<cards>.+?)\n*(?:\nAnswer:)?\s*", re.DOTALL)
_QUOTED = re.compile(r'"([^"]+)"')


@loader
def load_syllogism(entry: PublishedRecord) -> Iterable[Problem]:
    """Read an argument (Syllogism Validity; LogicGuide, section 4.2), options `Valid` and `Invalid`.

    The published lines have `premises`, `conclusion`, `valid`, each argument under three instructions. `meta` has the
    `condition` (`consistent` or `inconsistent`: whether the conclusion agrees with belief; `nonsense`), `name`, `order`
    and `instruction`; an argument that the translator refuses has no `formal`, and the reason as
    `meta["inexpressible"]`.
    """
    data = entry.fields()
    return [formalised(_argument(data) if "premises" in data else data.own("syllogism"), translate)]


def _argument(data: Fields) -> Problem:
    premises = as_texts(data.get("premises"))
    if premises is None:
        raise RecordError("premises: a list of sentences is needed")
    conclusion, valid = data.text("conclusion", "a sentence is needed"), data.get("valid")
    if not isinstance(valid, bool):
        raise RecordError(f"valid: {valid!r} is neither true nor false")
    known = {ours: data.get(theirs) for theirs, ours in _RENAMED.items() if data.get(theirs) is not None}
    return read_problem(
        {
            "id": data.get("id"),
            "dataset": "syllogism",
            "context": " ".join(premises),
            "question": ask(conclusion),
            "options": list(OPTIONS),
            "answer": "A" if valid else "B",
            "meta": {"condition": _belief(data), **known},
        }
    )


def _belief(data: Fields) -> str:
    """Nonsense is believed by nobody: what the file says of its agreement with belief is left out."""
    if data.get("kind") == "nonsense":
        return "nonsense"
    agrees = data.get("belief_consistent")
    if data.get("kind") != "realistic" or not isinstance(agrees, bool):
        raise RecordError("kind: 'nonsense' is needed, or 'realistic' with belief_consistent true or false")
    return "consistent" if agrees else "inconsistent"


@loader
def load_wason(entry: PublishedRecord) -> Iterable[Problem]:
    """Read a selection task, with the six pairs of its cards as options.

    Cards that could falsify a rule are a question of what stands on their hidden sides, which no kernel of this project
    judges: these problems have no formalisation, and `cot` is their format, at best `unproved`. The published lines
    have `input`, `continuations`, `correct_answer`, and each pair twice, once in either order. `meta` has the
    `condition` (`realistic`, `violate`: a realistic rule turned round, `shuffled`: halves of two realistic rules,
    `arbitrary`, `nonsense`), `name` and `order` (whose cards come first).
    """
    data = entry.fields()
    return [_task(data) if "continuations" in data else data.own("wason")]


def _task(data: Fields) -> Problem:
    match = _INPUT.fullmatch(data.text("input"))
    if match is None:
        raise RecordError("input: a rule, a question 'Which of ..?' and a line for each card are needed")
    pairs: dict[frozenset[str], str] = {}
    for one, other in map(_cards, _texts(data, "continuations")):
        pairs.setdefault(frozenset((one, other)), f'"{one}" and "{other}"')
    right = {frozenset(_cards(text)) for text in _texts(data, "correct_answer")}
    if len(right) != 1 or not right <= pairs.keys():
        raise RecordError("correct_answer: not exactly one pair of the continuations' cards")
    return read_problem(
        {
            "id": data.get("id"),
            "dataset": "wason",
            "context": f"{match['rule']}\n{match['cards']}",
            "question": match["question"],
            "options": list(pairs.values()),
            "answer": chr(ord("A") + list(pairs).index(right.pop())),
            "meta": {"condition": _condition(data), "name": data.get("name"), "order": data.get("order_first")},
        }
    )


def _cards(continuation: str) -> tuple[str, str]:
    """Return the two cards that an answer names."""
    cards = _QUOTED.findall(continuation)
    if len(set(cards)) != 2 or len(cards) != 2:
        raise RecordError(f"continuations: {continuation!r} does not name two cards")
    return cards[0], cards[1]


def _condition(data: Fields) -> str:
    name = data.text("name")
    known = [ours for start, ours in CONDITIONS.items() if name.startswith(f"{start}_")]
    if len(known) != 1:
        raise RecordError(f"name: {name!r} starts with none of {', '.join(CONDITIONS)}")
    return known[0]


def _texts(data: Fields, key: str) -> list[str]:
    """Return a list of texts, which the published file also writes as the text of a Python list."""
    value = data.get(key)
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            raise RecordError(f"{key}: not a list of texts") from error
    texts = as_texts(value)
    if not texts:
        raise RecordError(f"{key}: a list of texts is needed")
    return texts
