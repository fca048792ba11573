"""A server on loopback that speaks OpenAI's protocol: every test that needs one starts this one."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Sent: TypeAlias = tuple[int, Mapping[str, str], bytes]
"""Status, further headers and content."""
Answering: TypeAlias = Callable[[str, dict[str, Any]], Sent]
"""What makes a reply of the path and the body of a request."""


@contextmanager
def listening(answer: Answering) -> Iterator[str]:
    """Serve replies, and yield the base URL.

    `Bearer wrong` is refused. `{key}` in what is sent is the request's own key, as of a server that repeats it.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply({})

        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def _reply(self, body: dict[str, Any]) -> None:
            key = self.headers["Authorization"] or ""
            if key == "Bearer wrong":
                status, headers, content = refusal(401, "Incorrect API key provided: wrong")
            else:
                status, headers, content = answer(self.path, body)
            content = content.replace(b"{key}", key.encode())
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value.replace("{key}", key))
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def completion(
    text: str, finish: str = "stop", *, chat: bool, usage: tuple[int, int] | None = None, **more: object
) -> dict[str, Any]:
    """Return the JSON of a reply; `more` goes into its only choice."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": finish}
    choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
    prompt, written = usage or (10, len(text) // 4 + 1)
    counted = {"prompt_tokens": prompt, "completion_tokens": written, "total_tokens": prompt + written}
    return {"id": "x", "object": "x", "created": 0, "model": "m", "choices": [choice | more], "usage": counted}


def sent(reply: object) -> Sent:
    """Return a reply that went well."""
    return 200, {}, json.dumps(reply).encode()


def refusal(status: int, message: str, **headers: str) -> Sent:
    """Return an error as servers send it."""
    return status, headers, json.dumps({"error": {"message": message}}).encode()
