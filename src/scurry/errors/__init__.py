"""The errors that scurry raises on purpose, by topic; `except ConnectorError` catches those of all connectors.

Most classes also derive from the matching builtin error, so `except TypeError` works:

    ScurryError
    ├── ProgramError                              a program that no job can be made of
    │   ├── ArgumentError (ValueError)                an argument with an invalid value
    │   ├── ArgumentTypeError (TypeError)             an argument of the wrong kind
    │   ├── MissingAttributeError (AttributeError)    no method or attribute of that name; names the closest ones
    │   ├── MalformedPatternError (ValueError)        a pattern of events that Flink refuses
    │   ├── UnsupportedError (NotImplementedError)    a part of Flink that scurry does not have
    │   ├── TopologyError (RuntimeError)              operators combined in a way that no job supports
    │   ├── UnpicklableFunctionError (PicklingError)  a function that cannot be sent to workers
    │   └── PyFlinkImportedError (ImportError)        the real PyFlink was imported before scurry could take its name
    ├── ValidationError (ValueError)              a statement, table or option that Flink refuses
    │   ├── CompiledPlanError                         a compiled plan that is damaged, or refers to what is not there
    │   ├── MissingOptionsError                       required options of a table are not set
    │   └── CatalogError                              a catalog lacks what was named, or has it already
    │       ├── DatabaseNotExistError                         there is no such database
    │       ├── DatabaseAlreadyExistError                     there is a database of that name
    │       ├── DatabaseNotEmptyError                         a database that is dropped is not empty
    │       ├── TableNotExistError                            there is no such table or view
    │       ├── TableAlreadyExistError                        there is a table or view of that name
    │       ├── FunctionNotExistError                         there is no such function
    │       ├── FunctionAlreadyExistError                     there is a function of that name
    │       ├── ModelNotExistError                            there is no such model
    │       ├── ModelAlreadyExistError                        there is a model of that name
    │       ├── PartitionNotExistError                        there is no such partition
    │       ├── PartitionAlreadyExistError                    there is such a partition
    │       ├── PartitionSpecInvalidError                     a partition has not one value per partition column
    │       └── TableNotPartitionedError                      a table has no partitions
    ├── SqlParserError (ValueError)               a text that is no SQL statement; has line and column
    │   └── SqlParserEOFError                         it ends too early
    ├── SignatureError (TypeError)                a function does not take arguments of these types
    ├── EvaluationError (ValueError)              a function or cast has no result for a value
    ├── ModelCallError (RuntimeError)             the server of a model has no answer for a row
    ├── ConfigError (ValueError)                  a configuration value that cannot be used
    │   └── UnknownConfigError (KeyError)             a misspelt key; names the closest known one
    ├── DependencyError (RuntimeError)            Python code or packages cannot be sent to workers
    │   ├── InterpreterError                          a Python that workers cannot use; says what it lacks
    │   └── WorkerModuleError (ImportError)           workers lack a module; names the operator and how to send it
    ├── RecordError                               a record or value that cannot be read, processed or written
    │   ├── TypeMismatchError (TypeError)             a value that does not fit its declared type
    │   ├── RowFieldError (AttributeError, KeyError, ValueError)   a Row has no field of that name
    │   ├── PatternMatchError (RuntimeError)          a pattern of events cannot go on after an event
    │   ├── KeyTypeError (TypeError)                  a key that cannot be encoded
    │   ├── TimeTypeError (TypeError)                 a value that is not an amount of time
    │   ├── TimestampError (TypeError, ValueError)    a timestamp, watermark or timer that is not an int of 64 bits
    │   ├── MissingTimestampError (ValueError)        an event-time window met a record without a timestamp
    │   ├── MalformedRecordError (ValueError)         input that is not a record of the declared format
    │   ├── MissingFieldError (ValueError)            a record without a value that a dataclass needs
    │   ├── RecordTooLargeError (ValueError)          a record that is larger than scurry.record.max-bytes
    │   └── RecordRejectedError (ValueError)          a record that the system behind a sink refuses
    ├── ConnectorError                            a source, a sink, or the system behind it fails
    │   ├── ExtraMissingError (ImportError)           the package of a connector is not installed; names the extra
    │   ├── SourceNotFoundError (FileNotFoundError)   the input of a source does not exist
    │   ├── SourceConnectionError (ConnectionError)   a source's server cannot be reached, or the connection was lost
    │   ├── SinkConnectionError (ConnectionError)     a sink's server cannot be reached, or refuses a request
    │   ├── SinkCommitError (RuntimeError)            the output of a micro-batch can no longer be committed
    │   ├── SchemaRegistryError (ConnectionError)     a schema registry cannot be reached, or refuses a request
    │   ├── StorageError (OSError)                    an object store or HDFS fails a request
    │   │   ├── StorageConnectionError (ConnectionError)    it cannot be reached, or the connection was lost
    │   │   └── StorageAccessError (PermissionError)        it refuses the credentials, or they do not allow the request
    │   └── DatabaseError (RuntimeError)              a database fails a request
    │       ├── DatabaseConnectionError (ConnectionError)   it cannot be reached, or the connection was lost
    │       ├── DatabaseAccessError (PermissionError)       it refuses the user, or there is no such database
    │       ├── LogLostError                                its log has no longer what a job has not read
    │       ├── StatementError (ValueError)                 wrong SQL, or SQL that does not fit the tables
    │       └── RejectedValuesError                         it refuses values
    ├── StateError                                state cannot be accessed or restored
    │   ├── StateNotFoundError (KeyError)             there is no state of that name
    │   ├── KeyedStateError (RuntimeError)            keyed state or a timer where there is no key
    │   ├── ReadOnlyStateError (AttributeError)       broadcast state is written from the side that only reads it
    │   └── SnapshotMismatchError (ValueError)        the snapshot of a test harness does not fit the pipeline
    ├── CheckpointError                           a job cannot use its checkpoint directory
    │   ├── CheckpointCorruptedError (RuntimeError)   no micro-batch is left that the job could resume from
    │   │   └── DamagedRunError                       a file of state is damaged: the job resumes from an earlier one
    │   ├── CheckpointLockedError (RuntimeError)      another job uses it
    │   ├── CheckpointMismatchError (ValueError)      the program cannot resume from it
    │   └── CheckpointStorageFullError (OSError)      its disk is full
    ├── SavepointError (ValueError)               a savepoint cannot be taken, or a job cannot start from it
    │   ├── SavepointNotFoundError (FileNotFoundError)  the path has no savepoint
    │   ├── SavepointFormatError                      its files are damaged, or of another version
    │   ├── SavepointTrustError (PermissionError)     other users could have written it
    │   ├── StateNotRestoredError                     it contains state that no operator of the program uses
    │   └── StateMismatchError                        the program cannot use this state
    │       └── StateMigrationError                         because its types have changed; says what to do
    ├── OperatorError (RuntimeError)              a user function failed; says where and on which record
    ├── ReplayError (RuntimeError)                a micro-batch cannot be run again: it was not captured
    ├── SessionError (RuntimeError)               a session that is asked for does not run, or cannot run a program
    ├── JobError (RuntimeError)                   a job failed or was cancelled
    │   ├── JobCancelledError                         a job was cancelled or stopped before its end
    │   ├── JobNotFoundError (LookupError)            no running job has that id or name
    │   ├── JobUnreachableError (ConnectionError)     a job does not answer, or has ended
    │   └── RequestRefusedError                       a job refuses a request from outside; says why
    ├── GatewayError (RuntimeError)               a SQL gateway refuses a request, or cannot be reached
    └── SparkError                                Spark cannot be started, or fails
        ├── JavaMissingError (RuntimeError)           no Java for Spark
        ├── ClusterUnreachableError (ConnectionError) the Spark master does not answer at its address
        ├── SparkFailedError (RuntimeError)           Spark failed, not a user function
        └── SparkLostError (RuntimeError)             Spark's JVM on the driver has ended
"""

from __future__ import annotations

from scurry.errors.base import ScurryError
from scurry.errors.connectors import (
    ConnectorError,
    DatabaseAccessError,
    DatabaseConnectionError,
    DatabaseError,
    ExtraMissingError,
    LogLostError,
    RejectedValuesError,
    SchemaRegistryError,
    SinkCommitError,
    SinkConnectionError,
    SourceConnectionError,
    SourceNotFoundError,
    StatementError,
    StorageAccessError,
    StorageConnectionError,
    StorageError,
)
from scurry.errors.job import (
    ClusterUnreachableError,
    Failure,
    GatewayError,
    JavaMissingError,
    JobCancelledError,
    JobError,
    JobNotFoundError,
    JobUnreachableError,
    OperatorError,
    ReplayError,
    RequestRefusedError,
    SessionError,
    SparkError,
    SparkFailedError,
    SparkLostError,
)
from scurry.errors.program import (
    ArgumentError,
    ArgumentTypeError,
    ConfigError,
    DependencyError,
    InterpreterError,
    MalformedPatternError,
    MissingAttributeError,
    ProgramError,
    PyFlinkImportedError,
    TopologyError,
    UnknownConfigError,
    UnpicklableFunctionError,
    UnsupportedError,
    WorkerModuleError,
)
from scurry.errors.records import (
    KeyTypeError,
    MalformedRecordError,
    MissingFieldError,
    MissingTimestampError,
    PatternMatchError,
    RecordError,
    RecordRejectedError,
    RecordTooLargeError,
    RowFieldError,
    TimestampError,
    TimeTypeError,
    TypeMismatchError,
)
from scurry.errors.state import (
    CheckpointCorruptedError,
    CheckpointError,
    CheckpointLockedError,
    CheckpointMismatchError,
    CheckpointStorageFullError,
    DamagedRunError,
    KeyedStateError,
    ReadOnlyStateError,
    SavepointError,
    SavepointFormatError,
    SavepointNotFoundError,
    SavepointTrustError,
    SnapshotMismatchError,
    StateError,
    StateMigrationError,
    StateMismatchError,
    StateNotFoundError,
    StateNotRestoredError,
)
from scurry.errors.table import (
    CatalogError,
    CompiledPlanError,
    DatabaseAlreadyExistError,
    DatabaseNotEmptyError,
    DatabaseNotExistError,
    EvaluationError,
    FunctionAlreadyExistError,
    FunctionNotExistError,
    MissingOptionsError,
    ModelAlreadyExistError,
    ModelCallError,
    ModelNotExistError,
    PartitionAlreadyExistError,
    PartitionNotExistError,
    PartitionSpecInvalidError,
    SignatureError,
    SqlParserEOFError,
    SqlParserError,
    TableAlreadyExistError,
    TableNotExistError,
    TableNotPartitionedError,
    ValidationError,
)

__all__ = [
    "GatewayError",
    "ArgumentError",
    "ArgumentTypeError",
    "CatalogError",
    "CompiledPlanError",
    "MissingOptionsError",
    "DatabaseAlreadyExistError",
    "DatabaseNotEmptyError",
    "DatabaseNotExistError",
    "FunctionAlreadyExistError",
    "FunctionNotExistError",
    "ModelAlreadyExistError",
    "ModelCallError",
    "ModelNotExistError",
    "PartitionAlreadyExistError",
    "PartitionNotExistError",
    "PartitionSpecInvalidError",
    "TableAlreadyExistError",
    "TableNotExistError",
    "TableNotPartitionedError",
    "CheckpointCorruptedError",
    "DamagedRunError",
    "CheckpointError",
    "CheckpointLockedError",
    "CheckpointMismatchError",
    "CheckpointStorageFullError",
    "ClusterUnreachableError",
    "ConfigError",
    "ConnectorError",
    "DatabaseAccessError",
    "DatabaseConnectionError",
    "DatabaseError",
    "DependencyError",
    "EvaluationError",
    "ExtraMissingError",
    "Failure",
    "InterpreterError",
    "JavaMissingError",
    "JobCancelledError",
    "JobError",
    "JobNotFoundError",
    "JobUnreachableError",
    "KeyTypeError",
    "KeyedStateError",
    "LogLostError",
    "MalformedPatternError",
    "MalformedRecordError",
    "MissingFieldError",
    "MissingAttributeError",
    "MissingTimestampError",
    "OperatorError",
    "PatternMatchError",
    "ProgramError",
    "PyFlinkImportedError",
    "ReadOnlyStateError",
    "RecordError",
    "RecordRejectedError",
    "RecordTooLargeError",
    "RejectedValuesError",
    "ReplayError",
    "RequestRefusedError",
    "RowFieldError",
    "SavepointError",
    "SavepointFormatError",
    "SavepointNotFoundError",
    "SavepointTrustError",
    "SchemaRegistryError",
    "ScurryError",
    "SessionError",
    "SignatureError",
    "SinkCommitError",
    "SinkConnectionError",
    "SnapshotMismatchError",
    "SourceConnectionError",
    "SourceNotFoundError",
    "SparkError",
    "SparkFailedError",
    "SparkLostError",
    "SqlParserEOFError",
    "SqlParserError",
    "StateError",
    "StateMigrationError",
    "StateMismatchError",
    "StateNotFoundError",
    "StateNotRestoredError",
    "StatementError",
    "StorageAccessError",
    "StorageConnectionError",
    "StorageError",
    "TimeTypeError",
    "TimestampError",
    "TopologyError",
    "TypeMismatchError",
    "UnknownConfigError",
    "UnpicklableFunctionError",
    "UnsupportedError",
    "ValidationError",
    "WorkerModuleError",
]

# Tracebacks and pickles name the errors as programs import them.
for _name in __all__:
    globals()[_name].__module__ = __name__
