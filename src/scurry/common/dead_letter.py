"""DeadLetter: a record that an operator could not process, with what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["DeadLetter"]


@dataclass(frozen=True)
class DeadLetter:
    """What `with_dead_letters` puts out instead of failing the job. Its timestamp is that of the record.

    Attributes:
        record: The record, as the operator got it.
        error: Name of the exception's class.
        message: What the exception said.
        operator: Name of the operator.
        uid: Its uid.
        traceback: The whole traceback, as text.
    """

    record: Any
    error: str
    message: str
    operator: str
    uid: str
    traceback: str
