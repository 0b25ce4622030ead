"""Reading savepoints."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scurry.common._api import ApiObject
from scurry.datastream._functions import require_function
from scurry.datastream.state import MapStateDescriptor, StateDescriptor
from scurry.errors import StateNotFoundError
from scurry.runtime.savepoint.format import SavepointMetadata
from scurry.runtime.savepoint.reading import Savepoint, open_savepoint
from scurry.runtime.state.timer import Timer
from scurry.state.columns import Columns, keyed_columns, record_columns, timer_columns, window_columns
from scurry.state.decoding import Decoder, FunctionDecoder, StatesDecoder, TimersDecoder, WindowsDecoder
from scurry.state.entries import WindowState, load
from scurry.state.functions import KeyedStateReaderFunction
from scurry.state.naming import StateNames, the_operator

__all__ = ["SavepointReader"]


class SavepointReader(ApiObject):
    """A savepoint to be looked into (Flink's `SavepointReader`).

    Iterators read the savepoint as they go and hold one page of keys in memory; keys come in no particular order.
    What a state holds is shown as Python values: a value or accumulator as it is, lists and maps as list and dict.
    State with a time to live is shown without its times, also where it had expired but was not removed yet.

    Attributes:
        path: Where it lies.
        metadata: What `metadata.json` says: operators, sources, watermark, when it was taken.
    """

    def __init__(self, savepoint: Savepoint) -> None:
        """Look into a savepoint; programs call `read`."""
        self._savepoint = savepoint
        self.path: str = savepoint.path
        self.metadata: SavepointMetadata = savepoint.metadata

    @staticmethod
    def read(path: str, *, allow_untrusted: bool = False) -> SavepointReader:
        """Open a savepoint, all files of which are compared with what was written.

        Args:
            path: Its directory: a local path, or an `s3://`, `gs://` or `hdfs://` address.
            allow_untrusted: Read it although others could have written its files. Reading state runs code that whoever
                wrote it has chosen.

        Raises:
            SavepointNotFoundError: There is no savepoint.
            SavepointFormatError: It is damaged, or of another version. Iterators raise it, too, if a file was changed
                since.
            SavepointTrustError: Others than its user could have written it.
        """
        return SavepointReader(opened(path, allow_untrusted))

    # ---------------------------------------------------------------- iterators

    def keyed_state(self, uid: str, *states: StateDescriptor) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Iterate over the keys of an operator, each with the values of its states by name.

        Args:
            uid: The operator's uid.
            states: Descriptors of states with a time to live, for savepoints that do not tell which states have one.

        Raises:
            StateNotFoundError: There is no such operator or state.
        """
        return self._decode(uid, StatesDecoder(self._names(uid, states).lifetimes, self.metadata.created_ms))

    def read_keyed_state(self, uid: str, function: KeyedStateReaderFunction) -> Iterator[Any]:
        """Iterate over what a function makes of the state and timers of each key (Flink's `readKeyedState`).

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
        """Iterate over the windows in flight of an operator, with what they hold.

        Args:
            uid: The operator's uid.
            states: Descriptors of per-window states with a time to live, as for `keyed_state`.

        Raises:
            StateNotFoundError: There is no such operator.
        """
        return self._decode(uid, WindowsDecoder(self._names(uid, states).lifetimes, self.metadata.created_ms))

    def broadcast_state(self, uid: str, state: str | MapStateDescriptor) -> dict[Any, Any]:
        """Return what a broadcast state holds (Flink's `readBroadcastState`).

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
        """Return all broadcast states of an operator that hold something, by name.

        Raises:
            StateNotFoundError: There is no such operator.
        """
        self._names(uid)
        for entry in self._savepoint.entries({uid}, ("broadcast",)):
            if entry.subtask == 0:  # all subtasks hold the same
                found: dict[str, dict[Any, Any]] = load(uid, entry.blob)
                return found
        return {}

    # ---------------------------------------------------------------- DataFrames

    def keyed_state_frame(
        self, spark: Any, uid: str, schema: str | Mapping[str, str] | Any = None, *states: StateDescriptor
    ) -> Any:
        """Return the keyed state of an operator as a Spark DataFrame, read in parallel on the workers.

        Args:
            spark: The SparkSession.
            uid: The operator's uid.
            schema: The columns: `key`, and states by their names. Either DDL such as `"key STRING, count BIGINT"`, a
                dict of names and Spark SQL types, a type such as `Types.ROW_NAMED(...)`, or a dataclass whose fields
                have type hints. States that are not named are left out, a state that a key has not is null. Left out,
                the columns are `key STRING, states MAP<STRING, STRING>`: state name to value, where everything that
                is no text is written as JSON.
            states: Descriptors of states with a time to live, as for `keyed_state`.

        Raises:
            StateNotFoundError: There is no such operator, or no state for a column.
            ArgumentError: The schema cannot be read, or has no `key`.
        """
        from scurry.spark.savepoint.state_frames import parse_ddl

        names = self._names(uid, states)
        columns = keyed_columns(schema, uid, parse_ddl)
        for name in columns.names if schema is not None else ():
            if name != "key":
                names.require(name)
        return self._frame(spark, StatesDecoder(names.lifetimes, self.metadata.created_ms), columns)

    def read_keyed_state_frame(
        self, spark: Any, uid: str, function: KeyedStateReaderFunction, schema: str | Mapping[str, str] | Any
    ) -> Any:
        """Return what a function makes of the state of each key as a Spark DataFrame.

        Args:
            spark: The SparkSession.
            uid: The operator's uid.
            function: Called on the workers; its results are tuples, Rows, dicts or objects with the columns' fields.
            schema: The columns, as for `keyed_state_frame`.
        """
        from scurry.spark.savepoint.state_frames import parse_ddl

        return self._frame(spark, self._function(uid, function), record_columns(schema, uid, parse_ddl))

    def timers_frame(self, spark: Any, uid: str) -> Any:
        """Return the timers of an operator as a Spark DataFrame.

        Its columns are `key STRING` (text as it is, other keys as JSON), `time BIGINT` in milliseconds, `domain
        STRING` (`EVENT_TIME` or `PROCESSING_TIME`), `window_start` and `window_end BIGINT`, null for timers of no
        window of time.
        """
        self._names(uid)
        return self._frame(spark, TimersDecoder(), timer_columns(uid))

    def window_state_frame(self, spark: Any, uid: str, contents: str | Any = "STRING") -> Any:
        """Return the windows in flight of an operator as a Spark DataFrame.

        Its columns are `key STRING` (text as it is, other keys as JSON), `window_start` and `window_end BIGINT` in
        milliseconds, null for windows that are not of time, and `contents`.

        Args:
            spark: The SparkSession.
            uid: The operator's uid.
            contents: Spark SQL type, or declared type, of the contents; as STRING they are JSON.
        """
        decoder = WindowsDecoder(self._names(uid).lifetimes, self.metadata.created_ms)
        return self._frame(spark, decoder, window_columns(contents, uid))

    # ---------------------------------------------------------------- within

    def _names(self, uid: str, states: Sequence[StateDescriptor] = ()) -> StateNames:
        return StateNames(uid, the_operator(self.metadata, uid, self.path), states)

    def _function(self, uid: str, function: KeyedStateReaderFunction) -> FunctionDecoder:
        require_function(function, (KeyedStateReaderFunction,))
        metadata = self.metadata
        return FunctionDecoder(function, uid, self._names(uid), metadata.created_ms, metadata.max_parallelism)

    def _decode(self, uid: str, decoder: Decoder) -> Iterator[Any]:
        return decoder(self._savepoint.entries({uid}, ("page",)))

    def _frame(self, spark: Any, decoder: Decoder, columns: Columns) -> Any:
        from scurry.spark.savepoint.state_frames import state_frame

        return state_frame(spark, self._savepoint.files_of("page"), decoder, columns)


def opened(path: str, allow_untrusted: bool) -> Savepoint:
    """Open the savepoint a program names; warn if it is of a release whose savepoints cannot be checked."""
    savepoint = open_savepoint(path, allow_untrusted)
    if savepoint.warning is not None:
        warnings.warn(savepoint.warning, stacklevel=3)
    return savepoint
