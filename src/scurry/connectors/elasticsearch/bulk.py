"""BulkRequests: actions in bulk requests, of which each action succeeds or fails on its own."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from json.encoder import encode_basestring as quoted
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.elasticsearch.server import access_refused, unreachable
from scurry.connectors.http.client import HttpAnswer, HttpClient, HttpSettings
from scurry.connectors.sink import COUNTED, RETRIES, SEND_ERRORS
from scurry.errors import RecordRejectedError, SinkConnectionError

_logger = logging.getLogger(__name__)

#: Retries of what the server was too busy for, unless the back-off is configured; as the servers' own clients.
DEFAULT_RETRIES = 8
DEFAULT_DELAY_MS = 50
#: Retries with the failure handler `retry-rejected`.
MOST_RETRIES = 100
_LONGEST_PAUSE = 30.0
#: Statuses of actions that may succeed later: the queue of the server is full, or a shard is missing.
_BUSY = {429, 502, 503, 504}
#: The beginning of an answer in which no action has failed: its items, as many as actions, need not be read.
_ALL_DONE = re.compile(rb'\{"took":\d+,(?:"ingest_took":\d+,)?"errors":false,"items":\[')


class BackoffType(Enum):
    """Growth of the pauses before retries."""

    CONSTANT = "CONSTANT"
    EXPONENTIAL = "EXPONENTIAL"
    NONE = "NONE"


class FailureHandler(Enum):
    """Treatment of an action that the server refuses."""

    FAIL = "fail"
    IGNORE = "ignore"
    RETRY_REJECTED = "retry-rejected"


@dataclass(frozen=True)
class BulkSettings:
    """Sizes and retries of bulk requests.

    Attributes:
        max_actions: Actions in a request; 0 for any.
        max_bytes: Size of a request, of which one action may be larger; 0 for any.
        interval_ms: Milliseconds that actions wait; 0 for any.
        backoff: How pauses grow.
        retries: How often actions that the server is too busy for are sent again.
        delay_ms: The first pause in milliseconds.
        on_failure: Handling of actions that the server refuses.
    """

    max_actions: int = 1000
    max_bytes: int = 2 * 1024 * 1024
    interval_ms: int = 1000
    backoff: BackoffType = BackoffType.EXPONENTIAL
    retries: int = DEFAULT_RETRIES
    delay_ms: int = DEFAULT_DELAY_MS
    on_failure: FailureHandler = FailureHandler.FAIL

    def pauses(self) -> Iterator[float]:
        """Yield the seconds before each retry."""
        retries = 0 if self.backoff is BackoffType.NONE else self.retries
        if self.on_failure is FailureHandler.RETRY_REJECTED:
            retries = max(retries, MOST_RETRIES)
        pause = (self.delay_ms or DEFAULT_DELAY_MS) / 1000
        for _ in range(retries):
            yield min(pause, _LONGEST_PAUSE)
            if self.backoff is not BackoffType.CONSTANT:
                pause *= 2


class Action(NamedTuple):
    """An action of a bulk request.

    Attributes:
        lines: Its lines, each with its end.
        identity: Index and id of the document; None if the server chooses the id.
        versioned: Whether a newer version of the document is a success.
        record: Its record, for messages.
    """

    lines: bytes
    identity: tuple[str, str] | None
    versioned: bool
    record: Any


def action_of(
    operation: str,
    metadata: dict[str, Any],
    body: bytes | None,
    record: Any,
) -> Action:
    """Return an action.

    Args:
        operation: `index`, `update` or `delete`.
        metadata: `_index`, `_id` and the like.
        body: The document, or what an update has; None for a delete.
        record: Its record.
    """
    named = [
        f'"{name}": {quoted(value) if type(value) is str else json.dumps(value)}' for name, value in metadata.items()
    ]
    lines = f'{{"{operation}": {{{", ".join(named)}}}}}\n'.encode()
    if body is not None:
        lines += body + b"\n"
    identity = (metadata["_index"], metadata["_id"]) if "_id" in metadata else None
    return Action(lines, identity, "version" in metadata, record)


class BulkRequests:
    """Send actions; for one thread."""

    def __init__(
        self, hosts: HttpSettings, settings: BulkSettings, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        """Describe the server; the first request connects."""
        self._hosts = hosts
        self._client = HttpClient(hosts)
        self._settings = settings
        self._sleep = sleep

    def send(self, actions: Sequence[Action]) -> None:
        """Send actions, in order, until each is done or left out.

        Raises:
            RecordRejectedError: The server refuses an action, and the failure handler is `fail`.
            SinkConnectionError: The server does not answer, refuses the credentials, or stays too busy.
        """
        for request in self._requests(actions):
            self._send(request)

    def _requests(self, actions: Sequence[Action]) -> Iterator[list[Action]]:
        held, size, most = list[Action](), 0, self._settings.max_bytes
        for action in actions:
            if held and most and size + len(action.lines) > most:
                yield held
                held, size = [], 0
            held.append(action)
            size += len(action.lines)
        if held:
            yield held

    def _send(self, actions: list[Action]) -> None:
        pauses = self._settings.pauses()
        while actions:
            actions, reason = self._unfinished(actions)
            if actions:
                pause = next(pauses, None)
                if pause is None:
                    raise SinkConnectionError(
                        f"{self._hosts.shown} is too busy for {len(actions)} actions, also after all retries: "
                        f"{reason}; allow more by the options of the back-off"
                    )
                COUNTED.get()(RETRIES, 1)
                self._sleep(pause)

    def _unfinished(self, actions: list[Action]) -> tuple[list[Action], str]:
        """Send actions once; return those to send again, and why."""
        body = b"".join(action.lines for action in actions)
        try:
            answer = self._client.request("POST", "/_bulk", body, {"Content-Type": "application/x-ndjson"})
        except ConnectionError as error:
            raise unreachable(self._hosts, error, SinkConnectionError) from None
        if answer.status in _BUSY:
            return actions, f"HTTP {answer.status} {answer.shown}"
        if answer.status < 300 and _ALL_DONE.match(answer.body):
            return [], ""
        items = self._items(answer, len(actions))
        busy, reason = set[int](), ""
        for number, (action, (operation, item)) in enumerate(zip(actions, items, strict=True)):
            refusal, status = item.get("error"), item.get("status")
            is_gone = operation == "delete" and status == 404  # there is not even an index
            if refusal is None or is_gone or (action.versioned and status == 409):
                continue
            if status in _BUSY:
                busy.add(number)
                reason = _text(refusal)
            else:
                self._refused(action, item, refusal)
        return _with_later(actions, busy), reason

    def _items(self, answer: HttpAnswer, count: int) -> list[tuple[str, dict[str, Any]]]:
        if answer.status in (401, 403):
            raise access_refused(self._hosts, answer, SinkConnectionError)
        if answer.status == 413:
            raise SinkConnectionError(
                f"{answer.host} takes no request of this size (HTTP 413); lower the size or number of actions of a "
                "bulk request ('sink.bulk-flush.max-size')"
            )
        try:
            items = [next(iter(each.items())) for each in json.loads(answer.body)["items"]]
        except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
            items = []
        if answer.status >= 300 or len(items) != count:
            raise SinkConnectionError(
                f"{answer.host} does not answer as Elasticsearch or OpenSearch to a bulk request: HTTP "
                f"{answer.status} {answer.shown}"
            )
        return items

    def _refused(self, action: Action, item: dict[str, Any], error: Any) -> None:
        where = f"document {item.get('_id')!r} of index {item.get('_index')!r}"
        text = f"{where} is refused: {item.get('status')} {_text(error)}"
        if self._settings.on_failure is not FailureHandler.IGNORE:
            raise RecordRejectedError(text, action.record)
        COUNTED.get()(SEND_ERRORS, 1)
        _logger.warning("left out ('failure-handler' is 'ignore'): %s", text)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _with_later(actions: list[Action], busy: set[int]) -> list[Action]:
    """Return the actions that failed, and later ones of the same documents: those have to come after them again."""
    again, documents = list[Action](), set[tuple[str, str]]()
    for number, action in enumerate(actions):
        if number in busy or action.identity in documents:
            again.append(action)
            if action.identity is not None:
                documents.add(action.identity)
    return again


def _text(error: Any) -> str:
    if not isinstance(error, dict):
        return without_secrets(str(error))
    parts = [f"{each.get('type')}: {each.get('reason')}" for each in (error, error.get("caused_by")) if each]
    return without_secrets("; ".join(parts))
