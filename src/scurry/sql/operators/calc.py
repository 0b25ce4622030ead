"""The functions of operators that need only the rows at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.common.types import RowKind
from scurry.runtime.exchange.wire import MIN_TIME
from scurry.sql.connectors.contract import Changes
from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.row_wise import Step, compile_step
from scurry.sql.evaluation.user_functions.opened import OpenFunctions, job_parameters
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.context import FunctionContext
from scurry.sql.plan.nodes import Plan
from scurry.sql.plan.physical.aggregates import Expand


class Calc:
    """Apply row-wise operations one after the other."""

    def __init__(self, steps: Sequence[Plan], session: EvaluationContext) -> None:
        self._steps = tuple(steps)
        self._session = session
        self._compiled: list[Step] = []
        self._functions = OpenFunctions()

    #: Returns the watermark for the operations that read it.
    watermark: Callable[[], int | None] | None = None

    def open(self, context: Any) -> None:
        """Compile the operations."""
        self._functions = OpenFunctions(function_context(context, self._session))
        session = replace(self._session, functions=self._functions, watermark=self.watermark)
        self._compiled = [compile_step(step, session) for step in self._steps]

    def close(self) -> None:
        """Close the user-defined functions."""
        self._functions.close()

    def flat_map(self, changes: Changes) -> list[Changes]:
        """Return the rows that some rows become."""
        batch, kinds = changes.batch, changes.kinds
        for step in self._compiled:
            batch, positions = step(batch)
            if not batch.num_rows:
                return []
            if kinds is not None and positions is not None:
                kinds = kinds[positions]
        return [Changes(batch, kinds)]


class CalcWithWatermark(Calc):
    """Apply row-wise operations of which some call CURRENT_WATERMARK: a process function."""

    def open(self, context: Any) -> None:
        """Compile the operations."""
        self._reached = MIN_TIME
        self.watermark = lambda: None if self._reached == MIN_TIME else self._reached
        super().open(context)

    def process_element(self, changes: Changes, context: Any) -> list[Changes]:
        """Return the rows that some rows become."""
        self._reached = context.timer_service().current_watermark()
        return self.flat_map(changes)


class DropUpdateBefore:
    """Drop the rows before updates, which the consumers do not need."""

    def flat_map(self, changes: Changes) -> list[Changes]:
        if changes.kinds is None:
            return [changes]
        kept = np.flatnonzero(changes.kinds != RowKind.UPDATE_BEFORE.value)
        if len(kept) == len(changes.kinds):
            return [changes]
        return [Changes(taken(changes.batch, kept), changes.kinds[kept])] if len(kept) else []


class SelectColumns:
    """Select columns by position, and give them the types of a schema."""

    def __init__(self, positions: Sequence[int], plan: Plan) -> None:
        self._positions = tuple(positions)
        self._schema = plan.schema

    def map(self, changes: Changes) -> Changes:
        batch = changes.batch
        columns = [batch.column(position) for position in self._positions]
        return Changes(batch_of(columns, self._schema, batch.num_rows), changes.kinds)


def function_context(context: Any, session: EvaluationContext) -> FunctionContext:
    """Return the context of a task for user-defined functions."""
    return FunctionContext(
        context.get_metrics_group(),
        job_parameters(session),
        context.get_task_name(),
        context.get_number_of_parallel_subtasks(),
        context.get_max_number_of_parallel_subtasks(),
        context.get_index_of_this_subtask(),
        context.get_attempt_number(),
    )


class ExpandRows:
    """Repeat each row for each grouping set."""

    def __init__(self, plan: Expand) -> None:
        self._plan = plan

    def map(self, changes: Changes) -> Changes:
        plan, sets = self._plan, len(self._plan.grouping_sets)
        rows = changes.batch.num_rows
        positions = np.repeat(np.arange(rows), sets)
        batch = taken(changes.batch, positions)
        columns: list[Any] = list(batch.columns)
        for place, key in enumerate(plan.keys):
            absent = np.tile([place not in each for each in plan.grouping_sets], rows)
            column = batch.column(key)
            source = pa.array(np.arange(len(positions)), mask=absent)
            columns.append(column.take(source))
        columns.append(pa.array(np.tile(plan.numbers, rows), pa.int64()))
        kinds = None if changes.kinds is None else np.asarray(changes.kinds)[positions]
        return Changes(batch_of(columns, plan.schema, len(positions)), kinds)
