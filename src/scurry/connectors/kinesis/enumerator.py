"""KinesisEnumerator: reads shards ahead to learn where ranges end, and assigns them, parents before their children."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.enumerator import shares
from scurry.connectors.kinesis.client import Failure, RequestError
from scurry.connectors.kinesis.records import millis_of
from scurry.connectors.kinesis.shards import (
    AHEAD,
    AHEAD_BYTES,
    KinesisShard,
    Position,
    ShardAccess,
    ShardRange,
    StreamSettings,
)
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator

#: Threads that ask shards side by side.
_MOST_THREADS = 8
#: Seconds before a shard is asked again that had too much to do, or whose service was away.
_PAUSE_SECONDS = 0.5


@dataclass
class _Shard:
    """A shard, its position, and its records that were read ahead."""

    shard: KinesisShard
    at: Position
    channel: int
    ended: bool = False
    iterator: str | None = None
    #: the last answer of the service has been read: the shard is closed, or it has all that a bounded source reads
    exhausted: bool = False
    ahead: deque[dict[str, Any]] = field(default_factory=deque)
    due: float = 0.0
    is_behind: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.shard.stream, self.shard.shard_id


class KinesisEnumerator(Enumerator):
    """Assign the records that shards have.

    The service does not say what the last sequence number of a shard is. So the driver reads first, and a range is
    what it has read. A shard is read once those that were split or merged into it have been assigned to their end, in
    earlier micro-batches: so the order of each partition key is kept.
    """

    def __init__(
        self,
        scan: StreamSettings,
        channels: int,
        limits: BatchLimits,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Ask the service with the first batch.

        Args:
            scan: The streams.
            channels: Number of readers.
            limits: Limits of one micro-batch.
            clock: Returns seconds.
            now: Returns the time in seconds since 1970.
        """
        self._scan, self._channels, self._limits, self._clock, self._now = scan, channels, limits, clock, now
        self._access = ShardAccess(scan.service)
        self._shards: dict[tuple[str, str], _Shard] = {}
        self._ended: set[int] = set()
        #: channels that have had an assignment, and hold the watermark back
        self._speaking: set[int] = set()
        self._started = self._answered = False
        #: when a bounded source started, in milliseconds
        self._until: int | None = None
        self._discovered: float | None = None
        self._held: Collection[int] | None = None
        self._away_since: float | None = None
        self._threads: ThreadPoolExecutor | None = None
        #: ranges whose records are kept for tasks of this process
        self._assigned: list[ShardRange] = []

    # ---------------------------------------------------------------- shards

    def _discover_if_due(self) -> None:
        every = self._scan.discovery_seconds
        due = self._discovered is None or (every > 0 and self._clock() >= self._discovered + every)
        if not due or (self._started and self._scan.bounded):
            return
        now = int(self._now() * 1000)
        listed = {stream: self._access.shards(stream) for stream in self._scan.streams}
        self._discovered = self._clock()
        for stream, shards in listed.items():
            for shard in shards:
                if (stream, shard.shard_id) not in self._shards:
                    self._add(shard, now)
            there = {shard.shard_id for shard in shards}
            for key in [key for key, each in self._shards.items() if each.ended]:
                if key[0] == stream and key[1] not in there:
                    del self._shards[key]  # it has expired
        if self._scan.bounded and self._until is None:
            self._until = now
        self._started = True

    def _add(self, shard: KinesisShard, now: int) -> None:
        position = ["horizon"] if self._started else self._scan.begin(now)
        made = _Shard(shard, position, self._channel_of(shard))
        # A shard that was closed before reading begins has nothing from now on.
        made.ended = not self._started and self._scan.start == "LATEST" and shard.is_closed
        self._shards[made.key] = made

    def _channel_of(self, shard: KinesisShard) -> int:
        """Return the channel of a new shard.

        One of several children goes to its parent's channel, whose watermark is behind its records; another one to a
        channel that has had no records yet.
        """
        channels = [channel for channel in range(self._channels) if channel not in self._ended] or [0]
        if self._scan.assigner is not None:
            wanted = self._scan.assigner(shard, self._channels) % self._channels
            return wanted if wanted in channels else channels[0]
        loads = dict.fromkeys(channels, 0)
        for each in self._shards.values():
            if not each.ended and each.channel in loads:
                loads[each.channel] += 1
        parents = [self._shards.get((shard.stream, parent)) for parent in shard.parents]
        homes = [parent.channel for parent in parents if parent is not None and parent.channel in loads]
        if not self._started or not homes:
            return min(channels, key=lambda channel: (loads[channel], channel))
        related = [each for each in self._shards.values() if set(each.shard.parents) & set(shard.parents)]
        unused = [channel for channel in channels if channel not in self._speaking and not loads[channel]]
        return unused[0] if related and unused else homes[0]

    def _is_readable(self, shard: _Shard) -> bool:
        parents = [self._shards.get((shard.shard.stream, parent)) for parent in shard.shard.parents]
        return not shard.ended and all(parent is None or parent.ended for parent in parents)

    # ---------------------------------------------------------------- reading ahead

    def _read_ahead(self, readable: list[_Shard]) -> None:
        now, held = self._clock(), self._held or ()
        kept = sum(len(record["Data"]) for shard in readable for record in shard.ahead)
        due = [
            shard
            for shard in readable
            if not shard.ahead and not shard.exhausted and shard.due <= now and shard.channel not in held
        ]
        if kept >= AHEAD_BYTES or not due:
            return
        if len(due) == 1:
            self._ask(due[0])
            return
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_MOST_THREADS, "scurry-kinesis")
        asked = [self._threads.submit(self._ask, shard) for shard in due]
        wait(asked)
        for each in asked:
            each.result()

    def _ask(self, shard: _Shard) -> None:
        """Read the next records of a shard.

        Raises:
            RequestError: The service cannot be reached, or fails the request.
        """
        stream, shard_id = shard.key
        try:
            if shard.iterator is None:
                shard.iterator = self._access.iterator(stream, shard_id, shard.at)
            answer = self._access.records(stream, shard.iterator, self._scan.most_records)
        except RequestError as error:
            shard.due = self._clock() + _PAUSE_SECONDS
            if error.failure is Failure.EXPIRED:
                shard.iterator, shard.due = None, 0.0
                return
            raise
        found = answer["Records"]
        shard.iterator = answer.get("NextShardIterator")
        behind = answer.get("MillisBehindLatest")
        shard.is_behind = bool(behind)
        shard.due = self._clock() + (self._scan.busy_seconds if found or behind else self._scan.idle_seconds)
        shard.exhausted = shard.iterator is None
        if self._until is not None:
            kept = [each for each in found if millis_of(each) <= self._until]
            shard.exhausted |= len(kept) < len(found) or (not found and not behind)
            found = kept
        shard.ahead.extend(found)

    # ---------------------------------------------------------------- assigning

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Limit later batches by records and bytes."""
        self._limits = limits

    def align(self, held: Collection[int]) -> None:
        """Hold the shards of some channels back."""
        self._held = held

    def next_batch(self) -> list[Assignment]:
        """Return ranges of the records of shards, within the limits."""
        if len(self._ended) == self._channels:
            return []
        readable: list[_Shard] = []
        try:
            self._discover_if_due()
            readable = [shard for shard in self._shards.values() if self._is_readable(shard)]
            self._read_ahead(readable)
        except RequestError as error:
            self._away(error)
        else:
            self._answered, self._away_since = True, None
        works = self._works(readable)
        busy = {shard.channel for shard in self._shards.values() if not shard.ended}
        silent = busy - self._speaking
        self._speaking |= busy
        final = self._newly_ended(busy)
        return [
            Assignment(channel, works.get(channel), channel in final, sum(part[5] for part in works.get(channel) or ()))
            for channel in sorted({*works, *final, *silent})
        ]

    def _away(self, error: RequestError) -> None:
        now = self._clock()
        self._away_since = now if self._away_since is None else self._away_since
        late = now > self._away_since + PATIENCE_SECONDS
        if error.failure is Failure.REFUSED or (error.failure is Failure.AWAY and not self._answered) or late:
            raise error.error from None

    def _works(self, readable: list[_Shard]) -> dict[int, list[ShardRange]]:
        works: dict[int, list[ShardRange]] = {}
        held = self._held or ()
        there = [shard for shard in readable if shard.channel not in held]
        budget = self._limits.max_records
        lags = [len(shard.ahead) for shard in there]
        counts = [min(lag, budget) for lag in lags] if self._held is not None else shares(lags, budget)
        size = 0
        for shard, count in zip(there, counts, strict=True):
            block: list[dict[str, Any]] = []
            while len(block) < count and (size < self._limits.max_bytes or not (block or works)):
                block.append(shard.ahead.popleft())
                size += len(block[-1]["Data"])
            if block:
                part = self._range(shard, block)
                works.setdefault(shard.channel, []).append(part)
            if shard.exhausted and not shard.ahead:
                shard.ended = True
                self._discovered = None if not self._scan.bounded else self._discovered
        return works

    def _range(self, shard: _Shard, block: list[dict[str, Any]]) -> ShardRange:
        first, last = block[0]["SequenceNumber"], block[-1]["SequenceNumber"]
        part = (*shard.key, shard.shard.keys, first, last, len(block))
        shard.at = ["after", last]
        AHEAD.keep(self._scan.service, part, block)
        self._assigned.append(part)
        return part

    def _newly_ended(self, busy: set[int]) -> set[int]:
        """Return the channels whose last shard has ended.

        Those that have lost all their shards end, too, so that they do not hold the watermark back; one of them stays
        if there is nothing else, for shards that come later. While children of an ended shard may not be known yet,
        none ends.
        """
        if self._scan.bounded:
            ended = set(range(self._channels)) - busy - self._ended if self._started else set()
        else:
            ended = self._speaking - busy - self._ended if self._discovered is not None else set()
            if not busy:
                ended.discard(min(ended, default=-1))
        self._ended |= ended
        return ended

    # ---------------------------------------------------------------- progress

    def expects(self, channel: int) -> bool:
        """Return whether a channel has shards that have not ended."""
        return any(shard.channel == channel and not shard.ended for shard in self._shards.values())

    def backlog(self) -> Backlog:
        """Return the records read ahead; if a shard says that it has more, the amount is unknown."""
        if any(shard.is_behind and not shard.ended for shard in self._shards.values()):
            return Backlog()
        channels: dict[int, int] = {}
        for shard in self._shards.values():
            channels[shard.channel] = channels.get(shard.channel, 0) + len(shard.ahead)
        return Backlog(sum(channels.values()), channels=None if self._held is None else channels)

    def describe(self, channel: int) -> str:
        """Return the names of a channel's shards."""
        own = (each for each in self._shards.values() if each.channel == channel and not each.ended)
        return ", ".join(f"{each.shard.stream}/{each.shard.shard_id}" for each in own)

    def idle_hint(self) -> float:
        """Return the seconds until a shard is asked again."""
        now = self._clock()
        waits = [shard.due - now for shard in self._shards.values() if self._is_readable(shard)]
        return min(max(0.01, min(waits, default=_PAUSE_SECONDS)), _PAUSE_SECONDS)

    def position(self) -> dict[str, Any]:
        """Return the last sequence number of every shard, and how shards descend from each other."""
        shards = [
            [*each.key, list(each.shard.parents), *map(str, each.shard.keys), each.at, each.ended, each.channel]
            for each in self._shards.values()
        ]
        return {
            "shards": shards,
            "channels": self._channels,
            "ended": sorted(self._ended),
            "started": self._started,
            "until": self._until,
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue behind the assigned records; another number of channels deals the shards again."""
        self._started, self._until = position["started"], position["until"]
        same = position["channels"] == self._channels
        self._ended = set(position["ended"]) if same else set()
        self._speaking = set(self._ended)
        self._shards = {}
        for number, saved in enumerate(position["shards"]):
            stream, shard_id, parents, first, last, at, ended, channel = saved
            shard = KinesisShard(stream, shard_id, tuple(parents), int(first), int(last), ended)
            if not same and self._scan.assigner is not None:
                channel = self._scan.assigner(shard, self._channels) % self._channels
            elif not same:
                channel = number
            made = _Shard(shard, at, channel % self._channels, ended)
            self._shards[made.key] = made
        if not same:
            self._deal()

    def _deal(self) -> None:
        """Deal the shards that have not ended in turns."""
        if self._scan.assigner is None:
            for number, each in enumerate(each for each in self._shards.values() if not each.ended):
                each.channel = number % self._channels

    def committed(self) -> None:
        """Forget records that tasks have read."""
        assigned, self._assigned = self._assigned, []
        AHEAD.forget(self._scan.service, assigned)

    def close(self) -> None:
        """End the threads."""
        self.committed()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
