"""`certistar report --serve`: the report of a run, finished or going on, on this machine's loopback and nowhere else.

Read-only, and from a fixed set of addresses: no part of a request ever becomes a path, so there is nothing to traverse.
Requests that name another host are refused (attack: a web page whose name is rebound to 127.0.0.1 reads the run).
Pages are made anew when the run folder has changed, in memory: nothing is written there.
"""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import NamedTuple, cast

from critics.errors import InputError
from training.reporting.comparison import report_of
from training.reporting.progress import progress_of
from training.reporting.report import progress_page
from training.reporting.runs import extent_of, finished_so_far

LOOPBACK = "127.0.0.1"
WAITING_S, GOING_S = 5, 60
"""Seconds between a browser's requests: before there is a first comparison, and while a run goes on."""


class Answer(NamedTuple):
    """Answer of one address."""

    kind: str
    body: bytes
    refresh_s: int | None = None


class Pages:
    """The pages of a run folder, made when they are asked for and kept until something they show has changed."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._lock = Lock()
        self._made: tuple[object, Answer, Answer] | None = None

    def answer(self, path: str) -> Answer | None:
        """Return the answer of an address; None for any other than the three. Raises InputError for a broken run."""
        if path == "/progress.json":
            return _json(progress_of(self._run))
        if path not in ("/", "/report.json"):
            return None
        with self._lock:
            state = fingerprint(self._run)
            if self._made is None or self._made[0] != state:
                self._made = (state, *self._make())
            _, page, numbers = self._made
        if path == "/" and page.refresh_s == WAITING_S:  # nothing to compare: how far it is changes all the time
            page, _ = self._make()
        return page if path == "/" else numbers

    def _make(self) -> tuple[Answer, Answer]:
        extent, whole = finished_so_far(self._run), extent_of(self._run)
        if extent is None:
            seen = progress_of(self._run)
            return _html(progress_page(seen), WAITING_S), _json(seen)
        found, page = report_of(self._run, None if extent == whole else extent)
        return _html(page, None if extent == whole else GOING_S), _json(found)


def _html(page: str, refresh_s: int | None) -> Answer:
    return Answer("text/html; charset=utf-8", page.encode("utf-8", "replace"), refresh_s)


def _json(value: object) -> Answer:
    return Answer("application/json", json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def fingerprint(run: Path) -> object:
    """Return what changes when a report of the run would: its finished files, by time and size."""
    patterns = ("*.json", "base/**/evaluation.json", "**/round-*/evaluation.json", "**/dataset/summary.json")
    found = {path for pattern in patterns for path in run.glob(pattern)}
    return sorted((str(path), s.st_mtime_ns, s.st_size) for path in found for s in [path.stat()])


def server(run: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of a run's pages on the loopback; port 0: any that is free. Raises InputError."""
    progress_of(run)  # a folder that is no run is told before a server is up
    pages = Pages(run)

    class Handler(_Handler):
        answer = staticmethod(pages.answer)

    try:
        return ThreadingHTTPServer((LOOPBACK, port), Handler)
    except (OSError, OverflowError) as error:
        raise InputError(f"--port {port}: cannot be listened on ({error}); choose another, or 0 for any") from error


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD; every other method is refused by the library."""

    answer: Callable[[str], Answer | None]
    server_version, sys_version = "certistar", ""

    def do_GET(self) -> None:
        """Answer with a page."""
        self._reply(with_body=True)

    def do_HEAD(self) -> None:
        """Answer with a page's headers."""
        self._reply(with_body=False)

    def _reply(self, *, with_body: bool) -> None:
        _, port = cast("tuple[str, int]", self.server.server_address)
        if self.headers.get("Host") not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            self._send(HTTPStatus.FORBIDDEN, _text("this server answers to 127.0.0.1 and localhost alone"), with_body)
            return
        try:
            found = self.answer(self.path.partition("?")[0])
        except InputError as error:
            self._send(HTTPStatus.INTERNAL_SERVER_ERROR, _text(str(error)), with_body)
            return
        if found is None:
            self._send(HTTPStatus.NOT_FOUND, _text("there are /, /report.json and /progress.json"), with_body)
        else:
            self._send(HTTPStatus.OK, found, with_body)

    def _send(self, status: HTTPStatus, answer: Answer, with_body: bool) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": answer.kind,
            "Content-Length": str(len(answer.body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            **({"Refresh": str(answer.refresh_s)} if answer.refresh_s else {}),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            with suppress(BrokenPipeError):
                self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing of each request."""


def _text(message: str) -> Answer:
    return Answer("text/plain; charset=utf-8", f"{message}\n".encode())


def view(run: Path, port: int) -> None:
    """Serve a run until Ctrl-C."""
    with server(run, port) as opened:
        sys.stdout.write(f"http://{LOOPBACK}:{opened.server_address[1]}/ shows {run}; Ctrl-C ends\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            opened.serve_forever()
