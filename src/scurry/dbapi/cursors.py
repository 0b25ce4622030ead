"""Cursor: executes statements and fetches their rows."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from scurry.common.types import RowKind
from scurry.dbapi.binding import bound, bound_together
from scurry.dbapi.exceptions import (
    Error,
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    WaitTimeoutError,
    raised_for,
)
from scurry.errors import ScurryError
from scurry.sql import types

if TYPE_CHECKING:
    from scurry.dbapi.connections import Connection
    from scurry.dbapi.transports import Change, Execution
    from scurry.sql.client.executor import Description

__all__ = ["Cursor"]

Column = tuple[str, str, None, int | None, int | None, int | None, bool]
_Given = TypeVar("_Given")


class Cursor:
    """Executes statements, one after the other, and fetches the rows of the last one.

    Attributes:
        arraysize: How many rows `fetchmany` returns if it is not told.
        timeout: Seconds that an execution waits for its statement, and a fetch for its rows; None for no limit. It
            begins with that of the connection. A statement that is not over in time is cancelled; a query whose rows
            do not come in time goes on, and the next fetch continues.
        description: Name, type, None, length in characters or bytes, precision, scale and whether there may be NULL,
            for each column; None if the statement yields no rows.
        rowcount: How many rows were fetched, once all were; -1 before, and for statements without rows.
        job_id: The identifier of the statement's job, None if it has none.
    """

    def __init__(self, connection: Connection) -> None:
        """Make a cursor; `Connection.cursor` does."""
        self.connection = connection
        self.arraysize = 1
        self.timeout: float | None = connection.timeout
        self.description: list[Column] | None = None
        self.rowcount = -1
        self.job_id: str | None = None
        self.lastrowid: None = None
        self._execution: Execution | None = None
        self._rows: deque[tuple[Any, ...]] = deque()
        self._fetched = 0
        self._over = True
        self._closed = False

    # ------------------------------------------------------------------ statements

    def execute(self, operation: str, parameters: Sequence[Any] | None = None) -> Self:
        """Execute a statement, and forget the rows of the last one.

        Args:
            operation: The statement, with `?` for each parameter.
            parameters: A value for each `?`.

        Raises:
            ProgrammingError: The statement is wrong, or the parameters do not fit.
            WaitTimeoutError: It was not over in time, and was cancelled.
        """
        text = operation if parameters is None or not len(parameters) else bound(operation, parameters)
        try:
            self._execute(text)
        except ProgrammingError as error:
            if parameters is not None and None in parameters and "Illegal use of 'NULL'" in str(error):
                error.add_note("  hint: a parameter that is None needs a type here, such as CAST(? AS STRING)")
            raise
        return self

    def executemany(self, operation: str, seq_of_parameters: Iterable[Sequence[Any]]) -> Self:
        """Execute a statement for each sequence of parameters; `INSERT ... VALUES` inserts up to 1000 rows at once.

        Args:
            operation: The statement, with `?` for each parameter.
            seq_of_parameters: Sequences with a value for each `?`.

        Raises:
            ProgrammingError: The statement yields rows, is wrong, or the parameters do not fit.
        """
        for text in bound_together(operation, list(seq_of_parameters)):
            self._execute(text)
            if self.description is not None:
                self._forget()
                raise ProgrammingError("executemany is for statements without rows: call execute for a query")
        return self

    def callproc(self, procname: str, parameters: Sequence[Any] = ()) -> NoReturn:
        """Refuse: procedures are called by statements.

        Raises:
            NotSupportedError: Always.
        """
        raise NotSupportedError(f"execute CALL {procname}(...) instead")

    def _execute(self, text: str) -> None:
        self._forget()
        transport, deadline = self.connection._open(), _Deadline(self.timeout)
        if self._closed:
            raise InterfaceError("the cursor is closed")
        self._execution = execution = self._asked(lambda: transport.begin(text))
        try:
            while (found := self._asked(execution.described)) is None:
                if deadline.is_over:
                    raise WaitTimeoutError(f"the statement has not been executed within {self.timeout:g} s: cancelled")
        except BaseException:
            with suppress(ScurryError):
                execution.cancel()
            self._forget()
            raise
        self._describe(found)

    def _describe(self, found: Description) -> None:
        self.job_id = found.job_id
        writes = found.job_id is not None and not found.is_query
        self.connection._wrote |= writes
        if writes or not found.has_content:
            self._forget_execution()
            return
        columns = [_column(name, kind) for name, kind in found.columns]
        if found.is_query and self.connection.changelog:
            columns.insert(0, ("op", "STRING", None, None, None, None, False))
        self._with_kinds = found.is_query and self.connection.changelog
        self.description, self._over = columns, False

    # ------------------------------------------------------------------ rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next row, None after the last one.

        Raises:
            WaitTimeoutError: None has come in time; the query goes on.
        """
        self._wait_for_rows(1, self._waits())
        return self._next() if self._rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """Return the next rows: as many as asked for, those that have come in time, or those before the end.

        Args:
            size: How many; `arraysize` by default.

        Raises:
            WaitTimeoutError: None has come in time; the query goes on.
        """
        wanted = self.arraysize if size is None else size
        self._wait_for_rows(wanted, self._waits(), enough=1)
        return [self._next() for _ in range(min(wanted, len(self._rows)))]

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows that are left.

        Raises:
            WaitTimeoutError: The end has not come in time; the query goes on, and no row is lost.
        """
        self._wait_for_rows(None, self._waits())
        return [self._next() for _ in range(len(self._rows))]

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> tuple[Any, ...]:
        """Return the next row."""
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def _next(self) -> tuple[Any, ...]:
        self._fetched += 1
        row = self._rows.popleft()
        if self._over and not self._rows:
            self.rowcount = self._fetched
        return row

    def _waits(self) -> _Deadline:
        if self._closed:
            raise InterfaceError("the cursor is closed")
        if self.description is None:
            raise ProgrammingError("there are no rows: execute a query first")
        return _Deadline(self.timeout)

    def _wait_for_rows(self, wanted: int | None, deadline: _Deadline, enough: int = 0) -> None:
        """Wait for rows.

        Args:
            wanted: How many; None for all that are left.
            deadline: When to give up.
            enough: How many are enough then.
        """
        while not self._over and (wanted is None or len(self._rows) < wanted):
            if deadline.is_over:
                if enough and len(self._rows) >= enough:
                    return
                what = "the query has not ended" if wanted is None else "no row has come"
                raise WaitTimeoutError(f"{what} within {self.timeout:g} s; fetch again, or close the cursor")
            self._take()

    def _take(self) -> None:
        execution = self._execution
        assert execution is not None
        try:
            page = self._asked(execution.page)
            if page is None:
                self._over = True
                self.rowcount = self._fetched + len(self._rows)
                self._forget_execution()
            else:
                self._rows.extend(map(self._row, page))
        except Error:
            self._over = True
            self._forget_execution()
            raise

    def _row(self, change: Change) -> tuple[Any, ...]:
        kind, values = change
        if self._with_kinds:
            return (str(RowKind(kind)), *values)
        if kind != RowKind.INSERT.value:
            raise NotSupportedError(
                f"the query changes rows that it has yielded (a {RowKind(kind)} has come): connect with "
                "changelog=True, which shows the kind of each row in a column `op`, or with runtime_mode='batch' for "
                "the final rows"
            )
        return values

    # ------------------------------------------------------------------ the end

    def close(self) -> None:
        """Cancel the job of the query, if it runs, and refuse further statements."""
        self._forget()
        self._closed = True

    def _forget(self) -> None:
        self._rows.clear()
        self.description, self.rowcount, self.job_id = None, -1, None
        self._fetched, self._over, self._with_kinds = 0, True, False
        self._forget_execution()

    def _forget_execution(self) -> None:
        execution, self._execution = self._execution, None
        if execution is not None:
            with suppress(ScurryError):
                execution.close()

    def _asked(self, ask: Callable[[], _Given]) -> _Given:
        try:
            return ask()
        except ScurryError as error:
            raise raised_for(error) from error
        except Exception as error:
            raise raised_for(error) from error

    def setinputsizes(self, sizes: Any) -> None:
        """Do nothing: parameters are literals."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing: values have no limit."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        """Close."""
        self.close()


class _Deadline:
    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end


_INTERVALS = {
    types.YearMonthIntervalType: "INTERVAL YEAR TO MONTH",
    types.DayTimeIntervalType: "INTERVAL DAY TO SECOND(3)",
}


def _column(name: str, kind: types.DataType) -> Column:
    text = _INTERVALS.get(type(kind)) or kind.nullable().as_summary_string()
    length, precision, scale = (getattr(kind, each, None) for each in ("length", "precision", "scale"))
    return name, text, None, length, precision, scale, kind.is_nullable
