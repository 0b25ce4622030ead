"""Windows over groups that hold a number of rows: `Tumble` and `Slide` over a `row_interval`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scurry.errors import ValidationError
from scurry.sql.plan.nodes import Plan
from scurry.sql.statements.session import TableSession
from scurry.sql.statements.table_operations import Operation
from scurry.sql.statements.table_operations.failures import placed
from scurry.sql.syntax import nodes
from scurry.sql.types.families import is_proctime
from scurry.table._operations.fields import WINDOW_PROPERTIES, Keys, grouped_by_columns, grouped_items, operation
from scurry.table.expression import Expression

if TYPE_CHECKING:
    from scurry.table.window import GroupWindow

#: the column with the place of a row among those of its group
_PLACE = "*place*"


def row_interval_of(expression: Expression | None) -> int | None:
    """Return the number of rows of a `row_interval`, None for other expressions."""
    node = None if expression is None else expression._node
    if isinstance(node, nodes.Call) and node.name.names == ("ROW_INTERVAL",):
        (rows,) = node.arguments
        if isinstance(rows, nodes.NumericLiteral):
            return int(rows.value)
    return None


def counted(
    session: TableSession,
    plan: Plan,
    window: GroupWindow,
    keys: Sequence[Expression],
    chosen: Sequence[Expression],
) -> Plan:
    """Return the plan of a row for each full window of a group: when its last row has come.

    A window of a number of rows is known by its last row: its aggregates are those over this row and the ones before
    it. So the rows of each group are numbered, aggregated as by `Over`, and those that end no window are left out.

    Args:
        session: The session.
        plan: The rows.
        window: The window, whose size is a `row_interval`.
        keys: The other keys.
        chosen: Keys and aggregates.

    Raises:
        ValidationError: The mode is BATCH, the rows have no processing time, a size is not positive, or a column is
            wrong.
    """
    parts = window._window
    size = row_interval_of(parts.size)
    slide = size if parts.slide is None else row_interval_of(parts.slide)
    assert size is not None
    if not session.is_streaming:
        raise ValidationError("Windows of a number of rows are not supported in BATCH, where rows have no order.")
    if slide is None:
        raise ValidationError(f"A sliding window expects the same type of size and slide.{placed(parts.size._node)}")
    if size < 1 or slide < 1:
        raise ValidationError(f"A window needs a positive number of rows, not {min(size, slide)}.")
    plan, plain = grouped_by_columns(session, plan, keys)
    made = operation(session, [*plain, *chosen, parts.time])
    time = made.column(parts.time._node, plan.schema)
    kind = made.type(time, plan.schema)
    if kind is None or not is_proctime(kind):
        raise ValidationError(
            "Event-time grouping windows on row intervals are currently not supported: a window of a number of rows "
            f"is on a column of processing time.{placed(time)}"
        )
    grouping = tuple(node for each in plain for node in made.columns(each._node, plan.schema))
    for each in chosen:
        _refuse_properties(each._node, "tumble" if parts.slide is None else "slide")
    aliases = [each._names[0] if each._names else None for each in chosen]
    items = grouped_items(made, [each._node for each in chosen], aliases, plan.schema, Keys.of(grouping))
    specification = nodes.WindowSpecification(None, grouping, (nodes.OrderItem(time, False),), None)
    plan = _numbered(made, plan, specification)
    return _aggregated(made, plan, specification, items, size, slide)


def _numbered(made: Operation, plan: Plan, specification: nodes.WindowSpecification) -> Plan:
    """Return the rows with their places within their groups."""
    count = nodes.Call(nodes.Identifier(("COUNT",)), (nodes.Star(),), over=_rows(specification, None))
    columns = [nodes.SelectItem(nodes.Identifier((name,)), nodes.Identifier((name,))) for name in plan.schema.names]
    place = nodes.SelectItem(count, nodes.Identifier((_PLACE,)))
    return made.planned(nodes.Select((*columns, place), made.table(plan)))


def _aggregated(
    made: Operation,
    plan: Plan,
    specification: nodes.WindowSpecification,
    items: Sequence[nodes.SelectItem],
    size: int,
    slide: int,
) -> Plan:
    """Return the selected aggregates, at each row that ends a window."""
    over = _rows(specification, size)
    aggregates: dict[nodes.Expression, str] = {}

    def column(node: nodes.Expression) -> nodes.Expression | None:
        if not made.is_aggregate(node) or not isinstance(node, nodes.FunctionCall):
            return None
        name = aggregates.setdefault(node, f"*{len(aggregates)}*")
        return nodes.Identifier((name,), span=node.span)

    chosen = [nodes.replace(item, expression=nodes.substitute(item.expression, column)) for item in items]
    names = dict.fromkeys([*(name.last for name in specification.partition_by if isinstance(name, nodes.Identifier))])
    columns = [nodes.SelectItem(nodes.Identifier((name,)), nodes.Identifier((name,))) for name in (*names, _PLACE)]
    columns += [
        nodes.SelectItem(nodes.replace(node, over=over), nodes.Identifier((name,))) for node, name in aggregates.items()
    ]
    plan = made.planned(nodes.Select(tuple(columns), made.table(plan)))
    return made.planned(nodes.Select(tuple(chosen), made.table(plan), where=_ends_a_window(size, slide)))


def _rows(specification: nodes.WindowSpecification, size: int | None) -> nodes.WindowSpecification:
    """Return the window of a row and those before it: all of them if there is no size."""
    lower = nodes.UnboundedPreceding() if size is None else nodes.Preceding(_number(size - 1))
    return nodes.replace(specification, frame=nodes.WindowFrame("ROWS", lower, nodes.CurrentRow()))


def _ends_a_window(size: int, slide: int) -> nodes.Expression:
    """Return the condition of a place that it is the end of a window: size, size + slide, size + 2 * slide ..."""

    def call(name: str, *arguments: nodes.Expression) -> nodes.Expression:
        return nodes.Call(nodes.Identifier((name,)), arguments)

    place = nodes.Identifier((_PLACE,))
    reached = call(">=", place, _number(size))
    distance = call("MOD", call("-", place, _number(size)), _number(slide))
    return call("AND", reached, call("=", distance, _number(0)))


def _number(value: int) -> nodes.NumericLiteral:
    return nodes.NumericLiteral(str(value))


def _refuse_properties(node: nodes.Node, kind: str) -> None:
    """Refuse the start and the end of a window, which windows of rows have not.

    Raises:
        ValidationError: There is one.
    """
    if isinstance(node, nodes.Call) and node.name.last in WINDOW_PROPERTIES and len(node.arguments) == 1:
        raise ValidationError(
            f"Window start and Window end cannot be selected for a row-count {kind} window.{placed(node)}"
        )
    for child in nodes.children(node):
        _refuse_properties(child, kind)
