"""What the checkpoint of a generation is good for, before its query starts and when that fails."""

from __future__ import annotations

from functools import partial
from typing import Any

from scurry.errors import CheckpointStorageFullError
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.job_log import WARNING
from scurry.runtime.failure import OperatorError
from scurry.spark.checkpoint.generations import Generation
from scurry.spark.checkpoint.rollback import RestartPoint, Rollback
from scurry.spark.checkpoint.state_check import cannot_load_state, unreadable_state
from scurry.spark.checkpoint.storage import FULL, HadoopStorage, storage_full
from scurry.spark.workers.failures import texts_of

#: What must fit beside a full checkpoint to believe that it is not full.
_PROBE, _PROBE_BYTES = ".probe.tmp", 1 << 20


class Recovery:
    """What the checkpoint of a generation is good for.

    Args:
        job: The job.
        spark: Its session.
        generation: The generation.
    """

    def __init__(self, job: JobExecution, spark: Any, generation: Generation) -> None:
        self._generation = generation
        checkpoint = generation.spark_directory
        # through Hadoop also on a local disk, where it keeps checksums of what Spark writes
        files = HadoopStorage(spark, checkpoint)
        unreadable = partial(unreadable_state, spark, checkpoint, files)
        rolled_back = partial(job.note, event="rolled back", level=WARNING, logger="checkpoint")
        self._rollback = Rollback(generation.directory, generation.storage, files, unreadable, rolled_back)

    def restart_point(self) -> RestartPoint:
        """Where the job goes on; what keeps it from that is taken back.

        Raises:
            CheckpointCorruptedError: No batch is whole.
        """
        return self._rollback.restart_point()

    def take_back_if_unreadable(self, error: Exception) -> bool:
        """Takes back the batches whose state cannot be loaded, if the query failed at that; tells whether there were.

        Raises:
            CheckpointCorruptedError: No state that can be loaded is left.
        """
        if isinstance(error, OperatorError) or not cannot_load_state(error):
            return False
        return self._rollback.take_back_unreadable_state()

    def raise_if_full(self, error: Exception) -> None:
        """Makes one error of the many in which Spark says that it could not write its checkpoint.

        Raises:
            CheckpointStorageFullError: It takes no more.
        """
        if isinstance(error, (CheckpointStorageFullError, OperatorError)):
            return
        if not any(word in text for text in texts_of(error) for word in FULL):
            return
        storage = self._generation.storage
        try:  # it may have been another disk
            storage.write(_PROBE, bytes(_PROBE_BYTES))
            storage.delete(_PROBE)
        except CheckpointStorageFullError:
            raise storage_full(self._generation.directory) from error
