"""Large pages, which are stored in chunks: rows are added without reading or writing those that are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from scurry.runtime.state.backend import Index

__all__ = ["Chunk", "ChunkedPage", "RowIndex"]

#: Some rows of one table: the number of the page in whose place they are stored, and how many bytes they have in
#: memory.
Chunk: TypeAlias = "tuple[int, int]"

#: A table has so many chunks before any are merged.
_FEW_CHUNKS = 8
#: A chunk of more bytes is not merged with those that follow, unless there are many.
_CHUNK_BYTES, _MANY_CHUNKS = 1024 * 1024, 100
#: A page of several keys and of more bytes is split.
_SPLIT_BYTES = 48 * 1024


class ChunkedPage:
    """A page in chunks.

    A chunk is stored in the place of a page below it in the trie: there are no others, as it has not been split.

    Attributes:
        hashed: The hash of all rows; None if they have different ones.
        chunks: The chunks of each table, the oldest first.
    """

    __slots__ = ("chunks", "hashed")

    def __init__(self, hashed: int | None, chunks: list[list[Chunk]]) -> None:
        self.hashed = hashed
        self.chunks = chunks

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the attributes without their names."""
        return ChunkedPage, (self.hashed, self.chunks)

    @property
    def is_too_large(self) -> bool:
        """Whether the page has to be split: a page of one key cannot be."""
        return self.hashed is None and sum(size for chunks in self.chunks for _, size in chunks) > _SPLIT_BYTES

    def free_numbers(self, page: int) -> Iterator[int]:
        """Yield the numbers of pages below this one, from the top, in whose place nothing is stored."""
        used = {number for chunks in self.chunks for number, _ in chunks}
        level = 1
        while True:
            first = page << level
            yield from (number for number in range(first, first + (1 << level)) if number not in used)
            level += 1

    def mergeable(self, table: int, size: int) -> list[Chunk]:
        """Return the last chunks of a table that a chunk of a size is merged with, the oldest first.

        Like that a row is written again only as often as the size of its chunk doubles.
        """
        chunks, found = self.chunks[table], 0
        while len(chunks) >= _FEW_CHUNKS and found < len(chunks):
            before = chunks[-1 - found][1]
            if before > size or (before > _CHUNK_BYTES and len(chunks) < _MANY_CHUNKS):
                break
            size += before
            found += 1
        return chunks[len(chunks) - found :]


@dataclass
class RowIndex(Index):
    """The index of a key group with, by number, its pages that are stored in chunks."""

    chunked: dict[int, ChunkedPage] = field(default_factory=dict)
