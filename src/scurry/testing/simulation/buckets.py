"""A simulated object store: objects appear when they are complete, and listings may be old."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple

from scurry.testing.simulation.determined import replaced
from scurry.testing.simulation.machine import Machine

__all__ = ["SimulatedStore"]

_SCHEME = "s3://"


class _Object(NamedTuple):
    """The content of an object, and when it was written, in seconds."""

    content: bytes
    written: float


class _Change(NamedTuple):
    """A change of an object: the number of the operation, and what was there before."""

    operation: int
    path: str
    before: _Object | None


class _Upload(io.BytesIO):
    """An object that is being written; a process that dies before it is closed leaves nothing."""

    def __init__(self, store: SimulatedStore, path: str) -> None:
        super().__init__()
        self._store, self._path = store, path

    def close(self) -> None:
        if not self.closed:
            content = self.getvalue()
            super().close()
            self._store.put(self._path, content)


class SimulatedStore:
    """The objects at all addresses of `s3://`, as a file system of pyarrow: without directories and without renaming.

    A read gives the newest content. A listing gives the objects of some operations ago if the schedule says so.
    """

    type_name: ClassVar[str] = "s3"

    def __init__(self, machine: Machine, contents: Mapping[str, bytes]) -> None:
        self._machine = machine
        begin = machine.clock.wall()
        self._objects = {path: _Object(content, begin + at) for at, (path, content) in enumerate(contents.items())}
        self._changes: list[_Change] = []

    # ---------------------------------------------------------------- objects

    def put(self, path: str, content: bytes) -> None:
        """Write an object, as a whole."""
        if self._machine.dead:
            return
        if self._machine.operation("write", f"{_SCHEME}{path} {len(content)}") == "tear":
            self._machine.die()
        self._set(path, _Object(content, self._machine.clock.wall()))

    def get(self, path: str) -> bytes:
        """Return the content of an object.

        Raises:
            FileNotFoundError: The object does not exist.
        """
        self._machine.operation("read", _SCHEME + path)
        if (found := self._objects.get(path)) is None:
            raise FileNotFoundError(f"{_SCHEME}{path} does not exist")
        return found.content

    def contents(self, directory: str) -> dict[str, bytes]:
        """Return path and content of each object below a directory: no operation, and never old."""
        below = sorted(path for path in self._objects if path.startswith(directory + "/"))
        return {path: self._objects[path].content for path in below}

    def _set(self, path: str, now: _Object | None) -> None:
        self._changes.append(_Change(self._machine.operations, path, self._objects.get(path)))
        if now is None:
            self._objects.pop(path, None)
        else:
            self._objects[path] = now

    def _listed(self, prefix: str) -> dict[str, _Object]:
        machine, shown = self._machine, dict(self._objects)
        if machine.operation("listing", _SCHEME + prefix) == "old":
            begin = machine.operations - machine.dealt[-1].amount
            for change in reversed(self._changes):
                if change.operation < begin:
                    break
                if change.before is None:
                    shown.pop(change.path, None)
                else:
                    shown[change.path] = change.before
        below = prefix.rstrip("/") + "/"
        return {path: shown[path] for path in sorted(shown) if path.startswith(below)}

    # ---------------------------------------------------------------- pyarrow.fs.FileSystem

    def get_file_info(self, of: Any) -> Any:
        """Return the kind and size of a path, or of the entries of a directory."""
        from pyarrow import fs

        if isinstance(of, str):
            if of in self._objects:
                self._machine.operation("read", _SCHEME + of)
                return self._info(of, self._objects[of])
            kind = fs.FileType.Directory if self._listed(of) else fs.FileType.NotFound
            return fs.FileInfo(of, type=kind)
        base, files, directories = of.base_dir.rstrip("/"), list[Any](), dict[str, Any]()
        for path, found in self._listed(base).items():
            inner = path[len(base) + 1 :].split("/")
            for depth in range(1, len(inner) if of.recursive else min(2, len(inner))):
                directory = posixpath.join(base, *inner[:depth])
                directories[directory] = fs.FileInfo(directory, type=fs.FileType.Directory)
            if of.recursive or len(inner) == 1:
                files.append(self._info(path, found))
        return [*directories.values(), *files]

    def _info(self, path: str, found: _Object) -> Any:
        from pyarrow import fs

        return fs.FileInfo(path, type=fs.FileType.File, size=len(found.content), mtime_ns=int(found.written * 1e9))

    def open_input_file(self, path: str) -> Any:
        """Open an object to be read."""
        return io.BytesIO(self.get(path))

    def open_output_stream(self, path: str) -> Any:
        """Open an object to be written."""
        self._machine.operation("create", _SCHEME + path)
        return _Upload(self, path)

    def create_dir(self, path: str, recursive: bool = True) -> None:
        """Do nothing: there are no directories."""

    def move(self, source: str, target: str) -> None:
        """Copy an object, then delete the first one: a process may die between."""
        self.put(target, self.get(source))
        self.delete_file(source)

    def delete_file(self, path: str) -> None:
        """Delete an object."""
        self._machine.operation("delete", _SCHEME + path)
        if path not in self._objects:
            raise FileNotFoundError(f"{_SCHEME}{path} does not exist")
        self._set(path, None)

    def delete_dir(self, path: str) -> None:
        """Delete all objects that a listing shows."""
        for each in self._listed(path):
            self._machine.operation("delete", _SCHEME + each)
            self._set(each, None)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Let addresses of `s3://` lead to this store while a `with` block runs."""
        from pyarrow import fs

        store = self

        class Addresses:
            @staticmethod
            def from_uri(address: str) -> tuple[SimulatedStore, str]:
                return store, address.removeprefix(_SCHEME)

        with replaced([(fs, "FileSystem", Addresses)]):
            yield
