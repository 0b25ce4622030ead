"""Write the state of a Spark checkpoint as the entries of a savepoint.

Spark's state reader rebuilds each partition's state from its last snapshot and the changes since, which takes processor
time from the job's batches. On one machine it reads hard links to the state's files, because Spark may purge the
version while it is read. Tasks of the job's session read small state, in a second or two. A process of low priority
reads larger state in a separate session, which takes 20 s to start. On a cluster the executors read, as tasks between
those of the job.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scurry.connectors.files.filesystem import local_path
from scurry.directories import socket_directory
from scurry.errors import SavepointError
from scurry.runtime.savepoint.format import ENTRIES, ROW_GROUP_BYTES
from scurry.spark.workers.map_store import NAME

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Added to the niceness of the process that reads. With 7, it gets a sixth of a processor that the job keeps busy:
#: batches are hardly slower, and the savepoint of a job that never pauses still completes.
NICENESS = 7

#: The job's own session reads state whose files (all versions that Spark keeps) have at most this many bytes.
SMALL_STATE_BYTES = 64 << 20


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

    def write_beside_job(self, spark: SparkSession, path: str) -> None:
        """Write the entries of a savepoint while the job runs.

        Raises:
            SavepointError: The state cannot be read, or the savepoint cannot be written.
        """
        checkpoint = local_path(self.checkpoint)
        master = spark.sparkContext.master or ""
        on_one_machine = master.startswith("local[") and local_path(path) is not None
        if checkpoint is None or not on_one_machine:
            self.write(spark, path)
            return
        links = tempfile.mkdtemp(prefix=".savepoint-", dir=os.path.dirname(checkpoint))
        try:
            if _link(Path(checkpoint), Path(links)) <= SMALL_STATE_BYTES:
                replace(self, checkpoint=links).write(spark, path)
            else:
                self._write_in_process(links, path)
        finally:
            shutil.rmtree(links, ignore_errors=True)

    def _write_in_process(self, links: str, path: str) -> None:
        version = {**asdict(self), "checkpoint": links}
        command = [
            sys.executable,
            "-m",
            "scurry.spark.savepoint.state_reader",
            json.dumps(version),
            os.path.abspath(path),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if ended.returncode:
            reason = ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"]
            raise SavepointError(f"the state cannot be written to {path}: {reason[-1]}")


def _link(source: Path, target: Path) -> int:
    """Link to all files below a directory and return their size in bytes.

    Files that are deleted meanwhile belong to older versions, which are not needed.
    """
    size = 0
    for directory, _, names in os.walk(source):
        place = target / Path(directory).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in names:
            try:
                os.link(Path(directory) / name, place / name)
                size += (place / name).stat().st_size
            except FileNotFoundError:
                continue
    return size


def main() -> None:
    """Write the savepoint that the arguments describe, in a process of low priority."""
    from scurry.spark.session.session import reading_session

    os.nice(NICENESS)
    version, path = json.loads(sys.argv[1]), sys.argv[2]
    StateVersion(**version).write(reading_session(), path)
    sys.stdout.flush()
    shutil.rmtree(socket_directory(), ignore_errors=True)
    os._exit(0)  # the JVM ends when its input closes; an orderly shutdown of Spark would take longer than the work


if __name__ == "__main__":
    main()
