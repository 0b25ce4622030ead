"""Sessions of processing time: a pause longer than the gap ends one; the last is pending at the end of input."""

# parallelism: 1
# compare: ordered
from __future__ import annotations

import time

from pyflink.common import Configuration, Time, Types
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import ProcessingTimeSessionWindows


class Show(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield f"{key} {''.join(e[2] for e in elements)}"


def paused(value):
    time.sleep(value[1] / 1000)
    return value[0] != "pause"


conf = Configuration()
conf.set_string("python.fn-execution.bundle.size", "1")
conf.set_string("pipeline.operator-chaining.enabled", "false")
env = StreamExecutionEnvironment.get_execution_environment(conf)
data = [
    ("a", 0, "1"),
    ("a", 100, "2"),
    ("a", 100, "3"),
    ("pause", 2500, ""),
    ("a", 0, "4"),
    ("a", 100, "5"),
    ("pause", 2500, ""),
    ("a", 0, "6"),
]
typed = Types.TUPLE([Types.STRING(), Types.LONG(), Types.STRING()])
stream = env.from_collection(data, type_info=typed).filter(paused)
keyed = stream.key_by(lambda v: v[0], key_type=Types.STRING())

keyed.window(ProcessingTimeSessionWindows.with_gap(Time.milliseconds(1200))).process(
    Show(), output_type=Types.STRING()
).print()
env.execute()
