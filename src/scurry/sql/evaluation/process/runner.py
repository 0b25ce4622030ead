"""ProcessRunner: calls a process table function for rows and timers, and gathers the rows it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import pyarrow as pa

from scurry.common.types import Row, RowKind
from scurry.errors import EvaluationError, TypeMismatchError
from scurry.sql.evaluation.batch.batches import batch_of, milliseconds, single_row
from scurry.sql.evaluation.expressions import compile_expressions, row_of
from scurry.sql.evaluation.user_functions.arguments import opened, result_column
from scurry.sql.evaluation.user_functions.failures import function_error
from scurry.sql.evaluation.user_functions.table import as_returned, fields_of, results_of
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.functions.user.process_context import Context, OnTimerContext, Partition, TableSemantics
from scurry.sql.plan.process_tables import ProcessTableFunction
from scurry.sql.plan.schema import Schema
from scurry.sql.types import DayTimeIntervalType, RowField, RowType
from scurry.sql.types.values import from_values, to_values
from scurry.sql.values.arguments import python_values
from scurry.sql.values.records import record_values
from scurry.sql.values.results import ResultColumn


class StatefulPartition(Partition, Protocol):
    """A partition as the runner needs it."""

    @property
    def values(self) -> list[Any]:
        """The values of the state's entries, in their order."""
        ...

    def called(self) -> None:
        """Drop the state that the call has cleared."""


class TableRows:
    """Some rows of a table, as the function takes them."""

    def __init__(self, runner: ProcessRunner, index: int, batch: pa.RecordBatch, kinds: Any = None) -> None:
        """Convert all columns at once; rows have kinds of changes, unless all are inserted."""
        plan, schema = runner.plan, runner.plan.sources[index].schema
        self.index = index
        self.batch = batch
        names, zone = tuple(schema.names), runner.session.time_zone
        columns = [python_values(column, each.type, zone) for column, each in zip(batch.columns, schema, strict=True)]
        found: list[Any] = Row._from_many(zip(*columns, strict=True), names)
        if kinds is not None:
            for row, kind in zip(found, kinds, strict=True):
                row.set_row_kind(RowKind(int(kind)))
        self.times: list[int] | None = None
        passed: Sequence[int] = ()
        if plan.tables:
            table, maker = plan.tables[index], plan.signature.tables[index].maker
            found = found if maker is None else [maker(row) for row in found]
            passed = range(len(schema)) if table.passes_through else table.partition_by
            self.times = None if table.time is None else _times(batch.column(table.time))
        self.rows = found or [None] * batch.num_rows
        values = [to_values(batch.column(place)) for place in passed]
        self.passed: list[tuple[Any, ...]] = list(zip(*values, strict=True)) if values else [()] * batch.num_rows

    def describe(self, position: int) -> Any:
        return row_of(self.batch, position)


class ProcessRunner:
    """Calls a function; `take` returns the rows it has made since."""

    def __init__(self, plan: ProcessTableFunction, session: EvaluationContext) -> None:
        """Open the function.

        Args:
            plan: The call; of its inputs only the columns matter.
            session: The session, with the functions of the task.
        """
        self.plan = plan
        self.session = session
        self._function: UserFunction = plan.function
        self._signature = plan.signature
        instance = opened(plan.function, session)
        self._eval = instance.eval
        self._on_timer = getattr(instance, "on_timer", None)
        semantics = {
            table.name: TableSemantics(_row_type(source.schema), table.partition_by, table.time)
            for table, source in zip(plan.tables, plan.sources, strict=False)
        }
        states = tuple(each.name for each in self._signature.states)
        self._context = Context(semantics, states, plan.has_timers)
        self._timer_context = OnTimerContext(semantics, states, plan.has_timers)
        self._scalars = iter(_scalar_values(plan, session))
        self._arguments = self._placed()
        self._table_places = [place for place, each in enumerate(self._signature.arguments) if each.is_table]
        self._passes_through = any(each.passes_through for each in plan.tables)
        self._width = len(plan.schema) - plan.has_time
        own = len(_columns_of(plan.function))
        self._first = self._width - own
        self._converters = [ResultColumn(each.type) for each in tuple(plan.schema)[self._first : self._width]]
        #: how often the keys stand before the columns of the function
        self._copies = sum(1 for each in plan.tables if each.partition_by)
        self._passed: list[tuple[Any, ...]] = []
        self._results: list[Sequence[Any]] = []
        self._times: list[int | None] = []
        self._described: list[Callable[[], Any]] = []

    def _placed(self) -> list[Any]:
        """Return the arguments of calls, None for tables."""
        return [None if each.is_table else next(self._scalars) for each in self._signature.arguments]

    def eval(self, rows: TableRows, position: int, partition: StatefulPartition | None, watermark: int | None) -> None:
        """Call the function for a row."""
        arguments, context = list(self._arguments), self._context
        if self.plan.tables:
            arguments[self._table_places[rows.index]] = rows.rows[position]
        time = None if rows.times is None else rows.times[position]
        context._partition, context._time, context._watermark = partition, time, watermark
        given = [context] if self._signature.takes_context else []
        passed = rows.passed[position]
        if not self._passes_through:
            passed = passed * self._copies
        self._call(self._eval, [*given, *_values(partition), *arguments], passed, time, lambda: rows.describe(position))
        if partition is not None:
            partition.called()

    def on_timer(
        self, partition: StatefulPartition, keys: tuple[Any, ...], time: int, name: str | None, watermark: int
    ) -> None:
        """Call the function for a timer.

        Args:
            keys: The values of the columns of PARTITION BY.
            time: When the timer was to fire.
            watermark: The watermark that fires it.
        """
        context = self._timer_context
        context._partition, context._time, context._watermark = partition, time, watermark
        context._name = name
        given = [context] if self._signature.timer_takes_context else []
        assert self._on_timer is not None, "timers are registered by functions that handle them"
        shown = {"timer": name, "time": time, "key": keys}
        self._call(self._on_timer, [*given, *_values(partition)], keys * self._copies, time, lambda: shown)
        partition.called()

    def _call(
        self, method: Any, arguments: Sequence[Any], passed: tuple[Any, ...], time: int | None, describe: Any
    ) -> None:
        width = len(self._converters)
        try:
            for each in results_of(method(*arguments)):
                fields = fields_of(each) if isinstance(self._function.result_type, RowType) else (each,)
                if len(fields) != width:
                    raise TypeMismatchError(
                        self._function.result_type.as_summary_string(),
                        each,
                        f"{width} columns are declared, got {len(fields)}",
                    )
                self._passed.append(passed)
                self._results += as_returned(self._converters, (fields,))
                self._times.append(time)
                self._described.append(describe)
        except Exception as error:
            raise function_error(self._function, error, describe()) from error

    def take(self) -> pa.RecordBatch | None:
        """Return the rows made since the last call, or None."""
        if not self._results:
            return None
        passed, results, times, described = self._passed, self._results, self._times, self._described
        self._passed, self._results, self._times, self._described = [], [], [], []
        schema = self.plan.schema
        columns = [from_values([each[place] for each in passed], schema[place].type) for place in range(self._first)]
        columns += [
            result_column(
                self._function, one, [each[place] for each in results], lambda position: described[position]()
            )
            for place, one in enumerate(self._converters)
        ]
        if self.plan.has_time:
            columns.append(from_values(times, schema[self._width].type))
        return batch_of(columns, schema, len(results))


def _values(partition: StatefulPartition | None) -> list[Any]:
    return [] if partition is None else partition.values


def _columns_of(function: UserFunction) -> list[Any]:
    return function.columns if isinstance(function.result_type, RowType) else [None]


def _row_type(schema: Schema) -> RowType:
    return RowType([RowField(each.name, each.type) for each in schema])


def _times(column: pa.Array) -> list[int]:
    if column.null_count:
        raise EvaluationError("RowTime field should not be null, please convert it to a non-null long value.")
    found: list[int] = milliseconds(column).tolist()
    return found


def _scalar_values(plan: ProcessTableFunction, session: EvaluationContext) -> list[Any]:
    columns = compile_expressions(plan.scalars, session)(single_row()) if plan.scalars else []
    found = []
    for column, expression, declared in zip(columns, plan.scalars, plan.signature.scalars, strict=True):
        if isinstance(expression.type, DayTimeIntervalType):
            value = record_values(column, expression.type)[0]
        else:
            value = python_values(column, expression.type, session.time_zone)[0]
        found.append(value if declared.maker is None or value is None else declared.maker(value))
    return found
