"""Ad impressions (Yahoo's benchmark): views are filtered, joined with their campaign and counted in windows of 10 s.

Prints:

    spring: 2 from second 0
    summer: 1 from second 0
    spring: 1 from second 10
"""

from __future__ import annotations

from scurry.common import Time, WatermarkStrategy
from scurry.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from scurry.datastream.window import TumblingEventTimeWindows

CAMPAIGN_OF = {"ad1": "spring", "ad2": "spring", "ad3": "summer"}
EVENTS = [("view", "ad1", 0), ("click", "ad1", 1), ("view", "ad3", 2), ("view", "ad2", 9), ("view", "ad2", 10)]


class Count(ProcessWindowFunction):
    def process(self, campaign, context, views):
        yield f"{campaign}: {len(list(views))} from second {context.window().start // 1000}"


env = StreamExecutionEnvironment.get_execution_environment()
by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda event, _: event[2] * 1000)
(
    env.from_collection(EVENTS)
    .assign_timestamps_and_watermarks(by_time)
    .filter(lambda event: event[0] == "view")
    .map(lambda event: (CAMPAIGN_OF[event[1]], event[2]))
    .key_by(lambda view: view[0])
    .window(TumblingEventTimeWindows.of(Time.seconds(10)))
    .process(Count())
    .print()
)
env.execute("ad impressions")
