"""Plans as they are written, and expressions, as text: the first part of EXPLAIN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from scurry.common.redaction import redacted
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.expressions import (
    AggregateCall,
    Call,
    CorrelatedReference,
    Expression,
    InputReference,
    Literal,
    UserFunctionCall,
)
from scurry.sql.plan.matching import Match
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.schema import Schema
from scurry.sql.plan.subqueries import Exists, QuantifiedSubquery, ScalarSubquery, Subquery
from scurry.sql.plan.windows import FrameBound, WindowCall
from scurry.sql.planner.explain.literals import literal_text
from scurry.sql.planner.explain.matching import logical_match_text
from scurry.sql.planner.explain.process_tables import process_text

__all__ = ["all_of_text", "expression_text", "node_text", "plan_text", "tree_text"]

_Node = TypeVar("_Node")


def expression_text(expression: Expression, names: Sequence[str] | None = None) -> str:
    """Return an expression as text.

    Args:
        expression: The expression.
        names: Names of the columns it is over; None for columns by position, as `*($1, 2)`.
    """
    if isinstance(expression, InputReference):
        return f"${expression.index}" if names is None else names[expression.index]
    if isinstance(expression, CorrelatedReference):
        return f"$cor{expression.correlation}.${expression.index}"
    if isinstance(expression, Literal):
        return literal_text(expression)
    if isinstance(expression, AggregateCall):
        return _aggregate(expression, names)
    if isinstance(expression, WindowCall):
        return _window(expression, names)
    if isinstance(expression, Subquery):
        return _subquery(expression, names)
    if isinstance(expression, Call) and expression.function in ("CAST", "TRY_CAST"):
        operand, kind = expression_text(expression.arguments[0], names), expression.type.as_summary_string()
        name = expression.function
        return (
            f"{name}({operand}):{kind}" if names is None else f"{name}({operand} AS {kind.removesuffix(' NOT NULL')})"
        )
    if isinstance(expression, Call):
        return f"{expression.function}({texts(expression.arguments, names)})"
    if isinstance(expression, UserFunctionCall):
        return f"{expression.name}({texts(expression.arguments, names)})"
    return str(expression)


def texts(expressions: Sequence[Expression], names: Sequence[str] | None = None) -> str:
    """Return expressions as text, with commas."""
    return ", ".join(expression_text(each, names) for each in expressions)


def all_of_text(conditions: Sequence[str]) -> str:
    """Return the text of a condition that is TRUE if some are."""
    return f"AND({', '.join(conditions)})" if len(conditions) > 1 else "".join(conditions) or "true"


def _aggregate(call: AggregateCall, names: Sequence[str] | None) -> str:
    distinct = "DISTINCT " if call.distinct else ""
    shown = f"{call.function}({distinct}{texts(call.arguments, names)})"
    return shown if call.filter is None else f"{shown} FILTER {expression_text(call.filter, names)}"


def _window(call: WindowCall, names: Sequence[str] | None) -> str:
    parts = []
    if call.partition_by:
        parts.append(f"PARTITION BY {texts(call.partition_by, names)}")
    if call.order_by:
        keys = (f"{expression_text(key.expression, names)}{_direction(key)}" for key in call.order_by)
        parts.append(f"ORDER BY {', '.join(keys)}")
    frame = call.frame
    if (frame.lower.kind, frame.upper.kind) != ("UNBOUNDED PRECEDING", "CURRENT ROW") or frame.units == "ROWS":
        parts.append(f"{frame.units} BETWEEN {_bound(frame.lower)} AND {_bound(frame.upper)}")
    return f"{_aggregate(call.call, names)} OVER ({' '.join(parts)})"


def _bound(bound: FrameBound) -> str:
    return bound.kind if bound.distance is None else f"{expression_text(bound.distance)} {bound.kind}"


def _direction(key: Any) -> str:
    nulls = "FIRST" if key.nulls_first else "LAST"
    return f"{' DESC' if key.descending else ''} NULLS {nulls}"


def _subquery(subquery: Subquery, names: Sequence[str] | None) -> str:
    tree = plan_text(subquery.plan)
    if isinstance(subquery, Exists):
        return f"EXISTS({{\n{tree}\n}})"
    if isinstance(subquery, QuantifiedSubquery):
        name = "IN" if subquery.operator == "=" else f"{subquery.operator} SOME"
        return f"{name}({texts(subquery.operands, names)}, {{\n{tree}\n}})"
    assert isinstance(subquery, ScalarSubquery)
    return f"$SCALAR_QUERY({{\n{tree}\n}})"


def plan_text(plan: Plan) -> str:
    """Return a plan as a tree, each input under the operation that reads it."""
    return tree_text(plan, _described)


def tree_text(node: _Node, described: Callable[[_Node], tuple[str, Sequence[_Node]]]) -> str:
    """Return a tree as text.

    Args:
        node: Its root.
        described: Returns the text of a node, and the nodes under it.
    """
    return "\n".join(_lines(node, described))


def _lines(node: _Node, described: Callable[[_Node], tuple[str, Sequence[_Node]]]) -> list[str]:
    text, inputs = described(node)
    found = [text]
    for place, each in enumerate(inputs):
        last = place == len(inputs) - 1
        below = _lines(each, described)
        found.append(f"{'+-' if last else ':-'} {below[0]}")
        found += [f"{'   ' if last else ':  '}{line}" for line in below[1:]]
    return found


def _described(plan: Plan) -> tuple[str, Sequence[Plan]]:
    is_sorted = isinstance(plan, nodes.Limit) and isinstance(plan.input, nodes.Sort)
    return node_text(plan), plan.inputs[0].inputs if is_sorted else plan.inputs


def node_text(plan: Plan) -> str:
    """Return an operation as text."""
    describe = _DESCRIPTIONS.get(type(plan))
    text = type(plan).__name__ if describe is None else describe(plan)
    if isinstance(plan, nodes.Limit) and isinstance(plan.input, nodes.Sort):
        # Sorting and limiting are one operation in Flink.
        return f"{_sort(plan.input).removesuffix(')')}, {text.removeprefix('LogicalSort(')}"
    return text


def _named(names: Sequence[str], expressions: Sequence[Expression]) -> str:
    return ", ".join(f"{name}=[{expression_text(each)}]" for name, each in zip(names, expressions, strict=True))


def _scan(plan: nodes.Scan) -> str:
    parts = [f"table=[[{', '.join(plan.path)}]]"]
    if plan.schema != plan.table_schema:
        parts.append(f"fields=[{', '.join(plan.schema.names)}]")
    if plan.options:
        shown = ", ".join(f"{key}:{value}" for key, value in redacted(dict(plan.options)).items())
        parts.append(f"hints=[[[OPTIONS options:{{{shown}}}]]]")
    return f"LogicalTableScan({', '.join(parts)})"


def _values(plan: nodes.Values) -> str:
    rows = ", ".join(f"{{ {texts(row)} }}" for row in plan.rows)
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


def _group(plan: nodes.Aggregate) -> str:
    def keys(places: Sequence[int]) -> str:
        return "{" + ", ".join(str(plan.keys[place]) for place in places) + "}"

    parts = [f"group=[{keys(range(len(plan.keys)))}]"]
    if not plan.is_simple:
        parts.append(f"groups=[[{', '.join(map(keys, plan.grouping_sets))}]]")
    if plan.calls:
        parts.append(_named(plan.names, plan.calls))
    return f"LogicalAggregate({', '.join(parts)})"


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


_DESCRIPTIONS: dict[type[Plan], Callable[[Any], str]] = {
    nodes.Scan: _scan,
    nodes.Values: _values,
    nodes.Project: lambda plan: f"LogicalProject({_named(plan.names, plan.expressions)})",
    nodes.Filter: lambda plan: f"LogicalFilter(condition=[{expression_text(plan.condition)}])",
    nodes.Join: _join,
    nodes.TemporalJoin: _temporal_join,
    nodes.Correlate: _correlate,
    Match: lambda plan: logical_match_text(plan, expression_text),
    ProcessTableFunction: lambda plan: f"LogicalTableFunctionScan({process_text(plan, expression_text)})",
    nodes.Aggregate: _group,
    nodes.WindowTable: _window_table,
    nodes.Over: lambda plan: f"LogicalWindow({_named(plan.names, plan.calls)})",
    nodes.Sort: _sort,
    nodes.Limit: _limit,
    nodes.SetOperation: _set_operation,
    nodes.Unnest: _unnest,
    nodes.TableFunctionScan: _function,
    nodes.Sink: lambda plan: f"LogicalSink(table=[{'.'.join(plan.path)}], fields=[{', '.join(plan.schema.names)}])",
}
