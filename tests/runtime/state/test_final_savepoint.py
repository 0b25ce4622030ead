"""The savepoint in which a BATCH job ends: where its time stops, what is in it, and when there is none."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Duration, Time, Types, WatermarkStrategy
from scurry.common.watermark_strategy import WatermarkGenerator
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream, KeyedProcessFunction, StreamExecutionEnvironment
from scurry.datastream.connectors.number_seq import NumberSequenceSource
from scurry.datastream.state import ListStateDescriptor, StateTtlConfig, ValueStateDescriptor
from scurry.datastream.window import TumblingEventTimeWindows
from scurry.errors import ConfigError, JobError
from scurry.runtime.savepoint.entries import EntryWriter, remove_unfinished
from scurry.runtime.savepoint.format import Entry, SavepointMetadata
from scurry.runtime.savepoint.reading import complete_savepoint, open_savepoint
from support.runtime.bootstrap_jobs import batch, streaming
from support.runtime.scripted_pipeline import MIN_TIME, Record


def environment(directory: Path | None, mode: str = "BATCH") -> StreamExecutionEnvironment:
    configuration = Configuration.from_dict({"scurry.runner": "local", "execution.runtime-mode": mode})
    if directory is not None:
        configuration.set_string("scurry.final-savepoint.dir", str(directory))
    env = StreamExecutionEnvironment(configuration)
    env.set_parallelism(1)
    return env


def bounded(bound: int) -> WatermarkStrategy:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(bound))
    return strategy.with_timestamp_assigner(lambda value, _: value)


def of_times(env: StreamExecutionEnvironment, times: list[int], strategy: WatermarkStrategy | None) -> DataStream:
    stream = env.from_collection(times, Types.LONG())
    return stream if strategy is None else stream.assign_timestamps_and_watermarks(strategy)


def ends_at(env: StreamExecutionEnvironment, stream: DataStream) -> int:
    """The watermark at which windows over a stream stand when the job ends."""
    window = stream.map(lambda time: time).key_by(lambda time: 0).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    window.reduce(max).uid("window")._sink(CollectSink(lambda _: None), "results")
    path = env.execute().get_savepoint_path()
    assert path is not None
    (watermark,) = {pickle.loads(entry.blob).gate[-1] for entry in open_savepoint(path).entries(["window"], ["meta"])}
    return int(watermark)


# ------------------------------------------------------------------ where time stops


def test_time_stops_where_the_strategy_stands_behind_all_records(tmp_path: Path) -> None:
    env = environment(tmp_path)
    assert ends_at(env, of_times(env, [3000, 9000, 7000], bounded(2000))) == 9000 - 2000 - 1


def test_of_several_sources_the_lowest_counts(tmp_path: Path) -> None:
    env = environment(tmp_path)
    streams = [of_times(env, times, bounded(0)) for times in ([9000], [5000], [7000])]
    assert ends_at(env, streams[0].union(*streams[1:])) == 4999


def test_a_source_without_watermarks_holds_time_at_its_beginning(tmp_path: Path) -> None:
    env = environment(tmp_path)
    without = WatermarkStrategy.no_watermarks().with_timestamp_assigner(lambda value, _: value)
    assert ends_at(env, of_times(env, [9000], bounded(0)).union(of_times(env, [1], without))) == MIN_TIME


@pytest.mark.parametrize(("last", "watermark"), [(99, 48), (0, -1)])
def test_of_the_channels_of_a_source_the_lowest_counts_that_had_records(
    last: int, watermark: int, tmp_path: Path
) -> None:
    env = environment(tmp_path)
    env.set_parallelism(2)
    numbers = env.from_source(NumberSequenceSource(0, last), bounded(0), "numbers", Types.LONG())
    assert ends_at(env, numbers) == watermark


def test_a_source_that_may_be_idle_and_had_no_records_holds_nobody_back(tmp_path: Path) -> None:
    env = environment(tmp_path)
    empty = of_times(env, [1], None).filter(lambda _: False)
    idle = empty.assign_timestamps_and_watermarks(bounded(0).with_idleness(Duration.of_seconds(1)))
    assert ends_at(env, of_times(env, [9000], bounded(0)).union(idle)) == 8999


def test_a_generator_of_the_users_is_asked(tmp_path: Path) -> None:
    class Marks(WatermarkGenerator):
        def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
            if event % 10 == 0:
                output.emit_watermark(event)

        def on_periodic_emit(self, output: Any) -> None:
            pass

    strategy = WatermarkStrategy.for_generator(Marks).with_timestamp_assigner(lambda value, _: value)
    env = environment(tmp_path)
    assert ends_at(env, of_times(env, [3000, 4000, 5001], strategy)) == 4000


def test_watermarks_assigned_below_the_sources_count_for_what_follows_them(tmp_path: Path) -> None:
    env = environment(tmp_path)
    later = of_times(env, [1, 2], bounded(0)).key_by(lambda time: time).map(lambda time: time * 1000)
    assert ends_at(env, later.assign_timestamps_and_watermarks(bounded(500))) == 2000 - 500 - 1


# ------------------------------------------------------------------ what goes on


class Alarm(KeyedProcessFunction):
    """A minute after a key's first record on the clock, tells how many there were."""

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> None:
        if self.count.value() is None:
            ctx.timer_service().register_processing_time_timer(ctx.timer_service().current_processing_time() + 60_000)
        self.count.update((self.count.value() or 0) + 1)

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        yield ctx.get_current_key(), self.count.value()


def test_timers_of_processing_time_wait_for_the_streaming_job(tmp_path: Path) -> None:
    def pipeline(stream: DataStream) -> DataStream:
        return stream.key_by(lambda value: value).process(Alarm()).uid("alarm")

    results, path = batch(pipeline, [[Record("a", 1), Record("b", 2), Record("a", 3)]], str(tmp_path))
    assert results == []
    now = open_savepoint(path).metadata.created_ms
    with streaming(pipeline, path, now=now) as job:
        job.process("a", 10)
        assert job.outputs() == []
        job.advance_processing_time(now + 61_000)
        assert sorted(job.outputs()) == [("a", 3), ("b", 1)]


def test_a_rolling_reduce_emits_its_last_value_with_the_time_of_the_last_record(tmp_path: Path) -> None:
    def pipeline(stream: DataStream) -> DataStream:
        sums = stream.key_by(lambda value: value[0]).reduce(lambda a, b: (a[0], a[1] + b[1])).uid("sums")
        return sums.key_by(lambda value: value[0]).process(Stamp()).uid("stamps")

    history = [Record(("a", 1), 10), Record(("b", 5), 20), Record(("a", 2), 30)]
    results, path = batch(pipeline, [history], str(tmp_path))
    assert sorted(results) == [("a", 3, 30), ("b", 5, 20)]
    with streaming(pipeline, path) as job:
        job.process(("a", 4), 40)
        assert job.outputs() == [("a", 7, 40)]


class Stamp(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield *value, ctx.timestamp()


class Recent(KeyedProcessFunction):
    """Counts the records of a key that were read in the last minute."""

    def open(self, runtime_context: Any) -> None:
        descriptor = ValueStateDescriptor("recent", Types.LONG())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(Time.minutes(1)).build())
        self.count = runtime_context.get_state(descriptor)

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        yield value, self.count.value()


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize(("later", "counted"), [(30_000, ("a", 3)), (90_000, ("a", 1))])
def test_the_time_to_live_of_history_begins_when_it_was_read(
    later: int, counted: tuple[str, int], parallelism: int, tmp_path: Path
) -> None:
    def pipeline(stream: DataStream) -> DataStream:
        return stream.key_by(lambda value: value).process(Recent()).uid("recent")

    _, path = batch(pipeline, [[Record("a", 1), Record("b", 2), Record("a", 3)]], str(tmp_path), parallelism=2)
    now = open_savepoint(path).metadata.created_ms
    with streaming(pipeline, path, parallelism, now + later) as job:
        job.process("a", 10)
        assert job.outputs() == [counted]


def test_keys_of_any_kind_are_found_again(tmp_path: Path) -> None:
    keys = ["a", 7, (1, "x"), 2.5, None, b"raw"]

    def pipeline(stream: DataStream) -> DataStream:
        counted = stream.map(lambda value: (value, 1)).key_by(lambda value: value[0])
        return counted.reduce(lambda a, b: (a[0], a[1] + b[1])).uid("op")

    _, path = batch(pipeline, [[Record(key, time) for time, key in enumerate(keys)]], str(tmp_path), parallelism=3)
    with streaming(pipeline, path, parallelism=2) as job:
        for key in keys:
            job.process(key, 100)
        assert sorted(map(repr, job.outputs())) == sorted(repr((key, 2)) for key in keys)


class Amounts(KeyedProcessFunction):
    """Keeps the amounts of a key in a list of DOUBLE, and emits them as text."""

    def open(self, runtime_context: Any) -> None:
        self.amounts = runtime_context.get_list_state(ListStateDescriptor("amounts", Types.DOUBLE()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        yield repr(list(self.amounts.get()))
        self.amounts.add(value[1])


def test_values_of_all_keys_of_a_group_get_their_declared_type(tmp_path: Path) -> None:
    def pipeline(stream: DataStream) -> DataStream:
        return stream.key_by(lambda value: value[0]).process(Amounts()).uid("op")

    given = [("a", 1), *((f"k{number}", 2.5) for number in range(20))]
    _, path = batch(pipeline, [[Record(value, time) for time, value in enumerate(given)]], str(tmp_path))
    with streaming(pipeline, path, parallelism=1) as job:
        job.process(("a", 3), 100)
        assert job.outputs() == ["[1.0]"]


# ------------------------------------------------------------------ the files


def windows(stream: DataStream) -> DataStream:
    return stream.key_by(lambda value: value).window(TumblingEventTimeWindows.of(Time.seconds(1))).reduce(max).uid("op")


def test_the_savepoint_names_operators_but_no_sources(tmp_path: Path) -> None:
    _, path = batch(windows, [[Record(1, 10)]], str(tmp_path))
    metadata = open_savepoint(path).metadata
    assert (metadata.sources, metadata.max_parallelism, metadata.watermark) == ({}, 4, 9)
    assert {uid: state.kind for uid, state in metadata.operators.items()} == {"op": "Window"}
    entries = open_savepoint(path).entries()
    assert sorted((entry.uid, entry.kind) for entry in entries) == [("op", "meta"), ("op", "page")]


def test_the_states_are_described_as_those_of_a_streaming_job(tmp_path: Path) -> None:
    def pipeline(stream: DataStream) -> DataStream:
        return stream.key_by(lambda value: value).process(Alarm()).uid("alarm")

    _, path = batch(pipeline, [[Record("a", 1)]], str(tmp_path))
    with streaming(pipeline) as job:
        job.process("a", 1)
        assert open_savepoint(path).metadata.operators["alarm"].states == job._job.state_schemas["alarm"]
    assert "count" in open_savepoint(path).metadata.operators["alarm"].states


def test_a_task_that_is_repeated_replaces_what_it_wrote(tmp_path: Path) -> None:
    for blob in (b"first", b"second"):
        writer = EntryWriter(str(tmp_path), "level-1-0")
        writer.add(Entry("op", "page", 0, 1, blob))
        writer.close()
    broken_off = EntryWriter(str(tmp_path), "level-1-0")
    broken_off.add(Entry("op", "page", 0, 1, b"third"))
    broken_off._flush("page")
    complete_savepoint(str(tmp_path), SavepointMetadata(0, "test", "0", "test", 4, 0))
    assert [entry.blob for entry in open_savepoint(str(tmp_path)).entries()] == [b"second"]
    remove_unfinished(str(tmp_path))
    assert [file.name for file in tmp_path.rglob("*level*")] == ["level-1-0.parquet"]


def test_a_job_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(batch: list[Any]) -> None:
        raise OSError("the disk is full")

    env = environment(tmp_path)
    windows(of_times(env, [1, 5000], bounded(0)))._sink(CollectSink(fail), "results")
    with pytest.raises(JobError, match="disk is full"):
        env.execute()
    assert list(tmp_path.iterdir()) == []


def test_state_that_cannot_be_saved_is_reported_with_its_operator(tmp_path: Path) -> None:
    class Keeps(KeyedProcessFunction):
        def open(self, runtime_context: Any) -> None:
            descriptor = ValueStateDescriptor("kept", Types.PICKLED_BYTE_ARRAY())
            self.kept = runtime_context.get_state(descriptor)

        def process_element(self, value: Any, ctx: Any) -> None:
            self.kept.update(threading.Lock())

    env = environment(tmp_path)
    of_times(env, [1], bounded(0)).key_by(lambda value: value).process(Keeps()).name("keeping")
    with pytest.raises(JobError, match=r"'keeping'[\s\S]*picklable"):
        env.execute()
    assert list(tmp_path.iterdir()) == []


def test_a_job_without_the_setting_has_no_savepoint_and_ends_time(tmp_path: Path) -> None:
    env, results = environment(None), []  # type: ignore[var-annotated]
    windows(of_times(env, [1, 2], bounded(0)))._sink(CollectSink(results.extend), "results")
    assert env.execute().get_savepoint_path() is None
    assert sorted(results) == [1, 2]


def test_a_streaming_job_is_refused(tmp_path: Path) -> None:
    env = environment(tmp_path, "STREAMING")
    of_times(env, [1], None).print()
    with pytest.raises(ConfigError, match=r"scurry.final-savepoint.dir .* only a BATCH job .*stop_with_savepoint"):
        env.execute()


def test_a_batch_job_is_not_started_from_a_savepoint() -> None:
    settings = {"execution.runtime-mode": "BATCH", "execution.state-recovery.path": "/somewhere"}
    env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local", **settings}))
    of_times(env, [1], None).print()
    with pytest.raises(ConfigError, match="only STREAMING jobs start from a savepoint"):
        env.execute()
