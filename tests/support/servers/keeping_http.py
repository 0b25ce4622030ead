"""An HTTP server that keeps the requests it has answered, with their keys of idempotency, over `kill`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.servers.process import ServerProcess


class KeepingServer(ServerProcess):
    """The server; POST takes an array of rows."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/rows"

    def command(self) -> Sequence[str | Path]:
        return [sys.executable, __file__, str(self.port), self.directory / "requests"]

    def requests(self) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return the key and the rows of each request, in their order."""
        path = self.directory / "requests"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(key, rows) for key, rows in map(json.loads, lines)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    file = -1

    def do_POST(self) -> None:  # noqa: N802 - a name that the base class calls
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        line = json.dumps([self.headers["Idempotency-Key"], rows]) + "\n"
        os.write(self.file, line.encode())  # one call: a kill leaves the whole line or nothing
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing per request."""


if __name__ == "__main__":
    _Handler.file = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()
