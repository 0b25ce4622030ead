"""flink-unittest, which is made for PyFlink, runs its files unmodified."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

FILES = Path(__file__).parent / "unit_tests"
PAGE = Path(__file__).parents[2] / "docs" / "testing-sql.md"


def outcomes(path: Path, home: Path) -> tuple[list[str], str]:
    """Return the names of the tests that passed, and all that was printed."""
    command = [sys.executable, "-m", "scurry", "run", "--runner", "local", "-pym", "flink_unittest", "--"]
    done = subprocess.run(
        [*command, str(path), "--backend", "flink"], capture_output=True, text=True, timeout=300, cwd=home,
        env={**os.environ, "XDG_RUNTIME_DIR": str(home)},
    )  # fmt: skip
    printed = re.sub(r"\x1b\[\d*m", "", done.stdout + done.stderr)
    assert done.returncode == 0, printed
    return re.findall(r"^  PASS (\w+)", printed, re.MULTILINE), printed


def test_all_of_a_directory_pass(tmp_path: Path) -> None:
    passed, printed = outcomes(FILES, tmp_path)
    names = re.findall(r"^  - name: (\w+)", (FILES / "queries.yaml").read_text("utf-8"), re.MULTILINE)
    assert passed == names and len(names) == 10
    assert "10 tests: 10 passed" in printed and "duckdb" not in printed


def test_the_file_of_the_page_passes(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "revenue.yaml").write_text(text, "utf-8")
    passed, _ = outcomes(tmp_path / "revenue.yaml", tmp_path)
    assert passed == ["revenue_by_hour"]
