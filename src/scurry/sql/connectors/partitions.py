"""Options of tables that are read in ranges of a column."""

from __future__ import annotations

from typing import Any

from scurry.connectors.ranges import NumericRanges
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, whole_number

PARTITION_COLUMN = TableOption("scan.partition.column", str, None, "A number, by whose ranges the table is read.")
PARTITION_NUMBER = TableOption("scan.partition.num", whole_number, None, "Number of ranges.")
PARTITION_LOWER = TableOption("scan.partition.lower-bound", whole_number, None, "Smallest number that is read.")
PARTITION_UPPER = TableOption("scan.partition.upper-bound", whole_number, None, "Largest number that is read.")

PARTITION_OPTIONS: tuple[TableOption[Any], ...] = (
    PARTITION_COLUMN,
    PARTITION_NUMBER,
    PARTITION_LOWER,
    PARTITION_UPPER,
)


def numeric_ranges(options: Options) -> NumericRanges | None:
    """Return the ranges that a table is read in, None for one query.

    Raises:
        ValidationError: Some of the options are missing, or make no ranges.
    """
    all_or_none(options, PARTITION_OPTIONS)
    column = options.find(PARTITION_COLUMN)
    if column is None:
        return None
    lower, upper, number = (options.find(option) for option in (PARTITION_LOWER, PARTITION_UPPER, PARTITION_NUMBER))
    assert lower is not None and upper is not None and number is not None, "all are given"
    if lower > upper:
        raise ValidationError(
            f"'{PARTITION_LOWER.key}'='{lower}' must not be larger than '{PARTITION_UPPER.key}'='{upper}'."
        )
    if number < 1:
        raise ValidationError(f"Batch number must be positive: '{PARTITION_NUMBER.key}'")
    return NumericRanges(column, lower, upper, number)


def all_or_none(options: Options, wanted: tuple[TableOption[Any], ...]) -> None:
    """Check that options are given together.

    Raises:
        ValidationError: Only some of them are.
    """
    if len({option in options for option in wanted}) > 1:
        listed = "\n".join(option.key for option in wanted)
        raise ValidationError(f"Either all or none of the following options should be provided:\n{listed}")
