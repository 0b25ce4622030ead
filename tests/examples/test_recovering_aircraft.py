"""The example of patterns finds what a scan of each aircraft's flights finds."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from support.flights import all_flights, results, run_example

WEEK = 7 * 24 * 3_600_000
COLUMNS = ["tailnum", "day", "late_flights", "worst", "recovered_day", "recovered_flight"]


def recoveries(flights: pd.DataFrame) -> set[tuple[str, str, int, str]]:
    """Aircraft, flights that were late, the worst delay, and the first flight on time, by definition."""
    found = set()
    for tail, own in flights.dropna(subset="tailnum").groupby("tailnum"):
        rows = list(own.sort_values(["scheduled", "carrier", "flight"]).itertuples())
        delays = [row.arrival_delay for row in rows]  # NaN if it has not arrived: neither late nor on time
        at = 0
        while at + 3 < len(rows):
            ahead = (to for to in range(at + 3, len(rows)) if delays[to] <= 0)
            end = next(ahead, None) if all(delay > 30 for delay in delays[at : at + 3]) else None
            if end is None or rows[end].scheduled - rows[at].scheduled >= WEEK:
                at += 1
                continue
            late = " ".join(f"{row.carrier}{row.flight}" for row in rows[at : at + 3])
            found.add((str(tail), late, int(max(delays[at : at + 3])), f"{rows[end].carrier}{rows[end].flight}"))
            at = end + 1
    return found


@pytest.mark.in_turn
def test_the_recoveries_are_those_of_a_scan(tmp_path: Path) -> None:
    run_example("recovering_aircraft.py", tmp_path / "out", 1, "local")
    found = results(tmp_path / "out" / "recoveries", COLUMNS)
    expected = recoveries(all_flights(1))
    assert len(expected) > 50
    assert (
        set(found[["tailnum", "late_flights", "worst", "recovered_flight"]].itertuples(index=False, name=None))
        == expected
    )
