"""Aggregation of rows by group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from scurry.sql.evaluation.batch.batches import batch_of, taken
from scurry.sql.evaluation.user_functions.aggregate import user_accumulator
from scurry.sql.functions.aggregate.catalogue import lookup_aggregate
from scurry.sql.functions.aggregate.definition import Accumulator, AggregateSite
from scurry.sql.functions.definition import Argument, EvaluationContext
from scurry.sql.functions.keys import first_of_each, group_ids_of
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.plan.expressions import AggregateCall, Expression, InputReference, Literal
from scurry.sql.plan.nodes import Aggregate
from scurry.sql.plan.nodes.aggregates import set_numbers
from scurry.sql.plan.rewriting import input_references, remapped, with_parts
from scurry.sql.plan.schema import Schema
from scurry.sql.types.arrow import arrow_type
from scurry.sql.types.values import from_value, repeated


def aggregated(plan: Aggregate, batch: pa.RecordBatch, session: EvaluationContext) -> Iterator[pa.RecordBatch]:
    """Return a batch for each grouping set.

    Args:
        plan: The aggregation.
    """
    numbers = set_numbers(plan.grouping_sets, len(plan.keys))
    for grouping, number in zip(plan.grouping_sets, numbers, strict=True):
        keys = [batch.column(plan.keys[place]) for place in grouping]
        groups, first = group_ids_of(keys, batch.num_rows)
        count = len(first)
        if not grouping and not count and len(plan.grouping_sets) == 1:
            # Without keys there is a row also for an empty input; Flink has none for one of several grouping sets.
            count, first = 1, np.zeros(0, dtype=np.int64)
        heads = taken(batch, first)
        columns: list[Any] = []
        for place, key in enumerate(plan.keys):
            if place in grouping:
                columns.append(heads.column(key))
            else:
                columns.append(pa.nulls(count, arrow_type(plan.input.schema[key].type)))
        if plan.grouping_id is not None:
            columns.append(pa.repeat(pa.scalar(number, pa.int64()), count))
        columns += [group_values(call, batch, groups, count, session) for call in plan.calls]
        yield batch_of(columns, plan.schema, count)


def group_values(
    call: AggregateCall,
    batch: pa.RecordBatch,
    groups: Any,
    count: int,
    session: EvaluationContext,
    is_over: bool = False,
) -> pa.Array:
    """Return the value of an aggregate for each group.

    Args:
        call: The aggregate, whose arguments are columns.
        groups: For each row the number of its group.
        is_over: Whether it is called with OVER.
    """
    found = accumulator(call, session, is_over)
    return found.result(group_states(found, call, batch, groups, count))


def group_states(found: Accumulator, call: AggregateCall, batch: pa.RecordBatch, groups: Any, count: int) -> list[Any]:
    """Return the state of an aggregate for each group.

    Args:
        found: What computes the aggregate.
        call: The aggregate, whose arguments are columns.
        groups: For each row the number of its group.
    """
    columns, groups = counted_arguments(call, batch, groups, filter_mask(call, batch))
    if call.distinct and columns:
        first = first_of_each(groups, columns[:1] if len(columns) == 1 else columns)
        columns, groups = [each.take(pa.array(first)) for each in columns], groups[first]
    return found.partial(columns, groups, count)


def filter_mask(call: AggregateCall, batch: pa.RecordBatch) -> Any:
    """Return for each row whether FILTER lets it pass; None without FILTER."""
    return None if call.filter is None else np.asarray(argument_column(call.filter, batch).fill_null(False))


def counted_arguments(
    call: AggregateCall, batch: pa.RecordBatch, groups: Any, counted: Any
) -> tuple[list[pa.Array], Any]:
    """Return the arguments of an aggregate, and the groups, of the rows that count.

    Args:
        call: The aggregate, whose arguments are columns.
        groups: For each row the number of its group.
        counted: For each row whether it counts; None if all do.
    """
    columns = [argument_column(each, batch) for each in call.arguments]
    if counted is None or counted.all():
        return columns, groups
    mask = pa.array(counted)
    return [column.filter(mask) for column in columns], groups[counted]


def of_arguments(call: AggregateCall, schema: Schema) -> tuple[list[int], AggregateCall, Schema]:
    """Return the columns of rows that an aggregate has as arguments, and the aggregate over these columns alone.

    Returns:
        The positions of the columns, the aggregate without FILTER and DISTINCT, and the schema of the columns.
    """
    columns = sorted(set().union(*map(input_references, call.arguments)))
    moved = {column: place for place, column in enumerate(columns)}
    bare: AggregateCall = with_parts(replace(call, filter=None, distinct=False), lambda part: remapped(part, moved))
    return columns, bare, schema.select(columns)


def accumulator(call: AggregateCall, session: EvaluationContext, is_over: bool = False) -> Accumulator:
    if isinstance(call.function, UserFunction):
        return user_accumulator(call, session)
    function = lookup_aggregate(call.function)
    assert function is not None and function.make is not None, f"{call.function} is no aggregate of groups"
    arguments = tuple(
        Argument(each.type, True, each.value) if isinstance(each, Literal) else Argument(each.type)
        for each in call.arguments
    )
    return function.make(AggregateSite(call.function, arguments, session, is_over=is_over), call.type)


def argument_column(expression: Expression, batch: pa.RecordBatch) -> pa.Array:
    """Return the column that an argument is: one of the batch, or a literal for all rows."""
    if isinstance(expression, InputReference):
        return batch.column(expression.index)
    assert isinstance(expression, Literal), f"{expression} is no column"
    return repeated(from_value(expression.value, expression.type), batch.num_rows)
