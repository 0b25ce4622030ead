"""A PostgreSQL server for the tests marked `postgres`, a SQLite file for the others."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
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
def revived_after(postgres_server: Any) -> Iterator[Callable[[float], None]]:
    """Kills the server and starts it again some seconds later."""
    threads = []

    def kill(seconds: float) -> None:
        postgres_server.kill()
        threads.append(threading.Timer(seconds, postgres_server.start))
        threads[-1].start()

    yield kill
    for thread in threads:
        thread.join()
