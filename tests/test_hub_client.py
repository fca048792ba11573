"""The real client of the Hub against a small server of our own, which keeps repositories in memory."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from critics.errors import RunFailed
from training.exchange.hub import Repository

SHA = "0123456789abcdef0123456789abcdef01234567"


class FakeHub(BaseHTTPRequestHandler):
    """Creates repositories, takes commits of plain files, and gives the files back."""

    repositories: dict[str, dict[str, bytes]]
    asked: list[tuple[str, str, str | None]]

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked.append((self.path, body.decode(errors="replace"), self.headers.get("Authorization")))
        if self.path == "/api/repos/create":
            asked = json.loads(body)
            name = f"{asked.get('organization') or 'me'}/{asked['name']}"
            self.repositories.setdefault(f"{asked.get('type', 'model')}s/{name}", {})
            kind = "datasets/" if asked.get("type") == "dataset" else ""
            self.reply({"url": f"http://{self.headers['Host']}/{kind}{name}", "name": name})
        elif found := re.fullmatch(r"/api/(.+)/preupload/main", self.path):
            paths = [file["path"] for file in json.loads(body)["files"]]
            self.reply({"files": [{"path": p, "uploadMode": "regular", "shouldIgnore": False} for p in paths]})
        elif found := re.fullmatch(r"/api/(.+)/commit/main", self.path):
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    content = base64.b64decode(line["value"]["content"])
                    self.repositories[found[1]][line["value"]["path"]] = content
            address = f"http://{self.headers['Host']}/{found[1].removeprefix('models/')}/commit/{SHA}"
            self.reply({"commitUrl": address, "commitOid": SHA, "pullRequestUrl": None})
        else:
            self.reply({})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if found := re.fullmatch(r"/api/(models|datasets)/([\w-]+/[\w-]+)(/.*)?", path):
            files = self.repositories.get(f"{found[1]}/{found[2]}")
            if files is None:
                self.reply({"error": "Repository not found"}, 404, {"X-Error-Code": "RepoNotFound"})
            elif (found[3] or "").startswith("/tree/"):
                self.reply([self.entry(name, content) for name, content in files.items()])
            else:
                siblings = [{"rfilename": name} for name in files]
                self.reply({"id": found[2], "sha": SHA, "private": False, "tags": [], "siblings": siblings})
        elif found := re.fullmatch(r"/(datasets/)?([\w-]+/[\w-]+)/resolve/\w+/(.+)", path):
            content = self.repositories[f"{'datasets' if found[1] else 'models'}/{found[2]}"][found[3]]
            etag = f'"{hashlib.sha1(content).hexdigest()}"'
            self.reply(content, headers={"ETag": etag, "X-Repo-Commit": SHA})
        else:
            self.reply({}, 404)

    do_HEAD = do_GET  # noqa: N815

    def entry(self, name: str, content: bytes) -> dict[str, Any]:
        return {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}

    def reply(self, content: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        kind = "application/octet-stream" if isinstance(content, bytes) else "application/json"
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[FakeHub]]:
    from huggingface_hub import constants

    class Hub(FakeHub):
        repositories: dict[str, dict[str, bytes]] = {}  # noqa: RUF012
        asked: list[tuple[str, str, str | None]] = []  # noqa: RUF012

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN", "hf_of_this_test")
    yield Hub
    server.shutdown()


@pytest.fixture
def parcel(tmp_path: Path) -> Path:
    folder = tmp_path / "parcel"
    folder.mkdir()
    for name in ("README.md", "manifest.json", "adapter_model.safetensors"):
        (folder / name).write_bytes(f"content of {name}".encode())
    return folder


@pytest.mark.parametrize(("part", "kind"), [("adapter", "models"), ("dataset", "datasets")])
def test_a_parcel_goes_to_the_hub_and_comes_back(
    part: Any, kind: str, hub: type[FakeHub], parcel: Path, tmp_path: Path
) -> None:
    place = Repository("me/small")
    if part == "dataset":
        for path in parcel.iterdir():
            path.unlink()
        for name in ("examples.jsonl", "certificates.jsonl", "lineage.jsonl"):
            (parcel / name).write_bytes(f"content of {name}".encode())
    assert place.send(parcel, part, private=True)
    assert set(hub.repositories) == {f"{kind}/me/small"}
    created = json.loads(next(body for path, body, _ in hub.asked if path == "/api/repos/create"))
    assert created["name"] == "small"
    assert created.get("visibility") == "private" or created.get("private") is True
    assert {token for _, _, token in hub.asked} == {"Bearer hf_of_this_test"}

    hub.repositories[f"{kind}/me/small"]["adapter_model.bin"] = b"pickled"
    hub.repositories[f"{kind}/me/small"]["evil.py"] = b"print('hello')"
    assert place.fetch(part, tmp_path / "out")
    got = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert got == {path.name: path.read_bytes() for path in parcel.iterdir()}


def test_a_repository_that_is_not_there_is_no_error_of_the_network(hub: type[FakeHub], tmp_path: Path) -> None:
    assert Repository("me/gone").fetch("adapter", tmp_path / "out") is False


def test_a_hub_that_does_not_answer_is_one_line_and_the_token_is_not_in_it(
    hub: type[FakeHub], parcel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(RunFailed, match=r"me/small: the Hub did not do it .*file:///folder") as found:
        Repository("me/small").send(parcel, "adapter", private=False)
    assert "hf_of_this_test" not in str(found.value)
