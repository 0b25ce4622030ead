"""A BATCH job on Spark over a DataFrame of history, and the streaming job on Spark that goes on with its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from scurry.common import Configuration, Time, Types, WatermarkStrategy
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream.window import EventTimeSessionWindows

pytestmark = pytest.mark.spark

COUNTED = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])


def environment(parallelism: int, **settings: str) -> StreamExecutionEnvironment:
    dotted = {name.replace("__", ".").replace("_", "-"): value for name, value in settings.items()}
    configuration = Configuration.from_dict({"parallelism.default": str(parallelism), **dotted})
    return StreamExecutionEnvironment.get_execution_environment(configuration)


def sessions(stream: DataStream) -> DataStream:
    """How many records each session of a key has, of (key, count, time)."""
    by_time = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(lambda value, _: value[2])
    windows = (
        stream.assign_timestamps_and_watermarks(by_time)
        .key_by(lambda value: value[0], key_type=Types.STRING())
        .window(EventTimeSessionWindows.with_gap(Time.milliseconds(50)))
    )
    return windows.reduce(lambda a, b: (a[0], a[1] + b[1], max(a[2], b[2]))).uid("sessions")


def test_sessions_open_in_history_go_on_live(spark: Any, tmp_path: Path) -> None:
    env = environment(3, execution__runtime_mode="BATCH", scurry__final_savepoint__dir=str(tmp_path))
    frame = spark.sql("SELECT concat('k', id % 40) AS k, id AS t FROM range(1000)").repartition(4)
    history = env.from_spark(frame).map(lambda row: (row.k, 1, row.t), COUNTED)
    with sessions(history).execute_and_collect() as closed:
        assert list(closed) == []  # every key has a record within 50 ms of the end
    (savepoint,) = tmp_path.iterdir()

    env = environment(2, execution__state_recovery__path=str(savepoint))
    live = env.from_collection([(f"k{i}", 1, 1000 + i) for i in range(0, 40, 2)], COUNTED)
    with sessions(live).execute_and_collect() as counted:
        found = sorted(counted)
    even, odd = range(0, 40, 2), range(1, 40, 2)
    assert found == sorted([(f"k{i}", 26, 1000 + i) for i in even] + [(f"k{i}", 25, 960 + i) for i in odd])
