"""SQL in notebooks, in a kernel of their own."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Any

import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

nbformat: Any = pytest.importorskip("nbformat")

pytestmark = [
    pytest.mark.slow,
    # sockets of the kernel's client, and Debian's event loop
    pytest.mark.filterwarnings("ignore"),
]


def executed(*cells: str) -> list[Any]:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return list(notebook.cells)


def test_an_error_fails_the_cell_and_shows_the_place() -> None:
    with pytest.raises(CellExecutionError, match="Column 'nope' not found in any table"):
        executed("%load_ext scurry.sql", "%%scurry_sql\nSELECT nope FROM (VALUES 1) AS t(x);")


def test_interrupting_a_cell_cancels_the_query() -> None:
    cells = [
        "%load_ext scurry.sql\nimport os\nprint(os.getpid())",
        "%%scurry_sql\nCREATE TABLE g (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '10');",
        "%%scurry_sql\nSELECT id FROM g;",
        "%%scurry_sql\nSHOW JOBS;",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])

    def interrupt() -> None:
        end = time.monotonic() + 60
        while "<td>" not in str(notebook.cells[2].get("outputs")) and time.monotonic() < end:
            time.sleep(0.1)
        os.kill(int(notebook.cells[0].outputs[0].text), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    listed = "".join(output.get("text", "") for output in notebook.cells[3].outputs)
    assert "CANCELED" in listed or "CANCELLING" in listed, listed
    assert "RUNNING" not in listed
