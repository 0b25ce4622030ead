"""Search: the documents of an index, in slices that are read separately, and by id or field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from scurry.common.redaction import without_secrets
from scurry.connectors.elasticsearch.server import access_refused, unreachable
from scurry.connectors.http.client import HttpAnswer, HttpClient, HttpSettings
from scurry.errors import SourceConnectionError, SourceNotFoundError

#: Time for which the server keeps a slice open between two pages.
KEEP_ALIVE = "5m"
#: Documents that a lookup by a field finds at most, which is the servers' own limit.
MOST_FOUND_ROWS = 10_000
_JSON = {"Content-Type": "application/json"}
_SCROLL = "/_search/scroll"


class Search:
    """Read documents; for one thread."""

    def __init__(self, hosts: HttpSettings, index: str, document_type: str | None = None) -> None:
        """Describe an index, an alias, or several with `,` and `*`; the first request connects.

        Args:
            hosts: Addresses of the server.
            index: The index.
            document_type: The type of documents, of Elasticsearch 6; None for none.
        """
        self._hosts = hosts
        self._client = HttpClient(hosts)
        self._index = index
        self._type = quote(document_type or "_doc", safe="")
        self._fields: dict[str, str] | None = None

    def shards(self) -> int:
        """Return the number of primary shards."""
        answer = self._ask("GET", f"/{self._path}/_search_shards")
        return max(1, len(answer.get("shards", ())))

    def pages(self, slice_number: int, slices: int, size: int, fields: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """Yield the hits of a slice, of one point in time.

        Args:
            slice_number: Number of the slice.
            slices: How many there are.
            size: Hits of a page.
            fields: The fields that are read.
        """
        body: dict[str, Any] = {"size": size, "sort": ["_doc"], "_source": list(fields) or False}
        if slices > 1:
            body["slice"] = {"id": slice_number, "max": slices}
        answer = self._found(f"/{self._path}/_search?scroll={KEEP_ALIVE}", body)
        try:
            while hits := answer["hits"]["hits"]:
                yield hits
                answer = self._found(_SCROLL, {"scroll": KEEP_ALIVE, "scroll_id": answer["_scroll_id"]})
        finally:
            self._ask("DELETE", _SCROLL, {"scroll_id": [answer["_scroll_id"]]}, may_fail=True)

    def document(self, identity: str) -> dict[str, Any] | None:
        """Return the document of an id, None without one; it need not have been refreshed."""
        answer = self._request("GET", f"/{self._path}/{self._type}/{quote(identity, safe='')}", None)
        if answer.status == 404 and _is_not_found(answer):
            return None
        found: dict[str, Any] = self._checked(answer)["_source"]
        return found

    def matching(self, fields: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the documents with some values, as of the last refresh.

        Raises:
            SourceConnectionError: As many match as a search returns at most, so that some may be missing.
        """
        terms = [{"term": {self._exact(name): value}} for name, value in fields.items()]
        body = {"size": MOST_FOUND_ROWS, "query": {"bool": {"filter": terms}}}
        hits = self._found(f"/{self._path}/_search", body)["hits"]["hits"]
        if len(hits) == MOST_FOUND_ROWS:
            raise SourceConnectionError(
                f"{MOST_FOUND_ROWS} documents or more of index '{self._index}' match a lookup by {', '.join(fields)}"
            )
        return [hit["_source"] for hit in hits]

    def _exact(self, name: str) -> str:
        """Return the field by whose whole values a field is searched: a text is analyzed, its `keyword` is not."""
        if self._fields is None:
            self._fields = {}
            for index in self._ask("GET", f"/{self._path}/_mapping").values():
                mappings = index.get("mappings", {})
                of_type = mappings if "properties" in mappings else next(iter(mappings.values()), {})  # Elasticsearch 6
                self._fields |= dict(_exact_fields(of_type.get("properties", {}) if isinstance(of_type, dict) else {}))
        return self._fields.get(name, name)

    @property
    def _path(self) -> str:
        return quote(self._index, safe=",*-_.")

    def _ask(self, method: str, path: str, body: Any = None, may_fail: bool = False) -> Any:
        answer = self._request(method, path, body)
        return None if may_fail and answer.status >= 300 else self._checked(answer)

    def _found(self, path: str, body: Any) -> Any:
        """Return the answer to a search, which servers also give with status 200 when shards are missing in it."""
        answer = self._request("POST", path, body)
        if answer.status == 404 and path == _SCROLL:
            raise SourceConnectionError(
                f"{answer.host} has ended a search of index '{self._index}', of which no page was fetched for "
                f"{KEEP_ALIVE}: fetch smaller pages ('scan.fetch-size'), or read faster"
            )
        found = self._checked(answer)
        shards = found.get("_shards", {})
        if shards.get("failed") or found.get("timed_out"):
            raise SourceConnectionError(
                f"{answer.host} answers a search of index '{self._index}' without {shards.get('failed', 0)} of "
                f"{shards.get('total')} shards: {without_secrets(str(shards.get('failures', 'it timed out')))}"
            )
        return found

    def _request(self, method: str, path: str, body: Any) -> HttpAnswer:
        content = None if body is None else json.dumps(body).encode()
        try:
            return self._client.request(method, path, content, _JSON)
        except ConnectionError as error:
            raise unreachable(self._hosts, error, SourceConnectionError) from None

    def _checked(self, answer: HttpAnswer) -> Any:
        if answer.status in (401, 403):
            raise access_refused(self._hosts, answer, SourceConnectionError)
        if answer.status == 404:
            raise SourceNotFoundError(f"{answer.host} has no index '{self._index}' ('index')")
        try:
            found = json.loads(answer.body)
        except ValueError:
            found = None
        if answer.status >= 300 or found is None:
            raise SourceConnectionError(f"{answer.host} fails a search: HTTP {answer.status} {answer.shown}")
        return found

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _is_not_found(answer: HttpAnswer) -> bool:
    """Return whether the index has no such document; otherwise there is no index."""
    try:
        return json.loads(answer.body).get("found") is False
    except (ValueError, AttributeError):
        return False


def _exact_fields(properties: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, field in properties.items():
        if field.get("type") == "text":
            exact = [other for other, its in field.get("fields", {}).items() if its.get("type") == "keyword"]
            if exact:
                yield name, f"{name}.{exact[0]}"
