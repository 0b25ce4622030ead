"""CollectSink: passes records to a function on the driver."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

from scurry.common.pickling import by_value
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext

__all__ = ["CollectSink"]


class CollectSink(Sink):
    """Pass the records of each committed batch to a function of the program, for `execute_and_collect`.

    A batch that is committed again is not passed again.
    """

    staged = False

    def __init__(self, consumer: Callable[[list[Any]], None]) -> None:
        """Take the function to call on the driver with the records of a batch; it is not sent to the tasks."""
        self._consumer: Callable[[list[Any]], None] | None = consumer

    def __getstate__(self) -> dict[str, Any]:
        """Leave the consumer on the driver."""
        return {"_consumer": None}

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that pickles its records."""
        return _PicklingWriter()

    def create_committer(self, sink_id: str) -> Committer:
        """Return a committer that calls the consumer."""
        if self._consumer is None:
            raise RuntimeError("a CollectSink commits in the program that made it, not where it was sent to")
        return _Collector(self._consumer)


class _PicklingWriter(SinkWriter):
    def __init__(self) -> None:
        self._blocks: list[bytes] = []

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        if values:  # the records' classes may be defined in the user's __main__ or in a function
            self._blocks.append(by_value(values))

    def prepare_commit(self) -> list[Any]:
        return self._blocks


class _Collector(Committer):
    def __init__(self, consumer: Callable[[list[Any]], None]) -> None:
        self._consumer = consumer
        self._last = -1

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if batch_id <= self._last:
            return
        self._last = batch_id
        for block in committables:
            self._consumer(pickle.loads(block))
