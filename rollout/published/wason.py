"""Wason's selection tasks (Dasgupta et al. 2022) as problems with six options: the pairs of cards.

Which cards could falsify a rule is a question about what stands on their hidden sides, and no kernel of this
project judges it: these problems have no formalisation, and `cot` is their format, at best `unproved`.

Two shapes are read: the published lines (`input`, `continuations`, `correct_answer`), where each pair stands
twice, once in either order, and this project's `problem` lines.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from critics.problem import Problem, RecordError, read_problem
from rollout.published.records import Entry, Fields, as_texts, read_all, read_entries

CONDITIONS = {
    "realistic": "realistic",
    "violate": "violate",
    "shuffled_realistic": "shuffled",
    "abstract": "arbitrary",
    "nonsense": "nonsense",
}
"""What the condition is called here, by the start of a task's name."""
_INPUT = re.compile(r"(?P<rule>.+\.) (?P<question>Which of [^.?\n]+\?)\n(?P<cards>.+?)\n*(?:\nAnswer:)?\s*", re.DOTALL)
_QUOTED = re.compile(r'"([^"]+)"')


def load_wason(path: Path | str) -> Iterator[Problem]:
    """Yield the file's problems in order, each with the six pairs of its cards as options.

    `meta` has the `condition` (`realistic`, `violate`: a realistic rule turned round, `shuffled`: halves of two
    realistic rules, `arbitrary`, `nonsense`), `name` and `order` (whose cards come first). Raises `InputError` at
    the first bad record, naming file, line and remedy.
    """
    return read_all(read_entries(Path(path)), _problems)


def _problems(entry: Entry) -> Iterable[Problem]:
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
