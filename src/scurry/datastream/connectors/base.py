"""What all sources and sinks have in common, and what those of one's own are made of."""

from __future__ import annotations

from enum import Enum

from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import Source
from scurry.connectors.splits import SplitSource

__all__ = ["Committer", "DeliveryGuarantee", "Sink", "SinkWriter", "Source", "SplitSource", "WriterContext"]


class DeliveryGuarantee(Enum):
    """What a sink promises when the job fails and goes on: each record once, once or more often, or nothing."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2
