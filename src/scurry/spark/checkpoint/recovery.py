"""Check whether a checkpoint can be resumed, before its query starts and after it fails, and repair it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from scurry.errors import CheckpointStorageFullError, DamagedRunError, OperatorError
from scurry.runtime.checkpoint.storage import FULL, storage_full
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.job_log import WARNING
from scurry.spark.checkpoint.generations import Generation
from scurry.spark.checkpoint.rollback import RestartPoint, Rollback
from scurry.spark.checkpoint.state_check import cannot_load_state, unreadable_state
from scurry.spark.checkpoint.storage import HadoopStorage
from scurry.spark.workers.failures import texts_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: A file that must fit into the checkpoint to show that it is not full.
_PROBE, _PROBE_BYTES = ".probe.tmp", 1 << 20


class Recovery:
    """Check and repair the checkpoint of a generation.

    Args:
        job: The job.
        spark: Its session.
        generation: The generation.
    """

    def __init__(self, job: JobExecution, spark: SparkSession, generation: Generation) -> None:
        self._generation = generation
        checkpoint = generation.spark_directory
        # also on a local disk through Hadoop, which verifies the checksums of the files that Spark writes
        files = HadoopStorage(spark, checkpoint)
        unreadable = partial(unreadable_state, spark, checkpoint, files, generation.run_files(spark))
        rolled_back = partial(job.log.note, event="rolled back", level=WARNING, logger="checkpoint")
        self._rollback = Rollback(generation.directory, generation.storage, files, unreadable, rolled_back)

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
