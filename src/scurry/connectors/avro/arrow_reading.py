"""Conversion of Arrow columns to Avro's records, by Avro's rules of schema resolution."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.nullable import nullable
from scurry.connectors.avro.arrow_scalars import scalar_reader
from scurry.connectors.avro.arrow_types import arrow_type, branches, is_nullable
from scurry.connectors.avro.schema import AvroSchema, Node, logical_type
from scurry.connectors.files.formats.parquet import BatchReader
from scurry.errors import MalformedRecordError

Convert = Callable[[Any], Any]


def batch_reader(schema: AvroSchema, file: Any, path: str) -> BatchReader:
    """Return the columns to read for the records of a schema, and the function that converts them to dicts.

    A field is read from the column of its name or of one of its aliases, or gets its default value. Numbers may be
    narrower in the file than in the schema; texts may be read as bytes, and bytes as texts.

    Args:
        schema: The schema of the records to read.
        file: The file's columns, a `pyarrow.Schema`.
        path: The file's path, for error messages.

    Raises:
        MalformedRecordError: A column is missing, or its type does not fit the schema.
    """
    try:
        fields = _Resolution(schema).fields(schema.resolve(schema.parsed), list(file), ())
    except _MismatchError as error:
        raise MalformedRecordError(path, None, error.column, str(error)) from None
    columns = list(dict.fromkeys(field.source for field in fields if field.source is not None))

    def records(batch: Any) -> list[dict[str, Any]]:
        try:
            values = [field.values(batch) for field in fields]
        except (_MismatchError, ValueError) as error:
            column = error.column if isinstance(error, _MismatchError) else ""
            raise MalformedRecordError(path, None, column, str(error)) from None
        names = [field.name for field in fields]
        return [dict(zip(names, record, strict=True)) for record in zip(*values, strict=True)]

    return columns, records


class _MismatchError(Exception):
    """A column cannot be read as the schema's type."""

    def __init__(self, where: tuple[str, ...], reason: str) -> None:
        self.column = ".".join(where)
        super().__init__(f"column {self.column!r} {reason}")


@dataclass(frozen=True)
class _Field:
    """A field of a record, with its source in the file.

    Attributes:
        name: Its name.
        source: The column or field in the file, or None if the file lacks it.
        convert: Converts the file's value, or None if there is no source; None if the values are the same.
        where: The names of the enclosing fields and its own; None if it may be null.
    """

    name: str
    source: str | None
    convert: Convert | None
    where: tuple[str, ...] | None

    def values(self, batch: Any) -> list[Any]:
        """Return the field's values in a record batch."""
        if self.source is None:
            assert self.convert is not None
            return [self.convert(None) for _ in range(batch.num_rows)]
        column = batch.column(self.source)
        if self.where is not None and column.null_count:
            raise _MismatchError(self.where, "is null in a record, which the schema does not allow")
        values: list[Any] = column.to_pylist()
        return values if self.convert is None else list(map(self.convert, values))

    def value(self, record: dict[str, Any]) -> Any:
        """Return the field's value in a record of the file."""
        value = None if self.source is None else record[self.source]
        if value is None and self.source is not None and self.where is not None:
            raise _MismatchError(self.where, "is null in a record, which the schema does not allow")
        return value if self.convert is None else self.convert(value)


class _Resolution:
    """Resolve the types of a schema against the types in a file."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema

    def fields(self, record: Node, columns: list[Any], where: tuple[str, ...]) -> list[_Field]:
        """Resolve the fields of a record."""
        by_name = {column.name: column for column in columns}
        return [self._field(field, by_name, (*where, field["name"])) for field in record["fields"]]

    def _field(self, field: Node, columns: dict[str, Any], where: tuple[str, ...]) -> _Field:
        name, node = field["name"], field["type"]
        source = next((each for each in (name, *field.get("aliases", ())) if each in columns), None)
        if source is not None:
            convert = self._convert(node, columns[source].type, where)
            return _Field(name, source, convert, None if is_nullable(self._schema, node) else where)
        if "default" in field:
            return _Field(name, None, lambda _: copy.deepcopy(field["default"]), where)
        if self._schema.resolve(node) == "null":
            return _Field(name, None, lambda _: None, where)
        raise _MismatchError(where, "is missing; give the field a default value for files that do not have it")

    def _convert(self, node: Node, arrow: Any, where: tuple[str, ...]) -> Convert | None:
        """Return the function that converts a value in the file to the type; None if they are the same."""
        import pyarrow as pa

        node = self._schema.resolve(node)
        kind = logical_type(node)
        if pa.types.is_dictionary(arrow):
            arrow = arrow.value_type
        if kind == "union":
            return self._union(node, arrow, where)
        if kind in ("record", "error") and pa.types.is_struct(arrow):
            return self._record(node, arrow, where)
        if kind == "array" and (pa.types.is_list(arrow) or pa.types.is_large_list(arrow)):
            return self._array(node["items"], arrow.value_field, where)
        if kind == "map" and pa.types.is_map(arrow) and pa.types.is_string(arrow.key_type):
            return self._map(node["values"], arrow.item_field, where)
        reader = scalar_reader(kind, node, arrow)
        if reader is None:
            raise _MismatchError(where, f"is {arrow}, the schema says {kind}")
        return reader.convert

    def _record(self, node: Node, arrow: Any, where: tuple[str, ...]) -> Convert | None:
        columns = list(arrow)
        fields = self.fields(node, columns, where)
        same = [field.name for field in fields] == [column.name for column in columns]
        if same and not any(f.convert or (f.where and c.nullable) for f, c in zip(fields, columns, strict=True)):
            return None
        parts = [(field.name, field.value) for field in fields]
        return nullable(lambda record: {name: value(record) for name, value in parts})

    def _array(self, items: Node, arrow: Any, where: tuple[str, ...]) -> Convert | None:
        element = self._part(items, arrow, (*where, "element"))
        return None if element is None else nullable(lambda values: list(map(element, values)))

    def _map(self, values: Node, arrow: Any, where: tuple[str, ...]) -> Convert:
        item = self._part(values, arrow, (*where, "value"))
        if item is None:
            return nullable(dict)
        return nullable(lambda entries: {key: item(value) for key, value in entries})

    def _part(self, node: Node, arrow: Any, where: tuple[str, ...]) -> Convert | None:
        """Return the function that converts an element of an array or a value of a map."""
        convert = self._convert(node, arrow.type, where)
        if is_nullable(self._schema, node) or not arrow.nullable:
            return convert
        return lambda value: _not_null(value, where) if convert is None else convert(_not_null(value, where))

    def _union(self, node: list[Node], arrow: Any, where: tuple[str, ...]) -> Convert | None:
        choice = branches(self._schema, node)
        if len(choice) == 1:
            convert = self._convert(choice[0], arrow, where)
            return None if convert is None else nullable(convert)
        if not _has_members(arrow):
            return self._branch(choice, arrow, None, where)
        converts = [self._branch(choice, each.type, index, (*where, each.name)) for index, each in enumerate(arrow)]
        parts = [(each.name, convert or _same) for each, convert in zip(arrow, converts, strict=True)]

        def convert_member(members: dict[str, Any]) -> Any:
            return next((convert(members[name]) for name, convert in parts if members[name] is not None), None)

        return nullable(convert_member)

    def _branch(self, choice: list[Node], arrow: Any, index: int | None, where: tuple[str, ...]) -> Convert | None:
        """Return the conversion to the union's closest type; at equal distance, the type at `index` comes first."""

        def distance(place: int) -> tuple[bool, bool]:
            return arrow_type(self._schema, choice[place]) != arrow, place != index

        for place in sorted(range(len(choice)), key=distance):
            try:
                return self._convert(choice[place], arrow, where)
            except _MismatchError:
                continue
        raise _MismatchError(where, f"is {arrow}, the schema says {' or '.join(map(logical_type, choice))}")


def _has_members(arrow: Any) -> bool:
    """Return whether a type represents a union of several types as a struct with one field per type."""
    import pyarrow as pa

    return pa.types.is_struct(arrow) and [each.name for each in arrow] == [f"member{i}" for i in range(len(arrow))]


def _not_null(value: Any, where: tuple[str, ...]) -> Any:
    if value is None:
        raise _MismatchError(where, "is null in a record, which the schema does not allow")
    return value


def _same(value: Any) -> Any:
    return value
