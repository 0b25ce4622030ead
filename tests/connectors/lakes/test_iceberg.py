"""Iceberg tables, in a catalog of SQLite: what is written is there once whatever fails, and is read as it grows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Row, Types, WatermarkStrategy
from scurry.connectors.sink import Committer, WriterContext
from scurry.connectors.source import BatchLimits
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.connectors.iceberg import IcebergSink, IcebergSource, TableLoader
from scurry.errors import ArgumentError, ExtraMissingError, SourceConnectionError, SourceNotFoundError
from scurry.table.types import DataTypes
from support.connectors.column_values import NULLS, ROW_OF_ALL, VALUES

Drive = Callable[..., Any]
Write = Callable[..., list[Any]]

COLUMNS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT()), DataTypes.FIELD("name", DataTypes.STRING())])
PAIR = Types.ROW_NAMED(["n", "name"], [Types.LONG(), Types.STRING()])


@pytest.fixture
def table(tmp_path: Path) -> TableLoader:
    return at(tmp_path)


def at(directory: Path, name: str = "db.numbers") -> TableLoader:
    properties = {
        "type": "sql",
        "uri": f"sqlite:///{directory}/catalog.db",
        "warehouse": f"file://{directory}/warehouse",
    }
    return TableLoader.from_catalog(properties, name)


def rows_of(table: TableLoader) -> list[Any]:
    return sorted(table._table.load().scan().to_arrow().to_pylist(), key=lambda row: row["n"])


def numbers(table: TableLoader) -> list[int]:
    return [row["n"] for row in rows_of(table)]


def plain(table: TableLoader) -> IcebergSink:
    return IcebergSink.for_row_data(COLUMNS).table_loader(table).build()


def commit(sink: IcebergSink, write: Write, batch: int, *values: int) -> Committer:
    committer = sink.create_committer("job-sink")
    committer.commit(batch, write(sink, batch, [[Row(value, f"r{value}")] for value in values]))
    return committer


def data_files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.rglob("*.parquet"))


class TestWriting:
    def test_makes_the_table_and_a_snapshot_per_batch(self, table: TableLoader, write: Write) -> None:
        commit(plain(table), write, 0, 1, 2)
        commit(plain(table), write, 1, 3).commit(2, [])
        assert rows_of(table) == [{"n": n, "name": f"r{n}"} for n in (1, 2, 3)]
        summaries = [snapshot.summary for snapshot in table._table.load().snapshots()]
        assert [summary["scurry.batch-id"] for summary in summaries] == ["0", "1"]

    def test_a_batch_that_died_between_the_tables_commit_and_its_own_is_written_once(
        self, table: TableLoader, write: Write, tmp_path: Path
    ) -> None:
        sink = plain(table)
        commit(sink, write, 0, 1)
        commit(sink, write, 1, 2, 3)
        files = data_files(tmp_path)
        commit(sink, write, 1, 2, 3)  # the job has died, and repeats the batch
        assert numbers(table) == [1, 2, 3]
        assert data_files(tmp_path) == files
        commit(sink, write, 2, 4)
        assert numbers(table) == [1, 2, 3, 4]

    def test_the_same_files_may_be_committed_again(self, table: TableLoader, write: Write) -> None:
        sink = plain(table)
        sink.create_committer("job-sink")  # creates the table
        files = write(sink, 0, [[Row(1, "a"), Row(2, "b")]])
        for _ in range(2):  # the job has died after the commit, and its checkpoint has the files
            sink.create_committer("job-sink").commit(0, files)
        assert numbers(table) == [1, 2]

    def test_a_batch_that_died_before_its_commit_is_written_once(self, table: TableLoader, write: Write) -> None:
        sink = plain(table)
        commit(sink, write, 0, 1)
        write(sink, 1, [[Row(2, "b")]])
        assert numbers(table) == [1]
        commit(sink, write, 1, 2)
        assert numbers(table) == [1, 2]

    def test_a_commit_that_meets_another_looks_again_whether_it_is_done(
        self, table: TableLoader, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sink = plain(table)
        commit(sink, write, 0, 0)
        stale = [table._table.load(), table._table.load()]
        commit(sink, write, 1, 1)
        load = type(sink.table).load
        files = write(sink, 1, [[Row(1, "r1")]])
        committer = sink.create_committer("job-sink")
        monkeypatch.setattr(type(sink.table), "load", lambda self: stale.pop() if stale else load(self))
        committer.commit(1, files)
        assert numbers(table) == [0, 1]

    def test_a_commit_that_meets_another_sinks_is_tried_again(
        self, table: TableLoader, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sink = plain(table)
        commit(sink, write, 0, 0)
        stale = [table._table.load()]
        sink.create_committer("other").commit(0, write(sink, 0, [[Row(1, "r1")]], "other"))
        load = type(sink.table).load
        files = write(sink, 1, [[Row(2, "r2")]])
        committer = sink.create_committer("job-sink")
        monkeypatch.setattr(type(sink.table), "load", lambda self: stale.pop() if stale else load(self))
        committer.commit(1, files)
        assert numbers(table) == [0, 1, 2]

    def test_a_task_that_fails_leaves_no_files(
        self, table: TableLoader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from scurry.connectors.lakes import iceberg_sink

        monkeypatch.setattr(iceberg_sink, "HELD_RECORDS", 1)
        sink = plain(table)
        sink.create_committer("job-sink")
        writer = sink.create_writer(WriterContext(0, 1, 0, "job-sink"))
        writer.write([Row(1, "a")])
        assert len(data_files(tmp_path)) == 1
        writer.abort()
        assert data_files(tmp_path) == []

    def test_partitions_are_the_tables(self, table: TableLoader, write: Write) -> None:
        sink = IcebergSink.for_row_data(COLUMNS).table_loader(table).with_partition_columns("name").build()
        committer = sink.create_committer("job-sink")
        committer.commit(0, write(sink, 0, [[Row(1, "a"), Row(2, "b"), Row(3, None), Row(4, "a")]]))
        assert [row["name"] for row in rows_of(table)] == ["a", "b", None, "a"]
        assert len(list(table._table.load().scan().plan_files())) == 3

    def test_other_columns_than_the_tables_are_refused_before_the_job_starts(
        self, table: TableLoader, write: Write
    ) -> None:
        commit(plain(table), write, 0, 1)
        wrong = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.STRING())])
        with pytest.raises(ArgumentError, match=r"has the columns n BIGINT, name STRING, the sink writes n STRING"):
            IcebergSink.for_row_data(wrong).table_loader(table).build().create_committer("x")

    def test_a_table_must_be_named(self) -> None:
        with pytest.raises(ArgumentError, match="table_loader"):
            IcebergSink.for_row_data(COLUMNS).build()

    def test_the_missing_package_is_named(self, table: TableLoader, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pyiceberg", None)
        for build in (plain, lambda loader: IcebergSource.for_row_data().table_loader(loader).build()):
            with pytest.raises(ExtraMissingError, match=r"pip install 'scurry\[iceberg\]'"):
                build(table)

    def test_credentials_are_not_shown(self) -> None:
        loader = TableLoader.from_catalog({"type": "rest", "uri": "http://u", "credential": "id:secret"}, "db.t")
        assert "secret" not in repr(IcebergSink.for_row_data(COLUMNS).table_loader(loader).build())


class TestReading:
    @pytest.fixture
    def grown(self, table: TableLoader, write: Write) -> TableLoader:
        for batch in range(3):
            commit(plain(table), write, batch, 10 * batch, 10 * batch + 1)
        return table

    def source(self, table: TableLoader) -> IcebergSource.Builder:
        return IcebergSource.for_row_data().table_loader(table).monitor_interval(0)

    def test_gives_the_newest_snapshot_and_ends(self, grown: TableLoader, drive: Drive) -> None:
        source = self.source(grown).build()
        assert source.produced_type == PAIR and source.bounded
        found = drive(source, 2, BatchLimits(max_bytes=1)).batches(restarting=True)
        assert sorted(row.n for batch in found for rows in batch.values() for row in rows) == [0, 1, 10, 11, 20, 21]

    def test_gives_the_table_as_it_was(self, grown: TableLoader, drive: Drive) -> None:
        snapshot = grown._table.load().snapshots()[1].snapshot_id
        found = drive(self.source(grown).snapshot_id(snapshot).build()).all()
        assert sorted(row.n for row in found) == [0, 1, 10, 11]

    def test_goes_on_with_what_is_appended(self, grown: TableLoader, drive: Drive, write: Write) -> None:
        driver = drive(self.source(grown).streaming(True).build())
        assert sorted(row.n for row in driver.batch()[0]) == [0, 1, 10, 11, 20, 21]
        assert driver.batch() == {}
        commit(plain(grown), write, 3, 30)
        driver.restart()
        commit(plain(grown), write, 4, 40)
        assert sorted(row.n for row in driver.batch()[0]) == [30, 40]
        assert driver.batch() == {}

    def test_begins_with_a_snapshot_or_with_what_comes(self, grown: TableLoader, drive: Drive, write: Write) -> None:
        second = grown._table.load().snapshots()[1].snapshot_id
        after = drive(self.source(grown).start_snapshot_id(second).build())
        latest = drive(self.source(grown).starting_from_latest().build())
        assert after.batch() == latest.batch() == {}
        commit(plain(grown), write, 3, 30)
        assert sorted(row.n for row in after.batch()[0]) == [20, 21, 30]
        assert [row.n for row in latest.batch()[0]] == [30]

    def test_begins_before_the_first_snapshot(self, table: TableLoader, drive: Drive, write: Write) -> None:
        plain(table).create_committer("job-sink")
        driver = drive(self.source(table).streaming(True).build())
        assert driver.batch() == {}
        commit(plain(table), write, 0, 1)
        commit(plain(table), write, 1, 2)
        assert sorted(row.n for row in driver.batch()[0]) == [1, 2]

    def test_gives_nothing_that_was_deleted(self, grown: TableLoader, drive: Drive) -> None:
        grown._table.load().delete("n < 11")
        assert sorted(row.n for row in drive(self.source(grown).build()).all()) == [11, 20, 21]

    def test_passes_over_what_deletes(self, grown: TableLoader, drive: Drive, write: Write) -> None:
        driver = drive(self.source(grown).starting_from_latest().build())
        assert driver.batch() == {}
        grown._table.load().delete("n < 11")
        assert driver.batch() == {}
        commit(plain(grown), write, 3, 30)
        assert [row.n for row in driver.batch()[0]] == [30]

    def test_finds_columns_that_were_renamed(self, grown: TableLoader, drive: Drive) -> None:
        with grown._table.load().update_schema() as update:
            update.rename_column("name", "label")
        found = drive(self.source(grown).column_names("label").build()).all()
        assert sorted(row.label for row in found) == ["r0", "r1", "r10", "r11", "r20", "r21"]

    def test_says_so_when_a_snapshot_is_gone(self, grown: TableLoader, drive: Drive, write: Write) -> None:
        driver = drive(self.source(grown).streaming(True).build())
        driver.batch()
        driver.enumerator._version = 12345
        commit(plain(grown), write, 3, 30)
        with pytest.raises(SourceConnectionError, match="snapshot 12345 of the Iceberg table db.numbers"):
            driver.batch()

    def test_what_is_not_there_is_named(self, grown: TableLoader, tmp_path: Path) -> None:
        with pytest.raises(SourceNotFoundError, match=r"no Iceberg table db\.letters"):
            self.source(at(tmp_path, "db.letters")).build()
        with pytest.raises(SourceNotFoundError, match="no snapshot 7"):
            self.source(grown).snapshot_id(7).build()
        with pytest.raises(ArgumentError, match="no column 'names'; it has n BIGINT, name STRING"):
            self.source(grown).column_names("names").build()

    def test_a_catalog_that_cannot_be_opened_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ArgumentError, match="cannot be opened with the properties type"):
            self.source(TableLoader.from_catalog({"type": "nonsense"}, "db.t")).build()
        nowhere = {"type": "rest", "uri": "http://127.0.0.1:1"}
        with pytest.raises(SourceConnectionError, match="catalog 'default' cannot be queried for db.t"):
            self.source(TableLoader.from_catalog(nowhere, "db.t")).build()


def test_values_of_all_types_come_back(table: TableLoader, write: Write, drive: Drive) -> None:
    sink = IcebergSink.for_row_data(ROW_OF_ALL).table_loader(table).with_partition_columns("a").build()
    committer = sink.create_committer("job-sink")
    committer.commit(0, write(sink, 0, [[Row(*VALUES), Row(*NULLS)]]))
    committer = sink.create_committer("job-sink")  # finds the table as it has made it
    found = drive(IcebergSource.for_row_data().table_loader(table).build()).all()
    assert sorted((list(row) for row in found), key=lambda row: row[0] is None) == [VALUES, NULLS]


def test_jobs_write_and_read_tables(table: TableLoader) -> None:
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    records = env.from_collection([Row(n, f"r{n}") for n in range(100)], PAIR)
    records.key_by(lambda row: row.n % 3).filter(lambda row: row.n % 2 == 0).sink_to(plain(table))
    env.execute()
    source = IcebergSource.for_row_data().table_loader(table).build()
    read = env.from_source(source, WatermarkStrategy.no_watermarks(), "table").map(lambda row: row.n)
    assert sorted(read.execute_and_collect()) == list(range(0, 100, 2))
