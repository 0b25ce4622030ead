"""Broadcast state from batch to batch. Each batch runs in a new worker: only what is in the store survives."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scurry.common import Configuration, Types
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import (
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedStateFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.errors import KeyedStateError, OperatorError, ReadOnlyStateError
from scurry.runtime.exchange.wire import COMMIT, MIN_TIME, WireRow, channel_id, unpack
from scurry.runtime.exchange.writers import RecordWriter, edge_writer
from scurry.runtime.local.streaming import plan_loader
from scurry.runtime.state.broadcast import BroadcastStates
from scurry.runtime.state.store import DictStore, StoreKey
from scurry.runtime.tasks.level_task import LevelTask
from scurry.testing import job_plan_of
from support.cases import cases

RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())
OTHER = MapStateDescriptor("other")


class CountingStore(DictStore):
    """Counts what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def put(self, key: StoreKey, blob: bytes) -> None:
        self.writes += 1
        super().put(key, blob)


# ------------------------------------------------------------------ the states of a subtask


@pytest.fixture
def store() -> CountingStore:
    return CountingStore()


def restored(store: DictStore) -> BroadcastStates:
    states = BroadcastStates("op")
    states.begin_batch(store)
    return states


@pytest.fixture
def filled(store: CountingStore) -> CountingStore:
    states = restored(store)
    states.writable(RULES).put("a", 1)
    states.writable(OTHER).put((1, 2), ["x"])
    states.end_batch(store)
    return store


def test_another_worker_finds_all_states(filled: CountingStore) -> None:
    states = restored(filled)
    assert list(states.readable(RULES).items()) == [("a", 1)]
    assert states.readable(OTHER)[1, 2] == ["x"]


def test_the_store_is_written_only_when_something_changed(filled: CountingStore) -> None:
    states, before = restored(filled), filled.writes
    assert states.readable(RULES).contains("a")
    states.end_batch(filled)
    states.writable(RULES).put("a", 1)
    states.end_batch(filled)
    assert filled.writes == before
    states.writable(RULES).put("a", 2)
    states.end_batch(filled)
    assert filled.writes == before + 1


def test_a_value_changed_in_place_by_the_broadcast_side_is_kept(filled: CountingStore) -> None:
    states = restored(filled)
    states.writable(OTHER).get((1, 2)).append("y")
    states.end_batch(filled)
    assert restored(filled).readable(OTHER).get((1, 2)) == ["x", "y"]


def test_a_state_that_was_kept_from_an_earlier_batch_still_writes(filled: CountingStore) -> None:
    states = restored(filled)
    kept = states.writable(RULES)
    states.end_batch(filled)
    states.begin_batch(filled)
    kept["b"] = 2
    states.end_batch(filled)
    assert sorted(restored(filled).readable(RULES)) == ["a", "b"]


def test_a_batch_that_was_broken_off_leaves_nothing(filled: CountingStore) -> None:
    states = restored(filled)
    states.writable(RULES).put("a", 99)
    states.begin_batch(filled)  # the batch is repeated
    assert states.readable(RULES).get("a") == 1


def test_a_worker_that_was_away_reads_what_others_wrote(filled: CountingStore) -> None:
    away, other = restored(filled), restored(filled)
    away.end_batch(filled)
    other.writable(RULES).put("a", 5)
    other.end_batch(filled)
    away.begin_batch(filled)
    assert away.readable(RULES).get("a") == 5


def test_decoded_state_serves_the_next_batch(filled: CountingStore) -> None:
    states = restored(filled)
    first = states.readable(OTHER).get((1, 2))
    states.end_batch(filled)
    states.begin_batch(filled)
    assert states.readable(OTHER).get((1, 2)) is first


def test_nothing_remains_in_the_store_of_empty_states(filled: CountingStore) -> None:
    states = restored(filled)
    states.writable(RULES).remove("a")
    states.writable(OTHER).clear()
    states.end_batch(filled)
    assert filled == {}


def test_values_are_brought_to_their_declared_type_when_they_are_put(store: CountingStore) -> None:
    pairs = MapStateDescriptor("pairs", Types.STRING(), Types.TUPLE([Types.INT(), Types.FLOAT()]))
    state = restored(store).writable(pairs)
    state.put("list", [1, 0.1])
    assert state["list"] == (1, 0.10000000149011612)
    with pytest.raises(TypeError, match="declared type"):
        state.put_all({"bad": ("one", 2)})


@pytest.mark.parametrize("write", [
    lambda state: state.put("a", 2), lambda state: state.put_all({"a": 2}), lambda state: state.remove("a"),
    lambda state: state.clear(), lambda state: state.__setitem__("a", 2), lambda state: state.__delitem__("a"),
])  # fmt: skip
def test_the_other_side_cannot_write(filled: CountingStore, write: Any) -> None:
    state = restored(filled).readable(RULES)
    with pytest.raises(ReadOnlyStateError, match="broadcast state 'rules' is read-only"):
        write(state)
    assert dict(state.items()) == {"a": 1}


def test_other_descriptors_are_refused(store: CountingStore) -> None:
    with pytest.raises(TypeError, match="takes a MapStateDescriptor, and 'v' is a ValueStateDescriptor"):
        restored(store).readable(ValueStateDescriptor("v"))


# ------------------------------------------------------------------ in operators


class Subject:
    """An operator over two inputs fed by hand; each batch runs in new workers on the same stores."""

    def __init__(self, function: Any, parallelism: int = 1) -> None:
        configuration = Configuration()
        configuration.set_string("execution.runtime-mode", "STREAMING")
        env = StreamExecutionEnvironment.get_execution_environment(configuration).set_parallelism(parallelism)
        data, rules = env.from_collection([("", 0)]), env.from_collection([("", 0)])
        keyed = isinstance(function, KeyedBroadcastProcessFunction)
        side = data.key_by(lambda value: value[0]) if keyed else data
        side.connect(rules.broadcast(RULES)).process(function)._sink(CollectSink(lambda rows: None), "Results")
        self.plan = job_plan_of(env, "job")
        self.stores = [DictStore() for _ in range(parallelism)]
        self.batch_id = 0

    def writers(self) -> list[RecordWriter]:
        """Of input 0 and input 1."""
        edges = sorted(self.plan.edges.values(), key=lambda edge: edge.input_index)
        return [
            edge_writer(edge, self.plan.subtask_ids, channel_id(source.id), 0, source)
            for edge, source in zip(edges, self.plan.sources.values(), strict=True)
        ]

    def batch(self, *steps: Any) -> list[Any]:
        """Feeds, in this order, ("data", value, timestamp), ("rule", value, timestamp) or, for both, a watermark."""
        writers = self.writers()
        rows: list[Any] = []
        seq = self.batch_id << 24
        for step in (MIN_TIME, *steps):
            seq += 1
            for writer in writers if isinstance(step, int) else [writers[step[0] == "rule"]]:
                if isinstance(step, int):
                    writer.watermark(step)
                else:
                    writer.process([step[1]], None if step[2] is None else [step[2]])
                rows += writer.flush(seq, seq)
                writer.point(seq, seq)
        rows += [row for writer in writers for row in writer.progress()]
        worker = LevelTask(plan_loader(self.plan), 1)
        results: list[Any] = []
        for subtask, store in enumerate(self.stores):
            mine = [row for row in rows if row.subtask == self.plan.subtask_ids[subtask]]
            for row in worker.process(self.plan.subtask_ids[subtask], mine, store, self.batch_id):
                results += self.collected(row)
        worker.close()
        self.batch_id += 1
        return results

    def collected(self, row: WireRow) -> list[Any]:
        return [value for block in unpack(row.block) for value in pickle.loads(block)] if row.kind == COMMIT else []


def data(key: str, number: int = 0, time: int | None = None) -> Any:
    return "data", (key, number), time


def rule(name: str, number: int, time: int | None = None) -> Any:
    return "rule", (name, number), time


class Tell(BroadcastProcessFunction[Any, Any, Any]):
    """Tells what it sees."""

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[0], dict(ctx.get_broadcast_state(RULES).items()), ctx.current_watermark()

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        ctx.get_broadcast_state(RULES).put(*value)


class Count(KeyedBroadcastProcessFunction[Any, Any, Any, Any]):
    """Counts per key; rules named "clear", "keys" and "tell" reach into the counts."""

    COUNT = ValueStateDescriptor("count")

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(self.COUNT)

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        rules = ctx.get_broadcast_state(RULES)
        if rules.contains("timer"):
            ctx.timer_service().register_event_time_timer(value[1] + rules["timer"])
        yield "data", ctx.get_current_key(), count, dict(rules.items())

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        name, number = value
        if name == "tell":
            found: list[Any] = []
            ctx.apply_to_keyed_state(self.COUNT, lambda key, count: found.append((key, count.value())))
            yield "told", sorted(found)
        elif name == "clear":
            ctx.apply_to_keyed_state(self.COUNT, ClearFrom(number))
        elif number == 0:
            ctx.get_broadcast_state(RULES).remove(name)
        else:
            ctx.get_broadcast_state(RULES).put(name, number)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        rules = ctx.get_broadcast_state(RULES)
        yield "timer", ctx.get_current_key(), timestamp, self.count.value(), dict(rules.items())


class ClearFrom(KeyedStateFunction):
    def __init__(self, least: int) -> None:
        self.least = least

    def process(self, key: Any, state: Any) -> None:
        if state.value() >= self.least:
            state.clear()


class TestWithoutKeys:
    def test_rules_of_earlier_batches_are_there(self) -> None:
        subject = Subject(Tell())
        subject.batch(rule("a", 1))
        assert subject.batch(data("x"), rule("b", 2), data("y")) == [
            ("x", {"a": 1}, MIN_TIME),
            ("y", {"a": 1, "b": 2}, MIN_TIME),
        ]

    def test_every_subtask_has_every_rule(self) -> None:
        subject = Subject(Tell(), parallelism=3)
        subject.batch(rule("a", 1), rule("b", 2))
        blobs = [[blob for key, blob in store.items() if key[1] == "broadcast"] for store in subject.stores]
        assert len(blobs[0]) == 1
        assert blobs == blobs[:1] * 3

    def test_the_watermark_is_the_lower_one_and_outlives_a_batch(self) -> None:
        subject = Subject(Tell())
        subject.batch(data("x", time=5), 40, rule("r", 1, 7))
        assert [watermark for _, _, watermark in subject.batch(data("y", time=50), 45, data("z", time=60))] == [40, 45]

    def test_a_write_on_the_reading_side_names_the_record_and_what_to_do(self) -> None:
        class Writes(Tell):
            def process_element(self, value: Any, ctx: Any) -> Any:
                ctx.get_broadcast_state(RULES).put("mine", 1)

        with pytest.raises(OperatorError) as failed:
            Subject(Writes()).batch(data("x", 3))
        assert failed.value.failure.record == "('x', 3)"
        assert "send the change through the broadcast stream" in str(failed.value)

    def test_a_value_that_cannot_be_kept_names_the_operator(self) -> None:
        class Unpicklable(Tell):
            def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
                ctx.get_broadcast_state(OTHER).put("f", lambda: None)

        with pytest.raises(OperatorError, match="state values must fit their declared type and be picklable"):
            Subject(Unpicklable()).batch(rule("a", 1))


class TestWithKeys:
    def test_keyed_and_broadcast_state_are_there_in_the_next_batch(self) -> None:
        subject = Subject(Count())
        subject.batch(rule("a", 1), data("x"))
        assert subject.batch(data("x"), rule("a", 2), data("x")) == [
            ("data", "x", 2, {"a": 1}),
            ("data", "x", 3, {"a": 2}),
        ]

    def test_timers_read_the_rules_of_their_moment(self) -> None:
        subject = Subject(Count())
        subject.batch(rule("timer", 10), data("x", 100), data("x", 200))
        assert subject.batch(110, rule("timer", 20)) == [("timer", "x", 110, 2, {"timer": 10})]
        assert subject.batch(210) == [("timer", "x", 210, 2, {"timer": 20})]

    def test_a_function_is_applied_to_all_keys_of_all_batches_that_have_the_state(self) -> None:
        subject = Subject(Count())
        keys = [f"key {number}" for number in range(300)]
        subject.batch(*map(data, keys))
        subject.batch(data("key 7"), data("new"))
        assert subject.batch(rule("tell", 1)) == [
            ("told", sorted([*((key, 1 + (key == "key 7")) for key in keys), ("new", 1)]))
        ]

    @pytest.mark.parametrize("parallelism", [2, 4])
    def test_each_subtask_applies_it_to_its_own_keys(self, parallelism: int) -> None:
        subject = Subject(Count(), parallelism)
        keys = [f"key {number}" for number in range(50)]
        subject.batch(*map(data, keys))
        told = [found for _, found in subject.batch(rule("tell", 1))]
        assert len(told) == parallelism and all(told)
        assert sorted(pair for found in told for pair in found) == sorted((key, 1) for key in keys)

    def test_a_keyed_state_function_changes_the_state_for_good(self) -> None:
        subject = Subject(Count())
        subject.batch(data("x"), data("y"), data("x"))
        assert subject.batch(rule("clear", 2)) == []
        assert subject.batch(rule("tell", 1)) == [("told", [("y", 1)])]

    def test_it_may_change_the_timers_state_of_keys_that_wait(self) -> None:
        subject = Subject(Count())
        subject.batch(rule("timer", 10), data("x", 0))
        subject.batch(rule("clear", 1))
        assert subject.batch(10) == [("timer", "x", 10, None, {"timer": 10})]

    @pytest.mark.parametrize("use", [
        lambda function, ctx: function.count.value(),
        lambda function, ctx: function.count.update(1),
        lambda function, ctx: function.count.clear(),
        lambda function, ctx: ctx.get_current_key(),
        lambda function, ctx: ctx.timer_service().register_event_time_timer(1),
        lambda function, ctx: ctx.timer_service().delete_processing_time_timer(1),
    ])  # fmt: skip
    def test_a_broadcast_record_has_no_key(self, use: Any) -> None:
        class Uses(Count):
            def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
                ctx.apply_to_keyed_state(self.COUNT, lambda key, count: None)
                use(self, ctx)

        with pytest.raises(OperatorError) as failed:
            Subject(Uses()).batch(data("x"), rule("r", 1))
        assert isinstance(failed.value.__cause__, KeyedStateError)
        assert "apply_to_keyed_state" in str(failed.value)

    def test_a_keyed_state_function_cannot_yield(self) -> None:
        class Yields(KeyedStateFunction):
            def process(self, key: Any, state: Any) -> Any:
                yield key

        class Uses(Count):
            def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
                ctx.apply_to_keyed_state(self.COUNT, Yields())

        with pytest.raises(OperatorError, match="yields, and nothing would take what it yields"):
            Subject(Uses()).batch(rule("r", 1))


# ------------------------------------------------------------------ against a model

STEPS = st.lists(
    st.one_of(
        st.builds(data, st.sampled_from("abc"), st.integers(0, 50), st.none()),
        st.builds(rule, st.sampled_from(["timer", "r", "s"]), st.integers(0, 9), st.none()),
        st.builds(rule, st.sampled_from(["tell", "clear"]), st.integers(1, 4), st.none()),
        st.integers(0, 60),
    ),
    max_size=20,
)


class Model:
    """What `Count` emits, with plain dicts."""

    def __init__(self) -> None:
        self.rules: dict[str, int] = {}
        self.counts: dict[str, int] = {}
        self.timers: set[tuple[int, str]] = set()
        self.watermark = MIN_TIME

    def step(self, step: Any) -> list[Any]:
        if isinstance(step, int):
            return self.time(step)
        side, (name, number), _ = step
        if side == "rule":
            return self.broadcast(name, number)
        self.counts[name] = self.counts.get(name, 0) + 1
        if "timer" in self.rules:
            self.timers.add((number + self.rules["timer"], name))
        return [("data", name, self.counts[name], dict(self.rules))]

    def broadcast(self, name: str, number: int) -> list[Any]:
        if name == "tell":
            return [("told", sorted(self.counts.items()))]
        if name == "clear":
            self.counts = {key: count for key, count in self.counts.items() if count < number}
        elif number == 0:
            self.rules.pop(name, None)
        else:
            self.rules[name] = number
        return []

    def time(self, watermark: int) -> list[Any]:
        if watermark <= self.watermark:
            return []
        self.watermark = watermark
        due = {timer for timer in self.timers if timer[0] <= watermark}
        self.timers -= due
        return [("timer", key, time, self.counts.get(key), dict(self.rules)) for time, key in due]


@settings(max_examples=cases(80), deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=4))
def test_any_steps_over_any_batches_agree_with_a_model(batches: list[Any]) -> None:
    model, subject = Model(), Subject(Count())
    for steps in batches:
        expected = [result for step in steps for result in model.step(step)]
        # timers at or below the watermark fire when time passes next, at the latest at the end of the batch
        steps, expected = [*steps, model.watermark + 1], [*expected, *model.time(model.watermark + 1)]
        assert sorted(map(repr, subject.batch(*steps))) == sorted(map(repr, expected))
