"""The panel that shows a job's progress below the cell of a notebook that waits for it."""

from __future__ import annotations

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

JOB = """
from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
configuration = Configuration()
configuration.set_string("scurry.runner", "local")
env = StreamExecutionEnvironment.get_execution_environment(configuration)
env.from_collection([1, 2, 0]).map(lambda number: {result}).print()
env.execute("halves <of> numbers")
"""


def outputs(job: str, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return what a cell shows that runs a job, whether it fails or not."""
    monkeypatch.delenv("PYTEST_CURRENT_TEST")  # in whose presence no progress is shown
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(job)])
    try:
        NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    except CellExecutionError as error:
        assert "ZeroDivisionError" in str(error)
    return list(notebook.cells[0].outputs)


def panel(shown: list[Any]) -> str:
    """Return the text of the one panel."""
    (found,) = [each.data["text/html"] for each in shown if each.output_type == "display_data"]
    return str(found)


def test_it_ends_with_what_the_job_did(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = outputs(JOB.format(result="number / 2"), monkeypatch)
    assert "halves &lt;of&gt; numbers: finished after" in panel(shown)
    assert "3 records in, 3 out" in panel(shown)
    assert "<progress>" not in panel(shown)
    assert not [each for each in shown if each.get("name") == "stderr" and "finished" in each.text]


def test_it_says_that_the_job_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "failed after" in panel(outputs(JOB.format(result="1 / number"), monkeypatch))
