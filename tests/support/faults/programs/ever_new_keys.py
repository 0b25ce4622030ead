"""Keys that never come again: state with a time to live, sessions and windows with lateness, all of ever-new keys.

    ever_new_keys.py SECONDS PERIOD CHECKPOINTS SAVEPOINTS

Takes a savepoint every PERIOD seconds and at the end, and prints for each how many entries the operators have, expired
ones included, as a line of JSON.
"""

from __future__ import annotations

import json
import pickle
import shutil
import sys
import time
from collections import Counter
from typing import Any

from scurry.common import Duration, Time, Types, WatermarkStrategy
from scurry.common.configuration import Configuration
from scurry.connectors.datagen import DataGeneratorSource
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import MapStateDescriptor, StateTtlConfig, ValueStateDescriptor
from scurry.datastream.window import EventTimeSessionWindows, TumblingEventTimeWindows
from scurry.runtime.savepoint.reading import open_savepoint
from scurry.runtime.state.backend import Index

KEYS_PER_SECOND, TTL_SECONDS, LATENESS_SECONDS = 300, 3, 3
RECORD = Types.TUPLE([Types.LONG(), Types.LONG()])


class Remember(KeyedProcessFunction):
    """Has seen each key before if it came within the time to live; says so of those it should not have seen."""

    def open(self, runtime_context: Any) -> None:
        ttl = StateTtlConfig.new_builder(Time.seconds(TTL_SECONDS)).build()
        last, pages = ValueStateDescriptor("last"), MapStateDescriptor("pages")
        for descriptor in (last, pages):
            descriptor.enable_time_to_live(ttl)
        self.last, self.pages = runtime_context.get_state(last), runtime_context.get_map_state(pages)

    def process_element(self, value: Any, ctx: Any) -> Any:
        if self.last.value() is not None:
            yield f"key {value[0]} was there before"
        self.last.update(value[1])
        self.pages.put(f"page {value[0] % 10}", value[0])


def latest(a: Any, b: Any) -> Any:
    return max(a, b)


def build(env: StreamExecutionEnvironment) -> None:
    source = DataGeneratorSource(lambda number: (number, time.time_ns() // 10**6), None, KEYS_PER_SECOND, RECORD)
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    strategy = strategy.with_timestamp_assigner(lambda value, _: value[1])
    keyed = env.from_source(source, strategy, "numbers").key_by(lambda value: value[0], Types.LONG())
    second = Time.seconds(1)
    windows = keyed.window(TumblingEventTimeWindows.of(second)).allowed_lateness(LATENESS_SECONDS * 1000)
    sessions = keyed.window(EventTimeSessionWindows.with_gap(second))
    nothing: list[DataStream] = [
        keyed.process(Remember(), Types.STRING()).uid("ttl").name("ttl"),
        windows.reduce(latest).uid("windows").name("windows").filter(lambda _: False),
        sessions.reduce(latest).uid("sessions").name("sessions").filter(lambda _: False),
    ]
    for stream in nothing:
        stream.print()


def entries(path: str) -> dict[str, int]:
    """The entries of each operator, by uid, and under `bytes` the size of all pages."""
    found: Counter[str] = Counter()
    for entry in open_savepoint(path).entries(kinds=["page"]):
        content = pickle.loads(entry.blob)
        found["bytes"] += len(entry.blob)
        found[entry.uid] += 0 if isinstance(content, Index) else len(content)
    shutil.rmtree(path)
    return dict(found)


def tell(path: str, started: float) -> None:
    print(json.dumps({"at": round(time.monotonic() - started), **entries(path)}), flush=True)


def main(seconds: str, period: str, checkpoints: str, savepoints: str) -> None:
    configuration = Configuration()
    configuration.set_string("execution.checkpointing.dir", checkpoints)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    build(env)
    job, started = env.execute_async("ever-new keys"), time.monotonic()
    end = started + float(seconds)
    while time.monotonic() + float(period) < end:
        time.sleep(float(period))
        tell(job.trigger_savepoint(savepoints).result(), started)
    time.sleep(max(0.0, end - time.monotonic()))
    tell(job.stop_with_savepoint(False, savepoints).result(), started)
    job.get_job_execution_result().result()


if __name__ == "__main__":
    main(*sys.argv[1:])
