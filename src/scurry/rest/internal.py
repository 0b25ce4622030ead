"""Ask an endpoint's application without a connection: for archives, and for streams of changes."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any


async def answer(application: Any, target: str) -> tuple[int, str, bytes]:
    """Return status, media type and body of an application's answer to a GET request.

    Args:
        application: The ASGI application, without access control.
        target: Path and query.
    """
    head: MutableMapping[str, Any] = {"status": 500, "headers": []}
    parts: list[bytes] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            head.update(message)
        else:
            parts.append(message.get("body", b""))

    path, _, query = target.partition("?")
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [],
        "server": ("localhost", 80),
        "client": None,
    }
    await application(scope, receive, send)
    kind = dict(head["headers"]).get(b"content-type", b"").decode("latin-1")
    return head["status"], kind.partition(";")[0], b"".join(parts)
