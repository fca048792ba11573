"""Reading answer set programs: rules, the numbered comments above them, and single ground literals.

The language is the paper's (facts, rules, constraints, choices with bounds, disjunctions, both negations,
comparisons) over flat terms. Function terms, arithmetic, intervals, pools and aggregates are refused by name:
they are what grounding bombs are made of.
"""

import re
from dataclasses import dataclass

from critics.replay.answer_sets import language as asp
from critics.replay.answer_sets.language import fault

MAX_RULES = 200
MAX_PARTS = 40
"""Literals of one head or body, elements of one choice, arguments of one literal."""
_ID = re.compile(r"\s*(?:Rule\s+)?R(\d{1,6})\b[\s:.)]*(.*)", re.DOTALL)
_COMPARISONS = ("=", "==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class CommentBlock:
    """Rules under one comment."""

    number: int | None
    """The n of `% Rn`; None where the comment has none."""
    comment: str
    """Text of the comment, its number left out."""
    rules: tuple[int, ...]
    """Positions in the program; empty where nothing but the comment is there."""


@dataclass(frozen=True, slots=True)
class AspProgram:
    """A program as it was read."""

    text: str
    rules: tuple[asp.AspRule, ...]
    blocks: tuple[CommentBlock, ...]

    def numbered(self) -> dict[int, tuple[int, ...]]:
        """Return the rules' positions by the number of the comment above them."""
        found: dict[int, tuple[int, ...]] = {}
        for block in self.blocks:
            if block.number is not None:
                found[block.number] = found.get(block.number, ()) + block.rules
        return found

    def block_of(self, rule: int) -> CommentBlock | None:
        """Return the block that holds a rule; None above the first comment."""
        return next((block for block in self.blocks if rule in block.rules), None)


def read_program(text: str) -> AspProgram:
    """Read a program; raises `AspError` with line and column."""
    found = asp.tokens(text)
    reader = _ProgramReader(text, [token for token in found if token.kind != "comment"])
    rules: list[asp.AspRule] = []
    while reader.now.kind != "end":
        rules.append(reader.rule())
        if len(rules) > MAX_RULES:
            raise asp.AspError("too_long", f"there are more than {MAX_RULES} rules")
    return AspProgram(text, tuple(rules), _blocks(text, [t for t in found if t.kind == "comment"], rules))


def read_literal(text: str, *, variables: bool = False) -> asp.AspLiteral:
    """Read exactly one literal without default negation, ground unless `variables`; one full stop may follow."""
    found = asp.tokens(text)
    if any(token.kind == "comment" for token in found):
        raise asp.AspError("literal_syntax", f"{text[:80]!r} is not one literal")
    reader = _ProgramReader(text, found)
    literal = reader.condition()
    if reader.now.text == ".":
        reader.step()
    if reader.now.kind != "end" or not isinstance(literal, asp.AspLiteral) or literal.default:
        # Attack: `wet(d1). wet(d1)` or `1=1` where a literal is pasted into a program's text.
        raise asp.AspError("literal_syntax", f"{text[:80]!r} is not one literal")
    if not variables and any(map(asp.is_variable, literal.arguments)):
        raise asp.AspError("literal_not_ground", f"{text[:80]!r} has a variable")
    return literal


def _blocks(text: str, comments: list[asp.AspToken], rules: list[asp.AspRule]) -> tuple[CommentBlock, ...]:
    """Group comments that stand on lines of their own with the rules below them."""
    own = [c for c in comments if not text[text.rfind("\n", 0, c.offset) + 1 : c.offset].strip()]
    blocks: list[CommentBlock] = []
    lines: list[str] = []
    held: list[int] = []
    upcoming = 0
    for offset, line in [*((c.offset, c.text.lstrip("%").strip()) for c in own), (len(text), "")]:
        before = upcoming
        while upcoming < len(rules) and rules[upcoming].offset < offset:
            held.append(upcoming)
            upcoming += 1
        numbered = _ID.match(line) is not None and any(map(_ID.match, lines))
        if (upcoming > before or numbered or offset == len(text)) and lines:
            blocks.append(_block(lines, held))
            lines = []
        held = [] if upcoming > before or numbered else held
        lines.append(line)
    return tuple(blocks)


def _block(lines: list[str], rules: list[int]) -> CommentBlock:
    start = next((i for i in reversed(range(len(lines))) if _ID.match(lines[i])), None)
    if start is None:
        return CommentBlock(None, " ".join(lines).strip(), tuple(rules))
    match = _ID.match(lines[start])
    assert match is not None
    return CommentBlock(int(match[1]), " ".join([match[2], *lines[start + 1 :]]).strip(), tuple(rules))


class _ProgramReader:
    """Recursive descent over tokens."""

    def __init__(self, text: str, found: list[asp.AspToken]) -> None:
        self._text = text
        self._tokens = found
        self._index = 0
        self.now = found[0]

    def step(self) -> asp.AspToken:
        token = self.now
        self._index += 1
        self.now = self._tokens[self._index]
        return token

    def take(self, text: str) -> bool:
        if self.now.text == text and self.now.kind == "mark":
            self.step()
            return True
        return False

    def need(self, text: str) -> None:
        if not self.take(text):
            raise self.fault("syntax", f"{text!r} is expected, not {self.now.text[:40]!r}")

    def fault(self, reason: str, message: str) -> asp.AspError:
        return fault(reason, message, self._text, self.now.offset)

    def peek(self) -> str:
        return self._tokens[min(self._index + 1, len(self._tokens) - 1)].text

    def rule(self) -> asp.AspRule:
        offset = self.now.offset
        head: asp.Choice | tuple[asp.AspLiteral, ...] = () if self.now.text == ":-" else self.head()
        body: tuple[asp.Condition, ...] = ()
        if self.take(":-") and self.now.text != ".":
            body = self.conditions((",", ";"))
        self.need(".")
        return asp.AspRule(head, body, offset)

    def head(self) -> asp.Choice | tuple[asp.AspLiteral, ...]:
        lower: int | None = None
        if self.now.kind == "number":
            lower = self.bound()
            self.take("<=")
        if self.now.text == "{":
            return self.choice(lower)
        if lower is not None:
            raise self.fault("syntax", "'{' is expected after a choice's lower bound")
        disjuncts = [self.literal()]
        while self.now.text in (";", "|"):
            self.step()
            disjuncts.append(self.literal())
            self.check_size(disjuncts)
        return tuple(disjuncts)

    def choice(self, lower: int | None) -> asp.Choice:
        self.need("{")
        elements: list[asp.Element] = []
        while not self.take("}"):
            if elements:
                self.need(";")
            literal = self.literal()
            elements.append(asp.Element(literal, self.conditions((",",)) if self.take(":") else ()))
            self.check_size(elements)
        if lower is None and self.now.text in ("=", "=="):
            self.step()
            lower = upper = self.bound()
        else:
            upper = self.bound() if self.take("<=") or self.now.kind == "number" else None
        return asp.Choice(tuple(elements), lower, upper)

    def bound(self) -> int:
        if self.now.kind != "number":
            raise self.fault("syntax", f"a number is expected, not {self.now.text[:40]!r}")
        return int(self.step().text)

    def conditions(self, separators: tuple[str, ...]) -> tuple[asp.Condition, ...]:
        found = [self.condition()]
        while self.now.kind == "mark" and self.now.text in separators:
            self.step()
            found.append(self.condition())
            self.check_size(found)
        if self.now.text == ":" and ";" in separators:
            raise self.fault("conditional_literal", "conditions inside a body are not supported; write a rule for them")
        return tuple(found)

    def condition(self) -> asp.Condition:
        default = self.now.text == "not" and self.now.kind == "name"
        if default:
            self.step()
            if self.now.text == "not":
                raise self.fault("double_negation", "'not not' is not supported")
        if self.now.text == "{" or (self.now.kind == "number" and self.peek() == "{"):
            raise self.fault("aggregate", "a choice belongs in a head; count in a body by rules of their own")
        if not default and (self.now.kind in ("variable", "number", "string") or self.peek() in _COMPARISONS):
            return self.comparison()
        literal = self.literal()
        if self.now.text in _COMPARISONS:
            raise self.fault("syntax", "only terms can be compared")
        return asp.AspLiteral(literal.predicate, literal.arguments, literal.strong, default)

    def comparison(self) -> asp.Comparison:
        left = self.term()
        if self.now.text not in _COMPARISONS:
            raise self.fault("syntax", f"a comparison is expected, not {self.now.text[:40]!r}")
        operator = self.step().text
        return asp.Comparison(left, "=" if operator == "==" else operator, self.term())

    def literal(self) -> asp.AspLiteral:
        strong = self.take("-")
        if self.now.kind != "name" or self.now.text == "not":
            hint = "; a predicate starts with a small letter" if self.now.kind == "variable" else ""
            raise self.fault("syntax", f"an atom is expected, not {self.now.text[:40]!r}{hint}")
        predicate = self.step().text
        arguments: list[str] = []
        if self.take("("):
            arguments.append(self.term())
            while self.take(","):
                arguments.append(self.term())
                self.check_size(arguments)
            if self.now.text == ";":
                raise self.fault("pool", "pools are not supported; write one atom for each")
            self.need(")")
        return asp.AspLiteral(predicate, tuple(arguments), strong)

    def term(self) -> str:
        sign = "-" if self.take("-") else ""
        if self.now.kind not in ("name", "variable", "number", "string") or self.now.text == "not":
            raise self.fault("nested_term" if self.now.text == "(" else "syntax", "a constant or variable is expected")
        if sign and self.now.kind != "number":
            raise self.fault("arithmetic", "a term cannot be negated")
        token = self.step()
        if self.now.text == "(":
            raise self.fault("nested_term", "function terms are not supported; use one more argument")
        if self.now.text == "-":
            raise self.fault("arithmetic", "arithmetic is not supported")
        return str(int(sign + token.text)) if token.kind == "number" else token.text

    def check_size(self, parts: list[asp.Element] | list[asp.AspLiteral] | list[asp.Condition] | list[str]) -> None:
        if len(parts) > MAX_PARTS:
            raise self.fault("too_long", f"more than {MAX_PARTS} parts in one place")
