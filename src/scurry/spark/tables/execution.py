"""Plans executed on Spark in BATCH."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any

from scurry.graph.plan import JobPlan
from scurry.graph.settings import JobSettings
from scurry.spark.interrupting import interruptible
from scurry.spark.session.adaptive_execution import adaptive_session_for
from scurry.spark.tables.counting import Counting
from scurry.spark.tables.lowering import lowered
from scurry.spark.tables.results import collected
from scurry.spark.tables.scans import save
from scurry.spark.tables.tasks import preparing_workers, writing
from scurry.spark.tables.types import from_spark, own_column
from scurry.spark.workers.dependencies import setup_of
from scurry.spark.workers.failures import failure_of, noticing_lost_spark
from scurry.sql.functions.definition import EvaluationContext
from scurry.sql.plan.nodes import Plan, Scan

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from scurry.runtime.driver.job import JobExecution
    from scurry.sql.connectors.contract import TableSource
    from scurry.sql.connectors.spark import SparkTableSink

#: Settings that the lowering assumes of the session.
_CONFIGURATION = {
    "spark.sql.ansi.enabled": "false",  # whole numbers wrap, decimals that do not fit are NULL
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}


@contextmanager
def running_on_spark(job: JobExecution, numbers: Mapping[int, int], functions: int) -> Iterator[Counting]:
    """Let a BATCH job run plans on Spark within a `with` block, which end when the job is stopped.

    Args:
        numbers: As for `Counting`.
        functions: As for `Counting`.

    Yields:
        What counts the rows of the plans.

    Raises:
        JobCancelledError: It was stopped.
    """
    spark = _spark(job.plan.settings)
    context = spark.sparkContext
    job.spark_ui = context.uiWebUrl
    counting = Counting(spark, numbers, functions)
    try:
        with interruptible(job, context, counting.counters):
            yield counting
    finally:
        counting.close()


@noticing_lost_spark()
def execute_on_spark(
    plan: Plan,
    session: EvaluationContext,
    settings: JobSettings,
    source_of: Callable[[Scan], TableSource],
    counting: Counting | None = None,
) -> Iterator[pa.RecordBatch]:
    """Execute a plan as one Spark job.

    Args:
        plan: The plan, as the rules leave it.
        settings: Parallelism, and what the Spark session is configured with.
        counting: Counts the rows, and has the session; None for nothing.

    Returns:
        The rows, in the plan's order.

    Raises:
        EvaluationError: A function has no result for a value.
        UnsupportedError: BATCH cannot execute the plan.
        SparkFailedError: Spark failed.
    """
    frame = _frame(plan, session, settings, source_of, counting)
    return _collected(frame, plan)


@noticing_lost_spark()
def frame_on_spark(
    plan: Plan, session: EvaluationContext, settings: JobSettings, source_of: Callable[[Scan], TableSource]
) -> DataFrame:
    """Return the DataFrame of a plan, which Spark executes when it is used.

    Args:
        plan: The plan, as the rules leave it.
        settings: Parallelism, and what the Spark session is configured with.
    """
    frame = _frame(plan, session, settings, source_of)
    columns = [own_column(frame[name], column.type) for name, column in zip(frame.columns, plan.schema, strict=False)]
    return frame.select(*columns).toDF(*plan.schema.names)


def frame_of_arrow(table: pa.Table, settings: JobSettings) -> DataFrame:
    return _spark(settings).createDataFrame(table)


@noticing_lost_spark()
def write_on_spark(
    plan: Plan,
    session: EvaluationContext,
    settings: JobSettings,
    source_of: Callable[[Scan], TableSource],
    write: Callable[[int, Iterator[pa.RecordBatch]], Any],
    counting: Counting | None = None,
) -> list[Any]:
    """Execute a plan as one Spark job whose tasks write its rows.

    Args:
        plan: The plan, as the rules leave it.
        settings: Parallelism, and what the Spark session is configured with.
        write: Writes the rows of a task; gets its number. It is picklable.
        counting: Counts the rows, and has the session; None for nothing.

    Returns:
        What `write` has returned in each task.

    Raises:
        EvaluationError: A function has no result for a value.
        UnsupportedError: BATCH cannot execute the plan.
        SparkFailedError: Spark failed.
    """
    frame = _frame(plan, session, settings, source_of, counting)
    try:
        rows = frame.mapInArrow(writing(write, plan.schema), "written binary").collect()
    except Exception as error:
        raise failure_of(error) from error
    return [pickle.loads(row[0]) for row in rows]


@noticing_lost_spark()
def save_on_spark(
    plan: Plan,
    session: EvaluationContext,
    settings: JobSettings,
    source_of: Callable[[Scan], TableSource],
    sink: SparkTableSink,
    checked: Callable[[pa.RecordBatch], pa.RecordBatch] | None,
    counting: Counting | None = None,
) -> int:
    """Execute a plan as one Spark job that writes its rows in a format of Spark.

    Args:
        plan: The plan, as the rules leave it.
        settings: Parallelism, and what the Spark session is configured with.
        checked: A function that is applied to all rows, in the tasks; None for none. It is picklable.
        counting: Counts the rows, and has the session; None for nothing.

    Returns:
        How many rows were written.

    Raises:
        EvaluationError: A function has no result for a value.
        UnsupportedError: BATCH cannot execute the plan.
        SparkFailedError: Spark failed.
    """
    frame = _frame(plan, session, settings, source_of, counting)
    try:
        return save(frame, plan.schema, sink, checked)
    except Exception as error:
        raise failure_of(error) from error


def _frame(
    plan: Plan,
    session: EvaluationContext,
    settings: JobSettings,
    source_of: Callable[[Scan], TableSource],
    counting: Counting | None = None,
) -> DataFrame:
    """Return the DataFrame of a plan, whose columns are those that the lowering makes."""
    spark = _spark(settings) if counting is None else counting.spark
    with preparing_workers(setup_of(JobPlan(settings))):
        return lowered(plan, spark, session, source_of, counting)


def _spark(settings: JobSettings) -> SparkSession:
    return adaptive_session_for(JobPlan(settings), _CONFIGURATION)


def _collected(frame: DataFrame, plan: Plan) -> Iterator[pa.RecordBatch]:
    rows = collected(frame)
    try:
        first = next(rows, None)
    except Exception as error:
        raise failure_of(error) from error
    for batch in () if first is None else chain([first], rows):
        yield from_spark(batch, plan.schema)
