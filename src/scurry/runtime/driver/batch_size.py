"""How much a micro-batch reads while there is more than it may: what Flink's buffer debloating is to its buffers."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.connectors.source import BatchLimits

__all__ = ["BatchSizer"]

#: What the first batch may read, before anything is known of the job's speed.
FIRST = BatchLimits(max_bytes=128 << 20, max_records=100_000)
#: A batch may read at most so many times what the one before it was allowed to.
MAX_GROWTH = 4.0
#: Two batches tell what a batch costs by itself if their limits differ by this factor at least.
_DISTINCT = 1.25
#: How many times as much is read once to find that out, if the first batches are all about as long as they should be.
_TRIAL = 2.0
#: The target is stretched until a batch's own cost is at most this share of it.
_OVERHEAD_SHARE = 0.5


@dataclass(frozen=True)
class _Measured:
    """A batch that read all it might: how far the limits had been scaled, and the seconds it took."""

    scale: float
    seconds: float


class BatchSizer:
    """Sets the limits of the next batch so that it takes about a target time, from how long the last ones took.

    The limits of all sources, in records and in bytes, are scaled together. They move only while a source has more
    than it may read, or while batches take too long: a live stream that is kept up with is read as it comes. A
    slow sink or function makes batches longer, the next ones are cut shorter, and what they do not read stays where it
    is: nothing piles up in the job.

    A batch has a cost of its own, however little it reads. If that is above the target, shorter batches would only make
    the job slower; so what two batches of different size say about it stretches the target to twice that cost.
    """

    def __init__(self, limits: BatchLimits, target_seconds: float) -> None:
        """Begin with what the first batch may read.

        Args:
            limits: What no batch may exceed.
            target_seconds: How long a batch should take.
        """
        self._most = limits
        self._target = target_seconds
        self._bytes = float(min(FIRST.max_bytes, limits.max_bytes))
        self._records = float(min(FIRST.max_records, limits.max_records))
        #: how far they have been scaled since
        self._scale = 1.0
        #: what a batch costs by itself, None as long as no two batches have told
        self._overhead: float | None = None
        #: the latest batch whose limits were others than those of the batches since
        self._other: _Measured | None = None

    @property
    def limits(self) -> BatchLimits:
        """What the next batch may read."""
        return BatchLimits(max_bytes=max(1, round(self._bytes)), max_records=max(1, round(self._records)))

    @property
    def target_seconds(self) -> float:
        """How long a batch should take, given what it costs by itself."""
        return max(self._target, (self._overhead or 0.0) / _OVERHEAD_SHARE)

    def batch_took(self, seconds: float, limited: bool) -> None:
        """Learn from a batch.

        Args:
            seconds: How long it took.
            limited: Whether there was more than it was allowed to read.
        """
        seconds = max(seconds, 1e-3)
        if limited:
            self._learn_overhead(_Measured(self._scale, seconds))
            ratio = min(MAX_GROWTH, self.target_seconds / seconds)
            # one batch of another size has to be tried, lest all that these take be what they cost by themselves
            known = self._overhead is not None or not 1 / _DISTINCT < ratio < _DISTINCT
            self._resize(ratio if known else _TRIAL)
        elif seconds > self.target_seconds:
            # It may have been small, and says little about what a full one takes; but it was too much.
            self._resize(max(1 / MAX_GROWTH, self.target_seconds / seconds))

    def _resize(self, ratio: float) -> None:
        before = self._bytes, self._records
        self._bytes = min(max(self._bytes * ratio, 1.0), self._most.max_bytes)
        self._records = min(max(self._records * ratio, 1.0), self._most.max_records)
        changes = self._bytes / before[0], self._records / before[1]
        self._scale *= max(changes) if ratio > 1 else min(changes)

    def _learn_overhead(self, batch: _Measured) -> None:
        other = self._other
        if other is None:
            self._other = batch
        if other is None or max(other.scale, batch.scale) < _DISTINCT * min(other.scale, batch.scale):
            return
        self._other = batch
        per_scale = (batch.seconds - other.seconds) / (batch.scale - other.scale)
        overhead = min(max(batch.seconds - per_scale * batch.scale, 0.0), other.seconds, batch.seconds)
        self._overhead = overhead if self._overhead is None else (self._overhead + overhead) / 2
