"""The `blackhole` connector: a sink that drops its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry.connectors.sink import DiscardSink, Sink
from scurry.sql.catalog.table_options import TableOption
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory


class BlackHoleFactory(TableFactory):
    """Make sinks that drop their rows."""

    identifier = "blackhole"

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        """Return no options."""
        return ()

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept all changes but the rows before updates."""
        return SinkChanges("UPSERT")

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink that drops its rows."""
        self.check(context)
        return DiscardSink()
