"""TimeDomain, the clock of a timer, under the name by which PyFlink programs import it."""

from __future__ import annotations

from scurry.common.time import TimeDomain

__all__ = ["TimeDomain"]
