"""TableResult: the answer of a statement."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain, islice
from types import TracebackType
from typing import TYPE_CHECKING

from scurry.common._api import ApiObject
from scurry.common._config.tables import DISPLAY_MAX_COLUMN_WIDTH
from scurry.common.job_client import JobClient
from scurry.common.types import Row, RowKind
from scurry.errors import EvaluationError
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.values.collected import python_value
from scurry.table.result_kind import ResultKind
from scurry.table.table_schema import TableSchema

if TYPE_CHECKING:
    from scurry.sql.statements.results import StatementResult
    from scurry.sql.statements.session import TableSession

__all__ = ["CloseableIterator", "TableResult"]

#: Rows up to which `print` writes the result of a BATCH query at once.
_WHOLE = 1000


class TableResult(ApiObject):
    """The answer of a statement; `collect()` and `print()` take its rows.

    Those of a query can be taken once, those of other statements, such as SHOW, any number of times.
    """

    def __init__(self, session: TableSession, result: StatementResult) -> None:
        """Wrap an answer; programs get it from `execute_sql` and `execute`."""
        self._session = session
        self._result = result
        self._kept: list[tuple[int, tuple[object, ...]]] | None = None

    def __repr__(self) -> str:
        """Return the text shown in notebooks: the columns, and the job of a query."""
        columns = ", ".join(self._result.schema.get_column_names())
        job = self._result.job
        return f"<TableResult of {columns}{'' if job is None else f', job {job.get_job_id()}'}>"

    def get_job_client(self) -> JobClient | None:
        """Return the client of the statement's job, None if it has none."""
        return self._result.job

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait until the rows of an insertion are written; a query's rows are computed as they are taken.

        Args:
            timeout_ms: The longest time to wait, in milliseconds; None for no limit.

        Raises:
            TimeoutError: The time is over.
            ScurryError: The job failed.
        """
        from scurry.sql.statements.jobs import StatementJob

        job = self._result.job
        if isinstance(job, StatementJob) and not self._result.is_query:
            job.wait(timeout_ms)

    def get_table_schema(self) -> TableSchema:
        """Return names and types of the columns."""
        return TableSchema._of(self._result.schema)

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return names and types of the columns."""
        return self._result.schema

    def get_result_kind(self) -> int:
        """Return `ResultKind.SUCCESS` or `ResultKind.SUCCESS_WITH_CONTENT`."""
        return ResultKind.SUCCESS_WITH_CONTENT if self._result.has_content else ResultKind.SUCCESS

    def collect(self) -> CloseableIterator:
        """Return an iterator over the rows, which is a context manager, too."""
        return CloseableIterator(self._rows(), self._result.schema)

    def print(self) -> None:
        """Print the rows, in Flink's layout."""
        from scurry.sql.statements.display.tableau import data_lines, query_lines

        result, rows, zone = self._result, self._rows(), self._session.time_zone
        if not result.has_content:
            lines = iter([str(values[0]) for _, values in rows])
        elif result.is_query:
            if not self._session.shows_kinds:
                # At a terminal, a small result comes as a whole, after the summary of its job.
                rows = chain(list(islice(rows, _WHOLE)), rows)
            lines = query_lines(result.schema, rows, self._session.shows_kinds, zone, self._widest())
        elif result.job is not None or result.is_text:
            lines = iter([" ".join(map(str, values)) for _, values in rows])
        else:
            lines = data_lines(result.schema, rows, zone)
        for line in lines:
            sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def _rows(self) -> Iterator[tuple[int, tuple[object, ...]]]:
        if self._result.is_query or self._result.job is not None:
            return self._result.rows
        if self._kept is None:
            self._kept = list(self._result.rows)
        return iter(self._kept)

    def _widest(self) -> int:
        return self._session.get(DISPLAY_MAX_COLUMN_WIDTH)


class CloseableIterator(ApiObject):
    """The rows of a result."""

    def __init__(self, rows: Iterator[tuple[int, tuple[object, ...]]], schema: ResolvedSchema) -> None:
        """Create an iterator over rows of a schema."""
        self._rows = rows
        self._schema = schema
        self._converters = [python_value(kind) for kind in schema.get_column_data_types()]

    def __iter__(self) -> CloseableIterator:
        """Return itself."""
        return self

    def __next__(self) -> Row:
        """Return the next row.

        Raises:
            EvaluationError: Python has no date or time of a value.
        """
        kind, values = next(self._rows)
        try:
            row = Row(*[convert(value) for convert, value in zip(self._converters, values, strict=True)])
        except (OverflowError, ValueError) as error:
            raise self._unrepresentable(values) or error from None
        if kind:
            row.set_row_kind(RowKind(kind))
        return row

    def _unrepresentable(self, values: tuple[object, ...]) -> EvaluationError | None:
        """Return an error that names the first column whose value is beyond Python's dates."""
        from scurry.sql.statements.display.values import shown_value

        for column, convert, value in zip(self._schema.get_columns(), self._converters, values, strict=True):
            try:
                convert(value)
            except (OverflowError, ValueError):
                kind, shown = column.data_type.as_summary_string(), shown_value(column.data_type, "UTC")(value)
                return EvaluationError(
                    f"column '{column.name}' has the {kind} {shown}, but dates of Python are in the years 1 to 9999; "
                    f"select CAST({column.name} AS STRING) to collect it as text"
                )
        return None

    def next(self) -> Row:
        """Return the next row."""
        return self.__next__()

    def close(self) -> None:
        """Stop the job, if it runs, and forget the other rows."""
        close = getattr(self._rows, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> CloseableIterator:
        """Return itself."""
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Close."""
        self.close()
