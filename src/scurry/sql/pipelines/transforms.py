"""Transform: a projection and a filter of the rows of tables, in the SQL of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scurry.connectors.cdc.capture import TableId
from scurry.errors import ScurryError, ValidationError
from scurry.sql import types
from scurry.sql.catalog.identifier import escape_identifier
from scurry.sql.evaluation.row_wise import Step, compile_step
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.splitting import split_outside
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.pipelines.selectors import TableSelector
from scurry.sql.plan.nodes import Filter, Plan, Project, Scan
from scurry.sql.planner.rules import optimized
from scurry.sql.syntax.parser import parse
from scurry.sql.types.values import from_values
from scurry.sql.validator import CatalogColumn, CatalogReader, CatalogTable, validate_query

if TYPE_CHECKING:
    import pyarrow as pa

_TEXT = types.VarCharType(types.MAX_LENGTH, False)
#: Columns that expressions may read, and `*` does not have.
METADATA = ("__namespace_name__", "__schema_name__", "__table_name__")


@dataclass(frozen=True)
class Transform:
    """A rule of the projection and the filter of tables.

    Attributes:
        source: The tables.
        projection: Expressions with names, and `*`; empty for all columns.
        filter: The condition of the rows that are kept; empty for all.
        primary_keys: The columns of the primary key in the sink; none for those of the source.
        partition_keys: The columns by which the table in the sink is partitioned.
        options: Options of the table in the sink.
    """

    source: TableSelector
    projection: str = ""
    filter: str = ""
    primary_keys: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()

    def compiled(self, table: TableId, columns: TableColumns, time_zone: str) -> CompiledTransform:
        """Return the transform for the columns of a table.

        Raises:
            ValidationError: An expression is wrong, or the primary key is not among the columns.
        """
        return CompiledTransform(self, table, columns, time_zone)


class CompiledTransform:
    """A transform for the columns of one table.

    Attributes:
        columns: The columns that come out.
    """

    def __init__(self, rule: Transform, table: TableId, columns: TableColumns, time_zone: str) -> None:
        listed = [escape_identifier(name) for name in columns.names]
        items = _items(rule.projection) if rule.projection else ["*"]
        chosen = ", ".join(", ".join(listed) if item == "*" else item for item in items)
        query = f"SELECT {chosen} FROM t" + (f" WHERE {rule.filter}" if rule.filter else "")
        session = EvaluationContext(time_zone, is_streaming=True)
        names = dict(zip(METADATA, (table.database, table.schema, table.name), strict=True))
        plan = optimized(_plan(query, columns, session), session)
        steps: list[Plan] = []
        while isinstance(plan, Project | Filter):
            steps.append(plan)
            plan = plan.input
        if not isinstance(plan, Scan):
            raise ValidationError("a projection and a filter look at one row at a time: no aggregates, no subqueries")
        self._read = tuple(plan.schema.names)
        self._metadata = names
        self._steps: list[Step] = [compile_step(step, session) for step in reversed(steps)]
        schema = (steps[0] if steps else plan).schema
        key = rule.primary_keys or columns.key
        self.columns = TableColumns(tuple(schema.names), tuple(each.type for each in schema), key)
        for name in (*key, *rule.partition_keys):
            if name not in schema.names:
                what = "primary-keys" if name in rule.primary_keys else "partition-keys"
                what = what if name in (*rule.primary_keys, *rule.partition_keys) else "the primary key"
                raise ValidationError(f"the projection lacks column '{name}' of {what}")

    def apply(self, batch: pa.RecordBatch, kinds: Any) -> tuple[pa.RecordBatch, Any]:
        """Return the rows that some rows become, with their kinds of change."""
        import pyarrow as pa

        arrays = [self._column(batch, name) for name in self._read]
        batch = pa.RecordBatch.from_arrays(arrays, names=list(self._read)) if arrays else batch
        for step in self._steps:
            batch, positions = step(batch)
            if kinds is not None and positions is not None:
                kinds = kinds[positions]
        return batch, kinds

    def _column(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        if name in self._metadata:
            return from_values([self._metadata[name]] * batch.num_rows, _TEXT)
        return batch.column(name)


class _OneTable(CatalogReader):
    def __init__(self, columns: TableColumns) -> None:
        described = [CatalogColumn(*each) for each in zip(columns.names, columns.types, strict=True)]
        described += [CatalogColumn(name, _TEXT) for name in METADATA]
        self._table = CatalogTable(("default_catalog", "default_database", "t"), tuple(described), None)

    def find(self, names: tuple[str, ...]) -> CatalogTable | None:
        return self._table if names[-1] == "t" else None

    def missing(self, names: tuple[str, ...]) -> tuple[int, str]:
        return len(names), f"there is no table '{names[-1]}': a transform reads the row at hand"


def _plan(query: str, columns: TableColumns, session: EvaluationContext) -> Plan:
    try:
        parsed: Any = parse(query)
        return validate_query(parsed, _OneTable(columns), session)
    except ScurryError as error:
        # The place in the query that is made here says nothing to users.
        found = ValidationError(str(error).rpartition(": ")[2] if "line 1" in str(error) else str(error))
        for note in getattr(error, "__notes__", ()):
            found.add_note(note)
        raise found from None


def _items(projection: str) -> Sequence[str]:
    r"""Return the expressions between commas, outside of quotes and parentheses; `\*` is `*`."""
    items = split_outside(projection, ",", "'`\"")
    return ["*" if item.strip() in ("*", "\\*") else item.strip() for item in items if item.strip()]
