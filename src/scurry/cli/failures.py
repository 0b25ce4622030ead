"""Turns an exception that ended a program into what its author needs to see."""

from __future__ import annotations

import traceback
from pathlib import Path

from scurry.errors import JobError, ScurryError

_SCURRY = str(Path(__file__).resolve().parent.parent)


def describe(failure: BaseException, program: Path, *, debug: bool = False) -> str:
    """Describe a failure for the author of a program.

    Errors of scurry are their message and the line that led there; a failed job's message names its own place. Other
    exceptions are a traceback without scurry's frames.

    Args:
        failure: What the program raised.
        program: The program's file.
        debug: Give the whole traceback instead.

    Returns:
        The text, without a newline at its end.
    """
    if debug:
        return "".join(traceback.format_exception(failure)).rstrip()
    if isinstance(failure, JobError):
        return f"error: {failure}"
    if isinstance(failure, ScurryError):
        return f"error: {failure}{_place(failure)}"
    return _traceback_of_the_program(failure)


def _place(failure: BaseException) -> str:
    frames = [frame for frame in traceback.extract_tb(failure.__traceback__) if _is_the_users(frame.filename)]
    return f"\n  at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _traceback_of_the_program(failure: BaseException) -> str:
    shown = traceback.TracebackException.from_exception(failure)
    pending = [shown]
    while pending:
        part = pending.pop()
        part.stack = traceback.StackSummary.from_list([f for f in part.stack if _is_the_users(f.filename)])
        pending += [cause for cause in (part.__cause__, part.__context__) if cause is not None]
    return "".join(shown.format()).rstrip()


def _is_the_users(filename: str) -> bool:
    return not filename.startswith((_SCURRY, "<frozen "))
