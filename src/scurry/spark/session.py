"""The Spark session scurry runs on: the one that is there, or a new one with settings made for small micro-batches.

Where the settings come from: `docs/architecture.md`, "What a micro-batch costs".
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

from scurry.graph.settings import JobSettings
from scurry.spark.java import ensure_java
from scurry.spark.jvm_output import quiet_jvm

_STREAMING = "org.apache.spark.sql.execution.streaming"

#: Settings a streaming query reads when it starts; they work on any session.
QUERY_CONF = {
    "spark.sql.streaming.stateStore.providerClass": f"{_STREAMING}.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "1000000",
}

#: Settings only a session of our own can have.
SESSION_CONF = {
    "spark.sql.streaming.checkpointFileManagerClass": f"{_STREAMING}.checkpointing.FileSystemBasedCheckpointFileManager",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.daemon.module": "scurry.spark.daemon",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.locality.wait": "0",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.broadcast.UDFCompressionThreshold": str(512 * 1024 * 1024),
    "spark.driver.memory": "2g",
}


def session_for(settings: JobSettings) -> Any:
    """The session a job runs on, as a session of its own (own settings, shared context)."""
    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    active = SparkSession.getActiveSession()
    spark = (active if active is not None else _create(settings)).newSession()
    for key, value in QUERY_CONF.items():
        spark.conf.set(key, value)
    spark.conf.set("spark.sql.shuffle.partitions", str(settings.parallelism))
    for key, value in settings.configuration.items():
        if key.startswith("spark.sql."):
            spark.conf.set(key, value)
    return spark


def _create(settings: JobSettings) -> Any:
    from pyspark.sql import SparkSession

    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    configuration = settings.configuration
    builder = SparkSession.builder.appName(settings.job_name)
    # sources that wait (sockets, slow functions) hold a slot each: leave some beyond the cores
    slots = max(os.cpu_count() or 1, settings.parallelism) + 3
    builder = builder.master(configuration.get("spark.master", os.environ.get("MASTER", f"local[{slots}]")))
    for key, value in {**SESSION_CONF, **QUERY_CONF}.items():
        builder = builder.config(key, value)
    options = " ".join([*_jvm_options(), configuration.get("spark.driver.extraJavaOptions", "")]).strip()
    for key, value in configuration.items():
        if key.startswith("spark."):
            builder = builder.config(key, value)
    builder = builder.config("spark.driver.extraJavaOptions", options)
    with quiet_jvm():
        spark = builder.getOrCreate()
    return spark


def _jvm_options() -> list[str]:
    from scurry.spark.cds import cds_options

    log4j = Path(__file__).with_name("log4j2.properties")
    return [f"-Dlog4j2.configurationFile={log4j.as_uri()}", "-XX:+UseParallelGC", *cds_options()]
