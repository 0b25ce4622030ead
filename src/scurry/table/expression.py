"""Expression: a column, a value or a call, which methods of tables take."""

from __future__ import annotations

from typing import Any, Self

from scurry.table._expression.aggregates import Aggregates
from scurry.table._expression.bitmaps import Bitmaps
from scurry.table._expression.collections import Collections
from scurry.table._expression.json import Json
from scurry.table._expression.numbers import Numbers
from scurry.table._expression.texts import Texts
from scurry.table._expression.times import Times
from scurry.table._expression.units import (
    JsonExistsOnError,
    JsonOnNull,
    JsonQueryOnEmptyOrError,
    JsonQueryWrapper,
    JsonType,
    JsonValueOnEmptyOrError,
    TimeIntervalUnit,
    TimePointUnit,
)

__all__ = [
    "Expression",
    "JsonExistsOnError",
    "JsonOnNull",
    "JsonQueryOnEmptyOrError",
    "JsonQueryWrapper",
    "JsonType",
    "JsonValueOnEmptyOrError",
    "TimeIntervalUnit",
    "TimePointUnit",
    "call_of",
    "expression_of",
]


class Expression(Times, Numbers, Texts, Collections, Bitmaps, Json, Aggregates):
    """A column, a value, or the result of functions and operators on them.

    It has a type where a table is made of it. What is no method is the field of a row of that name.

    Example:
        ```python
        from pyflink.table.expressions import col, lit

        table.select(col("a") + 1, col("name").upper_case.alias("name"), col("address").city)
        ```
    """

    def __getattr__(self, name: str) -> Self:
        """Return the field of a row; of names with an underscore in front, those of fields without names: `_1`."""
        if name.startswith("_") and not name[1:].isdecimal():
            raise AttributeError(name)
        return self.get(name)


def call_of(function: str, *arguments: Any) -> Expression:
    """Return a call of a function or operator.

    Args:
        function: Its name in the catalogue.
        *arguments: Expressions, or Python values.
    """
    return Expression._call_of(function, *arguments)


def expression_of(value: Any) -> Expression:
    """Return an expression as it is, and a Python value as a literal.

    Raises:
        ArgumentTypeError: The value has no SQL literal.
    """
    return Expression._of(value)
