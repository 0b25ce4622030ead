"""Fetches ranges of offsets, in tasks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from scurry.connectors.kafka.client import ClientPool, Trouble, confluent
from scurry.connectors.kafka.properties import ClientProperties
from scurry.errors import SourceConnectionError, SourceNotFoundError

__all__ = ["READERS", "PartitionReader"]

BLOCK_RECORDS = 4096
#: How long a fetch may wait for its block to fill up: the last block of a range hardly ever does.
FILL_SECONDS = 0.02

_DEFAULTS = {
    "group.id": "scurry",
    "isolation.level": "read_uncommitted",  # Java's default, hence Flink's
    # A range that ends in a transaction's marker is over when the broker has said that nothing follows.
    "fetch.wait.max.ms": 100,
    "queued.max.messages.kbytes": 16384,
    # What is fetched ahead of the next batch; each takes almost a kilobyte more than its value.
    "queued.min.messages": 20_000,
    # When so much is there, look again soon: librdkafka waits a second, in which the reader runs dry.
    "fetch.queue.backoff.ms": 20,
}


class PartitionReader:
    """A consumer of one partition. It reads on where it stopped, if it is asked to; what it has fetched is not lost."""

    def __init__(self, properties: ClientProperties, topic: str, partition: int) -> None:
        """Make a consumer.

        Args:
            properties: Of the client.
            topic: Its topic.
            partition: Its partition.
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
        #: up to where the partition is known to hold nothing more behind `_position`
        self._reached = -1
        self._ahead: list[Any] = []

    def read(self, start: int, end: int) -> Iterator[list[Any]]:
        """Yield the messages of a range, in blocks.

        Args:
            start: The first offset.
            end: The offset after the last; there may be none just before it.

        Raises:
            SourceNotFoundError: Records of the range are not there any more.
            SourceConnectionError: The cluster has been away for too long.
        """
        if self._position != start:
            self._consumer.assign([self._module.TopicPartition(self._topic, self._partition, start)])
            self._ahead, self._reached = [], start
        self._position = -1  # until the range is read
        at, give_up = max(start, self._reached), time.monotonic() + self._patience
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
                yield block
        self._position, self._reached = end, at

    def _sort_out(self, messages: list[Any], at: int, end: int) -> tuple[int, list[Any]]:
        """The messages of the range among those that came, and up to where the partition is read now."""
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
                f"{place}: the record at offset {at} is not there any more, so records were deleted before they were "
                "read; set the property auto.offset.reset to earliest to go on with what is left"
            )
        self._trouble.heard(error)  # librdkafka tries again
        return at

    def _unreachable(self, start: int, end: int, at: int) -> SourceConnectionError:
        reason = self._trouble.reason("no answer")
        return SourceConnectionError(
            f"topic {self._topic!r}, partition {self._partition} at {self._servers}: offsets {start} to {end} cannot "
            f"be read, at {at} the cluster went away: {reason}"
        )

    def close(self) -> None:
        """Leave the cluster."""
        self._consumer.close()


#: The consumers of this process.
READERS: ClientPool[PartitionReader] = ClientPool()
