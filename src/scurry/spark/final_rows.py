"""Collect the rows for the driver at the end of a job, and write the records of Spark's own sinks with Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scurry.connectors.spark_sink import SparkSink
from scurry.graph.operators import Sink
from scurry.graph.plan import JobPlan, OperatorPlan
from scurry.runtime.exchange.wire import REPORT, SINK, WireRow, unpack
from scurry.runtime.failure import operator_error
from scurry.spark.session.jvm_classes.collect_rows import collect_frame
from scurry.spark.session.lake_packages import advising
from scurry.spark.workers.instances import Job, WorkerTask, instances, rows_of

Collect = Callable[[Any], list[WireRow]]


def final_rows(frame: Any, plan: JobPlan, job: Job, collect: Collect = collect_frame) -> list[WireRow]:
    """Write the records for Spark's own sinks and return the rows for the driver.

    Args:
        frame: The rows that the last level sends.
        job: The job, as workers know it.
        collect: Collects the frame if no sink is Spark's.
    """
    sinks = [op for op in plan.operators.values() if isinstance(op.operator, Sink) and not op.operator.function.native]
    if not sinks:
        return collect(frame)
    frame.persist()  # read once for the driver and once per sink, computed once
    try:
        rows = collect_frame(frame.where(f"kind <> {SINK}"))
        reached = _sinks_reached(rows)
        for op in sinks:
            if op.id in reached:  # writing nothing would still leave empty files, or empty the target
                with advising(op.operator.function.format):
                    _write(frame.where(f"kind = {SINK} and port = {op.id}"), op, job)
        return rows
    finally:
        frame.unpersist()


def _sinks_reached(rows: list[WireRow]) -> set[int]:
    counters = (unpack(row.block).counters for row in rows if row.kind == REPORT)
    return {
        number
        for counted in counters
        for (number, metric), count in counted.items()
        if metric == "numRecordsIn" and count
    }


def _write(frame: Any, op: OperatorPlan, job: Job) -> None:
    sink: SparkSink = op.operator.function
    schema = ", ".join(f"`{name.replace('`', '``')}` {kind}" for name, kind in sink.schema)
    session = frame.sparkSession
    zone = session.conf.get("spark.sql.session.timeZone")
    # Spark looks for Python data sources in the thread's session, not in the frame's
    getattr(session._jvm, "org.apache.spark.sql.classic.SparkSession").setActiveSession(session._jsparkSession)
    decoded = frame.mapInArrow(_decode(job, op.id, schema, zone), schema)
    decoded.write.format(sink.format).options(**sink.options).mode(sink.mode).save()


def _decode(job: Job, number: int, schema: str, zone: str) -> Any:
    """Return a function that converts the records of a sink to rows of its columns."""
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    parsed = StructType.fromDDL(schema)
    assert isinstance(parsed, StructType)
    columns = to_arrow_schema(parsed, timezone=zone)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        with WorkerTask(job):
            plan = instances(job).plan.operators[number]
            for batch in batches:
                for row in rows_of(batch, WireRow):
                    values, _ = unpack(row.block)
                    try:
                        converted = plan.operator.function.record_batch(values, columns)
                    except Exception as error:
                        hint = f"the sink's columns are {schema}"
                        raise operator_error(plan, error, values[0], hint) from error
                    yield converted

    return run
