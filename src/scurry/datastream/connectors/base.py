"""Base classes of sources and sinks, including custom ones."""

from __future__ import annotations

from enum import Enum
from typing import Any

from scurry.connectors.sink import BufferedWriter, Committer, Sink, SinkWriter, WriterContext
from scurry.connectors.source import Source
from scurry.connectors.splits import SplitSource
from scurry.errors import ArgumentTypeError

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


def checked_guarantee(delivery_guarantee: Any) -> DeliveryGuarantee:
    """Return the argument of `set_delivery_guarantee`.

    Raises:
        ArgumentTypeError: It is no DeliveryGuarantee.
    """
    if not isinstance(delivery_guarantee, DeliveryGuarantee):
        raise ArgumentTypeError(f"set_delivery_guarantee takes a DeliveryGuarantee, got {delivery_guarantee!r}")
    return delivery_guarantee
