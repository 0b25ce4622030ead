"""Types of SQLAlchemy as those of SQL here, and back."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

from sqlalchemy.engine import Dialect
from sqlalchemy.sql import sqltypes
from sqlalchemy.sql.compiler import GenericTypeCompiler
from sqlalchemy.sql.type_api import NativeForEmulated
from sqlalchemy.types import TypeEngine, UserDefinedType

from scurry.sql.values.literals import literal_text

__all__ = ["NestedType"]

#: The decimals of Numeric without a precision.
_DECIMAL = "DECIMAL(38, 18)"


class NestedType(UserDefinedType):  # type: ignore[type-arg]
    """A type that SQLAlchemy has no class for: MAP, ROW, MULTISET, an interval of months and others.

    Attributes:
        text: The type in SQL.
    """

    cache_ok = True

    def __init__(self, text: str) -> None:
        """Name the type.

        Args:
            text: The type in SQL, such as `MAP<STRING, INT>`.
        """
        self.text = text

    def get_col_spec(self, **kw: Any) -> str:
        """Return the type in SQL."""
        return self.text


class _Literals:
    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        return literal_text

    def bind_processor(self, dialect: Dialect) -> None:
        return None


class ScurryDate(_Literals, sqltypes.Date):
    """DATE, with literals."""


class ScurryTime(_Literals, sqltypes.Time):
    """TIME, with literals."""


class ScurryDateTime(_Literals, sqltypes.DateTime):
    """TIMESTAMP or TIMESTAMP_LTZ, with literals."""


class ScurryBinary(_Literals, sqltypes.LargeBinary):
    """BYTES, with literals."""

    def result_processor(self, dialect: Dialect, coltype: object) -> None:
        """Keep the bytes as they come."""
        return None


class ScurryFloat(_Literals, sqltypes.Float):  # type: ignore[type-arg]
    """FLOAT or DOUBLE, with literals: a number without an exponent would be a DECIMAL."""


class ScurryInterval(NativeForEmulated, sqltypes._AbstractInterval):
    """INTERVAL DAY TO SECOND."""

    __visit_name__ = "INTERVAL"

    @classmethod
    def adapt_emulated_to_native(cls, impl: Any, **kw: Any) -> ScurryInterval:
        """Return the type of an interval."""
        return cls()

    @property
    def _type_affinity(self) -> type[sqltypes.Interval]:
        return sqltypes.Interval

    @property
    def python_type(self) -> type[datetime.timedelta]:
        """Return `datetime.timedelta`."""
        return datetime.timedelta

    def literal_processor(self, dialect: Dialect) -> Callable[[Any], str]:
        """Return the function that makes a literal."""
        return literal_text


COLSPECS: dict[type[Any], type[Any]] = {
    sqltypes.Date: ScurryDate,
    sqltypes.Time: ScurryTime,
    sqltypes.DateTime: ScurryDateTime,
    sqltypes.LargeBinary: ScurryBinary,
    sqltypes.Float: ScurryFloat,
    sqltypes.Interval: ScurryInterval,
}


class ScurryTypeCompiler(GenericTypeCompiler):
    """Writes types as Flink's SQL does."""

    # The names are those that SQLAlchemy calls.
    def visit_VARCHAR(self, type_: Any, **kw: Any) -> str:
        return f"VARCHAR({type_.length})" if type_.length else "STRING"

    def visit_TEXT(self, type_: Any, **kw: Any) -> str:
        return "STRING"

    def visit_INTEGER(self, type_: Any, **kw: Any) -> str:
        return "INT"

    def visit_float(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_FLOAT(self, type_: Any, **kw: Any) -> str:
        return "FLOAT"

    def visit_REAL(self, type_: Any, **kw: Any) -> str:
        return "FLOAT"

    def visit_DOUBLE_PRECISION(self, type_: Any, **kw: Any) -> str:
        return "DOUBLE"

    def visit_NUMERIC(self, type_: Any, **kw: Any) -> str:
        if type_.precision is None:
            return _DECIMAL
        return f"DECIMAL({type_.precision}, {type_.scale or 0})"

    def visit_DECIMAL(self, type_: Any, **kw: Any) -> str:
        return self.visit_NUMERIC(type_)

    def visit_BLOB(self, type_: Any, **kw: Any) -> str:
        return "BYTES"

    def visit_BINARY(self, type_: Any, **kw: Any) -> str:
        return f"BINARY({type_.length or 1})"

    def visit_VARBINARY(self, type_: Any, **kw: Any) -> str:
        return f"VARBINARY({type_.length})" if type_.length else "BYTES"

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:
        return self.visit_TIMESTAMP(type_)

    def visit_TIMESTAMP(self, type_: Any, **kw: Any) -> str:
        return "TIMESTAMP_LTZ(6)" if type_.timezone else "TIMESTAMP(6)"

    def visit_TIME(self, type_: Any, **kw: Any) -> str:
        return "TIME(3)"

    def visit_INTERVAL(self, type_: Any, **kw: Any) -> str:
        return "INTERVAL DAY(6) TO SECOND(3)"

    def visit_JSON(self, type_: Any, **kw: Any) -> str:
        return "STRING"

    def visit_ARRAY(self, type_: Any, **kw: Any) -> str:
        element = self.process(type_.item_type)
        for _ in range(type_.dimensions or 1):
            element = f"ARRAY<{element}>"
        return element


_SIMPLE: dict[str, type[Any]] = {
    "BOOLEAN": sqltypes.BOOLEAN,
    "TINYINT": sqltypes.SMALLINT,
    "SMALLINT": sqltypes.SMALLINT,
    "INT": sqltypes.INTEGER,
    "INTEGER": sqltypes.INTEGER,
    "BIGINT": sqltypes.BIGINT,
    "FLOAT": sqltypes.FLOAT,
    "DOUBLE": getattr(sqltypes, "DOUBLE", sqltypes.FLOAT),  # SQLAlchemy 1.4 has no DOUBLE
    "STRING": sqltypes.VARCHAR,
    "BYTES": sqltypes.VARBINARY,
    "DATE": sqltypes.DATE,
    "TIME": sqltypes.TIME,
}
_WITH_LENGTH: dict[str, type[Any]] = {
    "CHAR": sqltypes.CHAR,
    "VARCHAR": sqltypes.VARCHAR,
    "BINARY": sqltypes.BINARY,
    "VARBINARY": sqltypes.VARBINARY,
}
_TEXT = re.compile(r"(\w+)(?:\((\d+)(?:, *(\d+))?\))?")
_ARRAY = re.compile(r"ARRAY<(.*)>", re.DOTALL)
_ATTRIBUTE = re.compile(r" \*(?:ROW|PROC)TIME\*$")


def type_of(text: str) -> TypeEngine[Any]:
    """Return SQLAlchemy's type of a type that DESCRIBE shows."""
    text = _ATTRIBUTE.sub("", text).removesuffix(" NOT NULL")
    array = _ARRAY.fullmatch(text)
    if array is not None:
        element = type_of(array[1])
        if isinstance(element, sqltypes.ARRAY):
            return sqltypes.ARRAY(element.item_type, dimensions=(element.dimensions or 1) + 1)
        return sqltypes.ARRAY(element)
    found = _TEXT.fullmatch(text)
    if found is None:
        return NestedType(text)
    name, *numbers = found.groups()
    if name in _SIMPLE:
        made: TypeEngine[Any] = _SIMPLE[name]()
        return made
    if name in _WITH_LENGTH:
        return _WITH_LENGTH[name](int(numbers[0]) if numbers[0] else None)  # type: ignore[no-any-return]
    if name == "DECIMAL":
        return sqltypes.DECIMAL(int(numbers[0]), int(numbers[1] or 0)) if numbers[0] else sqltypes.DECIMAL(10, 0)
    if name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return sqltypes.TIMESTAMP(timezone=name == "TIMESTAMP_LTZ")
    return NestedType(text)
