"""Spread subtasks evenly over Spark's partitions, and count the task slots of executors."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASK = 0xFFFFFFFF


def spread(subtasks: int, partitions: int) -> list[int]:
    """Return grouping keys for subtasks, such that Spark's hash puts subtask i into partition i modulo `partitions`.

    Hashed by their own numbers, several subtasks could share one partition and leave others empty.
    """
    waiting = {partition: list(range(partition, subtasks, partitions)) for partition in range(partitions)}
    ids = [0] * subtasks
    left = subtasks
    for number in count():
        if not left:
            return ids
        mine = waiting[partition_of(number, partitions)]
        if mine:
            ids[mine.pop(0)] = number
            left -= 1
    raise AssertionError("unreachable")


def partition_of(number: int, partitions: int) -> int:
    """Return the partition that Spark's `HashPartitioning` chooses for an int: Murmur3 with seed 42, then modulo."""
    hashed = 42 ^ _rotate(number * 0xCC9E2D51 & _MASK, 15) * 0x1B873593 & _MASK
    hashed = _rotate(hashed, 13) * 5 + 0xE6546B64 & _MASK ^ 4
    hashed = (hashed ^ hashed >> 16) * 0x85EBCA6B & _MASK
    hashed = (hashed ^ hashed >> 13) * 0xC2B2AE35 & _MASK
    hashed ^= hashed >> 16
    return (hashed - (1 << 32) if hashed >> 31 else hashed) % partitions


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK


def task_slots(spark: SparkSession) -> int:
    """Return how many tasks can run at once on the present executors; 0 on a cluster that has not started any yet.

    Spark's `defaultParallelism` differs: it is at least 2 on clusters, and any configured value.
    """
    context = spark.sparkContext._jsc.sc()
    slots: int = context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
    return slots
