"""Expressions as `logic-program` and `csp` write them: tokens, a tree without types, and the reader of one line.

Binding strength from weak to strong: `<->`, `->` (to the right), `or` and `xor`, `and`, `not`, comparisons (chained
ones are conjoined), sums, products. Infix `And`, `&&`, `&`, `==>`, `=` for `==` and their kin are read as what they
mean; each liberty has its word in `repairs`. Untrusted names go no further than this tree and the tables made of it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from critics.logic.programs.sections import Line, ProgramError, Repairs
from critics.replay.cursor import TokenCursor

MAX_TOKENS = 3_000
"""Tokens of one line."""
MAX_DEPTH = 40
"""Nested brackets and prefixes; each costs the reader several frames."""
MAX_DIGITS = 9
_TOKEN = re.compile(
    r"\s*(<==>|<=>|<->|↔|==>|=>|->|→|&&|\|\||==|!=|<>|<=|>=|≤|≥|≠|[<>=+*/%&|!~¬∧∨()\[\]{},:-]"
    r"|[^\W\d]\w*|\d+(?!\w)|\d\w*|'[\w ]+'|\"[\w ]+\")"
)
_IFF = ("<==>", "<=>", "<->", "↔", "iff")
_IMPLIES = ("==>", "=>", "->", "→", "implies")
_OR = ("or", "||", "|", "∨", "xor")
_AND = ("and", "&&", "&", "∧")
_NOT = ("not", "!", "~", "¬")
_COMPARE = {
    "==": "eq", "=": "eq", "!=": "ne", "<>": "ne", "≠": "ne", "<": "lt", "<=": "le", "≤": "le", ">": "gt",
    ">=": "ge", "≥": "ge",
}  # fmt: skip
_SUM = {"+": "add", "-": "sub"}
_PRODUCT = {"*": "mul", "/": "div", "%": "mod"}
_PLAIN = frozenset({"==", "!=", "<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written."""

    text: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number without a sign."""

    value: int


@dataclass(frozen=True, slots=True)
class Call:
    """A name applied to arguments."""

    name: str
    arguments: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Listing:
    """List in square brackets."""

    items: "tuple[Expression, ...]"


@dataclass(frozen=True, slots=True)
class Binding:
    """`p:people`."""

    variable: str
    sort: "Expression"


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator by its word (`and`, `eq`, `add`, `in`, ..) and its operands."""

    operator: str
    operands: "tuple[Expression, ...]"


Expression = Name | Number | Call | Listing | Binding | Operation


def unlisted(expressions: Sequence[Expression]) -> list[Expression]:
    """Return the expressions, those that stand in a list each for itself."""
    return [part for one in expressions for part in (one.items if isinstance(one, Listing) else (one,))]


def read_expression(line: Line, repairs: Repairs, *, conjoin: bool = False) -> Expression:
    """Read a whole line as one expression; raises `ProgramError` (`sections`) naming the line.

    `conjoin`: formulas with commas between them are one conjunction.
    """
    reader = ExpressionReader(line, repairs)
    read = reader.conjoined() if conjoin else reader.expression()
    reader.end()
    if _depth_of(read) > MAX_DEPTH:
        # Attack: a chain of a thousand sums, for every walk over it to run out of frames.
        raise line.error("depth", f"the expression is deeper than {MAX_DEPTH} operations")
    return read


def _depth_of(expression: "Expression") -> int:
    """Return the number of levels of an expression, without recursion."""
    depth, level = 0, [expression]
    while level:
        depth += 1
        level = [part for whole in level for part in _parts(whole)]
    return depth


def _parts(expression: "Expression") -> "tuple[Expression, ...]":
    match expression:
        case Call(_, parts) | Listing(parts) | Operation(_, parts):
            return parts
        case Binding(_, sort):
            return (sort,)
        case _:
            return ()


def tokens_of(line: Line, repairs: Repairs) -> list[str]:
    """Return the line's tokens; quoted names lose their quotes, `\\_` its backslash."""
    text = line.text
    if "\\_" in text:
        repairs.note("escape")
        text = text.replace("\\\\_", "_").replace("\\_", "_")
    return replace(line, text=text).tokens(_TOKEN, MAX_TOKENS)


class ExpressionReader(TokenCursor):
    """A recursive-descent reader over one line's tokens."""

    def __init__(self, line: Line, repairs: Repairs) -> None:
        self._line, self._repairs = line, repairs
        self._depth = 0
        super().__init__(_balanced(tokens_of(line, repairs), repairs))

    def expression(self) -> Expression:
        """Read the weakest operator and everything under it."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._line.error("depth", f"brackets nest deeper than {MAX_DEPTH}")
        left = self._implication()
        while self._word() in _IFF:
            self._operator("infix_iff")
            left = Operation("iff", (left, self._implication()))
        self._depth -= 1
        return left

    def conjoined(self) -> Expression:
        """Read formulas with commas between them."""
        parts = [self.expression()]
        while self.peek() == "," and self.peek(1):
            self._operator("arguments_conjoined")
            parts.append(self.expression())
        return parts[0] if len(parts) == 1 else Operation("and", tuple(parts))

    def end(self) -> None:
        """Raise unless everything is read; a comma or full stop at the end says nothing."""
        if self.peek() == "," and self.at == len(self.tokens) - 1:
            self._repairs.note("trailing_comma")
            self.at += 1
        if self.peek():
            raise self.fault(f"unexpected {self.peek()!r}")

    def _implication(self) -> Expression:
        left = self._disjunction()
        if self._word() not in _IMPLIES:
            return left
        self._operator("infix_implies")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._line.error("depth", f"implications nest deeper than {MAX_DEPTH}")
        right = self._implication()
        self._depth -= 1
        return Operation("implies", (left, right))

    def _disjunction(self) -> Expression:
        left, alternatives = self._conjunction(), list[Expression]()
        while self._word() in _OR:
            word = "xor" if self._word() == "xor" else "or"
            self._operator(f"infix_{word}")
            right = self._conjunction()
            if word == "xor":
                left = Operation("xor", (Operation("or", (left, *alternatives)) if alternatives else left, right))
                alternatives = []
            else:
                alternatives.append(right)
        return Operation("or", (left, *alternatives)) if alternatives else left

    def _conjunction(self) -> Expression:
        parts = [self._negation()]
        while self._word() in _AND:
            self._operator("infix_and")
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Operation("and", tuple(parts))

    def _negation(self) -> Expression:
        num = 0
        while self._word() in _NOT and not (self._word() == "not" and self.peek(1) == "("):
            self._operator("prefix_not")
            num += 1
        if self._word() == "not" and self.peek() != "Not":
            self._repairs.note("prefix_not")
        inner = self._comparison()
        return inner if num % 2 == 0 else Operation("not", (inner,))

    def _comparison(self) -> Expression:
        left = self._sum()
        parts: list[Expression] = []
        while self.peek() in _COMPARE or self._word() == "in":
            operator = self.take()
            if operator not in _PLAIN:
                self._repairs.note("membership" if operator == "in" else "comparison_sign")
            right = self._sum()
            parts.append(Operation(_COMPARE.get(operator, "in"), (left, right)))
            left = right
        if len(parts) > 1:
            self._repairs.note("chained_comparison")
            return Operation("and", tuple(parts))
        return parts[0] if parts else left

    def _sum(self) -> Expression:
        left = self._product()
        while self.peek() in _SUM:
            left = Operation(_SUM[self.take()], (left, self._product()))
        return left

    def _product(self) -> Expression:
        left = self._signed()
        while self.peek() in _PRODUCT:
            left = Operation(_PRODUCT[self.take()], (left, self._signed()))
        return left

    def _signed(self) -> Expression:
        if not self.takes("-"):
            return self._primary()
        return Operation("sub", (Number(0), self._primary()))

    def _primary(self) -> Expression:
        token = self.take()
        if token == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if token in ("[", "{"):
            if token == "{":
                self._repairs.note("braces")
            return Listing(self._items("]" if token == "[" else "}"))
        if token.isdigit():
            if len(token) > MAX_DIGITS:
                raise self.fault(f"a number has more than {MAX_DIGITS} digits")
            return Number(int(token))
        if token[:1] in ("'", '"'):
            self._repairs.note("quoted_name")
            return Name(token[1:-1].strip().replace(" ", "_"))
        if not re.match(r"\w", token):
            raise self.fault(f"an expression is needed before {token or 'the end'!r}")
        if self.takes("("):
            return Call(token, self._items(")"))
        return Name(token)

    def _items(self, closing: str) -> tuple[Expression, ...]:
        items: list[Expression] = []
        while self.peek() not in (closing, ""):
            items.append(self._item())
            if not self.takes(","):
                break
        self.expect(closing)
        return tuple(items)

    def _item(self) -> Expression:
        if self.peek(1) == ":" and re.match(r"\w", self.peek()):
            variable = self.take()
            self.take()
            return Binding(variable, self._sum())
        return self.expression()

    def _operator(self, word: str) -> None:
        self.take()
        self._repairs.note(word)

    def _word(self) -> str:
        """Return the next token in lower case, or nothing where it is applied like a function (`And(`)."""
        token = self.peek().lower()
        is_call = self.peek(1) == "(" and self.peek()[:1].isupper() and self.at == self._start_of_operand()
        return "" if is_call else token

    def _start_of_operand(self) -> int:
        """Return where an operand is due: at the start, or behind an operator, a bracket or a comma."""
        if self.at == 0:
            return 0
        before = self.tokens[self.at - 1]
        return -1 if before in (")", "]", "}") or re.match(r"\w", before) else self.at

    def fault(self, why: str) -> ProgramError:
        """Return the error that names the line."""
        return self._line.error("syntax", why)


def moved_inside(operator: str, operands: Sequence[Expression]) -> Call | None:
    """Return `ForAll([..], T < 2)` for `ForAll([..], T) < 2`, which has no other meaning; None where it is not that.

    Only a number is moved, because a name might be bound there.
    """
    left, number = operands
    if operator not in _COMPARE.values() or not isinstance(number, Number) or not isinstance(left, Call):
        return None
    if left.name.lower() not in ("forall", "exists") or not left.arguments:
        return None
    *bindings, body = left.arguments
    return Call(left.name, (*bindings, Operation(operator, (body, number))))


def _balanced(tokens: list[str], repairs: Repairs) -> list[str]:
    """Close round brackets left open at the end, or drop those too many there: nowhere else could be meant."""
    open_ = tokens.count("(") - tokens.count(")")
    if open_ > 0:
        repairs.note("bracket_closed")
        return tokens + [")"] * open_
    while open_ < 0 and tokens and tokens[-1] == ")":
        repairs.note("bracket_dropped")
        tokens, open_ = tokens[:-1], open_ + 1
    return tokens
