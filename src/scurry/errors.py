"""The public errors of scurry.

Each class also derives from the matching builtin error, so `except TypeError` works:

    ScurryError
    ├── ConfigError (ValueError)             a configuration value that cannot be used
    │   ├── UnknownConfigError (KeyError)    an unknown key; names the closest known one
    │   └── UnsupportedConfigError           a Flink key that Spark does not support; says what to do instead
    ├── TypeMismatchError (TypeError)        a value that does not fit its declared type
    ├── RowFieldError (AttributeError, KeyError, ValueError)   a Row has no field of that name
    ├── TimeTypeError (TypeError)            a value that is not an amount of time
    ├── TimestampError (TypeError, ValueError)   a timestamp, watermark or timer that is not an int of 64 bits
    ├── ValidationError (ValueError)         a statement, table or option that Flink refuses
    │   └── CatalogError                     a catalog lacks what was named, or has it already
    ├── UnsupportedError (NotImplementedError)   a part of Flink that scurry does not have
    ├── ArgumentError (ValueError)           an argument with an invalid value
    ├── ArgumentTypeError (TypeError)        an argument of the wrong kind
    ├── MissingAttributeError (AttributeError)   no method or attribute of that name; names the closest ones
    ├── TopologyError (RuntimeError)         operators combined in a way that no job supports
    ├── MissingTimestampError (ValueError)   an event-time window met a record without a timestamp
    ├── JobError (RuntimeError)              a job that failed, was cancelled or cannot be reached
    ├── JobNotFoundError (LookupError)       no running job has that id or name
    ├── JobUnreachableError (ConnectionError)    a job does not answer, or has ended
    ├── RequestRefusedError (RuntimeError)   a job refuses a request from outside; says why
    ├── CheckpointCorruptedError (RuntimeError)   no micro-batch is left that a job could resume from
    ├── CheckpointStorageFullError (OSError)   the disk of the checkpoint directory is full
    ├── JavaMissingError (RuntimeError)      no Java for Spark
    ├── ClusterUnreachableError (ConnectionError)   the Spark master does not answer at its address
    ├── DependencyError (RuntimeError)       Python code or packages cannot be sent to workers
    │   ├── InterpreterError                 a Python that workers cannot use; says what it lacks
    │   └── WorkerModuleError (ImportError)  workers lack a module; names the operator and how to send it
    ├── PyFlinkImportedError (ImportError)   the real PyFlink was imported before scurry could take its name
    ├── SourceNotFoundError (FileNotFoundError)   the input of a source does not exist
    ├── MalformedRecordError (ValueError)    input that is not a record of the declared format
    ├── RecordTooLargeError (ValueError)     a record of a file that is larger than scurry.record.max-bytes
    ├── RecordRejectedError (ValueError)     a record that the system behind a sink refuses
    ├── StorageError (OSError)               an object store or HDFS fails a request
    │   ├── StorageConnectionError (ConnectionError)   it cannot be reached, or the connection was lost
    │   └── StorageAccessError (PermissionError)   it refuses the credentials, or they do not allow the request
    ├── SinkCommitError (RuntimeError)       the output of a micro-batch can no longer be committed
    ├── DatabaseError (RuntimeError)         a database fails a request
    │   ├── DatabaseConnectionError (ConnectionError)   it cannot be reached, or the connection was lost
    │   ├── DatabaseAccessError (PermissionError)   it refuses the user, or there is no such database
    │   └── StatementError (ValueError)      wrong SQL, or SQL that does not fit the tables
    ├── SinkConnectionError (ConnectionError)   a sink's server cannot be reached, or refuses a request
    ├── ExtraMissingError (ImportError)      the package of a connector is not installed; names the extra
    ├── SourceConnectionError (ConnectionError)   a source's server cannot be reached, or the connection was lost
    ├── SchemaRegistryError (ConnectionError)   a schema registry cannot be reached, or refuses a request
    ├── StateNotFoundError (KeyError)        there is no state of that name
    └── SavepointError (ValueError)          a savepoint that cannot be taken, or that a job cannot start from
        ├── SavepointNotFoundError (FileNotFoundError)   there is none at the path
        ├── SavepointFormatError             its files are damaged, or of another version
        ├── StateNotRestoredError            it contains state that no operator of the program uses
        ├── SavepointTrustError (PermissionError)   other users could have written it
        └── StateMismatchError               the program cannot use this state
            └── StateMigrationError          because its types have changed; says what to do
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from scurry.user_frames import user_frames

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "CatalogError",
    "CheckpointCorruptedError",
    "CheckpointStorageFullError",
    "ClusterUnreachableError",
    "ConfigError",
    "DatabaseAccessError",
    "DatabaseConnectionError",
    "DatabaseError",
    "DependencyError",
    "ExtraMissingError",
    "InterpreterError",
    "JavaMissingError",
    "JobError",
    "JobNotFoundError",
    "JobUnreachableError",
    "MissingAttributeError",
    "MissingTimestampError",
    "MalformedRecordError",
    "RecordRejectedError",
    "RecordTooLargeError",
    "RequestRefusedError",
    "RowFieldError",
    "PyFlinkImportedError",
    "SavepointError",
    "SavepointFormatError",
    "SavepointNotFoundError",
    "SavepointTrustError",
    "SchemaRegistryError",
    "ScurryError",
    "SinkCommitError",
    "SinkConnectionError",
    "SourceConnectionError",
    "SourceNotFoundError",
    "StorageAccessError",
    "StorageConnectionError",
    "StorageError",
    "StateMigrationError",
    "StatementError",
    "TimeTypeError",
    "TimestampError",
    "StateMismatchError",
    "StateNotFoundError",
    "StateNotRestoredError",
    "TopologyError",
    "TypeMismatchError",
    "UnknownConfigError",
    "UnsupportedConfigError",
    "UnsupportedError",
    "ValidationError",
    "WorkerModuleError",
]


class ScurryError(Exception):
    """Base of all errors raised by scurry itself.

    A public method raises it with only the user's frames in its traceback; the attributes hold what was cut off.

    Attributes:
        permanent: Whether a restart cannot help, so that the restart strategy is not used.
        cause: The error that led to it, None if there is none.
        details: The full text with all tracebacks, after it has left a public method.
    """

    permanent: ClassVar[bool] = False
    cause: BaseException | None = None
    details: str = ""

    def report(self) -> str:
        """Return the message and the line of the user's program that caused it."""
        entries = list(user_frames(self.__traceback__))
        if not entries:
            return str(self)
        return f"{self}\n  at {entries[-1].tb_frame.f_code.co_filename}:{entries[-1].tb_lineno}"

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython and Jupyter show."""
        text = f"{type(self).__name__}: {self.report()}"
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        cells = getattr(getattr(shell, "compile", None), "_filename_map", {})
        for file, number in cells.items():
            text = text.replace(f"{file}:", f"In[{number}]:")
        return text.splitlines()


class ConfigError(ScurryError, ValueError):
    """A configuration value that cannot be used."""

    permanent = True


class UnknownConfigError(ConfigError, KeyError):
    """A configuration key that scurry does not know."""

    # KeyError would show the repr of the message.
    __str__ = Exception.__str__


class UnsupportedConfigError(ConfigError):
    """A configuration key of Flink that Spark does not support."""


class TypeMismatchError(ScurryError, TypeError):
    """A value does not fit the type declared for it.

    Attributes:
        declared: Text of the declared type.
        value: The offending value.
        index: Position of the record in the list given to a block converter, else None.
    """

    def __init__(self, declared: object, value: Any, reason: str = "", index: int | None = None) -> None:
        """Describe a value that is not of the declared type.

        Args:
            declared: The declared type, or its text.
            value: The value that does not fit.
            reason: What is wrong with it, if the type alone does not show it.
            index: Position of the record in its block.
        """
        super().__init__(declared, value, reason, index)
        self.declared = str(declared)
        self.value = value
        self.reason = reason
        self.index = index

    def __str__(self) -> str:
        """Return what was declared, the value, and what to do."""
        text = repr(self.value)
        if len(text) > 200:
            text = text[:200] + "..."
        because = f": {self.reason}" if self.reason else ""
        return (
            f"declared type {self.declared} does not accept {text} (Python type {type(self.value).__name__}){because}; "
            "return a matching value or change the declared type"
        )


class RowFieldError(ScurryError, AttributeError, KeyError, ValueError):
    """A Row has no field of that name.

    PyFlink raises one of three builtins depending on how the field was accessed; this error is all of them.
    """

    __str__ = Exception.__str__


class TimestampError(ScurryError, TypeError, ValueError):
    """A timestamp, a watermark, a timer or an end of a window that is not an int of 64 bits."""


class TimeTypeError(ScurryError, TypeError):
    """A value that is not an amount of time: not an int (milliseconds), timedelta, Time or Duration."""


class ValidationError(ScurryError, ValueError):
    """A statement, a table or an option that Flink refuses (its `ValidationException` or `TableException`)."""

    permanent = True


class CatalogError(ValidationError):
    """A catalog lacks the database, table or function that was named, or has one of that name already."""


class UnsupportedError(ScurryError, NotImplementedError):
    """A part of Flink that scurry does not offer; the message says what to use instead."""

    permanent = True


class JobError(ScurryError, RuntimeError):
    """A job failed, was cancelled, or cannot be reached."""

    def report(self) -> str:
        """Return the message, which already names its location."""
        return str(self)


class JobNotFoundError(ScurryError, LookupError):
    """No running job has that id or name, or several have."""


class JobUnreachableError(ScurryError, ConnectionError):
    """A running job does not answer, or ended before it answered."""


class RequestRefusedError(ScurryError, RuntimeError):
    """A running job refuses a request from outside.

    Attributes:
        status: The HTTP status of its answer.
    """

    def __init__(self, message: str, status: int) -> None:
        """Describe a refusal.

        Args:
            message: The reason.
            status: The HTTP status.
        """
        super().__init__(message)
        self.status = status


class CheckpointCorruptedError(ScurryError, RuntimeError):
    """Files of a checkpoint are damaged or missing, and no earlier micro-batch is left to resume from."""

    permanent = True


class CheckpointStorageFullError(ScurryError, OSError):
    """There is no space left for checkpoints. Nothing is lost: the job resumes if started again with free space."""


class JavaMissingError(ScurryError, RuntimeError):
    """There is no Java on which Spark can run."""

    permanent = True


class ClusterUnreachableError(ScurryError, ConnectionError):
    """The Spark master does not answer at its address."""

    permanent = True


class DependencyError(ScurryError, RuntimeError):
    """Python code or packages that workers need cannot be sent to them."""

    permanent = True


class InterpreterError(DependencyError):
    """Workers cannot use a Python interpreter."""


class WorkerModuleError(DependencyError, ImportError):
    """Workers lack a module that functions of the job are in.

    Attributes:
        module: Its name.
    """

    def __init__(self, message: str, module: str) -> None:
        """Describe a missing module.

        Args:
            message: What needs it, and how to send it.
            module: Its name.
        """
        super().__init__(message, module)
        self.module = module

    def __str__(self) -> str:
        """Return the message."""
        return str(self.args[0])


class PyFlinkImportedError(ScurryError, ImportError):
    """The real PyFlink was imported before scurry could take its name."""

    permanent = True


class SourceNotFoundError(ScurryError, FileNotFoundError):
    """The input of a source does not exist."""


class RecordTooLargeError(ScurryError, ValueError):
    """A record of a file is larger than `scurry.record.max-bytes`."""

    permanent = True


class MalformedRecordError(ScurryError, ValueError):
    """Input that is not a record of the declared format.

    Attributes:
        place: The file, or another name of the text's origin.
        line: Line number in the file, from 1; None if there are no lines.
        record: The malformed input: the text, or the input of the deserializer for a Kafka message.
        text: The beginning of the text.
    """

    def __init__(self, place: str, line: int | None, text: str, reason: str, record: object = None) -> None:
        """Describe input that cannot be read.

        Args:
            place: The file, or another name of the text's origin.
            line: Line number, from 1, or None.
            text: The offending text; shortened here.
            reason: What is wrong and what to do.
            record: The malformed input, if it is not the text.
        """
        super().__init__(place, line, text, reason)
        self.place = place
        self.line = line
        self.record = text if record is None else record
        self.text = text if len(text) <= 200 else text[:200] + "..."
        self.reason = reason

    def __str__(self) -> str:
        """Return where it is, the text, and the reason."""
        where = self.place if self.line is None else f"{self.place}:{self.line}"
        return f"{where}: malformed record {self.text!r}: {self.reason}" if self.text else f"{where}: {self.reason}"


class ArgumentError(ScurryError, ValueError):
    """An argument of an API call has an invalid value; raised while the program is built."""

    permanent = True


class ArgumentTypeError(ScurryError, TypeError):
    """An argument of an API call is of the wrong type, such as a MapFunction instead of a FilterFunction."""

    permanent = True


class MissingAttributeError(ScurryError, AttributeError):
    """An object of the API has no attribute of that name; the message names similar ones."""


class TopologyError(ScurryError, RuntimeError):
    """Operators were combined in a way that no job supports."""

    permanent = True


class MissingTimestampError(ScurryError, ValueError):
    """A record reached an event-time window without a timestamp."""


class RecordRejectedError(ScurryError, ValueError):
    """A record that the system behind a sink refuses.

    Attributes:
        record: The record.
    """

    def __init__(self, message: str, record: Any) -> None:
        """Describe a record that cannot be written.

        Args:
            message: What is wrong with it, in the words of that system.
            record: The record.
        """
        super().__init__(message, record)
        self.record = record

    def __str__(self) -> str:
        """Return the message without the record, which callers shorten and add."""
        return str(self.args[0])


class StorageError(ScurryError, OSError):
    """An object store or another remote file system fails a request."""


class StorageConnectionError(StorageError, ConnectionError):
    """An object store or another remote file system cannot be reached, or the connection was lost."""


class StorageAccessError(StorageError, PermissionError):
    """An object store or another remote file system refuses the credentials, or they do not allow the request."""


class SinkCommitError(ScurryError, RuntimeError):
    """The output of a micro-batch can no longer be committed."""


class DatabaseError(ScurryError, RuntimeError):
    """A database fails a request."""


class DatabaseConnectionError(DatabaseError, ConnectionError):
    """A database cannot be reached, or the connection was lost."""


class DatabaseAccessError(DatabaseError, PermissionError):
    """A database refuses the user or the user's request, or there is no such database."""

    permanent = True


class StatementError(DatabaseError, ValueError):
    """A statement is wrong, or does not fit the tables of the database."""

    permanent = True


class SinkConnectionError(ScurryError, ConnectionError):
    """The server a sink writes to cannot be reached, the connection was lost, or it refuses a request."""


class ExtraMissingError(ScurryError, ImportError):
    """A package that a connector needs is not installed; the message says what to install."""

    permanent = True


class SourceConnectionError(ScurryError, ConnectionError):
    """The server a source reads from cannot be reached, or the connection was lost."""


class SchemaRegistryError(ScurryError, ConnectionError):
    """A schema registry cannot be reached, the connection was lost, or it refuses a request."""


class SavepointError(ScurryError, ValueError):
    """A savepoint cannot be taken, or a job cannot start from it."""

    permanent = True


class SavepointNotFoundError(SavepointError, FileNotFoundError):
    """There is no savepoint at a path."""

    __str__ = Exception.__str__


class SavepointFormatError(SavepointError):
    """The files of a savepoint are damaged, or of another version."""


class StateNotRestoredError(SavepointError):
    """A savepoint contains state that no operator of the program uses."""


class StateMismatchError(SavepointError):
    """A program cannot use the state of a savepoint or checkpoint."""


class StateMigrationError(StateMismatchError):
    """State written by an earlier program does not fit this one (Flink's `StateMigrationException`).

    The message names the operator, the state, both types and what to do. Nothing was changed.
    """


class StateNotFoundError(ScurryError, KeyError):
    """A job or savepoint has no state of that name, or no such operator."""

    __str__ = Exception.__str__


class SavepointTrustError(SavepointError, PermissionError):
    """Other users can write the files of a savepoint, and could so run code in a process that reads it."""

    __str__ = Exception.__str__
