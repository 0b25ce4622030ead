"""Programs with the output recorded from real Flink, run in this process."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from scurry import launch

PROGRAMS = sorted((Path(__file__).parent.parent / "fixtures" / "flink" / "datastream").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_program_prints_what_flink_prints(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import scurry.pyflink_alias  # noqa: F401 - `import pyflink` finds scurry from here on

    with launch.activate(launch.LaunchOptions(runner="local")):
        runpy.run_path(str(program), run_name="__main__")
    expected = program.with_suffix(".expected").read_text().splitlines()
    assert sorted(capsys.readouterr().out.splitlines()) == expected
