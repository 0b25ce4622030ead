"""Validation errors in Flink's words, with the position in the text."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.functions.signatures import standard_name
from scurry.sql.syntax.span import Span
from scurry.sql.types import DataType, LocalZonedTimestampType, TimestampType


def invalid(span: Span, message: str) -> ValidationError:
    """Make the error for a part of a statement.

    Args:
        span: Where the part stands.
        message: What is wrong with it.

    Returns:
        The error, whose text names line and column.
    """
    place = span.describe()
    error = ValidationError(
        f"SQL validation failed. {place}: {message}" if place else f"SQL validation failed. {message}"
    )
    error.span = span
    return error


def check_period(type: DataType, span: Span) -> None:
    """Refuse operands of FOR SYSTEM_TIME AS OF that are no times.

    Args:
        span: Where it stands.

    Raises:
        ValidationError: It has another type.
    """
    if not isinstance(type, TimestampType | LocalZonedTimestampType):
        shown = standard_name(type).partition("(")[0]
        raise invalid(span, f"The system time period specification expects Timestamp type but is '{shown}'")
