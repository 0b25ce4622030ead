"""Types, rows, durations and watermark strategies."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from scurry.common import Duration, Row, RowKind, Time, Types, WatermarkStrategy
from scurry.common.watermark_strategy import WatermarkGenerator, WatermarkOutput
from scurry.datastream import DataStream, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()


def results(stream: DataStream[Any]) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


# Types: records are converted to the declared one

noon = datetime.datetime(2026, 1, 2, 12, 0)
for declared, value in (
    (Types.STRING(), "text"),
    (Types.BOOLEAN(), True),
    (Types.BYTE(), 1),
    (Types.SHORT(), 2),
    (Types.INT(), 3),
    (Types.LONG(), 4),
    (Types.FLOAT(), 0.5),
    (Types.DOUBLE(), 0.25),
    (Types.CHAR(), "c"),
    (Types.BIG_INT(), 10**30),
    (Types.BIG_DEC(), Decimal("1.5")),
    (Types.SQL_DATE(), noon.date()),
    (Types.SQL_TIME(), noon.time()),
    (Types.SQL_TIMESTAMP(), noon),
    (Types.PICKLED_BYTE_ARRAY(), {"any": "object"}),
    (Types.PRIMITIVE_ARRAY(Types.INT()), [1, 2]),
    (Types.BASIC_ARRAY(Types.STRING()), ["a"]),
    (Types.OBJECT_ARRAY(Types.TUPLE([Types.INT()])), [(1,)]),
    (Types.TUPLE([Types.STRING(), Types.INT()]), ("a", 1)),
    (Types.ROW([Types.INT()]), Row(f0=1)),
    (Types.ROW_NAMED(["n"], [Types.INT()]), Row(n=1)),
    (Types.MAP(Types.STRING(), Types.INT()), {"a": 1}),
    (Types.LIST(Types.INT()), [1, 2]),
):
    (found,) = results(env.from_collection([value], declared))
    assert list(found) == value if isinstance(value, list) else found == value, declared
assert str(Types.INSTANT())

# Rows

row = Row(name="ann", age=41)
assert row.as_dict() == {"name": "ann", "age": 41}
assert row.get_fields_by_names(["age"]) == [41]
update = Row.of_kind(RowKind.UPDATE_AFTER, 1, 2)
assert update.get_row_kind() == RowKind.UPDATE_AFTER
update.set_row_kind(RowKind.INSERT)
update.set_field_names(["x", "y"])
assert update.x == 1

# Durations

assert Duration.of_days(1) == Duration.of_hours(24) == Duration.of_minutes(1_440)
assert Duration.of_seconds(1) == Duration.of_millis(1_000) == Duration.of_nanos(10**9)
assert Time.days(1).to_milliseconds() == Time.hours(24).to_milliseconds()
assert Time.minutes(1).to_milliseconds() == Time.seconds(60).to_milliseconds() == 60_000
assert Time.milliseconds(5).to_milliseconds() == 5

# Watermarks


class EveryTenth(WatermarkGenerator):
    """A watermark with each event whose time is a multiple of ten."""

    def on_event(self, event: Any, event_timestamp: int, output: WatermarkOutput) -> None:
        if event_timestamp % 10 == 0:
            output.emit_watermark(event_timestamp)

    def on_periodic_emit(self, output: WatermarkOutput) -> None:
        pass


strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
strategy = strategy.with_timestamp_assigner(lambda event, _: event)
strategy = strategy.with_idleness(Duration.of_minutes(1))
aligned = strategy.with_watermark_alignment("group", Duration.of_seconds(20), Duration.of_seconds(1))
for each in (
    strategy,
    aligned,
    WatermarkStrategy.for_monotonous_timestamps(),
    WatermarkStrategy.for_ingestion_time(),
    WatermarkStrategy.no_watermarks(),
    WatermarkStrategy.for_generator(EveryTenth),
):
    timed = each.with_timestamp_assigner(lambda event, _: event)
    assert results(env.from_collection([1, 10]).assign_timestamps_and_watermarks(timed)) == [1, 10]

# Texts of values, as Flink prints and writes them

pair = Types.ROW_NAMED(["word", "n"], [Types.STRING(), Types.INT()])
assert Types.BOOLEAN().to_string(True) == Types.BOOLEAN().to_java_string(True) == "true"
assert pair.to_java_string(Row("to", 1)) == "+I[to, 1]"
