"""The index of a key group of several pages of rows, as earlier versions stored it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from scurry.runtime.state.backend import Index

#: Some rows of one table: the number of the page in whose place they are stored, and how many bytes they have in
#: memory.
Chunk: TypeAlias = "tuple[int, int]"


class ChunkedPage:
    """A page in chunks.

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


@dataclass
class RowIndex(Index):
    """The index of a key group with, by number, its pages that are stored in chunks."""

    chunked: dict[int, ChunkedPage] = field(default_factory=dict)
