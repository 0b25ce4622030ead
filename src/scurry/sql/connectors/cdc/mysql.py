"""MySqlCdcFactory: 'connector' = 'mysql-cdc'."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, tzinfo
from typing import Any

from scurry.connectors.cdc.capture import Startup
from scurry.connectors.cdc.enumerator import EnumeratorSettings
from scurry.connectors.cdc.mysql.connection import need_client
from scurry.connectors.cdc.mysql.reading import MySqlCapture
from scurry.connectors.cdc.mysql.settings import MySqlSettings
from scurry.errors import ValidationError
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import Options, TableOption, boolean, whole_number
from scurry.sql.connectors.cdc import options as common
from scurry.sql.connectors.cdc.source import METADATA, CdcTableSource
from scurry.sql.connectors.contract import TableContext, TableFactory, TableSource
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.metadata import check_metadata
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM
from scurry.sql.functions.time_zones import zone


def _server_ids(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not first.strip().isdigit() or (last and not last.strip().isdigit()):
        raise ValueError(f"The server id {text} is not a numeric.")
    ids = int(first), int(last or first)
    if ids[0] > ids[1]:
        raise ValueError(f"The server id range should be in ascending order: {text}")
    return ids


PORT = TableOption("port", whole_number, 3306, "The server's port.")
SERVER_ID = TableOption(
    "server-id",
    _server_ids,
    (5400, 6400),
    "A number, or a range such as `5400-5408`, of which readers of the binlog take one each; nobody else may use it.",
)
MODE = TableOption(
    "scan.startup.mode",
    str,
    "initial",
    f"{common.MODE_TEXT}; `earliest-offset`, `latest-offset`, `specific-offset` and `timestamp` read changes "
    "only, `snapshot` rows only.",
)
FILE = TableOption("scan.startup.specific-offset.file", str, None, "The file of `specific-offset`.")
POSITION = TableOption("scan.startup.specific-offset.pos", whole_number, None, "The position of `specific-offset`.")
GTID = TableOption(
    "scan.startup.specific-offset.gtid-set",
    str,
    None,
    "Of MariaDB, instead of file and position: the GTID behind which `specific-offset` begins, such as `0-1-100`.",
)
TIMESTAMP = TableOption(
    "scan.startup.timestamp-millis",
    whole_number,
    None,
    "The time of `timestamp`, in milliseconds since 1970: changes before it are left out, to the second.",
)
TIME_ZONE = TableOption[tzinfo](
    "server-time-zone",
    zone,
    UTC,
    "The time zone in which columns of MySQL's type TIMESTAMP are read as TIMESTAMP; TIMESTAMP_LTZ needs none.",
)
OPTIONS: tuple[TableOption[Any], ...] = (
    common.HOSTNAME,
    PORT,
    common.USERNAME,
    common.PASSWORD,
    common.DATABASE,
    common.TABLE,
    SERVER_ID,
    MODE,
    FILE,
    POSITION,
    GTID,
    TIMESTAMP,
    common.CHUNK_ROWS,
    common.FETCH_ROWS,
    common.CHUNK_KEY,
    common.NEW_TABLES,
    common.APPEND_ONLY,
    common.CONNECT_TIMEOUT,
    common.CONNECT_RETRIES,
    SCAN_PARALLELISM,
    TIME_ZONE,
    TableOption(
        "scan.incremental.snapshot.enabled", boolean, True, "Tables are always read in chunks.", without_effect=True
    ),
    TableOption(
        "scan.incremental.snapshot.unbounded-chunk-first.enabled",
        boolean,
        False,
        "Chunks are streamed, so the last one may be large.",
        without_effect=True,
    ),
    TableOption(
        "heartbeat.interval", duration, 30_000, "The position moves with the whole binlog.", without_effect=True
    ),
    TableOption("connection.pool.size", whole_number, 20, "Readers have a connection each.", without_effect=True),
    *common.WITHOUT_EFFECT,
)
_MODES = ("initial", "snapshot", "earliest-offset", "latest-offset", "specific-offset", "timestamp")


class MySqlCdcFactory(TableFactory):
    """Make sources of the rows and changes of tables in MySQL and MariaDB."""

    identifier = "mysql-cdc"
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
        common.check_debezium(context, {})
        common.check_sizes(options)
        need_client()
        startup = _startup(options)
        metadata = [column for column in context.schema.get_columns() if isinstance(column, MetadataColumn)]
        check_metadata(context, metadata, METADATA, "reads")
        database, table = options.get(common.DATABASE), options.get(common.TABLE)
        settings = MySqlSettings(
            options.get(common.HOSTNAME),
            options.get(PORT),
            options.get(common.USERNAME),
            options.get(common.PASSWORD),
            rf"(?:{database})\.(?:{table})",
            f"database-name: {database} and table-name: {table}",
            options.get(SERVER_ID),
            startup,
            options.find(common.CHUNK_KEY),
            options.get(common.FETCH_ROWS),
            max(1, options.get(common.CONNECT_TIMEOUT) // 1000),
            options.get(common.CONNECT_RETRIES),
        )
        return CdcTableSource(
            MySqlCapture(settings),
            EnumeratorSettings(1, startup, options.get(common.CHUNK_ROWS), adds_tables=options.get(common.NEW_TABLES)),
            context.physical_columns,
            tuple((column.name, column.key, column.data_type) for column in metadata),
            False,
            options.get(common.APPEND_ONLY),
            options.find(SCAN_PARALLELISM),
            options.get(TIME_ZONE),
        )


def _startup(options: Options) -> Startup:
    mode = options.get(MODE).lower()
    if mode == "timestamp":
        if TIMESTAMP not in options:
            raise ValidationError(
                f"To use timestamp startup mode, the startup timestamp millis '{TIMESTAMP.key}' must be set."
            )
        return Startup(mode, timestamp=options.get(TIMESTAMP))
    if mode == "specific-offset":
        if GTID in options:
            return Startup(mode, options.get(GTID))
        if FILE not in options or POSITION not in options:
            raise ValidationError(
                f"Unable to find a valid binlog offset. Either {GTID.key}, or {FILE.key} and {POSITION.key} are "
                "required."
            ).with_hint("SHOW MASTER STATUS has file and position; SELECT @@gtid_binlog_pos the GTID of MariaDB")
        return Startup(mode, [options.get(FILE), options.get(POSITION)])
    return common.startup_of(mode, _MODES)
