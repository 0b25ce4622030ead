"""The SQLite database of a checkpoint directory: job, state, source positions and output of the last checkpoint.

A checkpoint is one transaction, which writes the entries of the state that have changed. With a write-ahead log it is
forced to the disk once; the log is moved to the database every thousand pages, and is deleted when the job ends.

SQLite does not notice changed bytes, so the sum of the digests of all entries is kept with the checkpoint, and a digest
over all else. A damaged end of the log is an earlier checkpoint: `committed` tells if the sinks have gone beyond it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from scurry.errors import CheckpointCorruptedError, CheckpointError
from scurry.runtime.checkpoint.storage import storage_full
from scurry.runtime.state.store import UndoStore

#: State by level and subtask.
Stores = dict[tuple[int, int], UndoStore]

_TABLES = (
    "CREATE TABLE IF NOT EXISTS checkpoint (job BLOB, batch INTEGER, positions BLOB, state BLOB, digest BLOB)",
    "CREATE TABLE IF NOT EXISTS entries (level INTEGER, subtask INTEGER, uid TEXT, kind TEXT, id INTEGER, blob BLOB, "
    "PRIMARY KEY (level, subtask, uid, kind, id))",
    "CREATE TABLE IF NOT EXISTS output (sink TEXT, position INTEGER, block BLOB)",
)
_PUT = (
    "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (level, subtask, uid, kind, id) DO UPDATE SET blob = excluded.blob"
)
_REMOVE = "DELETE FROM entries WHERE level = ? AND subtask = ? AND uid = ? AND kind = ? AND id = ?"

#: The lock makes shared memory unnecessary; sizes are in bytes, the cache's in KiB and negative.
_PRAGMAS = (
    "locking_mode = EXCLUSIVE",
    "journal_mode = WAL",
    "synchronous = FULL",
    "journal_size_limit = 16777216",
    "cache_size = -65536",
)

_DIGEST_BYTES = 16
_MODULUS = 1 << 8 * _DIGEST_BYTES


class CheckpointDatabase:
    """Read and write the last checkpoint.

    Args:
        path: The file; created if it does not exist.

    Raises:
        CheckpointCorruptedError: It is damaged.
        CheckpointError: It cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise self._damaged("it is a link or no file")
        #: the job as JSON; empty before the first `replace`
        self.job = b""
        #: the id of the last checkpoint's batch, -1 before the first
        self.batch = -1
        #: the pickled source positions after it
        self.positions = b""
        self._state = self._output = 0
        with self._reporting():
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            with self._reporting():
                for pragma in _PRAGMAS:
                    self._connection.execute(f"PRAGMA {pragma}")
            self.refresh()
        except BaseException:
            self._connection.close()  # its lock would be there when the job restarts
            raise

    def close(self) -> None:
        self._connection.close()

    # ---------------------------------------------------------------- reading

    def refresh(self) -> None:
        """Read all but the state; a failed transaction may have been committed or not."""
        with self._reporting():
            self._read()

    def _read(self) -> None:
        names = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        if not names:
            return
        if not names >= {"checkpoint", "entries", "output"}:
            raise self._damaged("it has no tables of checkpoints")
        rows = self._connection.execute("SELECT * FROM checkpoint").fetchall()
        if len(rows) != 1:
            raise self._damaged("it names no checkpoint")
        self.job, self.batch, self.positions, state, digest = rows[0]
        self._output = sum(_digest(*row) for row in self._rows_of_output())
        try:
            self._state = int.from_bytes(state)
            intact = digest == self._digest()
        except (TypeError, AttributeError):
            intact = False
        if not intact:
            raise self._damaged("its checkpoint is not what was written")

    def load(self) -> Stores:
        """Return the state of the last checkpoint.

        Raises:
            CheckpointCorruptedError: It is not what was written.
        """
        stores: Stores = {}
        total = 0
        if not self.job:
            return stores
        with self._reporting():
            for level, subtask, uid, kind, number, blob in self._connection.execute("SELECT * FROM entries"):
                try:
                    total += _digest(level, subtask, uid, kind, number, blob)
                except TypeError:
                    raise self._damaged("its state is not what was written") from None
                store = stores.get((level, subtask))
                if store is None:
                    store = stores[level, subtask] = UndoStore()
                store[uid, kind, number] = blob
        if total % _MODULUS != self._state:
            raise self._damaged("its state is not what was written")
        return stores

    def output(self) -> dict[str, list[tuple[int, bytes]]]:
        """Return the uncommitted output of the last checkpoint: uid of a sink -> position and packed committables."""
        found: dict[str, list[tuple[int, bytes]]] = {}
        if not self.job:
            return found
        with self._reporting():
            for _, sink, position, block in self._rows_of_output():
                found.setdefault(sink, []).append((position, block))
        return found

    def _rows_of_output(self) -> Iterator[tuple[int, str, int, bytes]]:
        yield from self._connection.execute("SELECT rowid, sink, position, block FROM output ORDER BY rowid")

    # ---------------------------------------------------------------- writing

    def save(
        self,
        job: bytes,
        batch: int,
        positions: bytes,
        stores: Mapping[tuple[int, int], UndoStore],
        output: Iterable[tuple[str, int, bytes]],
    ) -> None:
        """Make a checkpoint durable: the changes of the state, and the rest.

        Raises:
            CheckpointStorageFullError: There is no space for it; the earlier checkpoint is still there.
        """
        put: list[tuple[int, int, str, str, int, bytes]] = []
        removed: list[tuple[int, int, str, str, int]] = []
        state = self._state
        for place, store in stores.items():
            for key, before, now in store.changes():
                row = (*place, *key)
                if before is not None:
                    state -= _digest(*row, before)
                if now is None:
                    removed.append(row)
                else:
                    state += _digest(*row, now)
                    put.append((*row, now))
        with self._transaction():
            self._connection.executemany(_REMOVE, removed)
            self._connection.executemany(_PUT, put)
            self._write(job, batch, positions, state, output)

    def replace(self, job: bytes, positions: bytes = b"", keep_output: bool = True) -> None:
        """Begin with empty state, under another description of the job; batches go on from the last one."""
        with self._transaction():
            for table in _TABLES:
                self._connection.execute(table)
            self._connection.execute("DELETE FROM entries")
            output = [row[1:] for row in self._rows_of_output()] if keep_output else []
            self._write(job, self.batch, positions, 0, output)

    def describe(self, job: bytes) -> None:
        """Change only the description of the job."""
        with self._transaction():
            output = [row[1:] for row in self._rows_of_output()]
            self._write(job, self.batch, self.positions, self._state, output)

    def _write(
        self, job: bytes, batch: int, positions: bytes, state: int, output: Iterable[tuple[str, int, bytes]]
    ) -> None:
        """Write all but the entries; the attributes have it once the transaction is committed."""
        rows = [(number, *row) for number, row in enumerate(output)]
        before = (self.job, self.batch, self.positions, self._state, self._output)
        self.job, self.batch, self.positions, self._state = job, batch, positions, state % _MODULUS
        self._output = sum(_digest(*row) for row in rows)
        self._before: tuple[bytes, int, bytes, int, int] | None = before
        self._connection.execute("DELETE FROM output")
        self._connection.executemany("INSERT INTO output (rowid, sink, position, block) VALUES (?, ?, ?, ?)", rows)
        self._connection.execute("DELETE FROM checkpoint")
        values: Sequence[object] = (job, batch, positions, self._state.to_bytes(_DIGEST_BYTES), self._digest())
        self._connection.execute("INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?)", values)

    def _digest(self) -> bytes:
        return _digest(self.job, self.batch, self.positions, self._state, self._output).to_bytes(_DIGEST_BYTES)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._before = None
        with self._reporting():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._before is not None:
                    self.job, self.batch, self.positions, self._state, self._output = self._before
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        """Replace the errors of SQLite by those of checkpoints."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_FULL:
                raise storage_full(self._path.parent) from error
            if isinstance(error, sqlite3.ProgrammingError):  # a mistake of ours
                raise
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, 0):  # 0: text that is none
                raise self._damaged(str(error)) from error
            raise CheckpointError(f"cannot use the checkpoint {self._path}: {error}") from error

    def _damaged(self, reason: str) -> CheckpointCorruptedError:
        return CheckpointCorruptedError(
            f"{self._path} is damaged: {reason}. Nothing earlier is kept from which the job could resume. Restore the "
            "directory from a copy, start from a savepoint, or give the job another execution.checkpointing.dir to "
            "start empty"
        )


def _digest(*parts: object) -> int:
    """Return the digest of values that are text, numbers or bytes, none of which runs into the next one."""
    hashed = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        hashed.update(b"%d:" % len(content))
        hashed.update(content)
    return int.from_bytes(hashed.digest())
