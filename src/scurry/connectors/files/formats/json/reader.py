"""JsonValues: JSON as values, converted as Flink's deserializer (Jackson) does."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from scurry._dataclasses import dataclass
from scurry.common._charsets import text_of
from scurry.common._java_numbers import double_text
from scurry.common._types import java_text
from scurry.common._types.json_text import quoted
from scurry.errors import UnsupportedError
from scurry.sql.types import (
    ArrayType,
    BigIntType,
    BooleanType,
    CharType,
    DataType,
    DoubleType,
    IntType,
    MapType,
    MultisetType,
    RowType,
    SmallIntType,
    TinyIntType,
    VarCharType,
)
from scurry.sql.values.parsing import INTEGER_BITS, atom_parser, parse_double, parse_integer

Converter: TypeAlias = Callable[[Any], Any]


class Fraction(float):
    """A number with the text it was written as."""

    __slots__ = ("text",)
    text: str


def _fraction(text: str) -> Fraction:
    value = Fraction(text)
    value.text = text
    return value


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"Non-standard token '{text}': JSON has no such number")


_DECODER = json.JSONDecoder(parse_float=_fraction, parse_constant=_refuse_constant)


def parsed(message: bytes) -> Any:
    """Return the first JSON value of a message; ignore further text, as Jackson does.

    Raises:
        EOFError: The message is empty.
        ValueError: It does not begin with JSON.
    """
    text = text_of(message).lstrip(" \t\r\n\v\f")
    if not text:
        raise EOFError("it is empty")
    try:
        return _DECODER.raw_decode(text)[0]
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


@dataclass(frozen=True)
class JsonSettings:
    """The settings of a JSON decoder.

    Attributes:
        iso: Whether timestamps follow ISO-8601.
        ignore_errors: Whether what cannot be read is NULL or skipped.
        fail_on_missing: Whether a missing field is an error.
    """

    iso: bool = False
    ignore_errors: bool = False
    fail_on_missing: bool = False


class JsonValues:
    """Make the functions that read JSON as values of columns; a subclass reads values of records."""

    def __init__(self, settings: JsonSettings) -> None:
        self.settings = settings

    def object(self, names: Sequence[str], types: Sequence[DataType], within: str = "") -> Converter:
        """Return the function that makes a list of values of an object; it raises ValueError.

        Raises:
            UnsupportedError: JSON does not support a type.
        """
        fields = [(name, self.field(each, within + name)) for name, each in zip(names, types, strict=True)]
        required = self.required(names)

        def convert(value: Any) -> list[Any]:
            if not isinstance(value, dict):
                raise ValueError(f"expected a JSON object, not {_shortened(value)}")
            if required and not value.keys() >= required:
                name = next(name for name in names if name in required and name not in value)
                raise ValueError(self.missing(name, within, value))
            get = value.get
            return [field(get(name)) for name, field in fields]

        return convert

    def required(self, names: Sequence[str]) -> frozenset[str]:
        """Return the fields that an object must have."""
        return frozenset(names if self.settings.fail_on_missing else ())

    def missing(self, name: str, within: str, given: dict[str, Any]) -> str:
        """Return the reason to refuse an object that lacks a field."""
        return f"Some field is missing in the JSON data: {within}{name}"

    def field(self, data_type: DataType, name: str) -> Converter:
        """Return the function that reads a value; null is None."""
        convert, ignore = self._converter(data_type, name), self.settings.ignore_errors

        def checked(value: Any) -> Any:
            if value is None:
                return None
            try:
                return convert(value)
            except (ValueError, ArithmeticError) as error:
                if ignore:
                    return None
                if str(error).startswith("Fail to"):
                    raise
                raise ValueError(f"Fail to deserialize at field: {name}. {error}") from None

        return checked

    def atom(self, data_type: DataType) -> Converter | None:
        """Return the function that reads a value without parts; None if JSON does not support the type."""
        known = _SIMPLE.get(type(data_type))
        if known is not None:
            return known
        parse = atom_parser(data_type, self.settings.iso)
        return None if parse is None else lambda value: parse(written_text(value))

    def row(self, names: Sequence[str]) -> Converter:
        """Return the function that makes a value of a nested row."""
        return tuple

    def entries(self, key_type: DataType, item: Converter) -> Converter:
        """Return the function that makes a value of an object that is a map."""
        if not isinstance(key_type, CharType | VarCharType):
            kind = key_type.as_summary_string()
            raise UnsupportedError(f"JSON format doesn't support non-string as key type of map. The type is: {kind}")
        return lambda value: _in_order([(key, item(part)) for key, part in value.items()])

    def _converter(self, data_type: DataType, name: str) -> Converter:
        atom = self.atom(data_type)
        if atom is not None:
            return atom
        if isinstance(data_type, ArrayType):
            return _array(self.field(data_type.element_type, name))
        if isinstance(data_type, MapType):
            return _map(self.entries(data_type.key_type, self.field(data_type.value_type, name)))
        if isinstance(data_type, MultisetType):
            return _map(self.entries(data_type.element_type, self.field(IntType(), name)))
        if isinstance(data_type, RowType):
            make = self.row(data_type.field_names())
            values = self.object(data_type.field_names(), data_type.field_types(), f"{name}.")
            return lambda value: make(values(value))
        raise UnsupportedError(
            f"JSON cannot hold {data_type.as_summary_string()} (field {name!r}); declare it as STRING and convert it"
        )


def _array(element: Converter) -> Converter:
    def convert(value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise ValueError(f"expected a JSON array, not {_shortened(value)}")
        return list(map(element, value))

    return convert


def _map(entries: Converter) -> Converter:
    def convert(value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError(f"expected a JSON object, not {_shortened(value)}")
        return entries(value)

    return convert


def _in_order(entries: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    if len(entries) < 2:
        return entries
    # Flink's reader keeps them in a HashMap of Java.
    codes = [_key_hash(key) for key, _ in entries]
    return [entries[place] for place in java_text.hash_map_order(codes, slots=16)]


@lru_cache(maxsize=1 << 14)
def _key_hash(key: str) -> int:
    return java_text.hash_of_string_data(key)


def _boolean(value: Any) -> bool:
    return value if isinstance(value, bool) else written_text(value).strip().lower() == "true"


def _integer(kind: str, whole_part: bool = False) -> Converter:
    limit = 1 << (INTEGER_BITS[kind] - 1)

    def convert(value: Any) -> int:
        if type(value) is int and -limit <= value < limit:
            return value
        if whole_part and isinstance(value, float):
            # Jackson cuts the fraction of an INT or BIGINT, but not of a text
            if not math.isfinite(value):
                raise ValueError(f"Numeric value ({value}) out of range")
            return parse_integer(str(int(value)), kind)
        return parse_integer(written_text(value), kind)

    return convert


def _double(value: Any) -> float:
    return float(value) if type(value) is Fraction else parse_double(written_text(value))


def written_text(value: Any) -> str:
    """Return the text of a JSON value: of a number as it was written, of arrays and objects without blanks."""
    if isinstance(value, str):
        return value
    return value.text if isinstance(value, Fraction) else tree_text(value)


def tree_text(value: Any) -> str:
    """Return a JSON value without blanks, with numbers as Java shows them."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(key)}:{tree_text(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(tree_text, value)) + "]"
    if isinstance(value, str):
        return quoted(value)
    if value is None:
        return "null"
    if isinstance(value, float):
        return double_text(float(value))
    return "true" if value is True else "false" if value is False else str(value)


def _shortened(value: Any) -> str:
    text = tree_text(value)
    return text if len(text) <= 60 else text[:60] + "..."


_SIMPLE: dict[type[DataType], Converter] = {
    BooleanType: _boolean,
    TinyIntType: _integer("TINYINT"),
    SmallIntType: _integer("SMALLINT"),
    IntType: _integer("INT", whole_part=True),
    BigIntType: _integer("BIGINT", whole_part=True),
    DoubleType: _double,
    CharType: written_text,
    VarCharType: written_text,
}
