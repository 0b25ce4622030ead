"""Lines of files that are larger than `scurry.record.max-bytes`."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.connectors.files.formats.ranges import owned_blocks
from scurry.connectors.source import MAX_RECORD_BYTES
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from scurry.errors import JobError, RecordTooLargeError


def lengths(file: Path, limit: str, **settings: str) -> list[int]:
    configuration = {"scurry.runner": "local", "scurry.progress": "off", "scurry.record.max-bytes": limit, **settings}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configuration))
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(file)).build()
    lines = env.set_parallelism(1).from_source(source, WatermarkStrategy.no_watermarks(), "lines")
    with lines.map(len, output_type=Types.LONG()).execute_and_collect() as found:
        return sorted(found)


def test_a_line_beyond_the_limit_is_refused_by_file_byte_and_key(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("short\n" + "x" * 9_000_000 + "\nshort\n")
    with pytest.raises(JobError) as refused:
        lengths(file, "5 mb")
    told = str(refused.value)
    assert f"{file}: the record that begins at byte 6 takes up more than 5,242,880 bytes" in told
    assert "set scurry.record.max-bytes higher" in told


@pytest.mark.parametrize("end", [4, 8, 20, 90, 1000])
def test_a_line_is_refused_wherever_its_range_ends(tmp_path: Path, end: int) -> None:
    content = b"ab\n" + b"x" * 101 + b"\nab\n"
    reset = MAX_RECORD_BYTES.set(100)
    try:
        with pytest.raises(RecordTooLargeError, match=r"begins at byte 3 "):
            list(owned_blocks(io.BytesIO(content), "f", 0, end, 50))
    finally:
        MAX_RECORD_BYTES.reset(reset)


def test_no_restart_is_tried_for_a_line_beyond_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("x" * 9_000_000)
    restarts = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "1 h"}
    with pytest.raises(JobError):
        lengths(file, "5 mb", **restarts)


def test_a_line_within_the_limit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "long.txt"
    file.write_text("short\n" + "x" * 9_000_000 + "\nshort\n")
    assert lengths(file, "10 mb") == [5, 5, 9_000_000]


def test_many_lines_are_not_taken_for_a_large_one(tmp_path: Path) -> None:
    file = tmp_path / "many.txt"
    file.write_text("0123456789\n" * 1_000_000)
    assert len(lengths(file, "1 kb")) == 1_000_000


@pytest.mark.parametrize("start", [0, 1, 2_000_000])
def test_a_reader_never_holds_more_than_the_limit_and_a_block(tmp_path: Path, start: int) -> None:
    path = tmp_path / "endless.txt"
    with open(path, "wb") as file:
        file.truncate(1 << 30)  # a line of zeros without an end, which takes no room on the disk
    held = []

    class Counting:
        def __init__(self, file: object) -> None:
            self._file = file
            self._read = 0

        def __getattr__(self, name: str) -> object:
            return getattr(self._file, name)

        def readinto(self, buffer: memoryview) -> int:
            self._read += len(buffer)
            held.append(self._read)
            return self._file.readinto(buffer)  # type: ignore[attr-defined, no-any-return]

    MAX_RECORD_BYTES.set(8 << 20)
    with open(path, "rb") as reading:
        if start:
            # the line belongs to the range before
            assert list(owned_blocks(Counting(reading), "f", start, start + 100)) == []  # type: ignore[arg-type]
            return
        with pytest.raises(RecordTooLargeError):
            list(owned_blocks(Counting(reading), "f", start, 1 << 30))  # type: ignore[arg-type]
    assert held[-1] <= 12 << 20
