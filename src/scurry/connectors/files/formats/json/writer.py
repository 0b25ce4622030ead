"""JsonTexts: values as JSON, byte for byte as Flink's serializer (Jackson) writes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._types.json_text import quoted_for_bytes as quoted
from scurry.errors import RecordRejectedError, UnsupportedError
from scurry.sql.types import (
    ArrayType,
    BooleanType,
    CharType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    IntType,
    MapType,
    MultisetType,
    NullType,
    RowType,
    VarCharType,
)
from scurry.sql.values.texts import Text, atom_text


@dataclass(frozen=True)
class JsonWriting:
    """The settings of a JSON encoder.

    Attributes:
        iso: Whether timestamps follow ISO-8601.
        null_keys: How NULL as a key of a map is written: `FAIL`, `DROP` or `LITERAL`.
        null_key: The key instead of NULL for `LITERAL`.
        plain_decimals: Whether decimals are written without an exponent.
        skip_nulls: Whether NULL fields are left out.
    """

    iso: bool = False
    null_keys: str = "FAIL"
    null_key: str = "null"
    plain_decimals: bool = False
    skip_nulls: bool = False


class JsonTexts:
    """Make the functions that write values of columns as JSON; a subclass writes values of records."""

    def __init__(self, settings: JsonWriting) -> None:
        self.settings = settings

    def object(self, names: Sequence[str], types: Sequence[DataType]) -> Text:
        """Return the function that writes the values of a row as an object.

        Raises:
            UnsupportedError: JSON does not support a type.
        """
        fields = [(quoted(name) + ":", self.value(data_type)) for name, data_type in zip(names, types, strict=True)]
        values_of, skip = self.values_of(names), self.settings.skip_nulls

        def write(row: Any) -> str:
            values = row if values_of is None else values_of(row)
            parts = [
                key + ("null" if value is None else text(value))
                for (key, text), value in zip(fields, values, strict=True)
                if not (skip and value is None)
            ]
            return "{" + ",".join(parts) + "}"

        return write

    def objects(
        self, names: Sequence[str], types: Sequence[DataType]
    ) -> Callable[[Iterable[Sequence[Any]]], Iterable[str]]:
        """Return the function that writes the rows of columns as objects.

        Raises:
            UnsupportedError: JSON does not support a type.
        """
        if self.settings.skip_nulls:
            write = self.object(names, types)
            return lambda columns: map(write, zip(*columns, strict=True))
        texts = [self.value(data_type) for data_type in types]
        whole = "{" + ",".join([quoted(name).replace("%", "%%") + ":%s" for name in names]) + "}"

        def lines(columns: Iterable[Sequence[Any]]) -> Iterable[str]:
            written = [
                ["null" if value is None else text(value) for value in values]
                for text, values in zip(texts, columns, strict=True)
            ]
            return map(whole.__mod__, zip(*written, strict=True))

        return lines

    def value(self, data_type: DataType) -> Text:
        """Return the function that writes values that are not None."""
        if isinstance(data_type, ArrayType):
            element = _or_null(self.value(data_type.element_type))
            return lambda values: "[" + ",".join([element(value) for value in values]) + "]"
        if isinstance(data_type, MapType):
            return self._map(data_type.key_type, self.value(data_type.value_type))
        if isinstance(data_type, MultisetType):
            return self._map(data_type.element_type, self.value(IntType()))
        if isinstance(data_type, RowType):
            return self.object(data_type.field_names(), data_type.field_types())
        if isinstance(data_type, CharType | VarCharType):
            return quoted
        text = self.atom(data_type)
        if text is None:
            raise UnsupportedError(f"JSON cannot hold {data_type.as_summary_string()}; convert it to STRING")
        if isinstance(data_type, FloatType | DoubleType):
            return lambda value: text(value) if math.isfinite(value) else f'"{text(value)}"'
        return text if isinstance(data_type, _BARE) else lambda value: f'"{text(value)}"'

    def atom(self, data_type: DataType) -> Text | None:
        """Return the function that makes the text of a value without parts; None if JSON does not support the type."""
        if isinstance(data_type, NullType):
            return lambda value: "null"
        return atom_text(data_type, self.settings.plain_decimals, self.settings.iso)

    def values_of(self, names: Sequence[str]) -> Callable[[Any], Iterable[Any]] | None:
        """Return the function that takes a row apart; None if it is a tuple."""
        return None

    def entries_of(self, key_type: DataType) -> Callable[[Any], Iterable[tuple[Any, Any]]]:
        """Return the function that takes a map apart into pairs of a text, or None, and a value."""
        if not isinstance(key_type, CharType | VarCharType):
            kind = key_type.as_summary_string()
            raise UnsupportedError(f"JSON format doesn't support non-string as key type of map. The type is: {kind}")
        return _same

    def _map(self, key_type: DataType, item: Text) -> Text:
        text, entries, settings = _or_null(item), self.entries_of(key_type), self.settings

        def write(value: Any) -> str:
            parts = {}
            for key, each in entries(value):
                if key is None:
                    if settings.null_keys == "DROP":
                        continue
                    if settings.null_keys == "FAIL":
                        raise RecordRejectedError(
                            "JSON format doesn't support to serialize map data with null keys. You can drop null key "
                            "entries or encode null in literals by specifying map-null-key.mode option.",
                            value,
                        )
                    key = settings.null_key
                parts[key] = text(each)
            return "{" + ",".join([f"{quoted(key)}:{each}" for key, each in parts.items()]) + "}"

        return write


#: types whose values have no quotes
_BARE = (IntegralType, DecimalType, BooleanType, NullType)


def _or_null(text: Text) -> Text:
    return lambda value: "null" if value is None else text(value)


def _same(value: Any) -> Any:
    return value
