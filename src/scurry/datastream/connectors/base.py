"""What all sources and sinks have in common."""

from __future__ import annotations

from enum import Enum

from scurry.connectors.sink import Sink
from scurry.connectors.source import Source

__all__ = ["DeliveryGuarantee", "Sink", "Source"]


class DeliveryGuarantee(Enum):
    """What a sink promises when the job fails and goes on: each record once, once or more often, or nothing."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2
