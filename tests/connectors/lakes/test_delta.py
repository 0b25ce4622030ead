"""Delta tables: what is written is there once whatever fails, and is read as it was or as it grows."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from scurry.common import Configuration, Row, Types, WatermarkStrategy
from scurry.connectors.sink import Committer
from scurry.connectors.source import BatchLimits
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.delta import DeltaSink, DeltaSource
from scurry.errors import (
    ArgumentError,
    ExtraMissingError,
    SinkCommitError,
    SourceConnectionError,
    SourceNotFoundError,
    UnsupportedError,
)
from scurry.table.types import DataTypes
from support.connectors.column_values import NULLS, ROW_OF_ALL, VALUES

Drive = Callable[..., Any]
Write = Callable[..., list[Any]]

COLUMNS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])
PAIR = Types.ROW_NAMED(["n", "name"], [Types.LONG(), Types.STRING()])


@pytest.fixture
def table(tmp_path: Path) -> str:
    return str(tmp_path / "table")


def rows_of(table: str, **options: Any) -> list[Any]:
    found = pa.table(deltalake.DeltaTable(table, **options).to_pyarrow_table()).to_pylist()
    return sorted(found, key=lambda row: row["n"])


def numbers(table: str) -> list[int]:
    return [row["n"] for row in rows_of(table)]


def plain(table: str) -> DeltaSink:
    return DeltaSink.for_row_data(table, COLUMNS).build()


def commit(sink: DeltaSink, write: Write, batch: int, *values: int, committer: Committer | None = None) -> Committer:
    committer = committer or sink.create_committer("job-sink")
    committer.commit(batch, write(sink, batch, [[Row(value, f"r{value}")] for value in values]))
    return committer


def parquet_files(table: str) -> list[str]:
    return sorted(path.name for path in Path(table).rglob("*.parquet"))


class TestWriting:
    def test_makes_the_table_and_a_version_per_batch(self, table: str, write: Write) -> None:
        committer = commit(plain(table), write, 0, 1, 2)
        committer = commit(plain(table), write, 1, 3, committer=committer)
        committer.commit(2, [])
        assert rows_of(table) == [{"n": n, "name": f"r{n}"} for n in (1, 2, 3)]
        assert deltalake.DeltaTable(table).version() == 2

    def test_shows_nothing_before_the_commit(self, table: str, write: Write) -> None:
        sink = plain(table)
        commit(sink, write, 0, 1)
        write(sink, 1, [[Row(2, "b")]])
        assert numbers(table) == [1]

    def test_a_batch_that_died_before_its_commit_is_written_once(self, table: str, write: Write) -> None:
        sink = plain(table)
        write(sink, 0, [[Row(1, "a")]])
        commit(sink, write, 0, 1)
        assert numbers(table) == [1]

    def test_a_batch_that_died_between_the_tables_commit_and_its_own_is_written_once(
        self, table: str, write: Write
    ) -> None:
        sink = plain(table)
        commit(sink, write, 0, 1)
        commit(sink, write, 1, 2, 3)
        files = parquet_files(table)
        commit(sink, write, 1, 2, 3)  # the job has died, and repeats the batch
        assert numbers(table) == [1, 2, 3]
        assert parquet_files(table) == files
        commit(sink, write, 2, 4)
        assert numbers(table) == [1, 2, 3, 4]

    def test_the_same_files_may_be_committed_again(self, table: str, write: Write) -> None:
        sink = plain(table)
        files = write(sink, 0, [[Row(1, "a"), Row(2, "b")]])
        for _ in range(2):  # the job has died after the commit, and its checkpoint has the files
            sink.create_committer("job-sink").commit(0, files)
        assert numbers(table) == [1, 2]

    def test_a_job_that_is_taken_back_writes_nothing_twice(self, table: str, write: Write) -> None:
        sink = plain(table)
        for batch in (*range(4), *range(1, 5)):
            commit(sink, write, batch, batch)
        assert numbers(table) == [0, 1, 2, 3, 4]

    def test_sinks_do_not_take_each_others_batches_for_their_own(self, table: str, write: Write) -> None:
        sink = plain(table)
        for sink_id in ("one", "two"):
            sink.create_committer(sink_id).commit(0, write(sink, 0, [[Row(1, "a")]], sink_id))
        assert numbers(table) == [1, 1]

    def test_of_two_runs_that_commit_a_batch_at_once_one_fails(
        self, table: str, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sink = plain(table)
        commit(sink, write, 0, 0)
        stale = deltalake.DeltaTable(table)
        commit(sink, write, 1, 1)
        committer = sink.create_committer("job-sink")
        monkeypatch.setattr(committer, "table", lambda: stale)
        with pytest.raises(SinkCommitError, match="another run of this job"):
            commit(sink, write, 1, 1, committer=committer)
        assert numbers(table) == [0, 1]

    def test_a_task_that_fails_leaves_no_files(self, table: str) -> None:
        from scurry.connectors.sink import WriterContext

        writer = plain(table).create_writer(WriterContext(0, 1, 0, "job-sink"))
        writer.write([Row(1, "a")])
        writer.abort()
        assert parquet_files(table) == []

    def test_partitions_are_directories(self, table: str, write: Write) -> None:
        sink = DeltaSink.for_row_data(table, COLUMNS).with_partition_columns("name").build()
        committer = sink.create_committer("job-sink")
        committer.commit(0, write(sink, 0, [[Row(1, "a b"), Row(2, "c/d"), Row(3, None), Row(4, "a b")]]))
        assert {path.parent.name for path in Path(table).rglob("*.parquet")} == {
            "name=a%20b", "name=c%2Fd", "name=__HIVE_DEFAULT_PARTITION__"
        }  # fmt: skip
        assert [row["name"] for row in rows_of(table)] == ["a b", "c/d", None, "a b"]
        assert deltalake.DeltaTable(table).metadata().partition_columns == ["name"]

    def test_other_columns_than_the_tables_are_refused_before_the_job_starts(self, table: str, write: Write) -> None:
        commit(plain(table), write, 0, 1)
        wrong = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.STRING())])
        with pytest.raises(ArgumentError, match=r"has the columns n BIGINT, name STRING, the sink writes n STRING"):
            DeltaSink.for_row_data(table, wrong).build().create_committer("x")
        with pytest.raises(ArgumentError, match=r"partitioned by \[\], the sink says \['name'\]"):
            DeltaSink.for_row_data(table, COLUMNS).with_partition_columns("name").build().create_committer("x")

    def test_missing_columns_are_added_if_asked_for(self, table: str, write: Write) -> None:
        commit(plain(table), write, 0, 1)
        more = DataTypes.ROW([*COLUMNS.fields, DataTypes.FIELD("more", DataTypes.DOUBLE())])
        with pytest.raises(ArgumentError, match="with_merge_schema"):
            DeltaSink.for_row_data(table, more).build().create_committer("x")
        sink = DeltaSink.for_row_data(table, more).with_merge_schema(True).build()
        sink.create_committer("job-sink").commit(1, write(sink, 1, [[Row(2, "b", 0.5)]]))
        assert [row["more"] for row in rows_of(table)] == [None, 0.5]

    def test_the_missing_package_is_named(self, table: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "deltalake", None)
        for build in (plain, lambda path: DeltaSource.for_bounded_row_data(path).build()):
            with pytest.raises(ExtraMissingError, match=r"pip install 'scurry\[delta\]'"):
                build(table)

    def test_a_partition_column_must_be_one_of_the_columns(self, table: str) -> None:
        with pytest.raises(ArgumentError, match="no column 'day'.*n BIGINT, name STRING"):
            DeltaSink.for_row_data(table, COLUMNS).with_partition_columns("day").build()


class TestReading:
    def read(self, drive: Drive, source: Any, **options: Any) -> list[int]:
        return sorted(row.n for row in drive(source, **options).all())

    @pytest.fixture
    def grown(self, table: str, write: Write) -> str:
        for batch in range(3):
            commit(plain(table), write, batch, 10 * batch, 10 * batch + 1)
        return table

    def test_gives_the_newest_version_and_ends(self, grown: str, drive: Drive) -> None:
        source = DeltaSource.for_bounded_row_data(grown).build()
        assert source.produced_type == PAIR
        assert self.read(drive, source, parallelism=2) == [0, 1, 10, 11, 20, 21]
        found = drive(source, 2, BatchLimits(max_bytes=1)).batches(restarting=True)
        assert sorted(row.n for batch in found for rows in batch.values() for row in rows) == [0, 1, 10, 11, 20, 21]

    def test_gives_the_table_as_it_was(self, grown: str, drive: Drive) -> None:
        assert self.read(drive, DeltaSource.for_bounded_row_data(grown).version_as_of(2).build()) == [0, 1, 10, 11]
        written = Path(grown, "_delta_log", f"{2:020}.json").stat().st_mtime  # a version is as old as its file
        moment = datetime.datetime.fromtimestamp(written + 0.001, datetime.UTC).isoformat()
        source = DeltaSource.for_bounded_row_data(grown).timestamp_as_of(moment).build()
        assert self.read(drive, source) in ([0, 1, 10, 11], [0, 1, 10, 11, 20, 21])  # versions may share a millisecond

    def test_goes_on_with_what_is_appended(self, grown: str, drive: Drive, write: Write) -> None:
        source = DeltaSource.for_continuous_row_data(grown).update_check_interval_millis(0).build()
        driver = drive(source)
        assert sorted(row.n for row in driver.batch()[0]) == [0, 1, 10, 11, 20, 21]
        assert driver.batch() == {}
        commit(plain(grown), write, 3, 30)
        driver.restart()
        commit(plain(grown), write, 4, 40)
        assert [row.n for row in driver.batch()[0]] == [30, 40]
        assert driver.batch() == {}

    def test_begins_with_a_version_or_with_what_comes(self, grown: str, drive: Drive, write: Write) -> None:
        def driver(version: int | str) -> Any:
            builder = DeltaSource.for_continuous_row_data(grown).starting_version(version)
            return drive(builder.update_check_interval_millis(0).build())

        assert sorted(row.n for row in driver(3).batch()[0]) == [20, 21]
        latest = driver("latest")
        assert latest.batch() == {}
        commit(plain(grown), write, 3, 30)
        assert [row.n for row in latest.batch()[0]] == [30]

    def test_stops_at_deleted_and_rewritten_records_unless_told_otherwise(self, grown: str, drive: Drive) -> None:
        table = deltalake.DeltaTable(grown)
        builder = DeltaSource.for_continuous_row_data(grown).starting_version("latest").update_check_interval_millis(0)
        strict, lenient = drive(builder.build()), drive(builder.ignore_changes(True).build())
        assert strict.batch() == lenient.batch() == {}
        table.update(predicate="n = 0", updates={"name": "'changed'"})
        with pytest.raises(UnsupportedError, match=r"rewritten records.*ignore_changes\(True\)"):
            strict.batch()
        assert [row.name for row in lenient.batch()[0]] == ["changed"]

    def test_passes_over_what_only_deletes(self, grown: str, drive: Drive) -> None:
        builder = DeltaSource.for_continuous_row_data(grown).starting_version("latest").update_check_interval_millis(0)
        strict, lenient = drive(builder.build()), drive(builder.ignore_deletes(True).build())
        assert strict.batch() == lenient.batch() == {}
        deltalake.DeltaTable(grown).delete("n >= 20")
        with pytest.raises(UnsupportedError, match=r"deleted records.*ignore_deletes\(True\)"):
            strict.batch()
        assert lenient.batch() == {}

    def test_says_so_when_the_log_does_not_reach_back(self, grown: str, drive: Drive, write: Write) -> None:
        source = DeltaSource.for_continuous_row_data(grown).update_check_interval_millis(0).build()
        driver = drive(source)
        driver.batch()
        commit(plain(grown), write, 3, 30)
        commit(plain(grown), write, 4, 40)
        (Path(grown) / "_delta_log" / f"{4:020d}.json").unlink()
        with pytest.raises(SourceConnectionError, match="version 4 .*logRetentionDuration"):
            driver.batch()

    def test_columns_may_be_chosen(self, grown: str, drive: Drive) -> None:
        source = DeltaSource.for_bounded_row_data(grown).column_names("name").build()
        assert sorted(row.name for row in drive(source).all()) == ["r0", "r1", "r10", "r11", "r20", "r21"]
        with pytest.raises(ArgumentError, match="no column 'names'; it has n BIGINT, name STRING"):
            DeltaSource.for_bounded_row_data(grown).column_names("names").build()

    def test_a_table_or_version_that_is_not_there_is_named(self, grown: str, tmp_path: Path) -> None:
        with pytest.raises(SourceNotFoundError, match="there is no Delta table at .*nowhere"):
            DeltaSource.for_bounded_row_data(str(tmp_path / "nowhere")).build()
        with pytest.raises(SourceNotFoundError, match="has no version 99"):
            DeltaSource.for_bounded_row_data(grown).version_as_of(99).build()
        with pytest.raises(ArgumentError, match="exclude each other"):
            DeltaSource.for_bounded_row_data(grown).version_as_of(1).timestamp_as_of("2026-01-01").build()

    def test_a_feature_that_changes_what_is_in_files_is_refused(self, table: str) -> None:
        schema = deltalake.Schema.from_arrow(pa.schema([("n", pa.int64())]))
        deltalake.DeltaTable.create(table, schema, configuration={"delta.enableDeletionVectors": "true"})
        with pytest.raises(UnsupportedError, match="feature deletionVectors"):
            DeltaSource.for_bounded_row_data(table).build()


def test_values_of_all_types_come_back(table: str, write: Write, drive: Drive) -> None:
    sink = DeltaSink.for_row_data(table, ROW_OF_ALL).with_partition_columns("n", "a", "t").build()
    sink.create_committer("job-sink").commit(0, write(sink, 0, [[Row(*VALUES), Row(*NULLS)]]))
    found = drive(DeltaSource.for_bounded_row_data(table).build()).all()
    assert sorted((list(row) for row in found), key=lambda row: row[0] is None) == [VALUES, NULLS]


def test_jobs_write_and_read_tables(table: str) -> None:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    records = env.from_collection([Row(n, f"r{n}") for n in range(100)], PAIR)
    records.key_by(lambda row: row.n % 3).filter(lambda row: row.n % 2 == 0).sink_to(plain(table))
    env.execute()
    source = DeltaSource.for_bounded_row_data(table).build()
    read = env.from_source(source, WatermarkStrategy.no_watermarks(), "table").map(lambda row: row.n)
    assert sorted(read.execute_and_collect()) == list(range(0, 100, 2))
