"""UserFunction: a function that a program registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from scurry.logical_types import DataType, RowType

__all__ = ["OpenedFunctions", "UserFunction"]


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function that a program registers. Each is equal to itself only, as its code cannot be compared.

    Attributes:
        kind: `scalar`, `async scalar`, `table`, `aggregate` or `table aggregate`.
        name: Its name for messages: that of the Python function or class, unless the program gave another.
        function: The object with the methods of its kind: `eval`, or `create_accumulator`, `accumulate` and so on.
        result_type: The type of its results; a table function has a row of its columns.
        argument_types: What its arguments are converted to; None to take all types as they are.
        accumulator_type: The declared type of an aggregate's accumulators, if there is one.
        is_vectorized: Whether it takes columns as Series of pandas instead of values.
        is_deterministic: Whether equal arguments give equal results.
        origin: File and line of its definition.
    """

    kind: str
    name: str
    function: Any
    result_type: DataType
    argument_types: Sequence[DataType] | None = None
    accumulator_type: DataType | None = None
    is_vectorized: bool = False
    is_deterministic: bool = True
    origin: str = ""

    @property
    def is_scalar(self) -> bool:
        """Whether it returns a value for each row."""
        return self.kind in ("scalar", "async scalar")

    @property
    def columns(self) -> list[tuple[str, DataType]]:
        """Names and types of the columns of a table function's rows."""
        assert isinstance(self.result_type, RowType)
        return [(field.name, field.data_type) for field in self.result_type.fields]

    def __str__(self) -> str:
        """Return its name."""
        return self.name


class OpenedFunctions(Protocol):
    """The functions of users that a task has opened."""

    def opened(self, function: UserFunction) -> Any:
        """Return the object of a function, opened."""
        ...
