"""Find the factory of a table's connector, and make its source or sink."""

from __future__ import annotations

import importlib

from scurry.common.redaction import without_secrets
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.errors.suggestions import similar_name
from scurry.sql.catalog.entries import InlineTable
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import SAVEPOINTS_IN_PYTHON, explained, in_context, instead
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.inline import InlineFactory

#: identifier -> module and class of its factory, imported when a table uses it
CONNECTORS = {
    "blackhole": "scurry.sql.connectors.blackhole:BlackHoleFactory",
    "datagen": "scurry.sql.connectors.datagen.factory:DataGenFactory",
    "delta": "scurry.sql.connectors.lakes.delta:DeltaFactory",
    "filesystem": "scurry.sql.connectors.filesystem.factory:FileSystemFactory",
    "iceberg": "scurry.sql.connectors.lakes.iceberg:IcebergFactory",
    "jdbc": "scurry.sql.connectors.jdbc.factory:JdbcFactory",
    "kafka": "scurry.sql.connectors.kafka.factory:KafkaFactory",
    "print": "scurry.sql.connectors.print:PrintFactory",
    "spark": "scurry.sql.connectors.spark:SparkFactory",
    "upsert-kafka": "scurry.sql.connectors.kafka.factory:UpsertKafkaFactory",
}


_OF_SPARK = "Spark has a package for it, in BATCH: 'connector' = 'spark', 'format' = the format of the package"
#: Replacements for connectors that scurry does not have, by their names without a version.
_ELSEWHERE = {
    **dict.fromkeys(("elasticsearch", "opensearch", "kinesis", "pulsar", "mongodb", "hbase", "cassandra"), _OF_SPARK),
    **dict.fromkeys(
        ("mysql", "postgres", "oracle", "sqlserver", "db2"),
        "changes of a database are read from Kafka, with the format 'debezium-json'",
    ),
    "savepoint": SAVEPOINTS_IN_PYTHON,
}


def create_source(context: TableContext) -> TableSource:
    """Return the source of a table.

    Raises:
        ValidationError: There is no such connector, it is no source, or its options are wrong.
    """
    try:
        return _factory(context).create_source(context)
    except ValidationError as error:
        raise _explained(error, context, "Unable to create a source for reading table") from None


def create_sink(context: TableContext, target: SinkTarget) -> Sink:
    """Return the sink of a table; its records are `Changes`.

    Raises:
        ValidationError: There is no such connector, it is no sink, or its options are wrong.
    """
    try:
        factory = _factory(context)
        sink = factory.create_sink(context, target)
    except ValidationError as error:
        raise _explained(error, context, "Unable to create a sink for writing table") from None
    if target.overwrite and not factory.supports_overwrite:
        raise ValidationError(
            f"INSERT OVERWRITE requires a connector that can overwrite: that of table "
            f"'{context.identifier.as_summary_string()}' cannot."
        ).with_hint("INSERT INTO appends rows; tables of the connector 'filesystem' can be overwritten in BATCH")
    _check_columns(context, factory)
    return sink


def _check_columns(context: TableContext, factory: TableFactory) -> None:
    name = context.identifier.as_summary_string()
    metadata = [column for column in context.schema.get_columns() if isinstance(column, MetadataColumn)]
    if not factory.writes_metadata and any(column.is_persisted() for column in metadata):
        raise ValidationError(
            f"Table '{name}' declares persistable metadata columns, but its connector writes no metadata. If the "
            "column should not be persisted, it can be declared with the VIRTUAL keyword."
        )
    if context.table.distribution is not None:
        raise ValidationError(f"Table '{name}' is distributed into buckets, but its connector has none.").with_hint(
            "leave out DISTRIBUTED"
        )


def sink_changes(context: TableContext) -> SinkChanges:
    """Return which changes the sink of a table takes."""
    return _factory(context).sink_changes(context)


def find_factory(identifier: str) -> TableFactory:
    """Return the factory of a connector.

    Raises:
        ValidationError: There is no such connector.
    """
    if identifier not in CONNECTORS:
        elsewhere = _ELSEWHERE.get(identifier.rpartition("-")[0] or identifier, "")
        raise ValidationError(f"Cannot discover a connector using option: 'connector'='{identifier}'").with_hint(
            elsewhere or instead([identifier], CONNECTORS, "the connectors")
        )
    module, _, name = CONNECTORS[identifier].partition(":")
    factory: TableFactory = getattr(importlib.import_module(module), name)()
    return factory


def _factory(context: TableContext) -> TableFactory:
    if isinstance(context.table, InlineTable):
        return InlineFactory(context.table)
    identifier = context.options.get("connector")
    if identifier is None:
        raise ValidationError(
            "Table options do not contain an option key 'connector' for discovering a connector. Therefore, scurry "
            "assumes a managed table, which it does not have."
        ).with_hint(_connector_hint(context))
    return find_factory(identifier)


def _connector_hint(context: TableContext) -> str:
    closest = similar_name("connector", context.options)
    if closest is not None:
        return f"did you mean 'connector' instead of '{closest}'?"
    name = context.identifier.name
    return f"add it to CREATE TABLE {name}: WITH ('connector' = 'filesystem', ...)"


def _explained(error: ValidationError, context: TableContext, what: str) -> ValidationError:
    shown = explained(error, without_secrets(str(error)))
    found = in_context(shown, f"{what} '{context.identifier.as_summary_string()}'.")
    found.about = context.identifier.name
    return found
