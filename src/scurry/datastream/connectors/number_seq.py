"""PyFlink's path of NumberSequenceSource."""

from __future__ import annotations

from scurry.connectors.ranges import NumberSequenceSource

__all__ = ["NumberSequenceSource"]
