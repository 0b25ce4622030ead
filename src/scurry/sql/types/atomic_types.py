"""The SQL types that are not composed of others."""

from __future__ import annotations

from copy import copy
from enum import Enum
from typing import Any, ClassVar, TypeVar

from scurry.errors import ArgumentError
from scurry.sql.types.logical_type import AtomicType

#: The length of STRING and BYTES.
MAX_LENGTH = 0x7FFFFFFF
MAX_PRECISION = 38

_Self = TypeVar("_Self", bound="AtomicType")


class NullType(AtomicType):
    """The type of NULL."""

    def __init__(self) -> None:
        """Create the type."""
        super().__init__(True)


class BooleanType(AtomicType):
    """TRUE and FALSE."""


class NumericType(AtomicType):
    """A number."""


class IntegralType(NumericType):
    """A whole number.

    Attributes:
        bits: The bits of its values.
    """

    bits: ClassVar[int]

    @property
    def limit(self) -> int:
        """The least number that is too large; the least one that fits is the negative of it."""
        return 1 << (self.bits - 1)

    def wrapped(self, value: int) -> int:
        """Return the lower bits of a number, as Java's arithmetic does."""
        return (value + self.limit) % (2 * self.limit) - self.limit


class FractionalType(NumericType):
    """A number with a fraction."""


class TinyIntType(IntegralType):
    """Whole numbers of 8 bits."""

    bits = 8


class SmallIntType(IntegralType):
    """Whole numbers of 16 bits."""

    bits = 16


class IntType(IntegralType):
    """Whole numbers of 32 bits."""

    bits = 32


class BigIntType(IntegralType):
    """Whole numbers of 64 bits."""

    bits = 64


class FloatType(FractionalType):
    """Floating-point numbers of 32 bits."""


class DoubleType(FractionalType):
    """Floating-point numbers of 64 bits."""


class DecimalType(FractionalType):
    """Decimal numbers of a fixed number of digits."""

    def __init__(self, precision: int = 10, scale: int = 0, nullable: bool = True) -> None:
        """Create the type.

        Args:
            precision: Number of digits, 1 to 38.
            scale: Digits after the point, 0 to precision.
            nullable: Whether values may be None.

        Raises:
            ArgumentError: A number is out of its range.
        """
        super().__init__(nullable)
        if not (1 <= precision <= MAX_PRECISION and 0 <= scale <= precision):
            raise ArgumentError(
                f"DECIMAL({precision}, {scale}): the precision is 1 to 38, the scale 0 to the precision"
            )
        self.precision = precision
        self.scale = scale

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision, self.scale)


_SelfLength = TypeVar("_SelfLength", bound="_LengthType")


class _LengthType(AtomicType):
    def __init__(self, length: int = 1, nullable: bool = True) -> None:
        """Create the type.

        Args:
            length: Number of characters or bytes, at least 1.
            nullable: Whether values may be None.

        Raises:
            ArgumentError: A length below 1.
        """
        super().__init__(nullable)
        if not 1 <= length <= MAX_LENGTH:
            raise ArgumentError(f"{self.type_name()}({length}): the length is 1 to {MAX_LENGTH}")
        self.length = length

    @classmethod
    def of_length(cls: type[_SelfLength], length: int, nullable: bool = True) -> _SelfLength:
        """Return the type of a length that may also be 0, as that of the literal `''` is."""
        made = cls(max(length, 1), nullable)
        made.length = length
        return made

    def _parameters(self) -> tuple[Any, ...]:
        return (self.length,)


class CharType(_LengthType):
    """Text of a fixed length."""


class VarCharType(_LengthType):
    """Text up to a length."""

    def _summary(self) -> str:
        return "STRING" if self.length == MAX_LENGTH else super()._summary()


class BinaryType(_LengthType):
    """Bytes of a fixed length."""


class VarBinaryType(_LengthType):
    """Bytes up to a length."""

    def _summary(self) -> str:
        return "BYTES" if self.length == MAX_LENGTH else super()._summary()


class DateType(AtomicType):
    """Dates: Python's `datetime.date`."""


class _PrecisionType(AtomicType):
    def __init__(self, precision: int = 6, nullable: bool = True) -> None:
        """Create the type.

        Args:
            precision: Digits after the second, 0 to 9; Python supports 6.
            nullable: Whether values may be None.

        Raises:
            ArgumentError: A precision outside 0 to 9.
        """
        super().__init__(nullable)
        if not 0 <= precision <= 9:
            raise ArgumentError(f"{self.type_name()}({precision}): the precision is 0 to 9")
        self.precision = precision

    def _parameters(self) -> tuple[Any, ...]:
        return (self.precision,)


class TimeType(_PrecisionType):
    """Times of day: Python's `datetime.time`."""

    def __init__(self, precision: int = 0, nullable: bool = True) -> None:
        """Create the type.

        Args:
            precision: Digits after the second, 0 to 9; Python supports 6.
            nullable: Whether values may be None.
        """
        super().__init__(precision, nullable)


class TimeAttribute(Enum):
    """The kind of a time attribute, which windows and temporal joins require of a column."""

    ROWTIME = "ROWTIME"
    PROCTIME = "PROCTIME"


class _TimestampType(_PrecisionType):
    time_attribute: TimeAttribute | None = None

    def as_time_attribute(self: _Self, attribute: TimeAttribute | None) -> _Self:
        """Return the same type as a time attribute, or as none."""
        changed = copy(self)
        changed.__dict__.pop("time_attribute", None)
        if attribute is not None:
            changed.__dict__["time_attribute"] = attribute
        return changed

    @property
    def is_rowtime(self) -> bool:
        """Return whether it is an event-time attribute."""
        return self.time_attribute is TimeAttribute.ROWTIME

    @property
    def is_proctime(self) -> bool:
        """Return whether it is a processing-time attribute."""
        return self.time_attribute is TimeAttribute.PROCTIME

    def as_summary_string(self) -> str:
        """Return the type as SQL writes it, e.g. `TIMESTAMP(3) *ROWTIME*`."""
        shown = super().as_summary_string()
        return shown if self.time_attribute is None else f"{shown} *{self.time_attribute.value}*"


class TimestampType(_TimestampType):
    """Dates and times without a time zone: Python's `datetime.datetime`."""


class LocalZonedTimestampType(_TimestampType):
    """Points of time, shown in the session's time zone: `Instant` in a stream."""

    def _summary(self) -> str:
        return f"TIMESTAMP_LTZ({self.precision})"


class ZonedTimestampType(_PrecisionType):
    """Dates and times with a time zone: a type that is declared, but that no column can have, as in Flink."""

    def _summary(self) -> str:
        return f"TIMESTAMP({self.precision}) WITH TIME ZONE"
