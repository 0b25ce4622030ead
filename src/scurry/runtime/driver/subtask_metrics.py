"""The metrics of a job by subtask: their skew and their rates."""

from __future__ import annotations

import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping

from scurry.runtime.driver.checkpoint_history import OperatorState
from scurry.runtime.driver.user_metrics import SubtaskUserMetrics
from scurry.runtime.exchange.report import TaskReport
from scurry.runtime.exchange.wire import MIN_TIME

#: Rates are averages over this time, as those of Flink's meters.
WINDOW_SECONDS = 60.0
#: Least time between two recorded counts.
_STEP_SECONDS = 2.0

#: Counter -> the metric that is its rate per second.
_RATES = {"numRecordsOut": "numRecordsOutPerSecond", "accumulateBusyTimeMs": "busyTimeMsPerSecond"}
_WATERMARK = "currentOutputWatermark"
_STATE = "stateSize"

_Counts = dict[int, dict[int, int]]


class SubtaskMetrics:
    """The counters of the subtasks of operators and sources over the committed batches.

    Args:
        clock: Returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        #: metric -> operator or source -> subtask -> count
        self._counters: dict[str, _Counts] = {}
        self._watermarks: _Counts = {}
        #: operator -> subtask -> bytes of its state, and of those written in the batch that is being added
        self._state: _Counts = {}
        self._written: _Counts = {}
        self.of_users = SubtaskUserMetrics()
        #: (time, the counters with rates at that time); the first is older than the window, or the start
        self._history: deque[tuple[float, dict[str, _Counts]]] = deque([(clock(), {})])

    def add(self, subtask: int, report: TaskReport) -> None:
        """Add the counts of a subtask in a batch."""
        for (number, metric), value in report.counters.items():
            counts = self._counters.setdefault(metric, {}).setdefault(number, {})
            counts[subtask] = counts.get(subtask, 0) + value
        for number, watermark in report.watermarks.items():
            known = self._watermarks.setdefault(number, {})
            known[subtask] = max(watermark, known.get(subtask, MIN_TIME))
        for number, size in report.state.items():
            self._state.setdefault(number, {})[subtask] = size.total
            self._written.setdefault(number, {})[subtask] = size.written
        for (number, name), measured in report.user_metrics.items():
            self.of_users.add(number, name, subtask, measured)

    def committed(self) -> None:
        """Note the end of a batch, all of whose reports were added."""
        now = self._clock()
        if now - self._history[-1][0] >= _STEP_SECONDS:
            counted = {metric: self._counters.get(metric, {}) for metric in _RATES}
            self._history.append(
                (
                    now,
                    {
                        metric: {number: dict(each) for number, each in counts.items()}
                        for metric, counts in counted.items()
                    },
                )
            )
        while len(self._history) > 1 and self._history[1][0] <= now - WINDOW_SECONDS:
            self._history.popleft()

    def take_states(self, parallelism: Mapping[int, int]) -> dict[int, OperatorState]:
        """Return the state of each operator that has some, and reset the counts of writes.

        Args:
            parallelism: Operator -> number of its subtasks.
        """
        written, self._written = self._written, {}
        return {
            number: OperatorState(
                *(
                    array("q", [sizes.get(subtask, 0) for subtask in range(parallelism[number])])
                    for sizes in (totals, written.get(number, {}))
                )
            )
            for number, totals in self._state.items()
        }

    def forget_state(self) -> None:
        """Forget the sizes of state: other subtasks will have it."""
        self._state = {}

    def values(self) -> dict[int, dict[str, dict[int, float]]]:
        """Return operator or source -> metric -> subtask -> value."""
        found: dict[int, dict[str, dict[int, float]]] = {}
        for metric, by_number in list(self._counters.items()):
            for number, counts in list(by_number.items()):
                found.setdefault(number, {})[metric] = dict(counts)
        for number, watermarks in list(self._watermarks.items()):
            found.setdefault(number, {})[_WATERMARK] = dict(watermarks)
        for number, sizes in list(self._state.items()):
            found.setdefault(number, {})[_STATE] = dict(sizes)
        for counter, metric in _RATES.items():
            for number, rates in self._rates(counter).items():
                found.setdefault(number, {})[metric] = rates
        return found

    def _rates(self, counter: str) -> dict[int, dict[int, float]]:
        now = self._clock()
        marks = list(self._history)
        # An idle job records no counts: what was counted before the window has no part in the rate.
        at, before = next((mark for mark in reversed(marks) if mark[0] <= now - WINDOW_SECONDS), marks[0])
        seconds, earlier = max(min(now - at, WINDOW_SECONDS), 1e-3), before.get(counter, {})
        return {
            number: {
                subtask: max(0, count - earlier.get(number, {}).get(subtask, 0)) / seconds
                for subtask, count in list(counts.items())
            }
            for number, counts in list(self._counters.get(counter, {}).items())
        }
