"""A source that waits in the middle: jobs that a test stops, rescales or looks at there cannot be over before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.source import Assignment, BatchLimits, Enumerator
from scurry.datastream.connectors import DataGeneratorSource


def hold_at(file: Path, index: int) -> None:
    """Name the record at which sources of a file wait."""
    written = file.with_suffix(".new")
    written.write_text(str(index))
    written.replace(file)


class HeldSource(DataGeneratorSource):
    """Records of their indices, up to that which a file names for as long as it exists."""

    def __init__(self, hold: Path, make: Callable[[int], Any], count: int, type_info: TypeInformation) -> None:
        super().__init__(make, count, type_info=type_info)
        self.hold = hold

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        return _HeldEnumerator(self.hold, super().create_enumerator(parallelism, limits), limits, self.count or 0)


class _HeldEnumerator(Enumerator):
    def __init__(self, hold: Path, source: Enumerator, limits: BatchLimits, count: int) -> None:
        self.hold, self.source = hold, source
        self.most = max(1, count // 10)  # several micro-batches
        self.limit(limits, {})

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        self.limits = replace(limits, max_records=min(limits.max_records, self.most))

    def next_batch(self) -> list[Assignment]:
        limits = self.limits
        with suppress(FileNotFoundError):
            before_it = int(self.hold.read_text()) - self.position()["next"]
            if before_it <= 0:
                return []
            limits = replace(limits, max_records=min(limits.max_records, before_it))
        self.source.limit(limits, {})
        return self.source.next_batch()

    def idle_hint(self) -> float:
        return 0.02

    def position(self) -> dict[str, Any]:
        return self.source.position()

    def restore(self, position: dict[str, Any]) -> None:
        self.source.restore(position)
