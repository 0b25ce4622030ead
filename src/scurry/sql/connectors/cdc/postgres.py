"""PostgresCdcFactory: 'connector' = 'postgres-cdc'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from scurry.connectors.cdc.enumerator import EnumeratorSettings
from scurry.connectors.cdc.postgres.reading import PostgresCapture
from scurry.connectors.cdc.postgres.settings import PostgresSettings
from scurry.errors import ValidationError
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.cdc import options as common
from scurry.sql.connectors.cdc.source import SCHEMA_METADATA, CdcTableSource
from scurry.sql.connectors.contract import TableContext, TableFactory, TableSource
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.metadata import check_metadata
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM

SCHEMA = TableOption("schema-name", str, None, "The schema: a regular expression of Java.", required=True)
PORT = TableOption("port", whole_number, 5432, "The server's port.")
SLOT = TableOption(
    "slot.name",
    str,
    None,
    "The replication slot, of which each table needs one of its own. It is made if it is not there, and never dropped "
    "unless `debezium.slot.drop.on.stop` is true.",
    required=True,
)
PLUGIN = TableOption(
    "decoding.plugin.name",
    one_of(("decoderbufs", "wal2json", "wal2json_rds", "wal2json_streaming", "wal2json_rds_streaming", "pgoutput")),
    "decoderbufs",
    "It is pgoutput, whatever is set: every server has it.",
    without_effect=True,
)
CHANGELOG = TableOption(
    "changelog-mode",
    one_of(("all", "upsert")),
    "all",
    "Whether updates have the row before: `all` needs REPLICA IDENTITY FULL, `upsert` a primary key.",
)
MODE = TableOption(
    "scan.startup.mode",
    str,
    "initial",
    f"{common.MODE_TEXT}; `latest-offset`, `committed-offset` (of the slot) read changes only, `snapshot` rows only.",
)
RELEASE_DELAY = TableOption(
    "scan.lsn-commit.checkpoints-num-delay",
    whole_number,
    3,
    "How many micro-batches later than committed the slot advances, at least 1.",
)
PARTITIONED = TableOption(
    "scan.include-partitioned-tables.enabled", boolean, False, "Whether partitioned tables are read by their root."
)
PUBLICATION = "debezium.publication.name"
AUTOCREATE = "debezium.publication.autocreate.mode"
DROP_SLOT = "debezium.slot.drop.on.stop"
#: Properties of Debezium that work.
DEBEZIUM = {
    PUBLICATION: "name of the publication, `dbz_publication`",
    AUTOCREATE: "`disabled`: the publication has to be there",
    DROP_SLOT: "whether the slot is dropped when the job ends",
}
OPTIONS: tuple[TableOption[Any], ...] = (
    common.HOSTNAME,
    PORT,
    common.USERNAME,
    common.PASSWORD,
    common.DATABASE,
    SCHEMA,
    common.TABLE,
    SLOT,
    PLUGIN,
    CHANGELOG,
    MODE,
    common.CHUNK_ROWS,
    common.FETCH_ROWS,
    common.CHUNK_KEY,
    RELEASE_DELAY,
    common.NEW_TABLES,
    common.APPEND_ONLY,
    PARTITIONED,
    common.CONNECT_TIMEOUT,
    common.CONNECT_RETRIES,
    SCAN_PARALLELISM,
    TableOption(
        "scan.incremental.snapshot.enabled", boolean, False, "Tables are always read in chunks.", without_effect=True
    ),
    TableOption(
        "scan.incremental.snapshot.unbounded-chunk-first.enabled",
        boolean,
        True,
        "Chunks are streamed, so the last one may be large.",
        without_effect=True,
    ),
    TableOption("heartbeat.interval.ms", duration, 30_000, "The slot moves with the whole log.", without_effect=True),
    TableOption("connection.pool.size", whole_number, 30, "Readers have a connection each.", without_effect=True),
    TableOption("table-id.include-database", boolean, False, "Names have three parts.", without_effect=True),
    *common.WITHOUT_EFFECT,
)
_MODES = ("initial", "snapshot", "latest-offset", "committed-offset")


class PostgresCdcFactory(TableFactory):
    """Make sources of the rows and changes of tables in PostgreSQL."""

    identifier = "postgres-cdc"
    with_watermark_options = True
    reads_metadata = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return OPTIONS

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the properties of Debezium that are set."""
        return common.debezium_keys(context)

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of rows and changes."""
        options = self.check(context)
        common.check_debezium(context, DEBEZIUM)
        common.check_sizes(options)
        slot = options.get(SLOT)
        if not re.fullmatch("[a-z0-9_]{1,63}", slot):
            raise ValidationError(
                f"Invalid 'slot.name' = '{slot}': it can contain lower-case letters, numbers, and the underscore only"
            )
        upserts = options.get(CHANGELOG) == "upsert"
        if upserts and context.schema.get_primary_key() is None:
            raise ValidationError("Primary key must be present when upsert mode is selected.").with_hint(
                "add PRIMARY KEY (...) NOT ENFORCED to the columns"
            )
        startup = common.startup_of(options.get(MODE), _MODES)
        metadata = [column for column in context.schema.get_columns() if isinstance(column, MetadataColumn)]
        check_metadata(context, metadata, SCHEMA_METADATA, "reads")
        schema, table = options.get(SCHEMA), options.get(common.TABLE)
        settings = PostgresSettings(
            options.get(common.HOSTNAME),
            options.get(PORT),
            options.get(common.USERNAME),
            options.get(common.PASSWORD),
            options.get(common.DATABASE),
            rf"(?:{schema})\.(?:{table})",
            f"schema-name: {schema} and table-name: {table}",
            f"{slot[:54]}_snapshot" if startup.ends else slot,  # one of its own, which it drops at its end
            context.options.get(PUBLICATION, "dbz_publication"),
            context.options.get(AUTOCREATE, "filtered").lower() != "disabled",
            context.options.get(DROP_SLOT, "false").lower() == "true",
            startup,
            not upserts,
            options.get(common.CHUNK_ROWS),
            options.find(common.CHUNK_KEY),
            options.get(common.FETCH_ROWS),
            max(1, options.get(common.CONNECT_TIMEOUT) // 1000),
            options.get(common.CONNECT_RETRIES),
            options.get(PARTITIONED),
        )
        return CdcTableSource(
            PostgresCapture(settings),
            EnumeratorSettings(
                1,
                startup,
                settings.chunk_rows,
                max(1, options.get(RELEASE_DELAY)),
                options.get(common.NEW_TABLES),
            ),
            context.physical_columns,
            tuple((column.name, column.key, column.data_type) for column in metadata),
            upserts,
            options.get(common.APPEND_ONLY),
            options.find(SCAN_PARALLELISM),
        )
