"""Options that tables of queues share."""

from __future__ import annotations

import os

from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, one_of, whole_number

START_MILLIS = TableOption("scan.startup.timestamp-millis", whole_number, None, "Milliseconds since 1970.")
BOUNDED_MODE = TableOption(
    "scan.bounded.mode",
    one_of(("unbounded", "latest-offset")),
    "unbounded",
    "Where reading ends: `unbounded`, or `latest-offset`, at the messages that there are when the job starts.",
)
GUARANTEE = TableOption(
    "sink.delivery-guarantee",
    one_of(("exactly-once", "at-least-once", "none")),
    "at-least-once",
    "How often rows are written: `exactly-once`, `at-least-once`, or `none`, which is the same here.",
)
STAGING = TableOption("sink.staging-dir", str, None, "Where `exactly-once` stages rows before they are sent.")


def staging_of(options: Options, guarantee: TableOption[str], reason: str) -> str | None:
    """Return the directory where `exactly-once` stages rows, None for other guarantees.

    Raises:
        ValidationError: It is missing.
    """
    if options.get(guarantee) != "exactly-once":
        return None
    found = options.find(STAGING)
    if found is None:
        raise ValidationError(
            f"'{guarantee.key}' = 'exactly-once' needs '{STAGING.key}', a directory beside the checkpoints: {reason}"
        )
    return os.path.abspath(found)


def needed(options: Options, option: TableOption[int], mode: str) -> int:
    """Return the value that a mode of beginning needs.

    Raises:
        ValidationError: It is missing.
    """
    value = options.find(option)
    if value is None:
        raise ValidationError(f"'{option.key}' is required in '{mode}' startup mode but missing.")
    return value
