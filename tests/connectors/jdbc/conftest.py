"""PostgreSQL for the tests marked `postgres`, MariaDB for those marked `servers`, a SQLite file for the others."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from support.connectors.jdbc_tables import Tables, connection_options


@pytest.fixture
def sqlite(tmp_path: Path) -> Tables:
    path = tmp_path / "test.db"
    return Tables(connection_options(f"jdbc:sqlite:{path}"), lambda: sqlite3.connect(path, timeout=10))


@pytest.fixture
def postgres(postgres_server: Any) -> Tables:
    """An empty database."""
    import psycopg

    options = connection_options(postgres_server.url, "scurry", "correct-horse")
    postgres_server.empty()
    return Tables(options, lambda: psycopg.connect(postgres_server.conninfo))


@pytest.fixture
def mariadb(mariadb_server: Any) -> Tables:
    """An empty database."""
    import pymysql

    from scurry.connectors.jdbc.mysql import MySqlConnection

    def connect(**more: Any) -> MySqlConnection:
        return MySqlConnection(pymysql.connect(host="127.0.0.1", port=mariadb_server.port, user="root", **more), False)

    with closing(connect()) as connection:
        for statement in ("DROP DATABASE IF EXISTS test", "CREATE DATABASE test CHARACTER SET utf8mb4"):
            connection.execute(statement)
    url = f"jdbc:mariadb://127.0.0.1:{mariadb_server.port}/test"
    return Tables(connection_options(url, "root", ""), lambda: connect(database="test"))


@pytest.fixture
def revived_after(postgres_server: Any) -> Iterator[Callable[[float], None]]:
    """Kills the server and starts it again some seconds later."""
    yield from _reviving(postgres_server)


@pytest.fixture
def mariadb_revived_after(mariadb_server: Any) -> Iterator[Callable[[float], None]]:
    """Kills the server and starts it again some seconds later."""
    yield from _reviving(mariadb_server)


def _reviving(server: Any) -> Iterator[Callable[[float], None]]:
    threads = []

    def kill(seconds: float) -> None:
        server.kill()
        threads.append(threading.Timer(seconds, server.start))
        threads[-1].start()

    yield kill
    for thread in threads:
        thread.join()
