"""Spark's adaptive execution in BATCH, where tasks follow the volume of data as with Flink's adaptive batch scheduler.

Spark knows how large the partitions of an exchange are before it reads them, and gives small ones to one task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from scurry.common._config.scheduler import AUTO_PARALLELISM, LEAST_PARALLELISM, SCHEDULER, VOLUME_PER_TASK
from scurry.graph.operators import Global, Hash, HashRows
from scurry.graph.plan import JobPlan
from scurry.spark.session.session import session_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COALESCING = "spark.sql.adaptive.coalescePartitions"
_BY_KEY = (Hash, HashRows, Global)


def adaptive_session_for(plan: JobPlan, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return a session for a BATCH job, as `session_for` does, with adaptive execution.

    Args:
        settings: Further settings of Spark; those of the job take precedence.
    """
    configuration = plan.settings.configuration
    spark: SparkSession = session_for(plan)
    for key, value in {**adaptive_settings(configuration), **(settings or {})}.items():
        if key not in configuration:
            spark.conf.set(key, value)
    return spark


def adaptive_settings(configuration: Mapping[str, str]) -> dict[str, str]:
    """Return Spark's settings for those of Flink's adaptive batch scheduler in the configuration of a job."""
    fixed = SCHEDULER.key in configuration and SCHEDULER.of(configuration) == "Default"
    follows = AUTO_PARALLELISM.of(configuration) and not fixed
    settings = {"spark.sql.adaptive.enabled": "true", f"{_COALESCING}.enabled": str(bool(follows)).lower()}
    if volume := VOLUME_PER_TASK.of(configuration):
        settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"] = str(volume)
        settings[f"{_COALESCING}.parallelismFirst"] = "false"
    least = LEAST_PARALLELISM.of(configuration) or 1
    if least > 1:  # Spark would let slots stay free for 1
        settings[f"{_COALESCING}.minPartitionNum"] = str(least)
    return settings


def by_volume(frame: Any, plan: JobPlan, level: int) -> Any:
    """Return the rows of a level by subtask; small subtasks share a task unless the program says how many there are."""
    partitioners = [plan.edges[edge].partitioner for head in plan.heads(level) for edge in head.input_edges]
    chosen = any(operator.sets_parallelism for operator in plan.operators.values() if operator.level == level)
    if chosen or not all(isinstance(each, _BY_KEY) for each in partitioners):
        return frame.repartition(plan.settings.parallelism, "subtask")
    return frame.repartition("subtask")
