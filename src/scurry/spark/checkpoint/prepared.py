"""Note the output of a micro-batch before its sinks commit it: Spark commits the batch after them, or not at all."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import dataclass

from scurry.common.pickling import loads
from scurry.runtime.checkpoint.storage import Storage
from scurry.runtime.driver.job import PackedCommittables
from scurry.spark.checkpoint.sealed import sealed, unsealed

#: The note; each batch replaces it.
PREPARED = "prepared"


@dataclass(frozen=True)
class PreparedBatch:
    """A batch whose tasks have all ended.

    Attributes:
        batch: The batch, by Spark's id.
        output: Uid of a sink -> what its writers returned.
    """

    batch: int
    output: Mapping[str, PackedCommittables]


def prepare(storage: Storage, prepared: PreparedBatch) -> None:
    """Note a batch, durably.

    Spark forces nothing to the disk: after a crash of the machine it might plan another batch of this id, whose output
    sinks would take for that which they have.
    """
    storage.write(PREPARED, sealed(pickle.dumps(prepared, 5)))
    storage.force(f"spark/offsets/{prepared.batch}")


def prepared_batch(storage: Storage, committed: int | None) -> PreparedBatch | None:
    """Return the batch that was prepared and not committed by Spark; None without one.

    Args:
        committed: The last batch that Spark has committed.

    Raises:
        DamagedFileError: The note is damaged.
    """
    if PREPARED not in storage.list("."):
        return None
    found: PreparedBatch = loads(unsealed(storage.read(PREPARED), PREPARED))
    return found if found.batch == (0 if committed is None else committed + 1) else None


def commit(storage: Storage, batch: int) -> None:
    """Commit a batch as Spark does: all its tasks have stored their state."""
    storage.write(f"spark/commits/{batch}", b'v1\n{"nextBatchWatermarkMs":0}')
