"""The interpreter: what it refuses, what it bounds, and that it computes as Python does."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
import z3  # noqa: F401 - before any fork, as the critic does

from critics.formats.z3_python.exploration import explore
from critics.formats.z3_python.jail import JailAnswer, run_jailed
from critics.formats.z3_python.report import wording
from critics.workers.own_time import own_time

USUAL = "from z3 import *\np, q = Bools('p q')\ns = Solver()\ns.add(Or(p, q))\n"
ATTACKS = {
    "import a module": "import os",
    "import part of one": "from os import path",
    "import under another name": "import subprocess as z3",
    "import relatively": "from . import z3",
    "import what z3 leaks": "from z3 import os",
    "import a submodule": "import z3.z3util",
    "rename z3's unsat": "from z3 import unsat as sat",
    "use what z3 leaks": "from z3 import *\nprint(os.getcwd())",
    "reach through the module": "import z3\nz3.os.system('id')",
    "call the raw interface": "from z3 import *\nZ3_open_log('log')",
    "get the context": "from z3 import *\nmain_ctx().ref()",
    "__import__": "__import__('os').system('id')",
    "open": "open('loot', 'w')",
    "exec": "exec('import os')",
    "eval": "eval('1')",
    "compile": "compile('1', '', 'eval')",
    "getattr": "getattr(1, 'real')",
    "setattr": "setattr(1, 'real', 2)",
    "type": "type(1)",
    "vars": "print(vars())",
    "globals": "globals()['x'] = 1",
    "input": "input()",
    "breakpoint": "breakpoint()",
    "dir": "dir()",
    "a class's bases": "print(().__class__.__base__)",
    "a function's globals": "def f(): pass\nf.__globals__",
    "a method's own object": "[].append.__self__",
    "z3's own reference": "from z3 import *\nInt('x').ctx",
    "a solver's ctypes": "from z3 import *\nSolver().solver",
    "an attribute in an f-string": "x = 1\nprint(f'{x.__class__}')",
    "a lookup in a format": "'{0.__class__}'.format(1)",
    "a lookup in a format map": "'{x.__class__}'.format_map({'x': 1})",
    "a format with a width": "print(f'{1:999999999}')",
    "a percent format": "'%999999999d' % 1",
    "a class": "class A:\n    pass",
    "a decorator": "@print\ndef f():\n    pass",
    "a handler": "try:\n    1 / 0\nexcept:\n    pass",
    "a context": "with open('x') as f:\n    pass",
    "a walrus": "print((x := 1))",
    "a generator": "def f():\n    yield 1\nf()",
    "a coroutine": "async def f():\n    pass",
    "a deletion": "x = 1\ndel x",
    "a global": "def f():\n    global x\nf()",
    "a match": "match 1:\n    case _:\n        pass",
    "a raise": "raise KeyError",
    "bytes": "print(b'x')",
    "a set": "{1, 2}",
    "an ellipsis": "...",
    "patch the solver": "from z3 import *\nSolver.check = 1",
    "patch one solver": USUAL + "s.check = 1",
    "patch an item": USUAL + "p[0] = 1",
    "rename sat": "from z3 import *\nsat = unsat",
    "rename And in a loop": "from z3 import *\nfor And in [Or]:\n    pass",
    "rename Not": "from z3 import *\ndef Not(x):\n    return x",
    "rename in a tuple": "from z3 import *\nsat, unsat = unsat, sat",
    "rename z3": "import z3\nz3 = 1",
    "rename in a comprehension": "from z3 import *\n[1 for unsat in [sat]]",
    "SMT-LIB text": USUAL + "s.from_string('(echo \"x\")')",
    "SMT-LIB from a file": USUAL + "s.from_file('keep')",
    "parse SMT-LIB": "from z3 import *\nparse_smt2_string('(exit)')",
    "a tactic": "from z3 import *\nTactic('smt')",
    "an optimiser": "from z3 import *\nOptimize()",
    "a fixed point": "from z3 import *\nFixedpoint()",
    "a propagator": "from z3 import *\nUserPropagateBase(Solver())",
    "a large bit vector": "from z3 import *\nBitVec('x', 2 ** 20)",
    "and by Python": USUAL + "s.add(p and q)",
    "in by Python": USUAL + "s.add(BoolVal(p in [p]))",
    "a Python truth": USUAL + "s.add(1 < 2)",
    "a chain of symbols": "from z3 import *\nx = Int('x')\nSolver().add(0 < x < 5)",
    "an if on a symbol": USUAL + "if p == q:\n    print('A')",
    "half of Python": "print('A'",
    "a null byte": "print(1)\x00",
    "a wide import": "ｉｍｐｏｒｔ os",
    "half a surrogate": "print('\ud800')",
    "a coding line": "# -*- coding: utf-7 -*-\n+AG8AcwA-",
}  # fmt: skip
BOMBS = {
    "a loop": "while True:\n    pass",
    "a long range": "for i in range(10 ** 12):\n    pass",
    "ranges in ranges": "for i in range(9999):\n    for j in range(9999):\n        pass",
    "a power": "9 ** 9 ** 9",
    "squares": "x = 3\nfor i in range(40):\n    x = x * x",
    "a long text": "'a' * 10 ** 10",
    "a doubling text": "x = 'ab'\nwhile True:\n    x = x + x",
    "a doubling list": "x = [1]\nwhile True:\n    x = x + x",
    "a growing list": "x = []\nwhile True:\n    x.append(x)",
    "a growing join": "x = ['ab'] * 200\nwhile True:\n    x = [','.join(x)] * 200",
    "a growing replacement": "x = 'aa'\nwhile True:\n    x = x.replace('a', 'aa')",
    "output": "while True:\n    print('A' * 1000)",
    "recursion": "def f():\n    f()\nf()",
    "nested brackets": "print(" + "(" * 5_000 + ")" * 5_001,
    "nested signs": "print(" + "-" * 15_000 + "1)",
    "nested nots": "print(" + "not " * 3_000 + "1)",
    "nested lists": "x = [" * 2_000 + "]" * 2_000,
    "a long sum": "print(" + "+".join(["1"] * 5_000) + ")",
    "many symbols": "from z3 import *\nfor i in range(10 ** 4):\n    Bool(str(i))",
    "a vector": "from z3 import *\nBoolVector('b', 10 ** 9)",
    "many members": "from z3 import *\nEnumSort('S', [str(i) for i in range(10 ** 4)])",
    "many checks": USUAL + "while True:\n    s.check()",
    "many formulas": USUAL + "for i in range(10 ** 4):\n    s.add(p)",
    "a deep formula": USUAL + "for i in range(5000):\n    p = Not(p)\ns.add(p)\ns.check()",
    "a doubling formula": USUAL + "for i in range(60):\n    p = And(p, Or(p, q))\ns.add(p)\ns.check()",
    "combinations": "from z3 import *\ncombinations(range(100), 50)",
    "cubes": """from z3 import *
x, y, z = Ints('x y z')
s = Solver()
s.set('timeout', 0)
set_param('rlimit', 0)
s.add(x > 1, y > 1, z > 1, x * x * x + y * y * y == z * z * z)
print(s.check())""",
    "pigeons": """from z3 import *
h = [[Bool(f'p{i}h{j}') for j in range(10)] for i in range(11)]
s = Solver()
for row in h:
    s.add(Or(row))
for j in range(10):
    for i in range(11):
        for k in range(i):
            s.add(Or(Not(h[i][j]), Not(h[k][j])))
print(s.check())""",
}  # fmt: skip
COMPUTED = {
    "x = [i * i for i in range(6) if i % 2]\nprint(x, sum(x), max(x), len(x))": "[1, 9, 25] 35 25 3",
    "def f(n, m=2):\n    if n == 0:\n        return m\n    return f(n - 1, m=m + 1)\nprint(f(3))": "5",
    "d = {'a': 1}\nd['b'] = 2\nfor k, v in d.items():\n    print(k, v, sep='=')": "a=1\nb=2",
    "print(f'{1 + 1} {\"x\"!r} {[1, 2]}', 'a,b'.split(','))": "2 'x' [1, 2] ['a', 'b']",
    "i = 0\nwhile True:\n    i += 1\n    if i == 2: continue\n    if i > 3: break\n    print(i)": "1\n3",
    "a, (b, c) = 1, (2, 3)\nprint(a + b * c, a if b > c else c, 1 < b < c, -a, not a)": "7 3 True -1 False",
    "print(sorted(['bb', 'a'], key=lambda t: len(t)), list(zip([1, 2], 'ab')), any([0, 1]))": "['a', 'bb'] "
    "[(1, 'a'), (2, 'b')] True",
    "x = [3, 1, 2]\nprint(x[0], x[-1], x[1:], [*x, 4], {k: k + 1 for k in x}[1])": "3 2 [1, 2] [3, 1, 2, 4] 2",
    "def f():\n    y = 1\n    def g(): return y + 1\n    return g()\nprint(f())\nexit()\nprint(0)": "2",
    "if __name__ == '__main__':\n    print(7 // 2, 7 % 2, 7 / 2, 2 ** 5, abs(-1), str(5) + 'x')": "3 1 3.5 32 1 5x",
}  # fmt: skip


def explored(code: str) -> dict[str, Any]:
    """Explore a script in a child."""
    ended = run_jailed(lambda: explore(code, options=False), limit_s=20)
    assert isinstance(ended, JailAnswer), ended
    return json.loads(ended.answer)


def failure(report: dict[str, Any]) -> tuple[bool, str]:
    """Return whether a budget ran out, and the reason."""
    if "unread" in report:
        return False, report["unread"][0]
    error = report["runs"]["base"]["error"]
    return (False, "nothing") if error is None else (error[0], error[1])


def state(folder: Path) -> tuple[str, list[str], list[str]]:
    files = [(path.name, path.read_bytes()) for path in sorted(folder.iterdir())]
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    listed = sorted(os.listdir("/proc/self/fd")) if children.exists() else []  # noqa: PTH208
    running = children.read_text(encoding="ascii").split() if children.exists() else []
    return hashlib.sha256(repr(files).encode()).hexdigest(), running, listed


def test_there_are_enough_attacks():
    assert len(ATTACKS) + len(BOMBS) >= 60


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_refused_and_leaves_nothing_behind(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "keep").write_text("secret", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = state(tmp_path)
    is_budget, reason = failure(explored(ATTACKS[name]))
    assert not is_budget
    assert reason != "nothing"
    assert state(tmp_path) == before


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_found_by_the_budgets_of_the_interpreter(name: str):
    start = own_time()
    report = explored(BOMBS[name])
    is_budget, reason = failure(report)
    results = [result for _, result in report["runs"]["base"]["checks"]] if "runs" in report else []
    assert is_budget or "unknown" in results or reason in ("too_deep", "too_long", "syntax"), reason
    assert own_time() - start < 15


@pytest.mark.parametrize("code", COMPUTED)
def test_a_script_computes_as_in_python(code: str):
    report = explored(code)
    assert failure(report) == (False, "nothing")
    assert report["runs"]["base"]["printed"] == COMPUTED[code] + "\n"


def test_an_error_names_its_line_and_what_is_wrong():
    report = explored("from z3 import *\nx = 1\nif x:\n    y = Bol('y')\n")
    assert report["runs"]["base"]["error"][2] == "line 4: name 'Bol' is not defined, or not one that a script may use"
    assert explored("x = (\n")["unread"][1].startswith("line 1: '(' was never closed")


def test_formulas_leave_with_numbers_for_names_whatever_the_script_calls_them():
    report = explored("from z3 import *\ns = Solver()\ns.add(Bool('x) (exit) (assert'), Bool('|'))\ns.check()")
    assert report["formulas"] == ["c0", "c1"]
    assert report["declarations"] == ["(declare-fun c0 () Bool)", "(declare-fun c1 () Bool)"]
    assert report["names"] == {"c0": "x) (exit) (assert", "c1": "|"}


def test_every_kind_of_formula_that_models_write_is_logged():
    code = """
from z3 import *
Colour, (red, blue, green) = EnumSort('Colour', ['red', 'blue', 'green'])
Size = Datatype('Size'); Size.declare('big'); Size.declare('small'); Size = Size.create()
U = DeclareSort('U')
f = Function('f', U, IntSort()); g = Function('g', U, Colour, BoolSort())
a, b = Consts('a b', U); x, y = Consts('x y', U); c = Const('c', Colour); d = Const('d', Size)
i, j = Ints('i j'); r = Real('r'); v = IntVector('v', 2)
s = Solver()
s.add(ForAll([x], Implies(g(x, red), Exists([y], And(f(y) > f(x), x != y)))), Xor(g(a, c), c == blue))
s.add(Sum([If(g(n, red), 1, 0) for n in [a, b]]) == 1, AtMost(g(a, red), g(b, red), 1), PbEq([(g(a, blue), 2)], 2))
s.add(Abs(i - j) >= 2, i % 3 == 1, i / 2 <= -j, r * 2 > 1.5, ToReal(i) < r, Distinct(v + [i]), d == Size.big)
s.add(Not(g(b, c)) == g(a, c), BoolVal(True), v[0] + IntVal(3) != 4, ~g(a, red) | g(b, red))
print(s.check())
"""
    report = explored(code)
    assert failure(report) == (False, "nothing")
    (base,) = [run for label, run in report["runs"].items() if label == "base"]
    assert len(base["checks"][0][0]) == 16
    assert base["checks"][0][1] == "sat"


@pytest.mark.parametrize(
    ("options", "printed", "answer"),
    [
        (None, "A) True", "true"),
        (None, "(C) Unknown.", "unknown"),
        (("A", "B"), "B) False", "B"),
        (None, "A) False", None),
        (("A", "B"), "B) True", None),
        (("A) True", "B) False"), "A) True", "A"),
    ],
)
def test_a_letter_and_its_word_are_one_answer_where_both_say_the_same(options, printed, answer):
    assert wording(options).answers(printed) == ({answer} if answer else set())
