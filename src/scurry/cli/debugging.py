"""Run code under Python's debugger: up to breakpoints, or after it has failed."""

from __future__ import annotations

import linecache
import os
import pdb
import re
import sys
from collections.abc import Callable, Sequence
from types import TracebackType

from scurry.errors import ReplayError
from scurry.errors.user_frames import only_user_frames


def breakpoint_of(text: str) -> tuple[str, int, str | None]:
    """Return file, line and condition of a breakpoint.

    Args:
        text: `FILE:LINE`, or `FILE:LINE, CONDITION`.

    Raises:
        ReplayError: It is not of that form.
    """
    found = re.fullmatch(r"(.+?):(\d+)(?:\s*,\s*(.+))?", text, re.DOTALL)
    if found is None:
        raise ReplayError(f"--break {text!r} is no FILE:LINE or 'FILE:LINE, CONDITION'")
    return found[1], int(found[2]), found[3]


def running_to(breakpoints: Sequence[tuple[str, int, str | None]]) -> Callable[[Callable[[], None]], None]:
    """Return a function that calls another one and stops at breakpoints.

    Raises:
        ReplayError: A file has no such line of code.
    """
    debugger = pdb.Pdb(nosigint=True)
    for file, line, condition in breakpoints:
        problem = debugger.set_break(_known(file), line, cond=condition)
        if problem:
            raise ReplayError(f"no breakpoint can be set at {file}:{line}: {problem}").with_hint(
                "name the file as the error of the job does"
            )

    def call(steps: Callable[[], None]) -> None:
        debugger.reset()
        debugger.botframe = sys._getframe()
        debugger.set_continue()  # to the first breakpoint, and not to the next line
        sys.settrace(debugger.trace_dispatch)
        try:
            steps()
        finally:
            sys.settrace(None)

    return call


def _known(file: str) -> str:
    """Return a file by the name under which its text is known: that of the captured program, or that on the disk."""
    if linecache.getlines(os.path.abspath(file)):
        return os.path.abspath(file)
    same = [name for name in linecache.cache if os.path.basename(name) == file and os.path.isabs(name)]
    return same[0] if len(same) == 1 else file


def post_mortem(error: BaseException) -> None:
    """Open the debugger in the function of the user that has failed, at its line."""
    cause: BaseException = error
    while only_user_frames(cause.__traceback__) is None and cause.__cause__ is not None:
        cause = cause.__cause__
    trace: TracebackType | None = only_user_frames(cause.__traceback__) or cause.__traceback__
    print(f"> {type(cause).__name__}: {cause}")
    debugger = pdb.Pdb()
    debugger.reset()
    debugger.interaction(None, trace)
