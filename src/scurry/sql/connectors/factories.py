"""Find the factory of a table's connector, and make its source or sink."""

from __future__ import annotations

import importlib

from scurry.common.redaction import without_secrets
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.errors.suggestions import similar_name
from scurry.sql.catalog.entries import InlineTable
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import explained, in_context, instead
from scurry.sql.connectors.contract import RowChanges, SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.inline import InlineFactory

#: identifier -> module and class of its factory, imported when a table uses it
CONNECTORS = {
    "blackhole": "scurry.sql.connectors.blackhole:BlackHoleFactory",
    "cassandra": "scurry.sql.connectors.cassandra.factory:CassandraFactory",
    "clickhouse": "scurry.sql.connectors.clickhouse.factory:ClickHouseFactory",
    "datagen": "scurry.sql.connectors.datagen.factory:DataGenFactory",
    "delta": "scurry.sql.connectors.lakes.delta:DeltaFactory",
    "dynamic-kafka": "scurry.sql.connectors.kafka.dynamic:DynamicKafkaFactory",
    "elasticsearch-6": "scurry.sql.connectors.elasticsearch.factory:Elasticsearch6Factory",
    "elasticsearch-7": "scurry.sql.connectors.elasticsearch.factory:ElasticsearchFactory",
    "elasticsearch-8": "scurry.sql.connectors.elasticsearch.factory:Elasticsearch8Factory",
    "filesystem": "scurry.sql.connectors.filesystem.factory:FileSystemFactory",
    "firehose": "scurry.sql.connectors.kinesis.factory:FirehoseFactory",
    "http": "scurry.sql.connectors.http.factory:HttpFactory",
    "http-async-sink": "scurry.sql.connectors.http.factory:HttpSinkFactory",
    "iceberg": "scurry.sql.connectors.lakes.iceberg:IcebergFactory",
    "jdbc": "scurry.sql.connectors.jdbc.factory:JdbcFactory",
    "kafka": "scurry.sql.connectors.kafka.factory:KafkaFactory",
    "kinesis": "scurry.sql.connectors.kinesis.factory:KinesisFactory",
    "log": "scurry.sql.connectors.log.factory:LogFactory",
    "mongodb": "scurry.sql.connectors.mongodb.factory:MongoFactory",
    "mongodb-cdc": "scurry.sql.connectors.cdc.mongodb:MongoCdcFactory",
    "mqtt": "scurry.sql.connectors.queues.mqtt:MqttFactory",
    "mysql-cdc": "scurry.sql.connectors.cdc.mysql:MySqlCdcFactory",
    "nats": "scurry.sql.connectors.queues.nats:NatsFactory",
    "opensearch": "scurry.sql.connectors.elasticsearch.factory:OpensearchFactory",
    "postgres-cdc": "scurry.sql.connectors.cdc.postgres:PostgresCdcFactory",
    "prometheus": "scurry.sql.connectors.prometheus.factory:PrometheusFactory",
    "print": "scurry.sql.connectors.print:PrintFactory",
    "pubsub": "scurry.sql.connectors.queues.pubsub:PubSubFactory",
    "rabbitmq": "scurry.sql.connectors.queues.rabbitmq:RabbitFactory",
    "pulsar": "scurry.sql.connectors.queues.pulsar:PulsarFactory",
    "redis": "scurry.sql.connectors.redis.keys:RedisFactory",
    "redis-stream": "scurry.sql.connectors.redis.streams:RedisStreamFactory",
    "savepoint": "scurry.sql.savepoints.factory:SavepointFactory",
    "spark": "scurry.sql.connectors.spark:SparkFactory",
    "upsert-kafka": "scurry.sql.connectors.kafka.factory:UpsertKafkaFactory",
    "upsert-log": "scurry.sql.connectors.log.factory:UpsertLogFactory",
}


_OF_SPARK = "Spark has a package for it, in BATCH: 'connector' = 'spark', 'format' = the format of the package"
#: Replacements for connectors that scurry does not have, by their names without a version.
_ELSEWHERE = {
    "hbase": _OF_SPARK,
    "kinesis": "use 'connector' = 'kinesis', with 'stream.arn' and 'source.init.position'",
    **dict.fromkeys(
        ("oracle", "sqlserver", "db2"),
        "changes of a database are read from Kafka, with the format 'debezium-json'",
    ),
}


def create_source(context: TableContext) -> TableSource:
    """Return the source of a table.

    Raises:
        ValidationError: There is no such connector, it is no source, or its options are wrong.
    """
    try:
        factory = _factory(context)
        source = factory.create_source(context)
    except ValidationError as error:
        raise _explained(error, context, "Unable to create a source for reading table") from None
    if not factory.reads_metadata and _metadata(context):
        name = context.identifier.as_summary_string()
        raise ValidationError(
            f"Table '{name}' declares metadata columns, but its connector reads no metadata."
        ).with_hint("declare the columns without METADATA, or leave them out")
    return source


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


def row_changes(context: TableContext) -> RowChanges | None:
    """Return how the connector of a table deletes and updates rows, None if it cannot.

    Raises:
        ValidationError: There is no such connector.
    """
    return _factory(context).row_changes


def truncate(context: TableContext) -> None:
    """Remove all rows of a table.

    Raises:
        UnsupportedError: Its connector cannot.
        ValidationError: There is no such connector, or the options are wrong.
    """
    _factory(context).truncate(context)


def _check_columns(context: TableContext, factory: TableFactory) -> None:
    name = context.identifier.as_summary_string()
    if not factory.writes_metadata and any(column.is_persisted() for column in _metadata(context)):
        raise ValidationError(
            f"Table '{name}' declares persistable metadata columns, but its connector writes no metadata. If the "
            "column should not be persisted, it can be declared with the VIRTUAL keyword."
        )
    if context.table.distribution is not None:
        raise ValidationError(f"Table '{name}' is distributed into buckets, but its connector has none.").with_hint(
            "leave out DISTRIBUTED"
        )


def _metadata(context: TableContext) -> list[MetadataColumn]:
    return [column for column in context.schema.get_columns() if isinstance(column, MetadataColumn)]


def sink_changes(context: TableContext) -> SinkChanges:
    return _factory(context).sink_changes(context)


def find_factory(identifier: str) -> TableFactory:
    """Return the factory of a connector.

    Raises:
        ValidationError: There is no such connector, or its package cannot be imported.
    """
    if identifier in CONNECTORS:
        module, _, name = CONNECTORS[identifier].partition(":")
        factory: TableFactory = getattr(importlib.import_module(module), name)()
        return factory
    found = _registered.get(identifier) or _installed(identifier)
    if found is None:
        elsewhere = _ELSEWHERE.get(identifier.rpartition("-")[0] or identifier, "")
        raise ValidationError(f"Cannot discover a connector using option: 'connector'='{identifier}'").with_hint(
            elsewhere or instead([identifier], identifiers(), "the connectors")
        )
    return found()


#: identifier -> factory that a program has registered
_registered: dict[str, type[TableFactory]] = {}
#: Group of the entry points of packages that have connectors: a name is an identifier.
ENTRY_POINTS = "scurry.table_connectors"


def register_connector(factory: type[TableFactory]) -> type[TableFactory]:
    """Let tables of this process have another connector; a later factory of an identifier replaces an earlier one.

    A package registers connectors for all processes by entry points of the group `scurry.table_connectors`, with
    identifiers as names: Flink finds them as services of the class path.

    Args:
        factory: A class with an `identifier`, whose constructor takes nothing.

    Returns:
        The class, so that this may be a decorator.

    Raises:
        ArgumentError: The identifier is not a text, or that of a connector of scurry.
    """
    identifier = getattr(factory, "identifier", None)
    if not isinstance(identifier, str) or not identifier:
        raise ArgumentError(f"{factory.__name__} needs an identifier, the text that 'connector' = '...' names")
    if identifier in CONNECTORS:
        raise ArgumentError(f"{factory.__name__}: scurry has a connector {identifier!r}; choose another identifier")
    _registered[identifier] = factory
    return factory


def identifiers() -> list[str]:
    """Return the names of all connectors: scurry's, those that are registered, and those of installed packages."""
    from importlib.metadata import entry_points

    installed = entry_points(group=ENTRY_POINTS).names
    return sorted({*CONNECTORS, *_registered, *installed})


def _installed(identifier: str) -> type[TableFactory] | None:
    from importlib.metadata import entry_points

    for point in entry_points(group=ENTRY_POINTS, name=identifier):
        try:
            found: type[TableFactory] = point.load()
        except Exception as error:
            raise ValidationError(
                f"The connector '{identifier}' cannot be imported from {point.value}: {type(error).__name__}: {error}"
            ) from error
        return found
    return None


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
