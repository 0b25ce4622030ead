"""Errors of the Table API and SQL."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class ValidationError(ScurryError, ValueError):
    """A statement, a table or an option that Flink refuses (its `ValidationException` or `TableException`)."""

    permanent = True


class SqlParserError(ScurryError, ValueError):
    """A text that is no SQL statement of Flink's dialect (its `SqlParserException`).

    Attributes:
        line: Line of what cannot stand where it does, from 1.
        column: Its column, from 1.
    """

    permanent = True

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        """Say what cannot stand where it does.

        Args:
            message: Flink's message.
            line: Line in the text, from 1.
            column: Column in the line, from 1.
        """
        super().__init__(message, line, column)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        """Return the message, which names the place."""
        return str(self.args[0])


class SqlParserEOFError(SqlParserError):
    """A SQL statement that ends too early (Flink's `SqlParserEOFException`)."""


class CatalogError(ValidationError):
    """A catalog lacks the database, table or function that was named, or has one of that name already."""


class DatabaseNotExistError(CatalogError):
    """There is no such database."""


class DatabaseAlreadyExistError(CatalogError):
    """There is a database of that name already."""


class DatabaseNotEmptyError(CatalogError):
    """A database that is dropped contains tables or functions."""


class TableNotExistError(CatalogError):
    """There is no such table or view."""


class TableAlreadyExistError(CatalogError):
    """There is a table or view of that name already."""


class FunctionNotExistError(CatalogError):
    """There is no such function."""


class FunctionAlreadyExistError(CatalogError):
    """There is a function of that name already."""


class SignatureError(ScurryError, TypeError):
    """A function does not take arguments of these types; the message is Flink's, without the place in the statement."""

    permanent = True


class EvaluationError(ScurryError, ValueError):
    """A function or a cast has no result for a value; the message is that of Flink's job."""

    permanent = True
