"""Find the factory of a format."""

from __future__ import annotations

import importlib

from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, factory_not_found, in_context
from scurry.sql.formats.contract import FormatFactory

#: identifier -> module and class of its factory, imported when a table uses it
FORMATS = {
    "avro": "scurry.sql.formats.avro:AvroFormat",
    "avro-confluent": "scurry.sql.formats.avro:AvroConfluentFormat",
    "canal-json": "scurry.sql.formats.changes:CanalJsonFormat",
    "csv": "scurry.sql.formats.csv:CsvFormat",
    "debezium-json": "scurry.sql.formats.changes:DebeziumJsonFormat",
    "json": "scurry.sql.formats.json:JsonFormat",
    "maxwell-json": "scurry.sql.formats.changes:MaxwellJsonFormat",
    "ogg-json": "scurry.sql.formats.changes:OggJsonFormat",
    "orc": "scurry.sql.formats.columnar:OrcFormat",
    "parquet": "scurry.sql.formats.columnar:ParquetFormat",
    "protobuf": "scurry.sql.formats.protobuf:ProtobufFormat",
    "raw": "scurry.sql.formats.raw:RawFormat",
}


def find_format(identifier: str) -> FormatFactory:
    """Return the factory of a format.

    Raises:
        ValidationError: There is no such format.
    """
    if identifier not in FORMATS:
        raise factory_not_found("format", identifier, FORMATS)
    module, _, name = FORMATS[identifier].partition(":")
    factory: FormatFactory = getattr(importlib.import_module(module), name)()
    return factory


#: those of files only
_OF_FILES = {"orc", "parquet"}


def find_message_format(identifier: str, kind: str) -> FormatFactory:
    """Return the factory of a format of messages.

    Args:
        kind: `scan` or `sink`, for messages.

    Raises:
        ValidationError: There is no such format.
    """
    known = set(FORMATS) - _OF_FILES
    if identifier not in known:
        raise factory_not_found("format", identifier, known)
    return find_format(identifier)


def checked_options(factory: FormatFactory, options: Options, kind: str, *, files: bool = False) -> Options:
    """Return the options of a format after checking them.

    Args:
        kind: `scan` or `sink`, for messages.
        files: Whether it is the format of files.

    Raises:
        ValidationError: A value is no such value, or does not fit.
    """
    own = options.below(f"{factory.identifier}.")
    try:
        own.check(factory.file_options if files else factory.options)
        factory.check(own)
        if kind == "sink":
            factory.check_sink(own)
    except ValidationError as error:
        raise in_context(
            error, f"Error creating {kind} format '{factory.identifier}' in option space '{own.prefix}'."
        ) from None
    return own
