"""ClickHouse as source and sink: ClickHouseSource and ClickHouseSink, which PyFlink lacks."""

from __future__ import annotations

import os
from typing import Self

from scurry.common._api import ApiObject, made_by
from scurry.common.time import TimeAmount, to_millis
from scurry.connectors.clickhouse.client import ClickHouseTable
from scurry.connectors.clickhouse.server import hosts_of
from scurry.connectors.clickhouse.sink import BLOCK_ROWS
from scurry.connectors.clickhouse.sink import ClickHouseSink as _ClickHouseSink
from scurry.connectors.clickhouse.source import ClickHouseScan
from scurry.connectors.clickhouse.source import ClickHouseSource as _ClickHouseSource
from scurry.connectors.ranges import NumericRanges
from scurry.datastream.connectors.base import DeliveryGuarantee, checked_guarantee
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types.nested_types import RowType

__all__ = ["ClickHouseSink", "ClickHouseSinkBuilder", "ClickHouseSource", "ClickHouseSourceBuilder"]


@made_by("builder")
class ClickHouseSource(ApiObject, _ClickHouseSource):
    """A bounded source of the rows of a table."""

    @staticmethod
    def builder() -> ClickHouseSourceBuilder:
        """Return a builder."""
        return ClickHouseSourceBuilder()


class _Builder(ApiObject):
    def __init__(self) -> None:
        self._url, self._database, self._table = "", "default", ""
        self._username: str | None = None
        self._password: str | None = None
        self._row: RowType | None = None
        self._retries = 3

    def set_url(self, url: str) -> Self:
        """Set the addresses of the server, with `,` between those of replicas: `http://host:8123`."""
        self._url = url
        return self

    def set_username(self, username: str) -> Self:
        """Set the user."""
        self._username = username
        return self

    def set_password(self, password: str) -> Self:
        """Set the user's password."""
        self._password = password
        return self

    def set_database(self, database: str) -> Self:
        """Set the database (`default`)."""
        self._database = database
        return self

    def set_table(self, table: str) -> Self:
        """Set the table."""
        self._table = table
        return self

    def set_row_type(self, row_type: RowType) -> Self:
        """Set the columns and their types: `DataTypes.ROW([DataTypes.FIELD("k", DataTypes.STRING())])`."""
        if not isinstance(row_type, RowType):
            raise ArgumentTypeError(f"set_row_type takes DataTypes.ROW([...]), got {row_type!r}")
        self._row = row_type
        return self

    def set_max_retries(self, max_retries: int) -> Self:
        """Set how often a statement is repeated that the server could not do just then (3)."""
        if max_retries < 0:
            raise ArgumentError(f"set_max_retries takes 0 or more, got {max_retries}")
        self._retries = max_retries
        return self

    def _built(self, name: str) -> tuple[ClickHouseTable, RowType]:
        if not (self._url and self._table) or self._row is None:
            raise ArgumentError(f"a {name} needs set_url(...), set_table(...) and set_row_type(...)")
        hosts = hosts_of(self._url, self._username, self._password)
        return ClickHouseTable(hosts, self._database, self._table, self._retries), self._row


class ClickHouseSourceBuilder(_Builder):
    """Build a ClickHouseSource."""

    def __init__(self) -> None:
        """Begin with one query."""
        super().__init__()
        self._ranges: NumericRanges | None = None

    def set_partitions(self, column: str, lower: int, upper: int, number: int) -> Self:
        """Read ranges of a column of whole numbers separately; rows with other numbers and NULL are left out.

        Args:
            column: The column.
            lower: The smallest number.
            upper: The largest number.
            number: The number of ranges.
        """
        if lower > upper or number < 1:
            raise ArgumentError(f"set_partitions takes bounds in order and a number >= 1, got {lower, upper, number}")
        self._ranges = NumericRanges(column, lower, upper, number)
        return self

    def build(self) -> ClickHouseSource:
        """Return the source.

        Raises:
            ArgumentError: The server, the table or the columns are not set.
            UnsupportedError: A type is not one of ClickHouse.
        """
        table, row = self._built("ClickHouseSource")
        return ClickHouseSource(ClickHouseScan(table, self._ranges), row)


@made_by("builder")
class ClickHouseSink(ApiObject, _ClickHouseSink):
    """Insert rows into a table: at least once, or exactly once into tables that remember blocks."""

    @staticmethod
    def builder() -> ClickHouseSinkBuilder:
        """Return a builder."""
        return ClickHouseSinkBuilder()


class ClickHouseSinkBuilder(_Builder):
    """Build a ClickHouseSink."""

    def __init__(self) -> None:
        """Begin with blocks of 100,000 rows, at least once."""
        super().__init__()
        self._rows, self._interval = BLOCK_ROWS, 0
        self._staging: str | None = None
        self._exactly_once = False

    def set_batch_size(self, batch_size: int) -> Self:
        """Set the rows of an INSERT (100,000), at most 1,000,000."""
        self._rows = batch_size
        return self

    def set_batch_interval_ms(self, batch_interval_ms: TimeAmount) -> Self:
        """Set the time that rows wait for others (0, no limit), at most until their commit."""
        self._interval = to_millis(batch_interval_ms)
        return self

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> Self:
        """Set the guarantee: `AT_LEAST_ONCE`, `NONE`, which writes the same way, or `EXACTLY_ONCE`."""
        self._exactly_once = checked_guarantee(delivery_guarantee) is DeliveryGuarantee.EXACTLY_ONCE
        return self

    def set_staging_dir(self, path: str | os.PathLike[str]) -> Self:
        """Set the directory where EXACTLY_ONCE stages rows before they are sent.

        Args:
            path: A directory that the driver finds again when the job resumes, such as one beside its checkpoints.
        """
        self._staging = os.path.abspath(path)
        return self

    def build(self) -> ClickHouseSink:
        """Return the sink.

        Raises:
            ArgumentError: The server, the table, the columns or the staging directory are not set.
            UnsupportedError: A type is not one of ClickHouse.
        """
        table, row = self._built("ClickHouseSink")
        if self._exactly_once and self._staging is None:
            raise ArgumentError(
                "EXACTLY_ONCE needs a staging directory, because ClickHouse has no transactions over blocks: call "
                "set_staging_dir with a directory beside the checkpoints"
            )
        staging = self._staging if self._exactly_once else None
        return ClickHouseSink(table, row, self._rows, self._interval, staging)
