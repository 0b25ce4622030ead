"""The size of micro-batches while sources have more than they may read: scurry's counterpart of buffer debloating."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from scurry._dataclasses import dataclass
from scurry.connectors.source import BatchLimits

#: Limits of the first batch, before anything is known of the job's speed.
FIRST = BatchLimits(max_bytes=32 << 20, max_records=100_000)
#: The same for a job that reads columns: it takes a fraction of the time per record.
FIRST_OF_COLUMNS = BatchLimits(max_bytes=512 << 20, max_records=400_000)
#: Maximum growth of a source's batch: factor of the largest one whose time was measured.
MAX_GROWTH = 4.0
#: Two batches show the fixed cost of a batch if their sizes differ by this factor at least.
_DISTINCT = 1.25
#: Two batches have the same mixture if the share of each source differs by this at most.
_SAME_SHARE = 0.1
#: While batches all take about the target time, every second one reads this share of what it may, to measure that cost.
_TRIAL = 0.6
#: The number of such batches; the mixture of sources may never be the same in two of them.
_TRIALS = 4
#: The target is extended until a batch's fixed cost is at most this share of it.
_OVERHEAD_SHARE = 0.5
#: A batch of this share of the first one's limits, or one that takes this share of the target, shows the cost.
_ENOUGH = 0.05
#: A batch that takes this many times as long as expected shows that the job has become slower.
_SLOWER = 1.25
#: Growth of the known time of near-empty batches, by which it is forgotten.
_FORGETTING = 1.1
#: The share of the target that a source gets whose turn comes when the time is used up.
_LEAST_SHARE = 0.05


@dataclass
class _Cost:
    """The cost of a source's input. A load of 1 is the first batch's limit, in records or bytes.

    Attributes:
        seconds: Seconds per load, with its share of the batch's fixed cost; None while unknown.
        most: The largest load that was read.
    """

    seconds: float | None = None
    most: float = 0.0


@dataclass(frozen=True)
class _Measured:
    """A batch that read all it was allowed to: the load of each source, and the seconds it took."""

    loads: Mapping[int, float]
    seconds: float

    @property
    def load(self) -> float:
        return sum(self.loads.values())

    def resembles(self, other: _Measured) -> bool:
        """Return whether sources had about the same shares in the load, so that a load costs the same in both."""
        return self.loads.keys() == other.loads.keys() and all(
            abs(load / self.load - other.loads[source] / other.load) <= _SAME_SHARE
            for source, load in self.loads.items()
        )


class BatchSizer:
    """Set the limits of the next batch so that it takes a target time at most, from the costs measured so far.

    Every batch shows what a record or byte costs, also one that reads all there is: when a burst comes, the limit is
    that of the measured cost, and at most four times what was read before. If a slow sink or function makes batches
    longer, the next ones read less. What they do not read stays in the source, so nothing piles up in the job. Sources
    share the target time in the order in which they are asked.

    A batch has a fixed cost, however little it reads. If that is above the target, shorter batches would only make the
    job slower. So the cost, estimated from two batches of different size, extends the target to twice that cost.
    """

    def __init__(
        self,
        limits: BatchLimits,
        target_seconds: float,
        first: BatchLimits = FIRST,
        catching_up_seconds: float | None = None,
    ) -> None:
        """Begin with the limits of the first batch.

        Args:
            limits: Limits that no batch may exceed.
            target_seconds: How long a batch should take.
            catching_up_seconds: The same while sources have more than they may read; None for no difference.
        """
        self._most, self._first = limits, first
        self._target = target_seconds
        self._catching_up = target_seconds if catching_up_seconds is None else catching_up_seconds
        self._costs: dict[int, _Cost] = {}
        #: the loads of the present batch, and the sources that had any in the one before
        self._loads: dict[int, float] = {}
        self._busy: frozenset[int] = frozenset()
        #: whether a source had more than it was allowed to read in the last batch
        self._behind = False
        #: the time of a batch that reads next to nothing
        self._small: float | None = None
        #: the fixed cost of a batch in seconds that the last two batches showed, and the one that two pairs did
        self._shown: float | None = None
        self._overhead: float | None = None
        self._last: _Measured | None = None
        self._tries, self._trials = False, 0
        #: whether no batch has ended
        self._starting = True

    @property
    def target_seconds(self) -> float:
        """Return the target duration of a batch, given its fixed cost."""
        target = self._catching_up if self._behind else self._target
        return max(target, (self._overhead or 0.0) / _OVERHEAD_SHARE)

    def limits(self, source: int) -> BatchLimits:
        """Return the limits of a source in the present batch, given the assignments of others."""
        load, most, first = self._load(source), self._most, self._first
        return BatchLimits(
            max(1, min(round(first.max_bytes * load), most.max_bytes)),
            max(1, min(round(first.max_records * load), most.max_records)),
            most.max_record_bytes,
        )

    def _load(self, source: int) -> float:
        cost = self._costs.get(source)
        if cost is None or cost.seconds is None:
            return 1.0
        others = sum(self._expected(each, load) for each, load in self._loads.items() if each != source)
        waiting = self._busy.difference(self._loads, {source})
        share = max((self.target_seconds - others) / (1 + len(waiting)), self.target_seconds * _LEAST_SHARE)
        trial = _TRIAL if self._tries else 1.0
        return min(trial * share / cost.seconds, MAX_GROWTH * max(cost.most, _ENOUGH))

    def _expected(self, source: int, load: float) -> float:
        cost = self._costs.get(source)
        return 0.0 if cost is None or cost.seconds is None else cost.seconds * load

    def assigned(self, source: int, records: float = 0, size: float = 0, limited: BatchLimits | None = None) -> None:
        """Record the assignments of a source for the present batch.

        Args:
            records: The number of records, 0 if it does not count them.
            size: Their bytes, 0 if it does not count them.
            limited: Its limit, if it had more; counts if neither records nor bytes do.
        """
        first = self._first
        load = max(records / first.max_records, size / first.max_bytes)
        if limited is not None and not load:
            load = min(limited.max_bytes / first.max_bytes, limited.max_records / first.max_records)
        self._loads[source] = load

    def batch_took(self, seconds: float, limited: Collection[int]) -> None:
        """Learn from the batch with the last assignments, which has ended.

        Args:
            seconds: How long it took.
            limited: The sources that had more than they were allowed to read.
        """
        seconds = max(seconds, 1e-3)
        loads = {source: load for source, load in self._loads.items() if load > 0}
        self._loads, self._busy, self._behind = {}, frozenset(loads), bool(limited)
        if not loads:
            return
        total = sum(loads.values())
        # no batch takes less than its fixed cost, whatever noise two batches showed
        self._small = None if self._small is None else min(self._small, seconds)
        self._overhead = None if self._overhead is None else min(self._overhead, seconds)
        starting, self._starting = self._starting, False
        if starting and total < _ENOUGH and not limited:
            return  # its time is that of the start of workers and functions
        shares = {source: self._expected(source, load) for source, load in loads.items()}
        expected = sum(shares.values())
        known = sum(load for source, load in loads.items() if shares[source])
        mean = expected / known if known else 1.0  # a source whose cost is unknown costs as much as others
        parts = {source: shares[source] or load * mean for source, load in loads.items()}
        for source, load in loads.items():
            share = parts[source] / sum(parts.values())
            self._learn(self._costs.setdefault(source, _Cost()), load, seconds * share, share, expected)
        small = expected < min(seconds / 2, self._target / 4) and total < 1
        if small:
            before, rest = self._small, seconds - expected
            self._small = rest if before is None else min(before * _FORGETTING, rest)
        if limited:
            self._learn_overhead(_Measured(loads, seconds))
            ratio = self.target_seconds / seconds
            wanted = self._overhead is None and not self._tries and self._trials < _TRIALS
            self._tries = wanted and 1 / _DISTINCT < ratio < _DISTINCT
            self._trials += self._tries

    def _learn(self, cost: _Cost, load: float, seconds: float, share: float, expected: float) -> None:
        """Learn the cost of a source from its share of a batch."""
        cost.most = max(cost.most, load)
        per_load, known, empty = seconds / load, cost.seconds, share * (self._small or self._overhead or 0.0)
        expected *= share
        if known is None:
            if load >= _ENOUGH or seconds >= self._target * _ENOUGH:
                cost.seconds = per_load
        elif per_load < known or expected >= seconds / 2:
            cost.seconds = per_load
        elif seconds > _SLOWER * (expected + empty):  # a small batch, which took longer than such batches do
            cost.seconds = max(known, (seconds - empty) / load)

    def _learn_overhead(self, batch: _Measured) -> None:
        last = self._last
        if last is None or not batch.resembles(last):
            self._last = batch
            return
        if max(last.load, batch.load) < _DISTINCT * min(last.load, batch.load):
            return  # a later one will differ enough
        self._last = batch
        per_load = (batch.seconds - last.seconds) / (batch.load - last.load)
        shown = min(max(batch.seconds - per_load * batch.load, 0.0), last.seconds, batch.seconds)
        before, self._shown = self._shown, shown
        if before is None and shown > self._target * _OVERHEAD_SHARE:
            return  # it would extend the target: another pair has to show it, too
        # if a batch was slower than others of its size, the pair before it or the one after it shows too little
        overhead = shown if before is None else min(before, shown)
        self._overhead = overhead if self._overhead is None else (self._overhead + overhead) / 2
