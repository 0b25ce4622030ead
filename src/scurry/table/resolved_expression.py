"""ResolvedExpression: an expression of a schema."""

from __future__ import annotations

from scurry.catalog.schema import ResolvedExpression

__all__ = ["ResolvedExpression"]
