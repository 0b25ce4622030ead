"""Write the entries of a savepoint with Spark's state reader, without the job's tasks.

The reader rebuilds each partition's state from its last snapshot and the changes since.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import local_path
from scurry.errors import SavepointError
from scurry.runtime.savepoint.format import Entry
from scurry.spark.workers.map_store import FILES_KIND, NAME
from scurry.spark.workers.run_files import RunFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Settings of the batches of rows that Spark passes to Python.
_BATCHES = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": "256",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 << 20),
}


@dataclass(frozen=True)
class StateVersion:
    """The state of all levels after a batch.

    Attributes:
        checkpoint: Spark's checkpoint.
        batch: The batch, by Spark's id.
        levels: Number of stateful levels of the query.
        subtask_ids: The grouping keys of subtasks 0, 1, 2, ...
        files: The files of runs that the state names.
    """

    checkpoint: str
    batch: int
    levels: int
    subtask_ids: Sequence[int]
    files: RunFiles | None

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
                    "user_map_key.uid",
                    "user_map_key.kind",
                    index[f.col("key.subtask")].alias("subtask"),
                    "user_map_key.id",
                    "user_map_value.blob",
                )
                found = found.where(f.col("kind") != FILES_KIND)
                with _small_batches(spark):
                    found.mapInArrow(_written(local_path(path) or path, level, self.files), "partition int").collect()
            except PySparkException as error:
                raise SavepointError(f"the state of level {level} cannot be written to {path}: {error}") from error


@contextmanager
def _small_batches(spark: SparkSession) -> Iterator[None]:
    """Let Spark pass few rows at once to Python: runs of large state have megabytes."""
    before = {key: spark.conf.get(key, None) for key in _BATCHES}
    for key, value in _BATCHES.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, known in before.items():
            if known is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, known)


def _written(path: str, level: int, files: RunFiles | None) -> Any:
    """Return a function that writes the rows of a partition into a savepoint.

    Spark's own writer would sort them by kind, and hold runs in the memory of the JVM.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from scurry.runtime.savepoint.entries import write_entries
        from scurry.spark.workers.instances import partition

        rows = (row for batch in batches for row in zip(*(each.to_pylist() for each in batch.columns), strict=True))
        entries = (
            Entry(uid, kind, subtask, number, blob if files is None else files.whole(blob))
            for uid, kind, subtask, number, blob in rows
        )
        write_entries(path, entries, f"level-{level}-{partition():05d}")
        yield pa.RecordBatch.from_pydict({"partition": pa.array([partition()], pa.int32())})

    return run
