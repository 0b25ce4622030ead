"""Find the last batch that Spark has committed and the source positions after it."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.runtime.driver.assignments import SplitAssignment
from scurry.runtime.savepoint.metadata import SourcePositions
from scurry.spark.checkpoint.assignment_log import AssignmentLog
from scurry.spark.checkpoint.generations import Generation


@dataclass(frozen=True)
class CommittedSnapshot:
    """A committed batch and the source positions after it.

    Attributes:
        batch: The batch, by Spark's id.
        source_positions: The source positions; None if nothing was read yet.
        pending: Splits that the positions count as assigned but that no batch has read yet.
    """

    batch: int
    source_positions: SourcePositions | None
    pending: list[SplitAssignment]


def latest_committed(generation: Generation) -> CommittedSnapshot | None:
    """Return the last committed batch of a generation, None before the first."""
    batch = generation.committed()
    return None if batch is None else committed_snapshot(generation, batch)


def committed_snapshot(generation: Generation, batch: int) -> CommittedSnapshot:
    """Return a committed batch of a generation, by Spark's id.

    Spark may plan a batch while assignments are still being added to the stream, so a batch can end in the middle of a
    log entry. The source positions are then those after the whole entry, and the rest of its assignments is pending.
    """
    end = _offset(generation.storage.read(f"spark/offsets/{batch}"))
    source_positions, pending = None, []
    for entry in AssignmentLog(generation.storage).entries():
        if entry.offset > end:
            break
        source_positions = entry.source_positions
        pending = [
            each.assigned
            for each in entry.assignments
            if each.offset > end and isinstance(each.assigned, SplitAssignment) and each.assigned.split is not None
        ]
    return CommittedSnapshot(batch, source_positions, pending)


def _offset(log: bytes) -> int:
    """Return the last assignment that a batch reads: the first source of every query is the assignment stream."""
    return int(log.decode().splitlines()[2])
