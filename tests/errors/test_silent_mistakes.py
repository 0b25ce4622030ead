"""Mistakes that raise nothing are told once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from scurry.cli.program import run_program
from scurry.common import Configuration, Types
from scurry.common._process.launch import LaunchOptions
from scurry.common.time import Duration, Time
from scurry.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction, ProcessFunction
from scurry.datastream.window import TumblingEventTimeWindows, TumblingProcessingTimeWindows
from scurry.runtime.driver import stalled
from scurry.runtime.driver.job import JobExecution
from scurry.testing import job_plan_of

Build = Callable[[StreamExecutionEnvironment], DataStream]

MODES = ["STREAMING", "BATCH"]


def environment(mode: str = "STREAMING", runner: str = "local") -> StreamExecutionEnvironment:
    settings = {"scurry.runner": runner, "execution.runtime-mode": mode}
    return StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings)).set_parallelism(2)


def notes_of(build: Build, mode: str = "STREAMING", runner: str = "local") -> list[str]:
    """What the user of a job is told."""
    env = environment(mode, runner)
    build(env).print()
    client: Any = env.execute_async("quiet")
    client.get_job_execution_result().result()
    return list(client.execution.log.notes)


# ------------------------------------------------------------------ seconds for milliseconds


class Field(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


def stamped(times: list[int]) -> Build:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Field())
    return lambda env: env.from_collection(times).assign_timestamps_and_watermarks(strategy)


class TestSeconds:
    @pytest.mark.parametrize("mode", MODES)
    def test_timestamps_in_seconds_are_noted_once(self, mode: str) -> None:
        (note,) = notes_of(stamped([1_718_000_000, 1_718_000_060] * 5_000), mode)
        assert note.startswith("the timestamps of 'Timestamps/Watermarks' (") and __file__ in note
        assert "look like seconds: 1718000000 is 1970-01-20 in milliseconds and 2024-06-10 in seconds" in note
        assert note.endswith("return milliseconds, value * 1000")

    @pytest.mark.parametrize("times", [[1_718_000_000_000], [0, 1, 2], [1000, 5000], [-5], [5, 1_718_000_000]])
    def test_others_are_not(self, times: list[int]) -> None:
        assert notes_of(stamped(times)) == []

    def test_those_of_a_source_are_noted_too(self) -> None:
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Field())
        notes = notes_of(lambda env: env.from_source(Numbers([1_718_000_000]), strategy, "clicks"))
        assert len(notes) == 1 and "the timestamps of 'clicks'" in notes[0]


# ------------------------------------------------------------------ text as an iterable of results


class Plain(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return value


class Keyed(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        return value


class TestText:
    @pytest.mark.parametrize("mode", MODES)
    @pytest.mark.parametrize(
        "step",
        [
            lambda stream: stream.flat_map(lambda value: value).name("step"),
            lambda stream: stream.process(Plain()).name("step"),
            lambda stream: stream.key_by(lambda value: value).process(Keyed()).name("step"),
            lambda stream: stream.key_by(lambda value: value).flat_map(lambda value: value).name("step"),
        ],
    )
    def test_that_is_emitted_letter_by_letter_is_noted_once(self, step: Any, mode: str) -> None:
        (note,) = notes_of(lambda env: step(env.from_collection(["word"] * 5_000)), mode)
        assert note.startswith("'step' (") and __file__ in note
        assert note.endswith("returned the text 'word' and emits it letter by letter: yield it, or return [text]")

    def test_the_letters_are_emitted_as_in_flink(self) -> None:
        stream = environment().from_collection(["ab"]).flat_map(lambda value: value)
        assert list(stream.execute_and_collect()) == ["a", "b"]

    def test_lists_and_generators_are_not_noted(self) -> None:
        assert notes_of(lambda env: env.from_collection(["ab"]).flat_map(lambda value: [value])) == []


# ------------------------------------------------------------------ watermarks that stand still


class Numbers(Source):
    """Deals a list, one batch per element; channel 0 gets them all, the others nothing until the end."""

    def __init__(self, values: list[int], channels: int = 1) -> None:
        self.values = values
        self._channels = channels

    def channels(self, parallelism: int) -> int:
        return self._channels

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return _OneByOne(self.values, self._channels)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        yield [work], None


class _OneByOne(Enumerator):
    def __init__(self, values: list[int], channels: int) -> None:
        self._left = list(values)
        self._channels = channels
        self._over = False
        self._silent = list(range(1, channels))  # they speak once, without records: from then on they are waited for

    def next_batch(self) -> list[Assignment]:
        if self._left:
            silent, self._silent = self._silent, []
            return [Assignment(0, self._left.pop(0), False), *(Assignment(each, None, False) for each in silent)]
        if self._over:
            return []
        self._over = True
        return [Assignment(channel, None, True) for channel in range(self._channels)]

    def describe(self, channel: int) -> str:
        return f"part {channel}"

    def position(self) -> dict[str, Any]:
        return {"left": self._left}

    def restore(self, position: dict[str, Any]) -> None:
        self._left = position["left"]


def windowed(channels: int, times: list[int], windows: Any = None) -> Build:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Field())
    windows = windows or TumblingEventTimeWindows.of(Time.milliseconds(10))

    def build(env: StreamExecutionEnvironment) -> DataStream:
        source = env.from_source(Numbers(times, channels), strategy, "clicks", Types.LONG())
        return source.key_by(lambda value: value % 2).window(windows).reduce(max).name("widest")

    return build


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalled, "PATIENCE_SECONDS", 0.0)


def assert_names_the_silent_channel(notes: list[str]) -> None:
    (note,) = notes
    assert note.startswith("the watermark of 'widest' (")
    assert "although records arrive: source 'clicks' (" in note
    assert "channel 2 of 2 (part 1) holds it back, it has none yet" in note
    assert note.endswith("WatermarkStrategy.with_idleness(...) lets time advance without it")


class TestWatermarks:
    @pytest.mark.usefixtures("impatient")
    def test_the_channel_that_holds_one_back_is_named_once(self) -> None:
        assert_names_the_silent_channel(notes_of(windowed(2, list(range(100, 160, 5)))))

    @pytest.mark.spark
    @pytest.mark.usefixtures("impatient")
    def test_on_spark_too(self) -> None:
        assert_names_the_silent_channel(notes_of(windowed(2, list(range(100, 130, 5))), runner="spark"))

    @pytest.mark.usefixtures("impatient")
    def test_one_that_moves_is_not(self) -> None:
        assert notes_of(windowed(1, list(range(100, 160, 5)))) == []

    @pytest.mark.usefixtures("impatient")
    def test_idle_channels_hold_nothing_back(self) -> None:
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Field())
        idle = strategy.with_idleness(Duration.of_millis(1))

        def build(env: StreamExecutionEnvironment) -> DataStream:
            source = env.from_source(Numbers([*range(100, 120, 5)], 1), idle, "clicks", Types.LONG())
            windows = TumblingEventTimeWindows.of(Time.milliseconds(10))
            return source.key_by(lambda value: value % 2).window(windows).reduce(max)

        assert notes_of(build) == []

    @pytest.mark.usefixtures("impatient")
    def test_where_nothing_generates_any_none_is_missed(self) -> None:
        def build(env: StreamExecutionEnvironment) -> DataStream:
            source = env.from_source(Numbers([1, 2, 3], 2), WatermarkStrategy.no_watermarks(), "clicks", Types.LONG())
            windows = TumblingProcessingTimeWindows.of(Time.milliseconds(10))
            return source.key_by(lambda value: value % 2).window(windows).reduce(max)

        assert notes_of(build) == []

    def test_it_takes_a_minute_on_the_drivers_clock(self) -> None:
        env = environment()
        windowed(2, [1])(env).print()
        job = JobExecution(job_plan_of(env, "quiet"))
        now = [0.0]
        watch = stalled.StalledWatermarks(job, lambda: now[0])
        number = next(each.id for each in job.plan.operators.values() if each.name == "widest")
        source = next(iter(job.plan.sources))
        for seconds, notes in [(0, 0), (59, 0), (61, 1), (200, 1)]:
            now[0] = seconds
            watch.held_back(number, (source, 1, 5))
            assert len(job.log.notes) == notes
        watch.moved(number)
        for seconds, notes in [(300, 1), (361, 2)]:
            now[0] = seconds
            watch.held_back(number, (source, 1, 7))
            assert len(job.log.notes) == notes
        assert "holds it back, it stands at 7" in job.log.notes[-1]


# ------------------------------------------------------------------ programs that execute nothing

BUILDS = """
import sys
from scurry.datastream import StreamExecutionEnvironment

def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).map(str).print()
    AND_THEN

main()
LAST
"""


class TestForgottenExecute:
    def run(self, tmp_path: Path, then: str, last: str = "") -> int:
        file = tmp_path / "program.py"
        file.write_text(BUILDS.replace("AND_THEN", then).replace("LAST", last))
        return run_program(file, [], LaunchOptions(runner="local"), debug=False)

    @pytest.mark.parametrize("last", ["", "sys.exit()", "sys.exit(0)"])
    def test_scurry_run_says_so(self, tmp_path: Path, capsys: pytest.CaptureFixture[str], last: str) -> None:
        assert self.run(tmp_path, "pass", last) == 0
        assert capsys.readouterr().err == (
            "the program built 2 operators that it did not execute: call env.execute()\n"
            f"  the last one at {tmp_path}/program.py:7: env.from_collection([1]).map(str).print()\n"
        )

    @pytest.mark.parametrize(("last", "told"), [("", True), ("raise LookupError('no')", False), ("1", True)])
    def test_python_says_so_at_the_exit(self, tmp_path: Path, last: str, told: bool) -> None:
        file = tmp_path / "program.py"
        file.write_text(BUILDS.replace("AND_THEN", "pass").replace("LAST", last))
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False, timeout=120)
        line = "the program built 2 operators that it did not execute: call env.execute()"
        assert (line in done.stderr.splitlines()) is told

    @pytest.mark.parametrize("then", ["env.execute()", "env.get_execution_plan()", "env.close()"])
    def test_programs_that_do_something_with_them_are_left_alone(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], then: str
    ) -> None:
        assert self.run(tmp_path, then) == 0
        assert "did not execute" not in capsys.readouterr().err

    def test_a_program_that_fails_has_its_error_alone(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run(tmp_path, "raise LookupError('no')") == 1
        assert "did not execute" not in capsys.readouterr().err


def test_notes_are_told_once_however_many_tasks_say_them() -> None:
    env = environment()
    env.from_collection([1]).print()
    job = JobExecution(job_plan_of(env, "quiet"))
    threads = [threading.Thread(target=job.log.note_once, args=("again",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(job.log.notes) == ["again"]
