"""The papers' catalogue once with a real model behind a server: what real replies break is seen here.

    CERTISTAR_SERVED=checkpoints/smollm2 python -m pytest -m slow tests/rehearsal/test_real_replies.py

Each command runs small and has to end by itself, with its files; how well the model does is not asked. The model is
served from here, or by `CERTISTAR_SERVER` (a base URL). A small model seldom ends by itself: `CERTISTAR_TOKENS` says
after how many tokens a reply is cut (64).
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rehearsal.inputs import put
from tests.rehearsal.real_server import real
from tests.rehearsal.server import listening
from tests.rehearsal.test_catalogue import ASKS, ITEMS
from tools.reproduce import Asked, reproduce

SERVED = os.environ.get("CERTISTAR_SERVED", "")
TOKENS = int(os.environ.get("CERTISTAR_TOKENS", "64"))
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not SERVED, reason="CERTISTAR_SERVED names no model")]
ASKED = [
    name for name, item in ITEMS.items() if {*shlex.split(item.command)[1:3], *(item.then or "").split()[2:4]} & {*ASKS}
]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The base URL of the model's server."""
    if (url := os.environ.get("CERTISTAR_SERVER")) is not None:
        yield url
        return
    with listening(real(SERVED)) as url:
        yield url


@pytest.mark.parametrize("name", ASKED)
def test_real_replies_end_no_command(
    name: str, server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    item = ITEMS[name]
    for file, kind in item.inputs.items():
        put(tmp_path / file, kind)
    keys = {
        "base_url": server,
        "model": SERVED,
        "kind": "chat",
        "parallel": 1,
        "timeout_s": 600,
    }
    settings = {f"model.server.{key}": value for key, value in keys.items()} | {"sampling.max_new_tokens": TOKENS}
    told = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    reproduce(item.name, Asked((), {}, (*shlex.split(item.toy), *told), dry=False, as_json=True), tmp_path)
    assert "Traceback" not in capsys.readouterr().err
