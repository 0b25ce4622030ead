"""Failures in user-defined functions: the function, the user's lines and the row first."""

from __future__ import annotations

import traceback
from typing import Any, Protocol

from scurry.errors import Failure, OperatorError, TypeMismatchError
from scurry.errors.user_frames import only_user_frames
from scurry.sql.functions.user.definition import UserFunction

_SHOWN = 300
#: Errors that only a change of the program mends.
_PROGRAM_ERRORS = (NameError, ImportError, SyntaxError)


class Called(Protocol):
    """A function or a model, which is called for rows."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def origin(self) -> str:
        """The place at which it was made."""


def function_error(function: Called, error: Exception, record: Any = None) -> OperatorError:
    """Return the error for an exception that a function raised.

    Args:
        record: The row, None if none is to blame.
    """
    frames = [
        (frame.filename, frame.lineno or 0, frame.name, (frame.line or "").strip())
        for frame in traceback.extract_tb(only_user_frames(error.__traceback__))
    ]
    return OperatorError(
        Failure(
            type(error).__name__,
            str(error),
            function.name,
            function.name,
            function.origin,
            None if record is None else _shortened(record),
            frames,
            "".join(traceback.format_exception(error)),
            permanent=isinstance(error, _PROGRAM_ERRORS) or getattr(error, "permanent", False) is True,
            kind="function",
        )
    )


def ended_error(function: UserFunction, record: Any = None) -> OperatorError:
    """Return the error for a StopIteration that a function raised: `map`, which calls it, just ends then.

    Args:
        record: The row, None if none is to blame.
    """
    reason = "it was not raised by a generator; next(iterator, default) does not raise it"
    return function_error(function, StopIteration(reason), record)


def misfit_error(function: UserFunction, result: Any, error: Exception, record: Any) -> OperatorError:
    """Return the error for a result that is not of the declared type.

    Args:
        result: What it returned.
        error: Why it is no value of the type.
    """
    if not isinstance(error, TypeMismatchError):
        reason = f"{type(error).__name__}: {error}"
        error = TypeMismatchError(function.result_type.as_summary_string(), result, reason)
    return function_error(function, error.with_traceback(None), record)


def _shortened(record: Any) -> str:
    try:
        text = repr(record)
    except Exception as error:  # a broken __repr__ must not hide the failure itself
        text = f"<{type(record).__name__} whose repr fails: {error}>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"
