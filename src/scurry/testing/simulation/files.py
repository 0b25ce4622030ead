"""Python's calls to the operating system as operations of a simulated machine, for files of its directory."""

from __future__ import annotations

import builtins
import io
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from scurry._dataclasses import dataclass
from scurry.testing.simulation.determined import replaced
from scurry.testing.simulation.machine import Machine

__all__ = ["SimulatedDisk"]

_open, _os_open, _connect, _listdir, _scandir = builtins.open, os.open, sqlite3.connect, os.listdir, os.scandir
_close, _rmtree = os.close, shutil.rmtree
_replace, _rename, _unlink, _rmdir, _mkdir, _fsync = os.replace, os.rename, os.unlink, os.rmdir, os.mkdir, os.fsync


@dataclass(frozen=True)
class _Undo:
    """A call that undoes a change of a directory."""

    call: Callable[[], object]


def _content(path: str) -> bytes | None:
    try:
        with _open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


class _Raw(io.FileIO):
    """A file of the simulated disk, opened to be written."""

    disk: SimulatedDisk

    def write(self, data: Any) -> int:
        """Write, unless the process has died: then the data is lost, as all that was in buffers."""
        machine = self.disk.machine
        if machine.dead:
            return len(data)
        path = str(self.name)
        torn = machine.operation("write", f"{path} {len(data)}") == "tear"
        if torn:
            part = machine.chance.randint(0, max(0, len(data) - 1))
            super().write(bytes(data)[:part])
            machine.die()
        self.disk.changed(path, self.seek(0, os.SEEK_END) if "a" in self.mode else self.tell())
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        """Cut the file, as an operation that only a living process has."""
        machine, path = self.disk.machine, str(self.name)
        machine.operation("write", f"{path} cut")
        self.disk.changed(path, self.tell() if size is None else size)
        return super().truncate(size)


class SimulatedDisk:
    """The files below a directory. What was not forced to the disk may be lost in a crash of the machine.

    Changes of directories are lost in the reverse of their order; forcing any file to the disk keeps those before it,
    as journals of file systems do. A content that was not forced is lost as a whole, in part, or not at all.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.root = machine.root + os.sep
        #: file -> its content when it was forced to the disk last
        self._unforced: dict[str, bytes] = {}
        #: file -> how many of its first bytes have been left alone since: a crash does not lose them
        self._untouched: dict[str, int] = {}
        #: file -> the operation that changed it last
        self._changed_at: dict[str, int] = {}
        #: operations after which the machine writes back a file by itself; None if it never does
        self.written_back_after: int | None = None
        self._undo: list[_Undo] = []
        self._descriptors: dict[int, str] = {}
        #: databases that are open
        self.connections: list[sqlite3.Connection] = []
        #: whether calls are those of the machine itself
        self._by_machine = False

    def here(self, path: Any) -> str | None:
        """Return the absolute path of a file of the directory, None for another."""
        if self._by_machine or not isinstance(path, str | os.PathLike):
            return None
        text = os.path.abspath(os.fspath(path))
        return text if isinstance(text, str) and text.startswith(self.root) else None

    @contextmanager
    def by_machine(self) -> Iterator[None]:
        """Let calls be those of the machine itself, without faults, while a `with` block runs."""
        before, self._by_machine = self._by_machine, True
        try:
            yield
        finally:
            self._by_machine = before

    # ---------------------------------------------------------------- crashes

    def changed(self, path: str, position: int = 0) -> None:
        """Keep the content of a file, which is about to be changed from a position on."""
        if path not in self._unforced:
            self._unforced[path] = _content(path) or b""
            self._untouched[path] = len(self._unforced[path])
        self._untouched[path] = min(position, self._untouched.get(path, 0))
        self._changed_at[path] = self.machine.operations

    def forced(self, path: str | None) -> None:
        """Keep all changes of directories, and the content of a file: it was forced to the disk."""
        self._undo.clear()
        if path is not None:
            self._unforced.pop(path, None)
            self._untouched.pop(path, None)

    def end_process(self) -> None:
        """Close the files of a process that ends: locks of a dead one do not last."""
        for connection in list(self.connections):
            connection.close()

    def lose(self) -> None:
        """Lose changes that were not forced to the disk, as a crash of the machine does."""
        with self.by_machine():
            self._lose()

    def _lose(self) -> None:
        chance = self.machine.chance
        for path, before in sorted(self._unforced.items()):
            now = _content(path)
            if now is None or self._is_written_back(path):
                continue
            least = min(self._untouched.get(path, 0), len(now))
            kept = chance.choice((now, before, now[: chance.randint(least, len(now))]))
            if kept != now:
                self.machine.note(f"lost {path.removeprefix(self.root)} {len(now)} {len(kept)}")
                with _open(path, "wb") as file:
                    file.write(kept)
        lost = chance.randint(0, len(self._undo))
        for undo in reversed(self._undo[len(self._undo) - lost :]):
            undo.call()
        self.machine.note(f"lost {lost} of {len(self._undo)} changes of directories")
        self._unforced.clear()
        self._untouched.clear()
        self._undo.clear()

    def _is_written_back(self, path: str) -> bool:
        most = self.written_back_after
        return most is not None and self.machine.operations - self._changed_at.get(path, 0) > most

    # ---------------------------------------------------------------- calls

    def open(self, file: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:
        """Open a file as `open` does."""
        path = self._descriptors.get(file) if isinstance(file, int) else self.here(file)
        if path is None:
            return _open(file, mode, buffering, *args, **kwargs)
        if not set(mode) & set("wax+"):
            self.machine.operation("read", path)
            return _open(file, mode, buffering, *args, **kwargs)
        existed = os.path.lexists(path)
        opener = kwargs.pop("opener", None)
        if isinstance(file, int):  # opened by `os.open`
            opener = lambda *args: file  # noqa: E731
        else:
            self.machine.operation("create", path)
        before = (_content(path) or b"") if existed else b""
        raw = _Raw(path, mode.replace("b", "").replace("t", ""), opener=opener)
        raw.disk = self
        if existed and "w" in mode:
            self._unforced.setdefault(path, before)
        elif not existed:
            self._unforced.setdefault(path, b"")
            self._undo.append(_Undo(lambda: _remove(path)))
        self._descriptors[raw.fileno()] = path
        if "b" in mode:
            if buffering == 0:
                return raw
            return io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        encoding, newline = kwargs.get("encoding"), kwargs.get("newline")
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding or "utf-8", newline=newline)

    def os_open(self, file: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        """Act as `os.open`, as an operation."""
        path = self.here(file) if dir_fd is None else None
        if path is None:
            return _os_open(file, flags, mode, dir_fd=dir_fd)
        created = flags & os.O_CREAT and not os.path.lexists(path)
        self.machine.operation("create" if created else "read", path)
        descriptor = _os_open(file, flags, mode)
        if created:
            self._unforced.setdefault(path, b"")
            self._undo.append(_Undo(lambda: _remove(path)))
        self._descriptors[descriptor] = path
        return descriptor

    def close(self, descriptor: int) -> None:
        """Act as `os.close`."""
        self._descriptors.pop(descriptor, None)
        _close(descriptor)

    def replace(self, source: Any, target: Any, **kwargs: Any) -> None:
        """Act as `os.replace`, as an operation."""
        before, after = self.here(source), self.here(target)
        if before is None or after is None:
            return _replace(source, target, **kwargs)
        self.machine.operation("rename", f"{before} {after}")
        there = _content(after) if os.path.isfile(after) else None
        _replace(before, after)
        moved, untouched = self._unforced.pop(before, None), self._untouched.pop(before, 0)
        replaced = self._unforced.pop(after, None)
        if moved is not None:
            self._unforced[after], self._untouched[after] = moved, untouched
            self._changed_at[after] = self._changed_at.get(before, 0)
        self._undo.append(_Undo(lambda: _move_back(before, after, there if replaced is None else replaced)))

    def unlink(self, file: Any, *, dir_fd: int | None = None) -> None:
        """Act as `os.unlink`, as an operation."""
        path = self.here(file) if dir_fd is None else None
        if path is None:
            return _unlink(file, dir_fd=dir_fd)
        self.machine.operation("delete", path)
        there = _content(path)
        _unlink(path)
        self._unforced.pop(path, None)
        if there is not None:
            self._undo.append(_Undo(lambda: _write(path, there)))

    def rmdir(self, file: Any, *, dir_fd: int | None = None) -> None:
        """Act as `os.rmdir`, as an operation."""
        path = self.here(file) if dir_fd is None else None
        if path is None:
            return _rmdir(file, dir_fd=dir_fd)
        self.machine.operation("delete", path)
        _rmdir(path)
        self._undo.append(_Undo(lambda: os.makedirs(path, exist_ok=True)))

    def mkdir(self, file: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        """Act as `os.mkdir`, as an operation."""
        path = self.here(file) if dir_fd is None else None
        if path is None:
            return _mkdir(file, mode, dir_fd=dir_fd)
        if not os.path.isdir(path):
            self.machine.operation("create", path)
        _mkdir(path, mode)
        self._undo.append(_Undo(lambda: shutil.rmtree(path, ignore_errors=True)))

    def fsync(self, descriptor: Any) -> None:
        """Act as `os.fsync`, as an operation."""
        number = descriptor if isinstance(descriptor, int) else descriptor.fileno()
        path = self._descriptors.get(number)
        if path is not None:
            self.machine.operation("sync", path)
            self.forced(path)

    def rmtree(self, path: Any, ignore_errors: bool = False, *args: Any, **kwargs: Any) -> None:
        """Act as `shutil.rmtree`, which does not do the same calls in each version of Python."""
        if (directory := self.here(path)) is None:
            return _rmtree(path, ignore_errors, *args, **kwargs)
        with suppress(OSError) if ignore_errors else nullcontext():
            with self.scandir(directory) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        self.rmtree(entry.path, ignore_errors)
                        continue
                    with suppress(OSError) if ignore_errors else nullcontext():
                        self.unlink(entry.path)
            self.rmdir(directory)

    def listdir(self, path: Any = ".") -> list[str]:
        """Act as `os.listdir`, as an operation."""
        found = _listdir(path)
        if (directory := self.here(path)) is None:
            return found
        self.machine.operation("list", directory)
        self.machine.chance.shuffle(found := sorted(found))
        return found

    def scandir(self, path: Any = ".") -> Any:
        """Act as `os.scandir`, as an operation."""
        if (directory := self.here(path)) is None:
            return _scandir(path)
        self.machine.operation("list", directory)
        with _scandir(path) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        self.machine.chance.shuffle(found)
        return _Entries(found)

    def connect(self, database: Any, *args: Any, **kwargs: Any) -> Any:
        """Act as `sqlite3.connect`, as an operation."""
        path = self.here(database)
        if path is None:
            return _connect(database, *args, **kwargs)
        # no wait for locks: who holds one is in this thread
        kwargs = {**kwargs, "factory": _Connection, "timeout": 0.0}
        connection: _Connection = _connect(database, *args, **kwargs)
        connection.disk = self
        self.connections.append(connection)
        return connection

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let Python's calls be operations of this disk while a `with` block runs."""
        calls = [
            (builtins, "open", self.open),
            (io, "open", self.open),
            (os, "open", self.os_open),
            (os, "close", self.close),
            (os, "replace", self.replace),
            (os, "rename", self.replace),
            (os, "unlink", self.unlink),
            (os, "remove", self.unlink),
            (os, "rmdir", self.rmdir),
            (os, "mkdir", self.mkdir),
            (os, "fsync", self.fsync),
            (os, "listdir", self.listdir),
            (os, "scandir", self.scandir),
            (sqlite3, "connect", self.connect),
            (shutil, "rmtree", self.rmtree),
        ]
        with replaced(calls):
            yield


class _Entries:
    """The entries of a directory, as `os.scandir` returns them."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:
        return next(self._entries)

    def __enter__(self) -> _Entries:
        return self

    def __exit__(self, *error: object) -> None:
        return

    def close(self) -> None:
        return


class _Connection(sqlite3.Connection):
    """A database of the simulated disk: each statement is an operation, a transaction is whole and forced."""

    disk: SimulatedDisk | None = None

    def execute(self, sql: str, *args: Any) -> Any:
        """Execute a statement of a process that lives; a dead one only takes its changes back."""
        if self.disk is not None and sql != "ROLLBACK":  # of a dead process, too: its changes do not last
            self.disk.machine.operation("sql", sql.split(" (", 1)[0])
        result = super().execute(sql, *args)
        if sql == "COMMIT" and self.disk is not None:
            self.disk.forced(None)
        return result

    def close(self) -> None:
        if self.disk is not None and self in self.disk.connections:
            self.disk.connections.remove(self)
        super().close()

    def executemany(self, sql: str, *args: Any) -> Any:
        if self.disk is not None:
            self.disk.machine.operation("sql", sql.split(" (", 1)[0])
        return super().executemany(sql, *args)


def _remove(path: str) -> None:
    if os.path.lexists(path):
        _unlink(path)


def _write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with _open(path, "wb") as file:
        file.write(content)


def _move_back(before: str, after: str, there: bytes | None) -> None:
    if os.path.lexists(after):
        os.makedirs(os.path.dirname(before), exist_ok=True)
        _replace(after, before)
    if there is not None:
        _write(after, there)
