"""Storm: the topology of rolling top words, with its spout, bolts, groupings, ticks and failures.

The spout is a source, each bolt a function, a fields grouping `key_by`, a global grouping a window over all; windows
replace tick tuples. A checkpoint acknowledges for all, so no bolt calls `ack`; what fails is set aside, not replayed.

Prints:

    at 10 s: storm 3, flink 1
    at 20 s: flink 2, spark 2
    failed: 42
"""

from __future__ import annotations

from scurry.common import Time, WatermarkStrategy
from scurry.datastream import OutputTag, StreamExecutionEnvironment
from scurry.datastream.functions import ProcessAllWindowFunction
from scurry.datastream.window import TumblingEventTimeWindows

SENTENCES = [
    (1, "storm storm"), (4, "flink storm"), (12, "spark flink"), (13, "42"), (17, "spark flink"),
]  # fmt: skip


class Rank(ProcessAllWindowFunction):
    """The bolt of the global grouping: the top two of all words."""

    def process(self, context, counts):
        top = sorted(counts, key=lambda pair: (-pair[1], pair[0]))[:2]
        yield f"at {context.window().end // 1000} s: {', '.join(f'{word} {count}' for word, count in top)}"


def split(sentence: tuple) -> list[str]:
    if not sentence[1].replace(" ", "").isalpha():
        raise ValueError(f"{sentence[1]!r} has no words")
    return sentence[1].split()


env = StreamExecutionEnvironment.get_execution_environment()
failed = OutputTag("failed")
by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda record, _: record[0] * 1000)
sentences = env.from_collection(SENTENCES).assign_timestamps_and_watermarks(by_time)
words = sentences.flat_map(split).with_dead_letters(failed)
ticks = TumblingEventTimeWindows.of(Time.seconds(10))
counted = words.map(lambda word: (word, 1)).key_by(lambda pair: pair[0]).window(ticks)
counts = counted.reduce(lambda a, b: (a[0], a[1] + b[1]))
top = counts.window_all(ticks).process(Rank())
top.print()
words.get_side_output(failed).map(lambda letter: f"failed: {letter.record[1]}").print()
env.execute("rolling top words")
