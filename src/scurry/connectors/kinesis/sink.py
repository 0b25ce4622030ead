"""Sinks of streams of Kinesis and of delivery streams of Firehose: records in requests, failed ones again."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.kinesis.client import AwsService, Failure, RequestError
from scurry.connectors.kinesis.shards import named
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.connectors.sink import COUNTED, RETRIES, BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import ArgumentError, RecordRejectedError, SinkConnectionError

#: Codes of records that another request may bring: all others fail the job.
_PASSING = {
    "ProvisionedThroughputExceededException",
    "InternalFailure",
    "ServiceUnavailableException",
    "ThrottlingException",
    "KMSThrottlingException",
}
#: Pause before failed records are sent again, in seconds: the first one, and the longest.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
#: Characters of a partition key; the service takes no longer one.
MOST_KEY_CHARACTERS = 256
#: Records that are serialized at once.
_PIECE_RECORDS = 500

#: A record to send: its partition key or None, and its data.
Entry = tuple["str | None", bytes]


@dataclass(frozen=True)
class Batching:
    """The limits of requests.

    Attributes:
        most_records: Records of a request.
        most_bytes: Bytes of the records of a request.
        most_record_bytes: Bytes of a record.
        interval_ms: Milliseconds that a record waits.
        fails: Whether a record that the service does not take at once fails the job.
    """

    most_records: int = 500
    most_bytes: int = 5 << 20
    most_record_bytes: int = 1 << 20
    interval_ms: int = 5000
    fails: bool = False

    def __post_init__(self) -> None:
        """Check the limits.

        Raises:
            ArgumentError: One is not positive, or too large for the service.
        """
        for name, value in (
            ("batch size", self.most_records),
            ("batch size in bytes", self.most_bytes),
            ("record size in bytes", self.most_record_bytes),
            ("time in buffer", self.interval_ms),
        ):
            if value < 1:
                raise ArgumentError(f"the maximum {name} must be 1 or more, got {value}")
        if self.most_records > 500:
            raise ArgumentError(f"the maximum batch size is 500 records, AWS takes no more; got {self.most_records}")
        if self.most_record_bytes > self.most_bytes:
            raise ArgumentError(
                f"the maximum record size, {self.most_record_bytes} bytes, is above that of a batch, {self.most_bytes}"
            )


@dataclass(frozen=True)
class AwsSink(Sink):
    """Send records, from the tasks, at least once: a micro-batch is committed when the service has all of it.

    Attributes:
        service: Kinesis or Firehose.
        stream: The stream or the delivery stream.
        serializer: Serializes records; keys are partition keys.
        partitioner: `random`, `fixed`, or `key`: the source of partition keys; None without them.
        batching: The limits of requests.
    """

    service: AwsService
    stream: str
    serializer: RecordSerializer
    partitioner: str | Callable[[Any], str] | None = "random"
    batching: Batching = Batching()

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first request."""
        return _Writer(self, context.subtask_index)

    def send(self, client: Any, entries: Sequence[Entry]) -> list[tuple[str, str]]:
        """Send records, and return the code and the text of the error of each, empty for those that are taken."""
        if self.service.name == "firehose":
            parts = [{"Data": data} for _, data in entries]
            answer = client.put_record_batch(DeliveryStreamName=self.stream, Records=parts)["RequestResponses"]
        else:
            records = [{"PartitionKey": key, "Data": data} for key, data in entries]
            answer = client.put_records(Records=records, **named(self.stream))["Records"]
        return [(each.get("ErrorCode") or "", each.get("ErrorMessage") or "") for each in answer]


class _Writer(BufferedWriter):
    def __init__(self, sink: AwsSink, subtask: int) -> None:
        super().__init__(sink.batching.most_records, sink.batching.interval_ms)
        self._sink, self._subtask = sink, subtask
        self._bytes = 0

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        for start in range(0, len(values), _PIECE_RECORDS):
            super().write(values[start : start + _PIECE_RECORDS])
            if self._held and self._bytes >= self._sink.batching.most_bytes:
                self._flush(len(self._held))

    def prepared(self, values: list[Any]) -> list[Any]:
        records = self._sink.serializer.records(values, None)
        partitioner = self._sink.partitioner
        if callable(partitioner):
            keys: list[str | None] = [_checked(partitioner(value)) for value in values]
        else:
            keys = [self._key(record) for record in records]
        entries = [(key, record[2] or b"") for key, record in zip(keys, records, strict=True)]
        most = self._sink.batching.most_record_bytes
        for entry in entries:
            if _size(entry) > most:
                raise RecordRejectedError(
                    f"a record of {_size(entry)} bytes is larger than the maximum record size of {most}", entry[1]
                )
            self._bytes += _size(entry)
        return entries

    def _key(self, record: ProducerRecord) -> str | None:
        partitioner = self._sink.partitioner
        if partitioner == "key":
            return _checked((record[1] or b"").decode("utf-8", "replace"))
        if partitioner == "fixed":
            return str(self._subtask)
        return None if partitioner is None else uuid.uuid4().hex

    def flush(self, records: list[Entry]) -> None:
        held, size = list[Entry](), 0
        for each in records:
            if held and size + _size(each) > self._sink.batching.most_bytes:
                self._deliver(held)
                held, size = [], 0
            held.append(each)
            size += _size(each)
        self._deliver(held)
        self._bytes -= sum(map(_size, records))

    def _deliver(self, entries: list[Entry]) -> None:
        """Send records, and those again that the service does not take, in their order."""
        sink, pause, give_up = self._sink, _FIRST_PAUSE, time.monotonic() + PATIENCE_SECONDS
        while entries:
            left, reason = self._attempt(entries)
            if len(left) < len(entries):
                pause, give_up = _FIRST_PAUSE, time.monotonic() + PATIENCE_SECONDS
            if left and (sink.batching.fails or time.monotonic() > give_up):
                raise reason
            entries = left
            if entries:
                COUNTED.get()(RETRIES, 1)
                time.sleep(pause * random.uniform(0.5, 1))
                pause = min(_LONGEST_PAUSE, pause * 2)

    def _attempt(self, entries: list[Entry]) -> tuple[list[Entry], Exception]:
        """Return the records that the service has not taken, and why."""
        sink = self._sink
        try:
            errors = sink.service.ask(sink.stream, False, lambda client: sink.send(client, entries))
        except RequestError as error:
            if error.failure is Failure.REFUSED:
                raise error.error from None
            return entries, error.error
        left = [entry for entry, (code, _) in zip(entries, errors, strict=True) if code]
        code, text = next(((code, text) for code, text in errors if code), ("", ""))
        failed = SinkConnectionError(
            f"{sink.service.place}: {sink.stream}: {len(left)} of {len(entries)} records were not taken: {code}: {text}"
        )
        if any(code and code not in _PASSING for code, _ in errors):
            raise failed
        return left, failed


def _size(entry: Entry) -> int:
    key, data = entry
    return len(data) + len(key or "")


def _checked(key: Any) -> str:
    if not isinstance(key, str) or not key:
        raise ArgumentError(f"a partition key is a text of 1 to {MOST_KEY_CHARACTERS} characters, got {key!r}")
    return key[:MOST_KEY_CHARACTERS]
