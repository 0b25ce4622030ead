"""Windows whose start or end is not within 64 bits fail, others next to the edges fire."""

# timeout: 240
# parallelism: 1
# modes: streaming batch
from __future__ import annotations

from pyflink.common import Time, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import EventTimeSessionWindows, SlidingEventTimeWindows, TumblingEventTimeWindows

LAST = 2**63 - 1
FIRST = -(2**63)


class Second(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[1]


class Beyond(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return 2**70


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"[{context.window().start}, {context.window().end}) {[element[1] for element in elements]}"


def ms(number):
    return Time.milliseconds(number)


tumbling, sessions = TumblingEventTimeWindows.of(ms(10)), EventTimeSessionWindows.with_gap(ms(10))
for name, windows, time, assigner in [
    ("last", tumbling, LAST, Second()),
    ("one before the last", tumbling, LAST - 1, Second()),
    ("ends with the last", TumblingEventTimeWindows.of(ms(10), ms(7)), LAST - 3, Second()),
    ("would end one later", TumblingEventTimeWindows.of(ms(10), ms(8)), LAST - 3, Second()),
    ("sliding", SlidingEventTimeWindows.of(ms(10), ms(5)), LAST - 6, Second()),
    ("session", sessions, LAST - 1, Second()),
    ("session that ends with the last", sessions, LAST - 10, Second()),
    ("session that would end one later", sessions, LAST - 9, Second()),
    ("first is no time", tumbling, FIRST, Second()),
    ("one after the first", tumbling, FIRST + 1, Second()),
    ("starts after the first", tumbling, FIRST + 12, Second()),
    ("session at the first", sessions, FIRST + 1, Second()),
    ("beyond", tumbling, 1, Beyond()),
]:
    env = StreamExecutionEnvironment.get_execution_environment()
    pair = Types.TUPLE([Types.STRING(), Types.LONG()])
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(assigner)
    stream = env.from_collection([("a", time)], type_info=pair).assign_timestamps_and_watermarks(strategy)
    keyed = stream.key_by(lambda value: value[0], key_type=Types.STRING())
    keyed.window(windows).process(Show(), output_type=Types.STRING()).print()
    try:
        env.execute()
        print(name, "finished")
    except Exception:
        print(name, "failed")
