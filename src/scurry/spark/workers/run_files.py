"""RunFiles: large runs of state as files of the checkpoint, in whose place the state store has references.

Spark's state store would copy, log, compress and upload each byte, and read all of them when a job starts. A file is
written before the micro-batch commits that names it, and read only where its content is not on the machine.

A file has the number of its micro-batch in its name: what has the content of a file that waits for its deletion is
another file. A repeated batch writes the same files again.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from scurry._dataclasses import dataclass
from scurry.errors import DamagedRunError
from scurry.runtime.checkpoint.storage import reporting_full
from scurry.runtime.state.store import StoreKey

#: Runs of at least so many bytes are files.
LARGE_RUN = 64 * 1024

#: Start of a reference, which the store has in place of such a run: of no pickle and no run. Size and CRC-32 follow,
#: and its file's name.
MAGIC = b"\0file1\0\0"
_HEADER = struct.Struct("<8sQI")

#: The number of micro-batches that Spark and the assignment log keep at least.
RETAINED = 100

#: Superseded files are kept so many micro-batches longer: Spark forgets old versions beside the batches, not with them.
_LATE = 10

#: The number of micro-batches that the state can be rolled back whatever its superseded files take up.
_ROLLED_BACK = 10


@dataclass(frozen=True)
class RunFiles:
    """The files of the runs of a generation.

    Attributes:
        directory: Their directory, which is made when the first is written.
        writes: Whether large runs become files; if not, those that are files are read.
        retained: How many micro-batches the state can be rolled back, if the limit allows it.
        limit: How many bytes superseded files of a subtask may take up; those of the last micro-batches are kept
            anyway.
    """

    directory: str
    writes: bool = True
    retained: int = RETAINED
    limit: int = 1 << 30

    def write(self, batch: int, key: StoreKey, digest: int, blob: Any) -> bytes:
        """Write the file of a run; return the reference to it.

        Args:
            batch: The micro-batch, by Spark's id.
            blob: Its content.

        Raises:
            CheckpointStorageFullError: There is no space for it.
        """
        checksum = zlib.crc32(blob)
        # two attempts at a batch may write different content: of one digest, if values were converted
        place = hashlib.blake2b(f"{key} {digest:x} {checksum:x}".encode(), digest_size=16).hexdigest()
        name = f"{batch}-{place}"
        temporary = os.path.join(self.directory, f".{name}.{os.getpid()}.tmp")
        with reporting_full(self.directory):
            os.makedirs(self.directory, mode=0o700, exist_ok=True)
            Path(temporary).unlink(missing_ok=True)  # of a killed process that had the same pid
            try:
                with open(temporary, "xb") as file:  # "x" follows no link
                    file.write(blob)
                os.replace(temporary, self.path(name))
            except OSError:
                Path(temporary).unlink(missing_ok=True)
                raise
        return _HEADER.pack(MAGIC, len(blob), checksum) + name.encode()

    def read(self, reference: bytes) -> bytes:
        """Return the run that a reference stands for.

        Raises:
            DamagedRunError: Its file is missing, or not what was written.
        """
        _, size, checksum = _HEADER.unpack_from(reference)
        path = self.path(name_in(reference))
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                blob = file.read()
        except FileNotFoundError:
            raise _damaged(path, "it is missing") from None
        except OSError as error:
            raise _damaged(path, error.strerror or str(error)) from error
        if len(blob) != size:
            raise _damaged(path, f"it has {len(blob)} of {size} bytes")
        if zlib.crc32(blob) != checksum:
            raise _damaged(path, "its content is not what was written")
        return blob

    def whole(self, blob: bytes) -> bytes:
        """Return the content of an entry of the store: of a reference, the run.

        Raises:
            DamagedRunError: The file of a run is missing, or not what was written.
        """
        return self.read(blob) if is_reference(blob) else blob

    def path(self, name: str) -> str:
        return os.path.join(self.directory, name)

    def delete(self, names: Iterable[str]) -> None:
        """Delete files; those that are missing were deleted before."""
        for name in names:
            Path(self.path(name)).unlink(missing_ok=True)

    def delete_after(self, committed: int) -> None:
        """Delete the files of micro-batches that were not committed, when the query does not run.

        Args:
            committed: The last micro-batch that was committed, by Spark's id; -1 if none was.
        """
        if os.path.isdir(self.directory):
            batches = ((name.partition("-")[0], name) for name in os.listdir(self.directory))
            self.delete(name for batch, name in batches if batch.isdigit() and int(batch) > committed)

    def due(self, superseding: Sequence[tuple[int, int]], batch: int) -> list[int]:
        """Return the micro-batches whose superseded files are deleted in a micro-batch.

        Args:
            superseding: The micro-batches that have superseded files, the oldest first, with the bytes of the files.
            batch: The micro-batch, by Spark's id.
        """
        left, found = sum(size for _, size in superseding), []
        for superseded, size in superseding:
            if batch - superseded > (_ROLLED_BACK if left > self.limit else self.retained + _LATE):
                found.append(superseded)
                left -= size
        return found


def is_reference(blob: bytes) -> bool:
    """Return whether an entry of the store stands for a file."""
    return blob[: len(MAGIC)] == MAGIC


def name_in(reference: bytes) -> str:
    """Return the name of the file that a reference stands for."""
    return reference[_HEADER.size :].decode()


def _damaged(path: str, why: str) -> DamagedRunError:
    return DamagedRunError(f"the checkpoint is damaged: {path}, a part of its state, cannot be read: {why}")
