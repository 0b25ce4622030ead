"""Definitions of functions: names, types and kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from scurry._dataclasses import dataclass
from scurry.errors import SignatureError
from scurry.sql.types import DataType

if TYPE_CHECKING:
    import numpy
    import pyarrow

    from scurry.sql.functions.user.definition import OpenedFunctions

Column: TypeAlias = "pyarrow.Array | pyarrow.Scalar"

__all__ = [
    "Argument",
    "CallSite",
    "Column",
    "Kernel",
    "LazyArgument",
    "LazyKernel",
    "ScalarFunction",
    "EvaluationContext",
    "Signature",
    "SignatureError",
]


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Setting(Protocol[T_co]):
    """A setting with a type and a default."""

    def of(self, settings: Mapping[str, str]) -> T_co:
        """Return the value in some settings; the default if they do not set it."""


@dataclass(frozen=True)
class EvaluationContext:
    """Context of a function call: the session's time zone, time and settings.

    Attributes:
        time_zone: `table.local-time-zone`: a name of the tz database, or an offset as `GMT+02:00`.
        is_streaming: Whether the statement runs in STREAMING.
        is_of_tables: Whether the calls are made with the Table API, where some have other result types than in SQL.
        query_start: Milliseconds since the epoch at which a BATCH query starts, for CURRENT_TIMESTAMP; None is now.
        current_catalog: Name of the catalog in use.
        current_database: Name of the database in use.
        options: Further options of the configuration.
        functions: The user-defined functions that the task has opened; None outside a task.
        is_explained: Whether plans are made for EXPLAIN, in Flink's shapes, and not executed.
        watermark: Returns the operator's watermark, None before the first one; None itself where there is no watermark.
    """

    time_zone: str = "UTC"
    is_streaming: bool = False
    is_of_tables: bool = False
    query_start: int | None = None
    current_catalog: str = "default_catalog"
    current_database: str = "default_database"
    options: tuple[tuple[str, str], ...] = ()
    functions: OpenedFunctions | None = field(default=None, compare=False)
    watermark: Callable[[], int | None] | None = field(default=None, compare=False)
    is_explained: bool = False

    def get(self, setting: Setting[T]) -> T:
        """Return the value of a setting of the configuration."""
        return setting.of(dict(self.options))


#: The former name, which pickles of earlier releases contain.
Session = EvaluationContext


@dataclass(frozen=True)
class Argument:
    """An argument as far as it is known before there are values.

    Attributes:
        is_literal: Whether it is written in the statement.
        function: The name of the function whose result it is, if it is a call.
        is_constant_null: Whether it is NULL in every row.
    """

    type: DataType
    is_literal: bool = False
    value: Any = None
    function: str | None = None
    is_constant_null: bool = False


@dataclass(frozen=True)
class CallSite:
    """A place where a function is called.

    Attributes:
        target: The type after AS or RETURNING, for functions that have one.
    """

    name: str
    arguments: tuple[Argument, ...]
    session: EvaluationContext = field(default_factory=EvaluationContext)
    target: DataType | None = None

    @property
    def types(self) -> list[DataType]:
        return [argument.type for argument in self.arguments]

    @property
    def any_nullable(self) -> bool:
        """Return whether an argument may be null."""
        return any(argument.type.is_nullable for argument in self.arguments)


@dataclass(frozen=True)
class Signature:
    """The types with which a function is called.

    Attributes:
        argument_types: What the arguments are converted to before the call.
    """

    argument_types: Sequence[DataType]
    result_type: DataType


class Kernel(Protocol):
    """Computes a column from columns."""

    def __call__(self, columns: Sequence[Column], rows: int) -> Column:
        """Return the column of results.

        Args:
            columns: The arguments: arrays of `rows` values, or a scalar that stands for all rows.

        Returns:
            An array, or a scalar if the result is the same for all rows.
        """


class LazyArgument(Protocol):
    """An argument that is computed only where it is needed."""

    def __call__(self, selection: numpy.ndarray[Any, Any] | None = None) -> Column:
        """Return the argument's column.

        Args:
            selection: A mask of the rows for which to compute it; None for all.

        Returns:
            An array of as many values as rows were selected, or a scalar.
        """


class LazyKernel(Protocol):
    """Computes a column from arguments of which not all are needed for all rows, as those of CASE."""

    def __call__(self, arguments: Sequence[LazyArgument], rows: int) -> Column:
        """Return the column of results."""


@dataclass(frozen=True)
class ScalarFunction:
    """A function of a row.

    Attributes:
        name: Its name, in upper case; operators are named as they are written.
        infer: Returns the types it is called with, or raises SignatureError.
        bind: Returns its kernel for a call; the site has the types that `infer` asked for. Called once per task.
        bind_lazily: The same for a function that does not need all arguments for all rows.
        aliases: Other names.
        is_deterministic: Whether equal arguments give equal results. A call with literals only is then computed once.
        nested: The functions that stand for others, by name, where they are called directly as its arguments.
    """

    name: str
    infer: Callable[[CallSite], Signature]
    bind: Callable[[CallSite, DataType], Kernel] | None = None
    bind_lazily: Callable[[CallSite, DataType], LazyKernel] | None = None
    aliases: tuple[str, ...] = ()
    is_deterministic: bool = True
    nested: Mapping[str, str] = field(default_factory=dict)
