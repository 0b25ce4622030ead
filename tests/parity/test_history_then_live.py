"""History in BATCH with a savepoint at its end, then live from there, gives what one streaming job over all gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.cep import CEP, Pattern, PatternProcessFunction
from scurry.common import Configuration, Time, Types, WatermarkStrategy
from scurry.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.state import MapStateDescriptor, StateTtlConfig
from scurry.datastream.window import TumblingEventTimeWindows

Record = tuple[str, int, int]  # key, count, time
RECORD = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])
RECORDS: list[Record] = [(f"k{number % 10}", 1, number * 10) for number in range(500)]


class Seconds(KeyedProcessFunction):
    """Counts the records of each second by a timer, in state that expires."""

    def open(self, runtime_context: Any) -> None:
        kept = MapStateDescriptor("counts", Types.LONG(), Types.LONG())
        kept.enable_time_to_live(StateTtlConfig.new_builder(Time.days(1)).build())
        self.counts = runtime_context.get_map_state(kept)

    def process_element(self, value: Any, ctx: Any) -> None:
        end = ctx.timestamp() // 1000 * 1000 + 999
        self.counts.put(end, (self.counts.get(end) or 0) + 1)
        ctx.timer_service().register_event_time_timer(end)

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[str]:
        yield f"timer {ctx.get_current_key()} {timestamp} {self.counts.get(timestamp)}"
        self.counts.remove(timestamp)


class Found(PatternProcessFunction[Any, Any]):
    def process_match(self, match: Any, ctx: Any) -> Iterator[str]:
        yield f"match {[event[2] for events in match.values() for event in events]}"


def several(stream: DataStream) -> DataStream:
    """Windows, timers with a state that expires, and a pattern, of (key, count, time)."""
    by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[2])
    keyed = stream.assign_timestamps_and_watermarks(by_time).key_by(lambda value: value[0], key_type=Types.STRING())
    windows = keyed.window(TumblingEventTimeWindows.of(Time.milliseconds(700)))
    sums = windows.reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2]))).uid("sums")
    pattern = Pattern.begin("a").where(lambda value: value[2] % 400 == 0).followed_by("b")
    pairs = CEP.pattern(keyed, pattern.where(lambda value: value[2] % 400 == 200).within(Time.milliseconds(500)))
    return sums.map(lambda value: f"sum {value}", Types.STRING()).union(
        keyed.process(Seconds(), Types.STRING()).uid("seconds"), pairs.process(Found(), Types.STRING()).uid("pairs")
    )


def results_of(engine: str, records: list[Record], parallelism: int, **settings: str) -> list[str]:
    chosen = {"scurry.runner": engine, "parallelism.default": str(parallelism), **settings}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(chosen))
    with several(env.from_collection(records, RECORD)).execute_and_collect() as found:
        return list(found)


@pytest.mark.parametrize("cut", [1, 333, 499])
@pytest.mark.parametrize(("before", "after"), [(3, 2), (1, 4)])
@pytest.mark.parametrize("engine", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.nightly])])
def test_windows_timers_and_patterns_go_on_at_another_parallelism(
    engine: str, before: int, after: int, cut: int, tmp_path: Path
) -> None:
    ending = {"execution.runtime-mode": "BATCH", "scurry.final-savepoint.dir": str(tmp_path)}
    past = results_of(engine, RECORDS[:cut], before, **ending)
    (savepoint,) = tmp_path.iterdir()
    present = results_of(engine, RECORDS[cut:], after, **{"execution.state-recovery.path": str(savepoint)})
    expected = sorted(results_of("local", RECORDS, 1))
    assert {line.split()[0] for line in expected} == {"sum", "timer", "match"}
    assert sorted(past + present) == expected
