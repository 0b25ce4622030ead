"""What a source deals together is read in one micro-batch, whenever Spark looks for what there is."""

from __future__ import annotations

import time
from typing import Any

import pytest

from scurry.common import Configuration, Types, WatermarkStrategy
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DataGeneratorSource
from scurry.spark.streaming.assignment_stream import AssignmentStream

pytestmark = pytest.mark.spark


def test_all_that_is_dealt_together_is_in_one_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    add, show, dealt = AssignmentStream.add, AssignmentStream._show, []

    def noted(stream: AssignmentStream, assignments: list[Any], source_positions: Any) -> None:
        dealt.append(sum(each.split[1] - each.split[0] for each in assignments if each.split))
        add(stream, assignments, source_positions)

    def hesitant(stream: AssignmentStream, logged: Any) -> None:
        show(stream, logged)
        time.sleep(0.1)  # Spark looks every 10 ms

    monkeypatch.setattr(AssignmentStream, "add", noted)
    monkeypatch.setattr(AssignmentStream, "_show", hesitant)
    settings = {"scurry.runner": "spark", "scurry.progress": "off", "parallelism.default": "4"}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(settings))
    source = DataGeneratorSource(lambda number: number, 200, 200, Types.LONG())
    env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers").map(lambda number: number).print()
    client: Any = env.execute_async()
    client.get_job_execution_result().result()
    assert [batch.records for batch in client.checkpoints()] == dealt
    assert max(dealt) >= 4
