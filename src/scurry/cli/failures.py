"""Describe an exception that ended a program to the program's author."""

from __future__ import annotations

import traceback
from pathlib import Path

from scurry.errors import ScurryError
from scurry.errors.user_frames import is_internal


def describe(failure: BaseException, program: Path, *, debug: bool = False) -> str:
    """Describe a failure for the author of a program.

    Errors of scurry are shown as their message and the line that caused them; the message of a failed job names that
    itself. Other exceptions are shown as a traceback without scurry's frames.

    Args:
        failure: What the program raised.
        program: The program's file.
        debug: Whether to return the whole traceback instead.

    Returns:
        The text, without a newline at its end.
    """
    if debug:
        return (getattr(failure, "details", "") or "".join(traceback.format_exception(failure))).rstrip()
    if isinstance(failure, ScurryError):
        return f"error: {failure.report()}"
    return _traceback_of_the_program(failure)


def _traceback_of_the_program(failure: BaseException) -> str:
    shown = traceback.TracebackException.from_exception(failure)
    pending = [shown]
    while pending:
        part = pending.pop()
        part.stack = traceback.StackSummary.from_list([f for f in part.stack if not _is_hidden(f.filename)])
        pending += [cause for cause in (part.__cause__, part.__context__) if cause is not None]
    return "".join(shown.format()).rstrip()


def _is_hidden(filename: str) -> bool:
    return is_internal(filename) or filename.startswith("<frozen ")
