"""MongoCdcFactory: 'connector' = 'mongodb-cdc'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote_plus

from scurry.common._java_regex.patterns import compiled
from scurry.connectors.cdc.capture import Startup
from scurry.connectors.cdc.mongodb.receiver import MongoCdcSettings
from scurry.connectors.mongodb.client import library
from scurry.connectors.mongodb.values import check_type
from scurry.errors import EvaluationError, UnsupportedError, ValidationError
from scurry.sql.catalog.schema import MetadataColumn
from scurry.sql.catalog.table_options import Options, TableOption, boolean, whole_number
from scurry.sql.connectors.cdc import options as common
from scurry.sql.connectors.cdc.documents import DOCUMENT_METADATA, MongoCdcTableSource
from scurry.sql.connectors.contract import TableContext, TableFactory, TableSource
from scurry.sql.connectors.metadata import check_metadata
from scurry.sql.connectors.mongodb.documents import ID

SCHEME = TableOption("scheme", str, "mongodb", "`mongodb`, or `mongodb+srv` for an address that DNS resolves.")
HOSTS = TableOption("hosts", str, None, "The members of the replica set: `host:27017,other:27017`.", required=True)
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
DATABASE = TableOption("database", str, ".*", "The database: a regular expression of Java.")
COLLECTION = TableOption(
    "collection",
    str,
    ".*",
    "The collection: a regular expression of Java for its name, or for `database.collection`. Several are read as one "
    "table.",
)
CONNECTION_OPTIONS = TableOption(
    "connection.options", str, "", "Options of the connection string: `replicaSet=rs0&tls=true`."
)
MODE = TableOption(
    "scan.startup.mode",
    str,
    "initial",
    "Where reading begins: `initial` reads the documents, then the changes; `latest-offset` and `timestamp` read "
    "changes only.",
)
TIMESTAMP = TableOption(
    "scan.startup.timestamp-millis", whole_number, None, "Where `timestamp` begins, in milliseconds since 1970."
)
BATCH_SIZE = TableOption("batch.size", whole_number, 1024, "Documents or changes that a cursor fetches at once.")
AWAIT = TableOption("poll.await.time.ms", whole_number, 1000, "Milliseconds that the server waits for changes.")
HEARTBEAT = TableOption(
    "heartbeat.interval.ms",
    whole_number,
    0,
    "Milliseconds after which the position of a collection without changes moves on, so that the oplog need not reach "
    "back to its last one; 0 for never.",
)
NO_TIMEOUT = TableOption(
    "scan.cursor.no-timeout", boolean, True, "Whether the server keeps a cursor that is not read for ten minutes."
)
FULL_CHANGELOG = TableOption(
    "scan.full-changelog", boolean, False, "`true` is refused: a job keeps the row before by itself."
)


def _unused(key: str, parse: Any, default: Any, reason: str) -> TableOption[Any]:
    return TableOption(key, parse, default, reason, without_effect=True)


_ONE_READER = "The driver reads one cursor for each collection."
OPTIONS: tuple[TableOption[Any], ...] = (
    SCHEME,
    HOSTS,
    USERNAME,
    PASSWORD,
    DATABASE,
    COLLECTION,
    CONNECTION_OPTIONS,
    MODE,
    TIMESTAMP,
    BATCH_SIZE,
    AWAIT,
    HEARTBEAT,
    NO_TIMEOUT,
    FULL_CHANGELOG,
    common.NEW_TABLES,
    common.APPEND_ONLY,
    _unused("poll.max.batch.size", whole_number, 1024, "`batch.size` is what is fetched at once."),
    _unused("scan.incremental.snapshot.enabled", boolean, False, _ONE_READER),
    _unused("scan.incremental.snapshot.chunk.size.mb", whole_number, 64, _ONE_READER),
    _unused("scan.incremental.snapshot.chunk.samples", whole_number, 20, _ONE_READER),
    _unused("scan.incremental.snapshot.backfill.skip", boolean, False, _ONE_READER),
    _unused("scan.incremental.close-idle-reader.enabled", boolean, False, _ONE_READER),
    _unused("chunk-meta.group.size", whole_number, 1000, _ONE_READER),
    _unused("initial.snapshotting.queue.size", whole_number, 10240, "At most 20,000 documents wait, of 64 MB."),
    _unused("initial.snapshotting.max.threads", whole_number, None, _ONE_READER),
)
_MODES = ("initial", "latest-offset", "timestamp")


class MongoCdcFactory(TableFactory):
    """Make sources of the documents and changes of collections in MongoDB."""

    identifier = "mongodb-cdc"
    with_watermark_options = True
    reads_metadata = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options."""
        return OPTIONS

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source of documents and changes."""
        options = self.check(context)
        library("pymongo")
        key = context.schema.get_primary_key()
        if key is None or list(key.columns) != [ID]:
            raise ValidationError("Primary key must be _id field").with_hint(
                "declare a column _id STRING (or of the type that ids have), and PRIMARY KEY (_id) NOT ENFORCED"
            )
        if options.get(FULL_CHANGELOG):
            raise UnsupportedError(
                f"'{FULL_CHANGELOG.key}' = 'true': the documents before changes are not asked for; leave it out, the "
                "job keeps the row before each update by itself"
            )
        for option, least in ((BATCH_SIZE, 1), (AWAIT, 1), (HEARTBEAT, 0)):
            if options.get(option) < least:
                raise ValidationError(f"'{option.key}' must be at least {least}, but is {options.get(option)}")
        for column in context.physical_columns:
            check_type(column.type, column.name)
        metadata = [column for column in context.schema.get_columns() if isinstance(column, MetadataColumn)]
        check_metadata(context, metadata, DOCUMENT_METADATA, "reads")
        settings = MongoCdcSettings(
            _uri(options),
            _pattern(options, DATABASE),
            _pattern(options, COLLECTION),
            _startup(options),
            options.get(BATCH_SIZE),
            options.get(AWAIT),
            options.get(HEARTBEAT),
            options.get(NO_TIMEOUT),
            options.get(common.NEW_TABLES),
        )
        return MongoCdcTableSource(
            settings,
            context.physical_columns,
            tuple((column.name, column.key, column.data_type) for column in metadata),
            options.get(common.APPEND_ONLY),
        )


def _pattern(options: Options, option: TableOption[str]) -> str:
    pattern = options.get(option)
    try:
        compiled(f"(?:{pattern})")
    except EvaluationError as error:
        raise ValidationError(f"'{option.key}' = '{pattern}' is no regular expression: {error}") from None
    return pattern


def _uri(options: Options) -> str:
    user, password = options.find(USERNAME), options.find(PASSWORD)
    if (user is None) != (password is None):
        raise ValidationError(f"'{USERNAME.key}' and '{PASSWORD.key}' must be set at the same time")
    if options.get(SCHEME) not in ("mongodb", "mongodb+srv"):
        raise ValidationError(f"'{SCHEME.key}' must be mongodb or mongodb+srv, but is '{options.get(SCHEME)}'")
    hosts = options.get(HOSTS)
    if "@" in hosts or "/" in hosts:
        raise ValidationError(
            f"'{HOSTS.key}' has hosts and ports only: 'host:27017,other:27017'; user and password are options"
        )
    login = "" if user is None or password is None else f"{quote_plus(user)}:{quote_plus(password)}@"
    return f"{options.get(SCHEME)}://{login}{hosts}/?{options.get(CONNECTION_OPTIONS)}".removesuffix("?")


def _startup(options: Options) -> Startup:
    mode = options.get(MODE).lower()
    if mode == "snapshot":
        raise UnsupportedError(
            f"'{MODE.key}' = 'snapshot': 'connector' = 'mongodb' reads the documents that are there, by all readers"
        )
    if mode == "timestamp":
        if TIMESTAMP not in options:
            raise ValidationError(f"To use timestamp startup mode, '{TIMESTAMP.key}' must be set.")
        return Startup(mode, None, options.get(TIMESTAMP))
    return common.startup_of(mode, _MODES)
