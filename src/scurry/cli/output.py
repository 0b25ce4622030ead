"""Print tables and JSON, and describe an exception that ended a program to its author."""

from __future__ import annotations

import datetime
import json
import sys
import traceback
from pathlib import Path
from typing import Any

from scurry.errors import ScurryError
from scurry.errors.user_frames import is_internal


def print_json(content: Any) -> None:
    print(json.dumps(content, indent=2))


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table, on a terminal within its width, elsewhere with every cell in full."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from scurry.common.redaction import one_line

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = sys.maxsize >> 32
    for line in console.render_lines(table, pad=False):
        console.print(Text("".join(segment.text for segment in line).rstrip()), soft_wrap=True)


def time_text(millis: int | None) -> str:
    """Format milliseconds since the epoch as date and time in the local time zone."""
    if millis is None or millis < 0:
        return ""
    return datetime.datetime.fromtimestamp(millis / 1000).strftime("%Y-%m-%d %H:%M:%S")


def span_text(millis: int) -> str:
    """Format a duration in milliseconds."""
    return f"{millis} ms" if millis < 1000 else f"{millis / 1000:.1f} s"


def position_text(position: dict[str, Any], longest: int = 200) -> str:
    """Format source positions, cut off after `longest` characters."""
    text = ", ".join(f"{key}: {value}" for key, value in position.items())
    return text if len(text) <= longest else f"{text[:longest]}... (--json shows all)"


def size_text(size: float) -> str:
    """Format a size in bytes."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


def describe(failure: BaseException, program: Path, *, debug: bool = False) -> str:
    """Describe a failure for the author of a program.

    Errors of scurry are shown as their message and the line that caused them; the message of a failed job names that
    itself. Other exceptions are shown as a traceback without scurry's frames.

    Args:
        failure: What the program raised.
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
