"""Where a started job goes on; and how far it goes back when files of its checkpoint are damaged.

A batch is committed when Spark has its offsets and its commit on record, the state it made can be loaded, and our own
log says what was fed after it. If that cannot be said of the newest batch, it is taken back: its records and its state
are deleted, and Spark computes it again under the same id. What Spark's offsets say about the batches taken back is
kept beside the assignments, so that each is made of the same input again, whatever its sinks remember of it.

Logs are read before the query starts. State is only read when the query could not load it: by Spark's own reader, batch
by batch backwards, before anything is deleted.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scurry.errors import CheckpointCorruptedError
from scurry.spark.checkpoint.assignment_log import AssignmentLog, LogEntry
from scurry.spark.checkpoint.storage import DamagedFileError, Storage

#: Beside the log's entries: batch id -> last assignment of the batches taken back.
_REPLAYS = "assignments/replays"
_NO_OFFSET = "-"


@dataclass(frozen=True)
class RestartPoint:
    """Where a job goes on.

    Attributes:
        committed: The newest committed batch, -1 if there is none.
        entries: What was fed after it, beginning with the entry that says where the sources stood at its end.
        replays: The last assignments of the batches that were computed before and come again, in order.
    """

    committed: int = -1
    entries: Sequence[LogEntry] = ()
    replays: Sequence[int] = ()


@dataclass
class Rollback:
    """The records of a checkpoint, read with suspicion.

    Attributes:
        directory: The checkpoint, for messages.
        own: Our files in it.
        spark: Spark's checkpoint.
        unreadable_state: Tells why the state after a batch cannot be loaded; None if it can.
        note: Tells the user something.
    """

    directory: str
    own: Storage
    spark: Storage
    unreadable_state: Callable[[int], str | None]
    note: Callable[[str], None]
    _ends: dict[int, int | None] = field(default_factory=dict)
    _entries: dict[int, LogEntry | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._log = AssignmentLog(self.own)

    def restart_point(self) -> RestartPoint:
        """The newest batch that the job can go on from; whatever comes after it and is in the way is taken back.

        Raises:
            CheckpointCorruptedError: There is none.
        """
        self._look()
        committed, faults = self._newest(self._last)
        self._take_back(committed, faults)
        return RestartPoint(committed, self._fed_after(committed) or [], list(self._known_ends(committed).values()))

    def take_back_unreadable_state(self) -> bool:
        """Takes batches back until the state can be loaded; says whether there was anything wrong with it.

        Raises:
            CheckpointCorruptedError: No state that can be loaded is left.
        """
        self._look()
        newest, faults = self._newest(self._last)
        committed = newest
        while committed >= 0 and (reason := self.unreadable_state(committed)) is not None:
            faults.append(f"the state after batch {committed} cannot be loaded ({reason})")
            committed, faults = self._newest(committed - 1, faults)
        if committed == newest:
            return False
        self._take_back(committed, faults)
        return True

    # ---------------------------------------------------------------- what there is

    def _look(self) -> None:
        self._offsets, self._commits = self._batches("offsets"), self._batches("commits")
        self._last = max(self._offsets | self._commits, default=-1)
        self._firsts = self._log.firsts()
        self._ends.clear()
        self._entries.clear()

    def _batches(self, log: str) -> set[int]:
        return {int(name) for name in self.spark.list(log) if name.isdigit()}

    def _newest(self, batch: int, faults: Sequence[str] = ()) -> tuple[int, list[str]]:
        """The newest batch up to this one whose records are whole, and what is wrong with those after it."""
        found = list(faults)
        oldest = min(self._offsets | self._commits, default=0)
        while batch >= oldest:
            fault = self._fault(batch)
            if fault is None:
                return batch, found
            if batch in self._commits or batch < self._last:  # else it was at work when the job ended
                found.append(fault)
            batch -= 1
        if oldest > 0 or (self._firsts and self._firsts[0] > 0):
            found = found or [f"spark/ has nothing to go with {self._log.path(self._firsts[0])}"]
            more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
            raise CheckpointCorruptedError(
                f"the checkpoint in {self.directory} is damaged: {'; '.join(found[:3])}{more}. Nothing earlier is kept "
                "that the job could go on from. Restore the files from a copy, start from a savepoint, or give the job "
                "another execution.checkpointing.dir to begin anew"
            )
        return -1, found

    def _fault(self, batch: int) -> str | None:
        """Why the job cannot go on after a batch."""
        if not self._is_committed(batch):
            return f"spark/commits/{batch} is {'damaged' if batch in self._commits else 'missing'}"
        for needed in (batch, batch + 1 if self._stays_planned(batch + 1, batch) else batch - 1):
            if needed >= 0 and self._end(needed) is None:
                return f"spark/offsets/{needed} is {'damaged' if needed in self._offsets else 'missing'}"
        return None if self._fed_after(batch) is not None else self._missing_entry(batch)

    def _missing_entry(self, batch: int) -> str:
        last = self._end(batch)
        at = bisect_right(self._firsts, last or 0) - 1
        if at >= 0 and self._entry(self._firsts[at]) is None:
            return f"{self._log.path(self._firsts[at])} is damaged"
        return f"the entry of assignment {last} is missing in assignments/"

    def _stays_planned(self, batch: int, committed: int) -> bool:
        """Whether Spark may repeat a batch as it had planned it: it knows how, and all it was fed is there."""
        end = self._end(batch)
        return end is not None and end < self._fed(committed)

    def _is_committed(self, batch: int) -> bool:
        return batch in self._commits and _parsed(self.spark, f"commits/{batch}") is not None

    def _end(self, batch: int) -> int | None:
        """The last assignment of a batch and all before it, -1 if none was fed yet; None if it cannot be told."""
        if batch not in self._ends:
            lines = _parsed(self.spark, f"offsets/{batch}") if batch in self._offsets else None
            self._ends[batch] = _offset(lines)
        return self._ends[batch]

    def _fed_after(self, batch: int) -> list[LogEntry] | None:
        """The entries from the one that ends a batch on, without a gap; None if that one cannot be read."""
        last = self._end(batch) if batch >= 0 else -1
        if last is None:
            return None
        at = bisect_right(self._firsts, last) - 1
        holder = self._entry(self._firsts[at]) if at >= 0 else None
        if holder is None or holder.end <= last:
            # an entry that begins right after it tells as much
            at += 1
            holder = self._entry(last + 1) if self._firsts[at : at + 1] == [last + 1] else None
        if holder is None:
            return None if last >= 0 else []
        entries = [holder]
        for first in self._firsts[at + 1 :]:
            entry = self._entry(first)
            if entry is None or first != entries[-1].end:
                break
            entries.append(entry)
        return entries

    def _fed(self, committed: int) -> int:
        """The number after the last assignment that is known without a gap."""
        entries = self._fed_after(committed)
        return entries[-1].end if entries else 0

    def _entry(self, first: int) -> LogEntry | None:
        if first not in self._entries:
            try:
                self._entries[first] = self._log.read(first)
            except (DamagedFileError, FileNotFoundError):
                self._entries[first] = None
        return self._entries[first]

    # ---------------------------------------------------------------- taking back

    def _take_back(self, committed: int, faults: list[str]) -> None:
        """Deletes what comes after a batch, except the plan of the next one."""
        planned = committed + 1 if self._stays_planned(committed + 1, committed) else committed
        commits = sorted((batch for batch in self._commits if batch > committed), reverse=True)
        offsets = sorted((batch for batch in self._offsets if batch > planned), reverse=True)
        lost = [first for first in self._firsts if first >= self._fed(committed)]
        if not (commits or offsets or lost):
            return
        self._remember_ends(committed)
        # In this order: whatever is left when this is interrupted is found wanting by the next start, too.
        self._delete_state_after(committed)
        for batch in commits:
            self.spark.delete(f"commits/{batch}")
        for batch in offsets:
            self.spark.delete(f"offsets/{batch}")
        for first in reversed(lost):
            self._log.delete(first)
        self.note(
            self._report(committed, commits, offsets, faults, [first for first in lost if not self._entry(first)])
        )
        self._look()

    def _report(
        self, committed: int, commits: list[int], offsets: list[int], faults: list[str], lost: list[int]
    ) -> str:
        reasons = faults or [f"spark/offsets/{batch} is damaged" for batch in offsets if self._end(batch) is None]
        reasons = reasons or [f"{self._log.path(first)} is damaged" for first in lost]
        if commits:
            what = f"batches {committed + 1} to {commits[0]} are taken back and computed again"
            what = f"batch {commits[0]} is taken back and computed again" if len(commits) == 1 else what
        else:
            what = f"batch {committed + 1} is planned anew"
        why = "; ".join(dict.fromkeys(reasons)) or "its records do not fit together"
        return f"the checkpoint in {self.directory} is damaged, {what}: {why}"

    def _remember_ends(self, committed: int) -> None:
        self.own.write(_REPLAYS, json.dumps(self._known_ends(committed)).encode())

    def _known_ends(self, committed: int) -> dict[int, int]:
        """The last assignments of the batches after this one that were planned before, as far as they are known.

        The end of a batch in the midst whose record is lost is set so that all later batches keep their ids.
        """
        known = self._remembered_ends()
        known |= {batch: end for batch in self._offsets if batch > committed and (end := self._end(batch)) is not None}
        end, fed = self._end(committed) if committed >= 0 else None, self._fed(committed)
        last = -1 if end is None else end
        ends: dict[int, int] = {}
        for batch in range(committed + 1, max(known, default=-1) + 1):
            last = known.get(batch, last + 1)
            if last >= fed:
                break
            ends[batch] = last
        return ends

    def _remembered_ends(self) -> dict[int, int]:
        try:
            return {int(batch): end for batch, end in json.loads(self.own.read(_REPLAYS)).items()}
        except (FileNotFoundError, DamagedFileError, ValueError):
            return {}  # batches then hold more than they did, but nothing is lost

    def _delete_state_after(self, committed: int) -> None:
        """Deletes state that later batches made: loading a later version must not find a snapshot of the old ones."""
        for operator in self.spark.list("state"):
            for partition in filter(str.isdigit, self.spark.list(f"state/{operator}")):
                directory = f"state/{operator}/{partition}"
                for name in self.spark.list(directory):
                    version, _, kind = name.partition(".")
                    if kind in ("changelog", "zip") and version.isdigit() and int(version) > committed + 1:
                        self.spark.delete(f"{directory}/{name}")


def _parsed(storage: Storage, name: str) -> list[str] | None:
    """The lines of a file of one of Spark's logs: a version, JSON, and offsets; None if it is none."""
    try:
        lines = storage.read(name).decode().splitlines()
        whole = len(lines) > 1 and lines[0][:1] == "v" and isinstance(json.loads(lines[1]), dict)
    except (FileNotFoundError, DamagedFileError, ValueError):
        return None
    return lines if whole else None


def _offset(lines: list[str] | None) -> int | None:
    """What the first source, our own stream, had got to."""
    if lines is None or len(lines) < 3:
        return None
    if lines[2] == _NO_OFFSET:
        return -1
    return int(lines[2]) if lines[2].lstrip("-").isdigit() else None
