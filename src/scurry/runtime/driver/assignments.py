"""The input of a micro-batch, which the driver submits to an engine: splits and control messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from scurry.graph.plan import JobPlan
from scurry.runtime.exchange.wire import WireRow


@dataclass(frozen=True)
class SplitAssignment:
    """A split that one channel of a source reads in one micro-batch.

    Attributes:
        source: Number of the source in the plan.
        channel: The parallel reader, from 0.
        split: The argument of `Source.read`; None if there is nothing to read.
        final: Whether this is the last assignment of the channel.
    """

    source: int
    channel: int
    split: Any
    final: bool


class ControlMessage(Protocol):
    """A message of the driver to the levels: a tick, state to restore, or a query for state."""

    def rows(self, plan: JobPlan) -> Iterator[WireRow]:
        """Yield its rows."""


#: Parts of a micro-batch.
Assigned = SplitAssignment | ControlMessage
