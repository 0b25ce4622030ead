"""Operations that need only one batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.batch.unnesting import unnested
from scurry.sql.evaluation.batch.windows import window_columns
from scurry.sql.evaluation.expressions import compile_expressions, row_of
from scurry.sql.evaluation.user_functions.table import table_kernel
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan import nodes as nodes
from scurry.sql.plan.expressions import Expression, UserFunctionCall
from scurry.sql.plan.nodes import Plan

#: Makes of a batch the rows of a node, with the positions of the input's rows they are of; None for the same rows.
Step: TypeAlias = Callable[[pa.RecordBatch], tuple[pa.RecordBatch, Any]]

#: The nodes that `compile_row_wise` takes.
ROW_WISE = (nodes.Project, nodes.Filter, nodes.Unnest, nodes.TableFunctionScan, nodes.WindowTable)


def compile_row_wise(plan: Plan, session: EvaluationContext) -> Callable[[pa.RecordBatch], pa.RecordBatch]:
    """Return the function from a batch of a node's input to the node's rows, once per task.

    Args:
        plan: One of `ROW_WISE`; its input matters only by its columns.
        session: The session.
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
