"""Functions without time or timers, such as map, filter, reduce and join."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic

from scurry.common._type_variables import ACC, IN, IN1, IN2, KEY, OUT, K_co, T
from scurry.common.pickling import of_functions
from scurry.datastream.functions.base import Function
from scurry.errors import UnsupportedError

if TYPE_CHECKING:
    from scurry.datastream.functions.base import Results

__all__ = [
    "AggregateFunction",
    "CoFlatMapFunction",
    "CoGroupFunction",
    "CoMapFunction",
    "FilterFunction",
    "FlatJoinFunction",
    "FlatMapFunction",
    "JoinFunction",
    "KeySelector",
    "MapFunction",
    "NullByteKeySelector",
    "Partitioner",
    "ProcessJoinFunction",
    "ReduceFunction",
    "SinkFunction",
]


class MapFunction(Function, Generic[IN, OUT]):
    """Turn each record into exactly one other."""

    @abstractmethod
    def map(self, value: IN) -> OUT:
        """Return the record that takes the place of `value`."""


class CoMapFunction(Function, Generic[IN1, IN2, OUT]):
    """A map over two connected streams; a result of None is dropped."""

    @abstractmethod
    def map1(self, value: IN1) -> OUT | None:
        """Return the result for a record of the first stream."""

    @abstractmethod
    def map2(self, value: IN2) -> OUT | None:
        """Return the result for a record of the second stream."""


class FlatMapFunction(Function, Generic[IN, OUT]):
    """Turn each record into any number of others."""

    @abstractmethod
    def flat_map(self, value: IN) -> Iterable[OUT] | None:
        """Return or yield the records that take the place of `value`."""


class CoFlatMapFunction(Function, Generic[IN1, IN2, OUT]):
    """A flat map over two connected streams."""

    @abstractmethod
    def flat_map1(self, value: IN1) -> Iterable[OUT] | None:
        """Return or yield the results for a record of the first stream; None means no results."""

    @abstractmethod
    def flat_map2(self, value: IN2) -> Iterable[OUT] | None:
        """Return or yield the results for a record of the second stream; None means no results."""


class ReduceFunction(Function, Generic[T]):
    """Combine two records into one of the same type; must be associative."""

    @abstractmethod
    def reduce(self, value1: T, value2: T) -> T:
        """Return the combination of the value so far and the next one."""


class AggregateFunction(Function, Generic[IN, ACC, OUT]):
    """Fold records into an accumulator, whose type may differ from that of records and results."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """Return a fresh accumulator."""

    @abstractmethod
    def add(self, value: IN, accumulator: ACC) -> ACC:
        """Return the accumulator with `value` in it; it may be changed in place."""

    @abstractmethod
    def get_result(self, accumulator: ACC) -> OUT:
        """Return the result of an accumulator."""

    @abstractmethod
    def merge(self, acc_a: ACC, acc_b: ACC) -> ACC:
        """Return both accumulators as one; needed where windows merge (sessions)."""


class KeySelector(Function, Generic[IN, K_co]):
    """Find the key of a record."""

    @abstractmethod
    def get_key(self, value: IN) -> K_co:
        """Return the key; equal records must have equal keys."""


class NullByteKeySelector(KeySelector[IN, int]):
    """Give all records the same key, 0, so that one subtask processes them."""

    def get_key(self, value: IN) -> int:
        """Return 0."""
        return 0


class FilterFunction(Function, Generic[IN]):
    """Decide which records stay."""

    @abstractmethod
    def filter(self, value: IN) -> bool:
        """Return whether `value` stays."""


class Partitioner(Function, Generic[KEY]):
    """Send records to subtasks, for `DataStream.partition_custom`."""

    @abstractmethod
    def partition(self, key: KEY, num_partitions: int) -> int:
        """Return the index of the receiving subtask, 0 to `num_partitions` - 1."""


class SourceFunction:
    """A source written in Java, which scurry does not run."""

    def __init__(self, source_func: Any) -> None:
        """Raise an error that names the replacement.

        Raises:
            UnsupportedError: Always.
        """
        raise UnsupportedError(
            "a SourceFunction is written in Java, which scurry does not run: use env.from_source with a source from "
            "datastream.connectors or one of your own (docs/connectors/user-defined.md), or env.from_spark"
        )


@of_functions
class SinkFunction(ABC, Generic[IN]):
    """Write records to an external system, for `DataStream.add_sink`, at least once.

    After a failure, records since the last checkpoint are written again. In PyFlink this class wraps a Java function;
    here programs override its methods.
    """

    def open(self) -> None:  # noqa: B027 - overriding is optional
        """Prepare for the records of a micro-batch; called in the task before the first."""

    @abstractmethod
    def invoke(self, value: IN, context: Any) -> None:
        """Write one record; the parameter `context` may be left out.

        Args:
            value: The record.
            context: Provides the record's `timestamp()` (ms, or None) and `current_processing_time()` (ms).
        """

    def close(self) -> None:  # noqa: B027 - overriding is optional
        """Release the resources of `open`; called after the last record of the micro-batch."""


class CallableReduce(ReduceFunction[T]):
    """A plain callable as a ReduceFunction."""

    def __init__(self, function: Callable[[T, T], T]) -> None:
        """Wrap `function(value1, value2)`."""
        # An instance attribute of the same name is found first: no extra call per record.
        self.__dict__["reduce"] = function

    def reduce(self, value1: T, value2: T) -> T:
        """Apply the callable."""
        return self.__dict__["reduce"](value1, value2)  # type: ignore[no-any-return]


class JoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Turn each pair of records that join into exactly one result."""

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> OUT:
        """Return the result for a record of the first stream and one of the second."""


class FlatJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Turn each pair of records that join into any number of results."""

    @abstractmethod
    def join(self, first: IN1, second: IN2) -> Iterable[OUT] | None:
        """Return or yield the results for a record of the first stream and one of the second; None means none."""


class CoGroupFunction(Function, Generic[IN1, IN2, OUT]):
    """Evaluate all records of both streams that have the same key and window."""

    @abstractmethod
    def co_group(self, first: Iterable[IN1], second: Iterable[IN2]) -> Iterable[OUT] | None:
        """Return or yield the results; None means no results.

        Args:
            first: The records of the first stream, in the order they came; empty if only the second has any.
            second: The records of the second stream; empty if only the first has any.
        """


class ProcessJoinFunction(Function, Generic[IN1, IN2, OUT]):
    """Process each pair of records that an interval join finds.

    Yield `(output_tag, value)` to emit to a side output.
    """

    class Context(ABC):
        """The timestamps of a pair."""

        @abstractmethod
        def get_left_timestamp(self) -> int:
            """Return the timestamp (ms) of the left record."""

        @abstractmethod
        def get_right_timestamp(self) -> int:
            """Return the timestamp (ms) of the right record."""

        @abstractmethod
        def get_timestamp(self) -> int:
            """Return the timestamp (ms) of the results: the later one of the pair."""

    @abstractmethod
    def process_element(self, left: IN1, right: IN2, ctx: ProcessJoinFunction.Context) -> Results[OUT]:
        """Return or yield the results for a left and a right record; None means no results."""
