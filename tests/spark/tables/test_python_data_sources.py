"""Classes for Spark's own Python Data Source API, read by from_spark and written by to_spark."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Row, Types
from scurry.datastream import StreamExecutionEnvironment
from support import TESTS

pytestmark = pytest.mark.spark


def shop(directory: str) -> type:
    """A data source that counts orders, and keeps what is written to it."""
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceReader,
        DataSourceWriter,
        InputPartition,
        SimpleDataSourceStreamReader,
        WriterCommitMessage,
    )

    class Reader(DataSourceReader):
        def partitions(self) -> Any:
            return [InputPartition(0), InputPartition(1)]

        def read(self, partition: Any) -> Iterator[tuple[int, str]]:
            yield from ((number, "tea") for number in range(partition.value, 10, 2))

    class StreamReader(SimpleDataSourceStreamReader):
        def initialOffset(self) -> dict[str, int]:
            return {"at": 0}

        def read(self, start: dict[str, int]) -> Any:
            end = min(start["at"] + 5, 20)
            return iter([(number, "cup") for number in range(start["at"], end)]), {"at": end}  # Spark copies it

        def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Any:
            return ((number, "cup") for number in range(start["at"], end["at"]))

    class Writer(DataSourceWriter):
        def write(self, rows: Iterator[Any]) -> WriterCommitMessage:
            import uuid

            with open(f"{directory}/{uuid.uuid4()}.json", "w") as file:
                json.dump([tuple(row) for row in rows], file)
            return WriterCommitMessage()

    class Shop(DataSource):
        @classmethod
        def name(cls) -> str:
            return "shop"

        def schema(self) -> str:
            return "id BIGINT, item STRING"

        def reader(self, schema: Any) -> DataSourceReader:
            return Reader()

        def simpleStreamReader(self, schema: Any) -> SimpleDataSourceStreamReader:
            return StreamReader()

        def writer(self, schema: Any, overwrite: bool) -> DataSourceWriter:
            return Writer()

    return Shop


def environment(mode: str, **settings: str) -> StreamExecutionEnvironment:
    configuration = {"execution.runtime-mode": mode, "parallelism.default": "2", "pipeline.max-parallelism": "8"}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configuration | settings))


def test_rows_are_read_and_written(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "written").mkdir()
    spark.dataSource.register(shop(f"{tmp_path}/written"))
    env = environment("BATCH")
    orders = env.from_spark(spark.read.format("shop").load())
    declared = Types.ROW_NAMED(["id", "item"], [Types.LONG(), Types.STRING()])
    orders.map(lambda row: Row(id=row.id * 2, item=row.item.upper()), output_type=declared).to_spark("shop")
    env.execute()
    written = [row for file in (tmp_path / "written").iterdir() for row in json.loads(file.read_text())]
    assert sorted(written) == [[number * 2, "TEA"] for number in range(10)]


def test_a_stream_is_read_exactly_once_through_restarts(spark: Any, tmp_path: Path) -> None:
    spark.dataSource.register(shop("nowhere"))
    settings = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "1",
                "restart-strategy.fixed-delay.delay": "10 ms"}  # fmt: skip
    mark = tmp_path / "failed"

    def number(row: Any) -> int:
        if row.id == 12 and not mark.exists():
            mark.touch()
            raise ConnectionError("not yet")
        return int(row.id)

    env = environment("STREAMING", **settings)
    numbers = env.from_spark(spark.readStream.format("shop").load()).map(number, output_type=Types.LONG())
    assert sorted(numbers.execute_and_collect("orders", 20)) == list(range(20))
    assert mark.exists()


def test_the_example_in_the_documentation_does_what_it_says(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = TESTS.parent / "docs" / "connectors" / "spark.md"
    code, expected = re.findall(r"```(?:python|text)\n(.*?)```", page.read_text(), re.DOTALL)
    code = code.replace('"totals"', repr(str(tmp_path / "totals")))  # the JVM is where it was started
    exec(compile(code, "spark.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == expected
