"""Choose how many of Spark's partitions the subtasks of a job share.

A partition costs each micro-batch a task, a state store that commits a file, and a Python worker, with or without
records. Subtasks are what has state, metrics and a share of the keys; so many of them share a partition.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

from scurry.graph.plan import JobPlan
from scurry.runtime.driver.scaling import Stability
from scurry.spark.session.options import is_one_jvm
from scurry.spark.workers.partitioning import task_slots

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Spark's setting, which a job's configuration may have: the number of partitions.
SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
#: Partitions for each core: with several, those that take long do not leave cores idle for as long.
PARTITIONS_PER_CORE = 3
#: Milliseconds for which the executors of a cluster must not have changed before they are counted, and the most that
#: this takes.
_STABLE, _PATIENCE = 1_000, 15_000


def configured_partitions(plan: JobPlan) -> int | None:
    """Return the number of partitions that the job's configuration asks for, None if it does not."""
    given = plan.settings.configuration.get(SHUFFLE_PARTITIONS, "").strip()
    return int(given) if given.isdigit() and int(given) else None


def fitting_partitions(subtasks: int, spark: SparkSession) -> int:
    """Return the number of partitions for the subtasks of a new generation: as many, unless they outnumber the cores.

    Args:
        spark: The session. On a cluster this waits until its executors are there.
    """
    if subtasks <= PARTITIONS_PER_CORE:
        return subtasks
    enough = -(-subtasks // PARTITIONS_PER_CORE)
    return min(subtasks, PARTITIONS_PER_CORE * cores(spark, enough))


def partitions_to_keep(there: int, subtasks: int, spark: SparkSession) -> int:
    """Return the number of partitions for a checkpoint that has some: the same, if all cores have work with it.

    Args:
        subtasks: The number of subtasks, there and now.
    """
    if there >= subtasks or there >= cores(spark, there + 1):
        return there
    return fitting_partitions(subtasks, spark)


def cores(spark: SparkSession, enough: int) -> int:
    """Return how many tasks can compute at once, on the cores of this machine or on executors; at least 1.

    Args:
        enough: A number of executors' slots from which on none more are waited for; also returned where executors
            come and go as tasks need them.
    """
    context = spark.sparkContext
    if is_one_jvm(context.master or ""):  # the slots of sources that wait are more than there are cores
        return max(1, min(task_slots(spark), os.cpu_count() or 1))
    settings = context.getConf()
    if settings.get("spark.dynamicAllocation.enabled", "false") == "true":
        return enough  # Spark asks for executors only if tasks wait for them
    return max(1, _announced(settings), _stable_slots(spark, enough))


def _announced(settings: Any) -> int:
    """Return the slots that Spark is configured to get, 0 if that is left to the cluster."""
    each = int(settings.get("spark.executor.cores", "1")) // int(settings.get("spark.task.cpus", "1"))
    return int(settings.get("spark.executor.instances", "0")) * each


def _stable_slots(spark: SparkSession, enough: int) -> int:
    stability, began = Stability(), time.monotonic()
    while True:
        slots, now = task_slots(spark), time.monotonic()
        for_long = stability.observe(slots, int(now * 1000)) >= _STABLE
        if slots >= enough or (for_long and slots) or (now - began) * 1000 > _PATIENCE:
            return slots
        time.sleep(0.1)
