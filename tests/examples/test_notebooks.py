"""The example notebooks, each in a kernel of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import TESTS

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")

pytestmark = [
    pytest.mark.slow,
    # sockets of the kernel's client, and Debian's event loop
    pytest.mark.filterwarnings("ignore"),
]

NOTEBOOKS = TESTS.parent / "examples" / "notebooks"


def executed(name: str) -> list[Any]:
    """The cells of a notebook after it has run; an error in one of them fails."""
    notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def html(cell: Any) -> str:
    """What a cell shows last."""
    return str(next(one.data["text/html"] for one in reversed(cell.outputs) if "text/html" in one.get("data", {})))


def cells_of_table(cell: Any) -> list[str]:
    """The cells of the table that a cell shows, those of its head and index excepted."""
    return [part.partition("</td>")[0] for part in html(cell).split("<td>")[1:]]


def test_sql_shows_the_table_that_changes_make() -> None:
    shown = html(executed("sql.ipynb")[-1])
    assert "<td>ann</td><td>5.0</td>" in shown
    assert "<td>bob</td><td>4.0</td>" in shown
    assert "<p>2 rows</p>" in shown


def test_streams_shows_all_windows_live_and_as_a_frame() -> None:
    *_, live, frame = executed("streams.ipynb")
    assert "<p>36 windows</p>" in html(live)
    assert html(live).count("<polyline") == 3
    means = cells_of_table(frame)
    assert len(means) == 36
    assert (means[:3], means[-3:]) == (["21.1", "23.1", "25.2"], ["17.4", "19.4", "21.4"])


def test_history_to_live_finds_with_history_what_is_not_found_without() -> None:
    *_, with_history, without, states = executed("history_to_live.ipynb")
    assert cells_of_table(with_history) == ["low", "100.0", "10.16", "high", "2500.0", "492.96"]
    assert cells_of_table(without) == []
    assert cells_of_table(states)[::3] == ["high", "low", "middle"]


def test_each_notebook_is_tested() -> None:
    text = Path(__file__).read_text()
    assert [path.name for path in NOTEBOOKS.glob("*.ipynb") if f'"{path.name}"' not in text] == []
