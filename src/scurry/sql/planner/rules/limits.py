"""Refuse plans as Flink does, in BATCH and of sorting, ranking and OVER in STREAMING."""

from __future__ import annotations

from scurry.errors import ValidationError
from scurry.sql.evaluation.constants import is_written_constant
from scurry.sql.functions.aggregate.catalogue import looks_ahead, numbers_rows
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.advice import time_attribute_of
from scurry.sql.plan.expressions import FLIPPED, Call, Expression, InputReference, Literal
from scurry.sql.plan.join_keys import conjuncts
from scurry.sql.plan.nodes import Filter, Limit, Over, Plan, Project, Sort, WindowTable, walk
from scurry.sql.plan.physical.windows import window_properties
from scurry.sql.plan.rewriting import input_references
from scurry.sql.plan.windows import WindowCall, streaming_frame
from scurry.sql.planner.rules.streaming.window_aggregates import window_aggregates
from scurry.sql.planner.rules.time_attributes import stays_time
from scurry.sql.types import LocalZonedTimestampType, TimestampType
from scurry.sql.types.families import is_proctime, is_time_attribute


def check_batch(plan: Plan, session: EvaluationContext) -> Plan:
    """Return the plan itself.

    Raises:
        ValidationError: BATCH does not support a part of it.
    """
    if not session.is_streaming:
        for node in walk(plan):
            if isinstance(node, WindowTable):
                _check_batch_over(node)
            if isinstance(node, Limit) and node.fetch is None and _is_sorted(node.input):
                raise ValidationError("Not support limitEnd is max value now!")
    return plan


def _is_sorted(plan: Plan) -> bool:
    return isinstance(plan, Sort) or (isinstance(plan, Project) and _is_sorted(plan.input))


def _check_batch_over(plan: WindowTable) -> None:
    if plan.partition_by is None and is_proctime(plan.input.schema[plan.time].type):
        raise ValidationError("Window can not be defined over a proctime attribute column for batch mode")
    if plan.kind == "SESSION":
        raise ValidationError("Unaligned windows like session are not supported in batch mode yet.")


_SORTED = (
    "a stream can be sorted by a time attribute, ascending; otherwise add LIMIT, which keeps the first rows, or "
    "SET 'execution.runtime-mode' = 'batch'"
)
_ADVICE = "please re-check the over window statement."


def check_streaming(plan: Plan, session: EvaluationContext) -> Plan:
    """Return the plan itself.

    Raises:
        ValidationError: STREAMING does not support a part of it.
    """
    if session.is_streaming:
        _check(plan, session, is_limited=False)
    return plan


def _check(plan: Plan, session: EvaluationContext, is_limited: bool) -> None:
    if isinstance(plan, Sort) and not is_limited:
        _check_sort(plan)
    if isinstance(plan, Filter):
        ranked = _ranked(plan.input)
        if ranked is not None and _check_rank(plan, *ranked, session):
            _check(ranked[0].input, session, is_limited=False)
            return
    if isinstance(plan, Over):
        _check_over(plan)
    if isinstance(plan, WindowTable):
        _check_window(plan)
    passes_on = isinstance(plan, Limit) or (is_limited and isinstance(plan, Project))
    for each in plan.inputs:
        _check(each, session, passes_on)


def _check_sort(plan: Sort) -> None:
    first = plan.keys[0]
    if not stays_time(plan.input, first.index) or first.descending:
        error = ValidationError("Sort on a non-time-attribute field is not supported.")
        error.about = plan.input.schema[first.index].name
        raise error.with_hint(_SORTED)


def _ranked(plan: Plan) -> tuple[Over, dict[int, int]] | None:
    """Return the ranking below a filter, with its columns by those of the filter's input."""
    places = {index: index for index in range(len(plan.schema))}
    while isinstance(plan, Project):
        expressions = plan.expressions
        places = {
            index: each.index
            for index, place in places.items()
            if isinstance(each := expressions[place], InputReference)
        }
        plan = plan.input
    if isinstance(plan, Over) and len(plan.calls) == 1 and numbers_rows(plan.calls[0].call.function):
        return plan, places
    return None


def _check_rank(plan: Filter, over: Over, places: dict[int, int], session: EvaluationContext) -> bool:
    """Return whether a filter makes a ranking the first rows of each partition.

    Raises:
        ValidationError: It restricts the rank, but not to the first ones; or it is not the number of the row.
    """
    rank = len(over.input.schema)
    compared = [_comparison(each, rank, places) for each in conjuncts(plan.condition)]
    operators = {each for each in compared if each is not None}
    if not operators:
        return False
    if not operators & {"<", "<=", "="}:
        raise ValidationError(
            "Rank end is not specified. Currently rank only support TopN, which means the rank end must be specified."
        ).with_hint("restrict the number of the row from above: WHERE row_num <= 10")
    function = over.calls[0].call.function
    if all(_is_constant(each.expression, over.input) for each in over.calls[0].order_by):
        raise ValidationError(
            f"Over Agg: The window rank function requires order by clause with non-constant fields. {_ADVICE}"
        )
    if function != "ROW_NUMBER":
        raise ValidationError(
            f"{function}() function is not supported on Window TopN currently, only ROW_NUMBER() is supported."
            if _is_by_window(over, session)
            else f"{function}() on streaming table is not supported currently"
        ).with_hint("ROW_NUMBER() numbers rows in streams; RANK and DENSE_RANK do in BATCH")
    return True


def _is_constant(expression: Expression, rows: Plan) -> bool:
    while isinstance(expression, InputReference) and isinstance(rows, Project | Filter):
        if isinstance(rows, Project):
            expression = rows.expressions[expression.index]
        rows = rows.input
    return is_written_constant(expression)


def _is_by_window(over: Over, session: EvaluationContext) -> bool:
    """Return whether rows are ranked within windows."""
    properties = window_properties(window_aggregates(over.input, session))
    keys = [each.index for each in over.calls[0].partition_by if isinstance(each, InputReference)]
    return properties is not None and properties.is_grouped_by(tuple(keys))


def _comparison(condition: Expression, rank: int, places: dict[int, int]) -> str | None:
    if not isinstance(condition, Call) or condition.function not in FLIPPED:
        return None
    one, other = condition.arguments

    def is_number(bound: Expression) -> bool:
        return any(places.get(column) == rank for column in input_references(bound))

    if isinstance(one, InputReference) and places.get(one.index) == rank and not is_number(other):
        return condition.function
    if isinstance(other, InputReference) and places.get(other.index) == rank and not is_number(one):
        return FLIPPED[condition.function]
    return None


def _check_window(plan: WindowTable) -> None:
    kind = plan.input.schema[plan.time].type
    is_time = not _is_shifted(plan.input, plan.time)
    # Flink takes the windows of GROUP BY for those of a time attribute before it looks at joins.
    if plan.partition_by is not None:
        is_time &= stays_time(plan.input, plan.time)
    if isinstance(kind, TimestampType | LocalZonedTimestampType) and not is_time:
        kind = kind.as_time_attribute(None)
    if is_time_attribute(kind):
        return
    shown = kind.nullable().as_summary_string()
    if plan.partition_by is None:
        if isinstance(kind, LocalZonedTimestampType):
            shown = f"TIMESTAMP_WITH_LOCAL_TIME_ZONE({kind.precision})"
        message = f"Window aggregate can only be defined over a time attribute column, but {shown} encountered."
    else:
        message = f"The window function requires the timecol is a time attribute type, but is {shown}."
    error = ValidationError(message).with_hint(time_attribute_of(plan.input, plan.time))
    error.about = plan.input.schema[plan.time].name
    raise error


def _is_shifted(plan: Plan, column: int) -> bool:
    """Return whether a column is a time attribute plus or minus something: rowtime by type, but not to the planner."""
    while isinstance(plan, Project | Filter):
        if isinstance(plan, Project):
            found = plan.expressions[column]
            if not isinstance(found, InputReference):
                if not isinstance(found, Call) or found.function not in ("+", "-"):
                    return False
                return any(is_time_attribute(part.type) for part in found.arguments)
            column = found.index
        plan = plan.input
    return False


def _check_over(plan: Over) -> None:
    windows = {(each.partition_by, each.order_by, streaming_frame(each)) for each in plan.calls}
    if len(windows) > 1:
        raise ValidationError(
            "Over Agg: Unsupported use of OVER windows. All aggregates must be computed on the same window. " + _ADVICE
        )
    for each in plan.calls:
        _check_call(each, plan.input)


def _check_call(call: WindowCall, rows: Plan) -> None:
    function = call.call.function
    if looks_ahead(function):
        raise ValidationError(f"{function} Function is not supported in stream mode.").with_hint(
            "SET 'execution.runtime-mode' = 'batch' runs it"
        )
    order_by = [each for each in call.order_by if not isinstance(each.expression, Literal)]
    if numbers_rows(function) and not order_by:
        raise ValidationError(
            f"Over Agg: The window rank function requires order by clause with non-constant fields. {_ADVICE}"
        )
    if len(order_by) != 1:
        raise ValidationError("The window can only be ordered by a single time column.").with_hint(
            "OVER (PARTITION BY ... ORDER BY ts), where ts has a watermark or is PROCTIME()"
        )
    key = order_by[0]
    if key.descending:
        raise ValidationError("The window can only be ordered in ASCENDING mode.").with_hint("leave out DESC")
    column = key.expression
    is_time = is_time_attribute(column.type)
    if isinstance(column, InputReference):
        is_time = stays_time(rows, column.index)
    if not is_time and call.frame.lower.kind != "UNBOUNDED PRECEDING":
        hint = time_attribute_of(rows, column.index) if isinstance(column, InputReference) else ""
        raise ValidationError("Non-time attribute sort is not supported for bounded OVER window.").with_hint(hint)
    if call.frame.lower.kind not in ("UNBOUNDED PRECEDING", "PRECEDING") or call.frame.upper.kind != "CURRENT ROW":
        raise ValidationError("OVER RANGE FOLLOWING windows are not supported yet.")
