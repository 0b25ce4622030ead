"""Conversion of state to columns of a DataFrame: schemas and values."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation, type_info_from_hint
from scurry.connectors.spark_columns import declared_columns, fields_of, spark_type, to_arrow
from scurry.datastream.window import TimeWindow
from scurry.errors import ArgumentError, TypeMismatchError
from scurry.runtime.savepoint.contents import as_text
from scurry.runtime.state.layout import Timer
from scurry.state.entries import WindowState

__all__ = ["Columns", "keyed_columns", "record_columns", "timer_columns", "window_columns"]

Schema = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Columns:
    """Convert results to rows.

    Attributes:
        uid: The operator's uid, for error messages.
        schema: Name and Spark SQL type of each column.
        fields: Returns the values of a result's row, given the column names.
    """

    uid: str
    schema: Schema
    fields: Callable[[Any, Sequence[str]], Sequence[Any]]

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [name for name, _ in self.schema]

    def record_batch(self, results: Sequence[Any], columns: Any) -> Any:
        """Return results as an Arrow record batch.

        Args:
            results: The results, at least one.
            columns: The Arrow schema of the columns.

        Raises:
            TypeMismatchError: A value does not fit its column.
        """
        import pyarrow as pa

        names = self.names
        rows = [self.fields(result, names) for result in results]
        arrays = [self._array(field, values) for field, values in zip(columns, zip(*rows, strict=True), strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=columns)

    def _array(self, field: Any, values: Sequence[Any]) -> Any:
        import pyarrow as pa

        convert = as_text if pa.types.is_string(field.type) else to_arrow(field.type)
        try:
            return pa.array(values if convert is None else list(map(convert, values)), field.type)
        except (pa.ArrowException, TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
            for value in values:
                try:
                    pa.array([value if convert is None else convert(value)], field.type)
                except Exception as cause:
                    declared = f"{dict(self.schema)[field.name]} of column {field.name!r} (operator {self.uid!r})"
                    reason = f"{cause}. A STRING column shows anything, as JSON"
                    raise TypeMismatchError(declared, value, reason) from error
            raise


# ------------------------------------------------------------------ columns of each kind of result


def keyed_columns(schema: Any, uid: str, parse: Callable[[str], Schema]) -> Columns:
    """Return the columns of keyed state.

    Args:
        schema: The `schema` argument of `keyed_state_frame`.
        uid: The operator's uid.
        parse: Parses DDL.

    Raises:
        ArgumentError: The schema is invalid, or has no `key`.
    """
    if schema is None:
        return Columns(uid, (("key", "STRING"), ("states", "MAP<STRING, STRING>")), _key_and_texts)
    columns = _schema(schema, parse)
    if "key" not in dict(columns):
        raise ArgumentError(f"the schema needs a column named key, next to the states: {dict(columns)}")
    return Columns(uid, columns, _key_and_states)


def record_columns(schema: Any, uid: str, parse: Callable[[str], Schema]) -> Columns:
    """Return the columns of a function's results."""
    return Columns(uid, _schema(schema, parse), fields_of)


def timer_columns(uid: str) -> Columns:
    """Return the columns of timers."""
    schema = (("key", "STRING"), ("time", "BIGINT"), ("domain", "STRING"), *_BOUNDS)
    return Columns(uid, schema, _timer)


def window_columns(contents: Any, uid: str) -> Columns:
    """Return the columns of windows; `contents` is the type of their contents."""
    kind = contents if isinstance(contents, str) else _spark_type(contents)
    return Columns(uid, (("key", "STRING"), *_BOUNDS, ("contents", kind)), _contents)


_BOUNDS = (("window_start", "BIGINT"), ("window_end", "BIGINT"))


def _key_and_texts(result: tuple[Any, dict[str, Any]], names: Sequence[str]) -> Sequence[Any]:
    key, states = result
    return key, {name: as_text(value) for name, value in states.items()}


def _key_and_states(result: tuple[Any, dict[str, Any]], names: Sequence[str]) -> Sequence[Any]:
    key, states = result
    return [key if name == "key" else states.get(name) for name in names]


def _timer(timer: Timer, names: Sequence[str]) -> Sequence[Any]:
    return timer.key, timer.time, timer.domain.name, *_bounds(timer.window)


def _contents(state: WindowState, names: Sequence[str]) -> Sequence[Any]:
    return state.key, *_bounds(state.window), state.contents


def _bounds(window: Any) -> tuple[int | None, int | None]:
    return (window.start, window.end) if isinstance(window, TimeWindow) else (None, None)


# ------------------------------------------------------------------ schemas


def _schema(schema: Any, parse: Callable[[str], Schema]) -> Schema:
    """Return names and Spark SQL types of columns, from DDL, a dict, a declared type or a dataclass."""
    if isinstance(schema, str):
        return parse(schema)
    if isinstance(schema, Mapping):
        return tuple((name, _spark_type(kind)) for name, kind in schema.items())
    if isinstance(schema, TypeInformation):
        names, kinds = declared_columns(schema)
        return tuple(zip(names, map(spark_type, kinds), strict=True))
    if isinstance(schema, type) and dataclasses.is_dataclass(schema):
        return tuple(_dataclass_columns(schema))
    raise ArgumentError(
        f"a schema is DDL such as 'key STRING, count BIGINT', a dict of names and types, Types.ROW_NAMED(...) or a "
        f"dataclass, not {schema!r}"
    )


def _dataclass_columns(cls: type) -> list[tuple[str, str]]:
    hints = typing.get_type_hints(cls)
    return [(field.name, _spark_type(hints[field.name])) for field in dataclasses.fields(cls)]


def _spark_type(kind: Any) -> str:
    """Return the Spark SQL type of a declared type or a type hint; return text unchanged."""
    if isinstance(kind, str):
        return kind
    if isinstance(kind, TypeInformation):
        return spark_type(kind)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        given = [arg for arg in args if arg is not type(None)]
        if len(given) == 1:
            return _spark_type(given[0])
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return f"STRUCT<{', '.join(f'{name}: {of}' for name, of in _dataclass_columns(kind))}>"
    if origin is list:
        return f"ARRAY<{_spark_type(args[0])}>"
    if origin is dict:
        return f"MAP<{_spark_type(args[0])}, {_spark_type(args[1])}>"
    known = type_info_from_hint(kind)
    if known is None:
        raise ArgumentError(f"{kind} has no Spark SQL type; pass a dict of names and Spark SQL types as schema")
    return "BINARY" if kind is bytes else spark_type(known)
