from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import scurry

PROJECT = Path(__file__).parents[2]


def word_count(runner: str, *arguments: str, mode: str = "batch") -> list[str]:
    program = str(PROJECT / "examples/word_count.py")
    command = [sys.executable, "-m", "scurry", "run", "--runner", runner, "--mode", mode, program, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("runner", ["local", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_batch_job_prints_each_word_once(runner: str) -> None:
    lines = word_count(runner)
    assert {"(to,6)", "(be,2)", "(question,1)"} <= set(lines)
    assert len(lines) == len(set(lines))


def test_a_stream_prints_every_new_count() -> None:
    lines = word_count("local", mode="streaming")
    assert [line for line in lines if line.startswith("(be,")] == ["(be,1)", "(be,2)"]


def test_text_comes_from_files_and_counts_go_to_files(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("one two two\nthree two one\n")
    assert word_count("local", "--input", str(tmp_path / "text.txt"), "--output", str(tmp_path / "counts")) == []
    parts = [file for file in (tmp_path / "counts").iterdir() if not file.name.startswith(".")]
    counts = sorted(line for part in parts for line in part.read_text().splitlines())
    assert counts == ["(one,2)", "(three,1)", "(two,3)"]
