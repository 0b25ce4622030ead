"""Lake tables on Spark: written by one job, read by another while they grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Row, Types, WatermarkStrategy
from scurry.connectors.sink import WriterContext
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.delta import DeltaSink, DeltaSource
from scurry.datastream.connectors.iceberg import IcebergSink, IcebergSource, TableLoader
from scurry.table.types import DataTypes

pytestmark = pytest.mark.spark

COLUMNS = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
NUMBER = Types.ROW_NAMED(["n"], [Types.LONG()])


def environment(mode: str) -> StreamExecutionEnvironment:
    settings = {"execution.runtime-mode": mode, "parallelism.default": "2", "pipeline.max-parallelism": "8"}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))


def delta(directory: Path) -> tuple[Any, Any]:
    path = str(directory / "table")
    sink = DeltaSink.for_row_data(path, COLUMNS).build()
    return sink, lambda: DeltaSource.for_continuous_row_data(path).update_check_interval_millis(200).build()


def iceberg(directory: Path) -> tuple[Any, Any]:
    properties = {"type": "sql", "uri": f"sqlite:///{directory}/catalog.db", "warehouse": f"file://{directory}/data"}
    table = TableLoader.from_catalog(properties, "db.numbers")
    sink = IcebergSink.for_row_data(COLUMNS).table_loader(table).build()
    return sink, lambda: IcebergSource.for_row_data().table_loader(table).streaming(True).monitor_interval(200).build()


@pytest.mark.parametrize("lake", [delta, iceberg])
def test_a_table_is_written_and_read_while_it_grows(spark: Any, tmp_path: Path, lake: Any) -> None:
    sink, source = lake(tmp_path)
    env = environment("BATCH")
    env.from_collection([Row(n) for n in range(10)], NUMBER).sink_to(sink)
    env.execute()
    env = environment("STREAMING")
    stream = env.from_source(source(), WatermarkStrategy.no_watermarks(), "table").map(lambda row: row.n, Types.LONG())
    with stream.execute_and_collect() as records:
        assert sorted(next(records) for _ in range(10)) == list(range(10))
        committer = sink.create_committer("another")
        writer = sink.create_writer(WriterContext(0, 1, 0, "another"))
        writer.write([Row(10), Row(11)])
        committer.commit(0, writer.prepare_commit())
        assert sorted(next(records) for _ in range(2)) == [10, 11]
