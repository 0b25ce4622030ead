"""The inputs of the pipeline under test, which the test feeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scurry.connectors.source import BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.errors import ArgumentError
from scurry.runtime.exchange.wire import MIN_TIME, WireRow
from scurry.runtime.tasks.source_task import SourceTask

__all__ = ["FedSource", "Input"]


class FedSource(Source):
    """A placeholder source in the plan, whose records come from the test."""

    def channels(self, parallelism: int) -> int:
        """Return 1, because the test is the only reader."""
        return 1

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Raise NotImplementedError: the harness feeds the operators behind the source itself."""
        raise NotImplementedError("a stream of a TestHarness only runs in its TestHarness")

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Raise NotImplementedError: the harness feeds the operators behind the source itself."""
        raise NotImplementedError("a stream of a TestHarness only runs in its TestHarness")


class Input(SourceTask):
    """A source's chain, fed by the test.

    It runs as one long micro-batch, so that watermark generators see the records of the whole test.
    """

    watermark = MIN_TIME

    def process(self, values: list[Any], timestamps: list[int] | None) -> None:
        """Process records."""
        self.info.clock.advance_to(self._wall_clock())
        self._entry.emit(values, timestamps)

    def advance_watermark(self, watermark: int) -> None:
        """Process a watermark.

        Raises:
            ArgumentError: It is lower than the last one.
        """
        if watermark < self.watermark:
            raise ArgumentError(f"a watermark never falls: it is at {self.watermark} already, not {watermark}")
        if watermark > self.watermark:
            self.watermark = watermark
            self._entry.watermark(watermark)

    def cut(self) -> None:
        """Emit periodic watermarks and end the segment, so that later records see the current watermark and clock."""
        for assigner in self.task.assigners:
            assigner.emit_periodic()
        self._end_segment()

    def take_rows(self) -> list[WireRow]:
        """Return the rows to send to the levels."""
        self.cut()
        return [*self._take_rows(), *self.task.progress(), *self.task.report()]
