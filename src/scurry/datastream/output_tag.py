"""Tags of side outputs, under the name by which PyFlink programs import them."""

from __future__ import annotations

from scurry.common.output_tag import OutputTag

__all__ = ["OutputTag"]
