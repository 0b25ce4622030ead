"""The table functions that assign windows: TUMBLE, HOP, CUMULATE and SESSION."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from scurry.errors import ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan.advice import watermark_of
from scurry.sql.plan.expressions import Expression, Literal
from scurry.sql.plan.nodes import Plan, WindowTable
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax import nodes
from scurry.sql.syntax.span import NO_SPAN
from scurry.sql.types import DataType, DayTimeIntervalType, LocalZonedTimestampType, TimestampType
from scurry.sql.validator.environment import Environment
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.scope import Relation, Scope

if TYPE_CHECKING:
    from scurry.sql.validator.from_clause.items import FromItem

# The names of the arguments; those of SESSION before the table's own keys.
_PARAMETERS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    "CUMULATE": ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
_REQUIRED = {"TUMBLE": 3, "HOP": 4, "CUMULATE": 4, "SESSION": 3}

FromItemOf = Callable[[nodes.TableExpression], "FromItem"]


def is_window_function(call: nodes.Call) -> bool:
    """Return whether a table function assigns windows."""
    return call.name.last.upper() in _PARAMETERS


def window_table(call: nodes.Call, environment: Environment, item: FromItemOf) -> Plan:
    """Return the plan of a window function.

    Args:
        environment: Where it stands.
        item: Validates the table among the arguments.

    Raises:
        ValidationError: The arguments are wrong.
    """
    kind = call.name.last.upper()
    arguments = _arguments(call, kind)
    table = arguments["DATA"]
    if isinstance(table, nodes.Subquery):
        table = nodes.TableArgument(span=table.span, table=table.query)
    if not isinstance(table, nodes.TableArgument):
        raise invalid(table.span, f"The first argument of {kind} is a table")
    plan = argument_table(table, environment, item)
    scope = Scope(plan.schema, (Relation(None, (), 0, len(plan.schema)),))
    validator = ExpressionValidator(scope, environment)
    time = _time(call, kind, arguments["TIMECOL"], plan)
    intervals = {
        name: _milliseconds(validator.convert(arguments[name]), arguments[name], call)
        for name in ("SIZE", "SLIDE", "STEP", "GAP", "OFFSET")
        if name in arguments
    }
    size = intervals.get("SIZE", intervals.get("GAP", 0))
    slide = intervals.get("SLIDE", intervals.get("STEP"))
    _check_positive(kind, size, slide)
    if kind == "CUMULATE":
        _check_multiple(kind, size, slide)
    offset = intervals.get("OFFSET", 0)
    if kind == "TUMBLE" and abs(offset) >= size:
        raise ValidationError(
            f"Tumbling Window parameters must satisfy abs(offset) < size, but got size {size} ms and offset {offset} ms"
        )
    partition_by = tuple(_place(each, plan) for each in table.partition_by or ())
    type = plan.schema[time].type
    return WindowTable(plan, kind, time, size, slide, offset, partition_by, window_schema(type))


def window_schema(time: DataType) -> Schema:
    """Return the columns window_start, window_end and window_time for windows over a time column of a type."""
    assert isinstance(time, TimestampType | LocalZonedTimestampType)
    bound = TimestampType(3, nullable=False)
    instant = time.as_time_attribute(time.time_attribute).not_null()
    return Schema((Column("window_start", bound), Column("window_end", bound), Column("window_time", instant)))


def _arguments(call: nodes.Call, kind: str) -> dict[str, nodes.Expression]:
    names = _PARAMETERS[kind]
    found: dict[str, nodes.Expression] = {}
    for place, argument in enumerate(call.arguments):
        if isinstance(argument, nodes.NamedArgument):
            name = argument.name.last.upper()
            found[name] = argument.value
        elif place < len(names):
            found[names[place]] = argument
    if len(call.arguments) > len(names) or any(name not in found for name in names[: _REQUIRED[kind]]):
        raise invalid(
            call.span,
            f"Invalid number of arguments to function '{kind}'. Was expecting {_REQUIRED[kind]} arguments",
        )
    return found


def argument_table(argument: nodes.TableArgument, environment: Environment, item: FromItemOf) -> Plan:
    if isinstance(argument.table, nodes.Query):
        return environment.plan(argument.table)
    return item(argument.table).plan


def _time(call: nodes.Call, kind: str, descriptor: nodes.Expression, plan: Plan) -> int:
    # Flink reads the first column, and ignores others.
    if not isinstance(descriptor, nodes.Descriptor) or not descriptor.columns:
        raise invalid(call.span, f"The second argument of {kind} is a DESCRIPTOR of one column")
    place = _place(descriptor.columns[0], plan)
    type = plan.schema[place].type
    if not isinstance(type, TimestampType | LocalZonedTimestampType):
        error = invalid(
            NO_SPAN,
            f"The window function {_form(kind)} requires the timecol to be TIMESTAMP or TIMESTAMP_LTZ, but is "
            f"{standard_name(type)}.",
        )
        error.span = descriptor.span
        raise error.with_hint(
            f"add a column with the time to CREATE TABLE: {watermark_of(plan.schema.names[place], type)}"
        )
    return place


def _place(column: nodes.Expression, plan: Plan) -> int:
    name = column.last if isinstance(column, nodes.Identifier) else column.span.source
    if name not in plan.schema.names:
        hint = did_you_mean(name, plan.schema.names)
        raise invalid(column.span, f"Unknown identifier '{name}'").with_hint(hint)
    return plan.schema.names.index(name)


def _milliseconds(value: Expression, node: nodes.Expression, call: nodes.Call) -> int:
    if not isinstance(value, Literal) or not isinstance(value.type, DayTimeIntervalType):
        kind = call.name.last.upper()
        shown = f"'{kind}(<TABLE>, <COLUMN_LIST>, <{standard_name(value.type)}>)'"
        raise invalid(
            call.span, f"Cannot apply '{kind}' to arguments of type {shown}. Supported form(s): {_form(kind)}"
        )
    assert isinstance(value.value, int)
    return value.value


def _form(kind: str) -> str:
    """Return how a window function is called, as messages show it."""
    if kind in ("TUMBLE", "SESSION"):
        return f"{kind}(TABLE table_name, DESCRIPTOR(timecol), datetime interval[, datetime interval])"
    return f"{kind}(TABLE table_name, DESCRIPTOR(timecol), datetime interval, datetime interval[, datetime interval])"


def _check_positive(kind: str, size: int, slide: int | None) -> None:
    if size > 0 and (slide is None or slide > 0):
        return
    wrong = {
        "TUMBLE": f"size to be positive, but got {size} ms",
        "HOP": f"slide and size to be positive, but got slide {slide} ms and size {size} ms",
        "CUMULATE": f"maxSize and step to be positive, but got maxSize {size} ms and step {slide} ms",
        "SESSION": f"gap to be positive, but got gap {size} ms",
    }[kind]
    raise ValidationError(f"{kind} table function based aggregate requires {wrong}.")


def _check_multiple(kind: str, size: int, slide: int | None) -> None:
    if slide is None or (slide and size % slide == 0):
        return
    raise ValidationError(
        f"{kind} table function based aggregate requires maxSize must be an integral multiple of step, "
        f"but got maxSize {size} ms and step {slide} ms.",
    )
