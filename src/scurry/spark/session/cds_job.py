"""Load the classes that most batch and streaming jobs need into a JVM that writes the class-data archive.

``scurry.spark.session.cds`` runs this in another process, with the JVM options as arguments. It ends after the JVM has
exited, because the JVM writes the archive last.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from scurry.spark.session.jvm_classes.file_system import file_system_options

_SECONDS_TO_WRITE_THE_ARCHIVE = 120


class _Count(StatefulProcessor):
    """Count rows per group, in the state store that jobs use."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._pages = handle.getMapState("pages", "page int", "rows long")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        stored = self._pages.getValue((0,))
        count = (stored[0] if stored else 0) + sum(1 for _ in rows)
        self._pages.updateValue((0,), (count,))
        yield Row(group=key[0], rows=count)

    def close(self) -> None:
        pass


def _unchanged(batches: Iterable[Any]) -> Iterator[Any]:
    yield from batches


def _ignore(batch: DataFrame, batch_id: int) -> None:
    batch.collect()


def _run_jobs(spark: SparkSession, directory: Path) -> None:
    numbers = spark.range(100).selectExpr("cast(id % 2 as int) as group", "id as value")
    numbers.write.json(str(directory / "in"))
    schema = "group int, value long"
    sorted_rows = numbers.mapInArrow(_unchanged, schema).repartition(2, "group").sortWithinPartitions("group", "value")
    sorted_rows.mapInArrow(_unchanged, schema).collect()
    stream = spark.readStream.schema(schema).json(str(directory / "in")).mapInArrow(_unchanged, schema)
    counted = stream.groupBy("group").transformWithState(_Count(), "group int, rows long", "append", "none")
    query = (
        counted.writeStream.foreachBatch(_ignore)
        .option("checkpointLocation", str(directory / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def main(jvm_options: list[str]) -> None:
    """Run the jobs in a JVM with the given options and wait until that JVM has exited.

    Args:
        jvm_options: Options for the JVM, from ``scurry.spark.session.cds.dump_options``.
    """
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]")
    for key, value in file_system_options().items():
        builder = builder.config(key, value)
    spark = (
        builder.config("spark.driver.extraJavaOptions", shlex.join(jvm_options))
        .config("spark.python.unix.domain.socket.enabled", "true")
        .config("spark.sql.shuffle.partitions", "2")
        .config(
            "spark.sql.streaming.stateStore.providerClass",
            "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        )
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    with tempfile.TemporaryDirectory() as directory:
        _run_jobs(spark, Path(directory))
    gateway: Any = spark.sparkContext._gateway
    spark.stop()
    # The gateway JVM exits when its standard input closes.
    gateway.proc.stdin.close()
    gateway.proc.wait(_SECONDS_TO_WRITE_THE_ARCHIVE)


if __name__ == "__main__":
    main(sys.argv[1:])
