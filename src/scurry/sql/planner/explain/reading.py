"""Tables that are read as text: with the operators that make watermarks, and drop rows before updates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.redaction import redacted
from scurry.sql.plan.expressions import Expression, InputReference
from scurry.sql.plan.nodes import Limit, Plan, Project, Scan
from scurry.sql.plan.physical.ranks import Rank
from scurry.sql.plan.rewriting import input_references, remapped, rewritten
from scurry.sql.planner.explain.expressions import PrefixText, expression_text
from scurry.sql.planner.explain.trees import Operator

#: Connectors whose sources read some columns only; those of others read all of them in Flink.
_PROJECTED = ("filesystem", "jdbc")
#: Connectors whose sources take limits in Flink.
_LIMITED = ("datagen", "filesystem", "jdbc")


@dataclass(frozen=True)
class ScanDescriptions:
    """Descriptions of table scans.

    Attributes:
        watermarks: Key of a scan -> the row-wise plan over its table that computes time and watermark, and the same
            plan as it is written; nothing for a table without watermarks.
        without_before: The scans where the rows before updates, which their tables have, are dropped.
        retracted: Aggregations of rows that may be taken back -> for each aggregate whether it takes them back.
        is_batch: Whether tables are read in BATCH, and operators are shown as Flink plans them there.
    """

    watermarks: Mapping[Any, tuple[Plan, Plan]]
    without_before: Collection[Scan] = ()
    retracted: Mapping[Plan, Sequence[bool]] = field(default_factory=dict)
    is_batch: bool = False

    def watermark(self, scan: Scan) -> Plan | None:
        """Return the plan that computes time and watermark of a table; None if it has none."""
        found = self.watermarks.get(scan.key)
        return None if found is None else found[0]

    def written(self, scan: Scan) -> Plan | None:
        found = self.watermarks.get(scan.key)
        return None if found is None else found[1]

    def drops_before(self, scan: Scan) -> bool:
        """Return whether the rows before updates, which a table has, are dropped where it is read."""
        return scan in self.without_before


NO_TABLES = ScanDescriptions({})
BATCH = ScanDescriptions({}, is_batch=True)


@dataclass(frozen=True)
class ReadTable:
    """The operators that read a table, and the translation of expressions over it.

    Attributes:
        texts: The operators, the last one first.
        dropping: Whether rows before updates are dropped behind them.
        computed: Which of them have the values of expressions over the columns of the scan, by position.
    """

    texts: Sequence[str]
    dropping: bool
    names: Sequence[str]
    computed: Sequence[tuple[Expression, int]]

    def of_computed(self, expression: Expression) -> Expression:
        """Return an expression over the scan with the columns that are computed already in place of their values."""

        def replaced(node: Expression) -> Expression:
            found = next((place for each, place in self.computed if each == node), None)
            return node if found is None else InputReference(found, node.type)

        return rewritten(expression, replaced) if self.computed else expression


def read_table(
    scan: Scan, reading: ScanDescriptions, text: PrefixText, used: Collection[Expression] | None = None
) -> ReadTable:
    """Return how a table is read.

    Args:
        text: Returns the texts of expressions.
        used: What is computed of the columns; None for all columns of the scan as they are.
    """
    dropping, times = reading.drops_before(scan), reading.watermark(scan)
    if not isinstance(times, Project):
        return ReadTable([scan_text(scan)], dropping, scan.schema.names, ())
    whole = _with_columns_of(scan, times)
    names = [*scan.schema.names]
    written, below = reading.written(scan), times.input
    time, watermark = times.expressions
    assert isinstance(time, InputReference), "the watermark and the time itself are computed of the time's column"
    assigner = (
        f"WatermarkAssigner(rowtime=[{below.schema.names[time.index]}], "
        f"watermark=[{text(watermark, below.schema.names)}])"
    )
    if not isinstance(below, Project):
        return ReadTable([assigner, scan_text(whole)], dropping, names, ())
    rowtime = below.schema.names[time.index]
    own = written.input if isinstance(written, Project) and isinstance(written.input, Project) else below
    computed = _computed(own, scan)
    table = ReadTable((), dropping, names, [(each, len(names) + place) for place, (_, each) in enumerate(computed)])
    all_names = [*names, *(name for name, _ in computed)]
    needed = {
        place
        for each in used or [InputReference(place, kind) for place, kind in enumerate(scan.schema.types)]
        for place in input_references(table.of_computed(each))
    }
    values = {name: text(each, names) for name, each in computed}
    values |= {
        name: text(each, below.input.schema.names)
        for name, each in zip(below.names, below.expressions, strict=True)
        if name == rowtime and name not in values
    }
    wanted = {all_names[place] for place in needed}
    ordered = [*(name for name in own.names if name in wanted), *([] if rowtime in wanted else [rowtime])]
    selected = [name if name not in values else f"{values[name]} AS {name}" for name in ordered]
    calc = f"Calc(select=[{', '.join(selected)}])"
    return replace(table, texts=[assigner, calc, scan_text(whole)], names=all_names)


def _computed(own: Project, scan: Scan) -> list[tuple[str, Expression]]:
    """Return the names and expressions of computed columns of a table whose own columns a scan has."""
    if not isinstance(own.input, Scan):
        return []
    places = {column: scan.columns.index(column) for column in own.input.columns if column in scan.columns}
    moved = {place: places[column] for place, column in enumerate(own.input.columns) if column in places}
    return [
        (name, remapped(each, moved))
        for name, each in zip(own.names, own.expressions, strict=True)
        if not isinstance(each, InputReference) and input_references(each) <= set(moved)
    ]


def scan_text(scan: Scan, columns: Sequence[str] | None = None) -> str:
    """Return a scan as text.

    Args:
        columns: The columns in another order; None for that of the scan.
    """
    hints = ", ".join(f"{key}={value}" for key, value in redacted(dict(scan.options)).items())
    shown = f", hints=[[[OPTIONS options:{{{hints}}}]]]" if hints else ""
    conditions = ", ".join(expression_text(each, scan.table_schema.names) for each in scan.conditions)
    pushed = f", filter=[{conditions}]" if conditions else ""
    names = list(columns or scan.schema.names)
    if reads_all(scan):
        names = list(scan.table_schema.names)
    elif is_projected(scan) and names != list(scan.table_schema.names):
        pushed += f", project=[{', '.join(names)}], metadata=[]"
    return f"TableSourceScan(table=[[{', '.join(scan.path)}{pushed}]], fields=[{', '.join(names)}]{shown})"


def chosen_rows(scan: Scan, text: str, conditions: Sequence[Expression], names: Sequence[str]) -> str:
    """Return the text of a table whose source takes conditions, with these.

    Args:
        text: Its text without them.
        names: The columns that they are over.
    """
    if _connector(scan) != "filesystem" or not conditions or scan.conditions:
        return text
    shown = expression_text(conditions[0], names)
    for each in conditions[1:]:
        shown = f"and({shown}, {expression_text(each, names)})"
    path = f"table=[[{', '.join(scan.path)}"
    return text.replace(path, f"{path}, filter=[{shown}]", 1)


def reads_all(scan: Scan) -> bool:
    """Return whether the source of a table reads all columns, of which only some may be used."""
    connector = _connector(scan)
    return connector is not None and connector not in _PROJECTED


def limited_table(plan: Limit | Rank, rows: Operator) -> Operator:
    """Return rows of a table that reads no more of them than a limit keeps."""
    if isinstance(plan, Rank):
        count = plan.end if plan.is_limit and not plan.order_by else None
    else:
        count = None if plan.fetch is None else plan.offset + plan.fetch
    if count is None or rows.name != "TableSourceScan" or not isinstance(rows.plan, Scan):
        return rows
    if _connector(rows.plan) not in _LIMITED:
        return rows
    return replace(rows, text=rows.text.replace("]], fields=[", f", limit=[{count}]]], fields=[", 1))


def is_projected(scan: Scan) -> bool:
    """Return whether the source of a table reads the columns that it is asked for."""
    return _connector(scan) in _PROJECTED


def _connector(scan: Scan) -> str | None:
    """Return the connector of a table; None for a table of a program."""
    options = getattr(getattr(scan.table, "table", None), "options", None)
    return options.get("connector") if options else None


def _with_columns_of(scan: Scan, times: Plan) -> Scan:
    """Return the scan of a table with the columns of which time and watermark are computed as well."""
    while not isinstance(times, Scan):
        (times,) = times.inputs
    return replace(scan, columns=tuple(dict.fromkeys((*scan.columns, *times.columns))))
