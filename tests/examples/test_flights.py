"""The demo's results are those that pandas computes from the same flights, none of them lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import scurry
from support.flights import DATA, FLIGHT, PROJECT, all_flights, results, run_example

DAY = pd.Timedelta(days=1)


def without(flights: pd.DataFrame, late: pd.DataFrame) -> pd.DataFrame:
    """The flights that are not late; fails unless every late one is a flight, once."""
    identity = ["scheduled", "carrier", "flight", "dest"]
    assert not late.duplicated(identity).any()
    both = flights.merge(late[identity].assign(late=True), on=identity, how="left", validate="one_to_one")
    assert both.late.notna().sum() == len(late)
    return both[both.late.isna()].drop(columns="late")


def expected_days(flights: pd.DataFrame) -> pd.DataFrame:
    names = pd.read_csv(DATA / "airports.csv").set_index("faa").name
    day = pd.to_datetime(flights.scheduled, unit="ms").dt.strftime("%Y-%m-%d").rename("day")
    groups = flights.assign(over_30=flights.arrival_delay > 30).groupby([day, "dest"])
    table = groups.agg(
        flights=("flight", "size"),
        arrived=("arrival_delay", "count"),
        total_delay=("arrival_delay", "sum"),
        worst_delay=("arrival_delay", "max"),
        over_30=("over_30", "sum"),
    ).reset_index()
    table.insert(2, "airport", table.dest.map(names).fillna(table.dest))
    return table


def expected_knock_on(flights: pd.DataFrame) -> pd.DataFrame:
    known = flights[flights.tailnum.notna()].sort_values(["tailnum", "scheduled", "carrier", "flight"])
    last = known.groupby("tailnum")[["scheduled", "carrier", "flight", "arrival_delay"]].shift()
    close = known.scheduled - last.scheduled <= DAY / pd.Timedelta(milliseconds=1)
    hit = close & (last.arrival_delay > 30) & (known.departure_delay > 15)
    known, last = known[hit], last[hit]
    return pd.DataFrame(
        {
            "day": pd.to_datetime(known.scheduled, unit="ms").dt.strftime("%Y-%m-%d"),
            "tailnum": known.tailnum,
            "from_flight": last.carrier + last.flight.astype(int).astype(str),
            "arrived_late": last.arrival_delay,
            "to_flight": known.carrier + known.flight.astype(str),
            "left_late": known.departure_delay,
        }
    )


def assert_same(found: pd.DataFrame, expected: pd.DataFrame, key: list[str]) -> None:
    def in_order(table: pd.DataFrame) -> pd.DataFrame:
        return table.sort_values(key).reset_index(drop=True)

    pd.testing.assert_frame_equal(in_order(found), in_order(expected), check_dtype=False)


def check(output: Path, months: int) -> dict[str, pd.DataFrame]:
    """Compares the job's results with pandas'; returns the flights that came too late, by operator."""
    flights = all_flights(months)
    late = {name: results(output / f"too-late-for-{name}", FLIGHT) for name in ("day", "aircraft")}
    days, knock_on = expected_days(without(flights, late["day"])), expected_knock_on(without(flights, late["aircraft"]))
    found = results(output / "days", list(days.columns))
    assert found.flights.sum() + len(late["day"]) == len(flights)
    assert_same(found, days, ["day", "dest"])
    assert_same(
        results(output / "knock-on", list(knock_on.columns)), knock_on, ["day", "tailnum", "from_flight", "to_flight"]
    )
    assert len(knock_on) > 300
    return late


def weeks_of(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith("week of ")]


def check_run(output: Path, months: int, runner: str, mode: str, *options: str) -> dict[str, pd.DataFrame]:
    done = run_example("flights.py", output, months, runner, "--mode", mode, options=options)
    weeks = [line[8:18] for line in weeks_of(done)]
    assert weeks == [
        str(day.date()) for day in pd.date_range("2012-12-31", f"2013-{months + 1:02}-01", freq="7D", inclusive="left")
    ]
    return check(output, months)


@pytest.mark.in_turn
def test_a_stream_accounts_for_every_flight(tmp_path: Path) -> None:
    # small segments, so that there are late ones to account for
    late = check_run(tmp_path / "results", 1, "local", "streaming", "-D", "pipeline.auto-watermark-interval=20ms")
    assert not late["aircraft"].empty


@pytest.mark.in_turn
def test_a_batch_job_finds_the_same_and_nothing_late(tmp_path: Path) -> None:
    late = check_run(tmp_path / "results", 1, "local", "batch")
    assert late["day"].empty and late["aircraft"].empty


def check_history_and_live(directory: Path, months: int, runner: str) -> None:
    """One batch job and the streaming job that goes on with its state do what one streaming job over all does."""
    parts, whole = directory / "parts", directory / "whole"
    history = ["--history", str(months - 1)]
    two = run_example("flights_bootstrap.py", parts, months, runner, *history)
    one = run_example("flights.py", whole, months, runner, "--mode", "streaming", "--wait", "36")
    assert sorted(weeks_of(two)) == sorted(weeks_of(one)) != []
    for kind in ("days", "knock-on", "too-late-for-day", "too-late-for-aircraft"):
        assert sorted(lines_of(parts / kind)) == sorted(lines_of(whole / kind))
    assert len(list((parts / "days").glob("*.csv"))) > 1  # both jobs had results
    late = check(parts, months)
    assert late["day"].empty and late["aircraft"].empty


def lines_of(directory: Path) -> list[str]:
    return [line for file in directory.glob("[!.]*.csv") for line in file.read_text().splitlines()[1:]]


@pytest.mark.in_turn
def test_history_and_live_are_the_whole(tmp_path: Path) -> None:
    check_history_and_live(tmp_path, 2, "local")


@pytest.mark.spark
@pytest.mark.nightly
def test_history_and_live_on_spark(tmp_path: Path) -> None:
    check_history_and_live(tmp_path, int(os.environ.get("SCURRY_MONTHS", "3")), "spark")  # 12 take minutes


@pytest.mark.spark
@pytest.mark.in_turn
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_spark_finds_the_same(tmp_path: Path, mode: str) -> None:
    late = check_run(tmp_path / "results", 3, "spark", mode)
    assert mode == "streaming" or (late["day"].empty and late["aircraft"].empty)


def test_an_output_that_exists_is_left_alone(tmp_path: Path) -> None:
    command = [sys.executable, str(PROJECT / "examples/flights.py"), "--output", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(scurry.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 2 and "exists" in done.stderr
    assert list(tmp_path.iterdir()) == []
