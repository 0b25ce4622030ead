"""Store small files beside Spark's checkpoint, on any file system."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from scurry.errors import CheckpointStorageFullError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Parts of the errors of operating systems and Hadoop that say that space or a quota is used up.
FULL = ("No space left on device", "Disk quota exceeded", "DSQuotaExceeded", "NSQuotaExceeded")

#: Names of unfinished files of Spark and scurry, and of the directories of links that savepoints are read from.
_LEFTOVER = re.compile(r"\..+\.(tmp|tmp\.crc|\d+)|\.savepoint-.*")
#: The same for Hadoop.
_LEFTOVER_GLOB = "{.*.tmp,.savepoint-*}"
#: Levels that are searched on remote storage: not the state's many directories, where leftovers are harmless.
_DEPTH = 2


class DamagedFileError(ValueError):
    """A file is damaged."""


def storage_full(directory: object) -> CheckpointStorageFullError:
    """Return the error of a checkpoint directory that is full."""
    return CheckpointStorageFullError(
        f"no space left in the checkpoint directory {directory}. Nothing is lost: free some space and start the job "
        "again, it resumes with the current batch"
    )


@contextmanager
def reporting_full(directory: object) -> Iterator[None]:
    """Name the checkpoint directory in errors of the operating system about missing space."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise storage_full(directory) from error
        raise


class Storage(Protocol):
    """A directory of small files, written whole or not at all."""

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises:
            FileNotFoundError: The file does not exist.
            DamagedFileError: The file system reports that it is damaged.
        """

    def write(self, name: str, content: bytes) -> None:
        """Create or replace a file atomically.

        Raises:
            CheckpointStorageFullError: There is no space for it.
        """

    def list(self, directory: str) -> list[str]:
        """Return the names in a directory; empty if it does not exist."""

    def delete(self, name: str) -> None:
        """Delete a file, or a directory with its content, if it exists."""

    def sweep(self, deep: bool = True) -> None:
        """Delete unfinished files of killed writers; no other writer may be running.

        Args:
            deep: Whether to search all directories below, too.
        """

    def below(self, directory: str) -> Storage:
        """Return the storage of a directory in this one."""


class LocalStorage:
    """Store files on a local disk.

    Args:
        root: The directory.
        durable: Whether files survive a crash not only of the process but of the machine.
    """

    def __init__(self, root: str, durable: bool = True) -> None:
        self.root = Path(root)
        self._durable = durable

    def read(self, name: str) -> bytes:
        """Return the content of a file; a link counts as damaged."""
        path = self.root / name
        try:
            with open(path, "rb", opener=_no_link) as file:
                return file.read()
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise DamagedFileError(f"{path} is a link") from None
            raise

    def write(self, name: str, content: bytes) -> None:
        """Create or replace a file atomically and durably."""
        path = self.root / name
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            with reporting_full(self.root):
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary.unlink(missing_ok=True)  # of a killed process that had the same pid
                with open(temporary, "xb") as file:  # "x" follows no link
                    file.write(content)
                    if self._durable:
                        file.flush()
                        os.fsync(file.fileno())
                os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def list(self, directory: str) -> list[str]:
        """Return the names in a directory; empty if it does not exist."""
        path = self.root / directory
        return [n for n in os.listdir(path) if not n.startswith(".")] if path.is_dir() else []

    def delete(self, name: str) -> None:
        """Delete a file, or a directory with its content, if it exists."""
        path = self.root / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def sweep(self, deep: bool = True) -> None:
        """Delete unfinished files of killed writers."""
        for directory, directories, files in os.walk(self.root):
            for name in filter(_LEFTOVER.fullmatch, (*directories, *files)):
                self.delete(os.path.join(directory, name))
            directories[:] = [name for name in directories if deep and not _LEFTOVER.fullmatch(name)]

    def below(self, directory: str) -> LocalStorage:
        """Return the storage of a directory in this one."""
        return LocalStorage(str(self.root / directory), self._durable)


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)


class HadoopStorage:
    """Store files on any Hadoop file system (hdfs, s3a, gs, abfss...), through Spark's JVM."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        jvm: Any = spark._jvm
        # looking up a class by its name takes the JVM through all jars, once for each package
        self._new_path, self._to_bytes = jvm.org.apache.hadoop.fs.Path, jvm.org.apache.commons.io.IOUtils.toByteArray
        self._root = self._new_path(root)
        configuration = spark._jsparkSession.sessionState().newHadoopConf()
        self._fs = self._root.getFileSystem(configuration)
        checkpointing = jvm.org.apache.spark.sql.execution.streaming.checkpointing
        #: the manager of Spark's own checkpoints, which knows what each file system can do atomically
        self._files = checkpointing.CheckpointFileManager.create(self._root, configuration)

    def _path(self, name: str) -> Any:
        return self._new_path(self._root, name)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        from py4j.protocol import Py4JJavaError

        try:
            stream = self._fs.open(self._path(name))
            try:
                return bytes(self._to_bytes(stream))
            finally:
                stream.close()
        except Py4JJavaError as error:
            kind = error.java_exception.getClass().getSimpleName()
            if kind == "FileNotFoundException":
                raise FileNotFoundError(str(self._path(name).toString())) from error
            if kind in ("ChecksumException", "EOFException"):
                raise DamagedFileError(error.java_exception.getMessage()) from error
            raise

    def write(self, name: str, content: bytes) -> None:
        """Create or replace a file as atomically as the file system can."""
        from py4j.protocol import Py4JJavaError

        path = self._path(name)
        try:
            self._files.mkdirs(path.getParent())
            stream = self._files.createAtomic(path, True)
            try:
                stream.write(content)
            except Py4JJavaError:
                stream.cancel()
                raise
            stream.close()
        except Py4JJavaError as error:
            if any(word in str(error) for word in FULL):
                raise storage_full(self._root.toString()) from error
            raise

    def list(self, directory: str) -> list[str]:
        """Return the names in a directory; empty if it does not exist."""
        path = self._path(directory)
        if not self._fs.exists(path):
            return []
        names = (status.getPath().getName() for status in self._fs.listStatus(path))
        return [name for name in names if not name.startswith(".")]

    def delete(self, name: str) -> None:
        """Delete a file, or a directory with its content, if it exists."""
        self._fs.delete(self._path(name), True)

    def sweep(self, deep: bool = True) -> None:
        """Delete unfinished files of killed writers."""
        for depth in range(_DEPTH + 1 if deep else 1):
            for status in self._fs.globStatus(self._path("*/" * depth + _LEFTOVER_GLOB)) or ():
                self._fs.delete(status.getPath(), True)

    def below(self, directory: str) -> HadoopStorage:
        """Return the storage of a directory in this one."""
        return HadoopStorage(self._spark, self._path(directory).toString())


def storage_for(root: str, session: Callable[[], Any]) -> Storage:
    """Return the storage of a directory, local or remote; only a remote one needs the session."""
    if root.startswith("file:"):
        root = "/" + root[5:].lstrip("/")
    return HadoopStorage(session(), root) if "://" in root else LocalStorage(root)
