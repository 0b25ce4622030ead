"""A PostgreSQL server for the tests marked `postgres`, a SQLite file for the others."""

from __future__ import annotations

import importlib.util
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from jdbc_tables import Tables, connection_options


@pytest.fixture
def sqlite(tmp_path: Path) -> Tables:
    path = tmp_path / "test.db"
    return Tables(connection_options(f"jdbc:sqlite:{path}"), lambda: sqlite3.connect(path, timeout=10))


def _server_script() -> ModuleType:
    path = Path(__file__).parents[3] / "tools" / "postgres.py"
    spec = importlib.util.spec_from_file_location("scurry_postgres_server", path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def server() -> Iterator[Any]:
    """A server of the tests' own; always running when a test begins."""
    script = _server_script()
    try:
        server = script.Server()
    except script.NoPostgresError as error:
        pytest.skip(str(error))
    yield server
    server.stop()


@pytest.fixture
def postgres(server: Any) -> Tables:
    """An empty database."""
    import psycopg

    options = connection_options(server.url, "scurry", "correct-horse")
    server.empty()
    return Tables(options, lambda: psycopg.connect(server.conninfo))


@pytest.fixture
def revived_after(server: Any) -> Iterator[Callable[[float], None]]:
    """Kills the server and starts it again some seconds later."""
    threads = []

    def kill(seconds: float) -> None:
        server.kill()
        threads.append(threading.Timer(seconds, server.start))
        threads[-1].start()

    yield kill
    for thread in threads:
        thread.join()
