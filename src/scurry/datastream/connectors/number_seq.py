"""PyFlink's path of NumberSequenceSource."""

from __future__ import annotations

from scurry.connectors.sequence import NumberSequenceSource

__all__ = ["NumberSequenceSource"]
