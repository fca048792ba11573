"""`certistar report --serve`: the report of a run, finished or going on, on this machine's loopback and nowhere else.

Read-only, and from a fixed set of addresses: no part of a request ever becomes a path, so there is nothing to traverse.
Requests that name another host are refused (attack: a web page whose name is rebound to 127.0.0.1 reads the run).
Pages are made anew when the run folder has changed, in memory: nothing is written there.
"""

import json
import sys
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
HTML, PLAIN = "text/html; charset=utf-8", "text/plain; charset=utf-8"
WAITING_S, GOING_S = 5, 60
"""Seconds between a browser's requests: before there is a first comparison, and while a run goes on."""


class ServedPage(NamedTuple):
    """Answer of one address."""

    kind: str
    text: str
    refresh_s: int | None = None


class Pages:
    """The pages of a run folder, made when they are asked for and kept until something they show has changed."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._lock = Lock()
        self._made: tuple[object, ServedPage, ServedPage] | None = None

    def answer(self, path: str) -> ServedPage | None:
        """Return the answer of an address; None for any other than the three. Raises InputError for a broken run."""
        if path == "/progress.json":
            return _json(progress_of(self._run))
        if path not in ("/", "/report.json"):
            return None
        with self._lock:
            state = fingerprint(self._run)
            # Where there is nothing to compare, how far the run is changes all the time.
            if self._made is None or self._made[0] != state or self._made[1].refresh_s == WAITING_S:
                self._made = (state, *self._make())
            _, page, numbers = self._made
            return page if path == "/" else numbers

    def _make(self) -> tuple[ServedPage, ServedPage]:
        extent, whole = finished_so_far(self._run), extent_of(self._run)
        if extent is None:
            seen = progress_of(self._run)
            return ServedPage(HTML, progress_page(seen), WAITING_S), _json(seen)
        found, page = report_of(self._run, None if extent == whole else extent)
        return ServedPage(HTML, page, None if extent == whole else GOING_S), _json(found)


def _json(value: object) -> ServedPage:
    return ServedPage("application/json", json.dumps(value, ensure_ascii=False))


def fingerprint(run: Path) -> object:
    """Return what changes when a report of the run would: its finished files, by time and size."""
    patterns = ("*.json", "base/**/evaluation.json", "**/round-*/evaluation.json", "**/dataset/summary.json")
    found = {path for pattern in patterns for path in run.glob(pattern)}
    return sorted((str(path), s.st_mtime_ns, s.st_size) for path in found for s in [path.stat()])


def server(run: Path, port: int) -> ThreadingHTTPServer:
    """Return a server of a run's pages on the loopback; port 0: any that is free. Raises InputError."""
    progress_of(run)  # a folder that is no run is told before a server is up
    try:
        opened = ThreadingHTTPServer((LOOPBACK, port), type("Handler", (_Handler,), {"pages": Pages(run)}))
    except (OSError, OverflowError) as error:
        raise InputError(f"--port {port}: cannot be listened on ({error}); choose another, or 0 for any") from error
    return opened


class _Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD; every other method is refused by the library."""

    pages: Pages
    server_version, sys_version = "certistar", ""

    def do_GET(self) -> None:
        """Answer with a page; to HEAD with its headers alone."""
        _, port = cast("tuple[str, int]", self.server.server_address)
        found, status = None, HTTPStatus.OK
        if self.headers.get("Host") not in (f"{LOOPBACK}:{port}", f"localhost:{port}"):
            said, status = "this server answers to 127.0.0.1 and localhost alone", HTTPStatus.FORBIDDEN
        else:
            said = "there are /, /report.json and /progress.json"
            try:
                found = self.pages.answer(self.path.partition("?")[0])
            except InputError as error:
                said, status = str(error), HTTPStatus.INTERNAL_SERVER_ERROR
        if found is None:
            found, status = ServedPage(PLAIN, f"{said}\n"), HTTPStatus.NOT_FOUND if status == HTTPStatus.OK else status
        body = found.text.encode("utf-8", "replace")
        self.send_response(status)
        headers = {
            "Content-Type": found.kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            **({"Refresh": str(found.refresh_s)} if found.refresh_s else {}),
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            with suppress(BrokenPipeError):
                self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  (the library's name)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing of each request."""


def view(run: Path, port: int) -> None:
    """Serve a run until Ctrl-C."""
    with server(run, port) as opened:
        sys.stdout.write(f"http://{LOOPBACK}:{opened.server_address[1]}/ shows {run}; Ctrl-C ends\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            opened.serve_forever()
