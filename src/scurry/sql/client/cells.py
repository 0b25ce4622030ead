"""Cells of SQL in notebooks, and the tables that they show."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

from scurry.sql.client.client import SqlClient
from scurry.sql.client.embedded import EmbeddedExecutor
from scurry.sql.client.executor import Answer, Executor
from scurry.sql.client.remote import RemoteExecutor
from scurry.sql.client.results import DisplaySettings
from scurry.sql.client.views import ResultView

#: Maximum rows in a cell.
_ROWS = 100
_SECONDS = 0.2


def add_magic(shell: Any) -> None:
    """Add the magic `%%scurry_sql` to a notebook.

    Its line names what executes the statements: nothing for the notebook's own process, or the URL of a SQL gateway.
    All cells with the same line share a session.

    Args:
        shell: IPython's shell.
    """
    executors: dict[str, Executor] = {}

    def scurry_sql(line: str, cell: str) -> None:
        where = line.strip()
        if where not in executors:
            executors[where] = RemoteExecutor(where, {}) if where else EmbeddedExecutor({"scurry.runner": "local"})
        with _failures() as failures:
            SqlClient(executors[where], print, failures.append, _show).run(cell)

    shell.register_magic_function(scurry_sql, "cell", "scurry_sql")


class SqlCellError(Exception):
    """A statement of a cell has failed; the cells after it are not run."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


@contextmanager
def _failures() -> Iterator[list[str]]:
    failures: list[str] = []
    yield failures
    if failures:
        raise SqlCellError("\n".join(failures))


def _show(answer: Answer, settings: DisplaySettings) -> None:
    """Show the rows of a query as a table that changes until the last one has come, or the cell is interrupted."""
    shown: Any = importlib.import_module("IPython.display")  # its functions have no types
    view = ResultView(answer, settings)
    names = [name for name, _ in answer.columns]
    names = ["op", *names] if settings.mode == "CHANGELOG" else names
    handle = shown.display(shown.HTML(_html(names, view)), display_id=True)
    try:
        while not view.rows.is_over:
            time.sleep(_SECONDS)
            handle.update(shown.HTML(_html(names, view)))
    except KeyboardInterrupt:
        view.rows.stop()
    handle.update(shown.HTML(_html(names, view)))
    if view.rows.error is not None:
        raise view.rows.error


def _html(names: list[str], view: ResultView) -> str:
    rows = view.rows.snapshot()
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    cells = (("<i>NULL</i>" if cell is None else escape(cell) for cell in row) for row in rows[-_ROWS:])
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    shown = f"the last {_ROWS} of {len(rows)} rows" if len(rows) > _ROWS else f"{len(rows)} row{'s' * (len(rows) != 1)}"
    state = "" if view.rows.is_over else ", changing"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{shown}{state}</p>"
