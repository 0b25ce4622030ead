"""CdcEnumerator: assigns chunks of tables to all readers, then ranges of the log to the first one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import (
    CapturedTable,
    CaptureSession,
    ChunkKey,
    ChunkWork,
    LogPosition,
    LogWork,
    Segment,
    Startup,
    TableId,
)
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator

#: Seconds between questions for new changes.
POLL_SECONDS = 0.2
#: Chunks that a reader gets in one micro-batch, at most, and reads as one: what a killed job reads again.
MOST_CHUNKS = 8
#: Bytes of the log in one micro-batch, at most, unless a transaction is larger.
LOG_BYTES = 32 * 1024 * 1024
#: Bytes of the log that a change takes: those of a small row that is changed by itself.
_BYTES_OF_CHANGE = 256
#: Bytes of the log that a micro-batch may always have, even with a small limit of records: each part is a request.
LEAST_LOG_BYTES = 64 * 1024


@dataclass(frozen=True)
class EnumeratorSettings:
    """Settings of the assignment of chunks and of the log.

    Attributes:
        channels: Number of readers.
        startup: Start of reading.
        chunk_rows: Rows of a chunk.
        release_delay: How many commits later than committed the log is released; at least one, because after a restart
            the first commit is announced before its micro-batch is repeated.
        adds_tables: Whether a job that continues reads tables that are new.
        follows_columns: Whether changes have the columns that their table had then.
    """

    channels: int
    startup: Startup
    chunk_rows: int = 8096
    release_delay: int = 3
    adds_tables: bool = False
    follows_columns: bool = False


class CdcEnumerator(Enumerator):
    """Assign chunks of tables, then ranges of the log.

    First the tables, in chunks, while the log is kept; then the log, one range after another. The rows of a chunk are
    those at a moment that its assignment names, and of the log exactly the later changes are passed on.

    Chunks are chosen one micro-batch before they are assigned. So the position that is committed before says which
    they are and what they are read as of, and a job that is killed meanwhile reads the same rows again, also where the
    engine does not log assignments: sinks that write from the tasks have these rows already.
    """

    def __init__(
        self, connect: Callable[[], CaptureSession], settings: EnumeratorSettings, limits: BatchLimits
    ) -> None:
        """Create an enumerator, which connects with the first batch."""
        self._connect = connect
        self._settings = settings
        self._limits = limits
        self._session: CaptureSession | None = None
        self._restored = False
        #: the tables that are captured, as of the start; their columns are those of now
        self._tables: list[CapturedTable] = []
        self._known: list[TableId] = []
        #: tables that are not completely assigned, and the key behind which each goes on
        self._pending: list[tuple[TableId, ChunkKey]] = []
        self._segments: dict[TableId, list[Segment]] = {}
        self._log: LogPosition = None
        self._behind: LogPosition = None
        self._final: set[int] = set()
        #: the chunks of the next micro-batch, by channel
        self._chosen: dict[int, list[ChunkWork]] = {}
        self._more = False
        self._released: LogPosition = None
        #: chunks that are assigned, and those of them that are committed
        self._processed = self._finished = 0
        self._committed: deque[LogPosition] = deque(maxlen=max(1, settings.release_delay) + 1)

    # ---------------------------------------------------------------- assigning

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Limit later batches by records, to whole chunks and parts of the log, and by bytes of the log."""
        self._limits = limits

    def backlog(self) -> Backlog | None:
        """Return an unknown amount while there is more."""
        return Backlog() if self._more else None

    def idle_hint(self) -> float:
        """Return the seconds until the database is asked again."""
        return POLL_SECONDS

    def next_batch(self) -> list[Assignment]:
        """Return chunks for all readers, or a range of the log for the first one."""
        channels = set(range(self._settings.channels))
        if self._final == channels:
            return []
        session = self._session or self._begin()
        works: dict[int, list[Any]] = {**self._chosen}
        self._chosen, self._more = {}, False
        if self._pending:
            self._chosen = self._next_chunks(session)
            works = works or {0: []}  # a micro-batch whose commit keeps what was chosen
        elif not works and not self._settings.startup.ends and (work := self._next_range(session)) is not None:
            works = {0: [work]}
        self._more = self._more or bool(self._chosen)
        self._processed += sum(isinstance(work, ChunkWork) for each in works.values() for work in each)
        ending = set[int]()
        if not self._chosen:
            ending = channels - self._final - (set() if self._settings.startup.ends else {0})
            self._final |= ending
        return [Assignment(at, works.get(at), at in ending) for at in sorted({*works, *ending})]

    def metrics(self) -> Mapping[str, int]:
        """Return Flink CDC's metrics of snapshots; chunks are counted since this start of the job."""
        left = {name for name, _ in self._pending} | {
            work.table.id for works in self._chosen.values() for work in works
        }
        reads_tables = self._settings.startup.reads_tables or bool(left)
        return {
            "isSnapshotting": int(bool(left)),
            "isStreamReading": int(not left and self._session is not None and not self._settings.startup.ends),
            "numTablesRemaining": len(left),
            "numTablesSnapshotted": len(self._known) - len(left) if reads_tables else 0,
            "numSnapshotSplitsProcessed": self._processed,
            "numSnapshotSplitsFinished": self._finished,
        }

    def _begin(self) -> CaptureSession:
        session = self._session = self._connect()
        found, startup = session.tables(), self._settings.startup
        if not self._restored:
            self._tables = found
            self._log = session.start(found, startup)
            self._pending = [(table.id, None) for table in found] if startup.reads_tables else []
        else:
            added = [table.id for table in found if table.id not in self._known] if self._settings.adds_tables else []
            captured = {*self._known, *added}
            self._tables = [table for table in found if table.id in captured]
            session.resume(self._tables, self._log)
            if added:
                session.admit()
            there = {table.id for table in self._tables}
            self._pending = [each for each in self._pending if each[0] in there] + [(each, None) for each in added]
        self._known = [table.id for table in self._tables]
        return session

    def _next_chunks(self, session: CaptureSession) -> dict[int, list[Any]]:
        channels, rows = self._settings.channels, self._settings.chunk_rows
        chunks = max(1, min(MOST_CHUNKS, self._limits.max_records // (rows * channels)))
        mark, works = session.mark(), dict[int, list[Any]]()
        for channel in sorted(set(range(channels)) - self._final):  # tables are added after readers have ended
            if not self._pending:
                break
            name, lower = self._pending[0]
            table = next(each for each in self._tables if each.id == name)
            upper = session.upper_bound(table, lower, rows * chunks)
            works[channel] = [ChunkWork(table, lower, upper, mark, self._log)]
            self._extend(name, Segment(upper, mark))
            self._pending[:1] = [] if upper is None else [(name, upper)]
        self._behind = session.behind_marks()
        return works

    def _extend(self, name: TableId, segment: Segment) -> None:
        segments = self._segments.setdefault(name, [])
        if segments and segments[-1].mark == segment.mark:
            segments.pop()
        segments.append(segment)

    def _next_range(self, session: CaptureSession) -> LogWork | None:
        if self._segments and session.passed(self._log, self._behind):
            self._segments = {}
        most = min(self._limits.max_bytes, self._limits.max_records * _BYTES_OF_CHANGE)
        end, self._more = session.end(self._log, min(LOG_BYTES, max(LEAST_LOG_BYTES, most)))
        if end == self._log:
            return None
        if self._settings.follows_columns:  # after the end is known: no change before it has a column that is newer
            earlier = {table.id: table for table in self._tables}
            self._tables = [table.after(earlier[table.id]) for table in session.tables() if table.id in earlier]
        segments = {name: list(each) for name, each in self._segments.items()}
        work = LogWork(self._log, end, tuple(self._tables), segments, self._settings.follows_columns)
        self._log = end
        return work

    # ---------------------------------------------------------------- position

    def position(self) -> dict[str, Any]:
        """Return the chunks and ranges that are assigned."""
        return {
            "tables": [list(name) for name in self._known],
            "pending": [[list(name), lower] for name, lower in self._pending],
            "segments": [[list(name), [list(each) for each in found]] for name, found in self._segments.items()],
            "log": self._log,
            "behind": self._behind,
            "channels": self._settings.channels,
            "final": sorted(self._final),
            "chosen": [_listed(work) for works in self._chosen.values() for work in works],
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue with the rest that was not assigned; another number of channels has to end again."""
        self._restored = position["log"] is not None
        self._known = [TableId(*name) for name in position["tables"]]
        self._pending = [(TableId(*name), lower) for name, lower in position["pending"]]
        self._segments = {TableId(*name): [Segment(*each) for each in found] for name, found in position["segments"]}
        self._log, self._behind = position["log"], position["behind"]
        same = position["channels"] == self._settings.channels
        self._final = set(position["final"]) if same else set()
        self._chosen = {}
        left = sorted(set(range(self._settings.channels)) - self._final)
        for at, work in enumerate(position.get("chosen", [])):
            self._chosen.setdefault(left[at % len(left)], []).append(_work_of(work))

    def committed(self) -> None:
        """Let the server forget the log before an earlier commit."""
        if self._session is None or self._log is None:
            return
        self._finished = self._processed
        if not self._chosen:
            self._session.settled()
        self._committed.append(self._log)
        if len(self._committed) == self._committed.maxlen and not self._chosen:
            earlier = self._committed.popleft()
            if earlier != self._released:
                self._session.release(earlier)
                self._released = earlier

    def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            self._session.close(len(self._final) == self._settings.channels)


def _listed(work: ChunkWork) -> list[Any]:
    """Return a chunk as JSON-able data."""
    table = [list(work.table.id), *map(list, work.table[1:4]), work.table.chunk_key]
    return [table, work.lower, work.upper, work.mark, work.log]


def _work_of(listed: list[Any]) -> ChunkWork:
    (name, columns, types, key, chunk_key), lower, upper, mark, log = listed
    table = CapturedTable(TableId(*name), tuple(columns), tuple(types), tuple(key), chunk_key)
    return ChunkWork(table, lower, upper, mark, log)
