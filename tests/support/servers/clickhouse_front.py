"""The HTTP interface of ClickHouse over its engine as a library: requests of statements, with or without a body.

Run with the engine on PYTHONPATH: `clickhouse_front.py PORT DIRECTORY USER PASSWORD`. What the wire carries, what the
engine checks and how it knows blocks is ClickHouse's; users, statuses and headers are made here as its server has them.
"""

from __future__ import annotations

import base64
import itertools
import os
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from chdb.session import Session

_CODE = re.compile(r"Code: (\d+)\.")
_FORMAT = re.compile(r"\s+FORMAT\s+(\w+)\s*$")


class Front(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    session: Any
    directory: str
    login = ""
    lock = threading.Lock()
    numbers = itertools.count()

    def do_GET(self) -> None:
        self._answer(200, b"Ok.\n")

    def do_POST(self) -> None:
        settings = dict(parse_qsl(urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Authorization") != self.login:
            text = "Code: 516. DB::Exception: Authentication failed: password is incorrect, or there is no user with "
            self._answer(403, f"{text}such name. (AUTHENTICATION_FAILED)\n".encode(), "516")
            return
        statement, content = settings.pop("query", ""), body
        if not statement:
            statement, content = body.decode(), b""
        settings.pop("database", None)
        try:
            answer = self._done(statement, content, settings)
        except Exception as error:
            code = _CODE.search(str(error))
            self._answer(
                404 if code and code[1] in ("60", "81") else 500, str(error).encode(), code[1] if code else "0"
            )
            return
        self._answer(200, answer)

    def _done(self, statement: str, content: bytes, settings: dict[str, str]) -> bytes:
        named = _FORMAT.search(statement)
        assert named is not None or not content
        with self.lock:
            listed = ", ".join(f"{name} = '{value}'" for name, value in settings.items())
            if content:
                assert named is not None
                file = os.path.join(self.directory, f"{next(self.numbers)}.body")
                with open(file, "wb") as stream:
                    stream.write(content)
                try:
                    insert = statement[: named.start()]
                    self.session.query(f"{insert} FROM INFILE '{file}' SETTINGS {listed} FORMAT {named[1]}")
                finally:
                    os.remove(file)
                return b""
            plain = statement if named is None else statement[: named.start()]
            found = self.session.query(f"{plain} SETTINGS {listed}" if listed else plain, named[1] if named else "CSV")
            return bytes(found.bytes() or b"")

    def _answer(self, status: int, body: bytes, code: str | None = None) -> None:
        self.send_response(status)
        if code:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        return


def main() -> None:
    """Serve until killed."""
    port, directory, user, password = sys.argv[1:]
    Front.login = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    Front.directory = directory
    Front.session = Session(os.path.join(directory, "data"))
    ThreadingHTTPServer(("127.0.0.1", int(port)), Front).serve_forever()


if __name__ == "__main__":
    main()
