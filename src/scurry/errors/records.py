"""Errors of records and values, for which a job has one record to show."""

from __future__ import annotations

from typing import Any

from scurry.errors.base import ScurryError


class RecordError(ScurryError):
    """A record or value that cannot be read, processed or written.

    Cure: Look at the record in the message; `with_dead_letters` keeps a job going past such records.
    """


class TypeMismatchError(RecordError, TypeError):
    """A value does not fit the type declared for it.

    Cure: Declare the type that the function returns, or return what is declared.

    Attributes:
        declared: Text of the declared type.
        value: The offending value.
        index: Position of the record in the list given to a block converter, else None.
        field: The field of a row whose value it is, if it is known, such as `field y in field r`.
    """

    def __init__(
        self, declared: object, value: Any, reason: str = "", index: int | None = None, field: str = ""
    ) -> None:
        """Describe a value that is not of the declared type.

        Args:
            declared: The declared type, or its text.
            value: The value that does not fit.
            reason: What is wrong with it, if the type alone does not show it.
            index: Position of the record in its block.
            field: The field of a row whose value it is, such as `field y in field r`.
        """
        super().__init__(declared, value, reason, index, field)
        self.declared = str(declared)
        self.value = value
        self.reason = reason
        self.index = index
        self.field = field

    def __str__(self) -> str:
        """Return the declared type, the value, and a hint."""
        text = repr(self.value)
        if len(text) > 200:
            text = text[:200] + "..."
        because = f": {self.reason}" if self.reason else ""
        if self.field:
            return (
                f"{self.field}: {self.declared} can not accept object {text} in type {type(self.value)}{because}; "
                "give a matching value or declare another type"
            )
        return (
            f"declared type {self.declared} does not accept {text} (Python type {type(self.value).__name__}){because}; "
            "return a matching value or change the declared type"
        )


class RowFieldError(RecordError, AttributeError, KeyError, ValueError):
    """A Row has no field of that name.

    PyFlink raises one of three builtins depending on how the field was accessed; this error is all of them.

    Cure: Take one of the fields that the message lists.
    """

    __str__ = Exception.__str__


class PatternMatchError(RecordError, RuntimeError):
    """A pattern cannot go on after an event: there is no event to skip to, or it would not end.

    Cure: Make the condition hold for fewer events, or bound the pattern with `within`.
    """

    permanent = True


class KeyTypeError(RecordError, TypeError):
    """A key that cannot be encoded, returned by a key selector.

    Cure: Return text, numbers, bytes, or tuples of them as keys.
    """


class TimeTypeError(RecordError, TypeError):
    """A value that is not an amount of time: not an int (milliseconds), timedelta, Time or Duration.

    Cure: Pass whole milliseconds, a `Duration` or a `Time`.
    """


class TimestampError(RecordError, TypeError, ValueError):
    """A timestamp, a watermark, a timer or an end of a window that is not an int of 64 bits.

    Cure: Return milliseconds since the epoch: `int(moment.timestamp() * 1000)` for a datetime.
    """


class MissingTimestampError(RecordError, ValueError):
    """A record reached an event-time window without a timestamp.

    Cure: Call `assign_timestamps_and_watermarks` before the window.
    """


class MalformedRecordError(RecordError, ValueError):
    """Input that is not a record of the declared format.

    Cure: Mend the input, skip such records (`ignore_parse_errors`), or send them to dead letters.

    Attributes:
        place: The file, or another name of the text's origin.
        line: Line number in the file, from 1; None if there are no lines.
        record: The malformed input: the text, or the input of the deserializer for a Kafka message.
        text: The beginning of the text.
    """

    def __init__(self, place: str, line: int | None, text: str, reason: str, record: object = None) -> None:
        """Describe input that cannot be read.

        Args:
            place: The file, or another name of the text's origin.
            line: Line number, from 1, or None.
            text: The offending text; shortened here.
            reason: What is wrong and what to do.
            record: The malformed input, if it is not the text.
        """
        super().__init__(place, line, text, reason)
        self.place = place
        self.line = line
        self.record = text if record is None else record
        self.text = text if len(text) <= 200 else text[:200] + "..."
        self.reason = reason

    def __str__(self) -> str:
        """Return where it is, the text, and the reason."""
        where = self.place if self.line is None else f"{self.place}:{self.line}"
        return f"{where}: malformed record {self.text!r}: {self.reason}" if self.text else f"{where}: {self.reason}"


class MissingFieldError(RecordError, ValueError):
    """A record has no value for a field of a dataclass that needs one.

    Cure: Declare the field `| None` or with a default, or name it as the records do.
    """


class RecordTooLargeError(RecordError, ValueError):
    """A record of a file or socket is larger than `scurry.record.max-bytes`.

    Cure: Raise `scurry.record.max-bytes`, if memory suffices, or split the input.
    """

    permanent = True


class RecordRejectedError(RecordError, ValueError):
    """A record that the system behind a sink refuses.

    Cure: Compare the record with what the system accepts: its size, its schema, its constraints.

    Attributes:
        record: The record.
    """

    def __init__(self, message: str, record: Any) -> None:
        """Describe a record that cannot be written.

        Args:
            message: What is wrong with it, in the words of that system.
            record: The record.
        """
        super().__init__(message, record)
        self.record = record

    def __str__(self) -> str:
        """Return the message without the record, which callers shorten and add."""
        return str(self.args[0])
