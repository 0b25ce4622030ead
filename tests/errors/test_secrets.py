"""What a job says about a failure has no secrets in it."""

from __future__ import annotations

import pytest

from scurry.common import Configuration
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ArgumentError, JobError
from scurry.testing import job_plan_of


def connect(value: int) -> int:
    raise ConnectionError("no route to amqp://joe:p@sszy7w@host (key xzy7wxzy7w)")


def test_the_error_of_a_job_has_none() -> None:
    configuration = Configuration.from_dict({"scurry.runner": "local", "spark.hadoop.fs.s3a.secret.key": "xzy7wxzy7w"})
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.from_collection([1]).map(connect).print()
    client = env.execute_async("orders")
    with pytest.raises(JobError) as failed:
        client.get_job_execution_result().result()
    (failure,) = client.execution.failures  # type: ignore[attr-defined]
    told = [str(failed.value), failed.value.details, failure.text, failure.details]
    assert all("ConnectionError: no route to amqp://joe:******@host (key ******)" in text for text in told)
    assert not any("zy7w" in text for text in told)


def test_plans_have_none() -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    env.from_collection([1]).map(abs).name("to amqp://joe:zy7w@host").set_description("password=zy7w").print()
    shown = [env.get_execution_plan(), job_plan_of(env, "orders").describe()]
    assert all("to amqp://joe:******@host" in text and "zy7w" not in text for text in shown)


@pytest.mark.parametrize("url", ["//joe:p@s/szy7w?x@host:5432/db", "//joe@host:5432/db", "//joe:zy7w@host:5432/db"])
def test_the_refusal_of_a_database_url_shows_it_without_user_and_password(url: str) -> None:
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(f"jdbc:postgresql:{url}")
    with pytest.raises(ArgumentError, match="^jdbc:postgresql://host:5432/db is no URL"):
        options.build()


def test_the_url_of_a_database_is_shown_without_parameters() -> None:
    url = "jdbc:postgresql://host:5432/db?user=joe@example.com&password=zy7w"
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url).build()
    assert options.shown_url == "jdbc:postgresql://host:5432/db"
