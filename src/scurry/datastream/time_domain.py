"""Which clock a timer runs on, under the name PyFlink programs import it by."""

from __future__ import annotations

from scurry.common.time_domain import TimeDomain

__all__ = ["TimeDomain"]
