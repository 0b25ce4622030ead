"""Check whether a checkpoint can be resumed, before its query starts and after it fails, and repair it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scurry.errors import CheckpointStorageFullError, DamagedRunError, OperatorError
from scurry.runtime.checkpoint.storage import FULL, Storage, storage_full
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.job_log import WARNING
from scurry.spark.checkpoint.generations import Generation
from scurry.spark.checkpoint.rollback import RestartPoint, Rollback
from scurry.spark.checkpoint.storage import HadoopStorage
from scurry.spark.workers.failures import texts_of
from scurry.spark.workers.map_store import NAME
from scurry.spark.workers.run_files import MAGIC, RunFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Part of Spark's error when a task cannot load its state.
_CANNOT_LOAD = "CANNOT_LOAD_STATE_STORE"

#: Parts of errors about files that are missing or damaged, as opposed to temporarily unavailable.
_DAMAGE = (
    "FileNotFoundException",
    "EOFException",
    "ChecksumException",
    "CHECKSUM",
    "Stream is corrupted",
    "ZipException",
    "Corruption:",
)


def cannot_load_state(error: BaseException) -> bool:
    """Return whether a query failed because files of its state are missing or damaged."""
    texts = texts_of(error)
    return any(_CANNOT_LOAD in text for text in texts) and _says_damage(texts)


def unreadable_state(
    spark: SparkSession, checkpoint: str, storage: Storage, files: RunFiles | None, batch: int
) -> str | None:
    """Return why the state after a batch cannot be loaded; None if all of it can.

    Args:
        checkpoint: Spark's checkpoint.
        files: The files of runs that its state names.
        batch: A committed batch.
    """
    from pyspark.sql.functions import lit, substring

    for operator in sorted(filter(str.isdigit, storage.list("state")), key=int):
        reader = spark.read.format("statestore").option("path", checkpoint).option("stateVarName", NAME)
        try:
            state = reader.option("operatorId", operator).option("batchId", batch).load()
            references = state.select("user_map_value.blob").where(substring("blob", 1, len(MAGIC)) == lit(MAGIC))
            for reference in references.toLocalIterator():
                if files is not None:
                    files.read(bytes(reference.blob))
        except DamagedRunError as error:
            return str(error)
        except Exception as error:
            texts = texts_of(error)
            if not _says_damage(texts):
                raise
            return f"operator {operator} of Spark's plan: {texts[-1].splitlines()[0]}"
    return None


def _says_damage(texts: list[str]) -> bool:
    return any(word in text for text in texts for word in _DAMAGE)


#: A file that must fit into the checkpoint to show that it is not full.
_PROBE, _PROBE_BYTES = ".probe.tmp", 1 << 20


class Recovery:
    """Check and repair the checkpoint of a generation."""

    def __init__(self, job: JobExecution, spark: SparkSession, generation: Generation) -> None:
        self._generation = generation
        checkpoint = generation.spark_directory
        # also on a local disk through Hadoop, which verifies the checksums of the files that Spark writes
        files = HadoopStorage(spark, checkpoint)
        unreadable = partial(unreadable_state, spark, checkpoint, files, generation.run_files(spark))
        rolled_back = partial(job.log.note, event="rolled back", level=WARNING, logger="checkpoint")
        self._rollback = Rollback(generation.directory, generation.storage, files, unreadable, rolled_back)
        self._rollback.repaired = lambda committed: job.protocol.step("repaired", committed + 1)

    def restart_point(self) -> RestartPoint:
        """Return where the job resumes, after rolling back batches that are damaged.

        Raises:
            CheckpointCorruptedError: No batch is undamaged.
        """
        return self._rollback.restart_point()

    def failed_to_load_state(self, error: Exception) -> bool:
        """Return whether the query failed because files of its state are missing or damaged."""
        if isinstance(error, DamagedRunError):
            return True
        return not isinstance(error, OperatorError) and cannot_load_state(error)

    def roll_back_unreadable_state(self) -> bool:
        """Roll back the batches whose state cannot be loaded; return whether there were any.

        Raises:
            CheckpointCorruptedError: No state is left that can be loaded.
        """
        return self._rollback.roll_back_unreadable_state()

    def raise_if_full(self, error: Exception) -> None:
        """Replace Spark's various errors about a full disk by one, if the checkpoint directory is full.

        Raises:
            CheckpointStorageFullError: The directory is full.
        """
        if isinstance(error, (CheckpointStorageFullError, OperatorError)):
            return
        if not any(word in text for text in texts_of(error) for word in FULL):
            return
        storage = self._generation.storage
        try:  # another disk may be the full one
            storage.write(_PROBE, bytes(_PROBE_BYTES))
            storage.delete(_PROBE)
        except CheckpointStorageFullError:
            raise storage_full(self._generation.directory) from error
