"""Visitors per country over the last five minutes, every minute: sliding windows over distinct users.

Prints:

    minute 1: 1 from NO
    minute 2: 2 from NO
    minute 2: 1 from SE
    minute 3: 2 from NO
    minute 3: 1 from SE
    minute 4: 2 from NO
    minute 4: 1 from SE
    minute 5: 2 from NO
    minute 5: 1 from SE
    minute 6: 2 from NO
    minute 6: 1 from SE
    minute 7: 1 from NO
    minute 7: 2 from SE
    minute 8: 1 from NO
    minute 8: 2 from SE
    minute 9: 2 from SE
    minute 10: 2 from SE
    minute 11: 2 from SE
"""

from __future__ import annotations

from typing import NamedTuple

from scurry.common import Duration, Time, WatermarkStrategy
from scurry.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from scurry.datastream.window import SlidingEventTimeWindows

MINUTE = 60_000


class Visit(NamedTuple):
    country: str
    user: str
    minute: int


VISITS = [
    Visit("NO", "ann", 0),
    Visit("NO", "bob", 1),
    Visit("SE", "cid", 1),
    Visit("NO", "ann", 3),
    Visit("SE", "dan", 6),
    Visit("SE", "cid", 6),
]


class Visitors(ProcessWindowFunction):
    def process(self, country, context, visits):
        yield f"minute {context.window().end // MINUTE}: {len({visit.user for visit in visits})} from {country}"


env = StreamExecutionEnvironment.get_execution_environment()
by_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_minutes(1)).with_timestamp_assigner(
    lambda visit, _: visit.minute * MINUTE
)
(
    env.from_collection(VISITS)
    .assign_timestamps_and_watermarks(by_time)
    .key_by(lambda visit: visit.country)
    .window(SlidingEventTimeWindows.of(Time.minutes(5), Time.minutes(1)))
    .process(Visitors())
    .print()
)
env.execute("visitors per country")
