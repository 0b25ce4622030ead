"""Watermark alignment: how far each channel of an alignment group may read (FLIP-182 and FLIP-217)."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import field, replace

from scurry._dataclasses import dataclass
from scurry.common.watermark_strategy import WatermarkAlignment
from scurry.connectors.source import Assignment, Backlog, BatchLimits, Enumerator
from scurry.graph.plan import SourcePlan
from scurry.runtime.driver.job import JobExecution
from scurry.runtime.driver.pacing.batch_size import MAX_GROWTH
from scurry.runtime.exchange.wire import MAX_TIME, MIN_TIME

#: Records that each part reads while its event time per record is unknown.
_TRIAL = BatchLimits(max_bytes=512, max_records=16)

#: Over how many advances of a source the lowest and the highest event time per record count.
_REMEMBERED = 8

#: Growth of a batch whose records did not advance event time; one without records grows by `MAX_GROWTH`.
_STUCK = 2.0

#: Limit of the steps, each of the drift, by which sources with a backlog advance together in a batch.
_ROUNDS = 1000


@dataclass
class _Part:
    """Channels of a source that are read or held together: one, or all if the source cannot hold single channels.

    Attributes:
        spoke: When they last had records, or were held.
        before: Their watermark when the spans were last measured.
        assigned: Whether the last batch assigned them anything.
        taken: How many records or bytes they were assigned since the last span was measured.
        spans: Milliseconds of event time per record or byte in the last batches; none while unknown.
    """

    channels: frozenset[int]
    spoke: float
    before: int = MIN_TIME
    assigned: bool = False
    taken: float = 0
    spans: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))


@dataclass
class _Reading:
    """State of a source's reading.

    Attributes:
        parts: Its channels.
        granted: How many records or bytes each part was allowed to read in the last batch; None if it was not limited.
        growth: By how much the limit grows in any case, because the last batch was too small; None without need.
        full: Whether that was as much as the size of a micro-batch allows.
        records: How many records the source had read before the last batch.
        left: Backlog after the last assignments.
    """

    enumerator: Enumerator
    parts: list[_Part]
    granted: int | None = None
    growth: float | None = None
    full: bool = True
    records: int = 0
    left: Backlog | None = None

    def left_of(self, part: _Part) -> float:
        """Return how much is left for a part, infinity if that is unknown."""
        if self.left is None:
            return math.inf
        if self.left.channels is not None:
            return sum(self.left.channels.get(channel, 0) for channel in part.channels)
        return math.inf if (left := _left(self.left)) is None else left


@dataclass(frozen=True)
class _Room:
    """The amount that each part of a source may read.

    Attributes:
        reached: The time that the furthest one has reached.
        high: The highest span of one.
        most: Limit of the amount, however far they may read.
    """

    reached: int
    high: float
    most: float = math.inf

    def up_to(self, until: int) -> float:
        """Return the amount up to a time."""
        return min((until - self.reached) / self.high, self.most)


@dataclass(frozen=True)
class _Advance:
    """The advance of a source in a batch.

    Attributes:
        parts: The watermark, the lowest span and the rest of each part that the group waits for.
        room: How much each part may read.
    """

    parts: list[tuple[int, float, float]]
    room: _Room

    def reach(self, until: int) -> int:
        """Return the lowest watermark after the batch, if the source may read up to a time."""
        amount = max(0.0, self.room.up_to(until))
        return min((mark + int(min(amount, left) * low) for mark, low, left in self.parts), default=MAX_TIME)


class Alignment:
    """Decide how much aligned sources read in the next micro-batch, so that none gets too far ahead of its group.

    Inside a micro-batch no source needs to wait: the gate merges channels by their watermarks. Between batches a
    channel that is ahead of the group gets no assignments, and the others only as much as their event time may advance.
    How much that is follows from what they have read before; the first batches are so small that they bound it, too.
    A source that does not count records or bytes cannot be limited like that.

    Args:
        enumerators: The enumerators of its sources; sources without one take no part.
        clock: Returns seconds.
    """

    def __init__(
        self, job: JobExecution, enumerators: Mapping[int, Enumerator], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._watermarks = job.totals.source_watermarks
        self._counters = job.totals.counters
        self._clock = clock
        self._groups: dict[str, list[SourcePlan]] = {}
        self._readings: dict[int, _Reading] = {}
        #: group -> the sources that asked for the present batch, and the time up to which each may read
        self._planned: dict[str, tuple[set[int], dict[int, int]]] = {}
        for source in job.plan.sources.values():
            alignment = getattr(source.watermark_strategy, "alignment", None)
            enumerator = enumerators.get(source.id)
            if alignment is not None:
                self._groups.setdefault(alignment.group, []).append(source)
            if alignment is not None and enumerator is not None:
                every = range(source.channels)
                parts = [frozenset({each}) for each in every] if enumerator.holds_channels else [frozenset(every)]
                self._readings[source.id] = _Reading(enumerator, [_Part(each, clock()) for each in parts])

    def concerns(self, source: SourcePlan) -> bool:
        """Return whether a source is in an alignment group with another one."""
        groups = ([each.id for each in group] for group in self._groups.values())
        return any(source.id in ids and len(ids) > 1 for ids in groups)

    def full(self, source: SourcePlan) -> bool:
        """Return whether the source may read as much as the size of a micro-batch allows."""
        reading = self._readings.get(source.id)
        return reading is None or reading.full

    def limits(self, source: SourcePlan, most: BatchLimits) -> BatchLimits | None:
        """Return how much the source may read now, None if it must wait; hold its channels that are ahead.

        Args:
            most: How much it may read without alignment.
        """
        reading = self._readings.get(source.id)
        if reading is None:
            return most
        until = self._until(source, most)
        free = self._free(source, reading, until)
        for part in reading.parts:
            if part not in free:
                part.spoke = self._clock()  # who has to wait is not idle
        if not free:
            reading.granted = None
            for part in reading.parts:
                part.assigned = False
            return None
        if reading.enumerator.holds_channels:
            held = frozenset(range(source.channels)).difference(*(part.channels for part in free))
            reading.enumerator.align(held)
            most = replace(most, **_divided(most, len(free)))
        if reading.left is None or max(self._watermark(source, part) for part in free) == MAX_TIME:
            reading.granted = None
            reading.full = all(self._watermark(source, part) > MIN_TIME for part in free)
            return most if reading.full else _smaller(_TRIAL, most)
        amount, allowed = _amount(most, reading.left), _amount(_TRIAL, reading.left)
        if any(part.spans for part in free):
            allowed = int(min(self._room(source, reading, free, until).up_to(until), amount))
        if reading.granted is not None:
            granted = reading.granted * (reading.growth or MAX_GROWTH)
            allowed = int(granted if reading.growth else min(allowed, granted))
        reading.granted = max(1, min(allowed, amount))
        reading.full = reading.granted == amount
        return _limited(most, reading.left, reading.granted)

    def _room(self, source: SourcePlan, reading: _Reading, free: list[_Part], until: int) -> _Room:
        """Return how much each free part may read, so that none gets ahead of other sources, or of another part."""
        drift, high = _drift_of(source), max(max(part.spans) for part in free if part.spans)
        reached = max(self._watermark(source, part) for part in free)
        if len(reading.parts) == 1:
            furthest = max(self._watermarks.get((source.id, each), MIN_TIME) for each in free[0].channels)
            return _Room(furthest if furthest <= until else reached, high)
        most = math.inf
        for part in self._awaited(source, reading):
            room, left = self._watermark(source, part) + drift - reached, reading.left_of(part)
            low = min(part.spans) if part.spans and part in free else 0.0
            together = room / (high - low) if high > low else math.inf
            if together > left:  # then the part stands still
                together = max(left, (room + left * low) / high)
            most = min(most, together)
        return _Room(reached, high, most)

    def _free(self, source: SourcePlan, reading: _Reading, until: int) -> list[_Part]:
        """Return the parts that need not wait: without those that have ended, if any goes on.

        All read equally much. So those that soon have to wait do so at once if that lets others read more.
        """
        reached = {id(part): self._watermark(source, part) for part in reading.parts}
        own = [reached[id(part)] for part in self._awaited(source, reading)]
        until = min([until, *(each + _drift_of(source) for each in own if each < MAX_TIME)])
        open_parts = [part for part in reading.parts if reached[id(part)] < MAX_TIME] or reading.parts
        behind = [part for part in open_parts if reached[id(part)] <= until - _drift_of(source) // 2]
        return behind or [part for part in open_parts if reached[id(part)] <= until]

    def assigned(self, source: SourcePlan, found: list[Assignment], backlog: Backlog | None) -> None:
        """Record the assignments of a source that did not have to wait, and its backlog."""
        reading = self._readings.get(source.id)
        if reading is None:
            return
        amounts = {each.channel: each.amount or 0 for each in found if each.work is not None and each.amount != 0}
        for part in reading.parts:
            part.assigned = not part.channels.isdisjoint(amounts)
            if part.assigned:
                part.taken += sum(amounts.get(channel, 0) for channel in part.channels)
                part.spoke = self._clock()
        if _in_bytes(backlog) != _in_bytes(reading.left) and reading.left is not None:  # a hybrid source has switched
            reading.granted = None
            for part in reading.parts:
                part.spans.clear()
        reading.left = backlog

    def _learn(self, source: SourcePlan, reading: _Reading) -> float | None:
        """Measure the advance of event time per record or byte; return the growth that a stuck source needs."""
        records = self._counters.get((source.id, "numRecordsOut"), 0)
        read, reading.records = records - reading.records, records
        assigned = [part for part in reading.parts if part.assigned]
        advanced = False
        for part in assigned:
            before, watermark = part.before, self._watermark(source, part)
            if watermark > before:
                advanced, part.before = True, watermark
                taken, part.taken = part.taken or read / len(assigned), 0
                if before > MIN_TIME and watermark < MAX_TIME and taken > 0:
                    part.spans.append((watermark - before) / taken)
        return None if advanced or not assigned else _STUCK if read else MAX_GROWTH

    def _until(self, source: SourcePlan, most: BatchLimits) -> int:
        """Return the time up to which a source may read: the drift beyond the others' watermarks after the batch.

        These are computed for all sources of the group when the first one asks. Each is at least what the source
        reaches if it is limited itself, so none is overestimated.
        """
        asked, untils = self._planned.get(_alignment_of(source).group, (set[int](), dict[int, int]()))
        if not asked or source.id in asked:
            asked, untils = set(), self._plan(_alignment_of(source).group, most)
            self._planned[_alignment_of(source).group] = asked, untils
        asked.add(source.id)
        return untils[source.id]

    def _plan(self, group: str, most: BatchLimits) -> dict[int, int]:
        """Return the time up to which each source of a group may read in the next batch."""
        sources = [each for each in self._groups[group] if each.id in self._readings]
        for source in sources:
            self._readings[source.id].growth = self._learn(source, self._readings[source.id])
        reach = [
            min(
                (self._watermark(each, part) for part in self._awaited(each, self._readings[each.id])), default=MAX_TIME
            )
            for each in sources
        ]
        untils, advances = [MIN_TIME] * len(sources), list[_Advance | None]()
        for _ in range(_ROUNDS):
            before = list(untils)
            for number, source in enumerate(sources):
                others = min([*reach[:number], *reach[number + 1 :], MAX_TIME - _drift_of(source)])
                untils[number] = others + _drift_of(source)
            advances = advances or [
                self._advance(source, until, most) for source, until in zip(sources, untils, strict=True)
            ]
            reach = [
                low if advance is None else max(low, advance.reach(until))
                for low, advance, until in zip(reach, advances, untils, strict=True)
            ]
            if untils == before:
                break
        return {source.id: until for source, until in zip(sources, untils, strict=True)}

    def _advance(self, source: SourcePlan, until: int, most: BatchLimits) -> _Advance | None:
        """Return how far a source gets in the next batch, None if that is unknown."""
        reading = self._readings[source.id]
        free = self._free(source, reading, until)
        if reading.left is None or not any(part.spans for part in free):
            return None
        amount = _amount(most, reading.left) / (len(free) if reading.enumerator.holds_channels else 1)
        if reading.granted is not None:
            amount = min(amount, reading.granted * MAX_GROWTH)
        parts = []
        for part in self._awaited(source, reading):
            left = reading.left_of(part)
            reads = part in free and part.spans and (part.assigned or left < math.inf)
            parts.append((self._watermark(source, part), min(part.spans) if reads else 0.0, left))
        room = self._room(source, reading, free, until)
        return _Advance(parts, replace(room, most=min(room.most, amount)))

    def _awaited(self, source: SourcePlan, reading: _Reading) -> list[_Part]:
        """Return the parts of a source whose records the group waits for."""
        awake = [part for part in reading.parts if not self._idle(source, part)]
        expecting = [part for part in awake if any(map(reading.enumerator.expects, part.channels))]
        return expecting or [part for part in awake if self._watermark(source, part) > MIN_TIME] or awake

    def _watermark(self, source: SourcePlan, part: _Part) -> int:
        """Return the lowest watermark of the part's channels; MAX_TIME when all have ended."""
        return min(self._watermarks.get((source.id, channel), MIN_TIME) for channel in part.channels)

    def _idle(self, source: SourcePlan, part: _Part) -> bool:
        strategy = source.watermark_strategy
        timeout = None if strategy is None else strategy.idle_timeout_ms
        return timeout is not None and (self._clock() - part.spoke) * 1000 > timeout


def _alignment_of(source: SourcePlan) -> WatermarkAlignment:
    strategy = source.watermark_strategy
    assert strategy is not None and strategy.alignment is not None
    return strategy.alignment


def _drift_of(source: SourcePlan) -> int:
    return _alignment_of(source).drift_ms


def _smaller(one: BatchLimits, other: BatchLimits) -> BatchLimits:
    records = min(one.max_records, other.max_records)
    return replace(other, max_bytes=min(one.max_bytes, other.max_bytes), max_records=records)


def _divided(limits: BatchLimits, parts: int) -> dict[str, int]:
    return {"max_bytes": max(1, limits.max_bytes // parts), "max_records": max(1, limits.max_records // parts)}


def _left(backlog: Backlog | None) -> int | None:
    if backlog is None:
        return None
    return backlog.bytes if backlog.records is None else backlog.records


def _in_bytes(backlog: Backlog | None) -> bool:
    return backlog is not None and backlog.in_bytes


def _amount(limits: BatchLimits, backlog: Backlog | None) -> int:
    """Return the limit in the unit that the source counts."""
    return limits.max_bytes if _in_bytes(backlog) else limits.max_records


def _limited(most: BatchLimits, backlog: Backlog | None, amount: int) -> BatchLimits:
    return replace(most, max_bytes=amount) if _in_bytes(backlog) else replace(most, max_records=amount)
