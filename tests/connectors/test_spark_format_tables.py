"""`'connector' = 'spark'` where there is no Spark."""

from __future__ import annotations

import pytest

from scurry.errors import JobError, UnsupportedError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment


def environment(settings: EnvironmentSettings, options: str = "", column: str = "i INT") -> TableEnvironment:
    made = TableEnvironment.create(settings)
    made.get_config().set("scurry.runner", "local")
    made.execute_sql(
        f"CREATE TABLE t ({column}) WITH ('connector' = 'spark', 'format' = 'text', 'path' = '/tmp/none'{options})"
    )
    return made


@pytest.mark.parametrize("statement", ["SELECT * FROM t", "INSERT INTO t VALUES (1)"])
def test_it_needs_spark(statement: str) -> None:
    env = environment(EnvironmentSettings.in_batch_mode())
    with pytest.raises((UnsupportedError, JobError), match="needs Spark: leave scurry.runner=local out"):
        result = env.execute_sql(statement)
        result.wait()
        list(result.collect())


@pytest.mark.parametrize("statement", ["SELECT * FROM t", "INSERT INTO t VALUES (1)"])
def test_it_is_for_batch(statement: str) -> None:
    env = environment(EnvironmentSettings.in_streaming_mode())
    with pytest.raises(UnsupportedError, match="in STREAMING: table default_catalog.default_database.t is read and"):
        env.execute_sql(statement)


def test_options_of_the_format_begin_with_options() -> None:
    env = environment(EnvironmentSettings.in_batch_mode(), ", 'header' = 'true'")
    with pytest.raises(ValidationError, match="Unsupported options: header"):
        env.execute_sql("SELECT * FROM t")


def test_types_that_spark_has_not_are_refused() -> None:
    env = environment(EnvironmentSettings.in_batch_mode(), column="c TIMESTAMP(9)")
    with pytest.raises(UnsupportedError, match=r"column 'c' is TIMESTAMP\(9\), which Spark has not"):
        env.execute_sql("SELECT * FROM t")
