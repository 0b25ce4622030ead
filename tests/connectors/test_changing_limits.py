"""Sources keep to the limits of the batch at hand, and say what they have left."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.connectors.collection import CollectionSource
from scurry.connectors.datagen import DataGeneratorSource, _GeneratorEnumerator
from scurry.connectors.files.formats.stream import StreamFormat
from scurry.connectors.files.reading.source import FileSource
from scurry.connectors.hybrid import HybridSource
from scurry.connectors.ranges import NumberSequenceSource
from scurry.connectors.socket import SocketSource
from scurry.connectors.source import Backlog, BatchLimits, ChunkSizer, Enumerator, Source
from scurry.datastream.formats.csv import CsvReaderFormat, CsvSchema
from support.chunks import present
from support.clock import FakeTime

SOURCES = {
    "numbers": NumberSequenceSource(1, 100),
    "collection": CollectionSource(list(range(100)), None),
    "generator": DataGeneratorSource(str, count=100),
    "hybrid": HybridSource([NumberSequenceSource(1, 100), NumberSequenceSource(1, 5)]),
}


def records(source: Source, enumerator: Enumerator, limit: int) -> int:
    enumerator.limit(BatchLimits(max_bytes=limit, max_records=limit), {})
    works = [assignment.work for assignment in enumerator.next_batch() if assignment.work is not None]
    return sum(len(values) for work in works for values, _ in present(source.read(work, ChunkSizer())))


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_batch_reads_what_the_limit_of_its_time_allows(source: Source) -> None:
    enumerator = source.create_enumerator(2, BatchLimits())
    assert [records(source, enumerator, limit) for limit in (4, 40, 10)] == [4, 40, 10]
    assert enumerator.backlog() == Backlog(46)


def test_a_generator_without_end_has_more_whatever_is_read() -> None:
    enumerator = DataGeneratorSource(str).create_enumerator(1, BatchLimits())
    backlog = enumerator.backlog()
    assert backlog is not None
    assert backlog.more


def test_a_generator_that_keeps_to_a_rate_is_behind_by_what_is_due() -> None:
    source = DataGeneratorSource(str, records_per_second=1000.0)
    time = FakeTime()
    enumerator = _GeneratorEnumerator(source, 1, 1000, time)
    assert records(source, enumerator, 10) == 1
    assert enumerator.backlog() == Backlog(0)
    enumerator.next_batch()
    time.sleep(0.1)
    assert records(source, enumerator, 10) == 10
    backlog = enumerator.backlog()
    assert backlog is not None
    assert backlog.more


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_lines_from_a_socket_wait_until_a_batch_may_read_them(server: socket.socket) -> None:
    source = SocketSource("127.0.0.1", server.getsockname()[1])
    enumerator = source.create_enumerator(1, BatchLimits())
    enumerator.next_batch()
    connection, _ = server.accept()
    connection.sendall(b"line\n" * 50)
    give_up = time.monotonic() + 120
    while enumerator.backlog() != Backlog(50) and time.monotonic() < give_up:
        time.sleep(0.01)
    assert records(source, enumerator, 7) == 7
    assert enumerator.backlog() == Backlog(43)
    enumerator.close()
    connection.close()


def test_files_are_read_in_shares_of_as_many_bytes_as_are_allowed(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("12345678\n" * 100)
    source = FileSource(StreamFormat.text_line_format(), [str(tmp_path)])
    enumerator = source.create_enumerator(1, BatchLimits())
    enumerator.limit(BatchLimits(max_bytes=90), {})
    ((_, start, end, _),) = enumerator.next_batch()[0].work
    assert (start, end) == (0, 90)
    assert enumerator.backlog() == Backlog(bytes=810)


def test_csv_files_are_cut_where_a_record_ends(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text('1,"a\nb"\n' * 100)
    columns = CsvSchema.builder().add_number_column("id").add_string_column("name").build()
    source = FileSource(CsvReaderFormat.for_schema(columns), [str(tmp_path)])
    enumerator = source.create_enumerator(1, BatchLimits())
    assert records(source, enumerator, 500) == 62  # of 8 bytes each
    assert enumerator.backlog() == Backlog(bytes=304)
    assert records(source, enumerator, 500) == 38
