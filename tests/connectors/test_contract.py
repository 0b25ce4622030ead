"""What sinks and lookups of all connectors share: records that wait, sinks without a committer, cached keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from scurry.connectors.lookup_cache import CacheSettings
from scurry.connectors.sink import BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import SinkCommitError, UnsupportedError
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.lookups import KeyLookup
from scurry.sql.types import MAX_LENGTH, IntType, VarCharType


class Clock:
    """A clock that a test moves."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Requests(BufferedWriter):
    """Keep what is written."""

    def __init__(self, max_records: int = 0, interval_ms: int = 0, clock: Clock | None = None) -> None:
        super().__init__(max_records, interval_ms, clock or Clock())
        self.written: list[list[Any]] = []
        self.closed = False

    def flush(self, records: list[Any]) -> None:
        self.written.append(records)

    def close(self) -> None:
        self.closed = True


def test_as_many_records_as_may_wait_are_written_at_once() -> None:
    writer = Requests(2)
    writer.write([1, 2, 3, 4, 5])
    assert writer.written == [[1, 2], [3, 4]]
    assert writer.prepare_commit() == []
    assert writer.written == [[1, 2], [3, 4], [5]]
    assert writer.closed


def test_without_limits_records_wait_for_the_commit() -> None:
    writer = Requests()
    for number in range(3):
        writer.write([number])
    assert writer.written == []
    writer.prepare_commit()
    assert writer.written == [[0, 1, 2]]


def test_records_that_have_waited_are_written_with_the_next_one() -> None:
    clock = Clock()
    writer = Requests(0, 1000, clock)
    writer.write([1])
    clock.seconds = 0.9
    writer.write([2])
    assert writer.written == []
    clock.seconds = 1.0
    writer.write([3])
    assert writer.written == [[1, 2, 3]]


def test_records_of_a_failed_task_are_not_written() -> None:
    writer = Requests()
    writer.write([1])
    writer.abort()
    assert (writer.written, writer.closed) == ([], True)


class Forgetful(Sink):
    """Its writers return committables, for which there is no committer."""

    def create_writer(self, context: WriterContext) -> SinkWriter:
        raise NotImplementedError


def test_committables_of_a_sink_without_a_committer_fail_its_batch() -> None:
    committer = Forgetful().create_committer("sink")
    committer.commit(1, [])
    with pytest.raises(SinkCommitError, match="override create_committer"):
        committer.commit(2, ["file"])


class Words(KeyLookup):
    """The words of numbers, in as many rows as the number says."""

    def __init__(self, cache: CacheSettings | None = None) -> None:
        super().__init__([("n", IntType()), ("word", VarCharType(MAX_LENGTH))], cache)
        self.asked: list[tuple[Any, ...]] = []

    def find(self, key: tuple[Any, ...]) -> Sequence[tuple[Any, ...]]:
        self.asked.append(key)
        return [(key[0], "one two three".split()[number]) for number in range(key[0])]


def found(lookup: KeyLookup, *numbers: int | None) -> list[tuple[int, str]]:
    """Return the position of the key and the word of each row."""
    positions, rows = lookup.lookup(pa.record_batch({"n": pa.array(numbers, pa.int32())}))
    return list(zip(positions.to_pylist(), rows.column("word").to_pylist(), strict=True))


def test_equal_keys_of_a_batch_are_asked_for_once_and_null_never() -> None:
    lookup = Words()
    lookup.open()
    assert found(lookup, 1, None, 2, 1, 0) == [(0, "one"), (2, "one"), (2, "two"), (3, "one")]
    assert lookup.asked == [(1,), (2,), (0,)]


def test_a_key_that_is_cached_is_not_asked_for_again_until_the_lookup_is_closed() -> None:
    lookup = Words(CacheSettings(max_rows=10))
    lookup.open()
    assert found(lookup, 1) == found(lookup, 1) == [(0, "one")]
    lookup.close()
    lookup.open()
    found(lookup, 1)
    assert lookup.asked == [(1,), (1,)]


def test_rows_that_are_updated_are_refused_where_only_inserted_ones_are_taken() -> None:
    batch = pa.record_batch({"n": [1, 2]})
    assert Changes(batch).inserted(UnsupportedError("no updates")) is batch
    assert Changes(batch, [0, 0]).inserted(UnsupportedError("no updates")) is batch
    with pytest.raises(UnsupportedError, match="no updates"):
        Changes(batch, [0, 2]).inserted(UnsupportedError("no updates"))
    assert Changes(batch, [1, 3]).gone == [True, True]
    assert Changes(batch, [0, 2]).gone == Changes(batch).gone == [False, False]
