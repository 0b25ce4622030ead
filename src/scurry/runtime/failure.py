"""Failures of user code, reported from the user's side: their function, line and record first."""

from __future__ import annotations

import bdb
import linecache
import traceback
from collections.abc import Iterator
from operator import length_hint
from typing import TYPE_CHECKING, Any

from scurry.errors import Failure, OperatorError, RecordRejectedError, ScurryError
from scurry.errors.base import HINT
from scurry.errors.user_frames import only_user_frames
from scurry.runtime.advice import advice, has_terminal, not_iterable, wrong_parameters

if TYPE_CHECKING:
    from scurry.graph.plan import OperatorPlan, SourcePlan

_SHOWN = 300
#: passed as the record if no record is to blame; None is a record
NO_RECORD: Any = object()


#: Errors that only a change of the program mends.
_PROGRAM_ERRORS = (NameError, ImportError, SyntaxError)


def shorten(value: Any) -> str:
    """Return the repr of a record, cut to a readable length."""
    try:
        text = repr(value)
    except Exception as error:  # a broken __repr__ must not hide the failure itself
        text = f"<{type(value).__name__} whose repr fails: {error}>"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + f"... ({len(text)} characters)"


def last_taken(values: list[Any], source: Iterator[Any]) -> Any:
    """Return the record that an iterator over `values` returned last: the current one when something failed."""
    return values[len(values) - length_hint(source) - 1]


def is_permanent(error: BaseException) -> bool:
    """Return whether restarting the job cannot help: the program, its configuration or its checkpoint must change."""
    mended_by_none = not isinstance(error, Exception) or isinstance(error, _PROGRAM_ERRORS)
    return mended_by_none or getattr(error, "permanent", False) is True


def operator_error(
    plan: OperatorPlan | SourcePlan, error: BaseException, record: Any = NO_RECORD, hint: str = ""
) -> OperatorError:
    """Wrap an exception with the operator and the record; return one that is already wrapped unchanged."""
    if isinstance(error, OperatorError):
        return error
    if isinstance(error, RecordRejectedError):
        record = error.record
    frames = [
        (frame.filename, frame.lineno or 0, frame.name, (frame.line or "").strip())
        for frame in traceback.extract_tb(only_user_frames(error.__traceback__))
        if frame.filename != bdb.__file__  # where breakpoint() found no terminal
    ]
    kind, message = type(error).__name__, str(error)
    if isinstance(error, bdb.BdbQuit):
        message = "the debugger was quit" if has_terminal() else "breakpoint() found no terminal"
        frames = [*frames[:-1], *map(_at_breakpoint, frames[-1:])]
    problem, hook = not_iterable(plan, error)
    if problem:
        message, hint = problem, "yield the results or return a list of them"
        frames = list(_definition(hook))
    parameters, hook = wrong_parameters(plan, error)
    if hook is not None:
        frames = list(_definition(hook))
    return OperatorError(
        Failure(
            kind,
            message,
            plan.name,
            plan.uid,
            str(plan.origin),
            None if record is NO_RECORD else shorten(record),
            frames,
            "".join(traceback.format_exception(error)),
            parameters or advice(plan, error, record) or hint or _hint_of(error),
            is_permanent(error),
        )
    )


def _at_breakpoint(frame: tuple[str, int, str, str]) -> tuple[str, int, str, str]:
    """Return the frame of a function at its call of the debugger, which stops at the line after that."""
    file, line, name, code = frame
    before = linecache.getline(file, line - 1).strip()
    is_call = any(call in before for call in ("breakpoint(", "set_trace("))
    return (file, line - 1, name, before) if is_call else (file, line, name, code)


def _hint_of(error: BaseException) -> str:
    """Return the hint that an error of scurry brings with it."""
    notes = getattr(error, "__notes__", ()) if isinstance(error, ScurryError) else ()
    return next((note.removeprefix(HINT) for note in notes if note.startswith(HINT)), "")


def _definition(function: Any) -> Iterator[tuple[str, int, str, str]]:
    """Yield where a function is defined, as a frame."""
    code = getattr(function, "__code__", None)
    if code is not None:
        line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
        yield code.co_filename, code.co_firstlineno, function.__name__, line
