"""Results of queries in BATCH that are larger than what is kept in memory are paged to disk, up to Spark's limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from scurry.connectors.collect_sink import MOST_WAITING_BYTES
from scurry.errors import SparkFailedError
from scurry.spark.tables.results import KeptBatches
from scurry.spark.workers.failures import failure_of
from scurry.sql.gateway.operations import PAGE_ROWS, Operation
from scurry.table import EnvironmentSettings, TableEnvironment


def batch(number: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"x": pa.array(range(number * 100, number * 100 + 100), pa.int64())})


@pytest.mark.parametrize("most_bytes", [0, 800, 2000, 1_000_000])
def test_batches_come_back_in_any_order_whether_in_memory_or_on_disk(most_bytes: int) -> None:
    kept = KeptBatches(most_bytes)
    for number in range(5):
        kept.add(batch(number))
    for number in (3, 0, 4, 1, 2):
        assert kept.take(number).equals(batch(number))
    kept.close()


def test_no_more_than_the_limit_is_in_memory() -> None:
    before = pa.total_allocated_bytes()
    kept = KeptBatches(most_bytes=100_000)
    for number in range(1000):
        kept.add(batch(number))
    assert pa.total_allocated_bytes() - before < 200_000
    kept.close()


@pytest.fixture(scope="module")
def rows_on_spark(spark: Any) -> Iterator[TableEnvironment]:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", "spark")
    env.get_config().set("parallelism.default", "2")
    env.execute_sql(
        "CREATE TABLE numbers (x BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '3000000', "
        "'rows-per-second' = '1000000000', "
        "'fields.x.kind' = 'sequence', 'fields.x.start' = '1', 'fields.x.end' = '3000000')"
    )
    yield env


@pytest.mark.spark
def test_a_large_result_that_a_client_of_the_gateway_does_not_fetch_is_not_in_memory(
    rows_on_spark: TableEnvironment,
) -> None:
    before = pa.total_allocated_bytes()
    operation = Operation(lambda: rows_on_spark.execute_sql("SELECT x FROM numbers ORDER BY x")._result, lambda: False)
    operation.start()
    page = operation.fetch(0)
    while not page.rows:
        page = operation.fetch(0 if page.next_token is None else page.next_token)
    assert page.rows[0][1][0] == 1
    assert pa.total_allocated_bytes() - before < 2 * MOST_WAITING_BYTES  # the result has 24 MB
    taken = len(page.rows)
    while page.next_token is not None:
        page = operation.fetch(page.next_token)
        assert len(page.rows) <= PAGE_ROWS
        assert not page.rows or page.rows[0][1][0] == taken + 1
        taken += len(page.rows)
    assert taken == 3_000_000


def test_a_result_above_the_limit_of_spark_says_what_to_do() -> None:
    text = "Total size of serialized results of 3 tasks (1025.0 MiB) is bigger than spark.driver.maxResultSize (1 GiB)"
    failed = failure_of(RuntimeError(text))
    assert isinstance(failed, SparkFailedError)
    assert re.search("hint: write the rows with INSERT INTO a table, take fewer with LIMIT", str(failed))
