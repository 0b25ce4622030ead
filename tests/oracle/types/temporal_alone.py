"""Dates, times, timestamps and instants outside of rows."""

# parallelism: 1
# timeout: 240
# modes: streaming batch
from __future__ import annotations

import datetime

from pyflink.common import Instant, Types
from pyflink.datastream import (
    StreamExecutionEnvironment,
)

CASES = [
    ("date", Types.SQL_DATE(), [datetime.date(2024, 2, 29), datetime.date(1969, 12, 31), datetime.date(1900, 1, 1)]),
    ("time", Types.SQL_TIME(), [datetime.time(0, 0), datetime.time(23, 59, 59)]),
    (
        "timestamp",
        Types.SQL_TIMESTAMP(),
        [datetime.datetime(2024, 2, 29, 12, 0, 0, 1000), datetime.datetime(1969, 1, 1)],
    ),
]
env = StreamExecutionEnvironment.get_execution_environment()
for name, t, values in CASES:
    stream = env.from_collection(values, type_info=t)
    stream.print(name)
    stream.map(lambda v: v, output_type=t).map(repr, output_type=Types.STRING()).print(name)
instants = env.from_collection([Instant(1, 2_000_000), Instant(-1, 0)], type_info=Types.INSTANT())
instants.map(lambda i: "%s %d" % (i, i.to_epoch_milli()), output_type=Types.STRING()).print("instant")
instants.map(lambda i: i, output_type=Types.INSTANT()).print("instant")
env.execute()
