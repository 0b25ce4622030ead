"""The programs of Flink's page "DataStream API Integration" print what PyFlink 2.3 prints, as recorded."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.common._process import launch

FIXTURES = Path(__file__).parent.parent / "fixtures" / "flink"
RECORDED: dict[str, list[str]] = json.loads((FIXTURES / "data_stream_api.json").read_text())


@pytest.mark.parametrize("name", RECORDED)
def test_a_program_prints_what_it_prints_in_flink(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with launch.activate(launch.LaunchOptions(runner="local")):
        runpy.run_path(str(FIXTURES / "data_stream_api.py"))[name]()
    assert capsys.readouterr().out.splitlines() == RECORDED[name]
