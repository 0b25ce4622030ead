"""The options of the `jdbc` connector."""

from __future__ import annotations

from typing import Any

from scurry.connectors.jdbc.drivers import database_of
from scurry.connectors.jdbc.options import JdbcConnectionOptions, JdbcExecutionOptions
from scurry.connectors.lookup_cache import CacheSettings
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors import lookups
from scurry.sql.connectors.durations import duration
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.partitions import PARTITION_OPTIONS, all_or_none, numeric_ranges

URL = TableOption("url", str, None, "The JDBC URL of the database.", required=True)
TABLE_NAME = TableOption("table-name", str, None, "The table in the database.", required=True)
USERNAME = TableOption("username", str, None, "The user.")
PASSWORD = TableOption("password", str, None, "The user's password.")
DRIVER = TableOption("driver", str, None, "Class of the JDBC driver; the URL decides which Python driver is used.")
COMPATIBLE_MODE = TableOption("compatible-mode", str, None, "Refused: the databases here have one mode.")
RETRY_TIMEOUT = TableOption(
    "connection.max-retry-timeout",
    duration,
    60_000,
    "At least 1 s. A lost connection is noticed without a question that could time out.",
    without_effect=True,
)
FETCH_SIZE = TableOption("scan.fetch-size", whole_number, 0, "Rows fetched at once; 0 for 5000.")
LOOKUP_ROWS = TableOption(
    "lookup.cache.max-rows",
    whole_number,
    None,
    "With `lookup.cache.ttl` the former way to cache lookups: number of keys in the cache.",
)
LOOKUP_TTL = TableOption("lookup.cache.ttl", duration, None, "How long after its lookup a key is cached.")
LOOKUP_MISSING = TableOption(
    "lookup.cache.caching-missing-key", boolean, True, "Whether keys without rows are cached, with `lookup.cache.ttl`."
)
FLUSH_ROWS = TableOption("sink.buffer-flush.max-rows", whole_number, 100, "Rows that are written at once; 0 for all.")
FLUSH_INTERVAL = TableOption("sink.buffer-flush.interval", duration, 1000, "Longest time that rows wait; 0 for any.")
SINK_RETRIES = TableOption("sink.max-retries", whole_number, 3, "How often a batch of rows is retried.")

OPTIONS: tuple[TableOption[Any], ...] = (
    URL,
    TABLE_NAME,
    USERNAME,
    PASSWORD,
    DRIVER,
    RETRY_TIMEOUT,
    *PARTITION_OPTIONS,
    FETCH_SIZE,
    *lookups.LOOKUP_OPTIONS,
    LOOKUP_ROWS,
    LOOKUP_TTL,
    LOOKUP_MISSING,
    FLUSH_ROWS,
    FLUSH_INTERVAL,
    SINK_RETRIES,
    COMPATIBLE_MODE,
    TableOption(
        "filter.handling.policy",
        one_of(("always", "never")),
        "always",
        "Conditions are evaluated here, not in the database.",
        without_effect=True,
    ),
    TableOption("scan.auto-commit", boolean, True, "Rows come through a cursor anyway.", without_effect=True),
    SINK_PARALLELISM,
)


def check_values(options: Options) -> None:
    """Check combinations of values as Flink does.

    Raises:
        ValidationError: Options do not fit together.
    """
    mode = options.find(COMPATIBLE_MODE)
    if mode:
        raise UnsupportedError(
            f"'{COMPATIBLE_MODE.key}' = '{mode}': the databases here have one mode; leave the option out"
        )
    all_or_none(options, (USERNAME, PASSWORD))
    numeric_ranges(options)
    all_or_none(options, (LOOKUP_ROWS, LOOKUP_TTL))
    for option in (lookups.LOOKUP_RETRIES, SINK_RETRIES):
        if options.get(option) < 0:
            raise ValidationError(
                f"The value of '{option.key}' option shouldn't be negative, but is {options.get(option)}."
            )
    if options.get(RETRY_TIMEOUT) < 1000:
        raise ValidationError(
            f"The value of '{RETRY_TIMEOUT.key}' option must be in second granularity and shouldn't be smaller than 1 "
            f"second, but is {options.values[options.prefix + RETRY_TIMEOUT.key]}."
        )
    database_of(connection_of(options))  # a URL without a driver


def connection_of(options: Options) -> JdbcConnectionOptions:
    """Return where the database is."""
    return JdbcConnectionOptions(options.get(URL), options.find(DRIVER), options.find(USERNAME), options.find(PASSWORD))


def execution_of(options: Options) -> JdbcExecutionOptions:
    """Return how many rows are written at once, and how often they are retried."""
    return JdbcExecutionOptions(options.get(FLUSH_INTERVAL), max(options.get(FLUSH_ROWS), 0), options.get(SINK_RETRIES))


def lookup_cache(options: Options) -> CacheSettings | None:
    """Return the cache of lookups, None without one.

    Raises:
        ValidationError: Nothing says when keys leave the cache.
        UnsupportedError: The cache is a copy of the whole table.
    """
    partial = lookups.lookup_cache(options, "jdbc")
    if partial is not None:
        return partial
    rows, lives = options.find(LOOKUP_ROWS) or 0, options.find(LOOKUP_TTL) or 0
    return CacheSettings(rows, lives, None, options.get(LOOKUP_MISSING)) if rows > 0 and lives > 0 else None
