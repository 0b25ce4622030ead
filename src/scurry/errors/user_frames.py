"""Separate the user's frames of a traceback from those of scurry and its libraries."""

from __future__ import annotations

import linecache
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

BOUNDARY = "<scurry>"
"""File name of the one frame of scurry that stays in a traceback: the public method that the user called."""

_PACKAGE = str(Path(__file__).resolve().parents[1])
_INTERNAL = (_PACKAGE, BOUNDARY)
# A frame of the standard library or of an installed package counts as the user's only if user code called it.
_INSTALLED = ("<frozen ", *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")})

# Methods that dataclasses generate, and programs of `python -c`.
_GENERATED = "<string>"

# Cython names the files of a library by relative paths with these suffixes.
_COMPILED = (".pyx", ".pxi", ".pxd")


def is_internal(filename: str) -> bool:
    """Return whether a file belongs to scurry."""
    return filename.startswith(_INTERNAL)


def _file_of(frame: FrameType) -> str:
    """Return the file of a frame; for a method that a dataclass generates, that of its module."""
    filename = frame.f_code.co_filename
    return str(frame.f_globals.get("__file__", filename)) if filename == _GENERATED else filename


def user_frames(trace: TracebackType | None) -> Iterator[TracebackType]:
    """Yield the entries of a traceback that belong to the user, outermost first.

    These are the frames of the user's own files, and those of libraries that the user's code called, not scurry:
    `functools.py` below scurry is left out, `json/decoder.py` below a user's function is not. Methods that dataclasses
    generate have no line to show.
    """
    below_user = False
    while trace is not None:
        filename = _file_of(trace.tb_frame)
        if is_internal(filename):
            below_user = False
        else:
            below_user = below_user or not filename.startswith(_INSTALLED) and not filename.endswith(_COMPILED)
            if below_user and filename == trace.tb_frame.f_code.co_filename:
                yield trace
        trace = trace.tb_next


def only_user_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback with only the user's entries, or None."""
    shown: TracebackType | None = None
    for entry in reversed(list(user_frames(trace))):
        shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def user_stack_level() -> int:
    """Return the `stacklevel` with which the caller's `warnings.warn` points at the user's line."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_internal(_file_of(frame)):
        frame = frame.f_back
        level += 1
    return level


def with_source(place: str) -> str:
    """Return a place in a Python program, `FILE:LINE`, with the text of the line if it is known.

    Scripts of SQL are left alone: their errors end with the statement.
    """
    file, _, line = place.rpartition(":")
    if not line.isdigit() or file.endswith(".sql"):
        return place
    code = linecache.getline(file, int(line)).strip()
    return f"{place}: {code}" if code else place
