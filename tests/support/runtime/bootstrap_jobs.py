"""A pipeline over history in BATCH, whose state a test harness goes on with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from scurry.common import Configuration, Duration, WatermarkStrategy
from scurry.connectors.collect_sink import CollectSink
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.runtime.savepoint.reading import open_savepoint
from scurry.runtime.savepoint.restore import Restore
from scurry.testing import TestHarness
from support.runtime.scripted_pipeline import Record

KEY_GROUPS = 4

#: Takes as many streams as a pipeline has inputs; its operators need uids.
Pipeline = Callable[..., DataStream]


def batch(
    pipeline: Pipeline, history: Sequence[Sequence[Record]], directory: str, bound: int = 0, parallelism: int = 1
) -> tuple[list[Any], str]:
    """Runs a pipeline over the records of its inputs, with watermarks `bound` behind the highest timestamp.

    Returns:
        What it emitted, and the savepoint it ended in.
    """
    configuration = Configuration()
    configuration.set_string("scurry.runner", "local")
    configuration.set_string("execution.runtime-mode", "BATCH")
    configuration.set_string("scurry.final-savepoint.dir", directory)
    env = StreamExecutionEnvironment(configuration)
    env.set_parallelism(parallelism)
    env.set_max_parallelism(KEY_GROUPS)
    by_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(bound)).with_timestamp_assigner(
        lambda record, _: record[1]
    )
    streams = [
        env.from_collection([(record.value, record.timestamp) for record in records])
        .assign_timestamps_and_watermarks(by_time)
        .map(lambda record: record[0])
        for records in history
    ]
    results: list[Any] = []
    pipeline(*streams)._sink(CollectSink(results.extend), "results")
    path = env.execute("history").get_savepoint_path()
    assert path is not None
    return results, path


def streaming(pipeline: Pipeline, savepoint: str | None = None, parallelism: int = 1, now: int = 0) -> TestHarness:
    """The pipeline in a harness, from its beginning or with the state of a savepoint."""
    harness = TestHarness.of(pipeline, max_parallelism=KEY_GROUPS, parallelism=parallelism, processing_time=now)
    if savepoint is not None:
        restore(harness, savepoint)
    return harness


def restore(harness: TestHarness, savepoint: str) -> None:
    """Puts the state of a savepoint into the stores of a harness, as the runners do in their first batches."""
    plan = harness._plan
    for works in Restore(open_savepoint(savepoint), plan).batches():
        harness._levels.process([row for work in works for row in work.rows(plan)], 0)


def temporary_directory() -> tempfile.TemporaryDirectory[str]:
    """A directory for savepoints, for properties that try many cases in one test."""
    return tempfile.TemporaryDirectory(prefix="bootstrap-")
