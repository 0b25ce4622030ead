"""A server with the part of Elasticsearch's REST API that scurry uses, in this process, which fails on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

#: What a test lets an action end in: its status and the type of its error, None for what really comes of it.
Fault = Callable[[str, dict[str, Any]], tuple[int, str] | None]


class FakeElasticsearch:
    """Documents by index and id.

    Attributes:
        documents: The documents and their versions.
        requests: The bulk requests so far: the operation and target of each action.
        paths: The paths that were asked for.
        fault: Decides what becomes of an action.
        answers: Statuses with which the next requests fail as a whole.
        delay: Seconds before each answer.
        password: The password of user `ann`; None for no users.
        mapping: The mapping of fields.
        failed_shards: How many shards do not take part in a search.
        document_type: The type of documents.
    """

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, tuple[Any, int]]] = {}
        self.requests: list[list[tuple[str, dict[str, Any]]]] = []
        self.paths: list[str] = []
        self.fault: Fault = lambda operation, target: None
        self.answers: list[int] = []
        self.delay = 0.0
        self.password: str | None = None
        self.mapping: dict[str, Any] = {}
        self.failed_shards = 0
        self.document_type = "_doc"
        self._scrolls: dict[str, Iterator[list[dict[str, Any]]]] = {}
        self._numbers = iter(range(1 << 30))
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def contents(self, index: str) -> dict[str, Any]:
        """Return the documents of an index by id."""
        return {identity: found for identity, (found, _) in self.documents.get(index, {}).items()}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, content = fake.respond(self.command, self.path, body, self.headers.get("Authorization"))
                text = json.dumps(content, separators=(",", ":")).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_DELETE = do_PUT = _answer  # noqa: N815 - names that the base class calls

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing per request."""

        return Handler

    def respond(self, method: str, path: str, body: bytes, authorization: str | None) -> tuple[int, Any]:
        time.sleep(self.delay)
        parts = urlsplit(path)
        with self._lock:
            self.paths.append(path)
            if self.answers:
                return self.answers.pop(0), {"error": "not now"}
            if self.password is not None and authorization != _basic(self.password):
                return 401, {"error": {"type": "security_exception", "reason": "who are you?"}}
            steps = [unquote(step) for step in parts.path.strip("/").split("/")]
            if steps[-1] == "_bulk":
                return 200, self._bulk(body)
            return self._asked(method, steps, json.loads(body or b"{}"), parse_qs(parts.query))

    def _asked(self, method: str, steps: list[str], body: Any, query: dict[str, list[str]]) -> tuple[int, Any]:
        if steps == ["_search", "scroll"]:
            if method == "DELETE":
                return 200, {"num_freed": len([self._scrolls.pop(each, None) for each in body["scroll_id"]])}
            if body["scroll_id"] not in self._scrolls:
                return 404, {"error": {"type": "search_phase_execution_exception", "reason": "no context"}}
            return 200, self._page(body["scroll_id"])
        index = steps[0]
        if index not in self.documents and index != "*":
            return 404, {"error": {"type": "index_not_found_exception", "reason": f"no such index [{index}]"}}
        if steps[1] == "_search_shards":
            return 200, {"shards": [[{}], [{}]]}
        if steps[1] == "_mapping":
            return 200, {index: {"mappings": {"properties": self.mapping}}}
        if steps[1] in {"_doc", self.document_type}:
            if steps[1] != self.document_type:
                return 404, {"found": False}
            found = self.documents[index].get(steps[2])
            return (404, {"found": False}) if found is None else (200, {"found": True, "_source": found[0]})
        return 200, self._search(index, body, "scroll" in query)

    def _search(self, index: str, body: Any, scrolls: bool) -> Any:
        hits = [
            {"_index": index, "_id": identity, "_source": _projected(found, body.get("_source"))}
            for number, (identity, (found, _)) in enumerate(self.documents[index].items())
            if "slice" not in body or number % body["slice"]["max"] == body["slice"]["id"]
        ]
        for term in body.get("query", {}).get("bool", {}).get("filter", ()):
            ((field, value),) = term["term"].items()
            hits = [hit for hit in hits if hit["_source"].get(field.removesuffix(".keyword")) == value]
        if not scrolls:
            return {"_shards": self._shards(), "hits": {"hits": hits[: body["size"]]}}
        scroll, size = f"scroll-{next(self._numbers)}", body["size"]
        self._scrolls[scroll] = iter([hits[at : at + size] for at in range(0, len(hits), size)])
        return self._page(scroll)

    def _page(self, scroll: str) -> Any:
        hits = next(self._scrolls[scroll], [])
        return {"_scroll_id": scroll, "_shards": self._shards(), "hits": {"hits": hits}}

    def _shards(self) -> Any:
        failures = [{"reason": {"type": "node_disconnected"}}] * self.failed_shards
        return {"total": 2, "failed": self.failed_shards, "failures": failures}

    def end_scrolls(self) -> None:
        """Forget the scrolls, as after a time without a request."""
        self._scrolls.clear()

    @property
    def open_scrolls(self) -> int:
        """How many scrolls nobody has ended."""
        return len(self._scrolls)

    def _bulk(self, body: bytes) -> Any:
        lines, items, done = iter(body.splitlines()), [], list[tuple[str, dict[str, Any]]]()
        for line in lines:
            ((operation, target),) = json.loads(line).items()
            document = None if operation == "delete" else json.loads(next(lines))
            done.append((operation, target))
            status, error = self._acted(operation, target, document)
            item = {"_index": target["_index"], "_id": target.get("_id"), "status": status}
            if error is not None:
                item["error"] = {"type": error, "reason": f"{error} of {target.get('_id')}"}
            items.append({operation: item})
        self.requests.append(done)
        return {"took": 1, "errors": any("error" in next(iter(each.values())) for each in items), "items": items}

    def _acted(self, operation: str, target: dict[str, Any], document: Any) -> tuple[int, str | None]:
        if (fault := self.fault(operation, target)) is not None:
            return fault
        if operation == "delete" and target["_index"] not in self.documents:
            return 404, "index_not_found_exception"
        index = self.documents.setdefault(target["_index"], {})
        identity = target.get("_id") or f"auto-{next(self._numbers)}"
        known, version = index.get(identity, (None, 0))
        wanted = target.get("version", version + 1)
        if wanted < version:
            return 409, "version_conflict_engine_exception"
        if operation == "delete":
            return (200 if index.pop(identity, None) else 404), None
        if operation == "update":
            document = {**known, **document["doc"]} if known is not None else document["doc"]
        index[identity] = (document, wanted)
        return (201 if known is None else 200), None


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients are killed."""


def _projected(document: Any, fields: Any) -> Any:
    if fields is None:
        return document
    return {name: document[name] for name in fields or () if name in document}


def _basic(password: str) -> str:
    from base64 import b64encode

    return f"Basic {b64encode(f'ann:{password}'.encode()).decode()}"
