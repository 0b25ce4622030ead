"""A job that is killed at any file-system call of its first batches starts again: nothing lost, nothing twice.

Kills that come by chance have hardly ever met the milliseconds in which the first files are written.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.faults.job_directory import write_readings
from support.faults.job_processes import PROGRAMS, environment

PROGRAM = PROGRAMS / "restart_from_images.py"
#: Enough for three batches, and for two more where the job is stopped before.
LINES_PER_FILE, MORE_LINES = 160, 280


def restarts(variant: str, size: int, seed: int, root: Path) -> dict[str, Any]:
    readings = write_readings(root / "readings", LINES_PER_FILE if variant == "plain" else MORE_LINES)
    command = [sys.executable, str(PROGRAM), str(readings), str(root), variant, str(size), str(seed)]
    run = subprocess.run(command, env=environment(), capture_output=True, text=True)
    print(f"SCURRY_SEED={seed}\n{run.stderr}")
    assert run.returncode == 0, run.stderr[-4000:]
    report: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return report


@pytest.mark.in_turn
@pytest.mark.faults
def test_a_job_starts_from_what_a_kill_leaves(seed: int, tmp_path: Path) -> None:
    report = restarts("plain", 2, seed, tmp_path)
    assert report["faults"] == []
    assert report["images"] > 250 and report["restarts"] == 10


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("variant", "size"), [("plain", 0), ("large", 60), ("savepoint", 60), ("rescaled", 60), ("taken_back", 60)]
)
def test_a_job_starts_from_all_that_a_kill_can_leave(variant: str, size: int, seed: int, tmp_path: Path) -> None:
    report = restarts(variant, size, seed, tmp_path)
    assert report["faults"] == []
    assert report["images"] > 250
