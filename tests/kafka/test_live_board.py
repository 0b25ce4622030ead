"""The steps of docs/tutorials/live-board.md, on a real broker and a real PostgreSQL."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support import TESTS
from support.kafka.broker import Kafka

pytestmark = [pytest.mark.kafka, pytest.mark.postgres, pytest.mark.nightly]

PAGE = (TESTS.parent / "docs" / "tutorials" / "live-board.md").read_text(encoding="utf-8")
#: Draws nothing: the chart's numbers are what is compared.
PYPLOT = "def bar(*a, **k): pass\nylabel = legend = savefig = bar\n"


def test_the_board_has_the_trips_of_the_topic(kafka: Kafka, tmp_path: Path, postgres_server: Any) -> None:
    postgres_server.empty()
    (tmp_path / "examples").symlink_to(TESTS.parent / "examples")
    try:
        import matplotlib  # type: ignore[import-not-found, unused-ignore]  # noqa: F401
    except ImportError:
        (tmp_path / "matplotlib").mkdir()
        (tmp_path / "matplotlib" / "__init__.py").write_text("from . import pyplot\ndef use(backend): pass\n")
        (tmp_path / "matplotlib" / "pyplot.py").write_text(PYPLOT)
    prepare, chart = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    script, _ = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
    topic = kafka.topic(1)

    def run(name: str, text: str, *command: str) -> str:
        text = text.replace("localhost:9092", kafka.address).replace("'trips'", f"'{topic}'")
        text = text.replace('"trips", json', f'"{topic}", json')
        text = text.replace('"postgresql://board:secret@localhost:5432/board"', repr(postgres_server.conninfo))
        text = text.replace("jdbc:postgresql://localhost:5432/board", postgres_server.url)
        text = text.replace(
            "'username' = 'board', 'password' = 'secret'", "'username' = 'scurry', 'password' = 'correct-horse'"
        )
        (tmp_path / name).write_text(text)
        done = subprocess.run(
            [sys.executable, *command, name], capture_output=True, text=True, timeout=300, cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("prepare.py", prepare)
    run("board.sql", script, "-m", "scurry", "run", "--runner", "local")
    shown = PAGE.partition('savefig("board.svg")\n```\n\n')[2].partition("\n\n")[0]
    assert run("chart.py", chart).splitlines() == [line[4:] for line in shown.splitlines()]
