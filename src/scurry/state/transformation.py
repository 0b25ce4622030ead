"""Descriptions of an operator's state to write (Flink's `OperatorTransformation`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.common.configuration import Configuration
from scurry.common.time import TimeAmount
from scurry.common.watermark_strategy import MIN_TIMESTAMP, TimestampAssigner
from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.datastream import DataStream, StreamExecutionEnvironment
from scurry.datastream._functions import DeclaredType, KeySelectorLike, ReduceLike, WindowFunctionLike, require_function
from scurry.datastream.data_stream.keyed import KeyedStream
from scurry.datastream.data_stream.windowed import WindowedStream
from scurry.datastream.functions import AggregateFunction, ProcessWindowFunction, WindowFunction
from scurry.datastream.state import MapStateDescriptor, StateDescriptor
from scurry.datastream.window import Evictor, Trigger, WindowAssigner
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.graph import operators as ops
from scurry.graph.capture import captured
from scurry.graph.nodes import Origin
from scurry.graph.planner import runnable
from scurry.state.bootstrap import StatesFunction, Timestamps
from scurry.state.functions import BroadcastStateBootstrapFunction, KeyedStateBootstrapFunction

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "BroadcastTransformation",
    "KeyedStateTransformation",
    "KeyedTransformation",
    "OneInputStateTransformation",
    "OperatorTransformation",
    "StateBootstrapTransformation",
    "WindowedStateTransformation",
]


@dataclass(frozen=True)
class StateBootstrapTransformation:
    """Records, and the operator that creates state from them, for `SavepointWriter.with_operator`.

    Attributes:
        records: An iterable, or a Spark DataFrame.
        operator: The operator that creates the state.
        kind: The kind of the job's operator; None for that of the removed operator with the same uid.
        origin: File and line in the user's program.
    """

    records: Any
    operator: ops.Operator
    kind: str | None
    origin: Origin = field(default_factory=Origin.of_caller, kw_only=True)

    def __post_init__(self) -> None:
        """Keep the functions as they are now, as streams do.

        Raises:
            UnpicklableFunctionError: One of them cannot be pickled.
        """
        self._capture("operator")

    def _capture(self, *names: str) -> None:
        for name in names:
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, captured(given, f"the function given at {self.origin}").copy())

    @property
    def from_spark(self) -> bool:
        """Return whether the records are a Spark DataFrame."""
        return hasattr(self.records, "isStreaming")


@dataclass(frozen=True)
class KeyedTransformation(StateBootstrapTransformation):
    """Create keyed state: `partitioner` extracts the keys of records, `timestamps` their timestamps."""

    partitioner: ops.Hash
    timestamps: Timestamps | None = None

    def __post_init__(self) -> None:
        """Keep the functions as they are now."""
        self._capture("operator", "partitioner", "timestamps")


@dataclass(frozen=True)
class BroadcastTransformation(StateBootstrapTransformation):
    """Create broadcast state."""


class OperatorTransformation(ApiObject):
    """The entry point to describe the state of an operator."""

    @staticmethod
    def bootstrap_with(records: Iterable[Any] | DataFrame) -> OneInputStateTransformation:
        """Start with records.

        Args:
            records: An iterable, whose state is created in this process; or a batch Spark DataFrame, whose rows become
                Rows and whose state is created on the workers.

        Raises:
            ArgumentTypeError: It is neither.
        """
        return OneInputStateTransformation(_checked(records))

    @staticmethod
    def keyed_state(
        records: Iterable[tuple[Any, Mapping[str, Any]]] | Mapping[Any, Mapping[str, Any]] | DataFrame,
        states: Sequence[StateDescriptor] = (),
        *,
        key: str | Sequence[str] = "key",
    ) -> StateBootstrapTransformation:
        """Describe keyed state by its values, without a function.

        The results of `SavepointReader.keyed_state` are valid records. A value is the content of the state: for list
        state a list, for map state a dict, for aggregating state the accumulator. None and empty lists and dicts
        create no state.

        Args:
            records: An iterable of (key, {state name: value}), or such a dict; or a batch Spark DataFrame with a column
                for the key and one for each state, with the state's name.
            states: The states' descriptors. They are required for states with a time to live, which starts again, and
                convert values to the declared type. If any are given, all states must have one.
            key: The key column of a DataFrame; several columns for keys that are tuples.
        """
        found = _checked(records)
        if hasattr(found, "isStreaming"):
            columns = [key] if isinstance(key, str) else list(key)
            missing = [name for name in columns if name not in found.columns]
            if missing:
                raise ArgumentError(f"the DataFrame has no column {missing[0]!r} for the key: {found.columns}")
            names = tuple(name for name in found.columns if name not in columns)
            selector: Callable[[Any], Any] = itemgetter(key) if isinstance(key, str) else itemgetter(*columns)
            if len(columns) == 1 and not isinstance(key, str):
                selector = _Single(columns[0])
            function = StatesFunction(_Columns(names), states)
        else:
            selector, function = itemgetter(0), StatesFunction(itemgetter(1), states)
            found = found.items() if isinstance(found, Mapping) else found
        return KeyedTransformation(found, ops.KeyedProcess(function), None, ops.Hash(selector))

    @staticmethod
    def broadcast_state(
        states: Mapping[str | MapStateDescriptor, Mapping[Any, Any]],
    ) -> StateBootstrapTransformation:
        """Describe broadcast state by its content.

        Args:
            states: The content of each state, by its descriptor or name.
        """
        return OperatorTransformation.bootstrap_with(states.items()).transform(_PutAll())


class OneInputStateTransformation(ApiObject):
    """Records to create state from (Flink's `OneInputStateTransformation`)."""

    def __init__(self, records: Any, timestamps: Timestamps | None = None) -> None:
        self._records = records
        self._timestamps = timestamps

    def assign_timestamps(self, assigner: TimestampAssigner | Callable[[Any], int]) -> OneInputStateTransformation:
        """Assign timestamps to the records, as event-time windows require.

        Args:
            assigner: A callable from a record to milliseconds, or a TimestampAssigner.
        """
        if isinstance(assigner, TimestampAssigner):
            return OneInputStateTransformation(self._records, _Extract(assigner))
        if not callable(assigner):
            raise ArgumentTypeError(f"expected a callable or TimestampAssigner, got {assigner!r}")
        return OneInputStateTransformation(self._records, assigner)

    def key_by(
        self, key_selector: KeySelectorLike[Any, Any], key_type: DeclaredType[Any] | None = None
    ) -> KeyedStateTransformation:
        """Partition the records by the same keys as the job.

        Args:
            key_selector: A KeySelector or callable.
            key_type: The type of the keys, if the job declares it.
        """
        env = StreamExecutionEnvironment(Configuration())
        stream = env.from_source(_Records(), None, "Records").key_by(key_selector, key_type)
        return KeyedStateTransformation(self._records, self._timestamps, stream)

    def transform(self, function: BroadcastStateBootstrapFunction) -> StateBootstrapTransformation:
        """Create broadcast state; the records are collected in this process."""
        require_function(function, (BroadcastStateBootstrapFunction,), hint="for keyed state call key_by() first")
        _refuse_results(function.process_element)
        return BroadcastTransformation(self._records, ops.BroadcastProcess(function), "BroadcastProcess")


class _Keyed(ApiObject):
    """Base of the transformations of keyed records by a stream's operator."""

    def __init__(self, records: Any, timestamps: Timestamps | None, keyed: KeyedStream) -> None:
        self._records = records
        self._timestamps = timestamps
        self._keyed = keyed

    def _made_by(self, operator: ops.Operator) -> StateBootstrapTransformation:
        operator = runnable(operator)
        partitioner = self._keyed._node.partitioner  # type: ignore[attr-defined]
        return KeyedTransformation(self._records, operator, operator.kind, partitioner, self._timestamps)

    def _made_in(self, stream: DataStream) -> StateBootstrapTransformation:
        return self._made_by(stream._node.operator)  # type: ignore[attr-defined]


class KeyedStateTransformation(_Keyed):
    """Records with keys (Flink's `KeyedStateTransformation`)."""

    def transform(self, function: KeyedStateBootstrapFunction) -> StateBootstrapTransformation:
        """Create the state of a process function: keyed state and timers."""
        require_function(function, (KeyedStateBootstrapFunction,))
        _refuse_results(function.process_element)
        return self._made_by(ops.KeyedProcess(function))

    def reduce(self, function: ReduceLike[Any]) -> StateBootstrapTransformation:
        """Create the state of a rolling `reduce`, with the job's ReduceFunction or callable."""
        return self._made_in(self._keyed.reduce(function))

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStateTransformation:
        """Assign the records of each key to windows."""
        return WindowedStateTransformation(
            self._records, self._timestamps, self._keyed, self._keyed.window(window_assigner)
        )


class WindowedStateTransformation(_Keyed):
    """Records in windows (Flink's `WindowedStateTransformation`), with the same settings as in the job.

    Windows stay open, because event time does not advance while a savepoint is written. Results that triggers fire are
    dropped.
    """

    def __init__(
        self, records: Any, timestamps: Timestamps | None, keyed: KeyedStream, windowed: WindowedStream
    ) -> None:
        super().__init__(records, timestamps, keyed)
        self._windowed = windowed

    def trigger(self, trigger: Trigger[Any, Any]) -> Self:
        """Set the trigger, as the job does."""
        self._windowed.trigger(trigger)
        return self

    def evictor(self, evictor: Evictor[Any]) -> Self:
        """Set the evictor, as the job does."""
        self._windowed.evictor(evictor)
        return self

    def allowed_lateness(self, time_ms: TimeAmount) -> Self:
        """Set how long windows are kept after their end, as the job does."""
        self._windowed.allowed_lateness(time_ms)
        return self

    def reduce(
        self,
        reduce_function: ReduceLike[Any],
        window_function: WindowFunctionLike[Any, Any, Any, Any] | None = None,
    ) -> StateBootstrapTransformation:
        """Reduce the records of windows with the job's ReduceFunction."""
        return self._made_in(self._windowed.reduce(reduce_function, window_function))

    def aggregate(
        self,
        aggregate_function: AggregateFunction[Any, Any, Any],
        window_function: WindowFunctionLike[Any, Any, Any, Any] | None = None,
    ) -> StateBootstrapTransformation:
        """Aggregate the records of windows with the job's AggregateFunction."""
        return self._made_in(self._windowed.aggregate(aggregate_function, window_function))

    def apply(self, window_function: WindowFunction[Any, Any, Any, Any]) -> StateBootstrapTransformation:
        """Keep the records of windows for the job's WindowFunction."""
        return self._made_in(self._windowed.apply(window_function))

    def process(
        self, process_window_function: ProcessWindowFunction[Any, Any, Any, Any]
    ) -> StateBootstrapTransformation:
        """Keep the records of windows for the job's ProcessWindowFunction."""
        return self._made_in(self._windowed.process(process_window_function))


# ------------------------------------------------------------------ internals


def _checked(records: Any) -> Any:
    if getattr(records, "isStreaming", False):
        raise ArgumentTypeError("state is made of a batch DataFrame, and this one is streaming")
    if hasattr(records, "itertuples"):
        raise ArgumentTypeError("a pandas DataFrame iterates over its columns: pass its itertuples(index=False)")
    if not hasattr(records, "isStreaming") and not isinstance(records, Iterable):
        raise ArgumentTypeError(f"expected an iterable of records or a Spark DataFrame, got {records!r}")
    return records


def _refuse_results(hook: Callable[..., Any]) -> None:
    if inspect.isgeneratorfunction(hook):
        raise ArgumentTypeError(f"{hook.__qualname__} yields, but writing a savepoint has no output: write state only")


class _Records(Source):
    """A placeholder for the source of a job."""

    def channels(self, parallelism: int) -> int:
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        raise NotImplementedError

    def read(self, work: Iterable[Any], sizer: ChunkSizer) -> Iterator[Chunk]:
        raise NotImplementedError


@dataclass(frozen=True)
class _Extract:
    assigner: TimestampAssigner

    def __call__(self, value: Any) -> int:
        return self.assigner.extract_timestamp(value, MIN_TIMESTAMP)


@dataclass(frozen=True)
class _Single:
    name: str

    def __call__(self, row: Any) -> tuple[Any, ...]:
        return (row[self.name],)


@dataclass(frozen=True)
class _Columns:
    names: tuple[str, ...]

    def __call__(self, row: Any) -> dict[str, Any]:
        return {name: row[name] for name in self.names}


class _PutAll(BroadcastStateBootstrapFunction):
    def process_element(self, value: Any, ctx: BroadcastStateBootstrapFunction.Context) -> None:
        """Write a broadcast state."""
        state, content = value
        descriptor = MapStateDescriptor(state) if isinstance(state, str) else state
        ctx.get_broadcast_state(descriptor).put_all(dict(content))
