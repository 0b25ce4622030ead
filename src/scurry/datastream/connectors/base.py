"""Base classes of sources and sinks, including custom ones."""

from __future__ import annotations

from enum import Enum

from scurry.connectors.sink import BufferedWriter, Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import Source
from scurry.connectors.splits import SplitSource

__all__ = [
    "BufferedWriter",
    "Committer",
    "DeliveryGuarantee",
    "Sink",
    "SinkWriter",
    "Source",
    "SplitSource",
    "WriterContext",
]


class DeliveryGuarantee(Enum):
    """The guarantee of a sink when a failed job resumes: each record exactly once, at least once, or none."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2
