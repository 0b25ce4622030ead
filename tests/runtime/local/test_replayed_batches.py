"""Captured micro-batches of jobs in this process: each subtask does the same when its batch is run again."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Duration, Row, Time, Types, WatermarkStrategy
from scurry.common.watermark_strategy import TimestampAssigner
from scurry.datastream import (
    BroadcastProcessFunction,
    DataStream,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    OutputTag,
    RuntimeExecutionMode,
    StreamExecutionEnvironment,
)
from scurry.datastream.state import MapStateDescriptor, ValueStateDescriptor
from scurry.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows
from scurry.errors import JobError, OperatorError, ReplayError
from scurry.runtime import clock
from scurry.runtime.replay.files import Capture, Start
from scurry.runtime.replay.finding import captured_starts, chosen
from scurry.runtime.replay.replaying import PlanOfStart, Replayed
from scurry.table import StreamTableEnvironment
from scurry.testing import replay_batch
from support.buckets import buckets
from support.buckets import directory as in_directory

Stream = DataStream[Any]
CLICK = Types.TUPLE([Types.STRING(), Types.INT(), Types.LONG()])
CLICKS = [(f"k{number % 5}", number, number * 100) for number in range(60)]


class FieldTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


def environment(directory: Path, **settings: Any) -> StreamExecutionEnvironment:
    configuration = {
        "scurry.runner": "local",
        "scurry.progress": "off",
        "scurry.replay.capture": "all",
        "scurry.replay.dir": str(directory),
        "scurry.batch.max-records": "17",
        **{f"scurry.replay.{key}": str(value) for key, value in settings.items()},
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(configuration))
    env.set_parallelism(2)
    return env


def clicks(env: StreamExecutionEnvironment) -> Stream:
    bounded = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(150))
    source = env.from_collection(CLICKS, CLICK).name("clicks")
    return source.assign_timestamps_and_watermarks(bounded.with_timestamp_assigner(FieldTime()))


class Join(KeyedCoProcessFunction):
    """Join by key; a timer, random numbers and the clock are part of the results."""

    fails_at: int | None = None

    def open(self, context: Any) -> None:
        self.left = context.get_state(ValueStateDescriptor("left", Types.INT()))

    def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.left.update(value[1])
        ctx.timer_service().register_event_time_timer(value[2] + 250)
        yield value[0], random.random(), ctx.timer_service().current_processing_time()

    def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value[0], self.left.value(), 1 // (value[1] - self.fails_at) if self.fails_at is not None else 0

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield ctx.get_current_key(), timestamp, self.left.value()


def joined(env: StreamExecutionEnvironment, join: Join | None = None) -> Stream:
    left, right = clicks(env), clicks(env)
    both = left.connect(right).key_by(lambda click: click[0], lambda click: click[0])
    return both.process(join or Join()).name("join")


def windows(env: StreamExecutionEnvironment) -> Stream:
    late: OutputTag = OutputTag("late", CLICK)
    by_key = clicks(env).key_by(lambda click: click[0])
    sums = (
        by_key.window(SlidingEventTimeWindows.of(Time.milliseconds(1000), Time.milliseconds(500)))
        .side_output_late_data(late)
        .reduce(lambda one, other: (one[0], one[1] + other[1], other[2]))
    )
    sums.get_side_output(late).print()
    return sums


def two_levels(env: StreamExecutionEnvironment) -> Stream:
    counts = clicks(env).key_by(lambda click: click[0]).window(TumblingEventTimeWindows.of(Time.seconds(1)))
    return (
        counts.reduce(lambda one, other: (one[0], one[1] + other[1], one[2]))
        .key_by(lambda click: click[1] % 3)
        .map(lambda click: Row(name=click[0], total=click[1]))
    )


def evenly(env: StreamExecutionEnvironment) -> Stream:
    return clicks(env).rebalance().map(lambda click: {"name": click[0], "number": click[1]}).rebalance().map(str)


RULES = MapStateDescriptor("rules", Types.STRING(), Types.INT())


class Rules(BroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield value[0], ctx.get_broadcast_state(RULES).get(value[0])

    def process_broadcast_element(self, value: Any, ctx: Any) -> None:
        ctx.get_broadcast_state(RULES).put(value[0], value[1])


def broadcast(env: StreamExecutionEnvironment) -> Stream:
    rules = clicks(env).filter(lambda click: click[1] % 2 == 0).broadcast(RULES)
    return clicks(env).connect(rules).process(Rules())


class ProcessingTimers(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        now = ctx.timer_service().current_processing_time()
        ctx.timer_service().register_processing_time_timer(now)
        yield value[0], now

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield "fired", timestamp


def processing_time(env: StreamExecutionEnvironment) -> Stream:
    return clicks(env).key_by(lambda click: click[0]).process(ProcessingTimers())


QUERIES = {
    "groups": "SELECT name, COUNT(*), SUM(number) FROM clicks GROUP BY name",
    "windows": "SELECT name, window_end, COUNT(*) "
    "FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY name, window_start, window_end",
    "joins": "SELECT a.name, a.number, b.number FROM clicks a JOIN clicks b ON a.number = b.number",
    "first": "SELECT name, number FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY ts) AS n FROM clicks) "
    "WHERE n = 1",
    "top": "SELECT name, number FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY name ORDER BY number DESC) AS n "
    "FROM clicks) WHERE n <= 3",
    "over": "SELECT name, SUM(number) OVER (PARTITION BY name ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) "
    "FROM clicks",
}


def queried(query: str) -> Callable[[StreamExecutionEnvironment], Stream]:
    def build(env: StreamExecutionEnvironment) -> Stream:
        tables = StreamTableEnvironment.create(env)
        names = Types.ROW_NAMED(["name", "number", "ms"], [Types.STRING(), Types.INT(), Types.LONG()])
        rows = clicks(env).map(lambda click: Row(*click), names)
        from scurry.table import Schema

        schema = (
            Schema.new_builder()
            .column("name", "STRING")
            .column("number", "INT")
            .column("ms", "BIGINT")
            .column_by_expression("ts", "TO_TIMESTAMP_LTZ(ms, 3)")
            .watermark("ts", "ts - INTERVAL '0.1' SECOND")
            .build()
        )
        tables.create_temporary_view("clicks", rows, schema)
        changes: Stream = tables.to_changelog_stream(tables.sql_query(query))
        return changes

    return build


JOBS: dict[str, Callable[[StreamExecutionEnvironment], Stream]] = {
    **{each.__name__: each for each in (joined, windows, two_levels, evenly, broadcast, processing_time)},
    **{f"SQL: {name}": queried(query) for name, query in QUERIES.items()},
}


def run(env: StreamExecutionEnvironment, stream: Stream) -> None:
    with stream.execute_and_collect() as results:
        list(results)


def replayed(directory: Path) -> list[Replayed]:
    with captured_starts(str(directory)) as found:
        return [PlanOfStart(start).replay(capture) for start in found for capture in start.captures]


@pytest.mark.parametrize("job", JOBS)
def test_every_subtask_does_the_same_again_byte_for_byte(job: str, tmp_path: Path) -> None:
    env = environment(tmp_path)
    run(env, JOBS[job](env))
    found = replayed(tmp_path)
    assert len({each.capture.batch for each in found}) > 2 and any(each.capture.level for each in found)
    assert {(each.capture.name, str(each.error), *each.differences) for each in found} == {
        (each.capture.name, "None") for each in found
    }
    assert sum(len(each.records) for each in found) > 0


@pytest.mark.parametrize("job", ["joined", "broadcast", "processing_time", "SQL: windows"])
def test_a_replay_looks_at_the_clock_as_often_as_the_job(
    job: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = itertools.count(1_700_000_000_000)
    monkeypatch.setattr(clock, "wall_clock_ms", lambda: next(ticks))
    env = environment(tmp_path)
    run(env, JOBS[job](env))
    assert [each.capture.name for each in replayed(tmp_path) if each.differences] == []


# ------------------------------------------------------------------ failures


class Failing(Join):
    fails_at = 33


@pytest.fixture
def failed(tmp_path: Path) -> Path:
    """The captures of a job that has failed on its record 33."""
    env = environment(tmp_path, capture="failures")
    with pytest.raises(JobError, match="run it again: scurry replay"):
        run(env, joined(env, Failing()))
    return tmp_path


def only_start(directory: Path) -> Path:
    (found,) = directory.iterdir()
    return found


def starts_of(directory: Path) -> list[Start]:
    with captured_starts(str(directory)) as found:
        return found


def captures_of(directory: Path) -> list[Capture]:
    return [capture for start in starts_of(directory) for capture in start.captures]


def test_only_the_batch_that_failed_is_captured_and_it_fails_on_the_same_record(failed: Path) -> None:
    (capture,) = captures_of(failed)
    assert (capture.operator, capture.error) == ("join", "ZeroDivisionError: integer division or modulo by zero")
    (found,) = replayed(failed)
    assert isinstance(found.error, OperatorError) and found.differences == []
    assert found.error.failure.record == repr(CLICKS[33])
    assert found.error.failure.frames[-1][:2] == (__file__, Join.process_element2.__code__.co_firstlineno + 1)


def test_a_captured_batch_is_a_test(failed: Path) -> None:
    (capture,) = captures_of(failed)
    found = replay_batch(failed, capture.batch, capture.subtask, operator="join")
    assert isinstance(found.error, OperatorError) and found.differences == []


def test_the_command_that_the_error_names_has_the_batch_and_the_subtask(tmp_path: Path) -> None:
    env = environment(tmp_path, capture="failures")
    with pytest.raises(JobError) as failure:
        run(env, joined(env, Failing()))
    (capture,) = captures_of(tmp_path)
    command = f"scurry replay {tmp_path} --batch {capture.batch} --subtask {capture.subtask}"
    assert str(failure.value).endswith(f"run it again: {command}")


def test_a_function_that_fails_in_open_is_captured(tmp_path: Path) -> None:
    class NeverOpen(Join):
        def open(self, context: Any) -> None:
            raise OSError("no connection")

    env = environment(tmp_path, capture="failures")
    with pytest.raises(JobError):
        run(env, joined(env, NeverOpen()))
    (found,) = replayed(tmp_path)
    assert "no connection" in str(found.error) and found.differences == []


def test_a_function_beside_the_source_fails_again(tmp_path: Path) -> None:
    env = environment(tmp_path, capture="failures")
    with pytest.raises(JobError):
        run(env, clicks(env).map(lambda click: 1 // (click[1] - 40)).name("divided"))
    (found,) = replayed(tmp_path)
    assert isinstance(found.error, OperatorError) and found.error.failure.record == repr(CLICKS[40])
    assert (found.capture.operator, found.capture.level, found.differences) == ("clicks", 0, [])


def test_each_attempt_of_a_job_that_restarts_has_captures_of_its_own(tmp_path: Path) -> None:
    env = environment(tmp_path, capture="failures")
    settings = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0 ms"}
    env.configure(Configuration.from_dict(settings))
    with pytest.raises(JobError):
        run(env, joined(env, Failing()))
    assert [start.job["attempt"] for start in starts_of(tmp_path)] == [1, 0]
    assert len({capture.batch for capture in captures_of(tmp_path)}) == 1


# ------------------------------------------------------------------ limits and access


def test_nothing_is_captured_unless_it_is_asked_for(tmp_path: Path) -> None:
    env = environment(tmp_path, capture="off")
    run(env, joined(env))
    assert list(tmp_path.iterdir()) == []
    with (
        pytest.raises(ReplayError, match="there are no captured micro-batches in .*") as failure,
        captured_starts(str(tmp_path)),
    ):
        pass
    assert "-D scurry.replay.capture=failures" in failure.value.describe()


def test_the_latest_batches_of_each_subtask_are_kept(tmp_path: Path) -> None:
    env = environment(tmp_path, **{"max-batches": 2})
    run(env, joined(env))
    by_task: dict[tuple[int, int], list[int]] = {}
    for capture in captures_of(tmp_path):
        by_task.setdefault((capture.number, capture.subtask), []).append(capture.batch)
    last = max(map(max, by_task.values()))
    assert all(len(batches) <= 2 for batches in by_task.values()) and [last - 1, last] in by_task.values()


def test_a_batch_that_is_too_large_is_not_captured_and_says_so(tmp_path: Path) -> None:
    env = environment(tmp_path, **{"max-bytes": 100})
    run(env, joined(env))
    start = starts_of(tmp_path)[0]
    (first, *_) = start.captures
    assert first.too_large > 100 and first.size == 0
    with captured_starts(str(tmp_path)) as found, pytest.raises(ReplayError, match=r"above scurry\.replay\.max-bytes"):
        PlanOfStart(found[0]).replay(first)


def test_only_the_owner_can_read_captures(failed: Path) -> None:
    inner = only_start(failed)
    assert inner.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in inner.iterdir()} == {0o600}


def test_captures_that_others_could_have_written_are_not_run(failed: Path) -> None:
    inner = only_start(failed)
    inner.chmod(0o777)
    with pytest.raises(PermissionError, match="others can write to it"):
        replayed(failed)
    with captured_starts(str(failed), allow_untrusted=True) as found:
        assert found


def test_a_damaged_capture_is_refused(failed: Path) -> None:
    (file,) = only_start(failed).glob("*.capture")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(ReplayError, match="is damaged: copy it again"):
        replayed(failed)


def test_no_secret_of_the_settings_is_in_a_file(tmp_path: Path) -> None:
    env = environment(tmp_path)
    env.configure(Configuration.from_dict({"spark.hadoop.fs.s3a.secret.key": "opensesame1"}))
    env.get_config().set_global_job_parameters({"db.password": "opensesame2"})
    run(env, joined(env))
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files and not [file for file in files if re.search(rb"opensesame\d", file.read_bytes())]


def test_jobs_may_share_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("first", "second"):
        env = environment(tmp_path / "captures")
        env.configure(Configuration.from_dict({"pipeline.name": name}))
        run(env, joined(env))
    for name in ("first", "second"):
        with captured_starts(name) as found:
            assert [start.job["name"] for start in found] == [name]


def test_a_job_that_recovers_keeps_the_captures_of_its_failure(tmp_path: Path) -> None:
    env = environment(tmp_path, capture="failures")
    settings = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "0 ms"}
    env.configure(Configuration.from_dict(settings))
    once = tmp_path.with_name(f"{tmp_path.name}-once")

    def fails_once(value: Any) -> Any:
        if not once.exists():
            once.touch()
            raise OSError("away")
        return value

    run(env, joined(env).map(fails_once))
    assert ["OSError: away" in str(capture.error) for capture in captures_of(tmp_path)] == [True]


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    env = environment(tmp_path / "file")
    with pytest.raises(JobError, match="the directory of captures .*/file cannot be written"):
        run(env, joined(env))


def test_captures_in_a_bucket_are_found_and_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on S3: the store has no directories to make, and nobody but its owner writes there."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with buckets(in_directory(tmp_path)):
        env = environment(tmp_path, capture="failures")
        settings = {"scurry.replay.dir": "s3://bucket/captures", "pipeline.name": "remote"}
        env.configure(Configuration.from_dict(settings))
        with pytest.raises(JobError, match="run it again: scurry replay s3://bucket/captures --batch 1"):
            run(env, joined(env, Failing()))
        for place in ("remote", "s3://bucket/captures"):
            with captured_starts(place) as found:
                (again,) = [PlanOfStart(start).replay(capture) for start in found for capture in start.captures]
            assert "by zero" in str(again.error) and not again.differences
    assert [file for file in (tmp_path / "bucket" / "captures").rglob("*.capture")]


def test_batch_says_that_nothing_is_captured(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    env = environment(tmp_path)
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    caplog.set_level("INFO")
    run(env, joined(env))
    assert "scurry.replay.capture: nothing is captured, as BATCH has no micro-batches" in caplog.text
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ what there is not


def test_batches_subtasks_and_operators_that_were_not_captured_are_named(tmp_path: Path) -> None:
    env = environment(tmp_path)
    run(env, joined(env))
    found = starts_of(tmp_path)
    with pytest.raises(ReplayError, match=r"micro-batch 99 is not captured; there are 0 to \d+"):
        chosen(found, 99)
    with pytest.raises(ReplayError, match="operator 'joint' has no captured micro-batch 1; did you mean 'join'?"):
        chosen(found, 1, operator="joint")
    with pytest.raises(ReplayError, match="micro-batch 1 of subtask 7 is not captured; there are 0 to 1"):
        chosen(found, 1, subtask=7, operator="join")
    with pytest.raises(ReplayError, match="name the operator"):
        replay_batch(tmp_path, 1, 0)


def test_jobs_are_found_by_name_and_by_the_beginning_of_their_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    env = environment(tmp_path)
    env.configure(Configuration.from_dict({"pipeline.name": "clicks that fail"}))
    with pytest.raises(ReplayError, match="no job of this user has captured"), captured_starts("clicks that fail"):
        pass
    run(env, joined(env))
    with captured_starts("clicks that fail") as found:
        number = found[0].job["id"]
    with captured_starts(number[:8]) as same:
        assert [start.job for start in same] == [start.job for start in found]
    with pytest.raises(ReplayError, match="did you mean 'clicks that fail'?"), captured_starts("clicks that fall"):
        pass
