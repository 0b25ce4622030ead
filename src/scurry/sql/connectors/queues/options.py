"""Options that tables of queues share."""

from __future__ import annotations

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


def needed(options: Options, option: TableOption[int], mode: str) -> int:
    """Return the value that a mode of beginning needs.

    Raises:
        ValidationError: It is missing.
    """
    value = options.find(option)
    if value is None:
        raise ValidationError(f"'{option.key}' is required in '{mode}' startup mode but missing.")
    return value
