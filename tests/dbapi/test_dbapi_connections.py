"""Connections: where they go, what they begin with, and what they never show."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from scurry import dbapi
from scurry.dbapi.urls import Target, target_of
from scurry.table import TableEnvironment
from support.gateway import TOKEN, Gateway


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("scurry://", Target()),
        ("scurry:///c/d", Target(catalog="c", database="d")),
        ("scurry://host:1", Target("http://host:1")),
        ("scurry+gateway://host/c", Target("http://host:8083", catalog="c")),
        ("scurry://:to%2Fken@[::1]:1?tls=true", Target("https://[::1]:1", "to/ken")),
        ("scurry://?timeout=1.5&changelog=true&runtime_mode=STREAMING&parallelism.default=2",
         Target(timeout=1.5, changelog=True, runtime_mode="streaming", settings={"parallelism.default": "2"})),
    ],
)  # fmt: skip
def test_a_url_says_where_and_with_what(url: str, target: Target) -> None:
    assert target_of(url) == target


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://host", "begins with mysql://; take scurry://"),
        ("scurry+gateway://", r"needs HOST:PORT"),
        ("scurry://host:port", "cannot be read"),
        ("scurry://?timeuot=1", "'timeuot' in the query of the URL is unknown: did you mean 'timeout'?"),
        ("scurry://?timeout=soon", "timeout is a number of seconds, got 'soon'"),
        ("scurry://?changelog=perhaps", "changelog is true or false"),
        ("scurry://?runtime_mode=fast", "runtime_mode is 'batch' or 'streaming'"),
        ("scurry://h?token=x", "a token in the query of a URL would be shown"),
        ("scurry:///a/b/c", "/CATALOG or /CATALOG/DATABASE"),
    ],
)
def test_a_url_that_cannot_be_used_is_explained(url: str, message: str) -> None:
    with pytest.raises(dbapi.InterfaceError, match=message):
        target_of(url)


def test_no_token_is_shown(gateway: Gateway) -> None:
    address = gateway.url.removeprefix("http://")
    wrong = "a-wrong-token-of-some-length"
    with pytest.raises(dbapi.OperationalError, match="wants a token") as raised:
        dbapi.connect(f"scurry://:{wrong}@{address}")
    with dbapi.connect(f"scurry://:{TOKEN}@{address}") as connection:
        shown = f"{raised.value!r} {raised.value.__cause__!r} {connection!r} {connection._target!r}"
    assert wrong not in shown
    assert TOKEN not in shown


def test_the_token_is_that_of_the_environment_by_default(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCURRY_REST_TOKEN", TOKEN)
    with dbapi.connect(gateway.url.replace("http", "scurry")) as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_gateway_that_does_not_answer_is_named() -> None:
    with pytest.raises(dbapi.OperationalError, match="no SQL gateway answers at http://127.0.0.1:1"):
        dbapi.connect("scurry://127.0.0.1:1")


def test_a_connection_begins_with_a_file_of_statements(connect: Any, tmp_path: Path) -> None:
    (tmp_path / "init.sql").write_text("CREATE DATABASE d;\nCREATE VIEW d.v AS SELECT 1 AS n;\n")
    connection = connect(init_file=str(tmp_path / "init.sql"), database="d")
    assert connection.execute("SELECT n FROM v").fetchall() == [(1,)]


def test_a_file_that_is_not_there_is_named(connect: Any) -> None:
    with pytest.raises(dbapi.InterfaceError, match=r"init_file /nowhere.sql cannot be read"):
        connect(init_file="/nowhere.sql")


def test_settings_are_those_of_the_session(connect: Any) -> None:
    connection = connect(settings={"table.local-time-zone": "Asia/Tokyo"})
    assert connection.execute("SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING)").fetchall() == [
        ("1970-01-01 09:00:00.000",)
    ]


def test_a_closed_connection_is_refused(connect: Any) -> None:
    connection = connect()
    cursor = connection.cursor()
    connection.close()
    connection.close()
    with pytest.raises(dbapi.InterfaceError, match="the connection is closed"):
        connection.cursor().execute("SELECT 1")
    with pytest.raises(dbapi.InterfaceError, match="the cursor is closed"):
        cursor.fetchone()


def test_nothing_is_rolled_back_if_nothing_was_written(connection: dbapi.Connection) -> None:
    connection.execute("SELECT 1").fetchall()
    connection.commit()
    connection.rollback()


def test_a_rollback_of_rows_that_stay_is_refused(connection: dbapi.Connection, tmp_path: Path) -> None:
    connection.execute("CREATE TABLE hole (n INT) WITH ('connector' = 'blackhole')")
    connection.execute("INSERT INTO hole VALUES (1)")
    with pytest.raises(dbapi.NotSupportedError, match="the rows that a statement has written stay"):
        connection.rollback()


def test_a_connection_that_nobody_closes_sends_no_more_heartbeats(gateway: Gateway) -> None:
    connection = dbapi.connect(gateway.url.replace("http", "scurry"), token=TOKEN)
    over = connection._transport._executor._over  # type: ignore[union-attr]
    del connection
    gc.collect()
    assert over.is_set()


def test_the_tables_of_a_program_are_queried() -> None:
    environment = _environment()
    environment.execute_sql("CREATE VIEW v AS SELECT 5 AS n")
    with dbapi.connect(environment=environment) as connection:
        assert connection.execute("SELECT n FROM v").fetchall() == [(5,)]


def test_an_environment_has_settings_of_its_own() -> None:
    with pytest.raises(dbapi.InterfaceError, match="environment= is of this process"):
        dbapi.connect("scurry://host", environment=_environment())


def _environment() -> TableEnvironment:
    from scurry.table import EnvironmentSettings

    environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    environment.get_config().set("scurry.runner", "local")
    return environment
