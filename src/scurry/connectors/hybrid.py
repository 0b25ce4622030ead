"""HybridSource: one source after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scurry.common.typeinfo import TypeInformation
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Chunk, ChunkSizer, Enumerator, Source
from scurry.errors import ArgumentError

__all__ = ["HybridSource"]


class HybridSource(Source):
    """Reads each source when the one before it has ended, for example files and then a live stream.

    All but the last must be bounded. A source is opened (its files listed) only when its turn comes.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        """Take the sources, in order.

        Raises:
            ArgumentError: There is none, or one before the last is unbounded.
        """
        if not sources:
            raise ArgumentError("a HybridSource needs at least one source")
        for index, source in enumerate(sources[:-1], 1):
            if not source.bounded:
                raise ArgumentError(f"source {index} of {len(sources)} in a HybridSource never ends; put it last")
        self.sources = tuple(sources)
        self.bounded = sources[-1].bounded

    @property
    def produced_type(self) -> TypeInformation | None:
        """The first source's type."""
        return self.sources[0].produced_type

    @property
    def meets_malformed_records(self) -> bool:
        """Whether any of the sources may."""
        return any(source.meets_malformed_records for source in self.sources)

    def channels(self, parallelism: int) -> int:
        """Return the most any source needs."""
        return max(source.channels(parallelism) for source in self.sources)

    def create_enumerator(self, parallelism: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator that chains the sources' own."""
        return _HybridEnumerator(self, parallelism, limits)

    def read(self, work: Any, sizer: ChunkSizer) -> Iterator[Chunk]:
        """Yield the records of one assignment of one of the sources."""
        index: int = work[0]
        inner = work[1]
        return self.sources[index].read(inner, sizer)


class _HybridEnumerator(Enumerator):
    def __init__(self, source: HybridSource, parallelism: int, limits: BatchLimits) -> None:
        self._sources = source.sources
        self._channels = source.channels(parallelism)
        self._parallelism = parallelism
        self._limits = limits
        self._closed_spare = False
        self._open(0)

    def _open(self, index: int) -> None:
        self._index = index
        self._current = self._sources[index].create_enumerator(self._parallelism, self._limits)
        #: channels that get nothing more from the current source; those it does not have get nothing at all
        self._ended = set(range(self._sources[index].channels(self._parallelism), self._channels))

    def next_batch(self) -> list[Assignment]:
        # A batch never mixes two sources: all of one is read before any of the next.
        while True:
            batch = self._current.next_batch()
            self._ended.update(assignment.channel for assignment in batch if assignment.final)
            ended = len(self._ended) == self._channels
            if self._index + 1 < len(self._sources):
                work = [self._wrap(a, False) for a in batch if a.work is not None]
                if ended:
                    self._current.close()
                    self._open(self._index + 1)
                if work or not ended:
                    return work
                continue
            return self._last(batch)

    def _last(self, batch: list[Assignment]) -> list[Assignment]:
        """The assignments of the last source, whose ends are the ends of the channels."""
        own = self._sources[self._index].channels(self._parallelism)
        if own < self._channels and not self._closed_spare:
            self._closed_spare = True
            spare = [Assignment(channel, None, True) for channel in range(own, self._channels)]
        else:
            spare = []
        return [self._wrap(a, a.final) for a in batch] + spare

    def _wrap(self, assignment: Assignment, final: bool) -> Assignment:
        work = None if assignment.work is None else (self._index, assignment.work)
        return Assignment(assignment.channel, work, final)

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        self._limits = limits
        self._current.limit(limits, record_bytes)

    def backlog(self) -> Backlog | None:
        return self._current.backlog()

    def idle_hint(self) -> float:
        return self._current.idle_hint()

    def committed(self) -> None:
        self._current.committed()

    def close(self) -> None:
        self._current.close()

    def position(self) -> dict[str, Any]:
        return {
            "source": self._index,
            "channels": self._channels,
            "ended": sorted(self._ended),
            "spare": self._closed_spare,
            "current": self._current.position(),
        }

    def restore(self, position: dict[str, Any]) -> None:
        self._open(position["source"])
        self._current.restore(position["current"])
        # with another number of channels the current source deals anew, and ends each of them again
        if position["channels"] == self._channels:
            self._closed_spare = position["spare"]
            self._ended = set(position["ended"])
