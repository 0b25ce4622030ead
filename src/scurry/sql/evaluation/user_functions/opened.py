"""OpenFunctions: the user-defined functions that a task has opened."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from scurry.common.config_options import GLOBAL_JOB_PARAMETERS
from scurry.common.pickling import Captured
from scurry.errors import UnpicklableFunctionError
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.context import FunctionContext
from scurry.sql.functions.user.definition import UserFunction

if TYPE_CHECKING:
    from scurry.common._event_loop import EventLoopThread

#: Seconds that user-defined functions get for a piece of their rows.
_PIECE_SECONDS = 0.5
#: Rows of the largest piece.
_MOST_ROWS = 65_536


class Pieces:
    """Cuts rows into pieces that take user-defined functions a fraction of a second, to stop a job between them.

    Args:
        check: Called before each piece; what it raises ends the task. None to leave the rows in one piece.
        least: The number of rows of the first piece, and the least of any but the last.
    """

    def __init__(self, check: Callable[[], None] | None, least: int = 1) -> None:
        self._check = check
        self._rows = self._least = least

    def of(self, rows: int) -> Iterator[tuple[int, int]]:
        """Yield the first row of each piece, and the number of its rows; each is used before the next one is taken."""
        if self._check is None:
            yield 0, rows
            return
        at = 0
        while at < rows:
            self._check()
            count, began = min(self._rows, rows - at), time.monotonic()
            yield at, count
            at += count
            seconds = time.monotonic() - began
            if seconds > _PIECE_SECONDS:
                self._rows = max(self._least, self._rows // 2)
            elif seconds < _PIECE_SECONDS / 4:
                self._rows = min(4 * self._rows, _MOST_ROWS)


class OpenFunctions:
    """The user-defined functions that a task has opened: each at its first use, all closed with the task.

    A task has copies of the objects that the program registered, as in Flink: what they keep in attributes is theirs.

    Args:
        context: Context for opening the functions.
        check: Called between rows or pieces of them; what it raises ends the task. None if nothing can end it.
    """

    def __init__(self, context: FunctionContext | None = None, check: Callable[[], None] | None = None) -> None:
        self._context = context or FunctionContext()
        self.check = check
        self._opened: dict[UserFunction, Any] = {}
        self._loop: EventLoopThread | None = None

    def opened(self, function: UserFunction) -> Any:
        """Return the object of a function, opened.

        Raises:
            UnpicklableFunctionError: It cannot be copied.
            Exception: Its `open` failed.
        """
        found = self._opened.get(function)
        if found is None:
            found = _copied(function)
            found.open(self._context)
            self._opened[function] = found
        return found

    @property
    def event_loop(self) -> EventLoopThread:
        """The event loop of the asynchronous functions; it runs until they are closed."""
        if self._loop is None:
            from scurry.common._event_loop import EventLoopThread  # loads asyncio

            self._loop = EventLoopThread("async functions of tables")
        return self._loop

    def close(self) -> None:
        opened, self._opened = self._opened, {}
        for function, instance in opened.items():
            try:
                instance.close()
            except Exception as error:
                raise function_error(function, error) from error
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.close()


def job_parameters(session: EvaluationContext) -> dict[str, str]:
    """Return the values of `pipeline.global-job-parameters`: `key:value` pairs, separated by commas."""
    return session.get(GLOBAL_JOB_PARAMETERS) or {}


def _copied(function: UserFunction) -> Any:
    try:
        return (function.captured or Captured(function.function)).copy()
    except Exception as error:
        raise UnpicklableFunctionError(
            f"function {function.name} ({function.origin}) cannot be sent to tasks: {error}; make what cannot be "
            "pickled, such as connections and locks, in open()"
        ) from error
