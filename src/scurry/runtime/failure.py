"""Failures of user code, told from the user's side: their function, line and record first."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import length_hint
from typing import Any

from scurry.errors import RecordRejectedError, ScurryError
from scurry.runtime.advice import advice, not_iterable
from scurry.user_frames import only_user_frames

_SHOWN = 300
#: what is given for the record where none is to blame; None is a record
NO_RECORD: Any = object()


@dataclass
class Failure:
    """What went wrong where; travels from the worker to the driver."""

    error: str
    message: str
    operator: str
    uid: str
    origin: str
    record: str | None = None
    frames: list[tuple[str, int, str, str]] = field(default_factory=list)
    details: str = ""
    hint: str = ""
    #: whether running the job again cannot help
    permanent: bool = False

    def __str__(self) -> str:
        lines = [f"{self.error}: {self.message}"]
        # A worker has no source of a notebook's cells; the driver has.
        lines += [
            f"  at {file}:{line} in {name}: {code or linecache.getline(file, line).strip()}"
            for file, line, name, code in reversed(self.frames)
        ]
        lines.append(f"  in operator {self.operator!r} built at {self.origin}")
        if self.record is not None:
            lines.append(f"  record: {self.record}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


#: What a program raises that has to be changed, whatever it works on.
_PROGRAM_ERRORS = (NameError, ImportError, SyntaxError)


class OperatorError(ScurryError, RuntimeError):
    """A user function, or the conversion of its result, failed on a record."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure
        self.permanent = failure.permanent  # type: ignore[misc]

    def __reduce__(self) -> tuple[Any, ...]:
        return OperatorError, (self.failure,)


def shorten(value: Any) -> str:
    """The repr of a record, cut to a readable length."""
    try:
        text = repr(value)
    except Exception as error:  # a broken __repr__ must not hide the failure itself
        text = f"<{type(value).__name__} whose repr fails: {error}>"
    return text if len(text) <= _SHOWN else text[:_SHOWN] + f"... ({len(text)} characters)"


def last_taken(values: list[Any], source: Iterator[Any]) -> Any:
    """The record that an iterator over `values` handed out last: the one that was at work when something failed."""
    return values[len(values) - length_hint(source) - 1]


def is_permanent(error: BaseException) -> bool:
    """Whether running the job again cannot help: the program, its configuration or its checkpoint has to change."""
    mended_by_none = not isinstance(error, Exception) or isinstance(error, _PROGRAM_ERRORS)
    return mended_by_none or getattr(error, "permanent", False) is True


def operator_error(plan: Any, error: BaseException, record: Any = NO_RECORD, hint: str = "") -> OperatorError:
    """Wraps an exception with the operator and the record; one that is wrapped already stays as it is."""
    if isinstance(error, OperatorError):
        return error
    if isinstance(error, RecordRejectedError):
        record = error.record
    frames = [
        (frame.filename, frame.lineno or 0, frame.name, (frame.line or "").strip())
        for frame in traceback.extract_tb(only_user_frames(error.__traceback__))
    ]
    kind, message = type(error).__name__, str(error)
    told, hook = not_iterable(plan, error)
    if told:
        message, hint = told, "yield the results or return a list of them"
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
            advice(plan, error, record) or hint,
            is_permanent(error),
        )
    )


def _definition(function: Any) -> Iterator[tuple[str, int, str, str]]:
    """Where a function is defined, as a frame."""
    code = getattr(function, "__code__", None)
    if code is not None:
        line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
        yield code.co_filename, code.co_firstlineno, function.__name__, line
