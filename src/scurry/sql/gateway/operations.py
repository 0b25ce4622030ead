"""Operation: one statement of a client, its state and its rows, page by page."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import field
from enum import Enum
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import GatewayError
from scurry.sql.statements.jobs import StatementJob
from scurry.sql.statements.results import StatementResult

#: Maximum rows that wait for their client, and maximum rows of a page.
PAGE_ROWS = 5000
#: Seconds that a request for rows waits for the first one.
PATIENCE_SECONDS = 0.05

Row = tuple[int, Sequence[Any]]


class OperationStatus(Enum):
    """The state of an operation, with the names of Flink's gateway."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    FINISHED = "FINISHED"
    CANCELED = "CANCELED"
    CLOSED = "CLOSED"
    ERROR = "ERROR"

    @property
    def is_terminal(self) -> bool:
        return self not in (OperationStatus.PENDING, OperationStatus.RUNNING)


@dataclass(frozen=True)
class Page:
    """Some rows of a result.

    Attributes:
        rows: The kind of change and the values of each row.
        next_token: The token of what follows, None after the last row.
    """

    rows: list[Row] = field(default_factory=list)
    next_token: int | None = None


class Operation:
    """A statement that is executed in a thread of its own.

    Attributes:
        changed: Seconds of the monotonic clock at the last request for it.
    """

    def __init__(self, execute: Callable[[], StatementResult], waits: Callable[[], bool]) -> None:
        """Prepare it.

        Args:
            waits: Says whether insertions are waited for.
        """
        self.id = str(uuid.uuid4())
        self.changed = time.monotonic()
        self._execute, self._waits = execute, waits
        self._status = OperationStatus.PENDING
        self._error: BaseException | None = None
        self._result: StatementResult | None = None
        self._rows: list[Row] = []
        self._over = False
        self._news = threading.Condition()
        self._next, self._last = 0, Page()

    # ------------------------------------------------------------------ what clients see

    @property
    def status(self) -> OperationStatus:
        return self._status

    @property
    def is_settled(self) -> bool:
        """Return whether the operation has failed, was closed, or has computed all of its rows."""
        return self._status.is_terminal and (self._over or self._result is None)

    def wait(self, seconds: float | None = None) -> StatementResult | None:
        """Wait until the statement has been executed.

        Args:
            seconds: The longest time; None for no limit.

        Returns:
            Its answer, whose rows come by `fetch`; None if the time is over.

        Raises:
            ScurryError: It has failed, or was cancelled.
        """
        with self._news:
            self._news.wait_for(lambda: self._status.is_terminal, seconds)
            self._raise()
            return self._result if self._status.is_terminal else None

    def fetch(self, token: int, most: int = PAGE_ROWS) -> Page:
        """Return the rows of a token, or those of the token before once more.

        Args:
            token: 0, then what the last page says.

        Raises:
            GatewayError: The token is another one.
            ScurryError: The statement or its job has failed.
        """
        self.changed = time.monotonic()
        with self._news:
            if token == self._next - 1 and token >= 0:
                return self._last
            if token != self._next:
                known = f"{self._next} or {self._next - 1}" if self._next else "0"
                raise GatewayError(f"Expecting token to be {known}, but found {token}.")
            self._news.wait_for(lambda: bool(self._rows) or self._over, PATIENCE_SECONDS)
            if not self._rows:
                self._raise()
            if self._over and not self._rows:
                return Page()
            page, self._rows = self._rows[:most], self._rows[most:]
            self._next += 1
            self._last = Page(page, self._next)
            self._news.notify_all()
            return self._last

    def cancel(self) -> None:
        """Stop it, before it is executed or while insertions are waited for.

        Raises:
            GatewayError: It is over.
        """
        with self._news:
            if self._status.is_terminal:
                raise GatewayError(
                    f"Failed to convert the Operation Status from {self._status.value} to CANCELED for {self.id}."
                )
        self._end(OperationStatus.CANCELED, always=True)

    def close(self) -> None:
        """Stop it and forget its rows; the job of a query is cancelled, that of insertions keeps running."""
        self._end(OperationStatus.CLOSED, always=False)

    # ------------------------------------------------------------------ the thread

    def start(self) -> None:
        """Begin to execute the statement."""
        threading.Thread(target=self._run, name=f"scurry-operation-{self.id[:8]}", daemon=True).start()

    def _run(self) -> None:
        try:
            if not self._become(OperationStatus.RUNNING):
                return
            result = self._execute()
            self._result = result
            if self._status.is_terminal:
                self._cancel_job(always=True)
            elif isinstance(result.job, StatementJob) and not result.is_query and self._waits():
                result.job.wait()
            if self._become(OperationStatus.FINISHED):
                self._take(result)
        except BaseException as error:  # raised by who asks for the result
            with self._news:
                self._error = error
                if not self._status.is_terminal:
                    self._status = OperationStatus.ERROR
        finally:
            with self._news:
                self._over = True
                self._news.notify_all()

    def _take(self, result: StatementResult) -> None:
        """Fetch the rows, never more than a page ahead of the client."""
        try:
            for row in result.rows:
                with self._news:
                    self._rows.append(row)
                    if len(self._rows) == 1 or len(self._rows) >= PAGE_ROWS:
                        self._news.notify_all()
                    self._news.wait_for(lambda: len(self._rows) < PAGE_ROWS or self._is_closed)
                    if self._is_closed:
                        return
        finally:
            close = getattr(result.rows, "close", None)
            if close is not None:
                close()

    @property
    def _is_closed(self) -> bool:
        return self._status in (OperationStatus.CLOSED, OperationStatus.CANCELED)

    def _become(self, status: OperationStatus) -> bool:
        with self._news:
            if self._status.is_terminal:
                return False
            self._status = status
            self._news.notify_all()
            return True

    def _end(self, status: OperationStatus, always: bool) -> None:
        with self._news:
            self._status = status
            self._rows = []
            self._news.notify_all()
        self._cancel_job(always)

    def _cancel_job(self, always: bool) -> None:
        result = self._result
        if result is not None and result.job is not None and (always or result.is_query):
            result.job.cancel()

    def _raise(self) -> None:
        if self._error is not None and not self._is_closed:
            raise self._error
        if self._is_closed:
            raise GatewayError(f"operation {self.id} was {self._status.value.lower()}")
