"""Sums per key and window of ten seconds in SQL, over files of bench/cpu.py: FORMAT PATH.

It runs with scurry (`scurry run`) and with PyFlink. The lines of the print sink are counted in a file.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile

from pyflink.table import EnvironmentSettings, TableEnvironment

form, path = sys.argv[1:3]
printed, console = tempfile.NamedTemporaryFile(), os.dup(1)  # noqa: SIM115
os.dup2(printed.fileno(), 1)  # before the JVM starts, so that it inherits the file
t = TableEnvironment.create(EnvironmentSettings.new_instance().in_streaming_mode().build())
t.get_config().set("parallelism.default", "2")
t.execute_sql(
    "CREATE TABLE events (`key` BIGINT, ts BIGINT, `value` BIGINT, rowtime AS TO_TIMESTAMP_LTZ(ts, 3), "
    f"WATERMARK FOR rowtime AS rowtime - INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = '{path}', "
    f"'format' = '{form}')"
)
t.execute_sql("CREATE TABLE sums (`key` BIGINT, total BIGINT) WITH ('connector' = 'print')")
t.execute_sql(
    "INSERT INTO sums SELECT `key`, SUM(`value`) FROM TABLE(TUMBLE(TABLE events, DESCRIPTOR(rowtime), "
    "INTERVAL '10' SECOND)) GROUP BY `key`, window_start, window_end"
).wait()
sys.stdout.flush()
os.dup2(console, 1)
with open(printed.name, encoding="utf-8") as lines:
    totals = [int(each) for each in re.findall(r"\+I\[\d+, (\d+)\]", lines.read())]
print(f'RESULT {{"rows": {len(totals)}, "sum": {sum(totals)}}}', flush=True)
