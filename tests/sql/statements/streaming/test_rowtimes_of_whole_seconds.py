"""A time attribute has milliseconds, also if its column is declared with fewer digits."""

from __future__ import annotations

import datetime
from pathlib import Path

from scurry.table import EnvironmentSettings, TableEnvironment


def test_a_rowtime_of_whole_seconds_has_milliseconds(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,2024-01-01 00:00:01.75\n")
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    options = f"'connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv'"
    env.execute_sql(f"CREATE TABLE z (k STRING, ts TIMESTAMP(0), WATERMARK FOR ts AS ts) WITH ({options})")
    window = "TUMBLE(TABLE z, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
    with env.execute_sql(f"SELECT ts, window_time FROM TABLE({window})").collect() as rows:
        assert [tuple(row) for row in rows] == [
            (datetime.datetime(2024, 1, 1, 0, 0, 1, 750000), datetime.datetime(2024, 1, 1, 0, 0, 9, 999000))
        ]
