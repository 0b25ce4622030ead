"""While records are processed in this process, Python looks for garbage as rarely as in Spark's workers."""

from __future__ import annotations

import gc

import pytest

from scurry.common import Configuration, WatermarkStrategy
from scurry.common._garbage import RARELY, rarely_collected
from scurry.connectors.ranges import NumberSequenceSource
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment


@pytest.mark.parametrize("mode", [RuntimeExecutionMode.STREAMING, RuntimeExecutionMode.BATCH])
def test_thresholds_are_raised_while_records_are_read_and_processed_and_no_longer(mode: RuntimeExecutionMode) -> None:
    before = gc.get_threshold()
    assert before != RARELY
    env = StreamExecutionEnvironment.get_execution_environment(Configuration().set_string("scurry.runner", "local"))
    numbers = env.set_runtime_mode(mode).from_source(
        NumberSequenceSource(1, 2), WatermarkStrategy.no_watermarks(), "numbers"
    )
    while_read = numbers.map(lambda number: (number, gc.get_threshold()))
    results = while_read.key_by(lambda pair: pair[0]).map(lambda pair: (*pair, gc.get_threshold()))
    assert sorted(results.execute_and_collect()) == [(1, RARELY, RARELY), (2, RARELY, RARELY)]
    assert gc.get_threshold() == before


def test_the_last_one_to_leave_restores_the_thresholds() -> None:
    before = gc.get_threshold()
    with pytest.raises(RuntimeError), rarely_collected():
        with rarely_collected():
            pass
        assert gc.get_threshold() == RARELY
        raise RuntimeError
    assert gc.get_threshold() == before
