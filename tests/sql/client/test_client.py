"""Scripts of the client, in this process."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from scurry.sql.client.client import Quit, SqlClient
from scurry.sql.client.embedded import EmbeddedExecutor
from scurry.sql.client.executor import Answer, Executor
from scurry.sql.client.remote import RemoteExecutor
from scurry.sql.client.results import DisplaySettings
from scurry.sql.gateway.sessions import Sessions
from support.gateway import TOKEN, serving

LOCAL = {"scurry.runner": "local", "parallelism.default": "1"}


@dataclass
class Console:
    """A client, what it prints, and what it complains of."""

    executor: Executor
    lines: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def run(self, text: str) -> bool:
        return SqlClient(self.executor, self.lines.append, self.errors.append).run(text)

    @property
    def text(self) -> str:
        return re.sub(r"\d+\.\d\d seconds", "N seconds", "\n".join(self.lines))


@pytest.fixture(params=["embedded", "remote"])
def console(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    """A client of this process, and one of a gateway: they show the same."""
    if request.param == "embedded":
        executor = EmbeddedExecutor(LOCAL)
        yield Console(executor)
        executor.close()
        return
    monkeypatch.setenv("SCURRY_REST_TOKEN", TOKEN)
    with serving(Sessions(LOCAL), TOKEN) as gateway:
        remote = RemoteExecutor(gateway.url, {})
        yield Console(remote)
        remote.close()


def test_a_query_of_batch_is_shown_as_flink_does(console: Console) -> None:
    assert console.run(
        "SET 'execution.runtime-mode' = 'batch';\n"
        "SELECT * FROM (VALUES (1, 'ann', 3.5), (2, CAST(NULL AS STRING), 4.0)) AS t(id, name, amount);\n"
        "SELECT x FROM (VALUES (1)) AS t(x) WHERE x > 1;"
    )
    assert console.text == (
        "[INFO] Execute statement succeeded.\n"
        "+----+--------+--------+\n"
        "| id |   name | amount |\n"
        "+----+--------+--------+\n"
        "|  1 |    ann |    3.5 |\n"
        "|  2 | <NULL> |    4.0 |\n"
        "+----+--------+--------+\n"
        "2 rows in set (N seconds)\n"
        "Empty set (N seconds)"
    )


def test_null_is_shown_as_nothing_in_answers_that_are_no_query(console: Console) -> None:
    assert console.run("CREATE TABLE t (a INT) WITH ('connector' = 'datagen'); DESCRIBE t;")
    assert "NULL>" not in console.text
    assert "|    a |  INT | TRUE |     |        |           |\n" in console.text


def test_changes_of_streaming_are_shown_as_flink_does(console: Console) -> None:
    assert console.run("SELECT * FROM (VALUES (1, 'ann')) AS t(id, name);")
    assert console.text == (
        "+----+-------------+--------------------------------+\n"
        "| op |          id |                           name |\n"
        "+----+-------------+--------------------------------+\n"
        "| +I |           1 |                            ann |\n"
        "+----+-------------+--------------------------------+\n"
        "Received a total of 1 row (N seconds)"
    )


def test_settings_say_how_wide_columns_are_and_whether_time_is_shown(console: Console) -> None:
    assert console.run(
        "SET 'table.display.max-column-width' = '6'; SET 'sql-client.display.print-time-cost' = 'false';"
        "SELECT CAST('abcdefgh' AS STRING) AS x;"
    )
    assert console.lines[-5:] == [
        "+----+--------+", "| op |      x |", "+----+--------+", "| +I | abc... |", "+----+--------+",
        "Received a total of 1 row",
    ][-5:]  # fmt: skip


def test_an_error_shows_the_place_and_ends_the_script(console: Console) -> None:
    assert not console.run("SHOW TABLES;\n\nSELECT 1,\n  nope\nFROM (VALUES 1);\nSHOW VIEWS;")
    assert console.lines == ["Empty set"]
    message, *rest = console.errors[0].split("\n")[1:]
    assert "From line 2, column 3 to line 2, column 6: Column 'nope' not found in any table" in message
    line = 4 if isinstance(console.executor, EmbeddedExecutor) else 2  # a gateway knows the statement alone
    assert rest == [f"{line:>4} |   nope", "         ^^^^"]


def test_a_script_that_cannot_be_parsed_is_marked_where_it_ends(console: Console) -> None:
    assert not console.run("SELECT FROM x;")
    assert console.errors[0].split("\n")[0] == "[ERROR] Could not execute SQL statement. Reason:"
    assert console.errors[0].endswith("   1 | SELECT FROM x\n              ^^^^") or console.errors[0].endswith("^")


def test_insertions_are_submitted_and_listed(console: Console, tmp_path: Path) -> None:
    table = f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'csv');"
    assert console.run(f"{table} INSERT INTO t VALUES (1);")
    assert console.lines[1].split("\n")[:2] == [
        "[INFO] Submitting SQL update statement to the cluster...",
        "[INFO] SQL update statement has been successfully submitted to the cluster:",
    ]
    job = console.lines[1].split("Job ID: ")[1].strip()
    assert console.run(f"DESCRIBE JOB '{job}';")
    assert f"| {job} | insert-into_default_catalog.default_database.t |" in console.text


def test_insertions_are_waited_for_with_dml_sync(console: Console, tmp_path: Path) -> None:
    table = f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'csv');"
    sets = "BEGIN STATEMENT SET; INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); END;"
    assert console.run(f"SET 'execution.runtime-mode' = 'batch'; SET 'table.dml-sync' = 'true'; {table} {sets}")
    assert console.lines[-1] == "[INFO] Complete execution of the SQL update statement."
    assert console.run("SELECT SUM(a) AS s FROM t;")
    assert "| 3 |" in console.text


def test_a_job_is_stopped_with_a_savepoint(console: Console, tmp_path: Path) -> None:
    assert console.run(
        f"SET 'execution.checkpointing.savepoint-dir' = '{tmp_path}/savepoints';"
        "CREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');"
        "CREATE TABLE s (id INT) WITH ('connector' = 'blackhole'); INSERT INTO s SELECT id FROM g;"
    )
    job = console.lines[-1].split("Job ID: ")[1].strip()
    assert console.run(f"STOP JOB '{job}' WITH SAVEPOINT;"), console.errors
    assert "| savepoint path |" in re.sub(" +", " ", console.text)
    assert f"{tmp_path}/savepoints/" in console.text


def test_files_are_sourced_and_the_client_is_quit(console: Console, tmp_path: Path) -> None:
    (tmp_path / "more.sql").write_text("SET 'table.b' = 'c'; -- a comment; with a semicolon\nQUIT;")
    with pytest.raises(Quit):
        console.run(f"SOURCE '{tmp_path}/more.sql'; SHOW TABLES;")
    assert console.lines == ["[INFO] Execute statement succeeded."]
    assert console.executor.settings()["table.b"] == "c"


def test_a_file_that_sources_itself_is_refused(console: Console, tmp_path: Path) -> None:
    script = tmp_path / "loop.sql"
    script.write_text(f"SOURCE '{script}';")
    assert not console.run(f"SOURCE '{script}';")
    assert "files source each other more than 20 deep" in console.errors[0]


def test_a_missing_file_is_named(console: Console) -> None:
    assert not console.run("SOURCE '/no/such.sql';")
    assert console.errors == ["[ERROR] /no/such.sql cannot be read: No such file or directory"]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("sql-client.execution.result-mode", "tablo", "one of TABLE, CHANGELOG, TABLEAU"),
        ("sql-client.display.max-column-width", "wide", "a whole number"),
        ("table.display.max-column-width", "wide", "a whole number"),
    ],
)
def test_a_setting_that_cannot_be_read_is_refused_when_it_is_set(
    console: Console, key: str, value: str, expected: str
) -> None:
    assert not console.run(f"SET '{key}' = '{value}';")
    assert f"Could not parse value '{value}' for key '{key}'." in console.errors[0]
    assert f"hint: expected {expected}" in console.errors[0]
    assert console.run("SELECT 1;")


@pytest.mark.parametrize(
    ("statement", "first"),
    [("EXPLAIN SELECT x FROM g;", "== Abstract Syntax Tree =="), ("SHOW CREATE TABLE g;", "CREATE TABLE `")],
)
def test_texts_of_many_lines_are_printed_as_they_are(console: Console, statement: str, first: str) -> None:
    assert console.run("CREATE TABLE g (x INT) WITH ('connector' = 'datagen');")
    assert console.run(statement)
    assert console.lines[1].startswith(first)
    assert "+--" not in "\n".join(console.lines[1:]).split("\n")[0] and "1 row in set" not in console.text
    assert "\n" in console.lines[1] and r"\n" not in console.lines[1]


def test_the_jobs_of_insertions_have_the_name_that_is_set(console: Console) -> None:
    assert console.run(
        "SET 'pipeline.name' = 'copy of numbers';\n"
        "CREATE TABLE nowhere (id INT) WITH ('connector' = 'blackhole');\n"
        "INSERT INTO nowhere VALUES (1);\n"
        "SHOW JOBS;"
    )
    assert "copy of numbers" in console.text.partition("Job ID")[2]
    assert "insert-into" not in console.text


def test_an_interrupt_before_rows_are_shown_cancels_the_query(console: Console) -> None:
    def interrupted(answer: Answer, settings: DisplaySettings) -> None:
        raise KeyboardInterrupt

    client = SqlClient(console.executor, console.lines.append, console.errors.append, interrupted)
    assert not client.run(
        "SET 'sql-client.execution.result-mode' = 'table';\n"
        "CREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');\n"
        "SELECT id FROM g;"
    )
    console.lines.clear()
    assert console.run("SHOW JOBS;")
    assert "CANCEL" in console.text
    assert not console.errors
