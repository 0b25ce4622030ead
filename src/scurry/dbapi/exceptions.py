"""The exceptions of PEP 249, and which of them an error of scurry becomes."""

from __future__ import annotations

import re

import scurry.errors as errors
from scurry.common.redaction import without_secrets

__all__ = [
    "DataError",
    "DatabaseError",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "WaitTimeoutError",
    "Warning",
]


class Warning(Exception):
    """An important warning; scurry raises none."""


class Error(Exception):
    """The base of all errors of `scurry.dbapi`.

    The text has the line of the statement with the place underlined, where there is one. The error of scurry that led
    to it is its `__cause__`.

    Attributes:
        line: Line of the statement that is wrong, from 1; None if it is unknown.
        column: Column in that line, from 1; None if it is unknown.
    """

    line: int | None = None
    column: int | None = None


class InterfaceError(Error):
    """The module is not used as it can be: a malformed URL, a closed connection or cursor."""


class DatabaseError(Error):
    """A statement, a job or the gateway has failed."""


class DataError(DatabaseError):
    """A value that cannot be computed, read or written, such as a division by zero."""


class OperationalError(DatabaseError):
    """A job, a connector or the gateway has failed, beyond the statement's control."""


class WaitTimeoutError(OperationalError, TimeoutError):
    """The rows or the end of a statement have not come within the cursor's `timeout`."""


class IntegrityError(DatabaseError):
    """A database behind a connector refuses values."""


class InternalError(DatabaseError):
    """An error that is none of scurry's own."""


class ProgrammingError(DatabaseError):
    """A wrong statement, a table that is not there, or parameters that do not fit."""


class NotSupportedError(DatabaseError):
    """A part of SQL or of PEP 249 that scurry does not have."""


_KINDS: tuple[tuple[type[errors.ScurryError], type[DatabaseError]], ...] = (
    (errors.UnsupportedError, NotSupportedError),
    (errors.EvaluationError, DataError),
    (errors.RecordError, DataError),
    (errors.RejectedValuesError, IntegrityError),
    (errors.StatementError, ProgrammingError),
    (errors.ConnectorError, OperationalError),
    (errors.SqlParserError, ProgrammingError),
    (errors.ValidationError, ProgrammingError),
    (errors.SignatureError, ProgrammingError),
    (errors.ConfigError, ProgrammingError),
    (errors.ProgramError, ProgrammingError),
)
_OF_JAVA: dict[str, type[DatabaseError]] = {
    "SqlParserException": ProgrammingError,
    "SqlParserEOFException": ProgrammingError,
    "ValidationException": ProgrammingError,
    "TableException": ProgrammingError,
    "UnsupportedOperationException": NotSupportedError,
    "ArithmeticException": DataError,
}
#: The last line of an error's text that has been numbered, and the underlining below.
_EXCERPT = re.compile(r"^ *(\d+) \| (?!\.\.\.).*\n( *)\^+$", re.MULTILINE)
#: Columns before the text of a line that an error shows.
_INDENT = len("   1 | ")


def raised_for(error: BaseException) -> DatabaseError:
    """Return the exception of PEP 249 for an error that a statement has failed with."""
    text = error.describe() if isinstance(error, errors.ScurryError) else f"{type(error).__name__}: {error}"
    found = _kind(error)(without_secrets(text))
    for place in _EXCERPT.finditer(text):
        found.line, found.column = int(place[1]), len(place[2]) - _INDENT + 1
    return found


def _kind(error: BaseException) -> type[DatabaseError]:
    if isinstance(error, errors.GatewayError) and error.kind:
        if error.kind in _OF_JAVA:
            return _OF_JAVA[error.kind]
        there = getattr(errors, error.kind, None)
        return _of_class(there) if isinstance(there, type) else OperationalError
    return _of_class(type(error))


def _of_class(kind: type) -> type[DatabaseError]:
    for own, raised in _KINDS:
        if issubclass(kind, own):
            return raised
    return OperationalError if issubclass(kind, errors.ScurryError) else InternalError
