"""The `spark` connector: tables of any format that Spark reads and writes itself, in BATCH on Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.sink import Sink, SinkWriter, WriterContext
from scurry.errors import UnsupportedError
from scurry.sql.catalog.table_options import TableOption
from scurry.sql.connectors.contract import Changes, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import LocalZonedTimestampType, TimestampType, TimeType

#: Prefix of the keys of the format's options.
OPTIONS = "options."
FORMAT = TableOption(
    "format", str, None, "A format of Spark, or the class of one: `text`, `xml`, `jdbc`, ...", required=True
)
PATH = TableOption("path", str, None, "Where the data is, for formats of files.")


@dataclass(frozen=True)
class SparkTable:
    """A table in a format of Spark.

    Attributes:
        path: Path of the data; None for formats without one.
        partition_keys: The columns by which files are partitioned.
    """

    format: str
    path: str | None
    options: tuple[tuple[str, str], ...]
    columns: tuple[FormatColumn, ...]
    partition_keys: tuple[str, ...] = ()


class SparkFactory(TableFactory):
    """Make sources and sinks of Spark's formats."""

    identifier = "spark"
    supports_overwrite = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return all options but those of the format."""
        return (FORMAT, PATH)

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the options of the format that are set."""
        return [key for key in context.options if key.startswith(OPTIONS)]

    def create_source(self, context: TableContext) -> TableSource:
        return SparkTableSource(self._table(context))

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        return SparkTableSink(self._table(context), target.overwrite)

    def _table(self, context: TableContext) -> SparkTable:
        options = self.check(context)
        if context.streaming:
            raise UnsupportedError(
                f"'connector' = 'spark' in STREAMING: table {context.identifier.as_summary_string()} is read and "
                "written in BATCH; use the DataStream API with env.from_spark(...), or another connector"
            )
        for column in context.physical_columns:
            kind = column.type
            if isinstance(kind, TimeType) or (
                isinstance(kind, TimestampType | LocalZonedTimestampType) and kind.precision > 6
            ):
                raise UnsupportedError(
                    f"column '{column.name}' is {kind.as_summary_string()}, which Spark has not: declare TIMESTAMP(6) "
                    "or STRING"
                )
        given = [(key.removeprefix(OPTIONS), v) for key, v in context.options.items() if key.startswith(OPTIONS)]
        return SparkTable(
            options.get(FORMAT),
            options.find(PATH),
            tuple(sorted(given)),
            context.physical_columns,
            context.table.partition_keys,
        )


def _needs_spark(table: SparkTable) -> UnsupportedError:
    return UnsupportedError(
        f"'connector' = 'spark' with 'format' = '{table.format}' needs Spark: leave scurry.runner=local out"
    )


@dataclass(frozen=True)
class SparkTableSource(TableSource):
    """A table that only Spark can read."""

    table: SparkTable

    def splits(self) -> list[Any]:
        """Return one piece, which is the whole table."""
        return [None]

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Fail: this is not Spark.

        Raises:
            UnsupportedError: Always.
        """
        raise _needs_spark(self.table)


@dataclass(frozen=True)
class SparkTableSink(Sink):
    """A table that only Spark can write.

    Attributes:
        table: The table that is written.
        overwrite: Whether rows are replaced: all, or in tables with partitions those of partitions that get rows.
    """

    table: SparkTable
    overwrite: bool

    native = False

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Fail: this is not Spark.

        Raises:
            UnsupportedError: Always.
        """
        raise _needs_spark(self.table)
