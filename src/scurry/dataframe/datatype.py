"""DataType: the types of columns of DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from scurry.dataframe.validation import require_integer
from scurry.errors import ArgumentError, ArgumentTypeError, ScurryError
from scurry.sql import types
from scurry.sql.types.atomic_types import MAX_LENGTH

__all__ = ["DataType"]


class DataType:
    """The type of a column, of the elements of a list, and so on. It does not change; types are nullable by default.

    Types are equal if they have the same parameters and nullability. In SQL, `int64()` is BIGINT, `string()` STRING,
    `binary()` BYTES, `list` ARRAY, `struct` ROW.
    """

    __slots__ = ("_type",)
    _type: types.DataType

    def __init__(self, data_type: types.DataType) -> None:
        """Wrap a type of tables; programs call the functions of this class."""
        object.__setattr__(self, "_type", data_type)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("DataType is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("DataType is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return (DataType, (self._type,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataType) and self._type == other._type

    def __hash__(self) -> int:
        return hash(("DataType", self._type))

    def __repr__(self) -> str:
        return f"DataType({self._type!r})"

    def _to_table_data_type(self) -> types.DataType:
        """Return the type as tables have it."""
        return self._type

    @staticmethod
    def _from_type_hint(hint: Any) -> DataType:
        """Return the type of a type hint; it is NOT NULL unless the hint allows None.

        Raises:
            TypeError: The hint has no type.
        """
        from scurry.dataframe._functions.hints import strict_type_of_hint

        return DataType(strict_type_of_hint(hint))

    @staticmethod
    def _from_sql(text: str) -> DataType:
        """Return the type of a text of SQL.

        Raises:
            ValueError: It is none.
        """
        from scurry.sql.statements.text import parse_type

        if text.strip().upper() == "NULL":
            return DataType.null()
        try:
            return DataType(parse_type(text))
        except ScurryError as error:
            raise ArgumentError(f"{text!r} is no SQL type: {error}") from error

    # ------------------------------------------------------------------ nullability

    def not_null(self) -> DataType:
        """Return the type without NULL.

        Raises:
            ValueError: It is the type of NULL.
        """
        if isinstance(self._type, types.NullType):
            raise ArgumentError("the NULL type has no value but NULL, so that it cannot be NOT NULL")
        return DataType(self._type.not_null())

    def nullable(self) -> DataType:
        """Return the type with NULL."""
        return DataType(self._type.nullable())

    # ------------------------------------------------------------------ types without parameters

    @staticmethod
    def int8() -> DataType:
        """Return the type of whole numbers of 8 bits: TINYINT."""
        return DataType(types.TinyIntType())

    @staticmethod
    def int16() -> DataType:
        """Return the type of whole numbers of 16 bits: SMALLINT."""
        return DataType(types.SmallIntType())

    @staticmethod
    def int32() -> DataType:
        """Return the type of whole numbers of 32 bits: INT."""
        return DataType(types.IntType())

    @staticmethod
    def int64() -> DataType:
        """Return the type of whole numbers of 64 bits: BIGINT."""
        return DataType(types.BigIntType())

    @staticmethod
    def float32() -> DataType:
        """Return the type of floating-point numbers of 32 bits: FLOAT."""
        return DataType(types.FloatType())

    @staticmethod
    def float64() -> DataType:
        """Return the type of floating-point numbers of 64 bits: DOUBLE."""
        return DataType(types.DoubleType())

    @staticmethod
    def bool() -> DataType:
        """Return the type of truth values: BOOLEAN."""
        return DataType(types.BooleanType())

    @staticmethod
    def string() -> DataType:
        """Return the type of texts: STRING."""
        return DataType(types.VarCharType(MAX_LENGTH))

    @staticmethod
    def binary() -> DataType:
        """Return the type of bytes: BYTES."""
        return DataType(types.VarBinaryType(MAX_LENGTH))

    @staticmethod
    def null() -> DataType:
        """Return the type of NULL."""
        return DataType(types.NullType())

    @staticmethod
    def date() -> DataType:
        """Return the type of days: DATE."""
        return DataType(types.DateType())

    # ------------------------------------------------------------------ types with parameters

    @staticmethod
    def decimal(precision: int, scale: int) -> DataType:
        """Return the type of decimal numbers.

        Args:
            precision: The digits, 1 to 38.
            scale: Those after the point.
        """
        return DataType(types.DecimalType(require_integer("precision", precision), require_integer("scale", scale)))

    @staticmethod
    def fixed_size_string(length: int) -> DataType:
        """Return the type of texts of a length: CHAR.

        Args:
            length: The characters.
        """
        return DataType(types.CharType(require_integer("length", length)))

    @staticmethod
    def fixed_size_binary(length: int) -> DataType:
        """Return the type of bytes of a length: BINARY.

        Args:
            length: The bytes.
        """
        return DataType(types.BinaryType(require_integer("length", length)))

    @staticmethod
    def time(precision: int = 0) -> DataType:
        """Return the type of times of a day.

        Args:
            precision: The digits of the seconds' fraction.
        """
        return DataType(types.TimeType(require_integer("precision", precision)))

    @staticmethod
    def timestamp(precision: int = 6) -> DataType:
        """Return the type of dates with times, as a clock on a wall shows them.

        Args:
            precision: The digits of the seconds' fraction.
        """
        return DataType(types.TimestampType(require_integer("precision", precision)))

    @staticmethod
    def timestamp_ltz(precision: int = 6) -> DataType:
        """Return the type of points of time: TIMESTAMP_LTZ.

        Args:
            precision: The digits of the seconds' fraction.
        """
        return DataType(types.LocalZonedTimestampType(require_integer("precision", precision)))

    @staticmethod
    def list(dtype: DataType) -> DataType:
        """Return the type of lists: ARRAY.

        Args:
            dtype: The type of the elements.
        """
        return DataType(types.ArrayType(_table_type("dtype", dtype)))

    @staticmethod
    def map(key_type: DataType, value_type: DataType) -> DataType:
        """Return the type of maps.

        Args:
            key_type: The type of the keys.
            value_type: The type of the values.
        """
        return DataType(types.MapType(_table_type("key_type", key_type), _table_type("value_type", value_type)))

    @staticmethod
    def struct(fields: Mapping[str, DataType] | Sequence[tuple[str, DataType]]) -> DataType:
        """Return the type of rows of named fields: ROW.

        Args:
            fields: The types by name, or pairs of name and type.
        """
        pairs = fields.items() if isinstance(fields, Mapping) else fields
        made = []
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
                raise ArgumentTypeError("fields must be a dict of names and types, or pairs of name and type")
            made.append(types.RowField(pair[0], _table_type(f"field '{pair[0]}'", pair[1])))
        return DataType(types.RowType(made))


def _table_type(name: str, given: Any) -> types.DataType:
    if not isinstance(given, DataType):
        raise ArgumentTypeError(f"{name} must be a pyflink.dataframe.DataType, got {type(given).__name__}")
    return given._type


def declared_type(name: str, given: Any) -> types.DataType:
    """Return the type of a declaration: a DataType, a Python type or a text of SQL.

    Args:
        name: The name of the argument, for messages.
        given: The declaration.

    Raises:
        TypeError: It is none of these, or the Python type has no SQL type.
        ValueError: The text is no SQL type.
    """
    import typing

    if isinstance(given, DataType):
        return given._type
    if isinstance(given, str):
        return DataType._from_sql(given)._type
    if isinstance(given, type) or typing.get_origin(given) is not None:
        return DataType._from_type_hint(given)._type
    raise ArgumentTypeError(
        f"{name} must be a DataFrame DataType, Python type, or SQL type string, got {type(given).__name__}."
    )
