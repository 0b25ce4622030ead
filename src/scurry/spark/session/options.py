"""The settings of the sessions that scurry makes; `docs/architecture.md`, "What a micro-batch costs", explains them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from scurry.common._process.directories import socket_directory
from scurry.spark.session.cds import cds_options
from scurry.spark.session.java import ALLOCATOR
from scurry.spark.session.jvm_classes.file_system import file_system_options
from scurry.spark.session.jvm_classes.jar import CLASS_PATH
from scurry.spark.workers.daemon import MODULES, modules_of_driver

SPILL = "spark.shuffle.spill.maxSizeInBytesForSpillThreshold"
_HEAP = "spark.driver.memory"
_STREAMING = "org.apache.spark.sql.execution.streaming"

#: Settings that a streaming query reads when it starts; they take effect on any session.
QUERY_CONF = {
    "spark.sql.streaming.stateStore.providerClass": f"{_STREAMING}.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    # the note of a prepared batch names no state files, which other versions name at random
    "spark.sql.streaming.stateStore.checkpointFormatVersion": "1",
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
    _HEAP: "2g",
    # each stateful task begins with a page to sort its rows in; Spark would clear 16 MB or more for it
    "spark.buffer.pageSize": "4m",
    f"spark.executorEnv.{ALLOCATOR[0]}": ALLOCATOR[1],
}

#: A task sorts as many bytes in memory in the default heap, which Spark would let them fill.
SORTED_BYTES = 128 * 1024 * 1024

#: Settings of a session without Spark's UI, where nobody reads Spark's records of its jobs.
_WITHOUT_UI = {
    "spark.ui.liveUpdate.period": "-1",
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "20",
}


def session_options(master: str, configuration: Mapping[str, str], bounded: bool) -> dict[str, str]:
    """Return the settings of a new session, after `ensure_java()`.

    Args:
        master: Spark's master.
        configuration: The job's settings; those of Spark take precedence.
        bounded: Whether the job ends by itself: its JVM compiles less and starts faster.
    """
    options = {**SESSION_CONF, **QUERY_CONF}
    if configuration.get("spark.ui.enabled") != "true":
        options.update(_WITHOUT_UI)
    if master.startswith("local"):
        # a worker's socket has no other access control than its directory
        options["spark.python.unix.domain.socket.dir"] = str(socket_directory())
    if is_one_jvm(master):
        options.update(file_system_options(configuration.get(CLASS_PATH, "")))
        if _HEAP not in configuration:
            options[SPILL] = str(SORTED_BYTES)
        configuration = {key: value for key, value in configuration.items() if key != CLASS_PATH}
    options[f"spark.executorEnv.{MODULES}"] = modules_of_driver()
    options.update((key, value) for key, value in configuration.items() if key.startswith("spark."))
    own = configuration.get("spark.driver.extraJavaOptions", "")
    options["spark.driver.extraJavaOptions"] = " ".join([*_jvm_options(bounded), own]).strip()
    return options


def is_one_jvm(master: str) -> bool:
    """Return whether the driver's JVM is the only one, which executes all tasks."""
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def bounded_matters() -> bool:
    """Return whether the settings depend on whether the job is bounded."""
    return (os.cpu_count() or 1) > 2


def _jvm_options(bounded: bool) -> list[str]:
    log4j = Path(__file__).with_name("log4j2.properties")
    # most bounded jobs end before the optimizing compiler pays off; on few cores that compiler and parallel collectors
    # compete with the batches while the job warms up
    simple = bounded or not bounded_matters()
    speed = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"] if simple else ["-XX:+UseParallelGC"]
    # -Xss: Spark's regular expressions recurse over error messages: a long one must not overflow the stack
    # -Xms: begin with a small heap that grows as needed: by default it begins with a 64th of the machine, and fills it
    # ReservedCodeCacheSize: without the optimizing compiler it is 48 MB, which the code that Spark generates for many
    # jobs fills, and then the JVM compiles nothing more
    speed.append("-XX:ReservedCodeCacheSize=240m")
    # SurvivorRatio: what a micro-batch has in flight must survive a young collection where it is young: in the old
    # generation it is garbage that takes a full collection, which stops the job for a fifth of a second
    speed.append("-XX:SurvivorRatio=3")
    return [f"-Dlog4j2.configurationFile={log4j.as_uri()}", "-Xss4m", "-Xms256m", *speed, *cds_options()]
