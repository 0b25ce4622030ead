"""A profile per user, read by key from outside while the job runs.

Prints:

    ann saw ['cake', 'tea']
"""

from __future__ import annotations

import time

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.datastream.state import MapStateDescriptor

CLICKS = [("ann", "tea"), ("bob", "cup"), ("ann", "tea"), ("ann", "cake")]


class Profile(KeyedProcessFunction):
    def open(self, runtime_context):
        self.pages = runtime_context.get_map_state(MapStateDescriptor("pages", Types.STRING(), Types.INT()))

    def process_element(self, click, ctx):
        self.pages.put(click[1], (self.pages.get(click[1]) or 0) + 1)
        yield click


settings = Configuration()
env = StreamExecutionEnvironment.get_execution_environment(settings)
source = DataGeneratorSource(lambda number: CLICKS[number % len(CLICKS)], 1_000_000, 100)
clicks = env.from_source(source, WatermarkStrategy.no_watermarks(), "clicks").set_parallelism(1)
profiles = clicks.key_by(lambda click: click[0]).process(Profile()).uid("profiles")
profiles.filter(lambda click: False).print()
client = env.execute_async("profiles")
deadline = time.monotonic() + 60
while len(profile := client.query_state("profiles", "pages", "ann").result() or {}) < 2:
    assert time.monotonic() < deadline
    time.sleep(0.05)
print("ann saw", sorted(profile))
client.cancel().result()
