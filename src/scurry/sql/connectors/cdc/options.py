"""Options that all connectors of change data capture have, as Flink CDC names them."""

from __future__ import annotations

from typing import Any

from scurry.connectors.cdc.capture import Startup
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.durations import duration


def _number(text: str) -> float:
    return float(text.removesuffix("d"))


HOSTNAME = TableOption("hostname", str, None, "The server.", required=True)
USERNAME = TableOption("username", str, None, "The user.", required=True)
PASSWORD = TableOption("password", str, None, "The user's password.", required=True)
DATABASE = TableOption("database-name", str, None, "The database.", required=True)
TABLE = TableOption("table-name", str, None, "The table: a regular expression of Java.", required=True)
CHUNK_ROWS = TableOption(
    "scan.incremental.snapshot.chunk.size", whole_number, 8096, "Rows of a chunk, which is read at once."
)
FETCH_ROWS = TableOption("scan.snapshot.fetch.size", whole_number, 1024, "Rows that a reader of a chunk holds.")
CHUNK_KEY = TableOption(
    "scan.incremental.snapshot.chunk.key-column",
    str,
    None,
    "The column by whose ranges tables are read; by default the first one of the primary key.",
)
MODE_TEXT = "Where reading begins: `initial` reads the rows, then the changes"
CONNECT_TIMEOUT = TableOption(
    "connect.timeout",
    duration,
    30_000,
    "How long the server may take to accept a connection; when a job starts at most 4 s.",
)
CONNECT_RETRIES = TableOption(
    "connect.max-retries", whole_number, 3, "How often the driver makes a lost connection again, after 0, 1, 2 ... s."
)
APPEND_ONLY = TableOption(
    "scan.read-changelog-as-append-only.enabled", boolean, False, "Whether all changes are rows that are added."
)
NEW_TABLES = TableOption(
    "scan.newly-added-table.enabled",
    boolean,
    False,
    "Whether a job that is started again reads tables that match since, their rows first.",
)

#: Options of how Flink CDC does it, on which no row depends.
WITHOUT_EFFECT: tuple[TableOption[Any], ...] = (
    TableOption(
        "scan.incremental.snapshot.backfill.skip",
        boolean,
        False,
        "Chunks are read as of a moment, so no changes have to be filled in.",
        without_effect=True,
    ),
    TableOption(
        "scan.incremental.close-idle-reader.enabled",
        boolean,
        False,
        "Readers that have nothing to do are not held back for.",
        without_effect=True,
    ),
    TableOption("chunk-meta.group.size", whole_number, 1000, "Chunks are kept as ranges.", without_effect=True),
    TableOption(
        "chunk-key.even-distribution.factor.lower-bound",
        _number,
        0.05,
        "The database says where chunks end.",
        without_effect=True,
    ),
    TableOption(
        "chunk-key.even-distribution.factor.upper-bound",
        _number,
        1000.0,
        "The database says where chunks end.",
        without_effect=True,
    ),
)


def debezium_keys(context: TableContext) -> list[str]:
    """Return the keys of Debezium's properties that a table sets."""
    return [key for key in context.options if key.startswith("debezium.")]


def check_debezium(context: TableContext, supported: dict[str, str]) -> None:
    """Refuse properties of Debezium that have no effect here.

    Args:
        supported: The properties that work, with what they do.

    Raises:
        UnsupportedError: A property is not known here.
    """
    unknown = [key for key in debezium_keys(context) if key not in supported]
    if unknown:
        raise UnsupportedError(
            f"'{unknown[0]}' is a property of Debezium, which does not run here; there are "
            f"{', '.join(sorted(supported))}"
        )


def check_sizes(options: Options) -> None:
    """Check numbers as Flink CDC does.

    Raises:
        ValidationError: A number is too small.
    """
    for option, least in ((CHUNK_ROWS, 2), (FETCH_ROWS, 2), (CONNECT_RETRIES, 1)):
        if options.get(option) < least:
            raise ValidationError(
                f"The value of option '{option.key}' must larger than {least - 1}, but is {options.get(option)}"
            )


def startup_of(mode: str, allowed: tuple[str, ...]) -> Startup:
    """Return where reading begins, for modes that need nothing else.

    Raises:
        ValidationError: There is no such mode.
    """
    if mode.lower() not in allowed:
        raise ValidationError(
            f"Invalid value for option 'scan.startup.mode'. Supported values are [{', '.join(allowed)}], but was: "
            f"{mode}"
        )
    return Startup(mode.lower())
