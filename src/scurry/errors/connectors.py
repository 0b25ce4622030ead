"""Errors of sources, sinks and the systems behind them."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class ConnectorError(ScurryError):
    """A source, a sink, or the system behind it fails."""


class ExtraMissingError(ConnectorError, ImportError):
    """A package that a connector needs is not installed; the message says what to install."""

    permanent = True


class SourceNotFoundError(ConnectorError, FileNotFoundError):
    """The input of a source does not exist."""


class SourceConnectionError(ConnectorError, ConnectionError):
    """The server a source reads from cannot be reached, or the connection was lost."""


class SinkConnectionError(ConnectorError, ConnectionError):
    """The server a sink writes to cannot be reached, the connection was lost, or it refuses a request."""


class SinkCommitError(ConnectorError, RuntimeError):
    """The output of a micro-batch can no longer be committed."""


class SchemaRegistryError(ConnectorError, ConnectionError):
    """A schema registry cannot be reached, the connection was lost, or it refuses a request."""


class StorageError(ConnectorError, OSError):
    """An object store or another remote file system fails a request."""


class StorageConnectionError(StorageError, ConnectionError):
    """An object store or another remote file system cannot be reached, or the connection was lost."""


class StorageAccessError(StorageError, PermissionError):
    """An object store or another remote file system refuses the credentials, or they do not allow the request."""


class DatabaseError(ConnectorError, RuntimeError):
    """A database fails a request."""


class DatabaseConnectionError(DatabaseError, ConnectionError):
    """A database cannot be reached, or the connection was lost."""


class DatabaseAccessError(DatabaseError, PermissionError):
    """A database refuses the user or the user's request, or there is no such database."""

    permanent = True


class StatementError(DatabaseError, ValueError):
    """A statement is wrong, or does not fit the tables of the database."""

    permanent = True


class RejectedValuesError(DatabaseError):
    """The database rejects values; callers that know the record raise RecordRejectedError instead."""
