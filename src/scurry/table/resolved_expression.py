"""ResolvedExpression: an expression of a schema."""

from __future__ import annotations

from scurry.sql.catalog.schema import ResolvedExpression

__all__ = ["ResolvedExpression"]
