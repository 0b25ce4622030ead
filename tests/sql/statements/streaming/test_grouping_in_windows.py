"""GROUPING in window aggregates: the same wherever the columns of the window stand in GROUP BY."""

from __future__ import annotations

from pathlib import Path

import pytest

from scurry.table import EnvironmentSettings, TableEnvironment

_WINDOWS = {
    "TUMBLE": "TUMBLE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
    "HOP": "HOP(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '10' SECOND)",
    "CUMULATE": "CUMULATE(TABLE s, DESCRIPTOR(ts), INTERVAL '10' SECOND, INTERVAL '10' SECOND)",
}
_ORDERS = ("{sets}, window_start, window_end", "window_end, {sets}, window_start", "window_start, window_end, {sets}")


@pytest.mark.parametrize("window", _WINDOWS)
@pytest.mark.parametrize("order", _ORDERS)
def test_grouping_says_which_keys_are_left_out(window: str, order: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,x,1,2024-01-01 00:00:01\n")
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv'"
    env.execute_sql(
        f"CREATE TABLE s (k STRING, g STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({options})"
    )
    query = "SELECT k, g, GROUPING(k), GROUPING(g), GROUPING_ID(g, k) FROM TABLE({}) GROUP BY {}{}"
    keys = order.format(sets="CUBE(k, g)")
    both = [("a", "x", 0, 0, 0), ("a", None, 0, 1, 2), (None, "x", 1, 0, 1), (None, None, 1, 1, 3)]
    for having, expected in (("", both), (" HAVING GROUPING(k) = 1", both[2:])):
        with env.execute_sql(query.format(_WINDOWS[window], keys, having)).collect() as rows:
            assert sorted(map(tuple, rows), key=lambda row: row[2:4]) == expected
