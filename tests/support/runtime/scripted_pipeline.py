"""Scripts of records and watermarks for a pipeline in a test harness."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any, NamedTuple

from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME
from scurry.testing import TestHarness

__all__ = ["MAX_TIME", "MIN_TIME", "Driven", "Record", "Step"]


class Record(NamedTuple):
    """A record for an input, counted from 0."""

    value: Any
    timestamp: int
    input: int = 0


#: A record, or a watermark.
Step = Record | int


class Driven:
    """A pipeline that is fed scripts; watermarks that would fall are left out.

    Args:
        build: Takes as many streams as the pipeline has inputs and returns the stream of results.
        in_order: Whether records of several inputs meet in exactly the order of the script, each in a micro-batch of
            its own. Otherwise a script is one micro-batch, in which only watermarks keep their place.
    """

    def __init__(self, build: Callable[..., Any], in_order: bool = False) -> None:
        self.harness = TestHarness.of(build, max_parallelism=4)
        self._in_order = in_order
        self._watermark = MIN_TIME

    def feed(self, steps: Iterable[Step]) -> None:
        """Feeds a script."""
        with nullcontext() if self._in_order else self.harness.batch():
            for step in steps:
                if isinstance(step, Record):
                    timestamp = None if step.timestamp == MIN_TIME else step.timestamp
                    self.harness.process(step.value, timestamp, input=step.input + 1)
                elif step > self._watermark:
                    self._watermark = step
                    self.harness.advance_watermark(step)

    def results(self) -> list[Any]:
        """What was emitted so far."""
        return self.harness.outputs()

    def is_empty(self) -> bool:
        """Whether no key has any state or timers left."""
        return self.harness.num_keyed_state_entries() == 0 and not self.harness.timers()
