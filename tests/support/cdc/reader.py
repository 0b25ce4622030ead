"""A job's reading without the job: assignments, positions that are restored, works that are repeated."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

from scurry.common.types import RowKind
from scurry.connectors.cdc.capture import ChangeCapture, ChunkWork, RowBlock, Startup
from scurry.connectors.cdc.enumerator import CdcEnumerator, EnumeratorSettings
from scurry.connectors.source import Assignment, BatchLimits

_TAKES = (RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value)


class Reader:
    """Reads batch after batch, and keeps the rows that changes add up to.

    Attributes:
        rows: How often each row is there, as texts.
        batches: How many batches were read.
    """

    def __init__(self, capture: ChangeCapture, startup: Startup | None = None, chunk_rows: int = 10, channels: int = 2,
                 **settings: Any) -> None:  # fmt: skip
        self._capture = capture
        self._settings = EnumeratorSettings(channels, startup or Startup(), chunk_rows, **settings)
        self.rows: Counter[tuple[Any, ...]] = Counter()
        self.batches = 0
        self.kinds: list[int] = []
        self._enumerator = self._new()

    def _new(self) -> CdcEnumerator:
        limits = BatchLimits(max_records=20)
        return CdcEnumerator(self._capture.open, self._settings, limits)

    @property
    def position(self) -> str:
        return json.dumps(self._enumerator.position())

    def metrics(self) -> dict[str, int]:
        """The metrics of the source."""
        return dict(self._enumerator.metrics())

    def assignments(self) -> list[Assignment]:
        """The assignments of the next batch."""
        return self._enumerator.next_batch()

    @property
    def has_more(self) -> bool:
        """Whether there was more than the last batch may have."""
        return self._enumerator.backlog() is not None

    def next_works(self) -> list[Any]:
        """The works of the next batch; empty if there is nothing new.

        A batch without any, which only keeps what is chosen for the following one, is passed over.
        """
        works = [work for each in self.assignments() for work in each.work or []]
        if not works and self._enumerator.backlog() is not None:
            works = [work for each in self.assignments() for work in each.work or []]
        return works

    def read(self, works: list[Any]) -> list[RowBlock]:
        blocks = []
        for work in works:
            read = self._capture.read_chunk if isinstance(work, ChunkWork) else self._capture.read_log
            blocks += list(read(work, None))
        return blocks

    def commit(self, blocks: list[RowBlock]) -> None:
        """Applies changes; what is taken back has to be there."""
        for block in blocks:
            rows = zip(*(column if isinstance(column, list) else column.to_pylist() for column in block.columns),
                       strict=True)  # fmt: skip
            kinds = block.kinds or [0] * block.count
            self.kinds += kinds
            for kind, row in zip(kinds, rows, strict=True):
                if kind in _TAKES:
                    assert self.rows[row] > 0, f"{RowKind(kind)} of a row that is not there: {row}"
                    self.rows[row] -= 1
                else:
                    self.rows[row] += 1
        self._enumerator.committed()
        self.batches += 1

    def step(self) -> bool:
        """One batch; False if there is nothing new."""
        works = self.next_works()
        self.commit(self.read(works))
        return bool(works)

    def drain(self) -> None:
        """Reads until nothing is left."""
        for _ in range(200):
            if not self.step():
                return
        raise AssertionError("there is more and more")

    def kill(self, position: str) -> None:
        """The driver dies, and another one continues at a position."""
        self._enumerator.close()
        self._enumerator = self._new()
        self._enumerator.restore(json.loads(position))

    def interrupted_step(self, chance: random.Random, meanwhile: Any) -> None:
        """One batch, before whose commit the driver dies: the next one repeats the works, which give the same rows."""
        before = self.position
        works = self.next_works()
        after = self.position
        first = self.read(works) if chance.random() < 0.7 else None
        meanwhile()
        if chance.random() < 0.3:  # the assignment was not even logged
            self.kill(before)
            return
        self.kill(after)
        again = self.read(works)
        if first is not None:
            assert self.content(again) == self.content(first)
        self.commit(again)

    @staticmethod
    def content(blocks: list[RowBlock]) -> list[Any]:
        """The kinds and rows of blocks, in a fixed order."""
        found = []
        for block in blocks:
            columns = [column if isinstance(column, list) else column.to_pylist() for column in block.columns]
            found += list(zip(block.kinds or [0] * block.count, *columns, strict=True))
        return sorted(found, key=repr)

    def there(self) -> list[tuple[Any, ...]]:
        return sorted(self.rows.elements(), key=repr)

    def close(self) -> None:
        self._enumerator.close()
