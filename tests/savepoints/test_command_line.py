"""`scurry run -s` with a savepoint that is damaged."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from scurry.state import OperatorTransformation, SavepointWriter

PROGRAM = Path(__file__).parent / "programs" / "counts.py"


@pytest.fixture(params=["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.in_turn])])
def runner(request: pytest.FixtureRequest) -> str:
    runner: str = request.param
    return runner


@pytest.fixture
def savepoint(tmp_path: Path) -> Path:
    """One of two operators, in a file each, of which the program has one."""
    keys = [(f"key {number}", {"count": 10}) for number in range(100)]
    writer = SavepointWriter.new_savepoint()
    for uid in ("counts", "others"):
        writer.with_operator(uid, OperatorTransformation.keyed_state(keys))
    return Path(writer.write(str(tmp_path / "savepoint")))


def run(runner: str, savepoint: Path) -> subprocess.CompletedProcess[str]:
    options = ["--runner", runner, "-n", "-s", str(savepoint), "-D", "execution.runtime-mode=STREAMING"]
    command = [sys.executable, "-m", "scurry", "run", *options, str(PROGRAM)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_job_goes_on_from_a_whole_one(runner: str, savepoint: Path) -> None:
    done = run(runner, savepoint)
    counts = Counter(line.split()[-1] for line in done.stdout.splitlines())
    assert (done.returncode, counts) == (0, {"11": 100}), done.stderr


@pytest.mark.parametrize("removed", [["new-0.parquet"], ["new-0.parquet", "new-1.parquet"]])
def test_a_job_does_not_start_without_files_of_its_state(runner: str, savepoint: Path, removed: list[str]) -> None:
    for name in removed:
        (savepoint / "entries" / "kind=page" / name).unlink()
    done = run(runner, savepoint)
    assert done.returncode == 1 and done.stdout == ""
    for name in removed:
        assert f"entries/kind=page/{name}: missing" in done.stderr


def test_a_job_does_not_start_with_another_number_of_key_groups(runner: str, savepoint: Path) -> None:
    file = savepoint / "metadata.json"
    file.write_text(file.read_text().replace('"max_parallelism": 128', '"max_parallelism": 64'))
    done = run(runner, savepoint)
    assert done.returncode == 1 and done.stdout == ""
    assert "metadata.json: " in done.stderr and "instead of" in done.stderr
