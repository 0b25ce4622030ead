"""FileCommitter: makes the files of a sink visible, with each record once, and compacts small ones."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from scurry._dataclasses import dataclass
from scurry.common._process import threads
from scurry.connectors.files.filesystem import FileSystem, file_system
from scurry.connectors.files.writing.names import PartNames
from scurry.connectors.files.writing.parts import PartFile
from scurry.connectors.sink import Committer
from scurry.errors import SinkCommitError

if TYPE_CHECKING:
    from scurry.connectors.files.writing.sink import FileSink

#: Small files are kept for this many batches after compaction, because a rollback of the checkpoint may need them.
RETAINED_BATCHES = 100


@dataclass(frozen=True)
class _Small:
    """A small file that waits for compaction."""

    directory: str
    part: str
    batch: int
    size: int


@dataclass(frozen=True)
class _Consumed:
    """A small file whose records are in a compacted file, the last batch of which is `last`."""

    path: str
    last: int


class FileCommitter(Committer):
    """Rename the files of a batch to their final names, and remove the output of earlier attempts of the batch.

    With compaction these names are hidden, and the files of a bucket are later merged into one file, in three steps:

    1. Write the compacted file, and rename it to `.<name>.ready` when it is complete.
    2. Rename the small files, to mark that their records are in the compacted file.
    3. Rename the compacted file to its visible name.

    After a crash, the file names show which steps are done. If a batch of the compacted file is repeated, the
    compaction is undone, using the small files; otherwise it is finished. Small files are deleted when none of their
    batches can be repeated any more.
    """

    def __init__(self, sink: FileSink, names: PartNames) -> None:
        self._sink = sink
        self._compaction = sink.compaction
        self._names = names
        self._fs, self._base = file_system(sink.base_path)
        self._last: int | None = None
        self._pending: list[_Small] = []
        self._consumed: list[_Consumed] = []
        #: visible compacted files with records of repeated batches
        self._stale: set[str] = set()
        #: directories with new names that a crash of the machine could lose
        self._renamed: set[str] = set()

    def restarted(self) -> None:
        """List the files again before the next commit."""
        self._last = None  # the next commit may be a repeated one

    def commit(self, batch_id: int, committables: Sequence[PartFile]) -> None:
        """Rename the files of a batch to their final names, and run the compactions that are due."""
        parts = list(committables)
        repeated = self._last is None or batch_id <= self._last
        self._last = None  # until the commit is complete
        if repeated:
            self._undo(batch_id, {part.target for part in parts})
        for part in parts:
            self._give_name(part)
        if self._compaction is not None:
            self._pending += [self._small(*posixpath.split(part.target)) for part in parts]
            due = self._compaction.strategy.due
            self._compact([files for files in self._buckets() if due(batch_id - files[0].batch + 1, _size(files))])
            self._delete_consumed(batch_id - RETAINED_BATCHES)
        self._delete(self._stale)
        if repeated:
            self._delete_leftovers()
        self._force_names()
        self._last = batch_id

    def finish(self) -> None:
        """Compact the remaining small files."""
        if self._compaction is None:
            return
        if self._last is None:
            self._undo(None, set())
            self._delete_leftovers()
        self._compact(list(self._buckets()))
        self._force_names()
        self._delete_consumed(None)

    def _rename(self, source: str, target: str) -> None:
        self._fs.rename(source, target)
        self._renamed.add(posixpath.dirname(target))

    def _force_names(self) -> None:
        for directory in self._renamed:
            self._fs.force(directory)
        self._renamed.clear()

    def _give_name(self, part: PartFile) -> None:
        if self._fs.exists(part.staged):
            self._rename(part.staged, part.target)
        elif self._fs.exists(part.target):
            self._renamed.add(posixpath.dirname(part.target))  # by a process that may have been killed before it forced
        else:
            raise SinkCommitError(
                f"cannot commit {part.target}: {part.staged} is missing; something else deletes files below "
                f"{self._sink.base_path}"
            )

    # ------------------------------------------------------------------ output of earlier attempts

    def _undo(self, batch_id: int | None, targets: set[str]) -> None:
        """Undo this batch and later ones, which will be repeated; with None, undo no batch.

        Files that the batch has written again (`targets`) are kept, to be replaced.
        """
        names, self._pending, self._consumed, self._stale = self._names, [], [], set()
        files = list(_walk(self._fs, self._base))
        finished = self._finish_compactions(files, batch_id)
        restored: set[tuple[str, int]] = set()
        for directory, name in files:
            path = posixpath.join(directory, name)
            if (batch := names.batch_of_part(name)) is not None:
                if _undone(batch, batch_id) and path not in targets:
                    self._fs.delete(path)
            elif (found := names.range_of(name)) is not None and _undone(found[1], batch_id):
                self._stale.add(path)
            elif (small := names.small(name)) is not None:
                self._renamed.add(directory)  # by a process that may have been killed before it forced its compactions
                if path in finished:
                    continue
                if small.last is not None and not _undone(small.last, batch_id):
                    self._consumed.append(_Consumed(path, small.last))
                    continue
                waiting = posixpath.join(directory, names.uncompacted(small.part))
                visible = posixpath.join(directory, small.part)
                if _undone(small.batch, batch_id) and not targets & {waiting, visible}:
                    self._fs.delete(path)
                    continue
                restored.add((directory, small.batch))
                self._restore(path, waiting, visible, _undone(small.batch, batch_id))
        self._check_restored(batch_id, restored)

    def _finish_compactions(self, files: list[tuple[str, str]], batch_id: int | None) -> set[str]:
        """Finish or undo compactions that a crash interrupted; return the paths of small files of finished ones."""
        finished: set[str] = set()
        for directory, name in files:
            batches = self._names.range_of_ready(name)
            if batches is None:
                continue
            (first, last), path = batches, posixpath.join(directory, name)
            if _undone(last, batch_id):
                self._fs.delete(path)
                continue
            inside = []
            for other, part in files:
                small = self._names.small(part) if other == directory else None
                if small is not None and small.last is None and first <= small.batch <= last:
                    inside.append(_Small(directory, small.part, small.batch, 0))
                    finished.add(posixpath.join(directory, part))
            self._publish(path, posixpath.join(directory, self._names.compacted(first, last)), inside, last)
        return finished

    def _restore(self, path: str, waiting: str, visible: str, repeated: bool) -> None:
        """Queue a small file for compaction again, or make it visible if the sink no longer compacts."""
        target = visible if self._compaction is None else waiting
        if path != target:
            self._rename(path, target)
        if self._compaction is not None and not repeated:
            self._pending.append(self._small(*posixpath.split(waiting)))

    def _check_restored(self, batch_id: int | None, restored: set[tuple[str, int]]) -> None:
        for path in self._stale:
            directory, name = posixpath.split(path)
            first, _ = self._names.range_of(name) or (0, 0)
            if not _undone(first, batch_id) and (directory, first) not in restored:
                raise SinkCommitError(
                    f"batch {batch_id} is repeated, and {path} holds records of batches from {first} on, but the files "
                    "it was made of are deleted: the job was rolled back farther than they are kept"
                )

    def _delete_leftovers(self) -> None:
        """Delete hidden files of failed attempts; no task of this sink is running during a commit."""
        for directory, name in list(_walk(self._fs, self._base)):
            if self._names.is_in_progress(name):
                self._fs.delete(posixpath.join(directory, name))

    # ------------------------------------------------------------------ compaction

    def _small(self, directory: str, name: str) -> _Small:
        small = self._names.small(name)
        assert small is not None
        size = next(self._fs.files(posixpath.join(directory, name))).size
        return _Small(directory, small.part, small.batch, size)

    def _buckets(self) -> Iterator[list[_Small]]:
        """Yield the small files of each bucket that has any, in the order of writing."""
        buckets: dict[str, list[_Small]] = {}
        for small in sorted(self._pending, key=lambda small: (small.batch, _natural(small.part))):
            buckets.setdefault(small.directory, []).append(small)
        yield from buckets.values()

    def _compact(self, buckets: list[list[_Small]]) -> None:
        if not buckets or self._compaction is None:
            return
        targets = [
            posixpath.join(files[0].directory, self._names.compacted(files[0].batch, files[-1].batch))
            for files in buckets
        ]
        self._delete(self._stale - set(targets))
        most = min(len(buckets), self._compaction.strategy.threads)
        with threads.pool(most, "scurry-compaction") as pool:
            written = list(pool.map(self._write, buckets, targets))
        for files, target, ready in zip(buckets, targets, written, strict=True):
            self._publish(ready, target, files, files[-1].batch)
        self._stale.difference_update(targets)

    def _write(self, files: list[_Small], target: str) -> str:
        """Write the records of small files to a compacted file; return its path."""
        assert self._compaction is not None
        directory, name = posixpath.split(target)
        staged = posixpath.join(directory, self._names.in_progress(name))
        inputs = [posixpath.join(directory, self._names.uncompacted(small.part)) for small in files]
        with self._fs.open_output(staged) as stream:
            self._compaction.compactor.compact(self._fs, inputs, stream, self._sink.part_format)
        self._fs.force(staged)
        ready = posixpath.join(directory, self._names.ready(name))
        self._rename(staged, ready)
        return ready

    def _publish(self, ready: str, target: str, files: list[_Small], last: int) -> None:
        for small in files:
            path = posixpath.join(small.directory, self._names.consumed(small.part, last))
            self._rename(posixpath.join(small.directory, self._names.uncompacted(small.part)), path)
            self._consumed.append(_Consumed(path, last))
        done = set(files)
        self._pending = [small for small in self._pending if small not in done]
        self._rename(ready, target)

    def _delete_consumed(self, before: int | None) -> None:
        """Delete the small files of compactions that ended before a batch; with None, of all."""
        kept = []
        for consumed in self._consumed:
            if before is None or consumed.last < before:
                self._fs.delete(consumed.path)
            else:
                kept.append(consumed)
        self._consumed = kept

    def _delete(self, paths: set[str]) -> None:
        for path in list(paths):
            self._fs.delete(path)
            self._stale.discard(path)


def _undone(batch: int, repeated: int | None) -> bool:
    return repeated is not None and batch >= repeated


def _size(files: list[_Small]) -> int:
    return sum(small.size for small in files)


def _natural(part: str) -> tuple[int, ...]:
    """Return a sort key by the numbers in a name, so that subtask 10 comes after subtask 2."""
    return tuple(int(digits) for digits in part.replace(".", "-").split("-") if digits.isdigit())


def _walk(fs: FileSystem, directory: str) -> Iterator[tuple[str, str]]:
    """Yield directory and name of all files below a directory, including hidden ones."""
    for name, is_directory in fs.entries(directory):
        if is_directory:
            yield from _walk(fs, posixpath.join(directory, name))
        else:
            yield directory, name
