"""The jail: inside no file is opened and no secret read, and nothing outlives its time or its parent."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from critics.formats.z3_python.jail import MAX_ANSWER, RAISED, UNLIMITED, JailAnswer, JailDied, Overran, run_jailed
from critics.workers.own_time import own_time

LIMIT_S = 0.6
HOSTILE = {
    "write a file": "open('loot', 'w').write('x')",
    "append to a file": "open('keep', 'a').write('x')",
    "read a file": "say(open('keep').read())",
    "list a folder": "import os\nsay(str(os.listdir('/')))",
    "read another process": "say(open('/proc/self/environ').read())",
    "open a socket": "import socket\nsocket.create_connection(('127.0.0.1', 22))",
    "listen": "import socket\ns = socket.socket()\ns.bind(('', 0))",
    "talk to a local service": "import socket\nsocket.socket(socket.AF_UNIX).connect('/run/service')",
    "write to every descriptor": "import os\nfor n in range(3, 64):\n    try:\n        os.write(n, b'')\n"
    "    except OSError:\n        pass\nos.write(1, b'x')",
    "read from a descriptor": "import os\nos.read(0, 1)",
    "import something new": (
        "import sys\nnames = ('tabnanny', 'pyclbr', 'nturl2path', 'wave', 'sched', 'colorsys')\n"
        "__import__(next(name for name in names if name not in sys.modules))"
    ),
    "make shared memory": "from multiprocessing import shared_memory\nshared_memory.SharedMemory('loot', True, 10)",
}  # fmt: skip
"""Python that no script can make the interpreter run, executed as it stands inside; all of it ends in an error."""


def hosted(code: str) -> Callable[[], bytes]:
    """Return a task that executes code with nothing between it and the jail."""

    def task() -> bytes:
        said: list[str] = []
        try:
            exec(code, {"say": said.append})
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is to be seen
            return f"failed {type(error).__name__}".encode()
        return f"done {''.join(said)}".encode()

    return task


def host(folder: Path) -> tuple[str, set[str], set[str]]:
    """Return a digest of a folder with contents and modes, this process's children, and its descriptors."""
    files = sorted(folder.rglob("*"))
    seen = [(str(p), p.lstat().st_mode, p.lstat().st_size, p.read_bytes() if p.is_file() else b"") for p in files]
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    listed = os.listdir("/proc/self/fd")  # noqa: PTH208
    links = [Path(f"/proc/self/fd/{name}") for name in listed]
    open_now = {f"{link.name} {link.readlink()}" for link in links if link.exists()}
    return hashlib.sha256(repr(seen).encode()).hexdigest(), set(children), open_now


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "keep").write_text("secret", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_nothing_that_code_inside_does_is_seen_outside(folder: Path):
    before = host(folder)
    ended = {name: run_jailed(hosted(code), limit_s=LIMIT_S) for name, code in HOSTILE.items()}
    assert host(folder) == before
    done = {name: end for name, end in ended.items() if isinstance(end, JailAnswer) and end.answer[:4] == b"done"}
    assert not done


def test_a_child_that_cannot_be_limited_does_not_begin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("critics.formats.z3_python.jail.MEMORY", None)
    assert run_jailed(lambda: b"ran", limit_s=LIMIT_S) == JailDied(UNLIMITED)


def test_no_secret_is_in_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CERTISTAR_TEST_KEY", "secret")
    task = hosted("import os\nsay(os.environ.get('CERTISTAR_TEST_KEY', 'nothing'))")
    assert run_jailed(task, limit_s=LIMIT_S) == JailAnswer(b"done nothing")


BOMBS = {
    "a loop": "while True:\n    pass",
    "a deaf loop": "import signal\nfor n in range(1, 30):\n    try:\n        signal.signal(n, signal.SIG_IGN)\n"
    "    except OSError:\n        pass\nwhile True:\n    pass",
    "sleep": "import time\ntime.sleep(600)",
    "a closed pipe": "import os\nos.closerange(0, 64)\nwhile True:\n    pass",
    "memory": "x = []\nwhile True:\n    x.append(bytearray(2**22))",
    "a large number": "10 ** 10 ** 9",
    "output": "while True:\n    say('x' * 10 ** 6)",
    "recursion": "import sys\nsys.setrecursionlimit(10 ** 9)\nf = lambda: f()\nf()",
}  # fmt: skip


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_ends_within_its_limit_and_half_a_second(name: str):
    def takes_too_long() -> bool:
        start = own_time()
        ended = run_jailed(hosted(BOMBS[name]), limit_s=LIMIT_S)
        assert not isinstance(ended, JailAnswer) or ended.answer.startswith(b"failed")
        return own_time() - start > LIMIT_S + 0.5

    # A busy machine may be late; a jail that does not kill is late every time.
    assert not all(takes_too_long() for _ in range(3))


def test_an_answer_without_end_is_cut_off():
    assert run_jailed(lambda: b"x" * (MAX_ANSWER + 2**17), limit_s=5) == Overran()


def test_a_task_that_raises_and_one_that_exits_say_nothing():
    assert run_jailed(lambda: 1 // 0, limit_s=LIMIT_S) == JailDied(RAISED)  # type: ignore[arg-type]
    assert run_jailed(lambda: os._exit(7), limit_s=LIMIT_S) == JailDied(7)
    assert isinstance(run_jailed(lambda: os.abort(), limit_s=LIMIT_S), JailDied)


def test_z3_decides_inside():
    import z3  # before the fork: nothing can be imported inside

    def decide() -> bytes:
        context = z3.Context()
        x, y, z = (z3.Int(name, context) for name in "xyz")
        solver = z3.SimpleSolver(ctx=context)
        solver.add(z3.Distinct(x, y, z), *(z3.And(v >= 1, v <= 3) for v in (x, y, z)), x < z, y == 3, x != 1)
        return str(solver.check()).encode()

    assert run_jailed(decide, limit_s=5) == JailAnswer(b"unsat")


def test_a_child_dies_with_its_parent():
    script = "def f():\n    while True: pass\nrun_jailed(f, limit_s=600)"
    code = f"from critics.formats.z3_python.jail import run_jailed\n{script}"
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[1])
    listed = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    try:
        child = ""
        while not child:
            assert parent.poll() is None
            child = listed.read_text(encoding="ascii").strip()
            time.sleep(0.01)
        while _has_descriptors(child):
            time.sleep(0.01)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    deadline = time.monotonic() + 20
    while _is_alive(child):
        assert time.monotonic() < deadline, "the child outlives its parent"
        time.sleep(0.02)


def _has_descriptors(pid: str) -> bool:
    """Say whether a child still has more than its pipe: then it is on its way into the jail."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd")) > 1  # noqa: PTH208
    except OSError:
        return True


def _is_alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
