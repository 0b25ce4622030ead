"""Tables of JSON files, in statements that run in this process."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scurry.table import EnvironmentSettings, TableEnvironment

__all__ = ["changed_rows", "changes", "environment", "files", "read", "rows", "until", "write"]


def environment(streaming: bool = True, /, **settings: Any) -> TableEnvironment:
    mode = EnvironmentSettings.in_streaming_mode() if streaming else EnvironmentSettings.in_batch_mode()
    env = TableEnvironment.create(mode)
    for key, value in {"scurry.runner": "local", "parallelism.default": "2", **settings}.items():
        env.get_config().set(key, value)
    return env


def write(directory: Path, name: str, *rows: dict[str, Any]) -> None:
    """Write a file that is there at once: a source that looks for new files may look at any moment."""
    directory.mkdir(parents=True, exist_ok=True)
    hidden = directory / f".{name}"
    hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
    hidden.rename(directory / name)


def files(env: TableEnvironment, name: str, columns: str, directory: Path, **options: str) -> None:
    given = {"connector": "filesystem", "path": str(directory), "format": "json", **options}
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE {name} ({columns}) WITH ({listed})")


def read(directory: Path) -> list[dict[str, Any]]:
    parts = [part for part in directory.rglob("part-*") if part.is_file()] if directory.exists() else []
    return [json.loads(line) for part in parts for line in part.read_text().splitlines()]


def rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with env.execute_sql(query).collect() as results:
        return sorted(map(tuple, results), key=str)


def changed_rows(env: TableEnvironment, query: str) -> list[tuple[Any, ...]]:
    """Return the changes of a query, each with the text of its kind in front of the values."""
    with env.execute_sql(query).collect() as results:
        return [(str(row.get_row_kind()), *row) for row in results]


def changes(env: TableEnvironment, query: str) -> str:
    """Return the changes of a query as a text."""
    return " | ".join(" ".join(map(str, row)) for row in changed_rows(env, query))


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, "nothing has happened for 20 seconds"
        time.sleep(0.01)
