"""The input side of an operator: merges its channels and combines their watermarks (Flink's StatusWatermarkValve).

Each channel delivers blocks in order. Progress points between them say what the watermark and the wall clock were.
The gate always continues with the channel whose watermark is lowest (the earlier stamp decides a tie), so event time
rises as slowly as the data allows, and disorder between channels makes nothing late. The end of an input comes after
what other inputs have in the batch: until then the last watermark before it holds, so the end makes nothing late that
its input's records did not. An input that was idle during the batch did not hold others back; its end does not wait.
All subtasks of an operator receive the same progress points, so their watermarks rise through the same values. `step`
numbers what is merged; it is the position of the resulting output on the subtask's channel to the next level, which so
receives it in the order in which it was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from scurry.graph.plan import Edge
from scurry.runtime.exchange.wire import (
    ACTIVE,
    IDLE,
    MAX_TIME,
    MIN_TIME,
    PROGRESS,
    RESUMED,
    WireRow,
    channel_id,
    sender_of,
    unpack,
)

#: The upper bits of a step count progress points, which all subtasks have, the lower ones blocks since the last one;
#: all lower bits set: the point itself.
_STEP_BITS = 32
_POINT = (1 << _STEP_BITS) - 1

#: A progress point: position, watermark, wall clock, activity.
Point = tuple[int, int, int, int]


class Channel:
    """The state of one sender: kept between batches, except pending blocks and points."""

    __slots__ = (
        "active",
        "blocks",
        "idle",
        "idle_timeout",
        "paused",
        "points",
        "seen",
        "speaking",
        "task",
        "untimed",
        "watermark",
    )

    def __init__(self, task: int, idle_timeout: int | None, untimed: bool) -> None:
        self.task = task
        self.idle_timeout = idle_timeout
        self.untimed = untimed
        self.watermark = MIN_TIME
        self.active = 0  # stamp of the last progress with records
        self.seen = False
        self.idle = False
        self.paused = False  # whether its records of this batch came after a silence longer than its timeout
        self.blocks: list[tuple[int, int, Any]] = []  # (seq, input index, block), ascending from the end
        self.points: list[Point] = []
        self.speaking = 0  # how many of the points have records before them

    def save(self) -> tuple[int, int, bool, bool]:
        return self.watermark, self.active, self.seen, self.idle

    def next_stamp(self) -> int:
        """Return the wall clock of the next progress point; 0 without points: then the channel's data comes first."""
        return self.points[-1][2] if self.points else 0

    def silent_at(self, stamp: int) -> bool:
        """Return whether the channel has had no records for longer than its timeout."""
        return self.idle_timeout is not None and self.active > 0 and stamp - self.active > self.idle_timeout

    def restore(self, saved: tuple[int, int, bool, bool]) -> None:
        self.watermark, self.active, self.seen, self.idle = saved


class InputGate:
    """Merge one batch of rows for one operator in one subtask.

    Args:
        saved: What `save` returned after the previous batch.
    """

    def __init__(self, edges: list[Edge], saved: dict[int, Any]) -> None:
        self.channels: dict[int, Channel] = {}
        self._input_of = {edge.id: edge.input_index for edge in edges}
        for edge in edges:
            for sender in edge.senders:
                for instance in range(sender.count):
                    number = channel_id(sender.task, instance)
                    channel = self.channels.get(number)
                    if channel is None:
                        self.channels[number] = Channel(sender.task, sender.idle_timeout, sender.untimed)
                    elif not sender.untimed:  # it sends to both inputs
                        channel.untimed = False
        for number, state in saved.items():
            if number in self.channels:
                self.channels[number].restore(state)
        self.watermark = max(saved.get(-1, MIN_TIME), self._combined())
        self._control: list[Point] = []

    def save(self) -> dict[int, Any]:
        """Return the state to pass to the next batch."""
        state: dict[int, Any] = {number: channel.save() for number, channel in self.channels.items()}
        state[-1] = self.watermark
        return state

    def add(self, row: WireRow) -> None:
        channel = self.channels.get(row.channel)
        if row.kind == PROGRESS:
            points = unpack(row.block)
            assert all(before[0] <= after[0] for before, after in pairwise(points)), (
                f"channel {row.channel}: its progress goes back: {points}"
            )
            if channel is None:
                self._control.extend(points)
            else:
                channel.points.extend(points)
                channel.speaking += sum(activity == ACTIVE for *_, activity in points)
        else:
            assert channel is not None, f"records of channel {row.channel}, which does not send to this operator"
            channel.blocks.append((row.seq, self._input_of[row.port], row.block))

    def merge(self) -> Iterator[tuple[int, int | None, Any]]:
        """Yield `(step, input index, block)` for data and `(step, None, (watermark, stamp))` for time.

        Blocks are still packed; the watermark is the combined one and never falls.
        """
        self._resume()
        pending = []
        for channel in self.channels.values():
            if channel.blocks or channel.points:
                channel.blocks.sort(key=lambda block: block[0])
                channel.blocks.reverse()  # not reverse=True: blocks of one position keep the order they came in
                channel.points.sort(reverse=True)
                channel.seen = True  # its first watermark is pending, so the other channels must not get ahead of it
                pending.append(channel)
        turn = merged = 0
        ends: list[tuple[Channel, Point]] = []
        while pending:
            channel = self._next(pending)
            point = channel.points.pop() if channel.points else None
            blocks, last = channel.blocks, point[0] if point else MAX_TIME
            while blocks and blocks[-1][0] <= last:
                _, index, block = blocks.pop()
                yield turn << _STEP_BITS | merged, index, block
                merged += 1
            if point and not blocks and channel.points and channel.points[-1][1] == MAX_TIME:
                point = self._up_to_end(channel, point, pending)
            if point and self._ends_before_others(channel, point, pending):
                ends.append((channel, point))
            elif point:
                self._advance(channel, point)
                yield turn << _STEP_BITS | _POINT, None, (self.watermark, point[2])
                turn, merged = turn + 1, 0
            if not (channel.blocks or channel.points):
                pending.remove(channel)
        for channel, point in ends:
            self._advance(channel, point)
            yield turn << _STEP_BITS | _POINT, None, (self.watermark, point[2])
            turn += 1
        assert not any(channel.blocks or channel.points for channel in self.channels.values()), "records are left"
        yield from self._finish(turn)

    def _up_to_end(self, channel: Channel, point: Point, pending: list[Channel]) -> Point:
        """Return the last point before the end of a channel, or the end itself if nothing holds it back."""
        end = channel.points.pop()
        both = (*end[:3], max(point[3], end[3]))
        if self._ends_before_others(channel, both, pending):
            channel.points.append(end)
            return point
        channel.speaking -= [point[3], end[3]].count(ACTIVE) - (both[3] == ACTIVE)
        return both

    def _ends_before_others(self, channel: Channel, point: Point, pending: list[Channel]) -> bool:
        """Return whether a task ends here that had records, and others have something further on in this batch."""
        if point[1] != MAX_TIME or (channel.watermark == MIN_TIME and point[3] != ACTIVE) or channel.paused:
            return False
        others = {each.task for each in pending if each.points}  # all subtasks have the same points
        return bool(others) and channel.task not in others

    def _resume(self) -> None:
        """Forget how long channels were silent before the job was started from state."""
        for point in [point for point in self._control if point[3] == RESUMED]:
            self._control.remove(point)
            for channel in self.channels.values():
                channel.idle, channel.active = False, point[2] if channel.active else 0

    def _next(self, pending: list[Channel]) -> Channel:
        if len(pending) == 1:
            return pending[0]
        awake = [channel for channel in pending if not channel.idle and not channel.untimed] or pending
        first = min(awake, key=lambda channel: (channel.watermark, channel.next_stamp()))
        # such a channel holds no other channel back; it continues when its time has come
        for channel in pending:
            if (channel.idle or channel.untimed) and channel.next_stamp() <= first.next_stamp():
                return channel
        return first

    def _advance(self, channel: Channel, point: Point) -> None:
        _, watermark, stamp, activity = point
        channel.seen = True
        channel.speaking -= activity == ACTIVE
        if activity == ACTIVE and channel.silent_at(stamp):
            channel.paused = True
        if activity or not channel.active:
            channel.active, channel.idle = stamp, False
        if watermark > channel.watermark:
            channel.watermark, channel.idle = watermark, False
        if activity == IDLE:
            channel.idle = True
        self._find_idle(stamp)
        self.watermark = max(self.watermark, self._combined())

    def _find_idle(self, stamp: int) -> None:
        """Mark the channels that at this time have been silent for longer than their timeout.

        A channel with records further on in this batch is not: that it has read them later than others have read theirs
        says how the batch was executed.
        """
        for channel in self.channels.values():
            if channel.silent_at(stamp) and not channel.speaking:
                channel.idle = True

    def _finish(self, turn: int) -> Iterator[tuple[int, int | None, Any]]:
        """Advance time after the data: by ticks, by the end of input, and past channels silent for too long."""
        for _, watermark, stamp, _ in sorted(self._control, key=lambda point: point[2]):
            for channel in self.channels.values():
                if watermark == MAX_TIME:
                    channel.watermark, channel.seen = MAX_TIME, True
            self._find_idle(stamp)
            self.watermark = max(self.watermark, self._combined())
            yield turn << _STEP_BITS | _POINT, None, (self.watermark, stamp)
            turn += 1

    def slowest(self) -> tuple[int, int, int]:
        """Return the task, subtask and watermark of a channel that the combined watermark waits for."""
        waiting = self._waited_for() or list(self.channels.items())
        number, channel = min(waiting, key=lambda item: (item[1].watermark, item[0]))
        return *sender_of(number), channel.watermark

    def _combined(self) -> int:
        """Return the minimum over all channels that it must wait for.

        These are neither idle channels, nor those without watermarks, nor silent channels of a task of which another
        channel has sent something but its end. If all are idle, none holds time back any more: return the highest
        watermark there is. Time does not end while a channel is silent: it may still have records, and sends its end
        in any case.
        """
        waited_for = self._waited_for()
        if waited_for:
            lowest = min(channel.watermark for _, channel in waited_for)
            return lowest if lowest < MAX_TIME or self._all_spoke() else MIN_TIME
        seen = [each.watermark for each in self.channels.values() if each.seen and not each.untimed]
        return max(seen, default=MIN_TIME)

    def _all_spoke(self) -> bool:
        return all(channel.seen or channel.untimed for channel in self.channels.values())

    def _waited_for(self) -> list[tuple[int, Channel]]:
        spoken = {channel.task for channel in self.channels.values() if channel.seen and channel.watermark != MAX_TIME}
        return [
            (number, channel)
            for number, channel in self.channels.items()
            if not channel.untimed
            and not (channel.idle and channel.watermark != MAX_TIME)
            and (channel.seen or channel.task not in spoken)
        ]
