"""The options `scan.parallelism` and `sink.parallelism`."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.table_options import Options, TableOption, whole_number

SCAN_PARALLELISM = TableOption(
    "scan.parallelism", whole_number, None, "Number of readers of a STREAMING job, at least 1."
)
SINK_PARALLELISM = TableOption(
    "sink.parallelism",
    whole_number,
    None,
    "At least 1. Rows are written by the tasks that make them.",
    without_effect=True,
)


def checked_parallelism(options: Options, option: TableOption[int], table: ObjectIdentifier) -> int | None:
    """Return the parallelism that a table sets, None if it sets none.

    Args:
        option: One of these.

    Raises:
        ValidationError: It is not positive.
    """
    found = options.find(option)
    if found is not None and found < 1:
        raise ValidationError(f"Invalid configured parallelism {found} for table '{table.as_summary_string()}'.")
    return found
