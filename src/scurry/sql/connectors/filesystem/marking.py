"""PartitionMarking: success files in partitions that are complete."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterable, Iterator

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import FileSystem, file_system
from scurry.connectors.files.writing.names import PartNames


@dataclass(frozen=True)
class PartitionMarking:
    """Policy of partition commit: the trigger and the mark of complete partitions.

    Attributes:
        success_file: Name of the empty file in complete partitions.
        delay_ms: Milliseconds between the first rows of a partition and its completion; None if partitions are
            complete at the end of the job only. After later rows the file is written again.
    """

    success_file: str
    delay_ms: int | None


class Marker:
    """Write success files, on the driver."""

    def __init__(
        self, marking: PartitionMarking, path: str, names: PartNames, now: Callable[[], float] = time.time
    ) -> None:
        self._marking = marking
        self._fs, self._base = file_system(path)
        self._names = names
        self._now = now
        #: directory -> when the first rows were committed to it since it was marked; None until the first commit
        self._waiting: dict[str, float] | None = None

    def restarted(self) -> None:
        """Look for partitions without success files with the next commit."""
        self._waiting = None

    def committed(self, directories: Iterable[str]) -> None:
        """Mark those of the written directories that are complete."""
        now = self._now()
        waiting = self._unmarked() if self._waiting is None else self._waiting
        for directory in directories:
            waiting.setdefault(directory, now)
        self._waiting = waiting
        delay = self._marking.delay_ms
        if delay is not None:
            self._mark([directory for directory, since in waiting.items() if (now - since) * 1000 >= delay])

    def finish(self) -> None:
        """Mark all partitions that are not marked since their last rows."""
        self._mark(list(self._unmarked() if self._waiting is None else self._waiting))

    def _mark(self, directories: list[str]) -> None:
        for directory in sorted(directories):
            self._fs.open_output(posixpath.join(directory, self._marking.success_file)).close()
            if self._waiting is not None:
                del self._waiting[directory]

    def _unmarked(self) -> dict[str, float]:
        """Return the directories with files of this sink that are younger than their success file.

        What is named here was committed by an earlier run that ended before it could mark the partition.
        """
        found: dict[str, float] = {}
        for directory in _directories(self._fs, self._base):
            marked = self._changed(posixpath.join(directory, self._marking.success_file))
            own = [name for name, _ in self._fs.entries(directory) if self._names.batch_of_part(name) is not None]
            written = [self._changed(posixpath.join(directory, name)) for name in own]
            younger = [each for each in written if each is not None and (marked is None or each > marked)]
            if younger:
                found[directory] = min(younger) / 1000
        return found

    def _changed(self, path: str) -> int | None:
        return next(self._fs.files(path)).modified if self._fs.exists(path) else None


def _directories(fs: FileSystem, directory: str) -> Iterator[str]:
    yield directory
    for name, is_directory in fs.entries(directory):
        if is_directory:
            yield from _directories(fs, posixpath.join(directory, name))
