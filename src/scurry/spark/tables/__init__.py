"""Relational plans as DataFrames: tables in BATCH on Spark.

`lowering` turns each node into DataFrame operations that Catalyst optimises. What Spark computes exactly as Flink does
is a `Column` (`columns`, `aggregates`); everything else runs in Python tasks on Arrow batches, by the same executor
that runs plans in-process (`tasks`). `types` says what a SQL type is in Spark.
"""

from __future__ import annotations
