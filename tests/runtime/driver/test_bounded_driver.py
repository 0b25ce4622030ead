"""The driver keeps a limited number of requests and of a meter's events."""

from __future__ import annotations

import pytest

from scurry.errors import JobError
from scurry.runtime.driver.requests import CheckpointRequest, RequestQueue
from scurry.runtime.driver.user_metrics import _MeterTotal


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_request_fails_while_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scurry.runtime.driver.requests.MOST_REQUESTS", 2)
    queue, asked = RequestQueue(), [CheckpointRequest() for _ in range(4)]
    for request in asked[:3]:
        queue.ask(request)
    with pytest.raises(JobError, match="has 2 requests that wait for an answer: ask again later"):
        asked[2].future.result(0)
    queue.all_is_committed()
    queue.ask(asked[3])
    assert [each.future.done() for each in asked] == [True, True, True, False]


def test_a_meter_keeps_parts_of_its_span_and_its_rate() -> None:
    clock = Clock()
    meter = _MeterTotal(clock)
    for _ in range(20_000):  # ten events in each hundredth of a second, for 200 seconds
        clock.now += 0.01
        meter.add(10, 60)
    assert len(meter._recent) <= 601
    assert meter.value().rate == pytest.approx(1000, rel=0.01)
