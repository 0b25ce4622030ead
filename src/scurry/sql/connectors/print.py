"""The `print` connector: a sink that prints its changes as Flink's does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scurry.common.types import RowKind
from scurry.connectors.print_sink import PrintSink
from scurry.connectors.sink import Sink, SinkWriter, WriterContext
from scurry.sql.catalog.table_options import TableOption, boolean
from scurry.sql.connectors.contract import Changes, SinkChanges, SinkTarget, TableContext, TableFactory
from scurry.sql.connectors.java_values import field_texts
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.types import DataType
from scurry.sql.types.values import to_values

IDENTIFIER = TableOption("print-identifier", str, None, "Text before each line.")
STANDARD_ERROR = TableOption("standard-error", boolean, False, "Whether lines go to standard error.")


class PrintFactory(TableFactory):
    """Make sinks that print their changes."""

    identifier = "print"
    with_watermark_options = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return identifier and stream."""
        return (IDENTIFIER, STANDARD_ERROR, SINK_PARALLELISM)

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept all changes."""
        return SinkChanges("ALL")

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that prints its changes."""
        options = self.check(context)
        columns = [column for column in context.schema.get_columns() if column.is_persisted()]
        fixed = [
            f"{name}={target.partition[name]}" for name in context.table.partition_keys if name in target.partition
        ]
        parts = [part for part in (options.find(IDENTIFIER), *fixed) if part]
        types = tuple(column.data_type for column in columns)
        return _ChangePrintSink(":".join(parts), options.get(STANDARD_ERROR), types)


class _ChangePrintSink(PrintSink):
    def __init__(self, identifier: str | None, to_error: bool, types: tuple[DataType, ...]) -> None:
        super().__init__(identifier or None, to_error)
        self._types = types

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return _ChangeWriter(super().create_writer(context), field_texts(self._types))


#: the text of each kind of change, by its value
_SHOWN = [str(kind) for kind in sorted(RowKind, key=lambda kind: kind.value)]


class _ChangeWriter(SinkWriter):
    def __init__(self, lines: SinkWriter, texts: Sequence[Callable[[Any], str]]) -> None:
        self._lines = lines
        self._texts = texts

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        self._lines.write([line for changes in values for line in self._shown(changes)])

    def _shown(self, changes: Changes) -> list[str]:
        columns = [
            ["null" if value is None else text(value) for value in to_values(column)]
            for text, column in zip(self._texts, changes.batch.columns, strict=True)
        ]
        rows = [", ".join(row) for row in zip(*columns, strict=True)] if columns else [""] * changes.batch.num_rows
        kinds = changes.kinds if changes.kinds is not None else [0] * len(rows)
        return [f"{_SHOWN[kind]}[{row}]" for kind, row in zip(kinds, rows, strict=True)]

    def prepare_commit(self) -> list[Any]:
        return self._lines.prepare_commit()
