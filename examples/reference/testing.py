"""TestHarness and TableTestHarness: a pipeline step by step."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

from scurry.common import Configuration, RowKind, Types
from scurry.datastream import (
    DataStream,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    StreamExecutionEnvironment,
)
from scurry.datastream.functions import RuntimeContext
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import GlobalWindows, Trigger, TriggerResult
from scurry.errors import JobError, OperatorError
from scurry.table import ChangelogMode, DataTypes, Schema
from scurry.testing import TableTestHarness, TestHarness, job_plan_of, plan_of, replay_batch
from scurry.testing.simulation import FoundFault, Program, Schedule, Simulation, counts, sessions, timers, windows

count = ValueStateDescriptor("count", Types.LONG())
known = MapStateDescriptor("known", Types.STRING(), Types.STRING())
first = OutputTag("first", Types.STRING())


class Visits(KeyedProcessFunction):
    """Report how often a user came when the user has been away for a second."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(count)
        self.visits = runtime_context.get_metrics_group().counter("visits")

    def process_element(self, value: str, ctx: KeyedProcessFunction.Context) -> Iterator[Any]:
        self.visits.inc()
        if self.count.value() is None:
            yield first, value
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(ctx.timestamp() + 1_000)
        ctx.timer_service().register_processing_time_timer(10_000)

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterator[Any]:
        if self.count.value() is not None:
            yield ctx.get_current_key(), self.count.value()
            self.count.clear()


def visits(users: DataStream[str]) -> DataStream[Any]:
    return users.key_by(lambda user: user).process(Visits()).uid("visits")


with TestHarness.of(visits, processing_time=5_000) as harness:
    assert harness.processing_time == 5_000
    harness.process("ann", 1_000)
    with harness.batch():  # both in one micro-batch
        harness.process("ann", 1_200)
        harness.process("bob", 1_500)
    assert harness.state(count, key="ann") == 2
    assert harness.num_keyed_state_entries() == 2
    assert harness.num_event_time_timers() == 3
    assert harness.num_processing_time_timers() == 2
    assert sorted(timer.time for timer in harness.timers(key="bob")) == [2_500, 10_000]
    assert harness.side_output(first) == ["ann", "bob"]
    assert [record.timestamp for record in harness.side_output_records(first)] == [1_000, 1_500]
    harness.advance_watermark(2_000)
    assert harness.outputs() == [("ann", 2)]
    assert harness.watermarks() == [2_000]
    assert [record.value for record in harness.records()] == [("ann", 2)]
    assert len(harness.events()) == 2
    harness.clear_outputs()
    harness.advance_processing_time(10_000)
    assert harness.outputs() == [("bob", 1)]
    assert harness.num_late_records_dropped() == 0
    assert any("visits" in name for name in harness.metrics())
    snapshot = harness.snapshot()
    assert isinstance(harness.notes(), list)
    harness.end_input()

with TestHarness.of(visits, snapshot=snapshot) as later:
    later.process("ann", 3_000)
    assert later.side_output(first) == ["ann"]
    later.close()


class ByTheClock(Trigger):
    """Fire ten seconds after each element."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        ctx.register_processing_time_timer(ctx.get_current_processing_time() + 10_000)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE

    def on_event_time(self, time: int, window: Any, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def clear(self, window: Any, ctx: Trigger.TriggerContext) -> None:
        pass


def together(users: DataStream[str]) -> DataStream[Any]:
    windows = users.key_by(lambda user: 0).window(GlobalWindows.create()).trigger(ByTheClock())
    return windows.reduce(lambda a, b: a + b)


with TestHarness.of(together) as harness:
    harness.process("ann")
    harness.process("bob")
    harness.advance_processing_time(20_000)
    assert harness.outputs() == ["annbob"]


class Known(KeyedBroadcastProcessFunction):
    def process_element(self, value: str, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext) -> Iterator[str]:
        yield ctx.get_broadcast_state(known).get(value) or "unknown"

    def process_broadcast_element(self, value: str, ctx: KeyedBroadcastProcessFunction.Context) -> None:
        ctx.get_broadcast_state(known).put(value, f"known {value}")


def with_names(users: DataStream[str], names: DataStream[str]) -> DataStream[str]:
    return users.key_by(lambda user: user).connect(names.broadcast(known)).process(Known())


with TestHarness.of(with_names) as harness:
    harness.process("ann", input=2)
    harness.process("ann", input=1)
    harness.process("bob", input=1)
    assert harness.outputs() == ["known ann", "unknown"]
    assert harness.broadcast_state(known) == {"ann": "known ann"}

# What a program has built

env = StreamExecutionEnvironment.get_execution_environment()
doubled = env.from_collection([1]).map(lambda n: 2 * n).name("double")
assert plan_of(doubled).name == "double"
doubled.print()
assert job_plan_of(env, "doubled")

# Queries

orders = Schema.new_builder().column("user", DataTypes.STRING()).column("amount", DataTypes.BIGINT()).build()
query = "SELECT `user`, SUM(amount) AS total FROM orders GROUP BY `user`"
with TableTestHarness.of(query, {"orders": orders}) as tables:
    tables.insert("orders", "ann", 2)
    tables.insert("orders", "ann", 3)
    assert len(tables.changes()) == 3  # +I ann 2, -U ann 2, +U ann 5
    assert tables.rows() == [("ann", 5)]
    tables.clear_changes()
    table_snapshot = tables.snapshot()
    tables.advance_watermark(1_000)
    tables.advance_processing_time(1_000)
    assert isinstance(tables.watermarks(), list)
    assert tables.num_late_records_dropped() == 0
    tables.end_input()

with TableTestHarness.of(query, {"orders": orders}, changelogs={"orders": ChangelogMode.all()}) as tables:
    tables.insert("orders", "ann", 2)
    tables.update("orders", ("ann", 2), ("ann", 5))
    assert tables.rows() == [("ann", 5)]
    tables.change("orders", RowKind.INSERT, "bob", 1)
    tables.delete("orders", "bob", 1)
    assert tables.rows() == [("ann", 5)]
    tables.close()

# A micro-batch that failed

settings = Configuration.from_dict({"scurry.runner": "local", "scurry.replay.capture": "failures"})
with tempfile.TemporaryDirectory() as directory:
    settings.set_string("scurry.replay.dir", directory)
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    env.from_collection([2, 1, 0]).key_by(lambda number: 0).map(lambda number: 2 // number).print()
    try:
        env.execute("halves")
    except JobError:
        replayed = replay_batch(directory, batch=0, subtask=0)
        assert isinstance(replayed.error, OperatorError)

# Faults by a seed

for program in (counts(), sessions(), timers(), windows()):
    simulation = Simulation(program, records=5)
    assert len(simulation.check(schedules=1)) == 1
assert simulation.run(simulation.schedule(7)).digest == simulation.attempt(7).digest
assert len(Schedule.of_seed(7, records=5, operations=100).smaller()) > 1


def wrong(given: list[tuple[Any, Any, int]]) -> list[Any]:
    """Leave out what is right, so that a fault is found."""
    return []


simulation = Simulation(Program("wrong", counts().records, counts().build, wrong), records=5)
try:
    simulation.check(schedules=1)
except FoundFault as fault:
    assert simulation.shrink(fault).schedule.records == 1
