"""HttpSink: sends records as requests, many in one or each in its own."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.http.requests import HttpRequests, HttpSession, Statuses
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import RecordRejectedError, SinkConnectionError

#: Header by which servers recognise a request that comes again.
IDEMPOTENCY_KEY = "Idempotency-Key"
#: Records that are serialized at once.
_PIECE_RECORDS = 1000


@dataclass(frozen=True)
class HttpSink(Sink):
    """Send records, from the tasks, before each commit.

    At least once: a repeated micro-batch sends its records again. With a key of idempotency a server can recognise
    requests that come again with the same records.

    Attributes:
        requests: Address and retries of requests.
        serialize: Makes JSON texts of records.
        batch_size: Records of a request, sent as an array; 0 for any.
        batch_bytes: Size of a request, of which one record may be larger; 0 for any.
        interval_ms: Milliseconds that records wait; 0 for any.
        is_single: Whether each record is a request of its own, without an array.
        failed: The statuses that fail the job.
        has_key: Whether requests have a key of idempotency.
    """

    requests: HttpRequests
    serialize: Callable[[Sequence[Any]], list[bytes]]
    batch_size: int = 500
    batch_bytes: int = 5 << 20
    interval_ms: int = 5000
    is_single: bool = False
    failed: Statuses = Statuses("3XX,4XX,5XX")
    has_key: bool = True

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first request."""
        return _HttpWriter(self, context)


class _HttpWriter(BufferedWriter):
    def __init__(self, sink: HttpSink, context: WriterContext) -> None:
        super().__init__(sink.batch_size, sink.interval_ms)
        self._sink = sink
        self._session = HttpSession(sink.requests)
        self._task = f"{context.sink_id}/{context.batch_id}/{context.subtask_index}"
        self._most_bytes = sink.batch_bytes or float("inf")
        self._bytes = 0
        #: how often the task has sent a body: equal ones are different requests
        self._sent: Counter[bytes] = Counter()

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for start in range(0, len(values), _PIECE_RECORDS):
            super().write(values[start : start + _PIECE_RECORDS])
            if self._held and self._bytes >= self._most_bytes:
                self._flush(len(self._held))

    def prepared(self, values: list[Any]) -> list[Any]:
        texts = self._sink.serialize(values)
        self._bytes += sum(map(len, texts))
        return texts

    def flush(self, records: list[bytes]) -> None:
        if self._sink.is_single:
            for each in records:
                self._send(each, [each])
        else:
            held, size = list[bytes](), 0
            for each in records:
                if held and size + len(each) > self._most_bytes:
                    self._send(b"[" + b",".join(held) + b"]", held)
                    held, size = [], 0
                held.append(each)
                size += len(each)
            self._send(b"[" + b",".join(held) + b"]", held)
        self._bytes -= sum(map(len, records))

    def _send(self, body: bytes, records: list[bytes]) -> None:
        requests, headers = self._sink.requests, {}
        if self._sink.has_key:
            content = hashlib.sha256(body).digest()
            self._sent[content] += 1
            headers[IDEMPOTENCY_KEY] = self._key(content, self._sent[content])
        try:
            answer = self._session.send(body, None, headers)
        except ConnectionError as error:
            raise SinkConnectionError(f"no server answers at 'url' ({error}): check the address") from None
        if answer.status in self._sink.failed:
            text = f"{requests.method} {requests.shown} was answered {answer.status}: {answer.shown}"
            if answer.status in (401, 403):
                raise SinkConnectionError(f"{text}; check the credentials in 'http.sink.header.*'")
            if answer.status < 400:
                place = without_secrets(answer.headers.get("Location") or "elsewhere")
                raise SinkConnectionError(f"{text}; requests do not follow to {place}: set 'url' to that address")
            if answer.status >= 500 or answer.status == 429:
                raise SinkConnectionError(text)
            raise RecordRejectedError(text, records[0] if len(records) == 1 else records)

    def _key(self, content: bytes, number: int) -> str:
        return hashlib.sha256(f"{self._task}/{number}/".encode() + content).hexdigest()[:40]

    def close(self) -> None:
        self._session.close()
