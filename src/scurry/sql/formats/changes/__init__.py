"""Formats of changes: `debezium-json`, `canal-json`, `maxwell-json`, `ogg-json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean
from scurry.sql.formats.contract import FormatColumn, chosen_columns
from scurry.sql.formats.json import CHANGE_OPTIONS, check_values, reading_settings, writing_settings
from scurry.sql.formats.lines import LineFormat
from scurry.sql.formats.messages import MessageDecoder, MessageEncoder
from scurry.sql.types import MAX_LENGTH, ArrayType, DataType, IntType, LocalZonedTimestampType, MapType, VarCharType

__all__ = ["CanalJsonFormat", "DebeziumJsonFormat", "MaxwellJsonFormat", "OggJsonFormat"]

SCHEMA_INCLUDE = TableOption("schema-include", boolean, False, "Whether messages contain their schema.")
DATABASE_INCLUDE = TableOption("database.include", str, None, "Regular expression of the databases to read.")
TABLE_INCLUDE = TableOption("table.include", str, None, "Regular expression of the tables to read.")

_STRING = VarCharType(MAX_LENGTH)
_INSTANT = LocalZonedTimestampType(3)
_KEYS = ArrayType(_STRING)


class ChangeJsonFormat(LineFormat):
    """Read and write changes as JSON messages."""

    options: Sequence[TableOption[Any]] = CHANGE_OPTIONS
    insert_only = False

    def check(self, options: Options) -> None:
        """Check the values that Flink checks."""
        check_values(options)

    def message_decoder(
        self, declared: Sequence[FormatColumn], columns: Sequence[str], metadata: Sequence[str], options: Options
    ) -> MessageDecoder:
        from scurry.sql.formats.changes.reading import ChangeDecoder

        return ChangeDecoder(
            self.identifier,
            chosen_columns(declared, columns),
            tuple((key, self.metadata[key]) for key in metadata),
            reading_settings(options),
            self.identifier == "debezium-json" and options.get(SCHEMA_INCLUDE),
            options.find(DATABASE_INCLUDE) if self.identifier == "canal-json" else None,
            options.find(TABLE_INCLUDE) if self.identifier == "canal-json" else None,
        )

    def message_encoder(self, declared: Sequence[FormatColumn], options: Options) -> MessageEncoder:
        from scurry.sql.formats.changes.writing import ChangeEncoder
        from scurry.sql.formats.json.codec import JsonEncoder

        settings = writing_settings(options)
        return ChangeEncoder(self.identifier, JsonEncoder(tuple(declared), settings), settings.skip_nulls)


class DebeziumJsonFormat(ChangeJsonFormat):
    identifier = "debezium-json"
    options = (*CHANGE_OPTIONS, SCHEMA_INCLUDE)
    metadata: ClassVar[Mapping[str, DataType]] = {
        "schema": _STRING,
        "ingestion-timestamp": _INSTANT,
        "source.timestamp": _INSTANT,
        "source.database": _STRING,
        "source.schema": _STRING,
        "source.table": _STRING,
        "source.properties": MapType(_STRING, _STRING),
    }

    def check_sink(self, options: Options) -> None:
        """Refuse schemas in messages that are written."""
        if options.get(SCHEMA_INCLUDE):
            raise ValidationError(
                "Debezium JSON serialization doesn't support 'debezium-json.schema-include' option been set to true."
            )


class CanalJsonFormat(ChangeJsonFormat):
    identifier = "canal-json"
    options = (*CHANGE_OPTIONS, DATABASE_INCLUDE, TABLE_INCLUDE)
    metadata: ClassVar[Mapping[str, DataType]] = {
        "database": _STRING,
        "table": _STRING,
        "sql-type": MapType(_STRING, IntType()),
        "pk-names": _KEYS,
        "ingestion-timestamp": _INSTANT,
        "event-timestamp": _INSTANT,
    }


class MaxwellJsonFormat(ChangeJsonFormat):
    identifier = "maxwell-json"
    metadata: ClassVar[Mapping[str, DataType]] = {
        "database": _STRING,
        "table": _STRING,
        "primary-key-columns": _KEYS,
        "ingestion-timestamp": _INSTANT,
    }


class OggJsonFormat(ChangeJsonFormat):
    """Read and write the changes of Oracle GoldenGate."""

    identifier = "ogg-json"
    metadata: ClassVar[Mapping[str, DataType]] = {
        "table": _STRING,
        "primary-keys": _KEYS,
        "ingestion-timestamp": _INSTANT,
        "event-timestamp": _INSTANT,
    }
