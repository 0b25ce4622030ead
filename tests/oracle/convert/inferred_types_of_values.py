# compare: ordered
# parallelism: 1
"""The types that tables of Python values get without a schema, and the values that come back."""

from __future__ import annotations

import array
import datetime
import decimal

from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import Row, StreamTableEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
tables = StreamTableEnvironment.create(env)
tables.get_config().set("table.local-time-zone", "UTC")
values = {
    "truth": True,
    "whole": 2**40,
    "fraction": 0.1,
    "text": "a",
    "binary": bytearray(b"\x00\xff"),
    "decimal": decimal.Decimal("1.50"),
    "date": datetime.date(2026, 11, 28),
    "clock": datetime.time(16, 51, 50, 123000),
    "moment": datetime.datetime(2026, 11, 28, 16, 51, 50, 123456),
    "numbers": [1, None, 3],
    "shorts": array.array("h", [1, -1]),
    "named": {"k": 1.5},
    "pair": (1, "x"),
    "row": Row(a=1, b="y"),
}
tables.from_elements([tuple(values.values())], list(values)).print_schema()
#: What PyFlink cannot fetch itself: points of time, and lists and rows with None or names.
for unread in ("moment", "numbers", "row"):
    del values[unread]
with tables.from_elements([tuple(values.values())], list(values)).execute().collect() as rows:
    for row in rows:
        for name, value in zip(values, row, strict=True):
            print(name, repr(value))
