"""What sources read, without malformed input."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scurry.connectors.source import Chunk, MalformedRecords


def present(chunks: Iterable[Chunk]) -> Iterator[tuple[list[Any], list[int] | None]]:
    """Yield the chunks of records; malformed input fails the test."""
    for chunk in chunks:
        assert not isinstance(chunk, MalformedRecords), chunk.errors
        yield chunk
