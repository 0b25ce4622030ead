"""Functions that join two streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic

from scurry.common._type_variables import IN1, IN2, OUT
from scurry.datastream.functions.base import Function

if TYPE_CHECKING:
    from scurry.datastream.functions.base import Results

__all__ = ["CoGroupFunction", "FlatJoinFunction", "JoinFunction", "ProcessJoinFunction"]


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
