"""CollectSink: passes records to a function on the driver, or keeps them for who takes them."""

from __future__ import annotations

import pickle
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic

from scurry.common._process import threads
from scurry.common._type_variables import T
from scurry.common.pickling import by_value
from scurry.connectors.sink import Committer, Sink, SinkWriter, WriterContext

#: Bytes of pickled records that may wait for who takes them before the job waits, too.
MOST_WAITING_BYTES = 8 << 20


class CollectedRecords(Generic[T]):
    """The records that a job has committed and nobody has taken yet, block by block.

    A job submits no batch while they are full, so that there are never more than that and one batch.
    """

    def __init__(self) -> None:
        self._blocks: deque[tuple[list[T], int]] = deque()
        self._changed = threading.Condition()
        self._ended = False
        #: bytes of the records that wait
        self.waiting = 0

    @property
    def is_full(self) -> bool:
        """Return whether the job should wait until some are taken."""
        return self.waiting >= MOST_WAITING_BYTES

    def put(self, block: list[T], size: int) -> None:
        """Keep some records, which have so many bytes; forget them after the end."""
        with self._changed:
            if not self._ended:
                self._blocks.append((block, size))
                self.waiting += size
                self._changed.notify()

    def take(self) -> list[T] | None:
        """Return the next records, waiting for them; None if there are no more."""
        threads.wait_until(lambda: self._blocks or self._ended)
        with self._changed:
            self._changed.wait_for(lambda: self._blocks or self._ended)
            if not self._blocks:
                return None
            block, size = self._blocks.popleft()
            self.waiting -= size
            self._changed.notify()
            return block

    def wait_for_room(self, seconds: float) -> bool:
        """Wait until they are not full, or nobody wants more; return False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.is_full or self._ended, seconds)

    def end(self, forget: bool = False) -> None:
        """Let no more records come; forget those that wait if nobody wants them."""
        with self._changed:
            self._ended = True
            if forget:
                self._blocks.clear()
                self.waiting = 0
            self._changed.notify_all()


class CollectSink(Sink):
    """Pass the records of each committed batch to a function of the program, for `execute_and_collect`.

    A batch that is committed again is not passed again.
    """

    staged = False

    def __init__(self, consumer: Callable[[list[Any]], None] | CollectedRecords[Any]) -> None:
        """Create a sink that passes the records of a batch to a function on the driver, or collects them.

        It is not sent to the tasks.
        """
        self._consumer: Callable[[list[Any]], None] | CollectedRecords[Any] | None = consumer

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
    is_lasting = False

    def __init__(self, consumer: Callable[[list[Any]], None] | CollectedRecords[Any]) -> None:
        self._consumer = consumer
        self._last = -1

    @property
    def is_full(self) -> bool:
        return isinstance(self._consumer, CollectedRecords) and self._consumer.is_full

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if batch_id <= self._last:
            return
        self._last = batch_id
        for block in committables:
            records = pickle.loads(block)
            if isinstance(self._consumer, CollectedRecords):
                self._consumer.put(records, len(block))
            else:
                self._consumer(records)
