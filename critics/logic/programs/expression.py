"""Expressions as `logic-program` and `csp` write them: tokens, a tree without types, and the reader of one line.

Binding strength from weak to strong: `<->`, `->` (to the right), `or` and `xor`, `and`, `not`, comparisons (chained
ones are conjoined), sums, products. Infix `And`, `&&`, `&`, `==>`, `=` for `==` and their kin are read as what they
mean; each liberty has its word in `repairs`. The tree is that of `critics.replay.finite.terms`, in which a name is a
variable, a call an application, `[a, b]` the operator `list`, `p:people` the operator `bind`, and `x in s` the operator
`in`; the elaborator makes terms of programs from it. Untrusted names go no further than it and the tables made of it.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from critics.logic.programs.sections import ProgramError, ProgramLine, Repairs
from critics.replay.cursor import TokenCursor
from critics.replay.finite.terms import Application, Constant, Operator, Term, Variable

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


def is_list(expression: Term) -> bool:
    """Say whether an expression is a list in square brackets."""
    return isinstance(expression, Operator) and expression.name == "list"


def unlisted(expressions: Sequence[Term]) -> list[Term]:
    """Return the expressions, those that stand in a list each for itself."""
    return [part for one in expressions for part in (_parts(one) if is_list(one) else (one,))]


def read_expression(line: ProgramLine, repairs: Repairs, *, conjoin: bool = False) -> Term:
    """Read a whole line as one expression; raises `ProgramError` (`sections`) naming the line.

    `conjoin`: formulas with commas between them are one conjunction.
    """
    reader = ExpressionReader(line, repairs)
    read = reader.conjoined() if conjoin else reader.expression()
    reader.end()
    depth, level = 0, [read]
    while level:
        depth += 1
        level = [part for whole in level for part in _parts(whole)]
    if depth > MAX_DEPTH:
        # Attack: a chain of a thousand sums, for every walk over it to run out of frames.
        raise line.error("depth", f"the expression is deeper than {MAX_DEPTH} operations")
    return read


def _parts(expression: Term) -> tuple[Term, ...]:
    match expression:
        case Application(_, parts) | Operator(_, parts):
            return parts
        case _:
            return ()


class ExpressionReader(TokenCursor):
    """A recursive-descent reader over one line's tokens."""

    def __init__(self, line: ProgramLine, repairs: Repairs) -> None:
        self._line, self._repairs = line, repairs
        self._depth = 0
        text = line.text
        if "\\_" in text:
            repairs.note("escape")
            text = text.replace("\\\\_", "_").replace("\\_", "_")
        super().__init__(_balanced(replace(line, text=text).tokens(_TOKEN, MAX_TOKENS), repairs))

    def expression(self) -> Term:
        """Read the weakest operator and everything under it."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._line.error("depth", f"brackets nest deeper than {MAX_DEPTH}")
        left = self._implication()
        while self._word() in _IFF:
            self._operator("infix_iff")
            left = Operator("iff", (left, self._implication()))
        self._depth -= 1
        return left

    def conjoined(self) -> Term:
        """Read formulas with commas between them."""
        parts = [self.expression()]
        while self.peek() == "," and self.peek(1):
            self._operator("arguments_conjoined")
            parts.append(self.expression())
        return parts[0] if len(parts) == 1 else Operator("and", tuple(parts))

    def end(self) -> None:
        """Raise unless everything is read; a comma or full stop at the end says nothing."""
        if self.peek() == "," and self.at == len(self.tokens) - 1:
            self._repairs.note("trailing_comma")
            self.at += 1
        super().end()

    def _implication(self) -> Term:
        left = self._disjunction()
        if self._word() not in _IMPLIES:
            return left
        self._operator("infix_implies")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._line.error("depth", f"implications nest deeper than {MAX_DEPTH}")
        right = self._implication()
        self._depth -= 1
        return Operator("implies", (left, right))

    def _disjunction(self) -> Term:
        left, alternatives = self._conjunction(), list[Term]()
        while self._word() in _OR:
            word = "xor" if self._word() == "xor" else "or"
            self._operator(f"infix_{word}")
            right = self._conjunction()
            if word == "xor":
                left = Operator("xor", (Operator("or", (left, *alternatives)) if alternatives else left, right))
                alternatives = []
            else:
                alternatives.append(right)
        return Operator("or", (left, *alternatives)) if alternatives else left

    def _conjunction(self) -> Term:
        parts = [self._negation()]
        while self._word() in _AND:
            self._operator("infix_and")
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else Operator("and", tuple(parts))

    def _negation(self) -> Term:
        num = 0
        while self._word() in _NOT and not (self._word() == "not" and self.peek(1) == "("):
            self._operator("prefix_not")
            num += 1
        if self._word() == "not" and self.peek() != "Not":
            self._repairs.note("prefix_not")
        inner = self._comparison()
        return inner if num % 2 == 0 else Operator("not", (inner,))

    def _comparison(self) -> Term:
        left = self._sum()
        parts: list[Term] = []
        while self.peek() in _COMPARE or self._word() == "in":
            operator = self.take()
            if operator not in _PLAIN:
                self._repairs.note("membership" if operator == "in" else "comparison_sign")
            right = self._sum()
            parts.append(Operator(_COMPARE.get(operator, "in"), (left, right)))
            left = right
        if len(parts) > 1:
            self._repairs.note("chained_comparison")
            return Operator("and", tuple(parts))
        return parts[0] if parts else left

    def _sum(self) -> Term:
        left = self._product()
        while self.peek() in _SUM:
            left = Operator(_SUM[self.take()], (left, self._product()))
        return left

    def _product(self) -> Term:
        left = self._signed()
        while self.peek() in _PRODUCT:
            left = Operator(_PRODUCT[self.take()], (left, self._signed()))
        return left

    def _signed(self) -> Term:
        if not self.takes("-"):
            return self._primary()
        return Operator("sub", (Constant(0), self._primary()))

    def _primary(self) -> Term:
        token = self.take()
        if token == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        if token in ("[", "{"):
            if token == "{":
                self._repairs.note("braces")
            return Operator("list", self._items("]" if token == "[" else "}"))
        if token.isdigit():
            if len(token) > MAX_DIGITS:
                raise self.fault(f"a number has more than {MAX_DIGITS} digits")
            return Constant(int(token))
        if token[:1] in ("'", '"'):
            self._repairs.note("quoted_name")
            return Variable(token[1:-1].strip().replace(" ", "_"))
        if not re.match(r"\w", token):
            raise self.fault(f"an expression is needed before {token or 'the end'!r}")
        if self.takes("("):
            return Application(token, self._items(")"))
        return Variable(token)

    def _items(self, closing: str) -> tuple[Term, ...]:
        items: list[Term] = []
        while self.peek() not in (closing, ""):
            if self.peek(1) == ":" and re.match(r"\w", self.peek()):
                variable = Variable(self.take())
                self.take()
                items.append(Operator("bind", (variable, self._sum())))
            else:
                items.append(self.expression())
            if not self.takes(","):
                break
        self.expect(closing)
        return tuple(items)

    def _operator(self, word: str) -> None:
        self.take()
        self._repairs.note(word)

    def _word(self) -> str:
        """Return the next token in lower case, or nothing where it is applied like a function (`And(`)."""
        if self.peek(1) == "(" and self.peek()[:1].isupper():
            before = self.tokens[self.at - 1] if self.at else "("
            # An operand is due at the start, and behind an operator, a bracket or a comma.
            if before not in (")", "]", "}") and not re.match(r"\w", before):
                return ""
        return self.peek().lower()

    def fault(self, why: str) -> ProgramError:
        """Return the error that names the line."""
        return self._line.error("syntax", why)


def moved_inside(operator: str, operands: Sequence[Term]) -> Application[Term] | None:
    """Return `ForAll([..], T < 2)` for `ForAll([..], T) < 2`, which has no other meaning; None where it is not that.

    Only a number is moved, because a name might be bound there.
    """
    match operator, operands:
        case str(), (Application(name, (*bindings, body)), Constant() as number) if operator in _COMPARE.values():
            is_quantifier = name.lower() in ("forall", "exists")
            return Application(name, (*bindings, Operator(operator, (body, number)))) if is_quantifier else None
        case _:
            return None


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
