"""A server in this process that answers as a test says, and keeps the requests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit


class Request(NamedTuple):
    """A request that came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


#: What a request is answered: a status and JSON, or a text as bytes.
Answer = tuple[int, Any]


class FakeHttp:
    """A server.

    Attributes:
        requests: The requests so far.
        answer: Decides what a request is answered.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Answer] = lambda request: (200, None)
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                content = json.loads(body) if body else None
                request = Request(self.command, parts.path, query, dict(self.headers), content)
                fake.requests.append(request)
                status, answer = fake.answer(request)
                text = answer if isinstance(answer, bytes) else b"" if answer is None else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = _answer  # noqa: N815 - names that the base class calls

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing per request."""

        self._server = _Server(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients are killed."""
