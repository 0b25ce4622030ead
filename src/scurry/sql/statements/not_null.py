"""The NOT NULL enforcer of sinks and results: `table.exec.sink.not-null-enforcer`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.common._config.tables import SINK_NOT_NULL_ENFORCER
from scurry.errors import ValidationError
from scurry.sql.catalog.schema import Column, ResolvedSchema
from scurry.sql.connectors.contract import Changes
from scurry.sql.plan.nodes import Sink
from scurry.sql.statements.session import TableSession

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class NotNullEnforcer:
    """Refuse or drop rows with NULL in columns that are NOT NULL; picklable.

    Attributes:
        columns: Position and name of each such column.
        drops: Whether rows are dropped rather than refused.
    """

    columns: tuple[tuple[int, str], ...]
    drops: bool

    @classmethod
    def of(cls, session: TableSession, sink: Sink) -> NotNullEnforcer:
        columns = [each for each in sink.table.table.schema.get_columns() if each.is_persisted()]
        if sink.row_change is not None:  # the rows may have some of the columns only
            by_name = {each.name: each for each in columns}
            columns = [by_name[name] for name in sink.input.schema.names]
        return cls._of_columns(session, columns)

    @classmethod
    def of_query(cls, session: TableSession, schema: ResolvedSchema) -> NotNullEnforcer:
        """Return the enforcer of a query's rows, which are collected."""
        return cls._of_columns(session, schema.get_columns())

    @classmethod
    def _of_columns(cls, session: TableSession, columns: Sequence[Column]) -> NotNullEnforcer:
        not_null = tuple((i, column.name) for i, column in enumerate(columns) if not column.data_type.is_nullable)
        return cls(not_null, session.get(SINK_NOT_NULL_ENFORCER) == "DROP")

    def changes(self, changes: Changes) -> Changes:
        """Return the changes that may be written.

        Raises:
            ValidationError: A row has a NULL, and such rows are refused.
        """
        kept = self._kept(changes.batch)
        if kept is None:
            return changes
        kinds = None if changes.kinds is None else list(compress(changes.kinds, kept.to_pylist()))
        return Changes(changes.batch.filter(kept), kinds)

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that may be written.

        Raises:
            ValidationError: A row has a NULL, and such rows are refused.
        """
        kept = self._kept(batch)
        return batch if kept is None else batch.filter(kept)

    def _kept(self, batch: pa.RecordBatch) -> pa.BooleanArray | None:
        """Return which rows may be written; None if all."""
        import pyarrow.compute as pc

        kept = None
        for index, name in self.columns:
            column = batch.column(index)
            if not column.null_count:
                continue
            if not self.drops:
                raise ValidationError(
                    f"Column '{name}' is NOT NULL, however, a null value is being written into it. You can set job "
                    "configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress this exception and drop such "
                    "records silently."
                )
            kept = pc.is_valid(column) if kept is None else pc.and_(kept, pc.is_valid(column))
        return kept
