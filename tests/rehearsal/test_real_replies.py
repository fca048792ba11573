"""The papers' catalogue once with a real model behind a server: what real replies break is seen here.

    transformers serve checkpoints/smollm2 --device cpu --port 8001
    export CERTISTAR_SERVER=http://127.0.0.1:8001/v1 CERTISTAR_SERVED=checkpoints/smollm2
    python -m pytest -m slow tests/rehearsal/test_real_replies.py

Each command runs small and has to end by itself, with its files; how well the model does is not asked. A small model
seldom ends by itself: `CERTISTAR_TOKENS` says after how many tokens a reply is cut (300).
"""

import os
import shlex
from pathlib import Path

import pytest

from tests.rehearsal.inputs import put
from tests.rehearsal.test_catalogue import ASKS, ITEMS
from tools.reproduce import Asked, reproduce

SERVER = os.environ.get("CERTISTAR_SERVER")
TOKENS = int(os.environ.get("CERTISTAR_TOKENS", "300"))
pytestmark = [pytest.mark.slow, pytest.mark.skipif(SERVER is None, reason="CERTISTAR_SERVER names no server")]
ASKED = [
    name for name, item in ITEMS.items() if {*shlex.split(item.command)[1:3], *(item.then or "").split()[2:4]} & {*ASKS}
]


@pytest.mark.parametrize("name", ASKED)
def test_real_replies_end_no_command(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    item = ITEMS[name]
    for file, kind in item.inputs.items():
        put(tmp_path / file, kind)
    keys = {
        "base_url": SERVER,
        "model": os.environ["CERTISTAR_SERVED"],
        "kind": "chat",
        "parallel": 1,
        "timeout_s": 600,
    }
    settings = {f"model.server.{key}": value for key, value in keys.items()} | {"sampling.max_new_tokens": TOKENS}
    told = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    reproduce(item.name, Asked((), {}, (*shlex.split(item.toy), *told), dry=False, as_json=True), tmp_path)
    assert "Traceback" not in capsys.readouterr().err
