"""Refusing a statement in Flink's words, with the place in its text."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.span import Span

__all__ = ["invalid"]


def invalid(span: Span, message: str) -> ValidationError:
    """Make the error for a part of a statement.

    Args:
        span: Where the part stands.
        message: What is wrong with it.

    Returns:
        The error, whose text names line and column.
    """
    place = span.describe()
    return ValidationError(
        f"SQL validation failed. {place}: {message}" if place else f"SQL validation failed. {message}"
    )
