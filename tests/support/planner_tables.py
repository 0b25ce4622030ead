"""The connector `values` of the tests of Flink's planner: what plans have to know of its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from scurry.connectors.sink import DiscardSink, Sink
from scurry.sql.catalog.table_options import TableOption
from scurry.sql.connectors.contract import (
    Changes,
    LookupSource,
    SinkChanges,
    SinkTarget,
    TableContext,
    TableFactory,
    TableSource,
)

__all__ = ["ValuesFactory"]


class _NoRows(LookupSource):
    def open(self) -> None:
        return

    def lookup(self, keys: pa.RecordBatch) -> tuple[pa.Array, pa.RecordBatch]:
        raise AssertionError("plans are not executed")

    def close(self) -> None:
        return


class _Source(TableSource):
    def __init__(self, context: TableContext) -> None:
        options = context.options
        kinds = set(options.get("changelog-mode", "I").split(","))
        self.bounded = options.get("bounded", "false") == "true"
        self.insert_only = kinds == {"I"}
        self.upserts = not self.insert_only and "UB" not in kinds
        self._has_lookup = options.get("disable-lookup", "false") != "true"

    def splits(self) -> list[Any]:
        return []

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        return iter(())

    def create_lookup(self, keys: Sequence[str], columns: Sequence[str]) -> LookupSource | None:
        return _NoRows() if self._has_lookup else None


class ValuesFactory(TableFactory):
    """Make sources and sinks that say which changes they have, and have none."""

    identifier = "values"
    reads_metadata = True
    writes_metadata = True

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return ()

    def create_source(self, context: TableContext) -> TableSource:
        return _Source(context)

    def sink_changes(self, context: TableContext) -> SinkChanges:
        options = context.options
        if options.get("sink-insert-only", "true") == "true":
            return SinkChanges("INSERT")
        enforced = options.get("sink-changelog-mode-enforced")
        if enforced is not None:
            kinds = set(enforced.split(","))
            return SinkChanges("INSERT" if kinds == {"I"} else "ALL" if "UB" in kinds else "UPSERT")
        return SinkChanges("UPSERT" if context.table.schema.get_primary_key() is not None else "ALL")

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        return DiscardSink()
