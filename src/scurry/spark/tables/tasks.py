"""Parts of plans that run in Python tasks, on the Arrow batches of a DataFrame."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from scurry.common.config_options import PARALLELISM
from scurry.common.pickling import by_value
from scurry.errors import ScurryError
from scurry.graph.dependencies import WorkerSetup
from scurry.spark.tables.types import from_spark, to_spark
from scurry.spark.workers.instances import mark
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.functions.user.context import FunctionContext
from scurry.sql.plan.nodes import Plan, Scan
from scurry.sql.plan.schema import Schema

if TYPE_CHECKING:
    from scurry.spark.tables.counting import TaskCounts
    from scurry.sql.connectors.contract import TableSource

Batches = Iterator[pa.RecordBatch]


def placeholder(schema: Schema, number: int = 0) -> Scan:
    """Return the node that stands for an input of a task."""
    return Scan(("", "", f"input {number}"), number, schema, tuple(range(len(schema))))


def run_on_batches(
    plan: Plan, session: EvaluationContext, schema: Schema, counts: TaskCounts | None = None
) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow` that runs a plan on the rows of a partition.

    Args:
        plan: The plan; its only scan is the placeholder of its input.
        schema: The columns of the input.
        counts: What its tasks count; None for nothing.
    """
    shipped = Shipped((plan, session, schema))

    def run(batches: Batches) -> Batches:
        plan, session, schema = shipped.load()
        yield from _executed(plan, session, lambda scan: (from_spark(batch, schema) for batch in batches), counts)

    return run


def run_on_splits(
    plan: Plan,
    session: EvaluationContext,
    source: TableSource,
    columns: Sequence[str],
    splits: Sequence[Any],
    counts: TaskCounts | None = None,
) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow` that reads splits and runs a plan on their rows.

    Args:
        plan: The plan; its only scan is the one that is read.
        splits: All splits; the input's rows are numbers of splits.
        counts: What its tasks count; None for nothing.
    """
    shipped = Shipped((source, list(splits), plan, session))

    def run(batches: Batches) -> Batches:
        reader, found, plan, session = shipped.load()

        def read(scan: Scan) -> Batches:
            for batch in batches:
                for number in batch.column(0).to_pylist():
                    for changes in reader.read(found[number], columns):
                        if counts is not None:
                            counts.count(counts.read, "numRecordsOut", changes.record_count)
                        yield changes.batch

        yield from _executed(plan, session, read, counts)

    return run


def run_on_pairs(
    plan: Plan, session: EvaluationContext, schemas: Sequence[Schema], counts: TaskCounts | None = None
) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """Return a function for `cogroup(...).applyInArrow` that runs a plan on the two inputs of a group.

    Args:
        plan: The plan; its scans are the placeholders 0 and 1.
        counts: What its tasks count; None for nothing.
    """
    width = [max(len(schema), 1) for schema in schemas]
    shipped = Shipped((plan, session, schemas))

    def run(left: pa.Table, right: pa.Table) -> pa.Table:
        plan, session, schemas = shipped.load()
        # columns after those of the plan only group the rows
        tables = [left.select(range(width[0])), right.select(range(width[1]))]

        def read(scan: Scan) -> Batches:
            for batch in tables[scan.table].to_batches():
                yield from_spark(batch, schemas[scan.table])

        from scurry.sql.evaluation.batch.batches import empty

        batches = list(_executed(plan, session, read, counts)) or [to_spark(empty(plan.schema), plan.schema)]
        return pa.Table.from_batches(batches)

    return run


def writing(write: Callable[[int, Batches], Any], schema: Schema) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow` that writes the rows of a partition and returns the writer's result, pickled.

    Args:
        write: Writes the rows of a task.
    """

    def run(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None, "a task has a context"
        with _marked():
            written = write(context.partitionId(), (from_spark(batch, schema) for batch in batches))
        yield pa.RecordBatch.from_pydict({"written": pa.array([pickle.dumps(written, 5)], pa.binary())})

    return run


def _executed(
    plan: Plan, session: EvaluationContext, read: Callable[[Scan], Batches], counts: TaskCounts | None = None
) -> Batches:
    from scurry.sql.evaluation.batch.executor import execute_batch

    with _marked(), nullcontext() if counts is None else counts.reporting():
        for batch in execute_batch(plan, session, read, _function_context(session, counts)):
            if counts is not None:
                counts.count(counts.out, "numRecordsOut", batch.num_rows)
            yield to_spark(batch, plan.schema)


def _function_context(session: EvaluationContext, counts: TaskCounts | None) -> FunctionContext:
    from pyspark import TaskContext

    from scurry.runtime.functions.metrics import unreported_metrics
    from scurry.sql.evaluation.user_functions.opened import job_parameters

    context = TaskContext.get()
    assert context is not None, "a task has a context"
    subtask = context.partitionId()
    return FunctionContext(
        unreported_metrics(subtask) if counts is None else counts.metric_group(subtask),
        _job_parameters=job_parameters(session),
        _parallelism=session.get(PARALLELISM) or os.cpu_count() or 1,
        _subtask=subtask,
        _attempt=context.attemptNumber(),
    )


@contextmanager
def _marked() -> Iterator[None]:
    """Make errors of scurry survive Spark's error handling."""
    try:
        yield
    except ScurryError as error:
        raise RuntimeError(mark(error)) from error


_setup: ContextVar[WorkerSetup | None] = ContextVar("setup", default=None)


@contextmanager
def preparing_workers(setup: WorkerSetup) -> Iterator[None]:
    """Ship objects meanwhile with the setup that their workers need."""
    token = _setup.set(setup)
    try:
        yield
    finally:
        _setup.reset(token)


class Shipped:
    """A value that was pickled on the driver, with the setup of its worker."""

    def __init__(self, value: Any) -> None:
        self._pickled = by_value(value)
        self._setup = _setup.get() or WorkerSetup()
        # the program imports scurry as pyflink, so that workers must, too
        self._aliased = "scurry.pyflink_alias" in sys.modules

    def load(self) -> Any:
        """Return a copy of the value, in a worker."""
        if self._aliased:
            import scurry.pyflink_alias  # noqa: F401
        self._setup.activate(_downloads)
        return pickle.loads(self._pickled)


def _downloads() -> str:
    from pyspark import SparkFiles

    return SparkFiles.getRootDirectory()
