"""SplitEnumerator: assigns the pieces of a bounded table, each of which is read as a whole."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Sequence
from typing import Any

from scurry.connectors.source import Assignment, Enumerator
from scurry.connectors.split_queues import SplitQueues


class SplitEnumerator(Enumerator):
    """Assign every channel its next piece until all are assigned.

    Pieces go to the channels in turn. The work of an assignment is a list of pieces.
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
