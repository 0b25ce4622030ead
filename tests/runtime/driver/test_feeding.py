"""What a BATCH job reads."""

from __future__ import annotations

from typing import Any

import pytest

import scurry.runtime.driver.source_coordinator
from scurry.common import Configuration
from scurry.connectors.datagen import DataGeneratorSource, _GeneratorEnumerator
from scurry.connectors.ranges import NumberSequenceSource
from scurry.connectors.source import Source
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.driver.source_coordinator import all_splits
from scurry.testing import job_plan_of
from support.clock import FakeTime


def works(source: Source) -> dict[int, list[Any]]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration()).set_parallelism(2)
    env.from_source(source, None, "numbers").print()
    plan = job_plan_of(env, "job")
    return all_splits(plan, next(iter(plan.sources.values())))


def test_every_channel_gets_all_of_its_work() -> None:
    dealt = works(NumberSequenceSource(1, 4))
    assert dealt.keys() == {0, 1}
    assert all(dealt.values())


def test_a_source_that_keeps_to_a_rate_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    time = FakeTime()
    monkeypatch.setattr(scurry.runtime.driver.source_coordinator, "time", time)
    monkeypatch.setattr(_GeneratorEnumerator.__init__, "__defaults__", (time,))
    dealt = works(DataGeneratorSource(str, count=6, records_per_second=50.0))
    assert sum(stop - start for parts in dealt.values() for start, stop in parts) == 6
    assert time.now == pytest.approx(0.1)  # five intervals of 20 ms
