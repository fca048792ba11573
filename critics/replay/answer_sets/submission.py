"""An actor's JSON as values: a program, its tests and a query, each read strictly.

Strict JSON, as the design decides (the paper's own example lacks commas): a tolerant reader would choose among
readings. The object may stand in a fence of backquotes and within prose, as chat models write it; two objects are
refused, because which of them is meant would be a choice too. Both naming schemes of the paper are read
(sections 3.1.2 and 7.3); letter case, blanks, hyphens and underscores of a key do not matter.

A query is numbered building blocks (section 3.2.1), read strictly: `ATOM(literal)` alone holds text of the program's
language; every other block refers to earlier blocks by number, written before the block or else counted from 1. The
last block is the question, and uses all the others. Negation is strong throughout.
"""

import re
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any, TypeAlias

from critics.replay.answer_sets.language import AspError, AspLiteral, AspRule, is_variable
from critics.replay.answer_sets.reader import MAX_PARTS, AspProgram, read_literal, read_program
from critics.replay.certificate import is_list, is_object
from critics.replay.replies import answer_place, json_object

MAX_TESTS = 32
MAX_RENAMED = 5
"""Constants that the search for duplicates permutes; with more, they are renamed in order of appearance."""
MAX_CHARACTERS = 100_000
"""Characters of one attempt."""
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
    start, end = answer_place(completion)
    try:
        found, _ = json_object(completion[start:end])
    except ValueError as error:
        raise AspError("json", f"the answer is not one JSON object: {error}") from error
    data = _keyed(found, _TOP, "the answer")
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
        value = data.get("rules", [])
        texts = [value] if isinstance(value, str) else _texts(value, f"{name}, rules")
        numbers = [int(n) for text in texts for n in re.findall(r"\bR(\d{1,6})\b", text)]
        return ProgramTest(
            facts=_facts(data.get("facts", []), name),
            rules=tuple(dict.fromkeys(numbers)),
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
    groups = (facts, test.infer_all, test.infer_any, test.infer_none, ["!"] if test.contradiction else [])

    def spelled(names: dict[str, str]) -> tuple[tuple[str, ...], ...]:
        def renamed(text: str) -> str:
            return re.sub(r'"[^"]*"|\w+', lambda match: names.get(match[0], match[0]), text)

        return tuple(tuple(sorted({renamed(str(part)) for part in group})) for group in groups)

    orders = permutations(fresh) if len(fresh) <= MAX_RENAMED else [tuple(fresh)]
    return min(spelled({name: f"C{i}" for i, name in enumerate(order)}) for order in orders)


MAX_BLOCKS = 32
MAX_NESTING = 3
"""Depth of IF-THEN, ALL and SOME inside each other: each asks the solver anew under its own assumption."""
MAX_ATOMS = 12
"""Atoms of one query, because triviality is decided by truth table."""
QUANTIFIED = ("ALL", "SOME")
GLOBAL = ("IF-THEN", *QUANTIFIED)
"""Blocks that are decided over all answer sets at once, under a hypothesis."""
_ARITY = {"NOT": (1, 1), "IF-THEN": (2, 2), "ALL": (2, 2), "SOME": (2, 2)}
_KINDS = ("AND", "OR", "EITHER-OR", "NEITHER-NOR", *_ARITY)
_BLOCK = re.compile(r"\s*(?:([0-9]{1,3})\s*[.):]\s*)?([A-Z]+(?:-[A-Z]+)?)\s*\((.*)\)\s*\.?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class QueryAtom:
    """One literal, open where it has variables."""

    literal: AspLiteral
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Connective:
    """One connective over earlier blocks, by position."""

    kind: str
    parts: tuple[int, ...]
    variables: tuple[str, ...]


QueryBlock: TypeAlias = QueryAtom | Connective


@dataclass(frozen=True, slots=True)
class AspQuery:
    """Blocks, each after its parts; the last is the question."""

    blocks: tuple[QueryBlock, ...]

    def atoms(self) -> list[AspLiteral]:
        """Return the literals of its atoms."""
        return [block.literal for block in self.blocks if isinstance(block, QueryAtom)]

    def below(self, position: int) -> set[int]:
        """Return the positions of a block and of everything it refers to."""
        found = {position}
        block = self.blocks[position]
        for part in block.parts if isinstance(block, Connective) else ():
            found |= self.below(part)
        return found


def read_query(texts: tuple[str, ...]) -> AspQuery:
    """Read a query; raises `AspError` naming the block."""
    if not texts:
        raise AspError("no_query", "there is no query")
    if len(texts) > MAX_BLOCKS:
        raise AspError("query_syntax", f"a query has at most {MAX_BLOCKS} blocks")
    matches = [_BLOCK.fullmatch(text) for text in texts]
    numbers: dict[str, int] = {}
    blocks: list[QueryBlock] = []
    for position, (text, match) in enumerate(zip(texts, matches, strict=True)):
        if match is None or (match[1] is None) != (matches[0] is None or matches[0][1] is None):
            raise AspError("query_syntax", f"{text[:80]!r} is not a building block, or numbers some blocks only")
        number = str(int(match[1] or position + 1))
        if number in numbers:
            raise AspError("query_syntax", f"two blocks have the number {number}")
        blocks.append(_block(match[2], match[3], numbers, blocks))
        numbers[number] = position
    query = AspQuery(tuple(blocks))
    _check(query)
    return query


def _block(kind: str, inside: str, numbers: dict[str, int], blocks: list[QueryBlock]) -> QueryBlock:
    if kind == "ATOM":
        return _atom(inside)
    if kind not in _KINDS:
        raise AspError("query_syntax", f"{kind} is not one of ATOM, {', '.join(_KINDS)}")
    refs = [ref.strip() for ref in inside.split(",")] if inside.strip() else []
    low, high = _ARITY.get(kind, (2, MAX_BLOCKS))
    if not low <= len(refs) <= high or not all(re.fullmatch("[0-9]{1,3}", ref) for ref in refs):
        reason = "trivial_query" if not refs else "query_syntax"
        raise AspError(reason, f"{kind} needs {low if low == high else f'{low} or more'} numbers of blocks")
    if any(str(int(ref)) not in numbers for ref in refs):
        # Attack: a block about itself has no least meaning, and whichever it is given may be the answer.
        raise AspError("cyclic_ref", f"{kind}({inside.strip()}) refers to a block that does not stand before it")
    parts = tuple(numbers[str(int(ref))] for ref in refs)
    if kind == "SOME":
        # It is symmetric: the block with more variables goes first.
        parts = tuple(sorted(parts, key=lambda part: -len(blocks[part].variables)))
    return Connective(kind, parts, _variables(kind, [blocks[part].variables for part in parts]))


def _atom(inside: str) -> QueryAtom:
    try:
        literal = read_literal(inside, variables=True)
    except AspError as error:
        # Attack: `ATOM(not dry(rex))` is true because nobody mentioned it.
        reason = "query_injection" if error.reason == "literal_syntax" else error.reason
        raise AspError(reason, f"ATOM({inside[:80]}): {error}") from error
    if "_" in literal.arguments:
        raise AspError("unsafe_query_var", f"ATOM({inside[:80]}): a variable needs a name")
    return QueryAtom(literal, tuple(sorted({term for term in literal.arguments if is_variable(term)})))


def _variables(kind: str, parts: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the variables left open: none after ALL and SOME, which bind every variable of their first part.

    Equal names are one variable. A variable in the second part of ALL alone would hide an existential.
    """
    if kind in QUANTIFIED:
        if not parts[1] or not set(parts[1]) <= set(parts[0]):
            raise AspError("unsafe_query_var", f"{kind} needs the variables of its second block in its first")
        return ()
    if len(set(parts)) != 1 or (kind == "IF-THEN" and parts[0]):
        raise AspError("unsafe_query_var", f"{kind} joins blocks with different variables, or open ones")
    return parts[0]


def _check(query: AspQuery) -> None:
    root = len(query.blocks) - 1
    if query.blocks[root].variables:
        raise AspError("unsafe_query_var", "a variable is bound by neither ALL nor SOME")
    if len(query.below(root)) != len(query.blocks):
        raise AspError("unused_block", "the last block does not use every other block")
    if _nesting(query, root) > MAX_NESTING:
        raise AspError("query_syntax", f"IF-THEN, ALL and SOME nest at most {MAX_NESTING} deep")
    if _is_trivial(query):
        raise AspError("trivial_query", "the query is true, or false, whatever the program says")


def _nesting(query: AspQuery, position: int) -> int:
    block = query.blocks[position]
    if isinstance(block, QueryAtom):
        return 0
    return max(_nesting(query, part) for part in block.parts) + (block.kind in GLOBAL)


def _is_trivial(query: AspQuery) -> bool:
    """Say whether a truth table over the atoms, quantified blocks taken as atoms, has one value throughout."""
    leaves = sorted({_leaf(query, i) for i in range(len(query.blocks)) if _is_leaf(query, i)})
    if len(leaves) > MAX_ATOMS:
        raise AspError("query_syntax", f"a query has at most {MAX_ATOMS} different atoms")
    tables = (dict(zip(leaves, row, strict=True)) for row in product((False, True), repeat=len(leaves)))
    return len({_truth(query, len(query.blocks) - 1, table) for table in tables}) == 1


def _is_leaf(query: AspQuery, position: int) -> bool:
    block = query.blocks[position]
    return isinstance(block, QueryAtom) or block.kind in QUANTIFIED


def _leaf(query: AspQuery, position: int) -> str:
    """Return a spelling under which equal blocks are equal."""
    block = query.blocks[position]
    if isinstance(block, QueryAtom):
        literal = block.literal
        return str(literal.complement() if literal.strong else literal)
    return f"{block.kind}({','.join(_spelled(query, part) for part in block.parts)})"


def _spelled(query: AspQuery, position: int) -> str:
    block = query.blocks[position]
    return str(block.literal) if isinstance(block, QueryAtom) else _leaf(query, position)


def _truth(query: AspQuery, position: int, table: dict[str, bool]) -> bool:
    block = query.blocks[position]
    if isinstance(block, QueryAtom):
        return table[_leaf(query, position)] != block.literal.strong
    if block.kind in QUANTIFIED:
        same = block.kind == "ALL" and _spelled(query, block.parts[0]) == _spelled(query, block.parts[1])
        return same or table[_leaf(query, position)]
    values = [_truth(query, part, table) for part in block.parts]
    match block.kind:
        case "AND":
            return all(values)
        case "OR":
            return any(values)
        case "NOT":
            return not values[0]
        case "NEITHER-NOR":
            return not any(values)
        case "IF-THEN":
            return not values[0] or values[1]
        case _:
            return sum(values) == 1
