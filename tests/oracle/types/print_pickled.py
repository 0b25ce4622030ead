"""Values of no declared type print as Python prints them."""

# modes: streaming batch
from __future__ import annotations

import datetime
from decimal import Decimal

from pyflink.common import Types
from pyflink.datastream import (
    StreamExecutionEnvironment,
)

VALUES = [
    (1, "a"),
    ["x", 2.5],
    {"k": [1, None]},
    {3},
    1 + 2j,
    "text",
    7,
    True,
    2.0,
    ("nested", (1, ["deep"])),
    Decimal("2.50"),
    datetime.date(2024, 1, 31),
    datetime.timedelta(days=1, seconds=5),
    range(3),
    frozenset([1]),
]
env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection(list(range(len(VALUES))), type_info=Types.INT()).map(lambda n: VALUES[n]).print()
env.from_collection([(1, "a"), (2, None)]).print("source")
env.execute()
