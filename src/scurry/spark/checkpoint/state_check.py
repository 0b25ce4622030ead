"""Check with Spark's own reader whether the state of a checkpoint can be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.errors import DamagedRunError
from scurry.runtime.checkpoint.storage import Storage
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
        spark: The session.
        checkpoint: Spark's checkpoint.
        storage: The files in it.
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
