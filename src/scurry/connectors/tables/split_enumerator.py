"""SplitEnumerator: assigns the pieces of a bounded table, each of which is read as a whole."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Sequence
from typing import Any

from scurry.connectors.source import Assignment, Enumerator

__all__ = ["SplitEnumerator"]


class SplitEnumerator(Enumerator):
    """Assign every channel its next piece, until there are none.

    Pieces go to the channels in turn. The work of an assignment is a list of pieces.
    """

    def __init__(self, splits: Sequence[Any], channels: int) -> None:
        """Take the pieces and the number of channels."""
        self._channels = channels
        self._share(list(splits))

    def _share(self, splits: list[Any]) -> None:
        self._pending: list[list[Any]] = [splits[channel :: self._channels] for channel in range(self._channels)]
        self._final = [False] * self._channels

    def next_batch(self) -> list[Assignment]:
        """Return the next piece of each channel that has not ended."""
        assignments = []
        for channel, pending in enumerate(self._pending):
            if not self._final[channel]:
                work = [pending.pop(0)] if pending else None
                self._final[channel] = not pending
                assignments.append(Assignment(channel, work, not pending))
        return assignments

    def position(self) -> dict[str, Any]:
        """Return the pieces that are not assigned."""
        return {"pending": [[_text(split) for split in pending] for pending in self._pending], "final": self._final[:]}

    def restore(self, position: dict[str, Any]) -> None:
        """Continue with the splits that were not assigned; redistribute them if the number of channels has changed."""
        pending = [[_split(text) for text in each] for each in position["pending"]]
        if len(pending) == self._channels:
            self._pending, self._final = pending, list(position["final"])
        else:
            self._share([split for each in pending for split in each])


def _text(split: Any) -> str:
    return base64.b64encode(pickle.dumps(split, 5)).decode("ascii")


def _split(text: str) -> Any:
    return pickle.loads(base64.b64decode(text))
