"""Dataclasses as rows of files and messages: their types, and conversions in both directions."""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any

from scurry.common.typeinfo import RowTypeInfo, TypeInformation, Types, type_info_from_hint
from scurry.common.types import Row
from scurry.datastream.formats.csv import CsvSchema
from scurry.datastream.formats.json import JsonRowDeserializationSchema
from scurry.datastream.functions import MapFunction
from scurry.errors import ArgumentTypeError, MissingFieldError
from scurry.sql.types.nested_types import RowField, RowType
from scurry.sql.values.hints import type_of_class

_HINT = "declare it `| None` or with a default if records may lack it"


class RowToRecord(MapFunction[Row, Any]):
    """Make an instance of a dataclass of each row.

    A field without a value gets its default, or None if its type allows that.
    """

    def __init__(self, record: type) -> None:
        self._record = record
        self._fields = [each for each in dataclasses.fields(record) if each.init]
        self._required = required_fields(record)

    def map(self, value: Row) -> Any:
        """Return the record of a row.

        Raises:
            MissingFieldError: A field that needs a value has none.
        """
        values = [*value]
        return self._record(*(self._completed(values) if None in values else values))

    def _completed(self, values: list[Any]) -> list[Any]:
        for place, field in enumerate(self._fields):
            if values[place] is None:
                if field.default_factory is not dataclasses.MISSING:
                    values[place] = field.default_factory()
                elif field.default is not dataclasses.MISSING:
                    values[place] = field.default
                elif field.name in self._required:
                    raise MissingFieldError(
                        f"the record has no value for {field.name!r} of {self._record.__qualname__}; {_HINT}"
                    )
        return values


class RecordToRow(MapFunction[Any, Row]):
    """Make a row of each instance of a dataclass."""

    def __init__(self, record: type) -> None:
        self._names = tuple(fields_of(record))

    def map(self, value: Any) -> Row:
        return Row(*[getattr(value, name) for name in self._names])


def fields_of(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass and their types, without None.

    Raises:
        ArgumentTypeError: It is not a dataclass.
    """
    if not (isinstance(record, type) and dataclasses.is_dataclass(record)):
        raise ArgumentTypeError(f"expected a dataclass that describes the records, got {record!r}")
    hints = typing.get_type_hints(record)
    return {field.name: _required(hints[field.name]) for field in dataclasses.fields(record) if field.init}


def required_fields(record: type) -> tuple[str, ...]:
    """Return the fields that need a value: they have no default, and None is not of their type."""
    hints = typing.get_type_hints(record)
    return tuple(
        field.name
        for field in dataclasses.fields(record)
        if field.init
        and field.default is field.default_factory is dataclasses.MISSING
        and not _may_be_none(hints[field.name])
    )


def json_schema(record: type) -> JsonRowDeserializationSchema:
    """Return the schema that reads rows of a dataclass from JSON objects.

    Raises:
        ArgumentTypeError: It is not a dataclass, or a field has a type that rows do not have.
    """
    return JsonRowDeserializationSchema(row_type_info(record), False, False, required_fields(record))


def row_type_info(record: type) -> RowTypeInfo:
    """Return the type of the rows of a dataclass.

    Raises:
        ArgumentTypeError: It is not a dataclass, or a field has a type that rows do not have.
    """
    kinds: list[TypeInformation] = []
    for name, hint in fields_of(record).items():
        kind = type_info_from_hint(hint)
        if kind is None:
            raise _unknown(record, name, hint)
        kinds.append(kind)
    return Types.ROW_NAMED(list(fields_of(record)), kinds)


def row_data_type(record: type) -> RowType:
    """Return the columns of a dataclass.

    Raises:
        ArgumentTypeError: It is not a dataclass, or a field has a type that columns do not have.
    """
    return RowType([RowField(name, kind) for name, kind in _columns(record).items()])


def csv_schema(record: type, *, header: bool) -> CsvSchema:
    """Return the CSV columns of a dataclass, by the names in a header or in order.

    If a field may be None, an empty column is None.

    Raises:
        ArgumentTypeError: It is not a dataclass, or a field is not text, a number or a bool.
    """
    builder = CsvSchema.builder()
    kinds = _columns(record)
    for name, hint in fields_of(record).items():
        if hint is str:
            builder.add_string_column(name)
        elif hint is bool:
            builder.add_boolean_column(name)
        elif hint in (int, float):
            builder.add_number_column(name, kinds[name])
        else:
            raise _unknown(record, name, hint)
    if any(_required(hint) != hint for hint in typing.get_type_hints(record).values()):
        builder.set_null_value("")
    dialect = builder.set_use_header(header).build()._dialect
    return CsvSchema(dataclasses.replace(dialect, by_name=header, required=required_fields(record)))


def _columns(record: type) -> dict[str, Any]:
    fields = fields_of(record)
    types = {name: type_of_class(hint) for name, hint in fields.items()}
    for name, found in types.items():
        if found is None:
            raise _unknown(record, name, fields[name])
    return types


def _may_be_none(hint: Any) -> bool:
    return hint in (Any, object, None) or type(None) in typing.get_args(hint)


def _required(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        others = [each for each in typing.get_args(hint) if each is not type(None)]
        if len(others) == 1:
            return others[0]
    return hint


def _unknown(record: type, name: str, hint: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"field {name!r} of {record.__qualname__} is {hint!r}, which this shortcut does not read or write; "
        "declare another type, or use from_source(...) and sink_to(...) with a format of your own"
    )
