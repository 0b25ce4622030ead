"""Note the output of a micro-batch before its sinks commit it: Spark commits the batch after them, or not at all."""

from __future__ import annotations

import pickle
from collections.abc import Mapping

from scurry._dataclasses import dataclass
from scurry.common.pickling import loads
from scurry.runtime.checkpoint.storage import DamagedFileError, Storage
from scurry.runtime.driver.job import PackedCommittables
from scurry.spark.checkpoint.sealed import sealed, unsealed

#: The note; each batch replaces it.
PREPARED = "prepared"


#: Batches whose ends a note has; Spark keeps as many.
_ENDS = 100


@dataclass(frozen=True)
class PreparedBatch:
    """A batch whose tasks have all ended.

    Attributes:
        batch: The batch, by Spark's id.
        output: Uid of a sink -> what its writers returned.
        ends: The latest batches, this one included, and the offsets of their last assignments.
    """

    batch: int
    output: Mapping[str, PackedCommittables]
    ends: tuple[tuple[int, int], ...] = ()


class Preparing:
    """Note batches before their sinks commit them.

    Sinks know a batch by its id. Spark's log of offsets, which says what was in it, may be damaged later, also by a
    crash of the machine, as Spark forces nothing to the disk. The note says it, too, so that such a batch is computed
    again as it was.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._ends: dict[int, int] | None = None

    def note(self, batch: int, output: Mapping[str, PackedCommittables]) -> None:
        """Note a batch, durably.

        Args:
            output: Uid of a sink -> what its writers returned.
        """
        storage, log = self._storage, f"spark/offsets/{batch}"
        if self._ends is None:
            self._ends = noted_ends(storage)
        self._ends = {each: end for each, end in self._ends.items() if batch - _ENDS < each < batch}
        self._ends[batch] = end_of(storage.read(log))
        noted = PreparedBatch(batch, output, tuple(self._ends.items()))
        storage.write(PREPARED, sealed(pickle.dumps(noted, 5)))
        storage.force(log)  # which forces the name of the note, too


def end_of(log: bytes) -> int:
    """Return the last assignment that a batch reads, by its offset; -1 without one.

    Args:
        log: What Spark has logged of it: the first source of every query is the assignment stream.
    """
    text = log.decode().splitlines()[2]
    return -1 if text == "-" else int(text)


def noted_ends(storage: Storage) -> dict[int, int]:
    """Return the ends of the latest batches that sinks may know; empty if there is no note, or it is damaged."""
    try:
        noted: PreparedBatch = loads(unsealed(storage.read(PREPARED), PREPARED))
    except (FileNotFoundError, DamagedFileError):
        return {}
    return dict(noted.ends)


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
