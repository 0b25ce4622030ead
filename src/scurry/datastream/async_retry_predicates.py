"""Ready-made predicates for retrying asynchronous calls."""

from __future__ import annotations

from typing import Any

__all__ = ["empty_result_predicate", "exception_type_predicate", "has_exception_predicate"]


def empty_result_predicate(result: list[Any] | None) -> bool:
    """Return whether a call had no results."""
    return not result


def has_exception_predicate(error: BaseException | None) -> bool:
    """Return whether a call raised anything."""
    return error is not None


def exception_type_predicate(error: BaseException | None, expected_error_type: type[BaseException]) -> bool:
    """Return whether a call raised an error of `expected_error_type`."""
    return isinstance(error, expected_error_type)
