"""DeadLetter: a record that an operator or a source could not process, with what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["DeadLetter"]


@dataclass(frozen=True)
class DeadLetter:
    """What `with_dead_letters` puts out instead of failing the job. Its timestamp is that of the record.

    Attributes:
        record: The record, as the operator got it; of a source what is no record: text of a file, bytes of a message.
        error: Name of the exception's class.
        message: What the exception said.
        operator: Name of the operator.
        uid: Its uid.
        traceback: The whole traceback, as text.
        place: Of a source the file, or topic, partition and offset; else None.
        line: Of a source the line in the file, from 1; None where there are no lines.
    """

    record: Any
    error: str
    message: str
    operator: str
    uid: str
    traceback: str
    place: str | None = None
    line: int | None = None
