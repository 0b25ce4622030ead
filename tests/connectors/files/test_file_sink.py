"""FileSink: what is in the files, how they are named, and that crashes neither lose nor double records."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Encoder, Row, Types
from scurry.connectors.files.filesystem import LocalFileSystem
from scurry.connectors.files.writing.buckets import DateTimeBuckets
from scurry.connectors.files.writing.parts import RollingPolicy as Policy
from scurry.connectors.sink import WriterContext
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    OutputFileConfig,
    RollingPolicy,
    StreamingFileSink,
)
from scurry.datastream.formats.csv import CsvBulkWriters, CsvSchema
from scurry.errors import ArgumentError, ArgumentTypeError, SinkCommitError, UnsupportedError

Write = Callable[..., list[Any]]
Run = Callable[..., Any]


def rows(base: Path) -> FileSink.BaseBuilder:
    builder = FileSink.for_row_format(str(base), Encoder.simple_string_encoder())
    return builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())


def visible(base: Path) -> dict[str, str]:
    found = [p for p in sorted(base.rglob("*")) if p.is_file() and not p.name.startswith(".")]
    return {str(p.relative_to(base)): p.read_text() for p in found}


def records(base: Path) -> list[str]:
    return sorted(line for text in visible(base).values() for line in text.splitlines())


def hidden(base: Path) -> list[str]:
    return [p.name for p in base.rglob(".*") if p.is_file()]


class TestContent:
    @pytest.mark.parametrize(
        ("declared", "record", "line"),
        # recorded from Flink 2.3
        [
            (Types.ROW_NAMED(["a", "n"], [Types.STRING(), Types.INT()]), Row("a", 1), "+I[a, 1]"),
            (Types.ROW_NAMED(["a", "n"], [Types.STRING(), Types.INT()]), Row(None, 2), "+I[null, 2]"),
            (Types.TUPLE([Types.STRING(), Types.DOUBLE()]), ("b", 2.5), "(b,2.5)"),
            (Types.STRING(), "x", "x"),
            (None, ("a", None), "('a', None)"),
        ],
    )
    def test_is_a_line_per_record(self, tmp_path: Path, run_sink: Run, declared: Any, record: Any, line: str) -> None:
        run_sink(rows(tmp_path).build(), [record], input_type=declared)
        assert records(tmp_path) == [line]

    def test_is_encoded_as_asked(self, tmp_path: Path, run_sink: Run) -> None:
        builder = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder("UTF-16LE"))
        run_sink(builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).build(), ["é"])
        [path] = [p for p in tmp_path.iterdir()]
        assert path.read_bytes().startswith("é".encode("utf-16-le"))


class TestNames:
    def test_have_prefix_and_suffix(self, tmp_path: Path, run_sink: Run) -> None:
        config = OutputFileConfig.builder().with_part_prefix("pre").with_part_suffix(".txt").build()
        run_sink(rows(tmp_path).with_output_file_config(config).build(), ["a"], ["b"])
        assert all(re.fullmatch(r"pre-[0-9a-f]{8}-\d-0-0\.txt", name) for name in visible(tmp_path))
        assert len(visible(tmp_path)) == 2

    def test_differ_between_sinks(self, tmp_path: Path, write: Write) -> None:
        sink = rows(tmp_path).build()
        for sink_id in ("one", "two"):
            sink.create_committer(sink_id).commit(0, write(sink, 0, [["x"]], sink_id))
        assert records(tmp_path) == ["x", "x"]

    def test_belong_to_the_hour_by_default(self, tmp_path: Path, run_sink: Run) -> None:
        before = datetime.datetime.now()
        run_sink(FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder()).build(), ["x"])
        hours = {f"{t:%Y-%m-%d--%H}" for t in (before, datetime.datetime.now())}
        assert {os.path.dirname(name) for name in visible(tmp_path)} <= hours

    @pytest.mark.parametrize(
        ("pattern", "zone", "bucket"),
        [
            ("yyyy-MM-dd--HH", "UTC", "2026-03-04--05"),
            ("'y'yyyy/MM-dd", "Asia/Tokyo", "y2026/03-04"),
            ("yy-M-d h:mm a", "GMT-08:00", "26-3-3 9:06 PM"),
            ("EEE d MMM uuuu", "UTC", "Wed 4 Mar 2026"),
            ("EEEE MMMM DDD", "UTC", "Wednesday March 063"),
            ("HH:mm:ss.SSS 'o''clock'", "UTC", "05:06:07.089 o'clock"),
            ("dd", "PST", "03"),
        ],
    )
    def test_of_buckets_follow_javas_patterns(self, pattern: str, zone: str, bucket: str) -> None:
        moment = datetime.datetime(2026, 3, 4, 5, 6, 7, 89_000, datetime.UTC)
        assert DateTimeBuckets(pattern, zone).bucket(round(moment.timestamp() * 1000)) == bucket

    @pytest.mark.parametrize(("pattern", "zone"), [("yyyy-QQ", "UTC"), ("yyyy", "Nowhere/City")])
    def test_of_buckets_are_refused_when_unknown(self, pattern: str, zone: str) -> None:
        with pytest.raises(UnsupportedError):
            BucketAssigner.date_time_bucket_assigner(pattern, zone)


class ByTag(BucketAssigner):
    """The first letter, and whether the record has a timestamp."""

    def get_bucket_id(self, element: str, context: Any) -> str:
        return f"{element[0]}/{context.timestamp()}"


class Outside(BucketAssigner):
    def get_bucket_id(self, element: str, context: Any) -> Any:
        return {"up": "../up", "root": "/root", "none": None}[element]


class TestBucketsOfOnesOwn:
    def test_are_named_by_record_and_timestamp(self, tmp_path: Path) -> None:
        sink = rows(tmp_path).with_bucket_assigner(ByTag()).build()
        writer = sink.create_writer(WriterContext(0, 1, 0, "id"))
        writer.write(["a1", "b1", "a2"], [5, 5, 6])
        writer.write(["a3"])
        sink.create_committer("id").commit(0, writer.prepare_commit())
        found = {os.path.dirname(name): text for name, text in visible(tmp_path).items()}
        assert found == {"a/5": "a1\n", "b/5": "b1\n", "a/6": "a2\n", "a/None": "a3\n"}

    @pytest.mark.parametrize("record", ["up", "root", "none"])
    def test_must_be_below_the_base_path(self, tmp_path: Path, record: str) -> None:
        writer = rows(tmp_path).with_bucket_assigner(Outside()).build().create_writer(WriterContext(0, 1, 0, "id"))
        with pytest.raises(ArgumentError, match="below the base path"):
            writer.write([record])


class TestRolling:
    def test_ends_files_with_their_batch(self, tmp_path: Path, run_sink: Run) -> None:
        run_sink(rows(tmp_path).build(), ["a", "b"], ["c"])
        assert list(visible(tmp_path).values()) == ["a\nb\n", "c\n"]

    @pytest.mark.parametrize("at_once", [True, False])
    def test_ends_files_that_are_large(self, tmp_path: Path, at_once: bool) -> None:
        # recorded from Flink 2.3: 30 lines of 11 bytes, part_size 100: three files of ten lines
        sink = rows(tmp_path).with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=100)).build()
        writer = sink.create_writer(WriterContext(0, 1, 0, "id"))
        values = ["x" * 10] * 30
        for block in [values] if at_once else [[value] for value in values]:
            writer.write(block)
        sink.create_committer("id").commit(0, writer.prepare_commit())
        assert [text.count("\n") for text in visible(tmp_path).values()] == [10, 10, 10]

    def test_ends_files_that_are_old_or_idle(self) -> None:
        policy = RollingPolicy.default_rolling_policy(
            rollover_interval=datetime.timedelta(seconds=10), inactivity_interval=2000
        )
        assert policy == Policy(128 * 1024 * 1024, 10_000, 2000)
        assert not policy.old(opened_ms=0, written_ms=9000, now_ms=9999)
        assert policy.old(opened_ms=0, written_ms=9999, now_ms=10_000)
        assert policy.old(opened_ms=0, written_ms=0, now_ms=2000)

    def test_of_whole_files_is_by_batch_only(self, tmp_path: Path) -> None:
        builder = FileSink.for_bulk_format(str(tmp_path), CsvBulkWriters.for_schema(one_column()))
        builder.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
        with pytest.raises(ArgumentError, match="on_checkpoint_rolling_policy"):
            builder.with_rolling_policy(RollingPolicy.default_rolling_policy())


def one_column() -> CsvSchema:
    return CsvSchema.builder().add_string_column("a").build()


class TestCommit:
    def test_shows_nothing_before(self, tmp_path: Path, write: Write) -> None:
        sink = rows(tmp_path).build()
        write(sink, 0, [["a"], ["b"]])
        assert visible(tmp_path) == {}
        assert len(hidden(tmp_path)) == 2

    def test_may_be_repeated_with_the_same_files(self, tmp_path: Path, write: Write) -> None:
        sink = rows(tmp_path).build()
        files = write(sink, 3, [["a"], ["b"]])
        for committer in (sink.create_committer("job-sink"), sink.create_committer("job-sink")):
            committer.commit(3, files)
            committer.commit(3, files)
        assert records(tmp_path) == ["a", "b"]

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        first=st.lists(st.lists(st.sampled_from("abc"), max_size=3), min_size=1, max_size=3),
        second=st.lists(st.lists(st.sampled_from("abc"), max_size=3), min_size=1, max_size=3),
        renamed=st.integers(0, 3),
    )
    def test_of_a_repeated_batch_replaces_the_first_try(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        write: Write,
        first: list[list[str]],
        second: list[list[str]],
        renamed: int,
    ) -> None:
        base = tmp_path_factory.mktemp("sink")
        sink = rows(base).with_rolling_policy(RollingPolicy.default_rolling_policy(part_size=1)).build()
        sink.create_committer("job-sink").commit(6, write(sink, 6, [["before"]]))
        for file in write(sink, 7, first)[:renamed]:  # the driver dies between two renames
            os.rename(file.staged, file.target)
        restarted = sink.create_committer("job-sink")
        restarted.commit(7, write(sink, 7, second))
        restarted.commit(8, write(sink, 8, [["after"]]))
        expected = ["after", "before", *(record for task in second for record in task)]
        assert records(base) == sorted(expected)
        assert hidden(base) == []

    def test_of_a_batch_taken_back_removes_what_later_ones_left(self, tmp_path: Path, write: Write) -> None:
        sink = rows(tmp_path).build()
        first = sink.create_committer("job-sink")
        for batch in (8, 9, 10):
            first.commit(batch, write(sink, batch, [[f"{batch}"]]))
        sink.create_committer("other-sink").commit(10, write(sink, 10, [["other"]], "other-sink"))
        restarted = sink.create_committer("job-sink")
        restarted.commit(9, write(sink, 9, [["9 again"]]))
        assert records(tmp_path) == ["8", "9 again", "other"]
        restarted.commit(10, write(sink, 10, [["10 again"]]))
        assert records(tmp_path) == ["10 again", "8", "9 again", "other"]

    def test_after_a_restart_in_the_same_process_replaces_what_was_half_committed(
        self, tmp_path: Path, write: Write
    ) -> None:
        sink = rows(tmp_path).build()
        committer = sink.create_committer("job-sink")
        committer.commit(6, write(sink, 6, [["before"]]))
        first, second = write(sink, 7, [["a"], ["b"]])
        os.remove(second.staged)
        with pytest.raises(SinkCommitError):
            committer.commit(7, [first, second])
        write(sink, 7, [["task that failed"]])
        committer.restarted()
        committer.commit(7, write(sink, 7, [[], ["a", "b"]]))
        assert records(tmp_path) == ["a", "b", "before"]
        assert hidden(tmp_path) == []

    def test_removes_what_the_first_try_left_in_another_bucket(self, tmp_path: Path, write: Write) -> None:
        early = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        early.with_bucket_assigner(BucketAssigner.date_time_bucket_assigner("'early'"))
        late = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
        late.with_bucket_assigner(BucketAssigner.date_time_bucket_assigner("'late'"))
        early.build().create_committer("job-sink").commit(0, write(early.build(), 0, [["x"]]))
        late.build().create_committer("job-sink").commit(0, write(late.build(), 0, [["x"]]))
        assert [os.path.dirname(name) for name in visible(tmp_path)] == ["late"]

    def test_deletes_what_dead_attempts_of_this_sink_left_hidden(self, tmp_path: Path, write: Write) -> None:
        sink = rows(tmp_path).build()
        write(sink, 4, [["dead"]])
        write(sink, 4, [["alive"]], "other-sink")
        sink.create_committer("job-sink").commit(4, write(sink, 4, [["x"]]))
        assert records(tmp_path) == ["x"]
        assert len(hidden(tmp_path)) == 1

    def test_fails_when_files_have_been_taken_away(self, tmp_path: Path, write: Write) -> None:
        sink = rows(tmp_path).build()
        files = write(sink, 0, [["a"]])
        os.remove(files[0].staged)
        with pytest.raises(SinkCommitError, match="is missing"):
            sink.create_committer("job-sink").commit(0, files)

    def test_of_nothing_leaves_nothing(self, tmp_path: Path, run_sink: Run) -> None:
        run_sink(rows(tmp_path / "new").build(), [], [])
        assert not (tmp_path / "new").exists()


class TestCrashesOfTheMachine:
    """What was forced to the disk survives: contents of files, and names in directories, each for itself."""

    @pytest.fixture
    def on_disk(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def force(_: LocalFileSystem, path: str) -> None:
            found[path] = sorted(os.listdir(path)) if os.path.isdir(path) else Path(path).read_text()

        monkeypatch.setattr(LocalFileSystem, "force", force)
        return found

    def test_lose_no_record_that_a_checkpoint_counts(self, tmp_path: Path, on_disk: dict[str, Any]) -> None:
        sink = rows(tmp_path).with_bucket_assigner(ByTag()).build()
        writer = sink.create_writer(WriterContext(0, 1, 0, "id"))
        writer.write(["a1", "b1"], [5, 5])
        for part, text in zip(writer.prepare_commit(), ["a1\n", "b1\n"], strict=True):
            assert on_disk[part.staged] == text
            path = Path(part.staged)
            while path != tmp_path:
                assert path.name in on_disk[str(path.parent)]
                path = path.parent

    def test_lose_no_name_of_a_committed_file(self, tmp_path: Path, on_disk: dict[str, Any], run_sink: Run) -> None:
        run_sink(rows(tmp_path).build(), ["a"], ["b"])
        assert sorted(visible(tmp_path)) == on_disk[str(tmp_path)] != []

    def test_lose_no_name_that_a_killed_process_gave(
        self, tmp_path: Path, on_disk: dict[str, Any], write: Write
    ) -> None:
        sink = rows(tmp_path).build()
        files = write(sink, 0, [["a"]])
        sink.create_committer("job-sink").commit(0, files)
        on_disk.clear()  # it was killed before it forced the name
        sink.create_committer("job-sink").commit(0, files)
        assert sorted(visible(tmp_path)) == on_disk[str(tmp_path)] != []

    def test_lose_no_compaction_that_a_killed_process_made(
        self, tmp_path: Path, on_disk: dict[str, Any], write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(5).build()
        sink = rows(tmp_path).enable_compact(strategy, FileCompactor.concat_file_compactor(b"")).build()
        committer = sink.create_committer("job-sink")
        committer.commit(0, write(sink, 0, [["a"], ["b"]]))
        with monkeypatch.context() as patch:
            patch.setattr(committer, "_delete_consumed", lambda before: None)
            committer.finish()
        on_disk.clear()  # it was killed before it forced the names
        sink.create_committer("job-sink").finish()
        assert list(visible(tmp_path).values()) == ["a\nb\n"]
        assert set(visible(tmp_path)) <= set(on_disk[str(tmp_path)])

    def test_lose_no_compacted_record(self, tmp_path: Path, on_disk: dict[str, Any], run_sink: Run) -> None:
        strategy = FileCompactStrategy.builder().enable_compaction_on_checkpoint(2).build()
        run_sink(
            rows(tmp_path).enable_compact(strategy, FileCompactor.concat_file_compactor(b"")).build(), ["a"], ["b"]
        )
        assert list(visible(tmp_path).values()) == ["a\nb\n"]
        assert "a\nb\n" in on_disk.values()
        assert set(visible(tmp_path)) <= set(on_disk[str(tmp_path)])


def test_an_aborted_writer_leaves_no_file(tmp_path: Path) -> None:
    writer = rows(tmp_path).build().create_writer(WriterContext(0, 1, 0, "id"))
    writer.write(["a"])
    writer.abort()
    assert hidden(tmp_path) == []


@pytest.mark.parametrize(
    "build",
    [
        lambda: FileSink.for_row_format("/tmp/x", "encoder"),  # type: ignore[arg-type]
        lambda: FileSink.for_bulk_format("/tmp/x", "writers"),  # type: ignore[arg-type]
        lambda: rows(Path("/tmp/x")).with_bucket_assigner("hourly"),  # type: ignore[arg-type]
        lambda: rows(Path("/tmp/x")).with_rolling_policy(7),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_other_kinds_are_refused(build: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentTypeError):
        build()


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="ftp"):
        FileSink.for_row_format("ftp://host/x", Encoder.simple_string_encoder()).build()


def test_the_bucket_check_interval_is_accepted(tmp_path: Path) -> None:
    assert rows(tmp_path).with_bucket_check_interval(1000).build().base_path == str(tmp_path)


CSV = CsvSchema.builder().add_string_column("a").build()


class TestStreamingFileSink:
    """The sink that programs older than FileSink have; it goes to add_sink."""

    @pytest.mark.parametrize("factory", [None, CsvBulkWriters.for_schema(CSV)])
    def test_writes_what_a_file_sink_writes(self, tmp_path: Path, factory: Any) -> None:
        configuration = Configuration()
        configuration.set_string("scurry.runner", "local")
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        if factory is None:
            builder: Any = StreamingFileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
            builder.with_rolling_policy(RollingPolicy.default_rolling_policy())
            stream: DataStream = env.from_collection(["a", "b"], Types.STRING())
        else:
            builder = StreamingFileSink.for_bulk_format(str(tmp_path), factory)
            stream = env.from_collection([Row("a"), Row("b")], Types.ROW_NAMED(["a"], [Types.STRING()]))
        builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()).with_bucket_check_interval(1000)
        builder.with_output_file_config(OutputFileConfig("p", ".txt"))
        stream.add_sink(builder.build())
        env.execute()
        assert records(tmp_path) == ["a", "b"]
        assert all(name.startswith("p-") and name.endswith(".txt") for name in visible(tmp_path))
