"""The rows of a key that has too many for a page: they are stored in chunks, to which others are added."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from scurry.runtime.state.backend import Index

__all__ = ["HOT_BYTES", "Chunk", "HotPage", "RowIndex"]

#: A page of one key with more bytes is a hot page.
HOT_BYTES = 64 * 1024
#: A chunk of more bytes is not merged with those that follow, unless there are many chunks.
_CHUNK_BYTES, _MANY_CHUNKS = 1024 * 1024, 100


class Chunk(NamedTuple):
    """Some rows of one table.

    Attributes:
        number: The number of the page in whose place they are stored.
        size: How many bytes they have in memory.
    """

    number: int
    size: int


@dataclass
class HotPage:
    """The page of a hot key.

    A chunk is stored in the place of a page below it in the trie: there are no others, as it cannot be split.

    Attributes:
        hashed: The hash of the key.
        chunks: The chunks of each table, the oldest first.
    """

    hashed: int
    chunks: list[list[Chunk]]

    def free_numbers(self, page: int) -> Iterator[int]:
        """Yield the numbers of pages below this one, from the top, in whose place nothing is stored."""
        used = {chunk.number for chunks in self.chunks for chunk in chunks}
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
        while found < len(chunks):
            before = chunks[-1 - found].size
            if before > 2 * size or (before > _CHUNK_BYTES and len(chunks) < _MANY_CHUNKS):
                break
            size += before
            found += 1
        return chunks[len(chunks) - found :]


@dataclass
class RowIndex(Index):
    """The index of a key group with, by number, its hot pages."""

    hot: dict[int, HotPage] = field(default_factory=dict)
