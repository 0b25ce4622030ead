"""Readings from files -> two high ones of a sensor without a low one between, within a time -> files.

patterns.py INPUT OUTPUT CHECKPOINTS
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from scurry.cep import CEP, Pattern, PatternProcessFunction, TimedOutPartialMatchHandler
from scurry.common import Duration, Types, WatermarkStrategy
from scurry.datastream import OutputTag
from scurry.datastream.connectors.file_system import FileSource, StreamFormat
from support.faults.programs.windows_and_counts import READING, Timestamp, environment, parse, write

TIMED_OUT = OutputTag("timed out")


class Found(PatternProcessFunction[Any, Any], TimedOutPartialMatchHandler[Any]):
    def process_match(self, match: dict[str, list[Any]], ctx: Any) -> Iterator[Any]:
        yield match["first"], match["second"]

    def process_timed_out_match(self, match: dict[str, list[Any]], ctx: Any) -> Iterator[Any]:
        yield TIMED_OUT, (match["first"], ctx.timestamp())


def main(source: str, output: str, checkpoints: str) -> None:
    env = environment(checkpoints)
    files = FileSource.for_record_stream_format(StreamFormat.text_line_format(), source).build()
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(5))
    readings = (
        env.from_source(files, WatermarkStrategy.no_watermarks(), "readings")
        .map(parse, output_type=READING)
        .assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Timestamp()))
    )
    high = Pattern.begin("first").where(lambda reading: reading[2] >= 70)
    pattern = (
        high.not_followed_by("low")
        .where(lambda reading: reading[2] < 10)
        .followed_by("second")
        .where(lambda reading, ctx: reading[2] > ctx.get_events_for_pattern("first")[0][2])
        .within(Duration.of_seconds(15))
    )
    per_sensor = readings.key_by(lambda reading: reading[0], key_type=Types.STRING())
    found = CEP.pattern(per_sensor, pattern).process(Found())
    write(found, f"{output}/matches")
    write(found.get_side_output(TIMED_OUT), f"{output}/timed-out")
    env.execute("patterns")


if __name__ == "__main__":
    main(*sys.argv[1:])
