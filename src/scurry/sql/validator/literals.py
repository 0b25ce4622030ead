"""Literals: their types and values."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable
from typing import Any

from scurry.common._epoch import days_of_date
from scurry.sql import types
from scurry.sql.plan.expressions import Literal
from scurry.sql.syntax import nodes
from scurry.sql.types.families import planner_interval
from scurry.sql.validator.failures import invalid
from scurry.sql.validator.intervals import interval_type, interval_value

_INT, _BIGINT = types.IntType(False), types.BigIntType(False)
_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d+))?")
_DATE = re.compile(r"(\d{1,4})-(\d{1,2})-(\d{1,2})")


def literal(node: nodes.Literal, negative: bool = False) -> Literal:
    """Return the value of a literal, with its type.

    Args:
        negative: Whether there is a minus before a number.

    Raises:
        ValidationError: Its text is no value of its type.
    """
    if isinstance(node, nodes.NumericLiteral):
        return _number(node, negative)
    return _MAKERS[type(node)](node)


def _made(value: Any, type: types.DataType, node: nodes.Node) -> Literal:
    return Literal(value, type, span=node.span)


def _number(node: nodes.NumericLiteral, negative: bool) -> Literal:
    value = -node.value if negative else node.value
    if node.is_approximate:
        if math.isinf(float(value)):
            raise invalid(node.span, f"Numeric literal '{node.text.upper()}' out of range")
        return _made(float(value), types.DoubleType(False), node)
    if node.is_integer:
        if -_INT.limit <= value < _INT.limit:
            return _made(int(value), _INT, node)
        if -_BIGINT.limit <= value < _BIGINT.limit:
            return _made(int(value), _BIGINT, node)
        raise invalid(node.span, f"Numeric literal '{node.text}' out of range")
    _, digits, exponent = value.as_tuple()
    scale = max(-int(exponent), 0)
    # A number below 1 has a digit before the point, too.
    precision = max(len("".join(map(str, digits)).lstrip("0")), scale + (scale > 0), 1)
    # As Calcite does: the digits without the point have to fit into 64 bits.
    unscaled = int("".join(map(str, digits)))
    if precision > 38 or unscaled >= _BIGINT.limit + negative:
        raise invalid(node.span, f"Numeric literal '{node.text}' out of range")
    return _made(value, types.DecimalType(precision, scale, False), node)


def _string(node: nodes.StringLiteral) -> Literal:
    # Java counts units of UTF-16.
    length = len(node.value.encode("utf-16-le", "surrogatepass")) // 2
    return _made(node.value, types.CharType.of_length(length, False), node)


def _chain(node: nodes.StringChain) -> Literal:
    parts: list[Any] = list(node.parts)
    for before, after in zip(parts, parts[1:], strict=False):
        if before.span.end_line == after.span.line:
            raise invalid(after.span, "String literal continued on same line")
    if all(isinstance(part, nodes.BinaryLiteral) for part in parts):
        return _binary(nodes.BinaryLiteral("".join(part.digits for part in parts), span=node.span))
    return _string(nodes.StringLiteral("".join(part.value for part in parts), span=node.span))


def _binary(node: nodes.BinaryLiteral) -> Literal:
    if len(node.digits) % 2:
        raise invalid(node.span, "Binary literal string must contain an even number of hexits")
    return _made(bytes.fromhex(node.digits), types.BinaryType.of_length(len(node.digits) // 2, False), node)


def _boolean(node: nodes.BooleanLiteral) -> Literal:
    return _made(node.value, types.BooleanType(node.value is None), node)


def _null(node: nodes.NullLiteral) -> Literal:
    return _made(None, types.NullType(), node)


def _date(node: nodes.DateLiteral) -> Literal:
    days = _days(node.text)
    if days is None:
        raise invalid(node.span, f"Illegal DATE literal '{node.text}': not in format 'yyyy-MM-dd'")
    return _made(days, types.DateType(False), node)


def _time(node: nodes.TimeLiteral) -> Literal:
    found = _time_of_day(node.text)
    if found is None:
        raise invalid(node.span, f"Illegal TIME literal '{node.text}': not in format 'HH:mm:ss'")
    nanos, precision = found
    return _made(nanos // 1_000_000, types.TimeType(min(precision, 3), False), node)


def _timestamp(node: nodes.TimestampLiteral) -> Literal:
    day, _, time = node.text.strip().partition(" ")
    days, found = _days(day), _time_of_day(time or "00:00:00")
    if days is None or found is None:
        raise invalid(node.span, f"Illegal TIMESTAMP literal '{node.text}': not in format 'yyyy-MM-dd HH:mm:ss'")
    nanos, precision = found
    unit = 10 ** (9 - (3 if precision <= 3 else 6 if precision <= 6 else 9))
    value = (days * 86_400 * 10**9 + nanos) // unit
    if not -_BIGINT.limit <= value < _BIGINT.limit:
        raise invalid(
            node.span,
            f"TIMESTAMP literal '{node.text}' is out of range: one of more than six digits is between 1677-09-21 and "
            "2262-04-11; write at most six",
        )
    zoned = node.type_name == "TIMESTAMP WITH LOCAL TIME ZONE"
    return _made(value, (types.LocalZonedTimestampType if zoned else types.TimestampType)(precision, False), node)


def _interval(node: nodes.IntervalLiteral) -> Literal:
    value = interval_value(node)
    if value is None:
        raise invalid(node.span, f"Illegal interval literal format '{node.text}' for {_interval_text(node)}")
    leading = re.match(r"\s*[+-]?(\d+)", node.text)
    digits = 2 if node.qualifier.precision is None else node.qualifier.precision
    if leading is not None and len(leading[1].lstrip("0")) > digits:
        raise invalid(
            node.span, f"Interval field value {leading[1]} exceeds precision of {node.qualifier.start}({digits}) field"
        )
    return _made(value, planner_interval(interval_type(node.qualifier)), node)


def _interval_text(node: nodes.IntervalLiteral) -> str:
    end = f" TO {node.qualifier.end}" if node.qualifier.end else ""
    return f"INTERVAL {node.qualifier.start}{end}"


def _days(text: str) -> int | None:
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        return days_of_date(datetime.date(*map(int, found.groups())))
    except ValueError:
        return None


def _time_of_day(text: str) -> tuple[int, int] | None:
    """Return nanoseconds since midnight and the number of digits of the fraction."""
    found = _TIME.fullmatch(text.strip())
    if found is None:
        return None
    hours, minutes, seconds = (int(each) for each in found.groups()[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    fraction = (found.group(4) or "")[:9]
    nanos = int(fraction.ljust(9, "0")) if fraction else 0
    return ((hours * 60 + minutes) * 60 + seconds) * 10**9 + nanos, len(fraction)


_MAKERS: dict[type, Callable[[Any], Literal]] = {
    nodes.StringLiteral: _string,
    nodes.StringChain: _chain,
    nodes.BinaryLiteral: _binary,
    nodes.BooleanLiteral: _boolean,
    nodes.NullLiteral: _null,
    nodes.DateLiteral: _date,
    nodes.TimeLiteral: _time,
    nodes.TimestampLiteral: _timestamp,
    nodes.IntervalLiteral: _interval,
}
