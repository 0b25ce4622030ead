"""The SQL types: classes, text forms, type derivation, and the Arrow types of their columns.

`scurry.table.types` re-exports what users import; everything else imports from the modules here. Importing this package
loads nothing heavy: `arrow` and `values`, which know pyarrow, are imported by name where columns are made.

    logical_type, atomic_types, nested_types, intervals, special_types   the classes
    families        which types are numbers, texts, points of time ...
    arithmetic      result types of + - * / %, of ROUND and of aggregates
    common_type     the type that several values have in common
    cast_rules      which casts there are, and which happen by themselves
    arrow, values   columns of a type, and their values one by one
"""

from __future__ import annotations

from scurry.sql.types.atomic_types import (
    MAX_LENGTH,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    NumericType,
    SmallIntType,
    TimeAttribute,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    ZonedTimestampType,
)
from scurry.sql.types.intervals import DayTimeIntervalType, YearMonthIntervalType
from scurry.sql.types.logical_type import AtomicType, DataType
from scurry.sql.types.nested_types import ArrayType, MapType, MultisetType, RowField, RowType
from scurry.sql.types.special_types import (
    BitmapType,
    RawType,
    StructuredType,
    SymbolType,
    UserDefinedType,
    VariantType,
    without_user_types,
)

__all__ = [
    "MAX_LENGTH",
    "ArrayType",
    "AtomicType",
    "BigIntType",
    "BinaryType",
    "BitmapType",
    "BooleanType",
    "CharType",
    "DataType",
    "DateType",
    "DayTimeIntervalType",
    "DecimalType",
    "DoubleType",
    "FloatType",
    "FractionalType",
    "IntType",
    "IntegralType",
    "LocalZonedTimestampType",
    "MapType",
    "MultisetType",
    "NullType",
    "NumericType",
    "RawType",
    "RowField",
    "RowType",
    "SmallIntType",
    "StructuredType",
    "SymbolType",
    "TimeAttribute",
    "TimeType",
    "TimestampType",
    "TinyIntType",
    "UserDefinedType",
    "VarBinaryType",
    "VarCharType",
    "VariantType",
    "YearMonthIntervalType",
    "ZonedTimestampType",
    "without_user_types",
]
