"""Spark DataFrames as sources, Spark's data sources as sinks."""

from __future__ import annotations

import datetime
import os
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Duration, Time, Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import JobError

pytestmark = pytest.mark.spark


def environment(mode: str, **settings: str) -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict(
        {"execution.runtime-mode": mode, "parallelism.default": "2", "pipeline.max-parallelism": "8", **settings}
    )
    return StreamExecutionEnvironment.get_execution_environment(configuration)


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_batch_dataframe_is_a_bounded_source_of_rows(spark: Any, mode: str) -> None:
    frame = spark.sql("SELECT id % 3 AS k, id AS n, named_struct('x', id) AS s, map('a', id) AS m FROM range(100)")
    env = environment(mode)
    sums = (
        env.from_spark(frame)
        .map(lambda row: (row.k, row["n"] + row.s.x + row.m["a"]), Types.TUPLE([Types.LONG(), Types.LONG()]))
        .key_by(lambda pair: pair[0], key_type=Types.LONG())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    with sums.execute_and_collect() as found:
        last = dict(found)
    assert last == {k: sum(3 * n for n in range(k, 100, 3)) for k in range(3)}


class At(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value.at.timestamp() * 1000)


def test_a_streaming_dataframe_meets_event_time_windows(spark: Any, tmp_path: Path) -> None:
    source = str(tmp_path / "in")
    for file, minutes in enumerate((range(0, 5), range(5, 10), range(10, 40))):
        rows = [("a", datetime.datetime(2026, 1, 1, 0, minute, tzinfo=datetime.UTC)) for minute in minutes]
        spark.createDataFrame(rows, "k STRING, at TIMESTAMP").coalesce(1).write.parquet(f"{tmp_path}/{file}")
        (part,) = Path(f"{tmp_path}/{file}").glob("part-*.parquet")
        os.makedirs(source, exist_ok=True)
        part.rename(f"{source}/{file}.parquet")
    frame = spark.readStream.schema("k STRING, at TIMESTAMP").option("maxFilesPerTrigger", 1).parquet(source)
    env = environment("STREAMING")
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_minutes(1)).with_timestamp_assigner(At())
    counts = (
        env.from_spark(frame, strategy)
        .map(lambda row: (row.k, 1), output_type=Types.TUPLE([Types.STRING(), Types.LONG()]))
        .key_by(lambda pair: pair[0], key_type=Types.STRING())
        .window(TumblingEventTimeWindows.of(Time.minutes(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    assert counts.execute_and_collect("windows", 3) == [("a", 10)] * 3


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_records_become_rows_of_a_spark_data_source(spark: Any, tmp_path: Path, mode: str) -> None:
    env = environment(mode, **{"scurry.batch.max-records": "400"})
    pair = Types.ROW_NAMED(["n", "text"], [Types.LONG(), Types.STRING()])
    from scurry.common import Row

    numbers = env.from_collection(list(range(1000)), Types.LONG())
    numbers.map(lambda n: Row(n=n, text=f"<{n}>"), output_type=pair).to_spark("parquet", {"path": f"{tmp_path}/rows"})
    numbers.filter(lambda n: n % 2 == 0).to_spark("json", {"path": f"{tmp_path}/even"}, columns={"number": "INT"})
    numbers.filter(lambda n: n > 9999).to_spark("parquet", {"path": f"{tmp_path}/none"})
    env.execute()
    rows = spark.read.parquet(f"{tmp_path}/rows").orderBy("n").collect()
    assert [tuple(row) for row in rows] == [(n, f"<{n}>") for n in range(1000)]
    even = spark.read.json(f"{tmp_path}/even").orderBy("number").collect()
    assert [row.number for row in even] == list(range(0, 1000, 2))
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("lake", ["delta", "iceberg"])
def test_a_lake_without_a_package_for_this_spark_has_a_connector(spark: Any, tmp_path: Path, lake: str) -> None:
    env = environment("BATCH")
    numbers = env.from_collection([1, 2], Types.INT())
    numbers.to_spark(lake, {"path": f"{tmp_path}/table"}, columns={"n": "INT"})
    with pytest.raises(JobError, match=rf"to_spark\('{lake}'\) needs a package.*{lake.capitalize()}Sink"):
        env.execute()


def test_a_restarted_job_reads_the_rows_its_dataframe_had_at_first(spark: Any, tmp_path: Path) -> None:
    settings = {"execution.checkpointing.dir": str(tmp_path / "checkpoints")}

    def run(rows: int) -> list[Any]:
        env = environment("STREAMING", **settings)
        stream = env.from_spark(spark.range(rows)).map(_fail_once(tmp_path / "failed"), output_type=Types.LONG())
        return sorted(stream.execute_and_collect())

    with pytest.raises(Exception, match="not yet"):
        run(10)
    assert run(1000) == list(range(10))


def _fail_once(mark: Path) -> Any:
    def number(row: Any) -> int:
        if not mark.exists():
            mark.touch()
            raise RuntimeError("not yet")
        return int(row.id)

    return number
