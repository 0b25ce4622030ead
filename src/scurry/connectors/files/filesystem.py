"""File systems: local paths through plain `open`, object stores and HDFS through pyarrow."""

from __future__ import annotations

import io
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from scurry._dataclasses import dataclass
from scurry.connectors.files import azure, gcs
from scurry.connectors.files.storage_errors import reaching, without_credentials
from scurry.errors import SourceNotFoundError, UnsupportedError

_ARROW_SCHEMES = {"s3": "s3", "s3a": "s3", "s3n": "s3", "hdfs": "hdfs", "viewfs": "viewfs"}


@dataclass(frozen=True)
class FileStatus:
    """A file: its path in the file system, its size in bytes, its modification time in milliseconds."""

    path: str
    size: int
    modified: int


class FileSystem(ABC):
    """The operations that sources and sinks need; paths are those that `file_system` returns, or below them."""

    @abstractmethod
    def files(self, path: str) -> Iterator[FileStatus]:
        """Yield a file, or all files below a directory, except hidden ones (names that begin with `.` or `_`).

        Raises:
            SourceNotFoundError: There is nothing at the path.
        """

    @abstractmethod
    def entries(self, directory: str) -> list[tuple[str, bool]]:
        """Return the entries of a directory, including hidden ones: names, and whether they are directories.

        The list is empty if the directory does not exist.
        """

    @abstractmethod
    def open_input(self, path: str) -> BinaryIO:
        """Open a seekable file for reading."""

    @abstractmethod
    def open_output(self, path: str) -> BinaryIO:
        """Create a file and its parent directories."""

    @abstractmethod
    def rename(self, source: str, target: str) -> None:
        """Move a file within the file system, replacing the target; atomic where the file system is (local, HDFS)."""

    @abstractmethod
    def delete(self, path: str) -> None:
        """Delete a file or a directory with its content; do nothing if it does not exist."""

    @abstractmethod
    def exists(self, path: str) -> bool:
        """Return whether there is a file or directory at the path."""

    @abstractmethod
    def force(self, path: str) -> None:
        """Let a closed file, or the names in a directory, survive a crash of the machine."""


def file_system(path: str | os.PathLike[str]) -> tuple[FileSystem, str]:
    """Return the file system of a path, and the path within it.

    Args:
        path: A local path, or a `file:`, `s3://`, `gs://`, `abfss://` or `hdfs://` address.

    Raises:
        UnsupportedError: The scheme is not supported, or its library is missing.
    """
    text = os.fspath(path)
    if (local := local_path(text)) is not None:
        return _LOCAL, local
    scheme, _, rest = text.partition(":")
    if scheme in azure.SCHEMES and rest.startswith("//"):
        found, inner, contact = azure.azure_file_system(text)
        return ArrowFileSystem(found, contact), inner
    if scheme in gcs.SCHEMES and rest.startswith("//"):
        found, inner = gcs.gcs_file_system(text)
        return ArrowFileSystem(found), inner
    if scheme in _ARROW_SCHEMES and rest.startswith("//"):
        from pyarrow import fs

        try:
            arrow, inner = fs.FileSystem.from_uri(_ARROW_SCHEMES[scheme] + ":" + rest)
        except OSError as error:
            raise UnsupportedError(
                f"{without_credentials(text)} cannot be reached: {error}. hdfs:// and viewfs:// need Hadoop's "
                "libhdfs.so: set HADOOP_HOME or ARROW_LIBHDFS_DIR, and CLASSPATH to what `hadoop classpath --glob` "
                "prints"
            ) from error
        return ArrowFileSystem(arrow), inner
    raise UnsupportedError(
        f"{without_credentials(text)}: scurry reads and writes local paths, file:, s3://, gs://, abfss:// and hdfs://, "
        f"but not {scheme}:; for what only Spark can reach, use env.from_spark(...)"
    )


def local_path(text: str) -> str | None:
    """Return the absolute local path of an address, None if it belongs to another file system."""
    scheme, colon, rest = text.partition(":")
    if not colon or "/" in scheme or os.path.isabs(text):
        return os.path.abspath(text)
    if scheme == "file":
        return os.path.abspath(unquote(urlsplit(text).path))
    return None if rest.startswith("/") else os.path.abspath(text)


class LocalFileSystem(FileSystem):
    """Files on local disks, or on a disk mounted on all machines of the cluster."""

    def files(self, path: str) -> Iterator[FileStatus]:
        """Yield a file or the visible files below a directory."""
        try:
            stat = os.stat(path)
        except FileNotFoundError:
            raise _not_found(path) from None
        if not os.path.isdir(path):
            yield FileStatus(path, stat.st_size, stat.st_mtime_ns // 1_000_000)
            return
        yield from self._walk(path)

    def _walk(self, directory: str) -> Iterator[FileStatus]:
        with os.scandir(directory) as entries:
            for entry in entries:
                if hidden(entry.name):
                    continue
                if entry.is_dir():
                    yield from self._walk(entry.path)
                    continue
                try:
                    stat = entry.stat()
                except FileNotFoundError:
                    continue  # deleted since the directory was listed
                yield FileStatus(entry.path, stat.st_size, stat.st_mtime_ns // 1_000_000)

    def entries(self, directory: str) -> list[tuple[str, bool]]:
        try:
            with os.scandir(directory) as entries:
                return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except FileNotFoundError:
            return []

    def open_input(self, path: str) -> BinaryIO:
        return open(path, "rb")

    def open_output(self, path: str) -> BinaryIO:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return open(path, "wb")

    def rename(self, source: str, target: str) -> None:
        """Move atomically."""
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace(source, target)

    def delete(self, path: str) -> None:
        """Delete a file or tree."""
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
            return
        try:
            os.remove(path)
        except FileNotFoundError:
            return

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def force(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class ArrowFileSystem(FileSystem):
    """A pyarrow file system: object stores and HDFS.

    A rename on an object store copies and deletes: readers never see half a file, but may see both names for a moment.
    """

    def __init__(self, arrow: Any, contact: Callable[[], None] | None = None) -> None:
        """Wrap a `pyarrow.fs.FileSystem`.

        Args:
            arrow: The file system.
            contact: Raises an OSError if the store is not there, sooner than the store's client would.
        """
        self._arrow, self._contact = arrow, contact

    @contextmanager
    def _reaching(self, path: str) -> Iterator[None]:
        with reaching(f"{self._arrow.type_name}://{path}"):
            if self._contact is not None:
                self._contact()
            yield

    def files(self, path: str) -> Iterator[FileStatus]:
        """Yield a file or the visible files below a directory."""
        from pyarrow import fs

        with self._reaching(path):
            info = self._arrow.get_file_info(path)
        if info.type == fs.FileType.NotFound:
            raise _not_found(path)
        if info.type == fs.FileType.File:
            yield _arrow_status(info)
            return
        with self._reaching(path):
            entries = self._arrow.get_file_info(fs.FileSelector(path, recursive=True))
        for entry in entries:
            inner = entry.path[len(path) :].strip("/")
            if entry.type == fs.FileType.File and not any(map(hidden, inner.split("/"))):
                yield _arrow_status(entry)

    def entries(self, directory: str) -> list[tuple[str, bool]]:
        from pyarrow import fs

        with self._reaching(directory):
            infos = self._arrow.get_file_info(fs.FileSelector(directory, allow_not_found=True))
        return [(info.base_name, info.type == fs.FileType.Directory) for info in infos]

    def open_input(self, path: str) -> BinaryIO:
        with self._reaching(path):
            # pyarrow's files have no readline
            return io.BufferedReader(self._arrow.open_input_file(path))

    def open_output(self, path: str) -> BinaryIO:
        with self._reaching(path):
            self._arrow.create_dir(path.rpartition("/")[0], recursive=True)
            return cast(BinaryIO, self._arrow.open_output_stream(path))

    def rename(self, source: str, target: str) -> None:
        """Move, replacing the target."""
        with self._reaching(target):
            self._arrow.create_dir(target.rpartition("/")[0], recursive=True)
            try:
                self._arrow.move(source, target)
            except NotImplementedError:  # Azure without hierarchical namespaces
                self._arrow.copy_file(source, target)
                self._arrow.delete_file(source)

    def delete(self, path: str) -> None:
        """Delete a file or tree."""
        from pyarrow import fs

        with self._reaching(path):
            kind = self._arrow.get_file_info(path).type
            if kind == fs.FileType.Directory:
                self._arrow.delete_dir(path)
            elif kind == fs.FileType.File:
                self._arrow.delete_file(path)

    def exists(self, path: str) -> bool:
        from pyarrow import fs

        with self._reaching(path):
            return bool(self._arrow.get_file_info(path).type != fs.FileType.NotFound)

    def force(self, path: str) -> None:
        """Do nothing: the store answers when it has a file."""


_LOCAL = LocalFileSystem()


def hidden(name: str) -> bool:
    """Return whether sources skip files and directories of this name."""
    return name.startswith((".", "_"))


def _arrow_status(info: Any) -> FileStatus:
    return FileStatus(info.path, info.size, (info.mtime_ns or 0) // 1_000_000)


def _not_found(path: str) -> SourceNotFoundError:
    return SourceNotFoundError(f"there is no file or directory {path}; check the path")
