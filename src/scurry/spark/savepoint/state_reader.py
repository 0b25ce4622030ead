"""Write the entries of a savepoint with Spark's state reader, without the job's tasks.

The reader rebuilds each partition's state from its last snapshot and the changes since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scurry.errors import SavepointError
from scurry.runtime.savepoint.format import ENTRIES, ROW_GROUP_BYTES
from scurry.spark.workers.map_store import NAME

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class StateVersion:
    """The state of all levels after a batch.

    Attributes:
        checkpoint: Spark's checkpoint.
        batch: The batch, by Spark's id.
        levels: Number of stateful levels of the query.
        subtask_ids: The grouping keys of subtasks 0, 1, 2, ...
    """

    checkpoint: str
    batch: int
    levels: int
    subtask_ids: Sequence[int]

    def write(self, spark: SparkSession, path: str) -> None:
        """Write the entries of a savepoint, with the tasks of a session.

        Raises:
            SavepointError: The state cannot be read, or the savepoint cannot be written.
        """
        from pyspark.errors import PySparkException
        from pyspark.sql import functions as f

        index = f.create_map(*(f.lit(n) for i, number in enumerate(self.subtask_ids) for n in (number, i)))
        for level in range(1, self.levels + 1):
            reader = spark.read.format("statestore").option("path", self.checkpoint).option("stateVarName", NAME)
            # Spark counts stateful operators from the end of the query
            reader = reader.option("batchId", self.batch).option("operatorId", self.levels - level)
            try:
                found = reader.load().select(
                    "user_map_key.uid", "user_map_key.kind", index[f.col("key.subtask")].alias("subtask"),
                    "user_map_key.id", f.length("user_map_value.blob").cast("long").alias("bytes"),
                    "user_map_value.blob",
                )  # fmt: skip
                writer = found.write.mode("append").option("parquet.block.size", ROW_GROUP_BYTES)
                writer.partitionBy("kind").parquet(f"{path}/{ENTRIES}")
            except PySparkException as error:
                raise SavepointError(f"the state of level {level} cannot be written to {path}: {error}") from error
