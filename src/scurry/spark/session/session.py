"""Provide the Spark session of a job: the existing one, or a new one with settings for small micro-batches.

`docs/architecture.md`, "What a micro-batch costs", explains the settings.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scurry.common._config.validation import check_master
from scurry.connectors.spark_sink import SparkSink
from scurry.connectors.spark_source import SparkSource
from scurry.graph.plan import JobPlan
from scurry.spark.session.cluster import joining, reach
from scurry.spark.session.jvm_classes.file_system import leave_out_if_missing
from scurry.spark.session.jvm_classes.ml_functions import create_session
from scurry.spark.session.jvm_output import quiet_jvm
from scurry.spark.session.options import QUERY_CONF, session_options
from scurry.spark.session.prewarm import adopt_early_jvm, end_early_jvm
from scurry.spark.session.secret_settings import start_jvm
from scurry.spark.session.setup import prepare_java, tell_start
from scurry.spark.session.shared import mark
from scurry.spark.workers.daemon import modules_of_driver
from scurry.spark.workers.dependencies import provide, stage
from scurry.spark.workers.interpreter import worker_python
from scurry.spark.workers.template import import_in_template, start_template

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session_for(plan: JobPlan) -> Any:
    """Return a session for a job, with its own settings and a shared context.

    It is derived from the session of the job's DataFrames, else from the program's, else from a new one.
    """
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    settings = plan.settings
    present = _session_of_frames(plan) or _session_of_program()
    if present is not None:
        end_early_jvm()
    spark = (present if present is not None else _create(plan)).newSession()
    provide(spark.sparkContext, plan)
    if present is None:
        threading.Thread(target=_warm_up, args=(spark,), name="scurry-warm-up", daemon=True).start()
    for key, value in QUERY_CONF.items():
        spark.conf.set(key, value)
    spark.conf.set("spark.sql.shuffle.partitions", str(settings.parallelism))
    for key, value in settings.configuration.items():
        if key.startswith("spark.sql."):
            spark.conf.set(key, value)
        elif key.startswith("spark.hadoop."):  # Spark reads these only when it starts, which may have been earlier
            spark.conf.set(key.removeprefix("spark.hadoop."), value)
    if present is not None:
        _share_data_sources(present, spark, plan)
    mark(spark)
    return spark


def _share_data_sources(present: Any, own: Any, plan: JobPlan) -> None:
    """Register the Python data sources of the program's session for the job's sinks."""
    theirs, ours = (each._jsparkSession.sessionState().dataSourceManager() for each in (present, own))
    for operator in plan.operators.values():
        sink = getattr(operator.operator, "function", None)
        if isinstance(sink, SparkSink) and theirs.dataSourceExists(sink.format):
            if not ours.dataSourceExists(sink.format):
                ours.registerDataSource(sink.format, theirs.lookupDataSource(sink.format))


def _session_of_frames(plan: JobPlan) -> Any:
    frames = [s.source.dataframe for s in plan.sources.values() if isinstance(s.source, SparkSource)]
    return frames[0].sparkSession if frames else None


def _session_of_program() -> Any:
    """Return the existing session; jobs run in their own threads, where none may be active."""
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() or SparkSession._instantiatedSession


def _create(plan: JobPlan) -> Any:
    """Create a session; the JVM of a bounded job compiles less and starts faster."""
    settings = plan.settings
    configuration = settings.configuration
    # each source that waits (sockets, slow functions) holds a slot: leave some beyond the cores
    slots = max(os.cpu_count() or 1, settings.parallelism) + 3
    master = configuration.get("spark.master", os.environ.get("MASTER", f"local[{slots}]"))
    check_master(master)
    tell_start(configuration, "" if master.startswith("local") else master)
    reach(master)
    stage(master, plan)
    builder = _builder(settings.job_name, master, configuration, plan.bounded)
    if master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        os.environ["PYSPARK_PYTHON"] = worker_python()
        start_template()
        import_in_template(modules_of_driver())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    adopt_early_jvm(builder._options)
    leave_out_if_missing(builder._options)
    with quiet_jvm(), joining(master):
        start_jvm(builder)
        spark = create_session(builder)
    forget_origins(spark)
    return spark


def forget_origins(spark: SparkSession) -> None:
    """Forget which file or call each of Hadoop's settings came from.

    Spark broadcasts the settings in every micro-batch, and Hadoop compresses the origin of each of them by itself: of
    what a micro-batch without records costs the JVM, that is a twentieth.
    """
    from py4j.protocol import Py4JError

    context: Any = spark.sparkContext
    settings = context._jsc.hadoopConfiguration()
    try:
        origins = settings.getClass().getDeclaredField("updatingResource")
        origins.setAccessible(True)
        # not `clear()`: Py4J would remove the 600 entries one by one
        origins.set(settings, context._jvm.java.util.concurrent.ConcurrentHashMap())
    except Py4JError:
        return  # another version of Hadoop: the settings are the same with their origins


def _builder(name: str, master: str, configuration: Mapping[str, str], bounded: bool) -> Any:
    from pyspark.sql import SparkSession

    prepare_java()
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in session_options(master, configuration, bounded).items():
        builder = builder.config(key, value)
    return builder


def _warm_up(spark: SparkSession) -> None:
    """Start the Python daemon and load the modules of every stage while the driver still plans the first job."""
    try:
        spark.range(0, 2, 1, 2).mapInArrow(_same, "id long").collect()
    except Exception:  # the job itself reports errors of the session better
        return


def _same(batches: Any) -> Any:
    return batches
