"""What a BATCH job reads."""

from __future__ import annotations

import time

from scurry.common import Configuration
from scurry.connectors.datagen import DataGeneratorSource
from scurry.connectors.sequence import NumberSequenceSource
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.driver.source_coordinator import all_splits


def works(source: object) -> dict[int, list[object]]:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration()).set_parallelism(2)
    env.from_source(source, None, "numbers").print()
    plan = env._plan("job")
    return all_splits(plan, next(iter(plan.sources.values())))


def test_every_channel_gets_all_of_its_work() -> None:
    dealt = works(NumberSequenceSource(1, 4))
    assert dealt.keys() == {0, 1}
    assert all(dealt.values())


def test_a_source_that_keeps_to_a_rate_is_waited_for() -> None:
    begun = time.monotonic()
    dealt = works(DataGeneratorSource(str, count=6, records_per_second=50.0))
    assert sum(stop - start for parts in dealt.values() for start, stop in parts) == 6  # type: ignore[misc]
    assert time.monotonic() - begun >= 0.08
