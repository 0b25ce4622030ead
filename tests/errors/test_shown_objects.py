"""Objects that are the last value of a notebook's cell show what they are, not an address."""

from __future__ import annotations

from scurry.common.job_execution_result import JobExecutionResult
from scurry.common.job_id import JobID
from scurry.datastream import StreamExecutionEnvironment
from support.statements.tables import environment


def test_results_and_environments_have_a_short_text() -> None:
    job = JobID()
    assert repr(JobExecutionResult(job, 1234)) == f"<job {job} finished after 1.2 s>"
    streams = StreamExecutionEnvironment.get_execution_environment().set_parallelism(2)
    assert repr(streams) == "<StreamExecutionEnvironment, parallelism 2>"
    streams.from_collection([1]).print()
    assert repr(streams) == "<StreamExecutionEnvironment, parallelism 2, 1 operator to execute>"
    tables = environment()
    assert repr(tables) == "<TableEnvironment, streaming, in default_catalog.default_database>"
    assert repr(tables.execute_sql("SHOW TABLES")) == "<TableResult of table name>"
