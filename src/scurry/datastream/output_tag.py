"""Tags of side outputs, under the name PyFlink programs import them by."""

from __future__ import annotations

from scurry.common.output_tag import OutputTag

__all__ = ["OutputTag"]
