"""Programs that mix what the Table API can do give the answers that PyFlink 2.3.0 recorded, in BATCH and STREAMING."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.common._process import launch
from support.table_programs import PROGRAMS, answer

RECORDED = json.loads((Path(__file__).parent.parent / "fixtures" / "table_programs.json").read_text())


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with launch.activate(launch.LaunchOptions(runner="local")):
        yield


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name, (modes, *_) in PROGRAMS.items() for mode in modes])
def test_a_program_answers_as_pyflink_does(name: str, mode: str) -> None:
    assert answer(name, mode) == RECORDED[f"{name} ({mode})"]
