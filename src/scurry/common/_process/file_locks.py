"""Locks on open files, which end with the file or its process."""

from __future__ import annotations

import os
from typing import IO, Any

try:
    import fcntl
except ModuleNotFoundError:  # WebAssembly, where no other process could have a lock

    def lock(file: IO[Any], wait: bool) -> None:
        status = os.fstat(file.fileno())
        holder = _held.setdefault((status.st_dev, status.st_ino), file)
        if holder is not file and not holder.closed:
            raise BlockingIOError(f"{file.name} is locked")
        _held[status.st_dev, status.st_ino] = file

    #: device and number of a file -> who has locked it last
    _held: dict[tuple[int, int], IO[Any]] = {}
else:

    def lock(file: IO[Any], wait: bool) -> None:
        """Lock a file for this process, as long as it is open.

        Args:
            wait: Whether to wait while someone else has the lock.

        Raises:
            BlockingIOError: Someone else has it.
        """
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
