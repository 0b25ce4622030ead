"""StatementResult: the result of a statement; QueryRows: the rows of a query, computed on demand."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.types import MAX_LENGTH, BooleanType, DataType, VarCharType

if TYPE_CHECKING:
    from scurry.common.job_client import JobClient

STRING = VarCharType(MAX_LENGTH)
BOOLEAN = BooleanType()


@dataclass
class StatementResult:
    """Result of a statement.

    Attributes:
        schema: Names and types of the columns.
        rows: The kind of change and the values of each row, once; values as `logical_types.values` has them.
        has_content: Whether there is more than `OK`.
        is_query: Whether the rows are those of a query: they are printed in columns whose width follows from the types,
            and in STREAMING with the kinds of changes.
        job: The job that computes or writes the rows, or None.
        is_text: Whether the rows are texts of many lines, which are printed as they are.
        names_job: Whether the rows name the job that was started, so that clients show them and not its identifier.
    """

    schema: ResolvedSchema
    rows: Iterator[tuple[int, tuple[Any, ...]]] = field(default_factory=lambda: iter(()))
    has_content: bool = True
    is_query: bool = False
    job: JobClient | None = None
    is_text: bool = False
    names_job: bool = False


def ok() -> StatementResult:
    """Return the answer of statements that only do something."""
    return StatementResult(ResolvedSchema.physical(["result"], [STRING]), iter([(0, ("OK",))]), has_content=False)


def table_result(columns: Sequence[tuple[str, DataType]], rows: Iterable[tuple[Any, ...]]) -> StatementResult:
    names, types = [name for name, _ in columns], [kind for _, kind in columns]
    return StatementResult(ResolvedSchema.physical(names, types), iter([(0, row) for row in rows]))


def names_result(column: str, names: Iterable[str]) -> StatementResult:
    return table_result([(column, STRING)], [(name,) for name in names])


class QueryRows(Iterator[Any]):
    def __init__(self, rows: Generator[Any, None, None], cancel: Callable[[], Any]) -> None:
        """Wrap the rows.

        Args:
            cancel: Ends them while another thread waits for the next one.
        """
        self._rows = rows
        self._cancel = cancel
        self._reading = threading.Lock()

    def __next__(self) -> Any:
        with self._reading:
            return next(self._rows)

    def close(self) -> None:
        """Forget the other rows, and end their job."""
        if self._reading.locked() or inspect.getgeneratorstate(self._rows) == inspect.GEN_CREATED:
            self._cancel()  # to close a generator that has not begun ends nothing
        with self._reading:
            self._rows.close()
