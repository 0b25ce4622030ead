"""A job whose checkpoints find no space fails saying so, and goes on when there is: nothing lost, nothing twice."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.faults.job_directory import Results
from support.faults.job_processes import PROGRAMS, environment

pytestmark = pytest.mark.faults

PROGRAM = PROGRAMS / "disk_full.py"
#: With a namespace of its own for mounts: of root, or of a user who may pose as root there.
NAMESPACES = (["unshare", "-m"], ["unshare", "-rm"])


def namespace(directory: Path) -> list[str]:
    """The command that lets us mount."""
    for command in NAMESPACES:
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(directory)]
        try:
            if subprocess.run([*command, *mount], capture_output=True).returncode == 0:
                return command
        except FileNotFoundError:
            break
    pytest.skip("mounting a small file system takes root, or user namespaces for everybody (unshare -rm)")


@pytest.mark.in_turn
def test_a_job_whose_disk_was_full_ends_with_the_same_records(
    readings: Path, expected: Results, faults: int, seed: int, tmp_path: Path
) -> None:
    command = [*namespace(tmp_path), sys.executable, str(PROGRAM), str(readings), str(tmp_path), str(faults), str(seed)]
    run = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr[-4000:]
    print(run.stderr)
    report = json.loads(run.stdout.splitlines()[-1])
    assert len(report["errors"]) == faults
    for error in report["errors"]:
        reason, told = error.splitlines()[0], error.splitlines()[1:]
        assert reason == "Job 'windows and counts' failed."
        assert len(told) == 1, error
        assert f"CheckpointStorageFullError: no space left in the checkpoint directory {tmp_path}" in told[0]
    assert all(results == expected for results in report["results"])
