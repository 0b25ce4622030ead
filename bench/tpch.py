"""TPC-H in BATCH on Spark: scurry's Flink SQL next to Spark's own SQL on the same Parquet files, query by query.

    tpchgen-cli parquet -s 1 --output-dir=DATA        (PyPI: tpchgen-cli)
    python bench/tpch.py DATA [QUERY ...]

Both run in one session and take turns; times are whole queries, from text to rows in Python. Rows are compared.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

PEERS = Path(os.environ.get("CONFORMANCE", Path(__file__).resolve().parents[2] / "shared" / "conformance"))
sys.path[:0] = [str(PEERS / "sql" / "tpch"), str(PEERS / "sql")]

import run as tpch  # type: ignore[import-not-found]  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

from scurry.table import EnvironmentSettings, TableEnvironment  # noqa: E402


def environment(data: str) -> TableEnvironment:
    """Return an environment with the tables."""
    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    env.get_config().set("parallelism.default", str(os.cpu_count()))
    for table, columns in tpch.TABLES.items():
        path = f"{data}/{table}.parquet"
        env.execute_sql(
            f"CREATE TABLE {table} ({columns}) WITH ('connector'='filesystem', 'path'='{path}', 'format'='parquet')"
        )
    return env


def timed(query: Callable[[], list[Any]]) -> tuple[float, list[Any]]:
    """Return how long a query takes, and its rows."""
    start = time.perf_counter()
    rows = query()
    return time.perf_counter() - start, rows


def texts(rows: list[Any]) -> list[list[str]]:
    """Return rows as comparable texts."""
    return tpch.rows_of([[None if value is None else str(value) for value in row] for row in rows])  # type: ignore[no-any-return]


def main(data: str, names: list[str]) -> None:
    """Run the queries and print seconds and ratios."""
    env = environment(data)
    list(env.execute_sql("SELECT COUNT(*) FROM region").collect())  # starts Spark
    # Spark's side gets the settings a user gets: those of a session of its own, not scurry's
    spark = SparkSession.getActiveSession() or SparkSession._instantiatedSession
    assert spark is not None, "scurry has started Spark"
    spark = spark.newSession()
    spark.conf.set("spark.sql.codegen.wholeStage", "true")
    spark.conf.set("spark.sql.adaptive.enabled", "true")
    spark.conf.set("spark.sql.shuffle.partitions", str(os.cpu_count()))
    for table in tpch.TABLES:
        spark.read.parquet(f"{data}/{table}.parquet").createOrReplaceTempView(table)
    totals = [0.0, 0.0]
    for name in names or tpch.NAMES:
        text = tpch.query(name)
        ours, rows = timed(lambda text=text: [list(row) for row in env.execute_sql(text).collect()])
        theirs, expected = timed(lambda text=text: [list(row) for row in spark.sql(text).collect()])
        equal = texts(rows) == texts(expected)
        totals = [totals[0] + ours, totals[1] + theirs]
        verdict = "equal" if equal else "DIFFERENT"
        print(f"{name:4} scurry {ours:6.2f} s  Spark SQL {theirs:6.2f} s  {ours / theirs:5.2f}  {verdict}")
    print(f"sum  scurry {totals[0]:6.2f} s  Spark SQL {totals[1]:6.2f} s  {totals[0] / totals[1]:5.2f}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
