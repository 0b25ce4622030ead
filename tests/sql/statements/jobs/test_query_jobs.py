"""Jobs of queries whose rows are taken late, or not at all."""

from __future__ import annotations

import threading

import pytest

from scurry.errors import EvaluationError, JobCancelledError, JobError
from scurry.table import EnvironmentSettings, TableEnvironment


@pytest.fixture(params=["batch", "streaming"])
def env(request: pytest.FixtureRequest) -> TableEnvironment:
    settings = EnvironmentSettings.new_instance().in_batch_mode().build()
    if request.param == "streaming":
        settings = EnvironmentSettings.in_streaming_mode()
    made = TableEnvironment.create(settings)
    made.get_config().set("scurry.runner", "local")
    return made


def test_the_job_of_a_query_ends_though_nobody_takes_its_rows(env: TableEnvironment) -> None:
    result = env.execute_sql("SELECT * FROM (VALUES (1), (2))")
    client = result.get_job_client()
    assert client is not None
    assert client.get_job_execution_result().result() is not None
    with result.collect() as rows:
        assert [row[0] for row in rows] == [1, 2]


def test_what_makes_a_query_fail_is_raised_to_who_takes_its_rows(env: TableEnvironment) -> None:
    result = env.execute_sql("SELECT CAST(a AS INT) FROM (VALUES ('1'), ('x')) AS t (a)")
    client = result.get_job_client()
    assert client is not None
    with pytest.raises(JobError, match="x"):
        client.get_job_execution_result().result()
    with pytest.raises(EvaluationError, match="x"), result.collect() as rows:
        list(rows)


def test_rows_that_nobody_takes_are_computed_up_to_a_number(env: TableEnvironment) -> None:
    env.execute_sql("CREATE TABLE n (a BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '30000')")
    result = env.execute_sql("SELECT * FROM n")
    client = result.get_job_client()
    assert client is not None
    outcome = client.get_job_execution_result()
    with result.collect() as rows:
        assert next(rows) is not None
        assert not outcome.done()
        assert sum(1 for _ in rows) == 29_999
    assert outcome.result() is not None


def test_a_query_whose_rows_are_forgotten_before_the_first_is_taken_ends() -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql("CREATE TABLE n (a INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1')")
    result = env.execute_sql("SELECT * FROM n WHERE a IS NULL")
    client = result.get_job_client()
    assert client is not None
    outcome = client.get_job_execution_result()
    rows = result.collect()
    closed = threading.Thread(target=rows.close, daemon=True)
    closed.start()
    closed.join(30)
    assert not closed.is_alive()
    with pytest.raises(JobCancelledError):
        outcome.result()
