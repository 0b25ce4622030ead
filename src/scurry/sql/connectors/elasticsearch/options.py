"""The options of the connectors `elasticsearch-6`, `-7`, `-8` and `opensearch`."""

from __future__ import annotations

from typing import Any

from scurry.common._config.option import parse_bytes
from scurry.connectors.elasticsearch.bulk import BackoffType, BulkSettings, FailureHandler
from scurry.connectors.http.client import HttpSettings
from scurry.errors import ArgumentError, UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.lookups import LOOKUP_OPTIONS
from scurry.sql.connectors.parallelism import SCAN_PARALLELISM, SINK_PARALLELISM

HOSTS = TableOption("hosts", str, None, "Addresses of the server, with `;`: `http://host:9200`.", required=True)
INDEX = TableOption(
    "index",
    str,
    None,
    "The index; of sinks also a pattern: `logs-{level}`, `logs-{ts|yyyy-MM-dd}`, `logs-{now()|yyyy-MM-dd}`.",
    required=True,
)
DOCUMENT_TYPE = TableOption("document-type", str, None, "The type of documents.", required=True)
KEY_DELIMITER = TableOption(
    "document-id.key-delimiter", str, "_", "What is between the columns of a primary key in the id."
)
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
FAILURE_HANDLER = TableOption(
    "failure-handler",
    str,
    "fail",
    "What happens to documents that the server refuses: `fail`, `ignore` (left out, with a warning), `retry-rejected` "
    "(as `fail`, with many retries while the server is too busy).",
)
GUARANTEE = TableOption(
    "sink.delivery-guarantee",
    one_of(("at-least-once", "none", "exactly-once")),
    "at-least-once",
    "`at-least-once` or `none`, which writes the same way. `exactly-once` is refused.",
)
FLUSH_ON_CHECKPOINT = TableOption(
    "sink.flush-on-checkpoint", boolean, True, "Documents are written before each commit.", without_effect=True
)
MAX_ACTIONS = TableOption(
    "sink.bulk-flush.max-actions", whole_number, 1000, "Actions of a bulk request, at most; 0 or -1 for any."
)
MAX_SIZE = TableOption("sink.bulk-flush.max-size", parse_bytes, 2 << 20, "Size of a bulk request, at most; 0 for any.")
INTERVAL = TableOption("sink.bulk-flush.interval", duration, 1000, "Longest time that rows wait; 0 for any.")
BACKOFF = TableOption(
    "sink.bulk-flush.backoff.strategy",
    one_of(("DISABLED", "CONSTANT", "EXPONENTIAL")),
    "EXPONENTIAL",
    "How pauses grow before what the server was too busy for is sent again; `DISABLED` for no retries.",
)
BACKOFF_RETRIES = TableOption("sink.bulk-flush.backoff.max-retries", whole_number, 8, "Number of these retries.")
BACKOFF_DELAY = TableOption("sink.bulk-flush.backoff.delay", duration, 50, "The first pause.")
PATH_PREFIX = TableOption("connection.path-prefix", str, "", "What all paths begin with, such as `/v1`.")
REQUEST_TIMEOUT = TableOption(
    "connection.request-timeout", duration, None, "Each task has its own connection.", without_effect=True
)
CONNECT_TIMEOUT = TableOption("connection.timeout", duration, 4000, "Longest time until a connection is there.")
SOCKET_TIMEOUT = TableOption("socket.timeout", duration, 30_000, "Longest time in which the server sends nothing.")
FORMAT = TableOption("format", str, "json", "The format of documents, one of JSON objects.")
VERSION_COLUMN = TableOption(
    "sink.version.column",
    str,
    None,
    "A BIGINT column, the version of a row's document (`external_gte`): an older row never replaces a newer one.",
)
PAGE_SIZE = TableOption("scan.fetch-size", whole_number, 1000, "Documents that a reader fetches at once.")
SLICES = TableOption("scan.partition.num", whole_number, None, "Slices that are read separately; one per shard.")
ALLOW_INSECURE = TableOption("allow-insecure", boolean, False, "Whether certificates are not checked.")

OPTIONS: tuple[TableOption[Any], ...] = (
    HOSTS,
    INDEX,
    KEY_DELIMITER,
    USERNAME,
    PASSWORD,
    FAILURE_HANDLER,
    GUARANTEE,
    FLUSH_ON_CHECKPOINT,
    MAX_ACTIONS,
    MAX_SIZE,
    INTERVAL,
    BACKOFF,
    BACKOFF_RETRIES,
    BACKOFF_DELAY,
    PATH_PREFIX,
    REQUEST_TIMEOUT,
    CONNECT_TIMEOUT,
    SOCKET_TIMEOUT,
    FORMAT,
    VERSION_COLUMN,
    PAGE_SIZE,
    SLICES,
    SCAN_PARALLELISM,
    SINK_PARALLELISM,
    *(option for option in LOOKUP_OPTIONS if option.key != "lookup.max-retries"),
)


def hosts_of(options: Options) -> HttpSettings:
    """Return where the server is.

    Raises:
        ValidationError: An address is none, or the password is missing.
    """
    addresses = tuple(each.strip().rstrip("/") for each in options.get(HOSTS).split(";") if each.strip())
    username, password = options.find(USERNAME), options.find(PASSWORD)
    if bool(username) != bool(password):
        raise ValidationError("'username' and 'password' must be set at the same time.")
    try:
        return HttpSettings(
            addresses,
            username or None,
            password or None,
            None,
            options.get(PATH_PREFIX),
            options.get(CONNECT_TIMEOUT) / 1000,
            options.get(SOCKET_TIMEOUT) / 1000,
            not options.get(ALLOW_INSECURE),
        )
    except ArgumentError as error:
        raise ValidationError(f"Could not parse host in option '{HOSTS.key}': {error}") from None


def bulk_of(options: Options) -> BulkSettings:
    """Return the sizes and retries of bulk requests.

    Raises:
        ValidationError: A number is negative.
        UnsupportedError: The failure handler is a class of Java, or the guarantee is exactly once.
    """
    handler = options.get(FAILURE_HANDLER)
    try:
        on_failure = FailureHandler(handler.lower())
    except ValueError:
        raise UnsupportedError(
            f"'{FAILURE_HANDLER.key}' = '{handler}': classes of Java do not run here; use 'fail', 'ignore' or "
            "'retry-rejected'"
        ) from None
    if options.get(GUARANTEE) == "exactly-once":
        raise UnsupportedError(
            f"'{GUARANTEE.key}' = 'exactly-once': the servers have no transactions; with a PRIMARY KEY 'at-least-once' "
            "leaves each document once"
        )
    strategy = {"DISABLED": BackoffType.NONE}.get(options.get(BACKOFF)) or BackoffType(options.get(BACKOFF))
    for option in (BACKOFF_RETRIES, BACKOFF_DELAY):
        if options.get(option) < 1:
            raise ValidationError(f"'{option.key}' must be at least 1, but is {options.get(option)}")
    return BulkSettings(
        max(options.get(MAX_ACTIONS), 0),
        options.get(MAX_SIZE),
        options.get(INTERVAL),
        strategy,
        options.get(BACKOFF_RETRIES),
        options.get(BACKOFF_DELAY),
        on_failure,
    )
