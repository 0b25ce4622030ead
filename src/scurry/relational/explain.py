"""Plans as text, in the words of Flink's EXPLAIN."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from scurry.logical_types import (
    BinaryType,
    CharType,
    DateType,
    DayTimeIntervalType,
    LocalZonedTimestampType,
    SymbolType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
    YearMonthIntervalType,
)
from scurry.relational import plan as nodes
from scurry.relational.explain_ordering import (
    deduplicate_text,
    over_aggregate_text,
    rank_text,
    temporal_sort_text,
)
from scurry.relational.expressions import (
    AggregateCall,
    Call,
    CorrelatedReference,
    Expression,
    InputReference,
    Literal,
    UserFunctionCall,
)
from scurry.relational.physical import aggregates, changes, joins, over, ranks, sets, windows
from scurry.relational.plan import Plan
from scurry.relational.schema import Schema
from scurry.relational.subqueries import Exists, QuantifiedSubquery, ScalarSubquery, Subquery
from scurry.relational.windows import FrameBound, WindowCall

__all__ = ["explain", "expression_text", "physical_text", "plan_text"]

_JOIN_TYPES = {
    "INNER": "InnerJoin",
    "LEFT": "LeftOuterJoin",
    "RIGHT": "RightOuterJoin",
    "FULL": "FullOuterJoin",
    "SEMI": "LeftSemiJoin",
    "ANTI": "LeftAntiJoin",
}
_EPOCH = datetime.datetime(1970, 1, 1)


def explain(plans: Sequence[Plan], executed: Sequence[Plan], modes: Callable[[Plan], str] | None = None) -> str:
    """Return what EXPLAIN shows of the plans of a statement.

    Args:
        plans: One per sink, or that of a query.
        executed: The same as they are executed.
        modes: Returns the changes of a node, to be shown in the physical plan; None to leave them out.
    """
    parts = [
        ("Abstract Syntax Tree", [plan_text(plan) for plan in plans]),
        ("Optimized Physical Plan", [plan_text(plan, modes) for plan in executed]),
        ("Optimized Execution Plan", [plan_text(plan) for plan in executed]),
    ]
    return "\n\n".join(f"== {title} ==\n" + "\n\n".join(texts) for title, texts in parts) + "\n"


def physical_text(plan: Plan) -> str:
    """Return an operation as messages about STREAMING name it, with columns by name."""
    if isinstance(plan, nodes.Aggregate):
        return _group_aggregate(plan)
    if isinstance(plan, nodes.Scan):
        return f"TableSourceScan(table=[[{', '.join(plan.path)}]], fields=[{', '.join(plan.schema.names)}])"
    return _DESCRIPTIONS[type(plan)](plan).removeprefix("Logical")


def _group_aggregate(plan: nodes.Aggregate) -> str:
    names = plan.input.schema.names
    keys = [names[key] for key in plan.keys]
    calls = [f"{_named_call(call, names)} AS {name}" for call, name in zip(plan.calls, plan.names, strict=True)]
    group_by = f"groupBy=[{', '.join(keys)}], " if keys else ""
    return f"GroupAggregate({group_by}select=[{', '.join([*keys, *calls])}])"


def _named_call(call: AggregateCall, names: Sequence[str]) -> str:
    def named(expression: Expression) -> str:
        return names[expression.index] if isinstance(expression, InputReference) else expression_text(expression)

    arguments = ", ".join(map(named, call.arguments)) or "*"
    shown = f"{call.function}({'DISTINCT ' if call.distinct else ''}{arguments})"
    return shown if call.filter is None else f"{shown} FILTER {named(call.filter)}"


def plan_text(plan: Plan, modes: Callable[[Plan], str] | None = None) -> str:
    """Return a plan as a tree, each input under the operation that reads it.

    Args:
        plan: The plan.
        modes: Returns the changes of a node, to be shown with it; None to leave them out.
    """
    return "\n".join(_lines(plan, modes))


def _lines(plan: Plan, modes: Callable[[Plan], str] | None) -> list[str]:
    found: list[str] = [_DESCRIPTIONS[type(plan)](plan)]
    if modes is not None:
        found = [f"{physical_text(plan).removesuffix(')')}, changelogMode=[{modes(plan)}])"]
    elif isinstance(plan, nodes.Limit) and isinstance(plan.input, nodes.Sort):
        # Sorting and limiting are one operation in Flink.
        plan, limit = plan.input, found[0].removeprefix("LogicalSort(")
        found = [f"{_sort(plan).removesuffix(')')}, {limit}"]
    for place, each in enumerate(plan.inputs):
        last = place == len(plan.inputs) - 1
        below = _lines(each, modes)
        found.append(f"{'+-' if last else ':-'} {below[0]}")
        found += [f"{'   ' if last else ':  '}{line}" for line in below[1:]]
    return found


def expression_text(expression: Expression) -> str:
    """Return an expression with columns by position, as `*($1, 2)`."""
    if isinstance(expression, InputReference):
        return f"${expression.index}"
    if isinstance(expression, CorrelatedReference):
        return f"$cor{expression.correlation}.${expression.index}"
    if isinstance(expression, Literal):
        return _literal(expression)
    if isinstance(expression, AggregateCall):
        return _aggregate(expression)
    if isinstance(expression, WindowCall):
        return _window(expression)
    if isinstance(expression, Subquery):
        return _subquery(expression)
    if isinstance(expression, Call) and expression.function == "CAST":
        return f"CAST({expression_text(expression.arguments[0])}):{expression.type.as_summary_string()}"
    if isinstance(expression, Call):
        return f"{expression.function}({_all(expression.arguments)})"
    if isinstance(expression, UserFunctionCall):
        return f"{expression.name}({_all(expression.arguments)})"
    return str(expression)


def _all(expressions: Sequence[Expression]) -> str:
    return ", ".join(map(expression_text, expressions))


def _literal(literal: Literal) -> str:
    value, kind = literal.value, literal.type
    if value is None:
        return f"null:{kind.nullable().as_summary_string()}"
    if isinstance(kind, CharType | VarCharType):
        return f"_UTF-16LE'{value}'"
    if isinstance(kind, SymbolType):
        return f"FLAG({value})"
    if isinstance(kind, BinaryType | VarBinaryType):
        return f"X'{value.hex().upper()}'"
    if isinstance(kind, DateType):
        return str((_EPOCH + datetime.timedelta(days=value)).date())
    if isinstance(kind, TimeType):
        return str((_EPOCH + datetime.timedelta(milliseconds=value)).time())
    if isinstance(kind, TimestampType | LocalZonedTimestampType):
        unit = {3: 1_000, 6: 1, 9: 0.001}[3 if kind.precision <= 3 else 6 if kind.precision <= 6 else 9]
        return str(_EPOCH + datetime.timedelta(microseconds=value * unit))
    if isinstance(kind, YearMonthIntervalType | DayTimeIntervalType):
        return f"{value}:{kind.not_null().as_summary_string().removesuffix(' NOT NULL')}"
    if isinstance(value, bool):
        return str(value).lower()
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _aggregate(call: AggregateCall) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    shown = f"{call.function}({distinct}{_all(call.arguments)})"
    return shown if call.filter is None else f"{shown} FILTER {expression_text(call.filter)}"


def _window(call: WindowCall) -> str:
    parts = []
    if call.partition_by:
        parts.append(f"PARTITION BY {_all(call.partition_by)}")
    if call.order_by:
        parts.append(
            "ORDER BY " + ", ".join(f"{expression_text(key.expression)}{_direction(key)}" for key in call.order_by)
        )
    frame = call.frame
    if (frame.lower.kind, frame.upper.kind) != ("UNBOUNDED PRECEDING", "CURRENT ROW") or frame.units == "ROWS":
        parts.append(f"{frame.units} BETWEEN {_bound(frame.lower)} AND {_bound(frame.upper)}")
    return f"{_aggregate(call.call)} OVER ({' '.join(parts)})"


def _bound(bound: FrameBound) -> str:
    return bound.kind if bound.distance is None else f"{expression_text(bound.distance)} {bound.kind}"


def _direction(key: Any) -> str:
    nulls = "FIRST" if key.nulls_first else "LAST"
    return f"{' DESC' if key.descending else ''} NULLS {nulls}"


def _subquery(subquery: Subquery) -> str:
    tree = plan_text(subquery.plan)
    if isinstance(subquery, Exists):
        return f"EXISTS({{\n{tree}\n}})"
    if isinstance(subquery, QuantifiedSubquery):
        name = "IN" if subquery.operator == "=" else f"{subquery.operator} SOME"
        return f"{name}({_all(subquery.operands)}, {{\n{tree}\n}})"
    assert isinstance(subquery, ScalarSubquery)
    return f"$SCALAR_QUERY({{\n{tree}\n}})"


def _named(names: Sequence[str], expressions: Sequence[Expression]) -> str:
    return ", ".join(f"{name}=[{expression_text(each)}]" for name, each in zip(names, expressions, strict=True))


def _scan(plan: nodes.Scan) -> str:
    parts = [f"table=[[{', '.join(plan.path)}]]"]
    if plan.schema != plan.table_schema:
        parts.append(f"fields=[{', '.join(plan.schema.names)}]")
    if plan.options:
        shown = ", ".join(f"{key}:{value}" for key, value in plan.options)
        parts.append(f"hints=[[[OPTIONS options:{{{shown}}}]]]")
    return f"LogicalTableScan({', '.join(parts)})"


def _values(plan: nodes.Values) -> str:
    rows = ", ".join(f"{{ {_all(row)} }}" for row in plan.rows)
    return f"LogicalValues(tuples=[[{rows}]])"


def _join(plan: nodes.Join) -> str:
    condition = "true" if plan.condition is None else expression_text(plan.condition)
    return f"LogicalJoin(condition=[{condition}], joinType=[{plan.kind.lower()}])"


def _temporal_join(plan: nodes.TemporalJoin) -> str:
    condition = "true" if plan.condition is None else expression_text(plan.condition)
    return (
        f"LogicalTemporalJoin(condition=[{condition}], joinType=[{plan.kind.lower()}], "
        f"period=[{expression_text(plan.period)}])"
    )


def _streaming_join(plan: joins.StreamingJoin) -> str:
    width = len(plan.left.schema)
    equal = [
        f"{'IS NOT DISTINCT FROM' if key.null_equals_null else '='}(${key.left}, ${key.right + width})"
        for key in plan.keys
    ]
    conditions = [*equal, *([] if plan.rest is None else [expression_text(plan.rest)])]
    where = f"AND({', '.join(conditions)})" if len(conditions) > 1 else "".join(conditions) or "true"
    parts = [f"joinType=[{_JOIN_TYPES[plan.kind]}]", *plan.details, f"where=[{where}]"]
    parts += [f"select=[{', '.join(plan.schema.names)}]", *plan.shown_after]
    return f"{plan.operator}({', '.join(parts)})"


def _lookup_join(plan: joins.LookupJoin) -> str:
    names, asked = plan.input.schema.names, plan.table.schema.names
    lookup = ", ".join(f"{asked[column]}={names[key]}" for key, column in plan.keys)
    parts = [f"table=[{'.'.join(plan.table.path)}]", f"joinType=[{_JOIN_TYPES[plan.kind]}]", f"lookup=[{lookup}]"]
    conditions = [each for each in (plan.condition, plan.rest) if each is not None]
    parts += [f"where=[{' AND '.join(map(expression_text, conditions))}]"] if conditions else []
    return f"LookupJoin({', '.join(parts)}, select=[{', '.join(plan.schema.names)}])"


def _group(plan: nodes.Aggregate) -> str:
    def keys(places: Sequence[int]) -> str:
        return "{" + ", ".join(str(plan.keys[place]) for place in places) + "}"

    parts = [f"group=[{keys(range(len(plan.keys)))}]"]
    if not plan.is_simple:
        parts.append(f"groups=[[{', '.join(map(keys, plan.grouping_sets))}]]")
    if plan.calls:
        parts.append(_named(plan.names, plan.calls))
    return f"LogicalAggregate({', '.join(parts)})"


def _names(plan: nodes.Plan, columns: Sequence[int]) -> str:
    return ", ".join(plan.schema.names[column] for column in columns)


def _window_text(window: windows.Window, arguments: Sequence[str]) -> str:
    """Return a window as Flink's plans show it."""
    names = {"HOP": ("slide", "size"), "CUMULATE": ("step", "max_size"), "SESSION": ("", "gap")}
    of_kind = names.get(window.kind, ("", "size"))
    lengths = [f"{name}=[{value} ms]" for name, value in zip(of_kind, (window.slide, window.size), strict=True) if name]
    offset = [f"offset=[{window.offset} ms]"] if window.offset else []
    return f"{window.kind}({', '.join([*arguments, *lengths, *offset])})"


def _window_aggregate(plan: windows.WindowAggregate) -> str:
    time = f"{'win_end' if plan.attached else 'time_col'}=[{plan.input.schema.names[plan.time]}]"
    parts = [f"groupBy=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    parts.append(f"window=[{_window_text(plan.window, [time])}]")
    shown = [f"{expression_text(call)} AS {name}" for call, name in zip(plan.calls, plan.names, strict=True)]
    shown += [f"{each.name} AS {each.column.name}" for each in plan.columns]
    keys = [plan.input.schema.names[key] for key in plan.keys]
    return f"WindowAggregate({', '.join(parts)}, select=[{', '.join([*keys, *shown])}])"


def _session_table(plan: windows.SessionTable) -> str:
    keys = [f"partition keys=[{_names(plan.input, plan.keys)}]"] if plan.keys else []
    arguments = [f"time_col=[{plan.input.schema.names[plan.time]}]", *keys]
    return f"WindowTableFunction(window=[{_window_text(plan.window, arguments)}])"


def _window_table(plan: nodes.WindowTable) -> str:
    numbers = [each for each in (plan.slide, plan.size) if each is not None]
    if plan.offset:
        numbers.append(plan.offset)
    intervals = ", ".join(f"{number}:INTERVAL SECOND" for number in numbers)
    partition = f"PARTITION BY {plan.partition_by}, " if plan.partition_by else ""
    return f"LogicalTableFunctionScan(invocation=[{plan.kind}({partition}DESCRIPTOR(${plan.time}), {intervals})])"


def _sort(plan: nodes.Sort) -> str:
    keys = ", ".join(f"sort{place}=[${key.index}]" for place, key in enumerate(plan.keys))
    directions = ", ".join(
        f"dir{place}=[{'DESC' if key.descending else 'ASC'}-nulls-{'first' if key.nulls_first else 'last'}]"
        for place, key in enumerate(plan.keys)
    )
    return f"LogicalSort({keys}, {directions})"


def _limit(plan: nodes.Limit) -> str:
    parts = [f"offset=[{plan.offset}]"] if plan.offset else []
    if plan.fetch is not None:
        parts.append(f"fetch=[{plan.fetch}]")
    return f"LogicalSort({', '.join(parts)})"


def _set_operation(plan: nodes.SetOperation) -> str:
    name = {"UNION": "LogicalUnion", "INTERSECT": "LogicalIntersect", "EXCEPT": "LogicalMinus"}[plan.kind]
    return f"{name}(all=[{str(plan.all).lower()}])"


def _correlate(plan: nodes.Correlate) -> str:
    return f"LogicalCorrelate(correlation=[$cor{plan.correlation}], joinType=[{plan.kind.lower()}])"


def _added(schema: Schema) -> str:
    return ", ".join(f"{column.type.as_summary_string()} {column.name}" for column in schema)


def _unnest(plan: nodes.Unnest) -> str:
    kind = "left" if plan.outer else "inner"
    ordinality = ", withOrdinality=[true]" if plan.ordinality else ""
    return (
        f"LogicalUnnest(collection=[{expression_text(plan.collection)}], joinType=[{kind}]{ordinality}, "
        f"rowType=[RecordType({_added(plan.element_schema)})])"
    )


def _function(plan: nodes.TableFunctionScan) -> str:
    kind = "left" if plan.outer else "inner"
    return (
        f"LogicalTableFunctionScan(invocation=[{expression_text(plan.call)}], joinType=[{kind}], "
        f"rowType=[RecordType({_added(plan.function_schema)})])"
    )


def _window_rank(plan: windows.WindowRank) -> str:
    below = plan.input.schema.names
    window = _window_text(plan.window, [f"win_end=[{below[plan.end]}]"])
    properties = windows.window_properties(plan.input)
    known = {} if properties is None else properties.columns
    keys = _names(plan.input, [key for key in plan.keys if key not in known])
    order = ", ".join(f"{below[key.index]} {'DESC' if key.descending else 'ASC'}" for key in plan.order)
    if isinstance(plan, windows.WindowDeduplicate):
        keep = "LastRow" if plan.order[0].descending else "FirstRow"
        return (
            f"WindowDeduplicate(window=[{window}], keep=[{keep}], partitionKeys=[{keys}], "
            f"orderKey=[{below[plan.order[0].index]}], order=[ROWTIME])"
        )
    return (
        f"WindowRank(window=[{window}], rankType=[ROW_NUMBER], "
        f"rankRange=[rankStart={plan.first}, rankEnd={plan.last}], partitionBy=[{keys}], orderBy=[{order}])"
    )


_DESCRIPTIONS: dict[type[Plan], Callable[[Any], str]] = {
    nodes.Scan: _scan,
    nodes.Values: _values,
    nodes.Project: lambda plan: f"LogicalProject({_named(plan.names, plan.expressions)})",
    nodes.Filter: lambda plan: f"LogicalFilter(condition=[{expression_text(plan.condition)}])",
    nodes.Join: _join,
    nodes.TemporalJoin: _temporal_join,
    nodes.Correlate: _correlate,
    nodes.Aggregate: _group,
    nodes.WindowTable: _window_table,
    nodes.Over: lambda plan: f"LogicalWindow({_named(plan.names, plan.calls)})",
    nodes.Sort: _sort,
    nodes.Limit: _limit,
    nodes.SetOperation: _set_operation,
    nodes.Unnest: _unnest,
    nodes.TableFunctionScan: _function,
    aggregates.Expand: lambda plan: f"Expand(keys={list(plan.keys)}, sets={list(plan.grouping_sets)})",
    over.NonTimeOverAggregate: over_aggregate_text,
    over.OverAggregate: over_aggregate_text,
    ranks.Deduplicate: deduplicate_text,
    ranks.Rank: rank_text,
    ranks.TemporalSort: temporal_sort_text,
    joins.EventTimeTemporalJoin: _streaming_join,
    changes.ChangelogNormalize: lambda plan: (
        f"ChangelogNormalize(key=[{', '.join(plan.schema.names[k] for k in plan.key)}])"
    ),
    joins.IntervalJoin: _streaming_join,
    joins.LookupJoin: _lookup_join,
    joins.RegularJoin: _streaming_join,
    joins.WindowJoin: _streaming_join,
    windows.SessionTable: _session_table,
    sets.ReplicateRows: lambda plan: "Correlate(invocation=[$REPLICATE_ROWS])",
    windows.WindowAggregate: _window_aggregate,
    windows.WindowDeduplicate: _window_rank,
    windows.WindowRank: _window_rank,
    nodes.Sink: lambda plan: f"LogicalSink(table=[{'.'.join(plan.path)}], fields=[{', '.join(plan.schema.names)}])",
}
