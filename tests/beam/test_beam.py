"""Beam's pipelines on ScurryRunner, in an environment that has Beam: our own, Beam's tests of its runner, the page."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from support.beam.environment import environment, python_with_beam

pytestmark = pytest.mark.slow

INSIDE = Path(__file__).parent / "inside"
PAGE = Path(__file__).parents[2] / "docs" / "beam.md"

#: Tests of Beam's runner that ScurryRunner does not pass -> why.
NOT_PASSED = {
    "test_sdf_default_truncate_when_unbounded": "the runner's option is_drain",
    "test_sdf_with_truncate": "the runner's option is_drain",
}
#: Transcripts of Beam that do not pass -> why.
TRANSCRIPTS_NOT_PASSED = {
    "TestStream::test_known_late_data_watermark": "Beam's lifted combiner passes on the time of a late value",
    "TestStream::test_timestamp_combiner_custom_timestamping_earliest_1": "Beam's portable model has no such combiner",
}


def run_inside(place: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    python = python_with_beam()
    command: list[str | Path] = [
        python,
        "-m",
        "pytest",
        "-q",
        "-c",
        os.devnull,
        "--rootdir",
        place,
        "-p",
        "no:cacheprovider",
        "-rA",
    ]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=1200, cwd=place,
        env={**environment(), **variables, "XDG_RUNTIME_DIR": str(place)},
    )  # fmt: skip


def test_pipelines_have_the_results_of_beam(tmp_path: Path) -> None:
    done = run_inside(tmp_path, str(INSIDE / "pipelines.py"))
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.spark
@pytest.mark.nightly
def test_pipelines_have_the_same_results_on_spark(tmp_path: Path) -> None:
    done = run_inside(tmp_path, str(INSIDE / "pipelines.py"), SCURRY_BEAM_TEST_RUNNER="spark")
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]


@pytest.mark.nightly
def test_beams_tests_of_its_runner_pass(tmp_path: Path) -> None:
    done = run_inside(tmp_path, str(INSIDE / "beams_runner_tests.py"), "-k", "TestScurryRunner")
    failed = set(re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)", done.stdout, re.MULTILINE))
    passed = set(re.findall(r"^PASSED \S+::(\w+)", done.stdout, re.MULTILINE))
    assert failed == set(NOT_PASSED), done.stdout[-8000:]
    assert len(passed) >= 68


@pytest.mark.nightly
def test_beams_transcripts_of_triggers_pass(tmp_path: Path) -> None:
    done = run_inside(tmp_path, str(INSIDE / "beams_transcripts.py"), "-k", "TestStream or TestBatch")
    failed = set(re.findall(r"^(?:FAILED|ERROR) \S+::(\w+::\w+)", done.stdout, re.MULTILINE))
    passed = set(re.findall(r"^PASSED \S+::(\w+::\w+)", done.stdout, re.MULTILINE))
    assert failed == set(TRANSCRIPTS_NOT_PASSED), done.stdout[-8000:]
    assert len(passed) >= 26


def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "words.py").write_text(program, "utf-8")
    (tmp_path / "in.txt").write_text("to be or not to be\n", "utf-8")
    command: list[str | Path] = [
        python_with_beam(),
        "words.py",
        "--runner=scurry.beam.ScurryRunner",
        "--scurry_runner=local",
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**environment(), "XDG_RUNTIME_DIR": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    written = [line for file in tmp_path.glob("out*") for line in file.read_text("utf-8").splitlines()]
    assert sorted(written) == ["be: 2", "not: 1", "or: 1", "to: 2"]
