"""RowQuery: a projection and a filter in the SQL of tables, on the rows of one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scurry.errors import ScurryError, ValidationError
from scurry.sql import types
from scurry.sql.catalog.identifier import escape_identifier
from scurry.sql.evaluation.row_wise import Step, compile_step
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.splitting import split_outside
from scurry.sql.pipelines.columns import TableColumns
from scurry.sql.plan.nodes import Filter, Plan, Project, Scan
from scurry.sql.planner.rules import optimized
from scurry.sql.syntax.parser import parse
from scurry.sql.validator import CatalogColumn, CatalogReader, CatalogTable, validate_query

if TYPE_CHECKING:
    import pyarrow as pa

TEXT = types.VarCharType(types.MAX_LENGTH, False)
#: Columns that expressions may read, and `*` does not have.
METADATA = ("__namespace_name__", "__schema_name__", "__table_name__")
#: The column with the kind of a row's change: `+I`, `-U`, `+U` or `-D`.
EVENT_TYPE = "__data_event_type__"


class RowQuery:
    """A query of one table `t`, row by row.

    Attributes:
        names: The columns that come out.
        types: Their types.

    Raises:
        ValidationError: An expression is wrong, or looks at other rows.
    """

    def __init__(self, query: str, columns: TableColumns, session: EvaluationContext) -> None:
        plan = optimized(_plan(query, columns, session), session)
        steps: list[Plan] = []
        while isinstance(plan, Project | Filter):
            steps.append(plan)
            plan = plan.input
        if not isinstance(plan, Scan):
            raise ValidationError("a projection and a filter look at one row at a time: no aggregates, no subqueries")
        self._read = tuple(plan.schema.names)
        self._steps: list[Step] = [compile_step(step, session) for step in reversed(steps)]
        schema = (steps[0] if steps else plan).schema
        self.names, self.types = tuple(schema.names), tuple(each.type for each in schema)

    def reads(self, name: str) -> bool:
        """Return whether a column of the rows is read."""
        return name in self._read

    def apply(self, batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        """Return the rows of some rows, and the places of those that are kept; None for all."""
        import pyarrow as pa

        arrays = [batch.column(name) for name in self._read]
        batch = pa.RecordBatch.from_arrays(arrays, names=list(self._read)) if arrays else batch
        places = None
        for step in self._steps:
            batch, chosen = step(batch)
            if chosen is not None:
                places = chosen if places is None else places[chosen]
        return batch, places


def query_of(items: Sequence[str], columns: TableColumns, condition: str = "", table: str = "t") -> str:
    """Return the query of a projection and a condition."""
    listed = ", ".join(map(escape_identifier, columns.names))
    chosen = ", ".join(listed if item == "*" else item for item in items)
    return f"SELECT {chosen} FROM {table}" + (f" WHERE {condition}" if condition else "")


def filtered(items: Sequence[str], condition: str, names: Sequence[str], columns: TableColumns) -> str:
    """Return a query with a condition, which may read the columns that the projection adds."""
    outer, added, at = list[str](), list[str](), 0
    for item in items:
        wide = len(columns.names) if item == "*" else 1
        is_new = item != "*" and names[at] not in (*columns.names, *METADATA, EVENT_TYPE)
        outer.append(escape_identifier(names[at]) if is_new else item)
        added += [item] if is_new else []
        at += wide
    if not added:
        return query_of(items, columns, condition)
    known = [*columns.names, *METADATA, EVENT_TYPE]
    inner = ", ".join([*map(escape_identifier, known), *added])
    return query_of(outer, columns, condition, f"(SELECT {inner} FROM t) AS t")


class _OneTable(CatalogReader):
    def __init__(self, columns: TableColumns) -> None:
        described = [CatalogColumn(*each) for each in zip(columns.names, columns.types, strict=True)]
        described += [CatalogColumn(name, TEXT) for name in (*METADATA, EVENT_TYPE)]
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


def items_of(projection: str) -> Sequence[str]:
    r"""Return the expressions between commas, outside of quotes and parentheses; `\*` is `*`."""
    items = split_outside(projection, ",", "'`\"")
    return ["*" if item.strip() in ("*", "\\*") else item.strip() for item in items if item.strip()]
