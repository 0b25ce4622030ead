"""DeadLetter: a record that an operator or a source could not process, with the error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["DeadLetter"]


@dataclass(frozen=True)
class DeadLetter:
    """A failed record that `with_dead_letters` emits instead of failing the job, with the record's timestamp.

    Attributes:
        record: The record as the operator received it; of a source the malformed text of a file or bytes of a message.
        error: Name of the exception's class.
        message: The exception's message.
        operator: Name of the operator.
        uid: The operator's uid.
        traceback: The whole traceback, as text.
        place: Of a source, the file, or topic, partition and offset; else None.
        line: Of a source, the line in the file, from 1; None if there are no lines.
    """

    record: Any
    error: str
    message: str
    operator: str
    uid: str
    traceback: str
    place: str | None = None
    line: int | None = None
