"""Large state through a kill, savepoints and another parallelism, as `bench/recovery.py` does it with any amount."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.mark.faults
@pytest.mark.nightly
def test_every_record_counts_once(tmp_path: Path) -> None:
    command = [sys.executable, str(PROJECT / "bench" / "recovery.py"), "--state-mb", "60", "--from-both"]
    command += ["--place", str(tmp_path / "place")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("exact: each of 30,000 keys was counted 2 times") == 2
