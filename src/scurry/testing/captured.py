"""The output of the pipeline under test, and the operator that captures it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.common.watermark_strategy import Watermark
from scurry.graph import operators as ops
from scurry.graph.plan import OperatorPlan
from scurry.runtime.exchange.collector import Collector, Consumer, Timestamps, Values
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.runtime.functions.context import TaskInfo
from scurry.runtime.operators import LOWERED, RuntimeOperator

__all__ = ["Captured", "EveryTag", "Output", "StreamRecord"]


class StreamRecord(NamedTuple):
    """An emitted record (Flink's StreamRecord).

    Attributes:
        value: The record.
        timestamp: Its timestamp in milliseconds, None if it has none.
    """

    value: Any
    timestamp: int | None


def _records(values: Values, timestamps: Timestamps) -> list[StreamRecord]:
    times: Iterable[int | None] = repeat(None) if timestamps is None else timestamps
    return list(map(StreamRecord, values, times))


class Captured:
    """Everything the pipeline has emitted, in order."""

    def __init__(self) -> None:
        self.events: list[StreamRecord | Watermark] = []
        self.side: dict[str, _SideOutput] = {}
        self._combined = MIN_TIME
        self._watermarks: list[int] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> Captured:
        """Return the object itself, because all subtasks emit to the one that the test inspects."""
        return self

    def clear(self) -> None:
        """Forget the emitted events, but not the watermark."""
        self.events.clear()
        self.side.clear()

    def join(self) -> int:
        """Add a sender; return its number for `watermark`."""
        self._watermarks.append(MIN_TIME)
        return len(self._watermarks) - 1

    def records(self, values: Values, timestamps: Timestamps) -> None:
        """Add records of the main output."""
        self.events += _records(values, timestamps)

    def watermark(self, sender: int, watermark: int) -> None:
        """Set a sender's watermark; emit the minimum of all senders if it has risen."""
        self._watermarks[sender] = watermark
        combined = min(self._watermarks)
        if combined > self._combined:
            self._combined = combined
            self.events.append(Watermark(combined))

    def side_output(self, tag_id: str) -> _SideOutput:
        """Return the side output of a tag."""
        return self.side.setdefault(tag_id, _SideOutput())


class _SideOutput:
    """Capture the records of a side output."""

    def __init__(self) -> None:
        self.records: list[StreamRecord] = []

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self.records += _records(values, timestamps)

    def watermark(self, watermark: int) -> None:
        """Ignore the watermark, which the main output captures."""


class EveryTag(dict[str, list[Consumer]]):
    """A collector's side outputs, which are all captured for the test, even if the pipeline does not use them."""

    def __init__(self, used: dict[str, list[Consumer]], captured: Captured) -> None:
        super().__init__(used)
        self._captured = captured

    def get(self, tag_id: str, default: Any = None) -> list[Consumer]:
        """Return the consumers of a tag and its captured side output."""
        return [*super().get(tag_id, ()), self._captured.side_output(tag_id)]


@dataclass(frozen=True, eq=False)
class Output(ops.Operator):
    """The last operator of the pipeline under test; `function` is the `Captured`."""


class _OutputOperator(RuntimeOperator):
    def __init__(self, plan: OperatorPlan, collector: Collector, info: TaskInfo) -> None:
        super().__init__(plan, collector, info)
        self._captured: Captured = plan.operator.function
        self._sender = self._captured.join()

    def process(self, values: Values, timestamps: Timestamps) -> None:
        self._captured.records(values, timestamps)

    def watermark(self, watermark: int) -> None:
        self._captured.watermark(self._sender, watermark)


LOWERED[Output] = _OutputOperator
