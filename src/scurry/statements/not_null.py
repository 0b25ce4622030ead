"""What becomes of NULL in columns of a sink that are NOT NULL: `table.exec.sink.not-null-enforcer`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scurry.connectors.tables.contract import Changes
from scurry.errors import ValidationError
from scurry.relational.plan import Sink
from scurry.statements.session import TableSession

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["NotNullEnforcer"]


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
        """Return the enforcer of a sink."""
        persisted = [column for column in sink.table.table.schema.get_columns() if column.is_persisted()]
        columns = tuple((i, column.name) for i, column in enumerate(persisted) if not column.data_type.is_nullable)
        return cls(columns, session.setting("table.exec.sink.not-null-enforcer", "ERROR").upper() == "DROP")

    def changes(self, changes: Changes) -> Changes:
        """Return the changes that may be written.

        Raises:
            ValidationError: A row has a NULL, and such rows are refused.
        """
        return Changes(self.apply(changes.batch))

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that may be written.

        Raises:
            ValidationError: A row has a NULL, and such rows are refused.
        """
        import pyarrow.compute as pc

        for index, name in self.columns:
            if not batch.column(index).null_count:
                continue
            if not self.drops:
                raise ValidationError(
                    f"Column '{name}' is NOT NULL, however, a null value is being written into it. You can set job "
                    "configuration 'table.exec.sink.not-null-enforcer'='DROP' to suppress this exception and drop such "
                    "records silently."
                )
            batch = batch.filter(pc.is_valid(batch.column(index)))
        return batch
