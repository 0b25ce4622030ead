"""ClickHouseScan: the rows of a table as columns, for streams and tables; ClickHouseSource: as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.common.typeinfo import TypeInformation
from scurry.connectors.clickhouse.client import ClickHouse, ClickHouseTable
from scurry.connectors.clickhouse.columns import check_row
from scurry.connectors.clickhouse.names import expression, literal, quoted
from scurry.connectors.files.formats.columnar import BatchRows, DeclaredColumns
from scurry.connectors.ranges import NumericRanges
from scurry.connectors.source import MEASURED, BatchLimits, Block, Chunk, ChunkSizer, Enumerator, Source, sliced
from scurry.connectors.split_queues import SplitEnumerator
from scurry.sql.types.nested_types import RowType
from scurry.sql.values.type_information import to_type_info

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows that are a block of records.
_ROWS = 2048


@dataclass(frozen=True)
class ClickHouseScan:
    """The rows of a table, in ranges of a column or at once; a range is one query, from one snapshot.

    Attributes:
        table: The table.
        ranges: The ranges that are read separately, which leave out other numbers and NULL; None for one query.
    """

    table: ClickHouseTable
    ranges: NumericRanges | None = None

    def splits(self) -> list[Any]:
        """Return the ranges, one None without."""
        return [None] if self.ranges is None else list(self.ranges.all())

    def batches(self, split: Any, row: RowType) -> Iterator[pa.RecordBatch]:
        """Yield columns of a range.

        Args:
            split: One of `splits()`.
            row: The columns to read.

        Raises:
            ConnectorError: The server does not answer, or there is no such table or column.
            MalformedRecordError: A value does not fit the type of its column.
        """
        condition = ""
        if self.ranges is not None:
            condition = f"{quoted(self.ranges.column)} BETWEEN {int(split[0])} AND {int(split[1])}"
        server = ClickHouse(self.table)
        try:
            for batch in selected(server, self.table, row, condition):
                MEASURED.get()(batch.num_rows, batch.nbytes)
                yield batch
        finally:
            server.close()


def selected(
    server: ClickHouse, table: ClickHouseTable, row: RowType, condition: str, is_replacing: bool | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield columns of the rows for which a condition holds, of each key the last row.

    Args:
        server: The connection.
        table: The table.
        row: The columns.
        condition: The condition, empty for none.
        is_replacing: Whether rows of a key replace each other; None to ask.
    """
    if is_replacing is None:
        is_replacing = server.facts().replaces
    chosen = ", ".join(expression(field.name, field.data_type) for field in row) or "1"
    query = f"SELECT {chosen} FROM {table.quoted}{' FINAL' if is_replacing else ''}"
    if condition:
        query += f" WHERE {condition}"
    columns = DeclaredColumns(row)
    for batch in server.batches(query):
        yield columns.by_name(batch, f"table {table.shown}")


def equal_to(key: Sequence[tuple[str, Any]]) -> str:
    """Return the condition of the rows with some values, which Arrow has for them."""
    return " AND ".join(f"{quoted(name)} = {literal(value)}" for name, value in key)


@dataclass(frozen=True)
class ClickHouseSource(Source):
    """A bounded source of the rows of a table, as Rows.

    A repeated micro-batch reads its ranges again: exactly once, if the table does not change meanwhile.

    Attributes:
        scan: The table and its ranges.
        row: The type of the rows.
    """

    scan: ClickHouseScan
    row: RowType

    def __post_init__(self) -> None:
        """Check the columns."""
        check_row(self.row)

    @property
    def produced_type(self) -> TypeInformation | None:
        """A row with the columns' names and types."""
        return to_type_info(self.row)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return the assigner of ranges."""
        return SplitEnumerator(self.scan.splits(), self.channels(parallelism))

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the rows of the assigned ranges."""
        return sliced(self._blocks(work), sizer)

    def _blocks(self, work: Any) -> Iterator[Block]:
        rows = BatchRows(self.row)
        for split in work:
            for batch in self.scan.batches(split, self.row):
                for first in range(0, batch.num_rows, _ROWS):
                    yield rows(batch.slice(first, _ROWS), self.scan.table.shown)
