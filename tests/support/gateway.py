"""A gateway that serves on loopback, in threads of the test, and a client of it."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scurry.rest.endpoint import listen
from scurry.rest.guard import Guard
from scurry.rest.server import EndpointServer
from scurry.rest.settings import RestSettings
from scurry.sql.gateway.app import application
from scurry.sql.gateway.sessions import Sessions

__all__ = ["BATCH", "TOKEN", "Gateway", "serving"]

TOKEN = "a-token-of-sixteen-characters"
BATCH = {"execution.runtime-mode": "batch"}


@dataclass
class Gateway:
    """A gateway that serves on loopback, and a client of it."""

    url: str
    sessions: Sessions
    token: str | None = TOKEN

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        sent = {"Content-Type": "application/json", **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {**sent, **(headers or {})}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def open(self, properties: dict[str, str] | None = None) -> str:
        status, answer = self.ask("POST", "/v2/sessions", {"properties": properties or {}})
        assert status == 200, answer
        return f"/v2/sessions/{answer['sessionHandle']}"

    def start(self, session: str, statement: str, **more: Any) -> str:
        status, answer = self.ask("POST", f"{session}/statements", {"statement": statement, **more})
        assert status == 200, answer
        return f"{session}/operations/{answer['operationHandle']}"

    def pages(self, operation: str, row_format: str = "JSON") -> Iterator[dict[str, Any]]:
        following: str | None = f"{operation}/result/0?rowFormat={row_format}"
        end = time.monotonic() + 120
        while following is not None:
            assert time.monotonic() < end, "the result has no end"
            status, page = self.ask("GET", following)
            assert status == 200, page
            following = page.get("nextResultUri")
            yield page

    def rows(self, session: str, statement: str, row_format: str = "JSON") -> list[list[Any]]:
        pages = self.pages(self.start(session, statement), row_format)
        return [row["fields"] for page in pages if "results" in page for row in page["results"]["data"]]

    def failure(self, session: str, statement: str) -> str:
        """Return why a statement fails, at once or after the first rows."""
        following: str | None = f"{self.start(session, statement)}/result/0?rowFormat=JSON"
        end = time.monotonic() + 120
        while following is not None:
            assert time.monotonic() < end, "it does not fail"
            status, answer = self.ask("GET", following)
            if status == 500:
                return str(answer["errors"][1])
            assert status == 200, answer
            following = answer.get("nextResultUri")
        raise AssertionError("it does not fail")


class serving:
    def __init__(self, sessions: Sessions, token: str | None) -> None:
        self._sessions, self._token = sessions, token

    def __enter__(self) -> Gateway:
        listener = listen(RestSettings("127.0.0.1", (0,), "127.0.0.1", self._token or ""))
        guard = Guard(application(self._sessions), self._token, True, "127.0.0.1")
        self._server = EndpointServer(guard)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        return Gateway(f"http://127.0.0.1:{listener.getsockname()[1]}", self._sessions, self._token)

    def __exit__(self, *raised: object) -> None:
        self._server.should_exit = True
        self._thread.join(120)
        self._sessions.close_all()
