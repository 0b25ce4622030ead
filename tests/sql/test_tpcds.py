"""TPC-DS's 103 queries in BATCH, in this process and on Spark, have the rows that DuckDB finds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment
from support.tpcds import QUERIES, Benchmark, assert_same_rows

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return Benchmark(tmp_path_factory.mktemp("tpcds"))


@pytest.fixture(scope="module", params=["local", pytest.param("spark", marks=pytest.mark.spark)])
def env(request: pytest.FixtureRequest, benchmark: Benchmark) -> Iterator[TableEnvironment]:
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("scurry.runner", request.param)
    env.get_config().set("parallelism.default", "2")
    benchmark.declare(env)
    yield env


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_has_the_rows_that_duckdb_finds(name: str, env: TableEnvironment, benchmark: Benchmark) -> None:
    rows = [tuple(row) for row in env.execute_sql(benchmark.query(name)).collect()]

    assert_same_rows(rows, benchmark.answer(name))
