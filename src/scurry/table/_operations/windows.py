"""Windows over groups and over rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from scurry.errors import ValidationError
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.plan.expressions import InputReference
from scurry.sql.plan.nodes import Plan, Project
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations import Operation
from scurry.sql.statements.table_operations.failures import placed
from scurry.sql.statements.table_operations.summary import summary
from scurry.sql.syntax import nodes
from scurry.sql.types import BigIntType, DataType, LocalZonedTimestampType, TimestampType
from scurry.sql.types.families import is_proctime, is_rowtime
from scurry.table._expression.syntax import filled
from scurry.table._operations.fields import (
    WINDOW_PROPERTIES,
    Keys,
    grouped_by_columns,
    grouped_items,
    operation,
    project,
)
from scurry.table._operations.row_count_windows import counted, row_interval_of
from scurry.table.expression import Expression

if TYPE_CHECKING:
    from scurry.table.window import GroupWindow, OverWindow

# Numbers of milliseconds, which windows of BATCH may be over.
_OF_MILLISECONDS = "CAST(TIMESTAMP '1970-01-01 00:00:00.000' + INTERVAL '0.001' SECOND * x AS TIMESTAMP(3))"


def windowed(
    session: TableSession,
    plan: Plan,
    window: GroupWindow,
    keys: Sequence[Expression],
    chosen: Sequence[Expression],
) -> Plan:
    """Return the plan of a row for each window and group.

    Args:
        session: The session.
        plan: The rows.
        window: The window.
        keys: The other keys.
        chosen: Keys, aggregates, and properties of the window.

    Raises:
        ValidationError: The window does not fit the rows, or a column is wrong.
    """
    parts = window._window
    if parts.kind != "SESSION" and row_interval_of(parts.size) is not None:
        return counted(session, plan, window, keys, chosen)
    made_of_time = operation(session, [parts.time])
    time = made_of_time.column(parts.time._node, plan.schema)
    kind = made_of_time.type(time, plan.schema)
    if isinstance(kind, BigIntType) and not session.is_streaming:
        plan, time = _with_time(made_of_time, plan, time)
        kind = plan.schema.types[-1]
    if not isinstance(kind, TimestampType | LocalZonedTimestampType):
        mode = "stream" if session.is_streaming else "batch"
        raise ValidationError(
            f"A group window expects a time attribute for grouping in a {mode} environment. Got: {summary(time)}"
            f"{placed(time)}"
        )
    if parts.slide is not None and row_interval_of(parts.slide) is not None:
        raise ValidationError(f"A sliding window expects the same type of size and slide.{placed(parts.slide._node)}")
    arguments = [time, *(each._node for each in (parts.slide, parts.size) if each is not None)]
    for each in arguments[1:]:
        if not isinstance(each, nodes.IntervalLiteral) or each.qualifier.start == "MONTH":
            raise _wrong_size(parts.kind, each)
    plan, plain = grouped_by_columns(session, plan, keys)
    made = operation(session, [*plain, *chosen])
    call = nodes.Call(nodes.Identifier((parts.kind,)), tuple(arguments), span=time.span)
    grouping = tuple(node for each in plain for node in made.columns(each._node, plan.schema))

    def is_property(node: nodes.Expression) -> bool:
        return isinstance(node, nodes.Call) and node.name.last.rpartition("_")[0] == parts.kind

    columns = [nodes.substitute(each._node, lambda node: _property(node, window._alias, call, kind)) for each in chosen]
    aliases = [each._names[0] if each._names else None for each in chosen]
    items = grouped_items(made, columns, aliases, plan.schema, Keys.of(grouping, is_property))
    found = made.planned(nodes.Select(items, made.table(plan), group_by=nodes.GroupBy((call, *grouping))))
    may_be_null = [
        place
        for place, item in enumerate(items)
        if is_property(item.expression) or _is_null_of_nothing(item.expression)
    ]
    return _nullable(found, may_be_null)


def _with_time(made: Operation, plan: Plan, milliseconds: nodes.Expression) -> tuple[Plan, nodes.Identifier]:
    """Return a plan with one more column, the time that a number stands for, and that column."""
    name, value = nodes.Identifier(("*time*",), span=milliseconds.span), filled(_OF_MILLISECONDS, {"x": milliseconds})
    items = (nodes.SelectItem(nodes.Star()), nodes.SelectItem(value, name))
    return made.planned(nodes.Select(items, made.table(plan))), name


def _is_null_of_nothing(node: nodes.Expression) -> bool:
    """Return whether an aggregate is NULL for no rows, as Flink's Table API supposes of windows."""
    return isinstance(node, nodes.Call) and node.name.last in ("SUM", "MIN", "MAX", "AVG", "FIRST_VALUE", "LAST_VALUE")


def _wrong_size(kind: str, node: nodes.Expression) -> ValidationError:
    got = f"Got: {summary(node)}{placed(node)}"
    if kind == "SESSION":
        return ValidationError(f"A session window expects a gap literal of a day-time interval type. {got}")
    called = "Tumbling" if kind == "TUMBLE" else "Sliding"
    return ValidationError(f"{called} window expects a size literal of a day-time interval or BIGINT type. {got}")


def _property(node: nodes.Expression, alias: str, window: nodes.Call, time: DataType) -> nodes.Expression | None:
    """Return SQL's call, such as TUMBLE_START, for a property of a window; None for other expressions."""
    if not isinstance(node, nodes.Call) or node.name.last not in WINDOW_PROPERTIES or len(node.arguments) != 1:
        return None
    (of,) = node.arguments
    if not isinstance(of, nodes.Identifier) or of.last != alias:
        raise ValidationError(f"{summary(of)} is not the alias of the window, which is {alias}.{placed(node)}")
    if (node.name.last == "PROCTIME" and not is_proctime(time)) or (node.name.last == "ROWTIME" and is_proctime(time)):
        shown = f"{node.name.last.lower()}({time.as_summary_string()})"
        raise ValidationError(f"Invalid function call:\n{shown}{placed(node)}")
    name = nodes.Identifier((f"{window.name.last}_{node.name.last}",), span=node.span)
    return nodes.replace(node, name=name, arguments=window.arguments)


def _nullable(plan: Plan, places: Sequence[int]) -> Plan:
    """Return a plan in which some columns may be NULL, as Flink's Table API says of the properties of windows."""
    kinds = [
        each.with_nullability(True) if place in places and not (is_rowtime(each) or is_proctime(each)) else each
        for place, each in enumerate(plan.schema.types)
    ]
    if kinds == list(plan.schema.types):
        return plan
    columns = tuple(InputReference(place, kind) for place, kind in enumerate(kinds))
    return Project(plan, columns, plan.schema.names)


def properties_as_columns(chosen: Sequence[Expression], alias: str | None) -> tuple[list[Expression], list[Expression]]:
    """Return expressions in which properties of a window are columns, and the expressions of these columns.

    Args:
        chosen: The expressions.
        alias: The alias of the window, or None.
    """
    columns: dict[str, Expression] = {}

    def column(node: nodes.Expression) -> nodes.Expression | None:
        if not isinstance(node, nodes.Call) or node.name.last not in WINDOW_PROPERTIES or len(node.arguments) != 1:
            return None
        if not isinstance(node.arguments[0], nodes.Identifier) or node.arguments[0].last != alias:
            return None
        name = f"*{node.name.last}*"
        columns.setdefault(name, Expression(node).alias(name))
        return nodes.Identifier((name,), span=node.span)

    found, numbered = [], 0
    for each in chosen:
        one = each._with_node(nodes.substitute(each._node, column))
        if isinstance(one._node, nodes.Identifier) and one._node.last in columns and not each._names:
            one, numbered = one.alias(f"EXPR${numbered}"), numbered + 1
        found.append(one)
    return found, list(columns.values())


# ------------------------------------------------------------------ windows of rows

_BOUNDS = {
    "UNBOUNDED_ROW": ("ROWS", nodes.UnboundedPreceding()),
    "UNBOUNDED_RANGE": ("RANGE", nodes.UnboundedPreceding()),
    "CURRENT_ROW": ("ROWS", nodes.CurrentRow()),
    "CURRENT_RANGE": ("RANGE", nodes.CurrentRow()),
}


def over_rows(session: TableSession, plan: Plan, windows: Sequence[OverWindow], chosen: Sequence[Expression]) -> Plan:
    """Return the plan of each row with aggregates of the rows around it.

    Args:
        session: The session.
        plan: The rows.
        windows: The windows.
        chosen: The columns, with `over` of the aliases of the windows.

    Raises:
        ValidationError: There is no window of an alias, a window is wrong, or a column is.
    """
    specifications = {each._alias: _specification(session, plan, each) for each in windows}
    if len(specifications) < len(windows):
        raise ValidationError("Over Windows must have unique aliases.")

    made = operation(session, chosen)

    def bound(node: nodes.Expression) -> nodes.Expression | None:
        if not isinstance(node, nodes.FunctionCall) or not isinstance(node.over, nodes.Identifier):
            return None
        window = specifications.get(node.over.last)
        if window is None:
            raise ValidationError(f"Could not resolve over call.{placed(node)}")
        if isinstance(node, nodes.Call):
            user = made.user_function(node)
            if user is not None:
                user.refuse_over()
            function = lookup_aggregate(node.name.last)
            if function is not None and function.is_ranking:
                window = nodes.replace(window, frame=None)
        return nodes.replace(node, over=window)

    columns = [each._with_node(nodes.substitute(each._node, bound)) for each in chosen]
    return project(session, plan, columns)


def _specification(session: TableSession, plan: Plan, window: OverWindow) -> nodes.WindowSpecification:
    parts = window._window
    made = operation(session, [*parts.partition_by, parts.order_by])
    keys = tuple(node for each in parts.partition_by for node in made.columns(each._node, plan.schema))
    order = nodes.OrderItem(made.column(parts.order_by._node, plan.schema), bool(parts.order_by._descending))
    return nodes.WindowSpecification(None, keys, (order,), _frame(parts.preceding, parts.following))


def _frame(preceding: Expression | None, following: Expression | None) -> nodes.WindowFrame | None:
    if preceding is None:
        return None
    units, lower = _bound(preceding._node, nodes.Preceding)
    if following is None:
        return nodes.WindowFrame(units, lower, nodes.CurrentRow())
    other, upper = _bound(following._node, nodes.Following)
    if units != other:
        raise ValidationError("Preceding and following must be of same interval type.")
    if isinstance(upper, nodes.UnboundedPreceding):
        upper = nodes.UnboundedFollowing()
    return nodes.WindowFrame(units, lower, upper)


def _bound(node: nodes.Expression, distant: Callable[[nodes.Expression], Any]) -> tuple[str, nodes.FrameBound]:
    """Return the units of a frame, and one of its bounds."""
    if isinstance(node, nodes.Identifier) and node.last in _BOUNDS:
        return _BOUNDS[node.last]
    if isinstance(node, nodes.Call) and node.name.last == "ROW_INTERVAL":
        (rows,) = node.arguments
        assert isinstance(rows, nodes.Expression)
        return "ROWS", distant(rows)
    return "RANGE", distant(node)
