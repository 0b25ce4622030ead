"""SocketSource: reads lines of text from a TCP server."""

from __future__ import annotations

import codecs
import socket
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from scurry.common.typeinfo import TypeInformation, Types
from scurry.connectors.source import (
    MEASURED,
    Assignment,
    Backlog,
    BatchLimits,
    Chunk,
    ChunkSizer,
    Enumerator,
    Source,
    sliced,
)
from scurry.errors import RecordTooLargeError, SourceConnectionError

CONNECT_SECONDS = 10.0
"""How long a server may take to answer."""

_RECEIVED_BYTES = 1 << 16

#: Maximum records that wait to be assigned; the server has to wait while there are more.
MOST_WAITING = 100_000


class SocketSource(Source):
    """Read UTF-8 text from a server, split at a delimiter: Flink's `socketTextStream`.

    For experiments: the driver opens a single connection when the job starts. After a crash, records that are part of a
    micro-batch are replayed; records received but not yet assigned are lost. The stream ends when the server closes the
    connection.
    """

    bounded = False
    replayable = False

    def __init__(self, host: str, port: int, delimiter: str = "\n") -> None:
        """Describe a connection.

        Args:
            host: The server's name.
            port: The server's port.
            delimiter: Text between records; if it is a newline, a carriage return before it is dropped, too.
        """
        self.host = host
        self.port = port
        self.delimiter = delimiter

    @property
    def produced_type(self) -> TypeInformation:
        """STRING."""
        return Types.STRING()

    def channels(self, parallelism: int) -> int:
        """Return 1: there is one connection."""
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that connects with its first batch."""
        return _SocketEnumerator(self, limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the lines of one assignment."""
        MEASURED.get()(len(work), sum(map(len, work)))
        return sliced([work], sizer)


class _SocketEnumerator(Enumerator):
    def __init__(self, source: SocketSource, limits: BatchLimits) -> None:
        self._source = source
        self._max_records, self._longest = limits.max_records, limits.max_record_bytes
        self._connection: _Connection | None = None
        self._final = False

    def next_batch(self) -> list[Assignment]:
        if self._final:
            return []
        if self._connection is None:
            self._connection = _Connection(self._source, self._longest)
        closed = self._connection.closed.is_set()  # read before the queue: once it is set, the queue is complete
        queue = self._connection.lines
        lines = [queue.popleft() for _ in range(min(len(queue), self._max_records))]
        if len(queue) < MOST_WAITING:
            self._connection.has_room.set()
        self._final = closed and not queue
        if self._final and self._connection.error is not None:
            raise self._connection.error
        return [Assignment(0, lines or None, self._final, len(lines))] if lines or self._final else []

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        self._max_records = limits.max_records

    def backlog(self) -> Backlog:
        return Backlog(len(self._connection.lines) if self._connection is not None else 0)

    def position(self) -> dict[str, Any]:
        return {"final": self._final}

    def restore(self, position: dict[str, Any]) -> None:
        self._final = position["final"]

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


class _Connection:
    """Receive lines on a separate thread, so that the enumerator never waits."""

    def __init__(self, source: SocketSource, longest: int) -> None:
        self.lines: deque[str] = deque()
        self.closed, self.has_room = threading.Event(), threading.Event()
        self.error: SourceConnectionError | RecordTooLargeError | None = None
        self._longest = longest
        self._is_closing = False
        try:
            self._socket = socket.create_connection((source.host, source.port), CONNECT_SECONDS)
        except OSError as error:
            raise _failed(source, "failed", error) from error
        self._socket.settimeout(None)
        threading.Thread(target=self._receive, args=(source,), name="scurry-socket", daemon=True).start()

    def _receive(self, source: SocketSource) -> None:
        delimiter = source.delimiter
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        rest, by_line = "", delimiter == "\n"
        try:
            while received := self._socket.recv(_RECEIVED_BYTES):
                *lines, rest = (rest + decode(received)).split(delimiter)
                self.lines.extend(line.removesuffix("\r") if by_line else line for line in lines)
                if len(rest) > self._longest:
                    self.error = RecordTooLargeError(
                        f"{source.host}:{source.port} has sent more than {self._longest:,} characters without the "
                        f"delimiter {delimiter!r}; set scurry.record.max-bytes higher if that is right"
                    )
                    rest = ""
                    break
                self._wait_for_room()
        except OSError as error:
            self.error = _failed(source, "broke off", error)
        if rest:
            self.lines.append(rest)
        self.closed.set()

    def _wait_for_room(self) -> None:
        self.has_room.clear()
        if len(self.lines) >= MOST_WAITING and not self._is_closing:
            self.has_room.wait()

    def close(self) -> None:
        self._is_closing = True
        self.has_room.set()
        try:
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread, which close() alone would not
        except OSError:
            pass  # the server has closed it first
        self._socket.close()


def _failed(source: SocketSource, what: str, error: OSError) -> SourceConnectionError:
    return SourceConnectionError(
        f"the connection to {source.host}:{source.port} {what}: {error}; start the server before the job "
        f"(for example: nc -lk {source.port})"
    )
