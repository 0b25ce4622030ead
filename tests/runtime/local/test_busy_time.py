"""Tasks measure how long they work, under Flink's names."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.runtime.tasks import task


def test_the_head_of_a_task_has_the_time_of_the_operators_chained_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = count(step=0.4)  # seconds: a micro-batch begins at one tick and ends at the next
    monkeypatch.setattr(task, "time", SimpleNamespace(perf_counter=lambda: next(ticks)))
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    numbers = env.from_collection([1, 2, 3, 4]).name("numbers").map(lambda number: number).name("same")
    numbers.key_by(lambda number: 0).reduce(lambda a, b: a + b).name("sums").print()
    metrics = env.execute("busy").get_metrics()
    busy = {name: value for name, value in metrics.items() if name.endswith("accumulateBusyTimeMs")}
    assert busy.keys() == {"numbers.accumulateBusyTimeMs", "sums.accumulateBusyTimeMs"}
    assert min(busy.values()) >= 399
