# timeout: 900
# modes: streaming batch
"""The columns of a stream follow from its declared type."""

from __future__ import annotations

import datetime
import decimal

from pyflink.common import Instant, Row, Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.table import StreamTableEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
t_env = StreamTableEnvironment.create(env)
t_env.get_config().set("table.local-time-zone", "UTC")

VALUES = [
    (Types.INT(), 1),
    (Types.LONG(), 2),
    (Types.SHORT(), 3),
    (Types.BYTE(), 4),
    (Types.FLOAT(), 1.5),
    (Types.DOUBLE(), 2.5),
    (Types.BOOLEAN(), True),
    (Types.STRING(), "a"),
    (Types.BIG_DEC(), decimal.Decimal("1.5")),
    (Types.SQL_DATE(), datetime.date(2020, 1, 2)),
    (Types.SQL_TIME(), datetime.time(1, 2, 3)),
    (Types.SQL_TIMESTAMP(), datetime.datetime(2020, 1, 2, 3, 4, 5, 678000)),
    (Types.INSTANT(), Instant.of_epoch_milli(1500)),
    (Types.PRIMITIVE_ARRAY(Types.INT()), [1, 2]),
    (Types.BASIC_ARRAY(Types.LONG()), [1, 2]),
    (Types.OBJECT_ARRAY(Types.STRING()), ["a", "b"]),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}),
    (Types.TUPLE([Types.INT(), Types.STRING()]), (1, "a")),
    (Types.ROW([Types.INT(), Types.STRING()]), Row(1, None)),
    (Types.ROW_NAMED(["x", "y"], [Types.LONG(), Types.BOOLEAN()]), Row(1, False)),
]
for number, (type_info, value) in enumerate(VALUES):
    table = t_env.from_data_stream(env.from_collection([value], type_info=type_info))
    print(number, " ".join(str(table.get_schema()).split()))
    if type_info == Types.INSTANT():
        continue  # PyFlink cannot collect points of time
    with table.execute().collect() as rows:
        for row in rows:
            print(number, row)

one = env.from_collection([1], type_info=Types.INT())
for number, (type_info, value) in enumerate(
    [
        (Types.LIST(Types.INT()), [1]),
        (Types.PRIMITIVE_ARRAY(Types.BYTE()), b"ab"),
        (Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.ROW_NAMED(["x"], [Types.STRING()])]), Row(1, Row("q"))),
        (Types.INSTANT(), Instant.of_epoch_milli(5)),
    ]
):
    table = t_env.from_data_stream(one.map(lambda _, value=value: value, output_type=type_info))
    print("mapped", number, " ".join(str(table.get_schema()).split()))
    if type_info == Types.INSTANT():
        continue
    with table.execute().collect() as rows:
        for row in rows:
            print("mapped", number, row)
