"""The size of micro-batches while sources have more than they may read: scurry's counterpart of buffer debloating."""

from __future__ import annotations

from dataclasses import dataclass

from scurry.connectors.source import BatchLimits

#: Limits of the first batch, before anything is known of the job's speed.
FIRST = BatchLimits(max_bytes=128 << 20, max_records=100_000)
#: The same for a job that reads columns: it takes a fraction of the time per record.
FIRST_OF_COLUMNS = BatchLimits(max_bytes=512 << 20, max_records=400_000)
#: Maximum growth of a batch: factor of the limit of the previous one.
MAX_GROWTH = 4.0
#: Two batches show the fixed cost of a batch if their limits differ by this factor at least.
_DISTINCT = 1.25
#: If the first batches all take about the target time, one batch reads this many times as much, to measure that cost.
_TRIAL = 2.0
#: The target is extended until a batch's fixed cost is at most this share of it.
_OVERHEAD_SHARE = 0.5


@dataclass(frozen=True)
class _Measured:
    """A batch that read all it was allowed to: the scale of its limits, and the seconds it took."""

    scale: float
    seconds: float


class BatchSizer:
    """Set the limits of the next batch so that it takes about a target time, from the times of the last ones.

    The limits of all sources, in records and in bytes, are scaled together. They change only while a source has more
    than it may read, or while batches take too long: a live stream that the job keeps up with is read as it comes. If a
    slow sink or function makes batches longer, the next ones read less. What they do not read stays in the source, so
    nothing piles up in the job.

    A batch has a fixed cost, however little it reads. If that is above the target, shorter batches would only make the
    job slower. So the cost, estimated from two batches of different size, extends the target to twice that cost.
    """

    def __init__(self, limits: BatchLimits, target_seconds: float, first: BatchLimits = FIRST) -> None:
        """Begin with the limits of the first batch.

        Args:
            limits: Limits that no batch may exceed.
            target_seconds: How long a batch should take.
            first: Limits of the first batch.
        """
        self._most = limits
        self._target = target_seconds
        self._bytes = float(min(first.max_bytes, limits.max_bytes))
        self._records = float(min(first.max_records, limits.max_records))
        #: the factor by which they have been scaled since
        self._scale = 1.0
        #: the fixed cost of a batch in seconds, None until two batches have shown it
        self._overhead: float | None = None
        #: the latest batch whose limits differ from those of the batches since
        self._other: _Measured | None = None

    @property
    def limits(self) -> BatchLimits:
        """The limits of the next batch."""
        return BatchLimits(max_bytes=max(1, round(self._bytes)), max_records=max(1, round(self._records)))

    @property
    def target_seconds(self) -> float:
        """Return the target duration of a batch, given its fixed cost."""
        return max(self._target, (self._overhead or 0.0) / _OVERHEAD_SHARE)

    def batch_took(self, seconds: float, limited: bool) -> None:
        """Adapt the limits to a batch.

        Args:
            seconds: How long it took.
            limited: Whether there was more than the batch was allowed to read.
        """
        seconds = max(seconds, 1e-3)
        if limited:
            self._learn_overhead(_Measured(self._scale, seconds))
            ratio = min(MAX_GROWTH, self.target_seconds / seconds)
            # try one batch of another size: only that shows whether the time of these is mostly fixed cost
            known = self._overhead is not None or not 1 / _DISTINCT < ratio < _DISTINCT
            self._resize(ratio if known else _TRIAL)
        elif seconds > self.target_seconds:
            # it may have been small, so it says little about a full batch; but it took too long
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
