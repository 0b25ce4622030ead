"""The same dashboard in SQL over a stream and over history: one query, two modes, the same rows.

Prints:

    batch: [('10:00', 2, 7), ('10:01', 1, 5)]
    streaming: [('10:00', 2, 7), ('10:01', 1, 5)]
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from scurry.table import EnvironmentSettings, TableEnvironment

sales = Path(tempfile.mkdtemp()) / "sales.csv"
sales.write_text("2026-01-31 10:00:05,tea,3\n2026-01-31 10:00:40,cake,4\n2026-01-31 10:01:10,tea,5\n")

for settings in (EnvironmentSettings.in_batch_mode(), EnvironmentSettings.in_streaming_mode()):
    t_env = TableEnvironment.create(settings)
    t_env.execute_sql(f"""
        CREATE TABLE sales (ts TIMESTAMP(3), item STRING, price INT, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
        WITH ('connector' = 'filesystem', 'path' = '{sales}', 'format' = 'csv')
    """)
    minutes = t_env.execute_sql("""
        SELECT DATE_FORMAT(window_start, 'HH:mm') AS at_minute, COUNT(*) AS n, SUM(price) AS revenue
        FROM TABLE(TUMBLE(TABLE sales, DESCRIPTOR(ts), INTERVAL '1' MINUTE))
        GROUP BY window_start, window_end
    """)
    with minutes.collect() as rows:
        print("batch:" if settings.is_streaming_mode() is False else "streaming:", sorted(map(tuple, rows)))
