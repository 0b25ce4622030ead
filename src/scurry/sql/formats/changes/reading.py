"""ChangeDecoder: messages of changes as rows with their kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.types import RowKind
from scurry.connectors.files.formats.json.reader import JsonSettings
from scurry.connectors.source import SKIPPED
from scurry.sql.formats.contract import FormatColumn, names_and_types
from scurry.sql.formats.json.codec import JsonDecoder
from scurry.sql.formats.messages import DecodedMessages, DecodingError, MessageDecoder
from scurry.sql.types import DataType
from scurry.sql.types.values import batch_of_rows
from scurry.sql.values.parsing import parse_timestamp

_INSERT, _BEFORE, _AFTER, _DELETE = (
    RowKind.INSERT.value,
    RowKind.UPDATE_BEFORE.value,
    RowKind.UPDATE_AFTER.value,
    RowKind.DELETE.value,
)
#: The kind and the JSON object of each row.
Changed = Iterator[tuple[int, Any]]


@dataclass(frozen=True)
class ChangeDecoder(MessageDecoder):
    """Decode messages of one tool.

    Attributes:
        identifier: The format.
        metadata: The metadata to read after them, with their types.
        settings: How JSON is read.
        with_schema: Whether the change is below `payload`.
        database: Regular expression of the databases to read; None for all.
        table: Regular expression of the tables to read; None for all.
    """

    identifier: str
    columns: tuple[FormatColumn, ...]
    metadata: tuple[tuple[str, DataType], ...]
    settings: JsonSettings
    with_schema: bool = False
    database: str | None = None
    table: str | None = None

    def decode_messages(self, messages: Sequence[bytes]) -> DecodedMessages:
        """Return the rows with their kinds and the messages that they are from.

        Raises:
            DecodingError: A message cannot be read.
        """
        parser = JsonDecoder(self.columns, self.settings, self.identifier)
        convert, changed = parser.row_converter(), _CHANGES[self.identifier]
        rows: list[list[Any]] = []
        kinds: list[int] = []
        origins: list[int] = []
        for index, message in enumerate(messages):
            try:
                for root in parser.parsed(index, message)[:1]:
                    if not isinstance(root, dict):
                        raise ValueError("expected a JSON object")
                    value = root.get("payload") if self.with_schema else root
                    if not isinstance(value, dict) or not self._included(value):
                        continue
                    # all rows of a message or none, as an error in the second one must not leave half an update
                    found = [(kind, convert(row)) for kind, row in changed(value, message)]
                    extra = [_METADATA[self.identifier][key](value, root) for key, _ in self.metadata]
                    rows += [[*(row or [None] * len(self.columns)), *extra] for _, row in found]
                    kinds += [kind for kind, _ in found]
                    origins += [index] * len(found)
            except ValueError as error:
                if not self.settings.ignore_errors:
                    raise DecodingError(index, str(error), f"{self.identifier}.ignore-parse-errors") from None
                SKIPPED.get()(1)
        columns = [*self.columns, *(FormatColumn(f"value.{key}", kind) for key, kind in self.metadata)]
        return DecodedMessages(batch_of_rows(rows, *names_and_types(columns)), origins, kinds)

    def _included(self, value: dict[str, Any]) -> bool:
        for pattern, key in ((self.database, "database"), (self.table, "table")):
            if pattern is not None and not re.fullmatch(pattern, str(value.get(key))):
                return False
        return True


def _images(operation: str, inserts: str, update: str, delete: str, tool: str) -> Callable[[Any, bytes], Changed]:
    """Return the reader of messages with the row before and after the change."""

    def changed(value: Any, message: bytes) -> Changed:
        kind, before, after = value.get(operation), value.get("before"), value.get("after")
        if kind in (update, delete) and before is None:
            what = "UPDATE" if kind == update else "DELETE"
            raise ValueError(
                f'The "before" field of {what} message is null, if you are using {tool} Postgres Connector, please '
                "check the Postgres table has been set REPLICA IDENTITY to FULL level."
            )
        if kind is not None and str(kind) in inserts:
            yield _INSERT, after
        elif kind == update:
            yield _BEFORE, before
            yield _AFTER, after
        elif kind == delete:
            yield _DELETE, before
        else:
            raise _unknown(operation, kind, tool, message)

    return changed


def _canal(value: Any, message: bytes) -> Changed:
    kind, data, old = value.get("type"), value.get("data"), value.get("old")
    if kind == "CREATE":
        return
    if kind not in ("INSERT", "UPDATE", "DELETE"):
        raise _unknown("type", kind, "Canal", message)
    for position, row in enumerate(data or []):
        if kind == "UPDATE":
            yield _BEFORE, {**row, **(old[position] or {})} if old else row
        yield {"INSERT": _INSERT, "UPDATE": _AFTER, "DELETE": _DELETE}[kind], row


def _maxwell(value: Any, message: bytes) -> Changed:
    kind, row = value.get("type"), value.get("data")
    if kind not in ("insert", "update", "delete"):
        raise _unknown("type", kind, "Maxwell", message)
    if kind == "update":
        yield _BEFORE, {**row, **(value.get("old") or {})}
    yield {"insert": _INSERT, "update": _AFTER, "delete": _DELETE}[kind], row


def _unknown(field: str, kind: Any, tool: str, message: bytes) -> ValueError:
    text = message.decode("utf-8", "replace")
    return ValueError(f'Unknown "{field}" value "{kind}". The {tool} JSON message is \'{text}\'')


_CHANGES: dict[str, Callable[[Any, bytes], Changed]] = {
    "debezium-json": _images("op", "cr", "u", "d", "Debezium"),
    "ogg-json": _images("op_type", "I", "U", "D", "Ogg"),
    "canal-json": _canal,
    "maxwell-json": _maxwell,
}

_Metadata = Callable[[dict[str, Any], dict[str, Any]], Any]


def _of(*path: str) -> _Metadata:
    def read(value: dict[str, Any], root: dict[str, Any]) -> Any:
        found: Any = value
        for key in path:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    return read


def _text(read: _Metadata) -> _Metadata:
    def shown(value: dict[str, Any], root: dict[str, Any]) -> str | None:
        found = read(value, root)
        return found if found is None or isinstance(found, str) else json.dumps(found)

    return shown


def _millis(read: _Metadata, scale: int = 1) -> _Metadata:
    def converted(value: dict[str, Any], root: dict[str, Any]) -> int | None:
        found = read(value, root)
        return None if found is None else int(found) * scale

    return converted


def _instant(read: _Metadata, separator: str) -> _Metadata:
    def converted(value: dict[str, Any], root: dict[str, Any]) -> int | None:
        found = read(value, root)
        return None if found is None else parse_timestamp(found, separator == "T", False) // 1_000_000

    return converted


def _pairs(read: _Metadata, item: Callable[[Any], Any]) -> _Metadata:
    def converted(value: dict[str, Any], root: dict[str, Any]) -> list[tuple[str, Any]] | None:
        found = read(value, root)
        if found is None:
            return None
        return [(key, None if part is None else item(part)) for key, part in found.items()]

    return converted


_METADATA: dict[str, dict[str, _Metadata]] = {
    "debezium-json": {
        "schema": _text(lambda value, root: root.get("schema")),
        "ingestion-timestamp": _millis(_of("ts_ms")),
        "source.timestamp": _millis(_of("source", "ts_ms")),
        "source.database": _text(_of("source", "db")),
        "source.schema": _text(_of("source", "schema")),
        "source.table": _text(_of("source", "table")),
        "source.properties": _pairs(_of("source"), lambda part: part if isinstance(part, str) else json.dumps(part)),
    },
    "canal-json": {
        "database": _text(_of("database")),
        "table": _text(_of("table")),
        "sql-type": _pairs(_of("sqlType"), int),
        "pk-names": _of("pkNames"),
        "ingestion-timestamp": _millis(_of("ts")),
        "event-timestamp": _millis(_of("es")),
    },
    "maxwell-json": {
        "database": _text(_of("database")),
        "table": _text(_of("table")),
        "primary-key-columns": _of("primary_key_columns"),
        "ingestion-timestamp": _millis(_of("ts"), 1000),
    },
    "ogg-json": {
        "table": _text(_of("table")),
        "primary-keys": _of("primary_keys"),
        "ingestion-timestamp": _instant(_of("current_ts"), "T"),
        "event-timestamp": _instant(_of("op_ts"), " "),
    },
}
