"""Functions of numbers."""

from __future__ import annotations

from typing import Any, Self

from scurry.table._expression.base import ExpressionBase


class Numbers(ExpressionBase):
    """Functions of numbers."""

    @property
    def exp(self) -> Self:
        """Return Euler's number to the power of it."""
        return self._call("EXP")

    @property
    def log10(self) -> Self:
        """Return the logarithm to base 10."""
        return self._call("LOG10")

    @property
    def log2(self) -> Self:
        """Return the logarithm to base 2."""
        return self._call("LOG2")

    @property
    def ln(self) -> Self:
        """Return the natural logarithm."""
        return self._call("LN")

    @property
    def is_nan(self) -> Self:
        """Return whether a floating-point number is NaN; FALSE for NULL. Flink has it from 2.4 on."""
        return self._sql("x IS NOT NULL AND CAST(x AS STRING) = 'NaN'", x=self)

    @property
    def is_not_nan(self) -> Self:
        """Return whether a floating-point number is not NaN; TRUE for NULL. Flink has it from 2.4 on."""
        return self._sql("x IS NULL OR CAST(x AS STRING) <> 'NaN'", x=self)

    def log(self, base: Any = None) -> Self:
        """Return the logarithm.

        Args:
            base: Its base; None for the natural one.
        """
        return self._call("LOG") if base is None else self._call_of("LOG", base, self)

    @property
    def cosh(self) -> Self:
        """Return the hyperbolic cosine."""
        return self._call("COSH")

    @property
    def sinh(self) -> Self:
        """Return the hyperbolic sine."""
        return self._call("SINH")

    @property
    def sin(self) -> Self:
        """Return the sine of an angle in radians."""
        return self._call("SIN")

    @property
    def cos(self) -> Self:
        """Return the cosine of an angle in radians."""
        return self._call("COS")

    @property
    def tan(self) -> Self:
        """Return the tangent of an angle in radians."""
        return self._call("TAN")

    @property
    def cot(self) -> Self:
        """Return the cotangent of an angle in radians."""
        return self._call("COT")

    @property
    def asin(self) -> Self:
        """Return the arc sine."""
        return self._call("ASIN")

    @property
    def acos(self) -> Self:
        """Return the arc cosine."""
        return self._call("ACOS")

    @property
    def atan(self) -> Self:
        """Return the arc tangent."""
        return self._call("ATAN")

    @property
    def tanh(self) -> Self:
        """Return the hyperbolic tangent."""
        return self._call("TANH")

    @property
    def degrees(self) -> Self:
        """Return an angle in radians in degrees."""
        return self._call("DEGREES")

    @property
    def radians(self) -> Self:
        """Return an angle in degrees in radians."""
        return self._call("RADIANS")

    @property
    def sqrt(self) -> Self:
        """Return the square root."""
        return self._call("SQRT")

    @property
    def abs(self) -> Self:
        """Return the number without its sign."""
        return self._call("ABS")

    @property
    def sign(self) -> Self:
        """Return -1, 0 or 1."""
        return self._call("SIGN")

    def round(self, places: Any) -> Self:
        """Return the number rounded.

        Args:
            places: How many digits stay after the point.
        """
        return self._call("ROUND", places)

    def truncate(self, n: Any = 0) -> Self:
        """Return the number without its last digits.

        Args:
            n: How many digits stay after the point.
        """
        return self._call("TRUNCATE", n)

    @property
    def bin(self) -> Self:
        """Return a whole number in the binary system."""
        return self._call("BIN")

    @property
    def hex(self) -> Self:
        """Return a whole number or a text in the hexadecimal system."""
        return self._call("HEX")

    @property
    def unhex(self) -> Self:
        """Return the bytes of a text in the hexadecimal system."""
        return self._call("UNHEX")
