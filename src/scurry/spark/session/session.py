"""Provide the Spark session of a job: the existing one, or a new one with settings for small micro-batches.

`docs/architecture.md`, "What a micro-batch costs", explains the settings.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scurry.common._config.spark_master import check_master
from scurry.connectors.spark_sink import SparkSink
from scurry.connectors.spark_source import SparkSource
from scurry.directories import socket_directory
from scurry.graph.plan import JobPlan
from scurry.spark.session.cluster import joining, reach
from scurry.spark.session.java import ensure_java
from scurry.spark.session.jvm_output import quiet_jvm
from scurry.spark.session.secret_settings import start_jvm
from scurry.spark.workers.daemon import MODULES, modules_of_driver
from scurry.spark.workers.dependencies import provide, stage
from scurry.spark.workers.interpreter import worker_python
from scurry.spark.workers.template import import_in_template, start_template

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STREAMING = "org.apache.spark.sql.execution.streaming"

#: Settings that a streaming query reads when it starts; they take effect on any session.
QUERY_CONF = {
    "spark.sql.streaming.stateStore.providerClass": f"{_STREAMING}.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.adaptive.enabled": "false",
    # if true, an environment variable of transformWithState's workers differs, so that Spark starts two daemons
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
}

#: Settings that take effect only on a session that scurry creates.
SESSION_CONF = {
    "spark.sql.streaming.checkpointFileManagerClass": (
        f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.daemon.module": "scurry.spark.workers.daemon",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.locality.wait": "0",
    # let a barrier stage that needs more slots than are left fail after seconds, not after ten minutes
    "spark.scheduler.barrier.maxConcurrentTasksCheck.interval": "1s",
    "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures": "3",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.broadcast.UDFCompressionThreshold": str(512 * 1024 * 1024),
    "spark.driver.memory": "2g",
}


def session_for(plan: JobPlan) -> Any:
    """Return a session for a job, with its own settings and a shared context.

    It is derived from the session of the job's DataFrames, else from the program's, else from a new one.
    """
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    settings = plan.settings
    present = _session_of_frames(plan) or _session_of_program()
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
    reach(master)
    stage(master, plan)
    builder = _builder(settings.job_name, master, configuration, plan.bounded)
    if master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        os.environ["PYSPARK_PYTHON"] = worker_python()
        start_template()
        import_in_template(modules_of_driver())
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    with quiet_jvm(), joining(master):
        start_jvm(builder)
        return builder.getOrCreate()


def reading_session() -> Any:
    """Return a session of one thread, for a process that only reads state."""
    with quiet_jvm():
        return _builder("savepoint", "local[1]", {}, bounded=True).getOrCreate()


def _builder(name: str, master: str, configuration: Mapping[str, str], bounded: bool) -> Any:
    from pyspark.sql import SparkSession

    ensure_java()
    builder = SparkSession.builder.appName(name).master(master)
    for key, value in {**SESSION_CONF, **QUERY_CONF}.items():
        builder = builder.config(key, value)
    if master.startswith("local"):
        # a worker's socket has no other access control than its directory
        builder = builder.config("spark.python.unix.domain.socket.dir", str(socket_directory()))
    builder = builder.config(f"spark.executorEnv.{MODULES}", modules_of_driver())
    options = " ".join([*_jvm_options(bounded), configuration.get("spark.driver.extraJavaOptions", "")]).strip()
    for key, value in configuration.items():
        if key.startswith("spark."):
            builder = builder.config(key, value)
    return builder.config("spark.driver.extraJavaOptions", options)


def _warm_up(spark: SparkSession) -> None:
    """Start the Python daemon and load what every stage needs while the driver still plans the first job."""
    try:
        spark.range(0, 2, 1, 2).mapInArrow(_same, "id long").collect()
    except Exception:  # the job itself reports errors of the session better
        return


def _same(batches: Any) -> Any:
    return batches


def _jvm_options(bounded: bool) -> list[str]:
    from scurry.spark.session.cds import cds_options

    log4j = Path(__file__).with_name("log4j2.properties")
    # most bounded jobs end before the optimizing compiler pays off; on few cores that compiler and parallel collectors
    # compete with the batches while the job warms up
    simple = bounded or (os.cpu_count() or 1) <= 2
    speed = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if simple else ["-XX:+UseParallelGC"]
    # -Xss: Spark's regular expressions recurse over error messages: a long one must not overflow the stack
    # -Xms: begin with a small heap that grows as needed: by default it begins with a 64th of the machine, and fills it
    return [f"-Dlog4j2.configurationFile={log4j.as_uri()}", "-Xss4m", "-Xms160m", *speed, *cds_options()]
