"""An actor's JSON as values: a program, its tests and a query, each read strictly.

Strict JSON, as the design decides (the paper's own example lacks commas): a tolerant reader would choose among
readings. The object may stand in a fence of backquotes and within prose, as chat models write it; two objects are
refused, because which of them is meant would be a choice too. Both naming schemes of the paper are read
(sections 3.1.2 and 7.3); letter case, blanks, hyphens and underscores of a key do not matter.
"""

import json
import re
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from critics.replay.answer_sets.language import AspError, AspLiteral, AspRule
from critics.replay.answer_sets.reader import MAX_PARTS, AspProgram, read_literal, read_program
from critics.replay.certificate import is_list, is_object

MAX_TESTS = 32
MAX_RENAMED = 5
"""Constants that the search for duplicates permutes; with more, they are renamed in order of appearance."""
MAX_CHARACTERS = 100_000
"""Characters of one attempt."""
_OBJECT = re.compile(r"\{\s*\"")
"""Start of an object; the braces of a choice rule or of a set have no name behind them."""
_TOP = {"model": "model", "tests": "tests", "query": "query"}
_CONDITIONS = {
    "inferall": "all",
    "infertrueall": "all",
    "inferany": "any",
    "infertrueany": "any",
    "donotinfer": "none",
    "inferfalse": "none",
    "expectcontradiction": "contradiction",
}
_PARTS = {
    "facts": "facts",
    "rules": "rules",
    "rulesbeingtested": "rules",
    "rulesreferenced": "rules",
    "why": "why",
    "explanation": "why",
    "explanationfortest": "why",
    "testexplanation": "why",
    "testcondition": "condition",
}


@dataclass(frozen=True, slots=True)
class ProgramTest:
    """Facts that are added to the program, and conditions that must then hold, every one of them."""

    facts: tuple[AspRule, ...]
    """Ground facts, and constraints (the paper's test of existentials adds one)."""
    rules: tuple[int, ...]
    """The n of each `Rn` that it names."""
    why: str
    infer_all: tuple[AspLiteral, ...] = ()
    """Each holds in every answer set."""
    infer_any: tuple[AspLiteral, ...] = ()
    """Each holds in some answer set, perhaps another one for each."""
    infer_none: tuple[AspLiteral, ...] = ()
    """Each holds in no answer set."""
    contradiction: bool = False
    """The program with the facts has no answer set."""

    def literals(self) -> tuple[AspLiteral, ...]:
        """Return the literals of all conditions."""
        return self.infer_all + self.infer_any + self.infer_none


@dataclass(frozen=True, slots=True)
class Submission:
    """One attempt: program, tests, and the blocks of the query as they were written."""

    program: AspProgram
    tests: tuple[ProgramTest, ...]
    query: tuple[str, ...]


def submission_of(completion: str) -> Submission:
    """Read an attempt; raises `AspError` at the first thing that is wrong."""
    if len(completion) > MAX_CHARACTERS:
        raise AspError("too_long", f"the answer has more than {MAX_CHARACTERS} characters")
    data = _keyed(_parsed(completion), _TOP, "the answer")
    if "model" not in data:
        raise AspError("schema", "the key 'Model' is missing")
    model = data["model"]
    text = model if isinstance(model, str) else "\n".join(_texts(model, "Model"))
    tests = data.get("tests", [])
    if not is_list(tests) or len(tests) > MAX_TESTS:
        raise AspError("schema", f"'Tests' must be a list of at most {MAX_TESTS} tests")
    query = data.get("query", [])
    blocks = [query] if isinstance(query, str) else _texts(query, "Query")
    return Submission(read_program(text), tuple(read_test(t, i + 1) for i, t in enumerate(tests)), tuple(blocks))


def read_test(record: object, position: int) -> ProgramTest:
    """Read one test, conditions nested under `Test-Condition` or beside the facts; raises `AspError`."""
    name = f"test {position}"
    data = _keyed(record, {**_PARTS, **_CONDITIONS}, name)
    if "condition" in data:
        nested = _keyed(data.pop("condition"), _CONDITIONS, name)
        if nested.keys() & data.keys():
            raise AspError("schema", f"{name}: one condition is given twice")
        data |= nested
    contradiction = data.get("contradiction", False)
    if contradiction not in (True, False, "True", "False", "true", "false"):
        raise AspError("schema", f"{name}: expect-contradiction must be true or false")
    why = data.get("why", "")
    if not isinstance(why, str):
        raise AspError("schema", f"{name}: the explanation must be text")
    try:
        return ProgramTest(
            facts=_facts(data.get("facts", []), name),
            rules=_named_rules(data.get("rules", []), name),
            why=why,
            infer_all=_literals(data.get("all", []), name),
            infer_any=_literals(data.get("any", []), name),
            infer_none=_literals(data.get("none", []), name),
            contradiction=contradiction in (True, "True", "true"),
        )
    except AspError as error:
        raise AspError(error.reason, f"{name}: {error}") from error


def _facts(value: object, name: str) -> tuple[AspRule, ...]:
    rules: list[AspRule] = []
    for text in [value] if isinstance(value, str) else _texts(value, f"{name}, facts"):
        rules += read_program(text if text.rstrip().endswith(".") or not text.strip() else text + ".").rules
    for rule in rules:
        if not rule.is_constraint() and not (rule.is_fact() and rule.is_ground()):
            raise AspError("test_facts", f"only ground facts and constraints can be added, not {rule}")
    return tuple(rules)


def _literals(value: object, name: str) -> tuple[AspLiteral, ...]:
    texts = [value] if isinstance(value, str) else _texts(value, f"{name}, condition")
    if len(texts) > MAX_PARTS:
        raise AspError("too_long", f"one condition has more than {MAX_PARTS} literals")
    return tuple(dict.fromkeys(map(read_literal, texts)))


def _named_rules(value: object, name: str) -> tuple[int, ...]:
    texts = [value] if isinstance(value, str) else _texts(value, f"{name}, rules")
    numbers = [int(n) for text in texts for n in re.findall(r"\bR(\d{1,6})\b", text)]
    return tuple(dict.fromkeys(numbers))


def _parsed(text: str) -> object:
    begins = _OBJECT.search(text)
    start = 0 if begins is None else begins.start()
    try:
        data, end = json.JSONDecoder(object_pairs_hook=_without_repeats).raw_decode(text, start)
        if _OBJECT.search(text, end) is not None:
            # Attack: one program for the reader that takes the first object, another for the one that takes the last.
            raise ValueError("there are two")
        # Half a surrogate pair, which JSON can spell and a certificate's UTF-8 cannot, raises a `ValueError` here.
        json.dumps(data, ensure_ascii=False).encode()
        return data
    except (ValueError, RecursionError) as error:
        raise AspError("json", f"the answer is not one JSON object: {error}") from error


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # Attack: show one list of tests to a reader that takes the first of two, run the other.
    if len(dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return dict(pairs)


def _keyed(record: object, known: dict[str, str], name: str) -> dict[str, Any]:
    if not is_object(record):
        raise AspError("schema", f"{name} must be an object")
    data: dict[str, Any] = {}
    for key, value in record.items():
        plain = re.sub(r"[-_ ]", "", key).lower()
        if plain not in known:
            raise AspError("schema", f"{name}: the key {key[:40]!r} is not known")
        if known[plain] in data:
            raise AspError("schema", f"{name}: {known[plain]} is given twice")
        data[known[plain]] = value
    return data


def _texts(value: object, name: str) -> list[str]:
    if not is_list(value) or not all(isinstance(text, str) for text in value) or len(value) > 25 * MAX_PARTS:
        raise AspError("schema", f"{name} must be a list of texts")
    return value


def form_of(test: ProgramTest, known: set[str], predicates: set[tuple[str, int]]) -> tuple[tuple[str, ...], ...]:
    """Return a form that renaming of fresh constants, order and facts about nothing leave as it is."""
    facts = [r for r in test.facts if any(literal.signature in predicates for literal in r.literals()) or not r.heads()]
    literals = (*(lit for r in facts for lit in r.literals()), *test.literals())
    fresh = [t for t in dict.fromkeys(t for lit in literals for t in lit.arguments) if t not in known]
    orders = permutations(fresh) if len(fresh) <= MAX_RENAMED else [tuple(fresh)]
    return min(_spelled(test, facts, {name: f"C{i}" for i, name in enumerate(order)}) for order in orders)


def _spelled(test: ProgramTest, facts: list[AspRule], names: dict[str, str]) -> tuple[tuple[str, ...], ...]:
    def renamed(text: str) -> str:
        return re.sub(r'"[^"]*"|\w+', lambda match: names.get(match[0], match[0]), text)

    groups = (facts, test.infer_all, test.infer_any, test.infer_none, ["!"] if test.contradiction else [])
    return tuple(tuple(sorted({renamed(str(part)) for part in group})) for group in groups)
