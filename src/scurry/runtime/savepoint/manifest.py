"""The manifest of a savepoint: a list of its files, with sizes and digests to check them.

    {"content": {"version": 1, "chunk_bytes": 4194304,
                 "files": {"metadata.json": {"bytes": 2516, "sha256": ["9f86d0..."]},
                           "entries/kind=page/part-0.parquet": {"bytes": ..., "sha256": [...], "row_groups": [...]}},
                 "operators": {"counts": {"bytes": 40, "entries": {"page": 2, "meta": 1}, "key_groups": {"7": 2}}}},
     "sha256": "2c26b4..."}

Digests are of chunks instead of whole files, so that a task which reads a part of a large file checks what it reads
before unpickling it. The last digest is that of `content`, as JSON without blanks and with sorted keys.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, BinaryIO

from scurry._dataclasses import dataclass
from scurry.errors import SavepointFormatError

MANIFEST = "manifest.json"
VERSION = 1

#: Bytes of a chunk, which has its own digest.
CHUNK_BYTES = 4 << 20

#: Chunks of a file kept while reading: a column of a row group may end in the chunk where the next begins.
_HELD = 2


@dataclass(frozen=True)
class FileDigest:
    """The size and digests of a file.

    Attributes:
        sha256: The digest of each of its chunks, as hexadecimal digits.
        row_groups: The bytes of each row group of a Parquet file.
        spans: Of a file of pages, for each row group the first and last key group of each operator, by uid; empty if
            an earlier release wrote the manifest.
    """

    bytes: int
    sha256: tuple[str, ...]
    row_groups: tuple[int, ...] = ()
    spans: tuple[Mapping[str, tuple[int, int]], ...] = ()


@dataclass
class OperatorCounts:
    """The amount of an operator's state.

    Attributes:
        bytes: The size of all blobs.
        entries: Kind -> number of entries.
        key_groups: Key group -> number of its pages.
    """

    bytes: int = 0
    entries: dict[str, int] = field(default_factory=dict)
    key_groups: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Manifest:
    """The content of a savepoint.

    Attributes:
        files: Name -> digests, of all files except the manifest itself.
        operators: Uid -> amount of state, of the operators that have state.
    """

    files: Mapping[str, FileDigest]
    operators: Mapping[str, OperatorCounts]

    def to_json(self) -> str:
        """Return the text of `manifest.json`."""
        files = {name: _without_empty(asdict(file)) for name, file in self.files.items()}
        operators = {uid: asdict(counts) for uid, counts in self.operators.items()}
        content = {"version": VERSION, "chunk_bytes": CHUNK_BYTES, "files": files, "operators": operators}
        content = json.loads(json.dumps(content))  # converts keys to text, for the digest
        return json.dumps({"content": content, "sha256": _digest_of(content)}, indent=1)

    @classmethod
    def from_json(cls, text: bytes, place: str) -> Manifest:
        """Read the text of `manifest.json`.

        Raises:
            SavepointFormatError: It is damaged, or of a version this release does not know.
        """
        try:
            whole = json.loads(text)
            content, digest = whole["content"], whole["sha256"]
            if digest != _digest_of(content):
                raise SavepointFormatError(f"{place}: {MANIFEST} is damaged: its content is not what was written")
            if content["version"] != VERSION or content["chunk_bytes"] != CHUNK_BYTES:
                raise SavepointFormatError(
                    f"{place}: {MANIFEST} is of version {content['version']}; this release reads version {VERSION}: "
                    "use the release that wrote it, or a newer one"
                )
            files = {
                name: FileDigest(
                    file["bytes"],
                    tuple(file["sha256"]),
                    tuple(file.get("row_groups", ())),
                    tuple(
                        {uid: (int(first), int(last)) for uid, (first, last) in span.items()}
                        for span in file.get("spans", ())
                    ),
                )
                for name, file in content["files"].items()
            }
            operators = {
                uid: OperatorCounts(
                    counts["bytes"], counts["entries"], {int(group): n for group, n in counts["key_groups"].items()}
                )
                for uid, counts in content["operators"].items()
            }
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            if isinstance(error, SavepointFormatError):
                raise
            raise SavepointFormatError(f"{place}: {MANIFEST} is damaged: it is no JSON of a manifest") from None
        return cls(files, operators)


def _without_empty(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in ("row_groups", "spans") or value}


def _digest_of(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


# ------------------------------------------------------------------ files


def digest(stream: BinaryIO) -> FileDigest:
    """Read a file to its end and return its size and digests."""
    size, chunks = 0, []
    while chunk := stream.read(CHUNK_BYTES):
        size += len(chunk)
        chunks.append(hashlib.sha256(chunk).hexdigest())
    return FileDigest(size, tuple(chunks))


def difference(stream: BinaryIO, expected: FileDigest) -> str | None:
    """Return the difference of a file from its manifest, None without a difference."""
    size = stream.seek(0, io.SEEK_END)
    if size != expected.bytes:
        return f"{size:,} bytes long instead of {expected.bytes:,}"
    stream.seek(0)
    for number, (found, written) in enumerate(zip(digest(stream).sha256, expected.sha256, strict=True)):
        if found != written:
            return f"{_range(number, expected.bytes)} are not what was written: they have another SHA-256"
    return None


def _range(chunk: int, size: int) -> str:
    return f"bytes {chunk * CHUNK_BYTES:,} to {min((chunk + 1) * CHUNK_BYTES, size):,}"


class CheckedInput(io.RawIOBase):
    """A file that returns only bytes that match its digests.

    Args:
        place: Its address, for errors.
        expected: The expected size and digests.
    """

    def __init__(self, stream: BinaryIO, place: str, expected: FileDigest) -> None:
        self._stream, self._place, self._expected = stream, place, expected
        self._position = 0
        self._chunks: dict[int, bytes] = {}

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._expected.bytes}[whence]
        self._position = begin + offset
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """Return up to `size` bytes, all remaining ones if it is negative.

        Raises:
            SavepointFormatError: The bytes are not what was written.
        """
        left = max(0, self._expected.bytes - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        parts = []
        while wanted:
            chunk, offset = divmod(self._position, CHUNK_BYTES)
            part = memoryview(self._chunk(chunk))[offset : offset + wanted]
            parts.append(part)
            self._position += len(part)
            wanted -= len(part)
        return b"".join(parts)

    def _chunk(self, number: int) -> bytes:
        held = self._chunks.get(number)
        if held is not None:
            return held
        begin = number * CHUNK_BYTES
        self._stream.seek(begin)
        content = self._stream.read(min(CHUNK_BYTES, self._expected.bytes - begin))
        if hashlib.sha256(content).hexdigest() != self._expected.sha256[number]:
            raise SavepointFormatError(
                f"{self._place} is damaged: {_range(number, self._expected.bytes)} are not what was checked when the "
                "savepoint was opened; the file has changed since"
            )
        while len(self._chunks) >= _HELD:
            del self._chunks[next(iter(self._chunks))]
        self._chunks[number] = content
        return content
