"""A consistent cut through a job: a batch that Spark has committed, and where the sources stood then."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.runtime.driver.assignments import SplitAssignment
from scurry.runtime.savepoint.taking import SourcePositions
from scurry.spark.checkpoint.assignment_log import AssignmentLog
from scurry.spark.checkpoint.generations import Generation


@dataclass(frozen=True)
class CommittedSnapshot:
    """A committed batch and what the state after it is the state of.

    Attributes:
        batch: The batch, in Spark's own count.
        source_positions: Where the sources stood; None if nothing was read yet.
        pending: Splits that the sources count as assigned but the batch did not contain.
    """

    batch: int
    source_positions: SourcePositions | None
    pending: list[SplitAssignment]


def latest_committed(generation: Generation) -> CommittedSnapshot | None:
    """The last committed batch of a generation, None before the first.

    Spark may plan a batch while assignments are still being handed to it, so a batch can end among assignments that
    were logged together; the sources' position is then that after them all, and those left over are pending.
    """
    batch = generation.committed()
    if batch is None:
        return None
    end = _offset(generation.storage.read(f"spark/offsets/{batch}"))
    source_positions, pending = None, []
    for entry in AssignmentLog(generation.storage).entries():
        if entry.first > end:
            break
        source_positions = entry.source_positions
        pending = [
            each.assigned
            for each in entry.assignments
            if each.offset > end and isinstance(each.assigned, SplitAssignment) and each.assigned.split is not None
        ]
    return CommittedSnapshot(batch, source_positions, pending)


def _offset(log: bytes) -> int:
    """The assignment up to which a batch reads: the first source of every query is the assignment stream."""
    return int(log.decode().splitlines()[2])
