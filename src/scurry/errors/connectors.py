"""Errors of sources, sinks and the systems behind them."""

from __future__ import annotations

from scurry.errors.base import ScurryError


class ConnectorError(ScurryError):
    """A source, a sink, or the system behind it fails.

    Cure: See the more specific classes below.
    """


class ExtraMissingError(ConnectorError, ImportError):
    """A package that a connector needs is not installed; the message names the package.

    Cure: Run the `pip install` command of the message.
    """

    permanent = True


class SourceNotFoundError(ConnectorError, FileNotFoundError):
    """The input of a source does not exist.

    Cure: Check the path; relative ones belong to the driver's working directory.
    """


class SourceConnectionError(ConnectorError, ConnectionError):
    """The server a source reads from cannot be reached, or the connection was lost.

    Cure: Check address, port and credentials, and that the server runs; `scurry doctor` looks at the network.
    """


class SinkConnectionError(ConnectorError, ConnectionError):
    """The server a sink writes to cannot be reached, the connection was lost, or it refuses a request.

    Cure: Check address, port and credentials, and that the server runs.
    """


class SinkCommitError(ConnectorError, RuntimeError):
    """The output of a micro-batch can no longer be committed.

    Cure: Raise the server's transaction timeout above the longest outage; the message names the setting.
    """


class SchemaRegistryError(ConnectorError, ConnectionError):
    """A schema registry cannot be reached, the connection was lost, or it refuses a request.

    Cure: Check the registry's URL and credentials, and that the subject exists.
    """


class StorageError(ConnectorError, OSError):
    """An object store or another remote file system fails a request.

    Cure: Check the path and the `spark.hadoop.fs.*` settings.
    """


class StorageConnectionError(StorageError, ConnectionError):
    """An object store or another remote file system cannot be reached, or the connection was lost.

    Cure: Check the endpoint (`spark.hadoop.fs.s3a.endpoint`) and the network.
    """


class StorageAccessError(StorageError, PermissionError):
    """An object store or another remote file system refuses the credentials, or they do not allow the request.

    Cure: Check the credentials, and what they allow on that path.
    """


class DatabaseError(ConnectorError, RuntimeError):
    """A database fails a request.

    Cure: Read the server's own message, which is part of this one.
    """


class DatabaseConnectionError(DatabaseError, ConnectionError):
    """A database cannot be reached, or the connection was lost.

    Cure: Check URL, port and that the server runs.
    """


class DatabaseAccessError(DatabaseError, PermissionError):
    """A database refuses the user or the user's request, or there is no such database.

    Cure: Check user, password and the rights on the table.
    """

    permanent = True


class StatementError(DatabaseError, ValueError):
    """A statement is wrong, or does not fit the tables of the database.

    Cure: Compare the statement with the table in the database.
    """

    permanent = True


class LogLostError(DatabaseError):
    """The log of a database has lost changes that a job has not read: its slot or its files were removed.

    Cure: Start the job without its checkpoint, so that it reads the tables again; let the server keep its log longer.
    """

    permanent = True


class RejectedValuesError(DatabaseError):
    """The database rejects values; callers that know the record raise RecordRejectedError instead.

    Cure: Compare the values with the columns' types and constraints.
    """
