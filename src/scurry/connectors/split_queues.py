"""SplitQueues: the unassigned splits of a source, in a queue for each channel; SplitEnumerator assigns whole ones."""

from __future__ import annotations

import base64
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heapreplace
from itertools import zip_longest
from typing import Any, Generic, TypeVar

from scurry.connectors.source import Assignment, Enumerator

T = TypeVar("T")


class SplitQueues(Generic[T]):
    """Keep the unassigned splits of each channel in the order of their discovery, at any number of channels.

    If event time rises in the order of discovery, no channel's watermark is ahead of what the channel has still to
    read. A restore with another number of channels keeps that: it deals all splits again, in the order of discovery.

    Attributes:
        final: Whether each channel has had its last assignment.
    """

    def __init__(self, channels: int, size: Callable[[T], int]) -> None:
        """Begin without splits.

        Args:
            channels: Number of readers.
            size: Returns how much of a split is left to read.
        """
        self._size = size
        self._queues: list[deque[tuple[int, T]]] = [deque() for _ in range(channels)]
        #: how much each channel has left to read
        self._left = [0] * channels
        self._discovered = 0
        self.final = [False] * channels

    def add(self, splits: Iterable[T]) -> None:
        """Add newly discovered splits, each to the channel with the least left to read."""
        found = list(splits)
        self._deal(enumerate(found, self._discovered))
        self._discovered += len(found)

    def _deal(self, numbered: Iterable[tuple[int, T]]) -> None:
        loads = [(left, channel) for channel, left in enumerate(self._left)]
        heapify(loads)
        for number, split in numbered:
            load, channel = loads[0]
            size = self._size(split)
            self._queues[channel].append((number, split))
            self._left[channel] += size
            heapreplace(loads, (load + max(size, 1), channel))

    @property
    def open(self) -> list[int]:
        """The channels that have not had their last assignment."""
        return [channel for channel, final in enumerate(self.final) if not final]

    @property
    def busy(self) -> int:
        """The number of channels that have splits."""
        return sum(1 for queue in self._queues if queue)

    def left(self, channel: int) -> int:
        """Return how much a channel has left to read."""
        return self._left[channel]

    @property
    def total(self) -> int:
        """Return the amount that all channels have left to read."""
        return sum(self._left)

    def has(self, channel: int) -> bool:
        """Return whether a channel has splits; a split may be None."""
        return bool(self._queues[channel])

    def first(self, channel: int) -> T:
        """Return the next split of a channel that has some; `shrunk` has to know if it is read in part."""
        return self._queues[channel][0][1]

    def shrunk(self, channel: int, amount: int) -> None:
        """Note that the next split of a channel has become smaller by an amount."""
        self._left[channel] -= amount

    def pop(self, channel: int) -> T:
        """Remove and return the next split of a channel."""
        _, split = self._queues[channel].popleft()
        self._left[channel] -= self._size(split)
        return split

    def position(self, encode: Callable[[T], Any]) -> dict[str, Any]:
        """Return the splits, as JSON-able data, with the numbers of their discovery."""
        return {
            "pending": [[encode(split) for _, split in queue] for queue in self._queues],
            "order": [[number for number, _ in queue] for queue in self._queues],
            "final": list(self.final),
        }

    def restore(self, position: dict[str, Any], decode: Callable[[Any], T]) -> None:
        """Continue with the splits of a position; deal them again if the number of channels has changed."""
        pending: Sequence[Sequence[Any]] = position["pending"]
        order = position.get("order") or _dealt_in_turn(pending)
        saved = [
            deque((number, decode(split)) for number, split in zip(numbers, splits, strict=True))
            for numbers, splits in zip(order, pending, strict=True)
        ]
        self._discovered = 1 + max((number for queue in saved for number, _ in queue), default=-1)
        if len(saved) == len(self._queues):
            self._queues, self.final = saved, list(position["final"])
            self._left = [sum(self._size(split) for _, split in queue) for queue in saved]
            return
        self._queues, self.final = [deque() for _ in self._queues], [False] * len(self._queues)
        self._left = [0] * len(self._queues)
        self._deal(sorted((each for queue in saved for each in queue), key=lambda each: each[0]))


def _dealt_in_turn(pending: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Return the numbers of splits that were dealt in turn: positions of earlier versions do not have them."""
    absent = object()
    order: list[list[int]] = [[] for _ in pending]
    number = 0
    for turn in zip_longest(*pending, fillvalue=absent):
        for channel, split in enumerate(turn):
            if split is not absent:
                order[channel].append(number)
                number += 1
    return order


class SplitEnumerator(Enumerator):
    """Assign every channel its next split, which is read as a whole, until all are assigned.

    Splits go to the channels in turn. The work of an assignment is a list of splits; they are picklable.
    """

    def __init__(self, splits: Sequence[Any], channels: int) -> None:
        self._queues: SplitQueues[Any] = SplitQueues(channels, lambda split: 1)
        self._queues.add(splits)

    def next_batch(self) -> list[Assignment]:
        """Return the next piece of each channel that has not ended."""
        assignments = []
        for channel in self._queues.open:
            work = [self._queues.pop(channel)] if self._queues.has(channel) else None
            final = self._queues.final[channel] = not self._queues.has(channel)
            assignments.append(Assignment(channel, work, final))
        return assignments

    def position(self) -> dict[str, Any]:
        """Return the pieces that are not assigned."""
        return self._queues.position(_text)

    def restore(self, position: dict[str, Any]) -> None:
        """Continue with the pieces that were not assigned."""
        self._queues.restore(position, _split)


def _text(split: Any) -> str:
    return base64.b64encode(pickle.dumps(split, 5)).decode("ascii")


def _split(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))
