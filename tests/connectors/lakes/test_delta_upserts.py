"""'write.upsert.enabled' of Delta tables: rows are written by their primary key, a micro-batch is merged once."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import deltalake
import pyarrow as pa
import pytest

from scurry.connectors.lakes.delta_sink import DeltaSink
from scurry.connectors.lakes.delta_upserts import DeltaUpsertSink
from scurry.connectors.sink import WriterContext
from scurry.errors import SinkCommitError, ValidationError
from scurry.sql.connectors.contract import Changes
from scurry.sql.connectors.lakes.columns import UpsertTables, lake_row
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import IntType, VarCharType
from scurry.table import EnvironmentSettings, TableEnvironment

INSERT, AFTER, DELETE = 0, 2, 3
COLUMNS = (FormatColumn("id", IntType(False)), FormatColumn('a "b"', VarCharType(10)))


def environment() -> TableEnvironment:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    return env


def content(path: Path) -> list[tuple[Any, ...]]:
    table = deltalake.DeltaTable(str(path)).to_pyarrow_table()
    return sorted(zip(*(column.to_pylist() for column in table.columns), strict=True), key=repr)


def test_rows_of_a_query_that_updates_and_deletes(tmp_path: Path) -> None:
    env = environment()
    env.execute_sql(
        "CREATE TABLE totals (k STRING, n BIGINT, `at` TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED) WITH "
        f"('connector' = 'delta', 'table-path' = '{tmp_path / 't'}', 'write.upsert.enabled' = 'true')"
    )
    for _ in range(2):  # the second job replaces rows of the first one
        env.execute_sql(
            "INSERT INTO totals SELECT k, n, TIMESTAMP '2026-01-31 12:00:00' FROM (SELECT k, COUNT(*) AS n FROM "
            "(VALUES ('a'), ('b'), ('a'), ('a')) AS t (k) GROUP BY k) WHERE n <> 2"
        ).wait()
    at = datetime.datetime(2026, 1, 31, 12)
    assert content(tmp_path / "t") == [("a", 3, at), ("b", 1, at)]


def test_a_key_is_needed(tmp_path: Path) -> None:
    env = environment()
    options = f"'connector' = 'delta', 'table-path' = '{tmp_path / 't'}', 'write.upsert.enabled' = 'true'"
    env.execute_sql(f"CREATE TABLE totals (k STRING) WITH ({options})")
    with pytest.raises(ValidationError, match="needs a primary key"):
        env.execute_sql("INSERT INTO totals VALUES ('a')")


def upserts(path: Path, partitions: tuple[str, ...] = ()) -> DeltaUpsertSink:
    return DeltaUpsertSink(DeltaSink.of(str(path), lake_row(COLUMNS), partitions, False, UpsertTables), ("id",))


def written(sink: DeltaUpsertSink, batch: int, rows: list[tuple[int, int, str | None]]) -> list[Any]:
    writer = sink.create_writer(WriterContext(0, 1, batch, "s"))
    kinds, ids, values = zip(*rows, strict=True)
    columns = [pa.array(ids, pa.int32()), pa.array(values, pa.string())]
    writer.write([Changes(pa.record_batch(columns, [each.name for each in COLUMNS]), list(kinds))])
    return writer.prepare_commit()


@pytest.mark.parametrize("partitions", [(), ('a "b"',)])
def test_changes_are_merged_once(tmp_path: Path, partitions: tuple[str, ...]) -> None:
    sink = upserts(tmp_path, partitions)
    committer = sink.create_committer("s")
    committer.commit(0, written(sink, 0, [(INSERT, 1, "x"), (AFTER, 2, None), (DELETE, 3, "y")]))
    committer.commit(1, written(sink, 1, [(DELETE, 1, "x"), (AFTER, 2, "z"), (AFTER, 4, "w")]))
    assert content(tmp_path) == [(2, "z"), (4, "w")]
    committer.commit(1, written(sink, 1, [(AFTER, 9, "late")]))
    assert content(tmp_path) == [(2, "z"), (4, "w")]
    assert not list((tmp_path / "_scurry_changes").iterdir())
    assert deltalake.DeltaTable(str(tmp_path)).version() == 2


def test_changes_that_are_gone_are_an_error(tmp_path: Path) -> None:
    sink = upserts(tmp_path)
    committables = written(sink, 0, [(AFTER, 1, "x")])
    (tmp_path / committables[0]).unlink()
    with pytest.raises(SinkCommitError, match="is missing"):
        sink.create_committer("s").commit(0, committables)


def test_what_a_failed_task_has_staged_is_deleted(tmp_path: Path) -> None:
    sink = upserts(tmp_path)
    writer = sink.create_writer(WriterContext(0, 1, 0, "s"))
    batch = pa.record_batch([pa.array(range(20_000), pa.int32()), pa.nulls(20_000, pa.string())], ["id", 'a "b"'])
    writer.write([Changes(batch, [AFTER] * 20_000)])
    writer.abort()
    assert not list((tmp_path / "_scurry_changes").iterdir())
