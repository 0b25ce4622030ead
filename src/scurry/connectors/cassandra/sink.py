"""CassandraSink: executes a statement for each record."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.connectors.cassandra.client import CassandraSettings, errors, failure, is_passing, library, session_of
from scurry.connectors.sink import (
    COUNTED,
    RETRIES,
    BufferedWriter,
    Committer,
    NothingToCommit,
    Sink,
    SinkWriter,
    WriterContext,
)
from scurry.errors import RecordRejectedError

#: Retries while no node answers, one second apart.
MAX_RETRIES = 3
#: Requests of a task that wait for answers.
CONCURRENT_REQUESTS = 128
_PAUSE_SECONDS = 1.0
#: Records that wait before they are written together.
_HELD_ROWS = 1000

#: A statement and its values.
Statement = tuple[str, Sequence[Any]]


@dataclass(frozen=True)
class ValuesOf:
    """Make the values of a statement of records: tuples, lists or Rows.

    Attributes:
        query: The statement, with a `?` for each field.
        ignores_null: Whether a field that is None leaves its column as it is.
    """

    query: str
    ignores_null: bool = False

    def __call__(self, record: Any) -> Statement:
        """Return the statement of a record.

        Raises:
            RecordRejectedError: It has no fields.
        """
        if not isinstance(record, (tuple, list, Row)):
            raise RecordRejectedError("a record for a statement is a tuple, a list or a Row", record)
        unset = library("cassandra.query").UNSET_VALUE if self.ignores_null else None
        return self.query, [unset if value is None else bound(value) for value in record]


def bound(value: Any) -> Any:
    """Return a value of a record as one of the driver."""
    if isinstance(value, Instant):
        return value.to_epoch_milli()
    if isinstance(value, Row):
        return tuple(map(bound, value))
    if isinstance(value, dict):
        return {bound(key): bound(each) for key, each in value.items()}
    return type(value)(map(bound, value)) if type(value) in (list, tuple, set, frozenset) else value


@dataclass(frozen=True)
class CassandraSink(Sink):
    """Execute a statement for each record, from the tasks, before each commit.

    At least once: a repeated micro-batch executes its statements again. An INSERT or UPDATE by key leaves what it left
    before; counters count twice.

    Attributes:
        settings: The cluster.
        statement: Makes the statement of a record.
        concurrent: Requests of a task that wait for answers.
        is_staged: Whether the records of a micro-batch are executed when all its tasks have succeeded: Flink's
            write-ahead log. They pass through the driver.
    """

    settings: CassandraSettings
    statement: Callable[[Any], Statement]
    concurrent: int = CONCURRENT_REQUESTS
    is_staged: bool = False

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first statement."""
        return _Staging(self) if self.is_staged else _Executing(self)

    def create_committer(self, sink_id: str) -> Committer:
        """Return the committer, which executes statements that are staged."""
        return _Executor(self) if self.is_staged else NothingToCommit()


class _Executing(BufferedWriter):
    def __init__(self, sink: CassandraSink) -> None:
        super().__init__(_HELD_ROWS, 1000)
        self._sink = sink

    def flush(self, records: list[Any]) -> None:
        _execute(self._sink, records, list(map(self._sink.statement, records)))


class _Staging(SinkWriter):
    def __init__(self, sink: CassandraSink) -> None:
        self._records: list[Any] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._records += values

    def prepare_commit(self) -> list[Any]:
        return [self._records] if self._records else []


class _Executor(Committer):
    def __init__(self, sink: CassandraSink) -> None:
        self._sink = sink

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        for records in committables:
            _execute(self._sink, records, list(map(self._sink.statement, records)))


def _execute(sink: CassandraSink, records: Sequence[Any], statements: Sequence[Statement]) -> None:
    """Execute statements; after a passing error all of them again, in their order."""
    for retry in range(MAX_RETRIES + 1):
        try:
            return _execute_once(sink, records, statements)
        except errors() as error:
            if not is_passing(error) or retry == MAX_RETRIES:
                raise failure(sink.settings, error, is_sink=True) from None
        COUNTED.get()(RETRIES, 1)
        time.sleep(_PAUSE_SECONDS)
    return None


def _execute_once(sink: CassandraSink, records: Sequence[Any], statements: Sequence[Statement]) -> None:
    """Send statements in order from one thread: the driver gives each a later timestamp, and the latest one wins."""
    session = session_of(sink.settings)
    prepared = {query: session.prepare(query) for query in dict.fromkeys(query for query, _ in statements)}
    waiting: deque[tuple[Any, Any]] = deque()
    for record, (query, values) in zip(records, statements, strict=True):
        try:
            statement = prepared[query].bind(values)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise RecordRejectedError(f"its values do not fit {query!r}: {error}", record) from None
        if len(waiting) >= sink.concurrent:
            _finish(*waiting.popleft())
        waiting.append((record, session.execute_async(statement)))
    while waiting:
        _finish(*waiting.popleft())


def _finish(record: Any, answer: Any) -> None:
    try:
        answer.result()
    except library("cassandra").InvalidRequest as error:
        raise RecordRejectedError(f"Cassandra refuses it: {error}", record) from None
