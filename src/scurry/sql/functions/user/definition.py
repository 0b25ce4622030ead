"""UserFunction: a function that a program registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from scurry._dataclasses import dataclass
from scurry.errors import ValidationError
from scurry.sql.functions.user.process import ProcessSignature
from scurry.sql.types import DataType, RowType


@dataclass(frozen=True, eq=False)
class UserFunction:
    """A function that a program registers. Each is equal to itself only, as its code cannot be compared.

    Attributes:
        kind: `scalar`, `async scalar`, `table`, `aggregate`, `table aggregate` or `process table`.
        name: Its name for messages: that of the Python function or class, unless the program gave another.
        function: The object with the methods of its kind: `eval`, or `create_accumulator`, `accumulate` and so on.
        result_type: The type of its results; a table function has a row of its columns.
        argument_types: What its arguments are converted to; None to take all types as they are.
        accumulator_type: The declared type of an aggregate's accumulators, if there is one.
        func_type: `general`: it takes values; `pandas`: Series of pandas; `arrow`: arrays of pyarrow.
        is_deterministic: Whether equal arguments give equal results.
        origin: File and line of its definition.
        argument_makers: For each argument what makes an instance of a class of it, None to take it as it is; empty if
            all are taken as they are.
        parameters: The names of its arguments, as far as they are known.
        signature: What a process table function declares.
        takes_row: Whether its argument has all columns of a table: Series of pandas are then those of the columns.
        captured: The object as it was when the program registered or first called the function: it pickles as that,
            and tasks run copies of it; None for what no program changes.
    """

    kind: str
    name: str
    function: Any
    result_type: DataType
    argument_types: Sequence[DataType] | None = None
    accumulator_type: DataType | None = None
    func_type: str = "general"
    is_deterministic: bool = True
    origin: str = ""
    argument_makers: Sequence[Any] = ()
    parameters: Sequence[str] = ()
    signature: ProcessSignature | None = None
    takes_row: bool = False
    captured: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "function": self.captured or self.function, "captured": None}

    @property
    def is_vectorized(self) -> bool:
        """Return whether it takes columns instead of values."""
        return self.func_type != "general"

    @property
    def is_scalar(self) -> bool:
        """Return whether it returns a value for each row."""
        return self.kind in ("scalar", "async scalar")

    @property
    def columns(self) -> list[tuple[str, DataType]]:
        """Names and types of the columns of the rows of a table function or table aggregate function."""
        if not isinstance(self.result_type, RowType):
            return [("f0", self.result_type)]
        return [(field.name, field.data_type) for field in self.result_type.fields]

    def refuse_over(self) -> None:
        """Refuse an aggregate function that OVER does not take.

        Raises:
            ValidationError: It takes values instead of columns.
        """
        if not self.is_vectorized:
            raise ValidationError("Over Agg: Unsupported Python UDAF: only those of func_type 'pandas' can have OVER")

    def __str__(self) -> str:
        return self.name


class OpenedFunctions(Protocol):
    """The user-defined functions that a task has opened."""

    @property
    def check(self) -> Callable[[], None] | None:
        """The function to call between rows, which ends a cancelled task; None if tasks cannot be cancelled."""
        ...

    def opened(self, function: UserFunction) -> Any: ...

    @property
    def event_loop(self) -> Any:
        """The event loop of the asynchronous functions."""
