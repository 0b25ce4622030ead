"""SavepointReader: reads state from savepoints."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scurry.common._api import ApiObject
from scurry.datastream._functions import require_function
from scurry.datastream.state import MapStateDescriptor, StateDescriptor
from scurry.errors import StateNotFoundError
from scurry.graph.capture import captured
from scurry.runtime.savepoint.contents import load
from scurry.runtime.savepoint.format import SavepointMetadata
from scurry.runtime.savepoint.naming import StateNames, the_operator
from scurry.runtime.savepoint.reading import Savepoint, open_savepoint
from scurry.runtime.state.layout import Timer
from scurry.state.columns import Columns, keyed_columns, record_columns, timer_columns, window_columns
from scurry.state.decoding import Decoder, FunctionDecoder, StatesDecoder, TimersDecoder, WindowsDecoder
from scurry.state.entries import WindowState
from scurry.state.functions import KeyedStateReaderFunction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SavepointReader"]


class SavepointReader(ApiObject):
    """Read the state in a savepoint (Flink's `SavepointReader`).

    Iterators read the savepoint lazily and hold one state page in memory; keys are in no particular order. State is
    returned as Python values: a value or accumulator as it is, list state as a list, map state as a dict. State with a
    time to live is returned without its times; keyed state that had expired when the savepoint was taken is omitted.

    Attributes:
        path: The savepoint's directory.
        metadata: The content of `metadata.json`: operators, sources, watermark, time of the savepoint.
    """

    def __init__(self, savepoint: Savepoint) -> None:
        self._savepoint = savepoint
        self.path: str = savepoint.path
        self.metadata: SavepointMetadata = savepoint.metadata

    @staticmethod
    def read(path: str, *, allow_untrusted: bool = False) -> SavepointReader:
        """Open a savepoint, and compare all files with its manifest.

        Args:
            path: Its directory: a local path, or an `s3://`, `gs://` or `hdfs://` address.
            allow_untrusted: Read it even if other users could have written its files. Reading state runs code that the
                writer of the files chooses.

        Raises:
            SavepointNotFoundError: There is no savepoint.
            SavepointFormatError: It is damaged, or has another format version. Iterators also raise it, if a file has
                changed since.
            SavepointTrustError: Other users could have written it.
        """
        return SavepointReader(opened(path, allow_untrusted))

    # ---------------------------------------------------------------- iterators

    def keyed_state(self, uid: str, *states: StateDescriptor) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Iterate over the keys of an operator, each with the values of its states by name.

        Args:
            uid: The operator's uid.
            states: Descriptors of states with a time to live, for savepoints without schemas.

        Raises:
            StateNotFoundError: There is no such operator or state.
        """
        return self._decode(uid, StatesDecoder(self._names(uid, states).lifetimes, self.metadata.created_ms))

    def read_keyed_state(self, uid: str, function: KeyedStateReaderFunction) -> Iterator[Any]:
        """Iterate over a function's results for the state and timers of each key (Flink's `readKeyedState`).

        Raises:
            StateNotFoundError: There is no such operator or state.
            OperatorError: The function failed.
        """
        return self._decode(uid, self._function(uid, function))

    def timers(self, uid: str) -> Iterator[Timer]:
        """Iterate over the timers of an operator that have not fired.

        Raises:
            StateNotFoundError: There is no such operator.
        """
        self._names(uid)
        return self._decode(uid, TimersDecoder())

    def window_state(self, uid: str, *states: StateDescriptor) -> Iterator[WindowState]:
        """Iterate over the open windows of an operator, with their contents.

        Args:
            uid: The operator's uid.
            states: Descriptors of per-window states with a time to live, as for `keyed_state`.

        Raises:
            StateNotFoundError: There is no such operator.
        """
        return self._decode(uid, WindowsDecoder(self._names(uid, states).lifetimes, self.metadata.created_ms))

    def broadcast_state(self, uid: str, state: str | MapStateDescriptor) -> dict[Any, Any]:
        """Return the content of a broadcast state (Flink's `readBroadcastState`).

        Args:
            uid: The operator's uid.
            state: The state's name or descriptor.

        Raises:
            StateNotFoundError: There is no such operator or state.
        """
        name = state if isinstance(state, str) else state.name
        found = self.broadcast_states(uid)
        if name not in found:
            known = ", ".join(map(repr, found)) or "none"
            raise StateNotFoundError(f"operator {uid!r} has no broadcast state {name!r}; it has: {known}")
        return found[name]

    def broadcast_states(self, uid: str) -> dict[str, dict[Any, Any]]:
        """Return all non-empty broadcast states of an operator, by name.

        Raises:
            StateNotFoundError: There is no such operator.
        """
        self._names(uid)
        for entry in self._savepoint.entries({uid}, ("broadcast",)):
            if entry.subtask == 0:  # all subtasks have the same
                found: dict[str, dict[Any, Any]] = load(uid, entry.blob)
                return found
        return {}

    # ---------------------------------------------------------------- DataFrames

    def keyed_state_frame(
        self, spark: SparkSession, uid: str, schema: str | Mapping[str, str] | Any = None, *states: StateDescriptor
    ) -> Any:
        """Return the keyed state of an operator as a Spark DataFrame, read in parallel on the workers.

        Args:
            spark: The SparkSession.
            uid: The operator's uid.
            schema: The columns: `key`, and states by their names. Either DDL such as `"key STRING, count BIGINT"`, a
                dict of names and Spark SQL types, a type such as `Types.ROW_NAMED(...)`, or a dataclass whose fields
                have type hints. Other states are omitted; a state that a key does not have is null. Without a schema,
                the columns are `key STRING, states MAP<STRING, STRING>`: state names to values, with everything but
                text as JSON.
            states: Descriptors of states with a time to live, as for `keyed_state`.

        Raises:
            StateNotFoundError: There is no such operator, or no state for a column.
            ArgumentError: The schema is invalid, or has no `key`.
        """
        from scurry.spark.savepoint.state_frames import parse_ddl

        names = self._names(uid, states)
        columns = keyed_columns(schema, uid, parse_ddl)
        for name in columns.names if schema is not None else ():
            if name != "key":
                names.require(name)
        return self._frame(spark, StatesDecoder(names.lifetimes, self.metadata.created_ms), columns)

    def read_keyed_state_frame(
        self, spark: SparkSession, uid: str, function: KeyedStateReaderFunction, schema: str | Mapping[str, str] | Any
    ) -> Any:
        """Return a function's results for the state of each key as a Spark DataFrame.

        Args:
            spark: The SparkSession.
            uid: The operator's uid.
            function: Called on the workers; its results are tuples, Rows, dicts or objects with the columns' fields.
            schema: The columns, as for `keyed_state_frame`.
        """
        from scurry.spark.savepoint.state_frames import parse_ddl

        return self._frame(spark, self._function(uid, function), record_columns(schema, uid, parse_ddl))

    def timers_frame(self, spark: SparkSession, uid: str) -> Any:
        """Return the timers of an operator as a Spark DataFrame.

        Its columns are `key STRING` (text as it is, other keys as JSON), `time BIGINT` in milliseconds, `domain
        STRING` (`EVENT_TIME` or `PROCESSING_TIME`), `window_start` and `window_end BIGINT`, null for timers without a
        time window.
        """
        self._names(uid)
        return self._frame(spark, TimersDecoder(), timer_columns(uid))

    def window_state_frame(self, spark: SparkSession, uid: str, contents: str | Any = "STRING") -> Any:
        """Return the open windows of an operator as a Spark DataFrame.

        Its columns are `key STRING` (text as it is, other keys as JSON), `window_start` and `window_end BIGINT` in
        milliseconds, null for windows other than time windows, and `contents`.

        Args:
            spark: The SparkSession.
            uid: The operator's uid.
            contents: Spark SQL type or declared type of the contents; with STRING they are JSON.
        """
        decoder = WindowsDecoder(self._names(uid).lifetimes, self.metadata.created_ms)
        return self._frame(spark, decoder, window_columns(contents, uid))

    # ---------------------------------------------------------------- internals

    def _names(self, uid: str, states: Sequence[StateDescriptor] = ()) -> StateNames:
        return StateNames(uid, the_operator(self.metadata, uid, self.path), states)

    def _function(self, uid: str, function: KeyedStateReaderFunction) -> FunctionDecoder:
        require_function(function, (KeyedStateReaderFunction,))
        function = captured(function, f"the function that reads operator {uid!r}").copy()
        metadata = self.metadata
        return FunctionDecoder(function, uid, self._names(uid), metadata.created_ms, metadata.max_parallelism)

    def _decode(self, uid: str, decoder: Decoder) -> Iterator[Any]:
        return decoder(self._savepoint.entries({uid}, ("page",)))

    def _frame(self, spark: SparkSession, decoder: Decoder, columns: Columns) -> Any:
        from scurry.spark.savepoint.state_frames import state_frame

        return state_frame(spark, self._savepoint.files_of("page"), decoder, columns)


def opened(path: str, allow_untrusted: bool) -> Savepoint:
    """Open a savepoint; warn if it is from a release whose savepoints cannot be verified."""
    savepoint = open_savepoint(path, allow_untrusted)
    if savepoint.warning is not None:
        warnings.warn(savepoint.warning, stacklevel=3)
    return savepoint
