"""Errors of the Table API and SQL."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class ValidationError(ScurryError, ValueError):
    """A statement, a table or an option that Flink refuses (its `ValidationException` or `TableException`)."""

    permanent = True


class CatalogError(ValidationError):
    """A catalog lacks the database, table or function that was named, or has one of that name already."""


class EvaluationError(ScurryError, ValueError):
    """A function or a cast has no result for a value; the message is that of Flink's job."""

    permanent = True
