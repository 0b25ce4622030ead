"""The classes that user-defined functions derive from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

from scurry.common.pickling import of_functions
from scurry.sql.functions.user.context import FunctionContext
from scurry.sql.types import DataType

T = TypeVar("T")
T_contra = TypeVar("T_contra", contravariant=True)
ACC = TypeVar("ACC")


@of_functions
class UserDefinedFunction(ABC):  # noqa: B024 - the classes of its kinds have the abstract methods
    """Base of all user-defined functions."""

    def open(self, function_context: FunctionContext) -> None:  # noqa: B027 - a function need not have it
        """Prepare for calls; called once per task.

        Args:
            function_context: What the function may know of the task.
        """

    def close(self) -> None:  # noqa: B027
        """Release the resources of `open`; called when the task ends."""

    def is_deterministic(self) -> bool:
        """Return whether equal arguments give equal results; override it for functions of randomness or time."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function that makes a value of the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the value.

        Args:
            *args: The arguments of the call.
        """


class AsyncScalarFunction(UserDefinedFunction):
    """A scalar function whose `eval` is a coroutine: those of several rows run at the same time."""

    @abstractmethod
    async def eval(self, *args: Any) -> Any:
        """Return the value.

        Args:
            *args: The arguments of the call.
        """


class TableFunction(UserDefinedFunction):
    """A function that makes rows of the values of a row."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the rows: a list, range or generator of tuples, rows or single values; None for no rows.

        Args:
            *args: The arguments of the call.
        """


class ImperativeAggregateFunction(UserDefinedFunction, Generic[T, ACC]):
    """Base of aggregate and table aggregate functions."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """Return the accumulator of a group without rows."""

    @abstractmethod
    def accumulate(self, accumulator: ACC, *args: Any) -> None:
        """Add a row to an accumulator.

        Args:
            accumulator: The accumulator, which is changed.
            *args: The arguments of the call.
        """

    def retract(self, accumulator: ACC, *args: Any) -> None:
        """Retract a row from an accumulator.

        Args:
            accumulator: The accumulator, which is changed.
            *args: The arguments of the call.
        """
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: ACC, accumulators: Iterable[ACC]) -> None:
        """Add other accumulators to one.

        Args:
            accumulator: The accumulator, which is changed.
            accumulators: The others.
        """
        raise RuntimeError("Method merge is not implemented")

    def get_result_type(self) -> DataType | str:
        """Return the type of the results, unless `udaf` gets one."""
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> DataType | str:
        """Return the type of the accumulators, unless `udaf` gets one."""
        raise RuntimeError("Method get_accumulator_type is not implemented")


class AggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that makes a value of the rows of a group."""

    @abstractmethod
    def get_value(self, accumulator: ACC) -> T:
        """Return the value of a group.

        Args:
            accumulator: The group's accumulator.
        """


class RetractableCollector(Protocol[T_contra]):
    """Takes the rows that `TableAggregateFunction.emit_update_with_retract` emits."""

    def collect(self, record: T_contra) -> None:
        """Add a row to those of the group.

        Args:
            record: The row.
        """

    def retract(self, record: T_contra) -> None:
        """Retract a row of the group.

        Args:
            record: The row, equal to one that was added.
        """


class TableAggregateFunction(ImperativeAggregateFunction[T, ACC]):
    """A function that makes rows of the rows of a group.

    It has `emit_value`, or else `emit_update_with_retract(accumulator, out)`, which emits how the rows of a group have
    changed since its last call for the group; the accumulator keeps what was emitted. With `emit_value` all rows of a
    group are taken back and emitted again when it changes.
    """

    def emit_value(self, accumulator: ACC) -> Iterable[T]:
        """Return the rows of a group.

        Args:
            accumulator: The group's accumulator.
        """
        raise RuntimeError("Method emit_value is not implemented")
