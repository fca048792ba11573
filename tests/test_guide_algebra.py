import ast
import operator
import random
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import rollout.guides.algebra as algebra
from rollout.decoding.automaton import accepts
from rollout.decoding.masks import Row
from rollout.guides.algebra import AlgebraGuide, solve

# `@` stands for a parenthesis that was read already, so that `x(y)` does not become a name.
OPERAND = r"(?:(?:0|[1-9]\d{0,8})(?:\.\d{1,6})?|[A-Za-z]\w*|@)"
SUM = rf"-?{OPERAND}(?: ?[-+*/] ?{OPERAND})*"
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
STRADDLERS = [
    "[[",
    "]]",
    "[[var:",
    "[[eq:",
    "[[solve:",
    "[[var:x]]",
    "var:y]] [[eq:y = ",
    " = ",
    " + ",
    "2*",
    "-(",
    "))",
    ")*(",
    "x = 3]]",
    "x/2",
    "=1]] [[solve:x=",
    "xy",
    "]].",
    "(((((",
    "1 = 1]] so",
    "12345",
    "0.5",
]
VOCABULARY: list[bytes | None] = [None, *(bytes([b]) for b in range(32, 127)), *(t.encode() for t in STRADDLERS)]
EOS = 0


def allows(guide: AlgebraGuide, block: str) -> bool:
    return accepts(guide.allowed(), f"{block}]]".encode())


def after(*blocks: str) -> AlgebraGuide:
    guide = AlgebraGuide()
    for block in blocks:
        assert allows(guide, block), block
        guide.close(block.encode())
    return guide


def solved(*equations: str) -> dict[str, str]:
    """Return what `solve` offers, as text, once all names of the equations are declared."""
    names = dict.fromkeys(re.findall(r"[A-Za-z]\w*", " ".join(equations)))
    guide = after(*(f"var:{name}" for name in names), *(f"eq:{equation}" for equation in equations))
    found = {name: str(value) for name, value in guide.solutions.items()}
    for name in names:
        assert allows(guide, f"solve:{name}={found.get(name)}") == (name in found)
    return found


def is_equation(text: str, names: set[str]) -> bool:
    """Judge an equation by reducing parentheses from the inside, which shares nothing with the automaton."""
    operands = re.findall(r"[A-Za-z]\w*|\d+(?:\.\d+)?", text)
    if len(operands) > 16 or any(word[0].isalpha() and word not in names for word in operands) or "@" in text:
        return False
    for _ in range(6):
        text = re.sub(rf"\({SUM}\)", "@", text, flags=re.ASCII)
    return re.fullmatch(rf"{SUM} ?= ?{SUM}", text, re.ASCII) is not None


def value(text: str, values: Mapping[str, Fraction]) -> Fraction:
    """Evaluate one side with Python's own parser."""

    def of(node: ast.expr) -> Fraction:
        match node:
            case ast.BinOp(left, op, right):
                return OPERATIONS[type(op)](of(left), of(right))
            case ast.UnaryOp(ast.USub(), operand):
                return -of(operand)
            case ast.Name(name):
                return values[name]
            case ast.Constant():
                return Fraction(ast.get_source_segment(text, node) or "")
        raise AssertionError(node)

    return of(ast.parse(text, mode="eval").body)


def holds(equation: str, values: Mapping[str, Fraction]) -> bool:
    left, right = equation.split("=")
    return value(left.strip(), values) == value(right.strip(), values)


def walk(guide: AlgebraGuide, rng: random.Random) -> str:
    """Write one random block and hand it to the guide."""
    automaton, written = guide.allowed(), bytearray()
    state = automaton.start
    while not automaton.done(state):
        open_ = [byte for byte in range(256) if automaton.step(state, byte) is not None]
        liked = [byte for byte in open_ if byte in (b"v" if rng.random() < 0.2 else b"esxyz12=]")]
        byte = rng.choice(liked if liked and rng.random() < 0.8 else open_)
        written.append(byte)
        state = automaton.step(state, byte)
    block = bytes(written[:-2]).decode()
    guide.close(block.encode())
    return block


def test_only_declared_variables_stand_in_equations():
    guide = AlgebraGuide()
    assert not allows(guide, "eq:1 = 1")
    guide.close(b"var:x")
    assert allows(guide, "eq:2*x + 3 = 7")
    assert not allows(guide, "eq:2*x + 3 = y")
    guide.close(b"var:y")
    assert allows(guide, "eq:2*x + 3 = y")
    assert not allows(guide, "eq:2*x + 3 = yy")
    guide.close(b"var:yy_2")
    assert allows(guide, "eq:y-yy_2=x")
    assert not allows(guide, "eq:yy = x")


@pytest.mark.parametrize(
    "equation",
    ["x=1", "-x = -(2)", "((x + 1)*2 - y)/3.5=0", "x *y/ 2 = x-1", "0.5*x = 1.25", "-(-(x)) = 1", "x = y/0"],
)
def test_well_formed_equations_are_allowed(equation):
    assert allows(after("var:x", "var:y"), f"eq:{equation}")


@pytest.mark.parametrize(
    "equation",
    [
        "",
        "x",
        "x=",
        "=x",
        "x = 1 = 1",
        "2x = 1",
        "x(1) = 1",
        "(x = 1",
        "x) = 1",
        "(x = 1)",
        "x + = 1",
        "x -- 1 = 1",
        "x  = 1",
        " x = 1",
        "x = 1 ",
        "x**2 = 1",
        "x^2 = 1",
        "x//2 = 1",
        "+x = 1",
        "- x = 1",
        "( x) = 1",
        ".5 = x",
        "5. = x",
        "007 = x",
        "1e9 = x",
        "1234567890 = x",
        "1.1234567 = x",
        "(((((((x))))))) = 1",
        "x = " + "+".join("1" * 16),
        "x = \u0661",
    ],
)
def test_ill_formed_equations_are_refused_and_change_nothing(equation):
    guide = after("var:x", "var:y")
    key = guide.key
    assert not allows(guide, f"eq:{equation}")
    guide.close(f"eq:{equation}".encode())
    assert (guide.key, guide.equations) == (key, ())


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (["2*x + 3 = y", "y = 7"], {"x": "2", "y": "7"}),
        (["2*x = 3"], {"x": "3/2"}),
        (["0.1 + 0.2 = x"], {"x": "3/10"}),
        (["-(x - 1)/2 = 3*(x + 1)"], {"x": "-5/7"}),
        (["x + y = 3", "z = 1", "x - y = z"], {"x": "2", "y": "1", "z": "1"}),
        (["x + y = 3", "z = 1"], {"z": "1"}),
        (["x + y + z = 3", "x + y = 1"], {"z": "2"}),
        (["x = x"], {}),
        (["x = 1", "x = 1", "2*x = 2"], {"x": "1"}),
        (["x = 1", "y = 2", "x = 2"], {}),
        (["x = 1", "1 = 2"], {}),
        (["x = 1", "*".join(["999999999"] * 15) + " = 1"], {}),
        (["0*x*y = z"], {"z": "0"}),
    ],
)
def test_a_variable_is_solved_for_where_it_has_one_value_in_all_solutions(equations, expected):
    assert solved(*equations) == expected


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        (["x*x = 4"], {}),
        (["x*y = 6", "z = 1"], {"z": "1"}),
        (["6/x = 3", "z = 1"], {"z": "1"}),
        (["x/x = 1"], {}),
        (["x = 1/0", "z = 1"], {"z": "1"}),
        (["x = 1/(3 - 3)", "z = 1"], {"z": "1"}),
        (["x = 2", "x*y*y = 8"], {}),
        (["c = 3", "p = 1.5", "t = c*p"], {"c": "3", "p": "3/2", "t": "9/2"}),
        (["t = c*p", "p = 6/c", "c = 2"], {"c": "2", "p": "3", "t": "6"}),
        (["x = 3", "x*x = 9"], {"x": "3"}),
        (["x = 3", "x*x = 8"], {}),
        (["x = 0", "y = 1/x", "z = 1"], {"z": "1"}),
    ],
)
def test_what_is_not_linear_withholds_its_variables(equations, expected):
    assert solved(*equations) == expected


def test_wrong_values_and_unknown_names_cannot_be_solved_for():
    guide = after("var:x", "eq:2*x = 3")
    for block in ("solve:x=1.5", "solve:x=6/4", "solve:x=3/2 ", "solve:x=3", "solve:y=3/2", "solve:x = 3/2"):
        assert not allows(guide, block)
    guide.close(b"solve:x=3/2")
    assert allows(guide, "solve:x=3/2")


def test_numbers_cannot_grow_without_bound():
    chain = [f"v{i + 1} = v{i}*v{i}" for i in range(20)]
    found = solve(("v0 = 10", *chain))
    assert [str(found[f"v{i}"]) for i in range(3)] == ["10", "100", "10000"]
    assert len(found) < 10
    assert "v20" not in found
    small_steps = [f"v{i + 1}*999999937 = v{i}" for i in range(20)]
    assert list(solve(("v0 = 1", *small_steps))) == [f"v{i}" for i in range(7)]


def test_variables_and_equations_are_limited():
    guide = after(*(f"var:v{i}" for i in range(24)))
    assert not allows(guide, "var:one_more")
    assert allows(guide, "var:v7")
    for i in range(24):
        guide.close(f"eq:v{i} = {i}".encode())
    assert len(guide.equations) == 24
    assert not allows(guide, "eq:v0 = 0")
    assert allows(guide, "solve:v23=23")


def test_no_text_reaches_a_parser_that_evaluates(monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("text was handed to SymPy")

    monkeypatch.setattr("sympy.parsing.sympy_parser.parse_expr", refuse)
    monkeypatch.setattr("sympy.parsing.sympy_parser.eval_expr", refuse)
    with pytest.raises(AssertionError):
        sympy.sympify("x + 1")
    # Names that mean something to Python or SymPy are names like any other.
    names = ("E", "I", "S", "lambda", "exit", "None", "pi", "beta", "print")
    for name in names:
        assert solved(f"2*{name} - 1 = 0") == {name: "1/2"}
    for name in ("__import__", "a.b", "a(b)", "a" * 17, "\u00e9", "1a", ""):
        assert not allows(AlgebraGuide(), f"var:{name}")


def test_the_module_takes_nothing_from_sympy_but_exact_matrices():
    tree = ast.parse(Path(algebra.__file__).read_text(encoding="utf-8"))
    taken = {
        a.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and "sympy" in str(n.module) for a in n.names
    }
    assert taken == {"QQ", "DomainMatrix"}
    called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not called & {"eval", "exec", "compile", "sympify", "parse_expr", "__import__", "getattr"}


def test_a_clone_goes_its_own_way():
    guide = after("var:x", "eq:x = 1")
    copy = guide.clone()
    assert copy.key == guide.key
    copy.close(b"eq:x = 2")
    copy.close(b"var:y")
    assert allows(guide, "solve:x=1")
    assert not allows(copy, "solve:x=1")
    assert not allows(guide, "eq:y = 1")


def test_equal_offers_share_a_key():
    assert after("var:x", "eq:x = 1").key == after("var:x", "eq:2*x = 2").key
    assert after("var:x", "eq:x = 1").key != after("var:x", "eq:x = 2").key


@settings(deadline=None)
@given(st.binary(max_size=40))
def test_no_bytes_make_closing_fail(block):
    guide = after("var:x")
    for written in (block, b"var:" + block, b"eq:" + block, b"eq:x = " + block, b"solve:" + block):
        guide.close(written)
    assert all(is_equation(equation, set(guide.variables)) for equation in guide.equations)


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="xy12.0()+-*/= @", max_size=24))
def test_the_guide_allows_exactly_the_grammar(text):
    guide = after("var:x", "var:xy")
    for equation in (text, f"x = {text}", f"({text}) = 1", f"{text} = {text}"):
        assert allows(guide, f"eq:{equation}") == is_equation(equation, {"x", "xy"})


@settings(deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_the_guide_allows_is_well_formed_and_true(seed):
    rng, guide, names = random.Random(seed), AlgebraGuide(), set[str]()
    equations: list[str] = []
    for _ in range(8):
        action, _, content = walk(guide, rng).partition(":")
        match action:
            case "var":
                assert re.fullmatch(r"[A-Za-z]\w{0,15}", content, re.ASCII)
                names.add(content)
            case "eq":
                assert is_equation(content, names)
                equations.append(content)
            case "solve":
                assert content.partition("=")[0] in names
            case _:
                raise AssertionError(action)
    assert (set(guide.variables), list(guide.equations)) == (names, equations)
    found = guide.solutions
    for equation in equations:
        used = set(re.findall(r"[A-Za-z]\w*", equation))
        if used and used <= set(found):
            assert holds(equation, found)


@st.composite
def systems(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    """Draw the coefficients of up to four equations in x, y and z, and their right sides."""
    coefficient = st.integers(-3, 3)
    num = draw(st.integers(1, 4))
    rows = [draw(st.lists(coefficient, min_size=3, max_size=3)) for _ in range(num)]
    if draw(st.booleans()):
        planted = draw(st.lists(coefficient, min_size=3, max_size=3))
        return rows, [sum(a * b for a, b in zip(row, planted, strict=True)) for row in rows]
    return rows, draw(st.lists(coefficient, min_size=num, max_size=num))


@settings(deadline=None)
@given(systems())
def test_solutions_are_those_of_sympys_own_solver(system):
    rows, right = system
    general: Any = sympy.linsolve((sympy.Matrix(rows), sympy.Matrix(right)), *sympy.symbols("x y z"))
    values = next(iter(general), ())
    expected = {name: str(v) for name, v in zip("xyz", values, strict=False) if not v.free_symbols}
    texts = [
        "0"
        + "".join(f" {'-' if a < 0 else '+'} {abs(a)}*{name}" for a, name in zip(row, "xyz", strict=True))
        + f" = {b}"
        for row, b in zip(rows, right, strict=True)
    ]
    assert solved(*texts) == expected


def test_a_mask_equals_brute_force_on_random_walks(check_masks):
    rows = [Row(after("var:x", "var:xy") if seed % 2 else AlgebraGuide()) for seed in range(24)]
    check_masks(VOCABULARY, rows, lambda i: i > 95, 0.7)


def test_a_token_may_state_an_equation_and_solve_it():
    row = Row(after("var:x"))
    row.push(b"[[eq:2*x")
    assert row.accepts(b"=1]] [[solve:x=1/2]]")
    assert not row.accepts(b"=1]] [[solve:x=2]]")
    assert not row.accepts(b"=x*x]] [[solve:x")


def test_a_sampling_policy_writes_only_sound_algebra(written_under):
    num_blocks = 0
    for written in written_under(
        VOCABULARY, [AlgebraGuide() for _ in range(6)], lambda t: len(t) > 1 or t in b"xy=]", 250
    ):
        names = set[str]()
        for block in re.findall(r"\[\[(.*?)\]\]", written):
            action, _, content = block.partition(":")
            num_blocks += 1
            if action == "var":
                names.add(content)
            assert action != "eq" or is_equation(content, names)
            assert action != "solve" or content.partition("=")[0] in names
    assert num_blocks >= 30
