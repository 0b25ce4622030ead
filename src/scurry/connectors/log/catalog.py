"""The catalog of a log: its topics, where their partitions end, and which micro-batches of sinks it has.

It is one small file that is replaced as a whole: whatever is appended becomes visible with it, to all readers at once.
Bytes behind the ends that it names are what a crash left, and the next append overwrites them.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._process.file_locks import lock as lock_file
from scurry.common._process.replaced_files import force_directory, replace_file
from scurry.errors import ArgumentError, StorageError

_VERSION = 1
_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")
#: Sinks whose last micro-batch is kept; those that wrote first are forgotten first.
KEPT_SINKS = 10_000
#: Bytes of a segment, unless the topic says otherwise.
SEGMENT_BYTES = 64 << 20
#: Hexadecimal digits of the checksum before the content.
_CHECKSUM_DIGITS = 8


@dataclass(frozen=True)
class TopicSettings:
    """Settings of a topic.

    Attributes:
        partitions: Number of partitions that the topic has at least.
        retention_ms: Age in milliseconds after which segments are deleted; None for never.
        retention_bytes: Bytes of a partition above which its oldest segments are deleted; None for no limit.
        segment_bytes: Bytes after which a further segment begins.
    """

    partitions: int = 1
    retention_ms: int | None = None
    retention_bytes: int | None = None
    segment_bytes: int = SEGMENT_BYTES


@dataclass
class Partition:
    """A partition.

    Attributes:
        segments: The first offset of each segment; the last one is written to.
        end: The offset after the last record.
        position: Number of bytes in the last segment.
        blocks: Number of blocks in the last segment.
    """

    segments: list[int] = field(default_factory=lambda: [0])
    end: int = 0
    position: int = 0
    blocks: int = 0

    @property
    def start(self) -> int:
        """Return the first offset that is kept."""
        return self.segments[0]


@dataclass
class Topic:
    """A topic."""

    settings: TopicSettings
    partitions: list[Partition]


@dataclass
class Content:
    """The content of a catalog.

    Attributes:
        topics: The topics by name.
        batches: The last micro-batch of each sink that wrote exactly once.
    """

    topics: dict[str, Topic] = field(default_factory=dict)
    batches: dict[str, int] = field(default_factory=dict)

    def ensure(self, name: str, settings: TopicSettings) -> bool:
        """Let there be a topic with at least some partitions; return whether something has changed.

        Raises:
            ArgumentError: The name cannot be that of a topic.
        """
        topic = self.topics.get(name)
        if topic is None:
            if not _TOPIC.fullmatch(name) or name in (".", ".."):
                raise ArgumentError(
                    f"{name!r} cannot be the name of a topic: it has 1 to 249 letters, digits, '.', '_' or '-'"
                )
            self.topics[name] = Topic(settings, [Partition() for _ in range(settings.partitions)])
            return True
        missing = settings.partitions - len(topic.partitions)
        topic.partitions += [Partition() for _ in range(missing)]
        return missing > 0

    def note_batch(self, sink: str, batch: int) -> None:
        """Remember that a micro-batch of a sink is here."""
        self.batches.pop(sink, None)
        self.batches[sink] = batch
        while len(self.batches) > KEPT_SINKS:
            del self.batches[next(iter(self.batches))]


class Catalog:
    """The file with the content, and the lock that whoever changes it holds."""

    def __init__(self, root: Path) -> None:
        """Refer to the catalog of a log; nothing is read or created yet."""
        self._path = root / "catalog"
        self._lock = root / "lock"
        self._seen: tuple[int, int, int, bytes] | None = None
        self._content = Content()

    def read(self) -> Content:
        """Return the present content, which must not be changed; an empty one if there is no log.

        Raises:
            StorageError: The file is damaged or cannot be read.
        """
        try:
            with open(self._path, "rb") as file:
                status, checksum = os.fstat(file.fileno()), file.read(_CHECKSUM_DIGITS)
                # The checksum, too: after two replacements in one tick of the clock all else may be as it was.
                seen = (status.st_ino, status.st_mtime_ns, status.st_size, checksum)
                if seen != self._seen:
                    self._content, self._seen = _parsed(self._path, checksum + file.read()), seen
        except FileNotFoundError:
            self._content, self._seen = Content(), None
        except OSError as error:
            raise StorageError(f"the log at {self._path.parent} cannot be read: {error}") from None
        return self._content

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of the log, and create its directory before.

        Raises:
            StorageError: The directory cannot be written to.
        """
        root = self._path.parent
        try:
            root.mkdir(parents=True, exist_ok=True)
            with open(self._lock, "a+b") as lock:
                lock_file(lock, wait=True)
                yield
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"the log at {root} cannot be written to: {error}") from None

    @contextmanager
    def edited(self) -> Iterator[Content]:
        """Yield the content, and store it if it has changed, unless the block fails.

        Whoever calls this holds the lock.
        """
        before = self._path.read_bytes() if self._path.exists() else None
        content = Content() if before is None else _parsed(self._path, before)
        yield content
        after = _text(content)
        if after != (_text(Content()) if before is None else before):
            replace_file(self._path, after, durable=True)

    def force(self) -> None:
        """Let the present content survive a crash of the machine."""
        force_directory(self._path.parent)

    @contextmanager
    def changed(self) -> Iterator[Content]:
        """Hold the lock of the log, yield its content, and store it if it has changed, unless the block fails.

        Raises:
            StorageError: The directory cannot be written to.
        """
        with self.locked(), self.edited() as content:
            yield content


def _text(content: Content) -> bytes:
    topics = {
        name: {"settings": vars(topic.settings), "partitions": list(map(vars, topic.partitions))}
        for name, topic in content.topics.items()
    }
    text = json.dumps({"version": _VERSION, "topics": topics, "batches": content.batches}).encode()
    return b"%08x\n%s\n" % (zlib.crc32(text), text)


def _parsed(path: Path, written: bytes) -> Content:
    checksum, _, text = written.partition(b"\n")
    text = text.removesuffix(b"\n")
    if checksum != b"%08x" % zlib.crc32(text):
        raise StorageError(f"{path} is damaged: its checksum does not fit; restore it from a copy of the directory")
    found: dict[str, Any] = json.loads(text)
    if found["version"] > _VERSION:
        raise StorageError(f"the log at {path.parent} was written by a later version of scurry: update this one")
    topics = {
        name: Topic(TopicSettings(**topic["settings"]), [Partition(**each) for each in topic["partitions"]])
        for name, topic in found["topics"].items()
    }
    return Content(topics, found["batches"])
