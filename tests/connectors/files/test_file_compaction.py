"""Compaction: small files become larger ones, and wherever the job dies every record stays in exactly one of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Encoder, Row, Types
from scurry.connectors.files.filesystem import LocalFileSystem
from scurry.connectors.files.writing import committer as committers
from scurry.connectors.sink import Committer
from scurry.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    FileSource,
    OutputFileConfig,
)
from scurry.datastream.formats.csv import CsvBulkWriters, CsvSchema
from scurry.datastream.formats.json import JsonBulkWriters, JsonReaderFormat
from scurry.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from scurry.errors import ArgumentError, SinkCommitError, UnsupportedError
from scurry.table.types import DataTypes

Write = Callable[..., list[Any]]
NUMBER = Types.ROW_NAMED(["n"], [Types.INT()])
PARQUET = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())])


class Parity(BucketAssigner):
    def get_bucket_id(self, element: str, context: Any) -> str:
        return f"parity={int(element) % 2}"


def every(batches: int) -> FileCompactStrategy:
    return FileCompactStrategy.builder().enable_compaction_on_checkpoint(batches).build()


def lines(base: Path) -> FileSink.BaseBuilder:
    builder = FileSink.for_row_format(str(base), Encoder.simple_string_encoder())
    builder.with_output_file_config(OutputFileConfig("part", ".txt"))
    return builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())


def compacting(base: Path, batches: int = 3) -> FileSink:
    return lines(base).enable_compact(every(batches), FileCompactor.concat_file_compactor()).build()


def visible(base: Path) -> dict[str, str]:
    found = [p for p in sorted(base.rglob("*")) if p.is_file() and not p.name.startswith(".")]
    return {p.name: p.read_text() for p in found}


def records(base: Path) -> list[str]:
    return sorted(line for text in visible(base).values() for line in text.splitlines())


def hidden(base: Path) -> list[str]:
    return sorted(p.name for p in base.rglob(".*") if p.is_file())


def commit(committer: Committer, sink: FileSink, write: Write, batch: int, tries: str = "") -> None:
    committer.commit(batch, write(sink, batch, [[f"{batch}a{tries}"], [f"{batch}b{tries}"]]))


class TestWhen:
    def test_records_are_visible_when_enough_batches_have_gone_by(self, tmp_path: Path, write: Write) -> None:
        sink = compacting(tmp_path)
        committer = sink.create_committer("job-sink")
        seen = []
        for batch in range(7):
            commit(committer, sink, write, batch)
            seen.append(len(visible(tmp_path)))
        assert seen == [0, 0, 1, 1, 1, 2, 2]
        assert [text.splitlines() for text in visible(tmp_path).values()] == [
            ["0a", "0b", "1a", "1b", "2a", "2b"],
            ["3a", "3b", "4a", "4b", "5a", "5b"],
        ]

    def test_a_large_bucket_does_not_wait(self, tmp_path: Path, write: Write) -> None:
        strategy = FileCompactStrategy.builder().set_size_threshold(12).build()
        sink = lines(tmp_path).enable_compact(strategy, FileCompactor.concat_file_compactor()).build()
        committer = sink.create_committer("job-sink")
        commit(committer, sink, write, 0)
        assert records(tmp_path) == []
        commit(committer, sink, write, 1)
        assert records(tmp_path) == ["0a", "0b", "1a", "1b"]

    def test_the_end_of_the_job_leaves_nothing_hidden(self, tmp_path: Path, write: Write) -> None:
        sink = compacting(tmp_path)
        committer = sink.create_committer("job-sink")
        for batch in range(5):
            commit(committer, sink, write, batch)
        committer.finish()
        assert len(records(tmp_path)) == 10 and len(visible(tmp_path)) == 2
        assert hidden(tmp_path) == []

    def test_buckets_are_compacted_apart(self, tmp_path: Path, write: Write) -> None:
        builder = lines(tmp_path).with_bucket_assigner(Parity())
        strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(2).set_num_compact_threads(2).build()
        sink = builder.enable_compact(strategy, FileCompactor.concat_file_compactor()).build()
        committer = sink.create_committer("job-sink")
        for batch in range(2):
            committer.commit(batch, write(sink, batch, [["0", "1", "2", "3"]]))
        found = {p.parent.name: p.read_text().split() for p in tmp_path.rglob("compacted-*")}
        assert found == {"parity=0": ["0", "2", "0", "2"], "parity=1": ["1", "3", "1", "3"]}

    def test_small_files_are_kept_until_no_batch_of_theirs_can_be_repeated(
        self, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(committers, "RETAINED_BATCHES", 4)
        sink = compacting(tmp_path)
        committer = sink.create_committer("job-sink")
        kept = []
        for batch in range(9):
            commit(committer, sink, write, batch)
            kept.append(len(hidden(tmp_path)))
        assert kept == [2, 4, 6, 8, 10, 12, 14, 10, 12]


class TestHow:
    def test_files_may_be_kept_apart_by_a_delimiter(self, tmp_path: Path, write: Write) -> None:
        sink = lines(tmp_path).enable_compact(every(1), FileCompactor.concat_file_compactor(b"--\n")).build()
        commit(sink.create_committer("job-sink"), sink, write, 0)
        assert list(visible(tmp_path).values()) == ["0a\n--\n0b\n"]

    def test_formats_with_a_frame_are_read_and_written_again(self, tmp_path: Path, write: Write, drive: Any) -> None:
        builder = FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(PARQUET))
        compactor = FileCompactor.record_wise_file_compactor(ParquetColumnarRowInputFormat(PARQUET))
        sink = builder.enable_compact(every(2), compactor).build()
        committer = sink.create_committer("job-sink")
        for batch in range(2):
            committer.commit(batch, write(sink, batch, [[Row(batch)], [Row(10 + batch)]]))
        source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(PARQUET), str(tmp_path)).build()
        assert [row.n for row in drive(source).all()] == [0, 10, 1, 11]
        assert len([p for p in tmp_path.rglob("compacted-*")]) == 1

    def test_json_lines_are_put_one_after_another(self, tmp_path: Path, write: Write, drive: Any) -> None:
        builder = FileSink.for_bulk_format(str(tmp_path), JsonBulkWriters.for_type_info(NUMBER))
        sink = builder.enable_compact(every(2), FileCompactor.concat_file_compactor()).build()
        committer = sink.create_committer("job-sink")
        for batch in range(2):
            committer.commit(batch, write(sink, batch, [[Row(batch)]]))
        source = FileSource.for_record_stream_format(JsonReaderFormat.for_type_info(NUMBER), str(tmp_path)).build()
        assert [row.n for row in drive(source).all()] == [0, 1]

    def test_formats_with_a_frame_are_not_put_one_after_another(self, tmp_path: Path) -> None:
        header = CsvSchema.builder().add_number_column("n").set_use_header(True).build()
        for factory in (ParquetBulkWriters.for_row_type(PARQUET), CsvBulkWriters.for_schema(header)):
            builder = FileSink.for_bulk_format(str(tmp_path), factory)
            with pytest.raises(ArgumentError, match="record_wise_file_compactor"):
                builder.enable_compact(every(1), FileCompactor.concat_file_compactor())

    def test_a_strategy_needs_a_condition(self) -> None:
        with pytest.raises(ArgumentError, match="at least one"):
            FileCompactStrategy.builder().build()
        with pytest.raises(ArgumentError, match="at least 1"):
            FileCompactStrategy.builder().enable_compaction_on_checkpoint(0)

    def test_single_files_of_any_format_can_be_copied(self, tmp_path: Path, write: Write, drive: Any) -> None:
        builder = FileSink.for_bulk_format(str(tmp_path), ParquetBulkWriters.for_row_type(PARQUET))
        sink = builder.enable_compact(every(1), FileCompactor.identical_file_compactor()).build()
        committer = sink.create_committer("job-sink")
        for batch in range(3):
            committer.commit(batch, write(sink, batch, [[Row(batch)]]))
        source = FileSource.for_bulk_file_format(ParquetColumnarRowInputFormat(PARQUET), str(tmp_path)).build()
        assert [row.n for row in drive(source).all()] == [0, 1, 2]
        assert len([p for p in tmp_path.rglob("compacted-*")]) == 3

    def test_what_copies_single_files_takes_no_second(self, tmp_path: Path, write: Write) -> None:
        sink = lines(tmp_path).enable_compact(every(1), FileCompactor.identical_file_compactor()).build()
        with pytest.raises(UnsupportedError, match=r"there are 2 to compact in .*: use concat_file_compactor\(\)"):
            commit(sink.create_committer("job-sink"), sink, write, 0)
        assert visible(tmp_path) == {}


class Blown(BaseException):
    """The job has died."""


class Fuse:
    """Lets the job die in the file operation after so many others: before it, or when it is done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        self.after = False
        for name in ("rename", "delete", "open_output"):
            monkeypatch.setattr(LocalFileSystem, name, self._guarded(getattr(LocalFileSystem, name)))

    def _guarded(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(operation)
        def guarded(*args: Any) -> Any:
            if self.left == 0 and not self.after:
                raise Blown
            result = operation(*args)
            if self.left == 0:
                raise Blown
            self.left -= 1
            return result

        return guarded


@pytest.fixture
def fuse(monkeypatch: pytest.MonkeyPatch) -> Fuse:
    return Fuse(monkeypatch)


class TestWhereverTheJobDies:
    """The committer's file operations are counted; the job dies in each of them in turn, and is started again."""

    @pytest.mark.parametrize("after", [False, True])
    @pytest.mark.parametrize("dying", [1, 2, 3, "finish"])
    def test_every_record_is_in_one_file(
        self, tmp_path: Path, write: Write, fuse: Fuse, dying: Any, after: bool
    ) -> None:
        operation = 0
        while self._dies(tmp_path / str(operation), write, fuse, dying, [operation], after):
            operation += 1
        assert operation > 1

    def test_every_record_is_in_one_file_when_it_dies_once_more(self, tmp_path: Path, write: Write, fuse: Fuse) -> None:
        for first in range(7):
            second = 0
            while self._dies(tmp_path / f"{first}-{second}", write, fuse, 1, [first, second], first % 2 == 0):
                second += 1
            assert second > 2

    def _dies(self, base: Path, write: Write, fuse: Fuse, dying: Any, operations: list[int], after: bool) -> bool:
        """Whether every fuse has blown; each try of the step `dying` has the next."""
        sink, fuses = compacting(base, batches=2), iter(operations)
        committer = sink.create_committer("job-sink")
        steps: list[Any] = [*range(5), "finish"]
        blown = 0
        while steps:
            step = steps[0]
            parts = write(sink, step, [[f"{step}a"], [f"{step}b"]]) if step != "finish" else []
            fuse.left, fuse.after = next(fuses, -1) if step == dying else -1, after
            try:
                committer.finish() if step == "finish" else committer.commit(step, parts)
                steps.pop(0)
            except Blown:
                blown += 1
                committer = sink.create_committer("job-sink")
            fuse.left = -1
        assert records(base) == [f"{batch}{task}" for batch in range(5) for task in "ab"], operations
        assert hidden(base) == []
        return blown == len(operations)

    def test_a_job_that_is_taken_back_far_writes_each_record_once(self, tmp_path: Path, write: Write) -> None:
        sink = compacting(tmp_path, batches=2)
        committer = sink.create_committer("job-sink")
        for batch in range(6):
            commit(committer, sink, write, batch)
        committer = sink.create_committer("job-sink")
        for batch in range(3, 6):
            commit(committer, sink, write, batch, "'")
        committer.finish()
        expected = [f"{b}{t}" for b in range(3) for t in "ab"] + [f"{b}{t}'" for b in range(3, 6) for t in "ab"]
        assert records(tmp_path) == expected

    def test_a_job_that_is_taken_back_farther_than_files_are_kept_says_so(self, tmp_path: Path, write: Write) -> None:
        sink = compacting(tmp_path, batches=2)
        committer = sink.create_committer("job-sink")
        for batch in range(2):
            commit(committer, sink, write, batch)
        committer.finish()
        with pytest.raises(SinkCommitError, match="rolled back farther"):
            commit(sink.create_committer("job-sink"), sink, write, 1)

    def test_a_job_without_compaction_shows_what_waited_for_it(self, tmp_path: Path, write: Write) -> None:
        sink = compacting(tmp_path)
        commit(sink.create_committer("job-sink"), sink, write, 0)
        plain = lines(tmp_path).disable_compact().build()
        commit(plain.create_committer("job-sink"), plain, write, 1)
        assert records(tmp_path) == ["0a", "0b", "1a", "1b"]
        assert hidden(tmp_path) == []
