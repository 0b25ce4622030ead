"""IcebergSource and IcebergSink: tables of Apache Iceberg, under names of Iceberg's Flink connector."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.common._api import ApiObject, made_by
from scurry.common.time import TimeAmount, to_millis
from scurry.connectors.lakes.iceberg_sink import IcebergSink as _IcebergSink
from scurry.connectors.lakes.iceberg_source import IcebergSource as _IcebergSource
from scurry.connectors.lakes.iceberg_table import IcebergTable
from scurry.datastream.formats._columns import check_row
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types.nested_types import RowType

__all__ = ["IcebergSink", "IcebergSource", "TableLoader"]


@made_by("from_catalog")
class TableLoader(ApiObject):
    """The location of a table; made by `from_catalog`."""

    def __init__(self, table: IcebergTable) -> None:
        self._table = table

    @staticmethod
    def from_catalog(properties: Mapping[str, str], identifier: str, catalog_name: str = "default") -> TableLoader:
        """Return the table of a catalog.

        Args:
            properties: pyiceberg's properties of the catalog, e.g. `{"type": "rest", "uri": "http://..."}`; they
                override those in pyiceberg's configuration file.
            identifier: The table's name, e.g. "db.events".
            catalog_name: The catalog's name.
        """
        if not isinstance(properties, Mapping) or not isinstance(identifier, str):
            raise ArgumentTypeError(
                f"from_catalog takes a dict of properties and a name, got a {type(properties).__name__} and "
                f"{identifier!r}"
            )
        return TableLoader(IcebergTable(identifier, dict(properties), catalog_name))


def _table(loader: TableLoader | None) -> IcebergTable:
    if not isinstance(loader, TableLoader):
        raise ArgumentError("say which table: table_loader(TableLoader.from_catalog(properties, 'db.table'))")
    return loader._table


@made_by("for_row_data")
class IcebergSource(ApiObject, _IcebergSource):
    """Read an Iceberg table as Rows: one snapshot, or one and later additions."""

    @staticmethod
    def for_row_data() -> IcebergSource.Builder:
        """Return a builder of a source of the newest snapshot."""
        return IcebergSource.Builder()

    class Builder(ApiObject):
        """Builder that sets the table and where reading begins."""

        def __init__(self) -> None:
            """Begin without a table."""
            self._loader: TableLoader | None = None
            self._columns: tuple[str, ...] | None = None
            self._snapshot: int | None = None
            self._streaming = self._latest = False
            self._interval_ms = 60_000

        def table_loader(self, loader: TableLoader) -> IcebergSource.Builder:
            """Set the table."""
            self._loader = loader
            return self

        def column_names(self, *names: str) -> IcebergSource.Builder:
            """Read these columns only."""
            if not names or not all(isinstance(name, str) for name in names):
                raise ArgumentTypeError(f"expected names of columns, each as an argument, got {names!r}")
            self._columns = names
            return self

        def snapshot_id(self, snapshot_id: int) -> IcebergSource.Builder:
            """Read the table as it was in a snapshot."""
            self._snapshot = snapshot_id
            return self

        def streaming(self, streaming: bool) -> IcebergSource.Builder:
            """Read later additions too, indefinitely; by default, the source ends after one snapshot."""
            self._streaming = streaming
            return self

        def monitor_interval(self, interval: TimeAmount) -> IcebergSource.Builder:
            """Set the time between checks for new snapshots, in milliseconds or as an amount of time; default 60 s."""
            self._interval_ms = to_millis(interval)
            return self

        def start_snapshot_id(self, snapshot_id: int) -> IcebergSource.Builder:
            """Read only the additions after a snapshot, indefinitely."""
            self._snapshot, self._streaming, self._latest = snapshot_id, True, True
            return self

        def starting_from_latest(self) -> IcebergSource.Builder:
            """Read only additions from now on, indefinitely."""
            self._streaming = self._latest = True
            return self

        def build(self) -> IcebergSource:
            """Return the source; reads the columns from the catalog.

            Raises:
                SourceNotFoundError: There is no such table or snapshot.
                SourceConnectionError: The catalog cannot be queried.
                ArgumentError: No table was set, or it lacks a column.
                UnsupportedError: The type of a column is not supported.
                ExtraMissingError: The package pyiceberg is missing.
            """
            interval = self._interval_ms if self._streaming else None
            built = IcebergSource.of(_table(self._loader), self._columns, self._snapshot, self._latest, interval)
            assert isinstance(built, IcebergSource)
            return built


@made_by("for_row_data")
class IcebergSink(ApiObject, _IcebergSink):
    """Append records to an Iceberg table, each exactly once."""

    @staticmethod
    def for_row_data(row_type: RowType) -> IcebergSink.Builder:
        """Return a builder of a sink of Rows, tuples or dicts.

        Args:
            row_type: The columns: `DataTypes.ROW([DataTypes.FIELD(name, type), ...])`.
        """
        return IcebergSink.Builder(row_type)

    class Builder(ApiObject):
        """Builder that sets the table and its partitions."""

        def __init__(self, row_type: RowType) -> None:
            """Begin without a table."""
            self._row = check_row(row_type)
            self._loader: TableLoader | None = None
            self._partition_columns: tuple[str, ...] = ()

        def table_loader(self, loader: TableLoader) -> IcebergSink.Builder:
            """Set the table, which is created if it does not exist."""
            self._loader = loader
            return self

        def with_partition_columns(self, *names: str) -> IcebergSink.Builder:
            """Partition the table by these columns if it is created; an existing table keeps its partitions."""
            self._partition_columns = names
            return self

        def build(self) -> IcebergSink:
            """Return the sink.

            Raises:
                ArgumentError: No table was set, or a partition column is not one of the columns.
                UnsupportedError: A type that tables do not support.
                ExtraMissingError: The package pyiceberg is missing.
            """
            built = IcebergSink.of(_table(self._loader), self._row, self._partition_columns)
            assert isinstance(built, IcebergSink)
            return built
