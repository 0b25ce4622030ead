"""Jobs of tables have an endpoint, which tells their statements and plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration
from scurry.rest.registry import find_job
from scurry.table import EnvironmentSettings, TableEnvironment

INSERT = "INSERT INTO slow SELECT user_id, COUNT(*)\nFROM clicks GROUP BY user_id"


@pytest.fixture
def table_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TableEnvironment:
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    configuration = Configuration.from_dict({"scurry.runner": "local", "scurry.rest": "on"})
    settings = EnvironmentSettings.new_instance().in_streaming_mode().with_configuration(configuration).build()
    table_env = TableEnvironment.create(settings)
    table_env.get_config().set("parallelism.default", "1")
    table_env.execute_sql("CREATE TABLE clicks (user_id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '5')")
    table_env.execute_sql("CREATE TABLE slow (user_id INT, n BIGINT) WITH ('connector' = 'blackhole')")
    return table_env


def told(result: Any) -> dict[str, str]:
    """What the endpoint of a statement's job tells, asked as other processes do."""
    job = result.get_job_client()
    try:
        found = find_job(str(job.get_job_id()))
        answer: dict[str, str] = found.process.request("GET", f"/jobs/{found.id}/sql")
        return answer
    finally:
        job.cancel().result()


def test_an_insertion_tells_its_text_and_its_plan(table_env: TableEnvironment) -> None:
    found = told(table_env.execute_sql(INSERT))
    assert found["sql"] == INSERT
    assert found["plan"].startswith(
        "== Optimized Execution Plan ==\nSink(table=[default_catalog.default_database.slow]"
    )


def test_a_statement_set_tells_each_of_its_statements(table_env: TableEnvironment) -> None:
    script = f"EXECUTE STATEMENT SET BEGIN {INSERT}; INSERT INTO slow SELECT user_id, 1 FROM clicks; END"
    assert told(table_env.execute_sql(script))["sql"] == f"{INSERT};\n\nINSERT INTO slow SELECT user_id, 1 FROM clicks"


def test_a_pipeline_of_tables_has_a_plan_only(table_env: TableEnvironment) -> None:
    found = told(table_env.sql_query("SELECT user_id, CAST(1 AS BIGINT) FROM clicks").execute_insert("slow"))
    assert found["sql"] == "" and "Sink(" in found["plan"]


def test_workers_get_a_plan_without_statements(table_env: TableEnvironment) -> None:
    job: Any = table_env.execute_sql(INSERT).get_job_client()
    assert job is not None
    running = job._job.execution.plan
    job.cancel().result()
    assert running.settings.tables is not None
    assert running.__getstate__()["settings"].tables is None
