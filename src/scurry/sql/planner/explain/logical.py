"""Plans as they are written, as text: the first part of EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from scurry.common.redaction import redacted
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.changelog_functions import ChangelogFunction, FromChangelog, ToChangelog
from scurry.sql.plan.expressions import Call, CorrelatedReference, Expression, InputReference, Literal
from scurry.sql.plan.matching import Match
from scurry.sql.plan.models import MLPredict, VectorSearch
from scurry.sql.plan.nodes import Plan, Scan
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.rewriting import correlations_of, expressions_of, walk_expression
from scurry.sql.plan.subqueries import Exists, QuantifiedSubquery, ScalarSubquery, Subquery
from scurry.sql.planner.explain.expressions import PrefixText
from scurry.sql.planner.explain.literals import interval_text
from scurry.sql.planner.explain.matching import logical_match_text
from scurry.sql.planner.explain.predict import call_of_search, predict_text
from scurry.sql.planner.explain.process_tables import changelog_function_text, process_text
from scurry.sql.planner.explain.trees import indented_text, tree_text
from scurry.sql.planner.explain.types import record_text
from scurry.sql.planner.explain.written import (
    Correlated,
    Line,
    Watermark,
    is_identity,
    is_whole_table,
    over_calls,
    target_text,
    value_rows,
    values_text,
)
from scurry.sql.types import BooleanType

_Described = tuple[str, Sequence[Plan | Line]]
#: Nodes that Flink shows below a projection, even if all columns are selected.
_SELECTED = (
    Scan,
    nodes.Filter,
    nodes.Join,
    nodes.TemporalJoin,
    nodes.Correlate,
    nodes.WindowTable,
    nodes.Unnest,
    nodes.TableFunctionScan,
    VectorSearch,
    Match,
    ProcessTableFunction,
    ChangelogFunction,
)
_ONE_ROW = Line("LogicalValues(tuples=[[{ 0 }]])")


def plan_text(plan: Plan) -> str:
    """Return a plan as a tree, each input under the operation that reads it."""
    root: Plan | Line = plan
    return tree_text(root, _LogicalText(lambda scan: None).described)


def written_text(plan: Plan, watermark: Watermark, ends_with_having: bool = False) -> str:
    """Return the plan of a statement as a tree.

    Args:
        watermark: Returns the watermark of a table.
        ends_with_having: Whether the groups that a query filters are its result.
    """
    text = _LogicalText(watermark)
    is_whole = ends_with_having and isinstance(plan, nodes.Filter)
    root: Plan | Line = plan if is_whole else text.selected(plan)
    return tree_text(root, text.described)


def node_text(plan: Plan) -> str:
    """Return an operation as text."""
    return _LogicalText(lambda scan: None).described(plan)[0]


class _LogicalText(PrefixText):
    """The texts of the nodes of a plan and of their expressions."""

    untyped = ("=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")

    def __init__(self, watermark: Watermark) -> None:
        self._watermark = watermark
        self._numbers: dict[int, int] = {}
        self._rows: dict[int, Sequence[str]] = {}

    def described(self, node: Plan | Line) -> _Described:
        if isinstance(node, Line):
            return node.text, node.inputs
        assigned = self.assigned(node)
        if assigned is not None:
            return assigned
        for each in expressions_of(node):
            for part in walk_expression(each):
                if isinstance(part, Subquery):
                    self._rows[part.correlation] = node.inputs[0].schema.names if node.inputs else ()
        describe = _DESCRIPTIONS.get(type(node))
        if describe is None:
            return type(node).__name__, node.inputs
        found = describe(self, node)
        return (found, node.inputs) if isinstance(found, str) else found

    def selected(self, plan: Plan) -> Plan:
        """Return a query with a projection on top, where it selects all columns as they are."""
        if isinstance(plan, nodes.Sink | nodes.Sort | nodes.Limit):
            return plan.with_inputs((self.selected(plan.input),))
        is_own = isinstance(plan, nodes.Project) and self.assigned(plan) is not None
        is_own = is_own or (isinstance(plan, nodes.Project) and is_whole_table(plan))
        return _all_columns(plan) if is_own or isinstance(plan, _SELECTED) else plan

    def correlated(self, reference: CorrelatedReference) -> str:
        names = self._rows.get(reference.correlation)
        column = f"${reference.index}" if names is None else names[reference.index]
        return f"{self.number(reference.correlation)}.{column}"

    def number(self, correlation: int) -> str:
        """Return how the row of a correlation is named: by its place among those of the statement."""
        return f"$cor{self._numbers.setdefault(correlation, len(self._numbers))}"

    def subquery(self, subquery: Subquery, names: Sequence[str] | None) -> str:
        plan: Plan = subquery.plan
        if isinstance(subquery, Exists) and isinstance(plan, nodes.Project):
            plan = plan.input
        root: Plan | Line = plan
        tree = indented_text(root, self.described)
        if isinstance(subquery, Exists):
            return f"EXISTS({{\n{tree}\n}})"
        if isinstance(subquery, QuantifiedSubquery):
            name = "IN" if subquery.operator == "=" else f"{subquery.operator} SOME"
            return f"{name}({self.texts(subquery.operands, names)}, {{\n{tree}\n}})"
        assert isinstance(subquery, ScalarSubquery)
        return f"$SCALAR_QUERY({{\n{tree}\n}})"

    def named(self, names: Sequence[str], expressions: Sequence[Expression]) -> str:
        return ", ".join(f"{name}=[{self(each)}]" for name, each in zip(names, expressions, strict=True))

    def variables(self, plan: Plan) -> str:
        """Return the rows that queries in the expressions of a node refer to as text."""
        found = [
            self.number(part.correlation)
            for each in expressions_of(plan)
            for part in walk_expression(each)
            if isinstance(part, Subquery) and part.correlation in correlations_of(part.plan)
        ]
        return f", variablesSet=[[{', '.join(dict.fromkeys(found))}]]" if found else ""

    def assigned(self, node: Plan) -> _Described | None:
        """Return the description of a table with all its columns if it has a watermark, which is above them."""
        scan = node.input if isinstance(node, nodes.Project) else node
        times = self._watermark(scan) if isinstance(scan, Scan) else None
        if not isinstance(scan, Scan) or not isinstance(times, nodes.Project):
            return None
        without_hints = replace(scan, options=())
        if (without_hints if node is scan else replace(node, input=without_hints)) != times.input:  # type: ignore[call-arg]
            return None
        time, watermark = times.expressions
        assert isinstance(time, InputReference), "the time of the watermark is a column"
        rowtime = node.schema.names[time.index]
        text = f"LogicalWatermarkAssigner(rowtime=[{rowtime}], watermark=[{self(watermark)}])"
        table = Line(_scan(self, scan))
        return text, [Line(_project(self, node)[0], (table,)) if isinstance(node, nodes.Project) else table]


def _scan(text: _LogicalText, plan: Plan) -> str:
    assert isinstance(plan, Scan)
    parts = [f"table=[[{', '.join(plan.path)}]]"]
    if plan.schema != plan.table_schema:
        parts.append(f"fields=[{', '.join(plan.schema.names)}]")
    if plan.options:
        shown = ", ".join(f"{key}={value}" for key, value in redacted(dict(plan.options)).items())
        parts.append(f"hints=[[[OPTIONS inheritPath:[] options:{{{shown}}}]]]")
    return f"LogicalTableScan({', '.join(parts)})"


def _values(text: _LogicalText, plan: nodes.Values) -> _Described:
    if not plan.schema.columns:
        return _ONE_ROW.text, ()
    rows, names = value_rows(plan), plan.schema.names
    if all(isinstance(each, Literal) and each.value is not None for row in rows for each in row):
        shown = ", ".join(f"{{ {values_text(row)} }}" for row in rows)
        return f"LogicalValues(tuples=[[{shown}]])", ()
    lines = [Line(f"LogicalProject({text.named(names, row)})", (_ONE_ROW,)) for row in rows]
    return ("LogicalUnion(all=[true])", lines) if len(lines) > 1 else (lines[0].text, lines[0].inputs)


def _project(text: _LogicalText, plan: nodes.Project) -> _Described:
    below = plan.input
    if isinstance(below, nodes.Aggregate) and below.grouping_id is not None and _leaves_out_sets(plan, below):
        return text.described(below)
    shown = over_calls(plan)
    return f"LogicalProject({text.named(shown.names, shown.expressions)}{text.variables(plan)})", shown.inputs


def _leaves_out_sets(plan: nodes.Project, below: nodes.Aggregate) -> bool:
    """Return whether a projection only leaves out the column of the numbers of grouping sets."""
    kept = [place for place in range(len(below.schema)) if place != len(below.keys)]
    return [getattr(each, "index", None) for each in plan.expressions] == kept


def _filter(text: _LogicalText, plan: nodes.Filter) -> str:
    return f"LogicalFilter(condition=[{text(plan.condition)}]{text.variables(plan)})"


def _join(text: _LogicalText, plan: nodes.Join) -> _Described:
    condition = "true" if plan.condition is None else text(plan.condition)
    # Rows with windows are joined as queries of all their columns.
    inputs = [_all_columns(each) if isinstance(each, nodes.WindowTable) else each for each in plan.inputs]
    return f"LogicalJoin(condition=[{condition}], joinType=[{plan.kind.lower()}])", inputs


def _temporal_join(text: _LogicalText, plan: nodes.TemporalJoin) -> _Described:
    row = Correlated(id(plan), len(plan.left.schema))
    text._rows[id(plan)] = plan.left.schema.names
    number = text.number(id(plan))
    conditions = [] if plan.condition is None else [plan.condition]
    right = Line(f"LogicalSnapshot(period=[{text(row.of_right(plan.period))}])", (plan.right,))
    if conditions:
        right = Line(f"LogicalFilter(condition=[{text(row.of_right(conditions[0]))}])", (right,))
    return _correlation(number, plan.kind, row.required([plan.period, *conditions])), [plan.left, right]


def _correlation(number: str, kind: str, required: str) -> str:
    return f"LogicalCorrelate(correlation=[{number}], joinType=[{kind.lower()}], requiredColumns=[{required}])"


def _correlate(text: _LogicalText, plan: nodes.Correlate) -> str:
    text._rows[plan.correlation] = plan.left.schema.names
    return (
        f"LogicalCorrelate(correlation=[{text.number(plan.correlation)}], joinType=[{plan.kind.lower()}], "
        f"requiredColumns=[{_required(plan)}])"
    )


def _required(plan: nodes.Correlate) -> str:
    found = {
        part.index
        for node in nodes.walk(plan.right)
        for each in expressions_of(node)
        for part in walk_expression(each)
        if isinstance(part, CorrelatedReference) and part.correlation == plan.correlation
    }
    return "{" + ", ".join(map(str, sorted(found))) + "}"


def _group(text: _LogicalText, plan: nodes.Aggregate) -> _Described:
    def keys(places: Sequence[int]) -> str:
        return "{" + ", ".join(str(plan.keys[place]) for place in places) + "}"

    parts = [f"group=[{keys(range(len(plan.keys)))}]"]
    if not plan.is_simple:
        parts.append(f"groups=[[{', '.join(map(keys, plan.grouping_sets))}]]")
    if plan.calls:
        names = [f"agg#{place}" if name.startswith("$f") else name for place, name in enumerate(plan.names)]
        parts.append(text.named(names, plan.calls))
    return f"LogicalAggregate({', '.join(parts)})", [_with_conditions(plan)]


def _with_conditions(plan: nodes.Aggregate) -> Plan:
    """Return the input of an aggregation, in which conditions of aggregates are never NULL."""
    below = plan.input
    conditions = {each.filter.index for each in plan.calls if isinstance(each.filter, InputReference)}
    if not isinstance(below, nodes.Project) or not conditions:
        return below
    shown = [
        Call("IS TRUE", (each,), BooleanType(False)) if place in conditions and each.type.is_nullable else each
        for place, each in enumerate(below.expressions)
    ]
    return replace(below, expressions=tuple(shown))


def _window_table(text: _LogicalText, plan: nodes.WindowTable) -> _Described:
    partition = f" PARTITION BY({', '.join(f'${key}' for key in plan.partition_by)})" if plan.partition_by else ""
    arguments = [
        f"TABLE(#0){partition}",
        f"DESCRIPTOR(_UTF-16LE'{plan.input.schema.names[plan.time]}')",
        *_intervals(plan),
    ]
    invocation = f"{plan.kind}({', '.join(arguments)})"
    below: Plan = plan.input
    if isinstance(below, Scan) or text.assigned(below) is not None:
        below = _all_columns(below)
    return f"LogicalTableFunctionScan(invocation=[{invocation}], rowType=[{record_text(plan.schema)}])", [below]


def _all_columns(plan: Plan) -> nodes.Project:
    columns = tuple(InputReference(place, each) for place, each in enumerate(plan.schema.types))
    return nodes.Project(plan, columns, plan.schema.names)


def _intervals(plan: nodes.WindowTable) -> list[str]:
    """Return the lengths of a window as text."""
    numbers = [each for each in (plan.slide, plan.size) if each is not None]
    return [interval_text(each) for each in ([*numbers, plan.offset] if plan.offset else numbers)]


def _over(text: _LogicalText, plan: nodes.Over) -> str:
    return f"LogicalWindow({text.named(plan.names, plan.calls)})"


def _sort(text: _LogicalText, plan: nodes.Sort) -> str:
    keys = ", ".join(f"sort{place}=[${key.index}]" for place, key in enumerate(plan.keys))
    directions = ", ".join(
        f"dir{place}=[{'DESC' if key.descending else 'ASC'}-nulls-{'first' if key.nulls_first else 'last'}]"
        for place, key in enumerate(plan.keys)
    )
    return f"LogicalSort({keys}, {directions})"


def _limit(text: _LogicalText, plan: nodes.Limit) -> _Described:
    parts = [f"offset=[{plan.offset}]"] if plan.offset else []
    if plan.fetch is not None:
        parts.append(f"fetch=[{plan.fetch}]")
    if isinstance(plan.input, nodes.Sort):
        # Sorting and limiting are one operation in Flink.
        return f"{_sort(text, plan.input).removesuffix(')')}, {', '.join(parts)})", plan.input.inputs
    return f"LogicalSort({', '.join(parts)})", plan.inputs


def _set_operation(text: _LogicalText, plan: nodes.SetOperation) -> str:
    name = {"UNION": "LogicalUnion", "INTERSECT": "LogicalIntersect", "EXCEPT": "LogicalMinus"}[plan.kind]
    return f"{name}(all=[{str(plan.all).lower()}])"


def _unnest(text: _LogicalText, plan: nodes.Unnest) -> _Described:
    row = Correlated(id(plan), len(plan.input.schema))
    text._rows[id(plan)] = plan.input.schema.names
    number, collection = text.number(id(plan)), plan.collection
    name = plan.input.schema.names[collection.index] if isinstance(collection, InputReference) else "EXPR$0"
    values = Line(f"LogicalProject({name}=[{text(row.of_right(collection))}])", (_ONE_ROW,))
    uncollect = Line(f"Uncollect{'(withOrdinality=[true])' if plan.ordinality else ''}", (values,))
    columns = [InputReference(place, each) for place, each in enumerate(plan.element_schema.types)]
    elements = Line(f"LogicalProject({text.named(plan.element_schema.names, columns)})", (uncollect,))
    kind = "left" if plan.outer else "inner"
    return _correlation(number, kind, row.required([collection])), [plan.input, elements]


def _function(text: _LogicalText, plan: nodes.TableFunctionScan | VectorSearch) -> _Described:
    row = Correlated(id(plan), len(plan.input.schema))
    text._rows[id(plan)] = plan.input.schema.names
    number, kind = text.number(id(plan)), "left" if plan.outer else "inner"
    called = plan.query if isinstance(plan, VectorSearch) else plan.call
    call, inputs = text(row.of_right(called)), (_all_columns(plan.right),) if isinstance(plan, VectorSearch) else ()
    shown = f"invocation=[{call}], rowType=[{record_text(plan.function_schema)}]"
    scan = call_of_search(plan, call) if isinstance(plan, VectorSearch) else shown
    return _correlation(number, kind, row.required([called])), [
        plan.input,
        Line(f"LogicalTableFunctionScan({scan})", inputs),
    ]


def _changelog_function(text: _LogicalText, plan: ChangelogFunction) -> _Described:
    below = plan.input
    if not isinstance(below, nodes.Project):
        below = _all_columns(below)
    return f"LogicalTableFunctionScan({changelog_function_text(plan)})", [below]


def _sink(text: _LogicalText, plan: nodes.Sink) -> _Described:
    below: Any = plan.input
    below = below.input if is_identity(below) else below
    fields = ", ".join(below.schema.names)
    return f"LogicalSink(table=[{'.'.join(plan.path)}], {target_text(plan)}fields=[{fields}])", [below]


_DESCRIPTIONS: dict[type[Plan], Callable[[_LogicalText, Any], str | _Described]] = {
    Scan: _scan,
    nodes.Values: _values,
    nodes.Project: _project,
    nodes.Filter: _filter,
    nodes.Join: _join,
    nodes.TemporalJoin: _temporal_join,
    nodes.Correlate: _correlate,
    Match: lambda text, plan: logical_match_text(plan, text),
    MLPredict: lambda text, plan: f"LogicalTableFunctionScan({predict_text(plan)})",
    ProcessTableFunction: lambda text, plan: f"LogicalTableFunctionScan({process_text(plan, text)})",
    FromChangelog: _changelog_function,
    ToChangelog: _changelog_function,
    nodes.Aggregate: _group,
    nodes.WindowTable: _window_table,
    nodes.Over: _over,
    nodes.Sort: _sort,
    nodes.Limit: _limit,
    nodes.SetOperation: _set_operation,
    nodes.Unnest: _unnest,
    nodes.TableFunctionScan: _function,
    VectorSearch: _function,
    nodes.Sink: _sink,
}
