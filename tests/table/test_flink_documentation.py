"""Programs after the pages of Flink's documentation give the answers of PyFlink 2.3.0, in BATCH and STREAMING.

The fixture says which answers PyFlink gave, and which are those of scurry, which were only
read through: they show that nothing changes.

`support/documented_programs` has the programs by page and heading, and says what is left out because it needs Java.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import scurry.pyflink_alias  # noqa: F401
from scurry.common._process import launch
from support.documented_programs import PROGRAMS, answer

FIXTURE = Path(__file__).parent.parent / "fixtures" / "flink_documentation.json"
ANSWERS = {name: lines for kind in json.loads(FIXTURE.read_text()).values() for name, lines in kind.items()}


@pytest.fixture(autouse=True)
def in_this_process() -> Iterator[None]:
    with launch.activate(launch.LaunchOptions(runner="local")):
        yield


@pytest.mark.parametrize(
    ("heading", "mode"), [(heading, mode) for heading, (modes, _) in PROGRAMS.items() for mode in modes]
)
def test_a_documented_program_answers_as_pyflink_does(heading: str, mode: str) -> None:
    assert answer(heading, mode) == ANSWERS[f"{heading} ({mode})"]
