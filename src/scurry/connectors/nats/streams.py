"""Streams of NATS JetStream as scans of messages; sequence numbers are positions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, ClassVar, NamedTuple

from scurry._dataclasses import dataclass
from scurry.connectors.messages import MessageSystem
from scurry.connectors.nats.client import ANSWER_SECONDS, NatsClient, NatsServer, nats_module
from scurry.connectors.queues import positions
from scurry.connectors.queues.positions import MOST_AHEAD, BlockCount, PositionScan, StreamReader, patiently
from scurry.connectors.source import MEASURED
from scurry.errors import SourceConnectionError, SourceNotFoundError
from scurry.sql.types import (
    MAX_LENGTH,
    BigIntType,
    DataType,
    LocalZonedTimestampType,
    MapType,
    VarBinaryType,
    VarCharType,
)

#: Messages that a reader fetches at once.
BLOCK_MESSAGES = 1024
_STRING = VarCharType(MAX_LENGTH)


class NatsMessage(NamedTuple):
    """A message of a stream.

    Attributes:
        stream: The stream.
        subject: The subject that it was published to.
        sequence: Its number in the stream.
        timestamp: When the server stored it, in milliseconds since 1970.
        data: Its bytes.
        headers: Its headers.
    """

    stream: str
    subject: str
    sequence: int
    timestamp: int
    data: bytes
    headers: Mapping[str, str]


class NatsMessages(MessageSystem):
    """The messages of streams; the subject is the key."""

    metadata: ClassVar[Mapping[str, DataType]] = {
        "stream": _STRING.not_null(),
        "subject": _STRING.not_null(),
        "sequence": BigIntType().not_null(),
        "timestamp": LocalZonedTimestampType(3).not_null(),
        "headers": MapType(_STRING.not_null(), VarBinaryType(MAX_LENGTH).not_null()).not_null(),
    }
    written = ("headers",)

    def key(self, message: NatsMessage) -> bytes | None:
        return message.subject.encode()

    def value(self, message: NatsMessage) -> bytes | None:
        return message.data

    def timestamp(self, message: NatsMessage) -> int:
        return message.timestamp

    def record(self, message: NatsMessage) -> NatsMessage:
        return message

    def read(self, key: str, message: NatsMessage) -> Any:
        return _READERS[key](message)

    def place(self, message: NatsMessage) -> str:
        """Return stream, subject and sequence number."""
        return f"stream {message.stream!r}, subject {message.subject!r}, sequence {message.sequence}"


_READERS: dict[str, Callable[[NatsMessage], Any]] = {
    "stream": lambda message: message.stream,
    "subject": lambda message: message.subject,
    "sequence": lambda message: message.sequence,
    "timestamp": lambda message: message.timestamp,
    "headers": lambda message: [(name, value.encode()) for name, value in message.headers.items()],
}


@dataclass(frozen=True)
class NatsStreams(PositionScan):
    """A stream, read from sequence number to sequence number.

    Attributes:
        server: The address of the servers.
        stream: The name of the stream.
        subject: The subjects that are read, with wildcards; None for all.
        begin: Start of reading: `earliest`, `latest`, `timestamp:N` in milliseconds, or the first sequence number.
        bounded: Whether reading ends at the messages that there are when the job starts.
    """

    system: ClassVar[MessageSystem] = NatsMessages()
    server: NatsServer
    stream: str
    subject: str | None = None
    begin: str | int = "earliest"
    bounded: bool = False

    @property
    def stop(self) -> bool:
        """Return whether reading ends."""
        return self.bounded

    def channels(self, parallelism: int) -> int:
        """Return 1: there is one stream."""
        return 1

    def create_reader(self) -> StreamReader:
        """Return the access to the stream."""
        return _Reader(self)

    def messages(self, part: tuple[str, int, int]) -> Iterator[Sequence[NatsMessage]]:
        """Yield the messages behind a sequence number, up to another one."""
        _, start, end = part
        count, size = 0, 0
        while start < end:
            upto = min(end, start + MOST_AHEAD)  # BATCH reads a whole stream as one range
            block, start = patiently(lambda start=start, upto=upto: self._block(start, upto))  # type: ignore[misc]
            count += len(block)
            size += sum(len(message.data) for message in block)
            if block:
                yield block
        MEASURED.get()(count, size)

    def _block(self, start: int, end: int) -> tuple[list[NatsMessage], int]:
        """Return messages of a range, and up to where: a consumer of the server lives for one block."""
        client = NatsClient(self.server, reads=True)
        try:
            return client.run(self._fetched(client.jetstream, start, end))
        finally:
            client.close()

    async def _fetched(self, jetstream: Any, start: int, end: int) -> tuple[list[NatsMessage], int]:
        found, size = list[NatsMessage](), 0
        async with aclosing(messages_between(jetstream, self.stream, self.subject or ">", start, end)) as messages:
            async for each in messages:
                sequence, time = each.metadata.sequence.stream, round(each.metadata.timestamp.timestamp() * 1000)
                headers = dict(each.headers or {})
                found.append(NatsMessage(self.stream, each.subject, sequence, time, each.data, headers))
                size += len(each.data)
                if size >= positions.BLOCK_BYTES:
                    return found, sequence
        return found, end


async def messages_between(
    jetstream: Any, stream: str, subject: str, start: int, end: int, headers_only: bool = False
) -> AsyncGenerator[Any, None]:
    """Yield the client's messages behind a sequence number, up to another one."""
    api = nats_module().js.api
    config = api.ConsumerConfig(
        deliver_policy=api.DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=start + 1,
        ack_policy=api.AckPolicy.NONE,
        mem_storage=True,
        inactive_threshold=30.0,
        headers_only=headers_only or None,
    )
    subscription = await jetstream.pull_subscribe(subject, stream=stream, config=config)
    try:
        left, at_once = (await subscription.consumer_info()).num_pending, BlockCount(BLOCK_MESSAGES)
        while left:
            fetched = await subscription.fetch(min(left, at_once.messages), timeout=ANSWER_SECONDS)
            at_once.came(len(fetched), sum(len(each.data) for each in fetched))
            for each in fetched:
                if each.metadata.sequence.stream > end:
                    return
                left = each.metadata.num_pending
                yield each
                if each.metadata.sequence.stream == end:
                    return
    finally:
        await subscription.unsubscribe()


class _Reader(StreamReader):
    def __init__(self, scan: NatsStreams) -> None:
        self._scan = scan
        self._client: NatsClient | None = None

    def streams(self) -> Sequence[str]:
        return [self._scan.stream]

    def _state(self) -> Any:
        try:
            if self._client is None:
                self._client = NatsClient(self._scan.server, reads=True)
            return self._client.run(self._client.jetstream.stream_info(self._scan.stream), ANSWER_SECONDS).state
        except SourceConnectionError:
            self.close()
            raise

    def start(self, stream: str) -> int:
        begin, state = self._scan.begin, self._state()
        if begin == "latest":
            return int(state.last_seq)
        if isinstance(begin, int):
            return begin - 1
        if begin == "earliest":
            return max(0, int(state.first_seq) - 1)
        assert self._client is not None
        return int(self._client.run(self._before(int(begin.partition(":")[2]), int(state.last_seq))))

    async def _before(self, millis: int, last: int) -> int:
        assert self._client is not None
        api, jetstream = nats_module().js.api, self._client.jetstream
        config = api.ConsumerConfig(
            deliver_policy=api.DeliverPolicy.BY_START_TIME,
            opt_start_time=datetime.fromtimestamp(millis / 1000, UTC),
            ack_policy=api.AckPolicy.NONE,
            mem_storage=True,
        )
        subscription = await jetstream.pull_subscribe(">", stream=self._scan.stream, config=config)
        try:
            if not (await subscription.consumer_info()).num_pending:
                return last
            (first,) = await subscription.fetch(1, timeout=ANSWER_SECONDS)
            return int(first.metadata.sequence.stream) - 1
        finally:
            await subscription.unsubscribe()

    def advance(self, stream: str, position: int, limit: int, stop: int | None) -> int:
        state = self._state()
        if state.first_seq > position + 1 and state.last_seq > position:
            raise SourceNotFoundError(
                f"NATS at {self._scan.server.place}: stream {stream!r}: the message with sequence {position + 1} was "
                f"deleted before it was read, the first one that is left has sequence {state.first_seq}; raise the "
                "limits of the stream, and start the job without its checkpoint"
            )
        end = int(state.last_seq) if stop is None else stop
        return max(position, min(end, position + limit))

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
