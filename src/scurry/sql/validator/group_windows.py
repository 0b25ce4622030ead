"""Group windows: TUMBLE, HOP and SESSION in GROUP BY, and the functions TUMBLE_START and the like."""

from __future__ import annotations

from collections.abc import Sequence

from scurry._dataclasses import dataclass
from scurry.errors import ValidationError
from scurry.sql.functions.signatures import standard_name
from scurry.sql.plan import builders
from scurry.sql.plan.expressions import Expression, InputReference, Literal
from scurry.sql.plan.nodes import Plan, WindowTable
from scurry.sql.plan.schema import Column, Schema
from scurry.sql.syntax import nodes
from scurry.sql.types import DataType, DayTimeIntervalType, LocalZonedTimestampType, TimestampType
from scurry.sql.types.families import is_proctime, is_rowtime
from scurry.sql.validator.expressions import ExpressionValidator
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.from_clause.window_tables import window_schema

_KINDS = ("TUMBLE", "HOP", "SESSION")
_AUXILIARIES = {"START": 0, "END": 1, "ROWTIME": 2, "PROCTIME": 2}


@dataclass(frozen=True)
class GroupWindow:
    """A window of GROUP BY.

    Attributes:
        kind: TUMBLE, HOP or SESSION.
        arguments: The arguments it was written with.
        plan: The rows with the windows they belong to.
        keys: What is grouped by: start, end and time of the window, with names.
    """

    kind: str
    arguments: tuple[nodes.Expression, ...]
    plan: Plan
    keys: tuple[tuple[Expression, str], ...]


def _schema(time: DataType) -> Schema:
    start, end, instant = window_schema(time)
    return Schema((start, end, Column(instant.name, instant.type.with_nullability(time.is_nullable))))


def auxiliary(call: nodes.Call, windows: Sequence[GroupWindow]) -> Expression | None:
    """Return the column of a window that a call such as TUMBLE_START names, None if it names none.

    Raises:
        ValidationError: There is no such window in GROUP BY.
    """
    name = call.name.last.upper()
    kind, _, what = name.rpartition("_")
    if kind not in _KINDS or what not in _AUXILIARIES:
        return None
    for window in windows:
        if (window.kind, window.arguments) == (kind, call.arguments):
            return _property(window.keys[_AUXILIARIES[what]][0], what)
    raise invalid(
        call.span,
        f"Call to auxiliary group function '{name}' must have matching call to group function '${kind}' "
        "in GROUP BY clause",
    )


def _property(found: Expression, what: str) -> Expression:
    if what == "ROWTIME" and is_proctime(found.type):
        raise ValidationError("A proctime window cannot provide a rowtime attribute.")
    # A window of event time has no processing time.
    return Literal(None, found.type.nullable()) if what == "PROCTIME" and is_rowtime(found.type) else found


def group_window(item: nodes.Expression, validator: ExpressionValidator, plan: Plan) -> GroupWindow | None:
    """Return the window that an item of GROUP BY is, None if it is something else.

    Args:
        validator: Validates expressions over the rows.

    Raises:
        ValidationError: Its arguments are wrong.
    """
    if not isinstance(item, nodes.Call) or item.name.last.upper() not in _KINDS or len(item.arguments) < 2:
        return None
    kind = item.name.last.upper()
    time, *intervals = (validator.convert(each) for each in item.arguments)
    if not isinstance(time, InputReference) or not isinstance(time.type, TimestampType | LocalZonedTimestampType):
        shown = ", ".join(f"<{standard_name(each.type)}>" for each in (time, *intervals))
        raise invalid(
            item.span,
            f"Cannot apply '${kind}' to arguments of type '${kind}({shown})'. "
            f"Supported form(s): '${kind}(<DATETIME>, <DATETIME_INTERVAL>)'",
        )
    values = []
    for each in intervals:
        if not isinstance(each, Literal) or not isinstance(each.type, DayTimeIntervalType):
            raise invalid(item.span, "Only constant window intervals with millisecond resolution are supported.")
        values.append(each.value)
    slide, size = (values[0], values[1]) if kind == "HOP" else (None, values[0])
    offset = values[2] if kind == "HOP" and len(values) > 2 else values[1] if kind != "HOP" and len(values) > 1 else 0
    _check_positive(kind, size, slide)
    windowed = WindowTable(plan, kind, time.index, size, slide, offset, None, _schema(time.type))
    width = len(plan.schema)
    names = ("window_start", "window_end", "window_time")
    keys = tuple((builders.column(windowed, width + place), name) for place, name in enumerate(names))
    return GroupWindow(kind, item.arguments, windowed, keys)


def _check_positive(kind: str, size: int, slide: int | None) -> None:
    if size > 0 and (slide is None or slide > 0):
        return
    assigner, needs = {
        "TUMBLE": ("TumblingWindowAssigner", "size > 0"),
        "HOP": ("SlidingWindowAssigner", "slide > 0 and size > 0"),
        "SESSION": ("SessionWindowAssigner", "0 < size"),
    }[kind]
    raise ValidationError(f"{assigner} parameters must satisfy {needs}")
