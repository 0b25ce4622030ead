"""Literals."""

from __future__ import annotations

from decimal import Decimal

from scurry.sql.syntax.nodes.base import Expression
from scurry.sql.syntax.nodes.meta import field


class Literal(Expression):
    """A value written in the statement."""


class NumericLiteral(Literal):
    """A number; a minus in front of it is part of it.

    Attributes:
        text: The number as Calcite writes it: ``10``, ``-1.50``, ``1E3``.
    """

    text: str

    @property
    def value(self) -> Decimal:
        """The number."""
        return Decimal(self.text)

    @property
    def is_approximate(self) -> bool:
        """Return whether the literal is a DOUBLE: it has an exponent."""
        return "E" in self.text

    @property
    def is_integer(self) -> bool:
        """Return whether the literal has neither point nor exponent."""
        return "." not in self.text and "E" not in self.text


class StringLiteral(Literal):
    """A character string.

    Attributes:
        value: The characters, without quotes and escapes.
        charset: The character set in front of it, as ``_UTF16`` or ``N`` name one.
    """

    value: str
    charset: str | None = field(default=None, compare=False)


class StringChain(Literal):
    """A string that is continued by further strings, as ``'a' 'b'``; the parts are of one kind."""

    parts: tuple[Expression, ...]


class BinaryLiteral(Literal):
    """Bytes as ``X'0fa'``.

    Attributes:
        digits: The hexadecimal digits, in upper case.
    """

    digits: str


class BooleanLiteral(Literal):
    """TRUE, FALSE, or UNKNOWN, whose value is None."""

    value: bool | None


class NullLiteral(Literal):
    """NULL."""


class DateLiteral(Literal):
    """``DATE '2020-01-31'``; whether the text is a date is for the validator to say."""

    text: str


class TimeLiteral(Literal):
    """``TIME '12:30:00'``."""

    text: str


class TimestampLiteral(Literal):
    """``TIMESTAMP '2020-01-31 12:30:00'``.

    Attributes:
        text: The text in quotes.
        type_name: ``TIMESTAMP``, ``TIMESTAMP WITH LOCAL TIME ZONE``, ``TIMESTAMP WITH TIME ZONE`` or ``DATETIME``.
    """

    text: str
    type_name: str = "TIMESTAMP"


class IntervalQualifier(Expression):
    """The unit or range of units of an interval, as ``DAY(3) TO SECOND(6)``.

    Also an argument of functions that take a unit, as ``FLOOR(x TO DAY)``.

    Attributes:
        start: The unit, in the singular and in upper case, or the name of a time frame.
        end: The last unit of a range; None if there is only one.
        precision: Number of digits of the first unit, if given.
        fractional_precision: Number of digits after the point of seconds, if given.
        named: Whether it is no unit but a name, which the validator may know as a time frame.
    """

    start: str
    end: str | None = None
    precision: int | None = None
    fractional_precision: int | None = None
    named: bool = False


class IntervalLiteral(Literal):
    """``INTERVAL -'1 12' DAY TO HOUR``.

    Attributes:
        text: The text in quotes.
        qualifier: Its units.
        negative: Whether a minus stands between INTERVAL and the text.
    """

    text: str
    qualifier: IntervalQualifier
    negative: bool = False
