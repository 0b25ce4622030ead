"""Find the batch that a job resumes from, and roll back batches whose files are damaged.

A batch is committed if Spark has logged its offsets and its commit, its state can be loaded, and the assignment log has
the assignments that follow it. If the newest batch fails one of these checks, it is rolled back: its records and its
state are deleted, and Spark computes it again under the same id. The end offsets of these batches are kept beside the
assignments, so that each batch is rebuilt from the same input: its sinks may have committed it before.

Logs are checked before the query starts. State is checked only after the query failed to load it: Spark's own reader
reads it batch by batch backwards, before anything is deleted.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.errors import CheckpointCorruptedError
from scurry.runtime.checkpoint.storage import DamagedFileError, Storage
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry
from scurry.spark.checkpoint.prepared import PREPARED, noted_ends

#: File beside the log's entries: batch id -> end offset of the batches that were rolled back.
_REPLAYS = "assignments/replays"
#: File beside them: the newest batch that was rolled back after a commit, or may have been in doubt then.
_ROLLED_BACK = "assignments/rolled-back"
#: In its place: any batch may be that one.
_UNKNOWN = sys.maxsize
_NO_OFFSET = "-"


@dataclass(frozen=True)
class RestartPoint:
    """Position at which a job resumes.

    Attributes:
        committed: The newest committed batch, or -1.
        entries: The log entries after it, beginning with the one that has the source positions at its end.
        replays: The end offsets of the batches that are replayed, in order.
        end: The offset of the last assignment up to the end of the committed batch, or -1.
    """

    committed: int = -1
    entries: Sequence[LogEntry] = ()
    replays: Sequence[int] = ()
    end: int = -1


@dataclass
class Rollback:
    """Check the records of a checkpoint and roll back to the newest batch that is undamaged.

    Attributes:
        own: Scurry's files in it.
        unreadable_state: Returns why the state after a batch cannot be loaded; None if it can.
        note: Logs a message for the user.
    """

    directory: str
    own: Storage
    spark: Storage
    unreadable_state: Callable[[int], str | None]
    note: Callable[[str], None]
    #: called with the newest batch that counts when committed ones have been rolled back
    repaired: Callable[[int], None] = lambda committed: None
    _ends: dict[int, int | None] = field(default_factory=dict)
    _entries: dict[int, LogEntry | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._log = AssignmentLog(self.own)

    def restart_point(self) -> RestartPoint:
        """Return the newest batch that the job can resume from, after rolling back those after it.

        Raises:
            CheckpointCorruptedError: No restart point is intact.
        """
        self._look()
        committed, faults = self._newest(self._last)
        self._roll_back(committed, faults)
        entries, replays = self._logged_after(committed) or [], list(self._known_ends(committed).values())
        end = self._end(committed) if committed >= 0 else None
        return RestartPoint(committed, entries, replays, -1 if end is None else end)

    def roll_back_unreadable_state(self) -> bool:
        """Roll back batches until the state can be loaded; return whether there were any.

        Raises:
            CheckpointCorruptedError: No state is left that can be loaded.
        """
        self._look()
        newest, faults = self._newest(self._last)
        committed = newest
        while committed >= 0 and (reason := self.unreadable_state(committed)) is not None:
            faults.append(f"the state after batch {committed} cannot be loaded ({reason})")
            committed, faults = self._newest(committed - 1, faults)
        if committed == newest:
            return False
        self._roll_back(committed, faults)
        return True

    # ---------------------------------------------------------------- what there is

    def _look(self) -> None:
        self._offsets, self._commits = self._batches("offsets"), self._batches("commits")
        self._last = max(self._offsets | self._commits, default=-1)
        self._entry_offsets = self._log.offsets()
        self._ends.clear()
        self._entries.clear()

    def _batches(self, log: str) -> set[int]:
        return {int(name) for name in self.spark.list(log) if name.isdigit()}

    def _newest(self, batch: int, faults: Sequence[str] = ()) -> tuple[int, list[str]]:
        """Return the newest batch up to this one whose records are undamaged, and the faults of those after it."""
        found = list(faults)
        oldest = min(self._offsets | self._commits, default=0)
        while batch >= oldest:
            fault = self._fault(batch)
            if fault is None:
                return batch, found
            if batch in self._commits or batch < self._last:  # else it was not finished when the job ended
                found.append(fault)
            batch -= 1
        if oldest > 0 or (self._entry_offsets and self._entry_offsets[0] > 0):
            found = found or [f"spark/ has nothing to go with {self._log.path(self._entry_offsets[0])}"]
            more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
            raise CheckpointCorruptedError(
                f"the checkpoint in {self.directory} is damaged: {'; '.join(found[:3])}{more}. Nothing earlier is kept "
                "from which the job could resume. Restore the files from a copy, start from a savepoint, or give the "
                "job another execution.checkpointing.dir to start empty"
            )
        return -1, found

    def _fault(self, batch: int) -> str | None:
        """Return why the job cannot resume after a batch, None if it can."""
        if not self._is_committed(batch):
            return f"spark/commits/{batch} is {'damaged' if batch in self._commits else 'missing'}"
        for needed in (batch, batch + 1 if self._stays_planned(batch + 1, batch) else batch - 1):
            if needed >= 0 and self._end(needed) is None:
                return f"spark/offsets/{needed} is {'damaged' if needed in self._offsets else 'missing'}"
        return None if self._logged_after(batch) is not None else self._missing_entry(batch)

    def _missing_entry(self, batch: int) -> str:
        last = self._end(batch)
        at = bisect_right(self._entry_offsets, last or 0) - 1
        if at >= 0 and self._entry(self._entry_offsets[at]) is None:
            return f"{self._log.path(self._entry_offsets[at])} is damaged"
        return f"the entry of assignment {last} is missing in assignments/"

    def _stays_planned(self, batch: int, committed: int) -> bool:
        """Return whether Spark can repeat a batch as planned: its end offset and all its assignments are known."""
        end = self._end(batch)
        return end is not None and end < self._logged_until(committed)

    def _is_committed(self, batch: int) -> bool:
        return batch in self._commits and _parsed(self.spark, f"commits/{batch}") is not None

    def _end(self, batch: int) -> int | None:
        """Return the offset of the last assignment up to the end of a batch, -1 without one; None if unknown."""
        if batch not in self._ends:
            lines = _parsed(self.spark, f"offsets/{batch}") if batch in self._offsets else None
            self._ends[batch] = _offset(lines)
        return self._ends[batch]

    def _logged_after(self, batch: int) -> list[LogEntry] | None:
        """Return the entries from the last one of a batch on, up to a gap; None if that one cannot be read."""
        last = self._end(batch) if batch >= 0 else -1
        if last is None:
            return None
        at = bisect_right(self._entry_offsets, last) - 1
        holder = self._entry(self._entry_offsets[at]) if at >= 0 else None
        if holder is None or holder.end <= last:
            # an entry that begins right after the batch is enough
            at += 1
            holder = self._entry(last + 1) if self._entry_offsets[at : at + 1] == [last + 1] else None
        if holder is None:
            return None if last >= 0 else []
        entries = [holder]
        for offset in self._entry_offsets[at + 1 :]:
            entry = self._entry(offset)
            if entry is None or offset != entries[-1].end:
                break
            entries.append(entry)
        return entries

    def _logged_until(self, committed: int) -> int:
        """Return the offset after the last assignment that is logged without a gap."""
        entries = self._logged_after(committed)
        return entries[-1].end if entries else 0

    def _entry(self, offset: int) -> LogEntry | None:
        if offset not in self._entries:
            try:
                self._entries[offset] = self._log.read(offset)
            except (DamagedFileError, FileNotFoundError):
                self._entries[offset] = None
        return self._entries[offset]

    # ---------------------------------------------------------------- rolling back

    def _roll_back(self, committed: int, faults: list[str]) -> None:
        """Delete the files after a batch, except the plan of the next one."""
        planned = committed + 1 if self._stays_planned(committed + 1, committed) else committed
        commits = sorted((batch for batch in self._commits if batch > committed), reverse=True)
        offsets = sorted((batch for batch in self._offsets if batch > planned), reverse=True)
        lost = [offset for offset in self._entry_offsets if offset >= self._logged_until(committed)]
        if not (commits or offsets or lost):
            return
        in_doubt = [batch for batch in noted_ends(self.own) if batch > committed]
        if commits or in_doubt:  # what was prepared goes with its state, which is deleted below
            newest = max(_last_rolled_back(self.own), *self._commits, *self._offsets, *in_doubt)
            self.own.write(_ROLLED_BACK, str(newest).encode())
        self._remember_ends(committed)
        if commits or in_doubt:
            self.own.delete(PREPARED)
        # In this order: if this is interrupted, the next start detects the same damage.
        self._delete_state_after(committed)
        for batch in commits:
            self.spark.delete(f"commits/{batch}")
        for batch in offsets:
            self.spark.delete(f"offsets/{batch}")
        for offset in reversed(lost):
            self._log.delete(offset)
        if commits:
            self.repaired(committed)
        self.note(
            self._report(committed, commits, offsets, faults, [offset for offset in lost if not self._entry(offset)])
        )
        self._look()

    def _report(
        self, committed: int, commits: list[int], offsets: list[int], faults: list[str], lost: list[int]
    ) -> str:
        reasons = faults or [f"spark/offsets/{batch} is damaged" for batch in offsets if self._end(batch) is None]
        reasons = reasons or [f"{self._log.path(offset)} is damaged" for offset in lost]
        if commits:
            what = f"batches {committed + 1} to {commits[0]} are rolled back and computed again"
            what = f"batch {commits[0]} is rolled back and computed again" if len(commits) == 1 else what
        elif offsets or not self._stays_planned(committed + 1, committed):
            what = f"batch {committed + 1} is planned again"
        else:
            what = f"what follows batch {committed + 1} is assigned again"
        why = "; ".join(dict.fromkeys(reasons)) or "its records do not fit together"
        return f"the checkpoint in {self.directory} is damaged, {what}: {why}"

    def _remember_ends(self, committed: int) -> None:
        self.own.write(_REPLAYS, json.dumps(self._known_ends(committed)).encode())

    def _known_ends(self, committed: int) -> dict[int, int]:
        """Return the end offsets of the batches after this one that Spark had planned, as far as they are known.

        If an intermediate batch lost its end offset, assume one that keeps later batch ids unchanged.
        """
        known = remembered_ends(self.own) | noted_ends(self.own)
        known |= {batch: end for batch in self._offsets if batch > committed and (end := self._end(batch)) is not None}
        end, logged = self._end(committed) if committed >= 0 else None, self._logged_until(committed)
        last = -1 if end is None else end
        ends: dict[int, int] = {}
        for batch in range(committed + 1, max(known, default=-1) + 1):
            last = known.get(batch, last + 1)
            if last >= logged:
                break
            ends[batch] = last
        return ends

    def _delete_state_after(self, committed: int) -> None:
        """Delete the state of later batches: new versions of it must not be loaded from old snapshots."""
        for operator in self.spark.list("state"):
            for partition in filter(str.isdigit, self.spark.list(f"state/{operator}")):
                directory = f"state/{operator}/{partition}"
                for name in self.spark.list(directory):
                    version, _, kind = name.partition(".")
                    if kind in ("changelog", "zip") and version.isdigit() and int(version) > committed + 1:
                        self.spark.delete(f"{directory}/{name}")


def remembered_ends(own: Storage) -> dict[int, int]:
    """Return the end offsets of the batches that were rolled back, by Spark's ids; empty if nothing was."""
    try:
        return {int(batch): end for batch, end in json.loads(own.read(_REPLAYS)).items()}
    except (FileNotFoundError, DamagedFileError, ValueError):
        return {}  # batches may then be larger than before, but nothing is lost


def delete_state(own: Storage) -> None:
    """Delete all state before the first commit: Spark begins without state only if there are no files of it.

    A batch that was prepared has no state any more. Sinks may have it, so no other program goes on before it is
    computed again.
    """
    if PREPARED in own.list("."):
        own.write(_REPLAYS, json.dumps(remembered_ends(own) | noted_ends(own)).encode())
        own.write(_ROLLED_BACK, str(max(_last_rolled_back(own), 0)).encode())
        own.delete(PREPARED)
    own.delete("spark/state")


def known_to_sinks(own: Storage) -> int:
    """Return the newest of the batches that were rolled back, by Spark's id, as far as it is known; -1 without one."""
    return max(-1 if (last := _last_rolled_back(own)) == _UNKNOWN else last, *remembered_ends(own), -1)


def not_computed_again(own: Storage, committed: int | None) -> int | None:
    """Return the newest batch that was rolled back after its commit, or in doubt then, and is not committed again.

    Sinks may have its output. A batch that was only planned is none of these, though its end is remembered.

    Args:
        committed: The last batch that Spark has committed; like the result, by Spark's id.
    """
    last = _last_rolled_back(own)
    if last == _UNKNOWN:
        last = max(remembered_ends(own), default=_UNKNOWN)
    return last if last > (-1 if committed is None else committed) else None


def _last_rolled_back(own: Storage) -> int:
    try:
        return int(own.read(_ROLLED_BACK))
    except FileNotFoundError:
        return -1
    except (DamagedFileError, ValueError):
        return _UNKNOWN


def _parsed(storage: Storage, name: str) -> list[str] | None:
    """Return the lines of a file of Spark's logs (a version, JSON, offsets); None if the file is damaged or missing."""
    try:
        lines = storage.read(name).decode().splitlines()
        whole = len(lines) > 1 and lines[0][:1] == "v" and isinstance(json.loads(lines[1]), dict)
    except (FileNotFoundError, DamagedFileError, ValueError):
        return None
    return lines if whole else None


def _offset(lines: list[str] | None) -> int | None:
    """Return the offset of the first source, which is the assignment stream."""
    if lines is None or len(lines) < 3:
        return None
    if lines[2] == _NO_OFFSET:
        return -1
    return int(lines[2]) if lines[2].lstrip("-").isdigit() else None
