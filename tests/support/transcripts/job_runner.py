"""Runs scripts as jobs: a source deals their records and watermarks, one micro-batch after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.common import Configuration, WatermarkStrategy
from scurry.common.watermark_strategy import MIN_TIMESTAMP, WatermarkGenerator
from scurry.connectors.collect_sink import CollectSink
from scurry.connectors.source import Assignment, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.local.runner import LocalRunner
from scurry.testing import job_plan_of
from support.transcripts import pipelines
from support.transcripts.scripts import Script, unordered

Steps = list[tuple[str, Any]]


class ManualClock:
    """Processing time that stands still until a script moves it."""

    def __init__(self) -> None:
        self.time = 0

    def __call__(self) -> int:
        return self.time


class ScriptedSource(Source):
    """Deals the steps of a script: those of a batch in one assignment, after the clock has been set."""

    def __init__(self, batches: list[Steps], clock: ManualClock | None) -> None:
        self._batches = batches
        self._clock = clock

    def __getstate__(self) -> dict[str, Any]:
        return {"_batches": [], "_clock": None}  # tasks get their steps with their work

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return ScriptedEnumerator(self._batches, self._clock)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        for step in work:
            yield [step], None


class ScriptedEnumerator(Enumerator):
    def __init__(self, batches: list[Steps], clock: ManualClock | None) -> None:
        self._batches, self._clock, self._next = batches, clock, 0

    def next_batch(self) -> list[Assignment]:
        if self._next == len(self._batches):
            return []
        batch = self._batches[self._next]
        self._next += 1
        for kind, argument in batch:
            if kind == "clock":
                assert self._clock is not None, "this runner's clock cannot be set"
                self._clock.time = argument
        return [Assignment(0, [step for step in batch if step[0] != "clock"], self._next == len(self._batches))]

    def position(self) -> dict[str, Any]:
        return {"next": self._next}

    def restore(self, position: dict[str, Any]) -> None:
        self._next = position["next"]


class ScriptedWatermarks(WatermarkGenerator):
    """Watermarks are in the stream, between the records."""

    def on_event(self, event: Any, event_timestamp: int, output: Any) -> None:
        kind, argument = event
        if kind == "watermark":
            output.emit_watermark(argument)

    def on_periodic_emit(self, output: Any) -> None:
        pass


def timestamp_of(step: Any, before: int) -> int:
    kind, argument = step
    return argument[2] if kind == "element" and len(argument) > 2 else MIN_TIMESTAMP


def is_element(step: Any) -> bool:
    return bool(step[0] == "element")


def record_of(step: Any) -> Any:
    return step[1][0], step[1][1]


class Run:
    """Some scripts as one job."""

    def __init__(self, runner: str, mode: str, scripts: list[Script], one_step_each: bool = False) -> None:
        configuration = Configuration()
        configuration.set_string("scurry.runner", runner)
        configuration.set_string("execution.runtime-mode", mode)
        self._env = StreamExecutionEnvironment.get_execution_environment(configuration)
        self._env.set_parallelism(2)
        self._clock = ManualClock() if (runner, mode) == ("local", "STREAMING") else None
        self.results: dict[str, list[Any]] = {}
        self.late: dict[str, list[Any]] = {}
        for script in scripts:
            self._add(script, script.batches(one_step_each))

    def _add(self, script: Script, batches: list[Steps]) -> None:
        strategy = WatermarkStrategy.for_generator(ScriptedWatermarks).with_timestamp_assigner(timestamp_of)
        steps = self._env.from_source(ScriptedSource(batches, self._clock), strategy, script.name)
        results, late = pipelines.build(script.spec, steps.filter(is_element).map(record_of))
        self._collect(script.name, results, self.results)
        if late is not None:
            self._collect(script.name, late, self.late)

    def _collect(self, name: str, stream: Any, found: dict[str, list[Any]]) -> None:
        found[name] = []
        stream._sink(CollectSink(found[name].extend), name)

    def execute(self) -> Run:
        """Runs the job to its end."""
        if self._clock is not None:
            LocalRunner(self._clock).run(JobExecution(job_plan_of(self._env, "transcripts")))
        else:
            self._env.execute("transcripts")
        return self

    def check(self, script: Script, expected: list[Any]) -> None:
        """Compares what came out with what should; the steps it came at are not seen from here."""
        assert unordered(self.results[script.name]) == unordered(expected), script.name

    def check_late(self, script: Script) -> None:
        """Compares the late records."""
        assert unordered(self.late.get(script.name, [])) == unordered(script.expected("expect_late")), script.name
