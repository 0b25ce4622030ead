"""Counterparts of Spark Structured Streaming (docs/coming-from/spark.md)."""

from __future__ import annotations

from typing import Final

_STATEFUL = "keyed.process(KeyedProcessFunction): state, timers and side outputs"
_WINDOWS = "stream.key_by(...).window(TumblingEventTimeWindows.of(Time.minutes(1))), or TUMBLE and HOP in SQL"

#: A method or function of Spark -> what to write instead.
COUNTERPARTS: Final = {
    "readStream": "KafkaSource, FileSource and others with env.from_source; env.from_spark(df) takes any DataFrame",
    "writeStream": "stream.sink_to(KafkaSink, FileSink and others)",
    "withWatermark": "WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_minutes(10)), for each source",
    "window": _WINDOWS,
    "session_window": "EventTimeSessionWindows.with_gap(Time.minutes(10)), or SESSION in SQL",
    "dropDuplicatesWithinWatermark": "a KeyedProcessFunction with a ValueState that expires, or ROW_NUMBER in SQL",
    "mapGroupsWithState": _STATEFUL,
    "flatMapGroupsWithState": _STATEFUL,
    "applyInPandasWithState": _STATEFUL,
    "transformWithState": _STATEFUL,
    "transformWithStateInPandas": _STATEFUL,
    "foreachBatch": "a sink; stream.to_spark() gives results as DataFrames",
    "foreach": "a sink: derive Sink, or use stream.map with a side effect that may be repeated",
    "outputMode": "leave it out: a table gives its changes, +I -U +U -D, and sinks take those that they can",
    "trigger": "execution.checkpointing.interval; for availableNow a bounded source",
    "awaitTermination": "leave it out: env.execute() returns when the job has ended",
    "awaitAnyTermination": "leave it out: env.execute() returns when the job has ended",
}
#: Those that only streams have: others are looked at in programs with one of these.
STREAMING: Final = frozenset(COUNTERPARTS) - {"window", "foreach", "trigger"}
