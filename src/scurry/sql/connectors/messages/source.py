"""MessageTableSource: reads messages as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.messages import MessageScan, fetched
from scurry.connectors.source import BatchLimits, Enumerator
from scurry.sql.connectors.contract import Changes, TableSource
from scurry.sql.connectors.messages.rows import MessageRows


@dataclass(frozen=True)
class MessageTableSource(TableSource):
    """Read messages as rows.

    Attributes:
        rows: Makes rows of messages.
        insert_only: Whether rows are only added.
        parallelism: Number of readers of a STREAMING job; None for the job's parallelism.
        upserts: Whether a message replaces the one with its key.
    """

    scan: MessageScan
    rows: MessageRows
    insert_only: bool = True
    parallelism: int | None = None
    upserts: bool = False
    generates_watermarks = True

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Return whether reading ends."""
        return self.scan.ends

    def splits(self) -> list[Any]:
        """Return the ranges of the messages that there are now."""
        return self.scan.parts()

    def read(self, split: Any, columns: Sequence[str]) -> Iterator[Changes]:
        """Yield the rows of a range with their kinds."""
        return map(self.rows.reader(columns), fetched(self.scan, split))

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return the enumerator that streams have."""
        return self.scan.create_enumerator(channels, limits)
