"""Methods that run a DataFrame and return its rows."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from scurry.common.types import Row
from scurry.dataframe._frame.base import FrameBase
from scurry.dataframe._frame.batches import batch_of, empty_batch, require_batches
from scurry.dataframe.iteration import CloseableIterator
from scurry.dataframe.validation import require_choice, require_integer, require_number, require_text
from scurry.errors import ArgumentError, ArgumentTypeError

T = TypeVar("T")
_FORMATS = ("pandas", "pyarrow")
_KIND = "__row_kind__"


class _Rows(Generic[T]):
    """The rows of a running job, or batches of them."""

    def __init__(self, found: Any, elements: Iterator[T]) -> None:
        self._found = found
        self._elements: Iterator[T] = elements
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        if self._closed:
            raise StopIteration
        try:
            return next(self._elements)
        except BaseException:  # also at the end, and when the user interrupts
            self.close()
            raise

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._found.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.close()


class ResultMethods(FrameBase, check_arguments=False):
    """Methods that run a DataFrame and return its rows."""

    def collect(self) -> list[Row]:
        """Run it; return all rows.

        In STREAMING these are all changes, with their kinds: see `Row.get_row_kind`. `to_pandas` returns the rows that
        are left when all changes are applied.
        """
        with self._table.execute().collect() as rows:
            return list(rows)

    def to_pandas(self) -> Any:
        """Run it; return the rows as a DataFrame of pandas: those that are left when all changes are applied."""
        return self._table.to_pandas()

    def to_arrow(self) -> Any:
        """Run it; return the rows as a `pyarrow.Table`, as `to_pandas` does. scurry's own."""
        return self._table.to_arrow()

    def to_polars(self) -> Any:
        """Run it; return the rows as a DataFrame of Polars, which has to be installed. scurry's own."""
        return self._table.to_polars()

    def iter_rows(
        self, *, include_row_kind: bool = False, row_kind_field: str = _KIND
    ) -> CloseableIterator[dict[str, Any]]:
        """Start the job now; return an iterator over its rows as dicts, as they come.

        Args:
            include_row_kind: Whether each has the kind of its change: `+I`, `-U`, `+U` or `-D`.
            row_kind_field: The key of the kind.

        Raises:
            TypeError: An argument is something else.
            ValueError: There is a column of that name.
        """
        names = self._checked_names(include_row_kind, row_kind_field)
        found = self._started()
        kind = row_kind_field if include_row_kind else None
        return _Rows(found, (_as_dict(names, row, kind) for row in found))

    def iter_batches(
        self,
        *,
        batch_size: int = 1000,
        batch_format: str = "pandas",
        include_row_kind: bool = False,
        row_kind_field: str = _KIND,
    ) -> CloseableIterator[Any]:
        """Start the job now; return an iterator over its rows in batches, each as soon as it is full.

        Args:
            batch_size: The rows of each batch but the last one.
            batch_format: `pandas` for DataFrames, `pyarrow` for tables of Arrow.
            include_row_kind: Whether there is a last column of the kinds of the changes: `+I`, `-U`, `+U` or `-D`.
            row_kind_field: The name of that column.

        Raises:
            TypeError: An argument is something else.
            ValueError: There is a column of that name, or a column has no type in Arrow.
        """
        require_integer("batch_size", batch_size, 1)
        require_choice("batch_format", batch_format, _FORMATS)
        self._checked_names(include_row_kind, row_kind_field)
        schema = require_batches(self._table)
        found = self._started()
        kind = row_kind_field if include_row_kind else None
        return _Rows(found, _batches(found, batch_size, lambda rows: batch_of(rows, schema, kind, batch_format)))

    def take(
        self, n: int, *, timeout: float | None = None, include_row_kind: bool = False, row_kind_field: str = _KIND
    ) -> list[dict[str, Any]]:
        """Return the first rows as dicts, and cancel the job.

        Args:
            n: How many, at least 0.
            timeout: The seconds to wait for them, after the job has been started; fewer rows are returned then. None
                for no limit.
            include_row_kind: Whether each has the kind of its change: `+I`, `-U`, `+U` or `-D`.
            row_kind_field: The key of the kind.

        Raises:
            TypeError: An argument is something else.
            ValueError: A number is negative, or there is a column of that name.
        """
        names = self._checked_take(n, timeout, include_row_kind, row_kind_field)
        kind = row_kind_field if include_row_kind else None
        return [_as_dict(names, row, kind) for row in self._first(n, timeout)]

    def take_batch(
        self,
        n: int,
        *,
        timeout: float | None = None,
        batch_format: str = "pandas",
        include_row_kind: bool = False,
        row_kind_field: str = _KIND,
    ) -> Any:
        """Return the first rows as one batch, and cancel the job.

        Args:
            n: How many, at least 0.
            timeout: The seconds to wait for them, after the job has been started; fewer rows are returned then. None
                for no limit.
            batch_format: `pandas` for a DataFrame, `pyarrow` for a table of Arrow.
            include_row_kind: Whether there is a last column of the kinds of the changes: `+I`, `-U`, `+U` or `-D`.
            row_kind_field: The name of that column.

        Raises:
            TypeError: An argument is something else.
            ValueError: A number is negative, or there is a column of that name.
        """
        require_choice("batch_format", batch_format, _FORMATS)
        self._checked_take(n, timeout, include_row_kind, row_kind_field)
        schema = require_batches(self._table)
        kind = row_kind_field if include_row_kind else None
        rows = self._first(n, timeout)
        return batch_of(rows, schema, kind, batch_format) if rows else empty_batch(schema, kind, batch_format)

    def _started(self) -> Any:
        result = self._table.execute()
        job = result.get_job_client()
        if job is not None and hasattr(job, "begin"):
            job.begin()
        return result.collect()

    def _first(self, count: int, timeout: float | None) -> list[Row]:
        """Return the first rows, those that come in time."""
        if count == 0:
            return []
        found: list[Row] = []
        rows = self._started()
        timer = None if timeout is None else threading.Timer(timeout, rows.close)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            for row in rows:
                found.append(row)
                if len(found) == count:
                    break
        finally:
            if timer is not None:
                timer.cancel()
            rows.close()
        return found

    def _checked_names(self, include_row_kind: Any, row_kind_field: Any) -> list[str]:
        if not isinstance(include_row_kind, bool):
            raise ArgumentTypeError("include_row_kind must be a boolean")
        names = self._names
        if include_row_kind and require_text("row_kind_field", row_kind_field) in names:
            raise ArgumentError(
                f"row_kind_field '{row_kind_field}' conflicts with an existing column; pass a different row_kind_field"
            )
        return names

    def _checked_take(self, n: Any, timeout: Any, include_row_kind: Any, row_kind_field: Any) -> list[str]:
        require_integer("n", n, 0)
        if timeout is not None:
            require_number("timeout", timeout, 0)
        return self._checked_names(include_row_kind, row_kind_field)


def _as_dict(names: list[str], row: Row, kind: str | None) -> dict[str, Any]:
    found = dict(zip(names, row, strict=True))
    if kind is not None:
        found[kind] = str(row.get_row_kind())
    return found


def _batches(rows: Iterator[Row], size: int, make: Any) -> Iterator[Any]:
    waiting: list[Row] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == size:
            yield make(waiting)
            waiting = []
    if waiting:
        yield make(waiting)
