"""PartitionReader: fetches ranges of offsets, in tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from scurry.connectors.kafka.client import ClientPool, Trouble, confluent
from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.source import MEASURED
from scurry.errors import SourceConnectionError, SourceNotFoundError

BLOCK_RECORDS = 4096
#: Timeout of a fetch of a full block; the last block of a range is rarely full.
FILL_SECONDS = 0.02

_DEFAULTS = {
    "group.id": "scurry",
    "isolation.level": "read_uncommitted",  # Java's default, hence Flink's
    # If a range ends in a transaction's marker, the reader waits for the broker's end of partition.
    "fetch.wait.max.ms": 100,
    "queued.max.messages.kbytes": 16384,
    # Messages prefetched for the next batch; each has an overhead of almost a kilobyte.
    "queued.min.messages": 20_000,
    # The pause after the queue was full: with librdkafka's default of a second the reader would run dry.
    "fetch.queue.backoff.ms": 20,
}


class PartitionReader:
    """A consumer of one partition, which keeps prefetched messages if the next range follows the last one."""

    def __init__(self, properties: ClientProperties, topic: str, partition: int) -> None:
        """Create a consumer.

        Args:
            properties: The client's properties.
            topic: The topic.
            partition: The partition's number.
        """
        self._module = confluent()
        self._trouble = Trouble()
        configuration = properties.client(_DEFAULTS, enable_auto_commit=False, enable_partition_eof=True)
        configuration["enable.auto.offset.store"] = False
        configuration["auto.offset.reset"] = properties.text("auto.offset.reset", "error")
        self._consumer = self._module.Consumer(self._trouble.watched(configuration))
        self._servers = properties.servers
        self._topic, self._partition = topic, partition
        self._patience = properties.patience_seconds
        self._position = -1
        #: the offset up to which the partition is known to hold no records behind `_position`
        self._reached = -1
        self._ahead: list[Any] = []

    def read(self, start: int, end: int) -> Iterator[list[Any]]:
        """Yield the messages of a range, in blocks.

        Args:
            start: The first offset.
            end: The offset after the last; offsets before it may hold no record.

        Raises:
            SourceNotFoundError: Records of the range have been deleted.
            SourceConnectionError: The cluster has been unavailable for too long.
        """
        if self._position != start:
            self._consumer.assign([self._module.TopicPartition(self._topic, self._partition, start)])
            self._ahead, self._reached = [], start
        self._position = -1  # until the range is read
        size, at, give_up = 0, max(start, self._reached), time.monotonic() + self._patience
        while at < end:
            messages = self._ahead or self._consumer.consume(min(BLOCK_RECORDS, end - at), FILL_SECONDS)
            self._ahead = []
            if not messages:
                if self._trouble.refused or time.monotonic() > give_up:
                    raise self._unreachable(start, end, at)
                continue
            give_up = time.monotonic() + self._patience
            before = at
            at, block = self._sort_out(messages, at, end)
            if at > before:
                self._trouble.clear()
            if block:
                size += sum(map(len, block))
                yield block
        self._position, self._reached = end, at
        MEASURED.get()(end - start, size)

    def _sort_out(self, messages: list[Any], at: int, end: int) -> tuple[int, list[Any]]:
        """Return the offset up to which the partition is now read, and the messages that are in the range."""
        last = messages[-1]
        if last.error() is None and last.offset() < end and not any(map(self._module.Message.error, messages)):
            return last.offset() + 1, messages
        block: list[Any] = []
        for number, message in enumerate(messages):
            error = message.error()
            if error is not None:
                at = self._event(error, message, at)
            elif message.offset() >= end:
                self._ahead = messages[number:]
                return end, block
            else:
                block.append(message)
                at = message.offset() + 1
        return at, block

    def _event(self, error: Any, message: Any, at: int) -> int:
        if error.code() == self._module.KafkaError._PARTITION_EOF:
            end: int = message.offset()
            return max(at, end)
        place = f"topic {self._topic!r}, partition {self._partition} at {self._servers}"
        if error.code() in (self._module.KafkaError._AUTO_OFFSET_RESET, self._module.KafkaError.OFFSET_OUT_OF_RANGE):
            raise SourceNotFoundError(
                f"{place}: the record at offset {at} no longer exists, so records were deleted before they were "
                "read; set the property auto.offset.reset to earliest to continue with what is left"
            )
        self._trouble.heard(error)  # librdkafka retries
        return at

    def _unreachable(self, start: int, end: int, at: int) -> SourceConnectionError:
        reason = self._trouble.reason("no answer")
        return SourceConnectionError(
            f"topic {self._topic!r}, partition {self._partition} at {self._servers}: offsets {start} to {end} cannot "
            f"be read, at {at} the cluster went away: {reason}"
        )

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()


#: The pool of this process's consumers.
READERS: ClientPool[PartitionReader] = ClientPool()
