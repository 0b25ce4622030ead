"""DeltaSource and DeltaSink: tables of Delta Lake, under the names of Flink's Delta connector."""

from __future__ import annotations

import datetime
import os
from typing import Self

from scurry.common._api import ApiObject, made_by
from scurry.common.time import TimeAmount, to_millis
from scurry.connectors.lakes.delta_sink import DeltaSink as _DeltaSink
from scurry.connectors.lakes.delta_source import DeltaSource as _DeltaSource
from scurry.connectors.lakes.delta_table import DeltaRange
from scurry.datastream.formats._columns import check_row
from scurry.errors import ArgumentError, ArgumentTypeError
from scurry.sql.types.nested_types import RowType

__all__ = ["DeltaSink", "DeltaSource"]


class _SourceBuilder(ApiObject):
    """Base of both source builders: sets the columns, and the version to read or to start from."""

    def __init__(self, table_path: str) -> None:
        self._path = table_path
        self._columns: tuple[str, ...] | None = None
        self._version: int | None = None
        self._timestamp_ms: int | None = None

    def column_names(self, *names: str) -> Self:
        """Read these columns only."""
        self._columns = _names(names)
        return self

    def _source(self, what: DeltaRange, interval_ms: int | None) -> DeltaSource:
        built = DeltaSource.of(self._path, self._columns, what, interval_ms)
        assert isinstance(built, DeltaSource)
        return built


@made_by("for_bounded_row_data", "for_continuous_row_data")
class DeltaSource(ApiObject, _DeltaSource):
    """Read a Delta table as Rows: one version, or one and all that follow."""

    @staticmethod
    def for_bounded_row_data(table_path: str) -> DeltaSource.BoundedBuilder:
        """Return a builder of a source of one version of a table, the newest by default.

        Args:
            table_path: The table; local, or a file:, s3://, gs:// address.
        """
        return DeltaSource.BoundedBuilder(os.fspath(table_path))

    @staticmethod
    def for_continuous_row_data(table_path: str) -> DeltaSource.ContinuousBuilder:
        """Return a builder of an unbounded source: the content of a table, and later additions.

        Args:
            table_path: The table; local, or a file:, s3://, gs:// address.
        """
        return DeltaSource.ContinuousBuilder(os.fspath(table_path))

    class BoundedBuilder(_SourceBuilder):
        """Builder that sets the version to read, by default the newest, and the columns, by default all."""

        def version_as_of(self, version: int) -> DeltaSource.BoundedBuilder:
            """Read the table as it was in a version."""
            self._version = _version(version)
            return self

        def timestamp_as_of(self, timestamp: datetime.datetime | str) -> DeltaSource.BoundedBuilder:
            """Read the table as it was at a time: a datetime, or its ISO text; in UTC if it has no zone."""
            self._timestamp_ms = _millis(timestamp)
            return self

        def build(self) -> DeltaSource:
            """Return the source; reads the columns of the table.

            Raises:
                SourceNotFoundError: There is no such table, or no such version.
                ArgumentError: It lacks a column; or both a version and a time were given.
                UnsupportedError: A feature of the table or the type of a column is not supported.
                ExtraMissingError: The package deltalake is missing.
            """
            _one(self._version is not None, self._timestamp_ms is not None, "version_as_of", "timestamp_as_of")
            return self._source(DeltaRange(self._version, self._timestamp_ms), None)

    class ContinuousBuilder(_SourceBuilder):
        """Builder that sets where reading begins and how versions that do more than append are handled."""

        def __init__(self, table_path: str) -> None:
            """Begin with the whole content of the table and all columns."""
            super().__init__(table_path)
            self._latest = False
            self._interval_ms = 5000
            self._ignore_deletes = self._ignore_changes = False

        def starting_version(self, version: int | str) -> DeltaSource.ContinuousBuilder:
            """Read the additions from a version on, instead of the whole content of the table.

            Args:
                version: Its number, or "latest" for future versions only.
            """
            self._latest = version == "latest"
            self._version = None if self._latest else _version(version)
            return self

        def starting_timestamp(self, timestamp: datetime.datetime | str) -> DeltaSource.ContinuousBuilder:
            """Read the additions after a time: a datetime, or its ISO text; in UTC if it has no zone."""
            self._timestamp_ms = _millis(timestamp)
            return self

        def update_check_interval_millis(self, interval: TimeAmount) -> DeltaSource.ContinuousBuilder:
            """Set the time between checks for new versions, in milliseconds or as an amount of time; default 5 s."""
            self._interval_ms = to_millis(interval)
            return self

        def ignore_deletes(self, ignore_deletes: bool) -> DeltaSource.ContinuousBuilder:
            """Skip versions that delete files and add none, instead of failing."""
            self._ignore_deletes = ignore_deletes
            return self

        def ignore_changes(self, ignore_changes: bool) -> DeltaSource.ContinuousBuilder:
            """Read files that a version rewrote as if they were new, instead of failing."""
            self._ignore_changes = ignore_changes
            return self

        def build(self) -> DeltaSource:
            """Return the source; reads the columns of the table.

            Raises:
                SourceNotFoundError: There is no such table, or no such version.
                ArgumentError: It lacks a column; or both a version and a time were given.
                UnsupportedError: A feature of the table or the type of a column is not supported.
                ExtraMissingError: The package deltalake is missing.
            """
            by_version, by_time = self._latest or self._version is not None, self._timestamp_ms is not None
            _one(by_version, by_time, "starting_version", "starting_timestamp")
            what = DeltaRange(
                self._version, self._timestamp_ms, by_version or by_time, self._ignore_deletes, self._ignore_changes
            )
            return self._source(what, self._interval_ms)


@made_by("for_row_data")
class DeltaSink(ApiObject, _DeltaSink):
    """Append records to a Delta table, each exactly once."""

    @staticmethod
    def for_row_data(table_path: str, row_type: RowType) -> DeltaSink.Builder:
        """Return a builder of a sink of Rows, tuples or dicts.

        Args:
            table_path: The table, which is created if it does not exist; local, or a file:, s3://, gs:// address.
            row_type: Its columns: `DataTypes.ROW([DataTypes.FIELD(name, type), ...])`.
        """
        return DeltaSink.Builder(os.fspath(table_path), row_type)

    class Builder(ApiObject):
        """Builder of a DeltaSink: sets the partitioning, and whether columns are added."""

        def __init__(self, table_path: str, row_type: RowType) -> None:
            """Begin without partitions."""
            self._path = table_path
            self._row = check_row(row_type)
            self._partition_columns: tuple[str, ...] = ()
            self._merge_schema = False

        def with_partition_columns(self, *names: str) -> DeltaSink.Builder:
            """Partition the table by these columns."""
            self._partition_columns = _names(names)
            return self

        def with_merge_schema(self, merge_schema: bool) -> DeltaSink.Builder:
            """Add missing columns to the table, instead of failing."""
            self._merge_schema = merge_schema
            return self

        def build(self) -> DeltaSink:
            """Return the sink.

            Raises:
                ArgumentError: A partition column is not one of the columns.
                UnsupportedError: A type that tables do not support, or a path with an unknown scheme.
                ExtraMissingError: The package deltalake is missing.
            """
            built = DeltaSink.of(self._path, self._row, self._partition_columns, self._merge_schema)
            assert isinstance(built, DeltaSink)
            return built


def _names(names: tuple[str, ...]) -> tuple[str, ...]:
    if not names or not all(isinstance(name, str) for name in names):
        raise ArgumentTypeError(f"expected names of columns, each as an argument, got {names!r}")
    return names


def _version(version: int | str) -> int:
    if not isinstance(version, int) or version < 0:
        raise ArgumentError(f"a version of a table is a number from 0, got {version!r}")
    return version


def _millis(timestamp: datetime.datetime | str) -> int:
    if isinstance(timestamp, str):
        try:
            timestamp = datetime.datetime.fromisoformat(timestamp)
        except ValueError:
            raise ArgumentError(f"{timestamp!r} is no time such as 2026-03-04T05:06:07+00:00") from None
    if timestamp.tzinfo is None:
        timestamp = timestamp.replace(tzinfo=datetime.UTC)
    return round(timestamp.timestamp() * 1000)


def _one(version: bool, timestamp: bool, a: str, b: str) -> None:
    if version and timestamp:
        raise ArgumentError(f"{a}(...) and {b}(...) exclude each other; choose one")
