"""Operations that need only one batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scurry.errors import UnsupportedError
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.expressions import compile_expressions, row_of
from scurry.sql.evaluation.user_functions.table import table_kernel
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.time_zones import local_to_utc, utc_to_local
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.expressions import Expression, UserFunctionCall
from scurry.sql.plan.nodes import Plan, Unnest, WindowTable
from scurry.sql.types import LocalZonedTimestampType, MultisetType
from scurry.sql.types.arrow import arrow_type


def window_columns(plan: WindowTable, batch: pa.RecordBatch, time_zone: str) -> tuple[Any, list[pa.Array]]:
    """Return for each window of each row the row's position, and the columns window_start, window_end and window_time.

    Rows whose time is NULL belong to no window.

    Args:
        time_zone: The session's time zone, to whose wall clock windows over TIMESTAMP_LTZ are aligned.
    """
    time = batch.column(plan.time)
    known = np.flatnonzero(np.asarray(time.is_valid()))
    milliseconds = np.asarray(time.cast(pa.timestamp("ms"), safe=False).cast(pa.int64()).fill_null(0))[known]
    is_local = isinstance(plan.input.schema[plan.time].type, LocalZonedTimestampType)
    if is_local:
        milliseconds = utc_to_local(milliseconds, 1000, time_zone)
    rows, start, end = assigned_windows(plan, milliseconds)
    values = (start, end, local_to_utc(end - 1, 1000, time_zone) if is_local else end - 1)
    columns = [
        pa.array(value).cast(pa.timestamp("ms")).cast(arrow_type(each.type))
        for value, each in zip(values, plan.window_schema, strict=True)
    ]
    return known[rows], columns


def assigned_windows(plan: WindowTable, time: np.ndarray[Any, Any]) -> tuple[Any, Any, Any]:
    """Return positions, starts and ends of the windows that times belong to, in milliseconds."""
    if plan.kind == "TUMBLE":
        start = _start(time, plan.size, plan.offset)
        return np.arange(len(time)), start, start + plan.size
    if plan.kind == "HOP":
        assert plan.slide is not None
        count = -(-plan.size // plan.slide)
        last = _start(time, plan.slide, plan.offset)
        rows = np.repeat(np.arange(len(time)), count)
        start = np.repeat(last, count) - np.tile(np.arange(count), len(time)) * plan.slide
        inside = start + plan.size > time[rows]
        return rows[inside], start[inside], start[inside] + plan.size
    if plan.kind == "CUMULATE":
        assert plan.slide is not None
        start = _start(time, plan.size, plan.offset)
        steps = plan.size // plan.slide
        rows = np.repeat(np.arange(len(time)), steps)
        starts = start[rows]
        end = starts + np.tile(np.arange(1, steps + 1), len(time)) * plan.slide
        inside = end > time[rows]
        return rows[inside], starts[inside], end[inside]
    raise UnsupportedError("Unaligned windows like session are not supported in batch mode yet.")


def _start(time: Any, size: int, offset: int) -> Any:
    return time - (time - offset) % size


def unnested(plan: Unnest, column: pa.Array) -> tuple[Any, list[pa.Array]]:
    """Return for each element of a column of collections the position of its row, and the element's columns."""
    if pa.types.is_map(column.type):
        entries = pa.struct([pa.field("key", column.type.key_type), pa.field("value", column.type.item_type)])
        column = column.cast(pa.list_(entries)) if len(column) else pa.array([], pa.list_(entries))
    lengths = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
    elements = column.flatten()
    rows = np.repeat(np.arange(len(column)), lengths)
    width = len(plan.element_schema) - plan.ordinality
    numbers = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
    if isinstance(plan.collection.type, MultisetType):
        counts = np.asarray(elements.field(1))
        repeated = np.repeat(np.arange(len(elements)), counts)
        elements, rows = elements.field(0).take(pa.array(repeated)), rows[repeated]
        numbers = np.arange(len(rows)) - np.searchsorted(rows, rows, side="left") + 1
    elif elements.null_count and _are_rows(elements, width) and not plan.ordinality:
        # As in Flink, an element that is no row makes none. Flink fails where it has to number them.
        present = np.flatnonzero(elements.is_valid())
        elements, rows = elements.take(pa.array(present)), rows[present]
    positions = np.arange(len(rows))
    if plan.outer:
        missing = np.flatnonzero(np.bincount(rows, minlength=len(column)) == 0)
        rows = np.concatenate([rows, missing])
        order = np.argsort(rows, kind="stable")
        rows = rows[order]
        positions = np.concatenate([positions, np.full(len(missing), -1)])[order]
        numbers = np.concatenate([numbers, np.full(len(missing), -1)])[order]
    mask = positions < 0
    columns = elements.flatten() if _are_rows(elements, width) else [elements]
    taken = [each.take(pa.array(positions, mask=mask)) for each in columns]
    if plan.ordinality:
        taken.append(pa.array(numbers.astype(np.int32), mask=mask))
    return rows, taken


def _are_rows(elements: pa.Array, width: int) -> bool:
    """Return whether elements become rows of their fields."""
    return bool(pa.types.is_struct(elements.type) and elements.type.num_fields == width)


#: Makes of a batch the rows of a node, with the positions of the input's rows they are of; None for the same rows.
Step: TypeAlias = Callable[[pa.RecordBatch], tuple[pa.RecordBatch, Any]]

#: The nodes that `compile_row_wise` takes.
ROW_WISE = (nodes.Project, nodes.Filter, nodes.Unnest, nodes.TableFunctionScan, nodes.WindowTable)


def compile_row_wise(plan: Plan, session: EvaluationContext) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return the function from a batch of a node's input to the node's rows, once per task.

    Args:
        plan: One of `ROW_WISE`; its input matters only by its columns.
    """
    step = compile_step(plan, session)
    return lambda batch: step(batch)[0]


def compile_step(plan: Plan, session: EvaluationContext) -> Step:
    """Return the same function as `compile_row_wise`, which says of which rows its rows are."""
    if isinstance(plan, nodes.Project):
        return _project(plan, session)
    if isinstance(plan, nodes.Filter):
        return _filter(plan, session)
    if isinstance(plan, nodes.Unnest) and plan.condition is not None:
        return _conditional_unnest(plan, plan.condition, session)
    if isinstance(plan, nodes.Unnest):
        return _unnest(plan, session)
    if isinstance(plan, nodes.TableFunctionScan):
        return _table_function(plan, session)
    assert isinstance(plan, nodes.WindowTable), f"{type(plan).__name__} is not row-wise"
    return _window_table(plan, session)


def _project(plan: nodes.Project, session: EvaluationContext) -> Step:
    compiled, schema = compile_expressions(plan.expressions, session), plan.schema
    return lambda batch: (batch_of(compiled(batch), schema, batch.num_rows), None)


def _filter(plan: nodes.Filter, session: EvaluationContext) -> Step:
    compiled = compile_expressions([plan.condition], session)

    def step(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        positions = np.flatnonzero(compiled.mask(batch))
        return (batch, None) if len(positions) == batch.num_rows else (taken(batch, positions), positions)

    return step


def _unnest(plan: nodes.Unnest, session: EvaluationContext) -> Step:
    compiled, schema = compile_expressions([plan.collection], session), plan.schema

    def step(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        positions, columns = unnested(plan, compiled(batch)[0])
        rows = taken(batch, positions)
        return batch_of([*rows.columns, *columns], schema, rows.num_rows), positions

    return step


def _conditional_unnest(plan: nodes.Unnest, condition: Expression, session: EvaluationContext) -> Step:
    """Return the step of an outer one whose elements meet a condition."""
    elements = _unnest(replace(plan, outer=False, condition=None), session)
    compiled, width, schema = compile_expressions([condition], session), len(plan.input.schema), plan.schema

    def step(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        rows, positions = elements(batch)
        found = np.flatnonzero(compiled.mask(rows))
        missing = np.setdiff1d(np.arange(batch.num_rows), positions[found])
        origins = np.concatenate([positions[found], missing])
        order = np.argsort(origins, kind="stable")
        places = np.concatenate([found, np.full(len(missing), -1)])[order]
        kept, nowhere = taken(batch, origins[order]), places < 0
        columns = [each.take(pa.array(places, mask=nowhere)) for each in rows.columns[width:]]
        return batch_of([*kept.columns, *columns], schema, kept.num_rows), origins[order]

    return step


def _table_function(plan: nodes.TableFunctionScan, session: EvaluationContext) -> Step:
    call, schema = plan.call, plan.schema
    assert isinstance(call, UserFunctionCall), "table functions are those of users"
    compiled = compile_expressions(call.arguments, session)
    kernel = table_kernel(call, plan.outer, session)

    def step(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        positions, columns = kernel(compiled(batch), batch.num_rows, lambda position: row_of(batch, position))
        rows = taken(batch, positions)
        return batch_of([*rows.columns, *columns], schema, rows.num_rows), positions

    return step


def _window_table(plan: nodes.WindowTable, session: EvaluationContext) -> Step:
    schema = plan.schema

    def step(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, Any]:
        positions, columns = window_columns(plan, batch, session.time_zone)
        rows = taken(batch, positions)
        return batch_of([*rows.columns, *columns], schema, rows.num_rows), positions

    return step
