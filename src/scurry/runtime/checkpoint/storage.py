"""Store the small files of a checkpoint directory, each whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from scurry.errors import CheckpointStorageFullError

#: Parts of the errors of operating systems and Hadoop that say that space or a quota is used up.
FULL = ("No space left on device", "Disk quota exceeded", "DSQuotaExceeded", "NSQuotaExceeded")

#: Names of unfinished files of Spark and scurry, and of the directories of links that savepoints are read from.
_LEFTOVER = re.compile(r"\..+\.(tmp|tmp\.crc|\d+)|\.savepoint-.*")


class DamagedFileError(ValueError):
    """A file is damaged."""


def storage_full(directory: object) -> CheckpointStorageFullError:
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

    def force(self, name: str) -> None:
        """Let a file that something else has written survive a crash of the machine, and the names of all before it."""

    def list(self, directory: str) -> list[str]:
        """Return the names in a directory; empty if it does not exist."""

    def delete(self, name: str) -> None:
        """Delete a file, or a directory with its content, if it exists."""

    def sweep(self, deep: bool = True) -> None:
        """Delete unfinished files of killed writers; no other writer may be running.

        Args:
            deep: Whether to search all directories below, too.
        """

    def below(self, directory: str) -> Storage: ...


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

    def force(self, name: str) -> None:
        """Force a file to the disk, with Hadoop's checksum of it and the names in its directory."""
        path = self.root / name
        if self._durable:
            for each in (path, path.with_name(f".{path.name}.crc"), path.parent):
                with suppress(FileNotFoundError):
                    _force(str(each))

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
        return LocalStorage(str(self.root / directory), self._durable)


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW)


def local_storage_for(root: str) -> LocalStorage | None:
    """Return the storage of a directory on a local disk, None if it is remote."""
    if root.startswith("file:"):
        root = "/" + root[5:].lstrip("/")
    return None if "://" in root else LocalStorage(root)


def force_to_disk(root: str) -> None:
    """Let a directory and all in it survive a crash of the machine.

    Raises:
        OSError: A directory cannot be listed, or a file not forced.
    """
    for directory, _, files in os.walk(root, onerror=_raised):
        for name in (*files, "."):
            _force(os.path.join(directory, name))
    _force(os.path.join(root, ".."))


def _raised(error: OSError) -> None:
    raise error


def _force(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
