"""PulsarTopics: the messages of topics; the driver assigns ranges of message ids, which tasks read.

The driver knows the last message of each partition by a subscription, whose cursor follows what is committed. Tasks
read by readers, which need no acknowledgements, so that a repeated micro-batch reads the same messages.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.messages import MessageScan, MessageSystem
from scurry.connectors.pulsar.client import EARLIEST, PATIENCE_SECONDS, MessageKey, PulsarService, full_name, pulsar
from scurry.connectors.pulsar.cursors import Cursor, CursorKind
from scurry.connectors.pulsar.messages import PulsarMessages
from scurry.connectors.queues import positions
from scurry.connectors.source import MEASURED, Assignment, Backlog, BatchLimits, Enumerator
from scurry.errors import SourceConnectionError, SourceNotFoundError

#: Messages of a block.
BLOCK_MESSAGES = 1024
#: Largest number of channels; if there are more partitions, several share a channel and its watermark.
MAX_CHANNELS = 256
_POLL_SECONDS = 0.05
#: Milliseconds that a reader waits for a message, before it looks whether there is one.
_WAIT_MS = 1000
#: The same for messages behind the first one that has come, which are mostly there.
_SOON_MS = 20


@dataclass
class _Partition:
    """A partition: the last message that is assigned, and the last one to read, None if that is not known."""

    topic: str
    at: MessageKey
    stop: MessageKey | None = None

    @property
    def ended(self) -> bool:
        return self.stop is not None and self.at >= self.stop


@dataclass(frozen=True)
class PulsarTopics(MessageScan):
    """Partitions of topics, read from a message to a message.

    Attributes:
        service: The cluster.
        topics: The topics.
        subscription: Name of the subscription whose cursor shows what is committed.
        start: Start of reading, unless the job resumes.
        stop: End of reading; None for none.
        discovery_ms: Milliseconds between looks for new partitions; 0 or less for never.
        acknowledges: Whether the subscription's cursor follows.
    """

    system: ClassVar[MessageSystem] = PulsarMessages()
    service: PulsarService
    topics: tuple[str, ...]
    subscription: str
    start: Cursor
    stop: Cursor | None = None
    discovery_ms: int = 300_000
    acknowledges: bool = True

    @property
    def ends(self) -> bool:
        """Return whether there is an end."""
        return self.stop is not None

    def channels(self, parallelism: int) -> int:
        """Return the current number of partitions, up to a maximum.

        Raises:
            SourceConnectionError: The cluster does not answer.
        """
        session = _Session(self)
        try:
            return min(len(session.partitions()), MAX_CHANNELS)
        finally:
            session.close()

    def create_enumerator(self, channels: int, limits: BatchLimits) -> Enumerator:
        """Return an enumerator, which connects with its first batch."""
        return PulsarEnumerator(self, channels, limits)

    def parts(self) -> list[Any]:
        """Return the ranges of all messages that there are now, up to the end of reading.

        Raises:
            SourceConnectionError: The cluster does not answer.
        """
        session = _Session(self)
        try:
            found: list[Any] = []
            for topic in session.partitions():
                start, last = session.start(topic), session.last(topic)
                stop = session.stop(topic, start, last)
                end = last if stop is None else min(stop, last)
                if end > start:
                    found.append((topic, tuple(start), tuple(end)))
            return found
        finally:
            session.close()

    def messages(self, part: Any) -> Iterator[Sequence[Any]]:
        """Yield the messages of a range, with a reader that the process keeps for the next range."""
        topic, start, end = part[0], MessageKey(*part[1]), MessageKey(*part[2])
        key = (self.service, topic)
        reader = READERS.take(key, lambda: RangeReader(self.service, topic))
        fit, count, size_before = False, 0, reader.size
        try:
            for block in reader.read(start, end):
                count += len(block)
                yield block
            fit = True
            MEASURED.get()(count, reader.size - size_before)
        finally:
            if fit:
                READERS.give(key, reader)
            else:
                reader.close()


class _Session:
    """The driver's connection."""

    def __init__(self, scan: PulsarTopics) -> None:
        self._scan, self._service = scan, scan.service
        self._client = scan.service.client()
        self._consumers: dict[str, Any] = {}

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except pulsar().PulsarException as error:
            raise self._service.error(error, reads=True) from None

    def partitions(self) -> list[str]:
        """Return the partitions of the topics."""
        names: list[str] = []
        for topic in map(full_name, self._scan.topics):
            names += self._asked(partial(self._client.get_topic_partitions, topic))
        return names

    def _consumer(self, topic: str) -> Any:
        if topic not in self._consumers:
            module = pulsar()
            latest = self._scan.start.kind is CursorKind.LATEST
            self._consumers[topic] = self._client.subscribe(
                topic,
                self._scan.subscription,
                consumer_type=module.ConsumerType.Failover,
                receiver_queue_size=1,
                initial_position=module.InitialPosition.Latest if latest else module.InitialPosition.Earliest,
            )
        return self._consumers[topic]

    def last(self, topic: str) -> MessageKey:
        """Return the id of the last message."""
        return MessageKey.of(self._asked(lambda: self._consumer(topic).get_last_message_id()))

    def start(self, topic: str) -> MessageKey:
        """Return the id before the first message that is read."""
        start = self._scan.start
        self._asked(lambda: self._consumer(topic))  # from here on the subscription keeps messages
        if start.kind is CursorKind.EARLIEST:
            return EARLIEST
        last = self.last(topic)
        if start.kind is CursorKind.LATEST:
            return last
        if start.kind is CursorKind.MESSAGE_ID:
            key = start.key
            return _before(key) if start.inclusive else key

        def first() -> MessageKey:
            reader = self._client.create_reader(topic, pulsar().MessageId.earliest)
            try:
                reader.seek(start.timestamp)
                if not reader.has_message_available():
                    return last
                return _before(MessageKey.of(reader.read_next(_WAIT_MS).message_id()))
            finally:
                reader.close()

        found: MessageKey = self._asked(first)
        return found

    def stop(self, topic: str, at: MessageKey, last: MessageKey) -> MessageKey | None:
        """Return the id of the last message to read, None if it is not known yet."""
        stop = self._scan.stop
        if stop is None:
            return None
        if stop.kind is CursorKind.LATEST:
            return last
        if stop.kind is CursorKind.MESSAGE_ID:
            key = stop.key if stop.inclusive else _before(stop.key)
            return key if last >= key else None
        for block in RangeReader(self._service, topic, self._client).read(at, last):
            for message in block:
                if stop.stops_at(message):
                    return _before(MessageKey.of(message.message_id()))
        return None

    def acknowledge(self, positions: Mapping[str, MessageKey]) -> None:
        """Let the subscription's cursor follow."""
        for topic, key in positions.items():
            self._asked(partial(self._acknowledge, topic, key))

    def _acknowledge(self, topic: str, key: MessageKey) -> None:
        self._consumer(topic).acknowledge_cumulative(MessageKey(key.ledger, key.entry, -1).id())

    def close(self) -> None:
        try:
            self._client.close()
        except pulsar().PulsarException:
            pass


def _before(key: MessageKey) -> MessageKey:
    """Return an id that is before that of a message, and after those of all earlier messages."""
    if key.batch > 0:
        return MessageKey(key.ledger, key.entry, key.batch - 1)
    return MessageKey(key.ledger, key.entry - 1, _WHOLE_ENTRY)


#: The batch index of an id behind all messages of an entry.
_WHOLE_ENTRY = (1 << 31) - 1


def _between(at: MessageKey, end: MessageKey) -> int:
    """Return how many messages come behind one id up to another one at least, as far as ids tell.

    The messages of a ledger are numbered by entries, those of an entry, a batch, in it.
    """
    of_entry = 0 if end.batch == _WHOLE_ENTRY else max(end.batch, 0)
    if at.ledger != end.ledger:
        return end.entry + 1 + of_entry
    if at.entry != end.entry:
        return end.entry - at.entry + of_entry
    return 1 if end.batch == _WHOLE_ENTRY else end.batch - at.batch


class RangeReader:
    """A reader of one partition, which reads on if the next range follows the last one.

    Attributes:
        size: How many bytes of values it has read.
    """

    def __init__(self, service: PulsarService, topic: str, client: Any = None) -> None:
        """Connect with the first range.

        Args:
            service: The cluster.
            topic: The partition.
            client: The client; None for one of its own.
        """
        self._service, self._topic = service, topic
        self._own = client is None
        self._client = service.client() if client is None else client
        self._reader: Any = None
        self._position: MessageKey | None = None
        self._ahead: deque[Any] = deque()
        self.size = 0

    def read(self, start: MessageKey, end: MessageKey) -> Iterator[list[Any]]:
        """Yield the messages behind one id up to another one, in blocks.

        Raises:
            SourceConnectionError: The cluster has been away for too long.
            SourceNotFoundError: The topic has been deleted.
        """
        block, size = list[Any](), 0
        at, give_up, looked = start, time.monotonic() + PATIENCE_SECONDS, False
        while at < end:
            try:
                found = self._next(at, end, BLOCK_MESSAGES - len(block))
            except pulsar().PulsarException as error:
                self._away(error, give_up)
                continue
            if found is None:
                if looked:  # the last messages of the range are gone, or were markers
                    break
                looked = True  # by a new reader: one whose broker starts again may see less than there is
                self._forget()
                continue
            messages, last, taken = found
            if messages:
                give_up, at, looked = time.monotonic() + PATIENCE_SECONDS, last, False
                self._position = at
                block += messages
                size += taken
            if last > end:
                break
            if len(block) >= BLOCK_MESSAGES or size >= positions.BLOCK_BYTES:
                self.size += size
                yield block
                block, size = [], 0
        self._position = max(at, end)
        self.size += size
        if block:
            yield block

    def _next(self, at: MessageKey, end: MessageKey, most: int) -> tuple[list[Any], MessageKey, int] | None:
        """Return the next messages, the id of the last one, and their bytes, None if no further message is there.

        Without messages the id is that of one before the range, or behind it. The ids of most messages are not looked
        at, which would take longer than all else.
        """
        module, reader = pulsar(), self._opened(at)
        if self._ahead:
            found, count = [self._ahead.popleft()], 1
        else:
            try:
                found, count = [reader.read_next(_WAIT_MS)], min(most, _between(at, end))
            except module.Timeout:
                if not reader.has_message_available():
                    return None
                raise
        size = len(found[0].data())
        try:
            while len(found) < count and size < positions.BLOCK_BYTES:
                message = reader.read_next(_SOON_MS)
                size += len(message.data())
                found.append(message)
        except module.PulsarException:
            pass  # they are not here yet; or there are fewer, as entries may be markers, or parts of a message
        read = len(found)
        last = MessageKey.of(found[-1].message_id())
        while last > end:
            self._ahead.appendleft(found.pop())
            if not found:
                return found, last, 0
            last = MessageKey.of(found[-1].message_id())
        if last <= at:
            return [], last, 0
        if read > 1:  # the first ones may be of the entry in which the range before has ended
            begin = next(n for n, each in enumerate(found) if MessageKey.of(each.message_id()) > at)
            found = found[begin:]
        return found, last, size if len(found) == read else sum(len(each.data()) for each in found)

    def _opened(self, at: MessageKey) -> Any:
        """Return the reader of messages behind an id."""
        module = pulsar()
        if self._reader is None or self._position != at:
            self._forget()
            begin = module.MessageId.earliest if at == EARLIEST else MessageKey(at.ledger, at.entry, -1).id()
            inclusive = at.entry >= 0  # the rest of a batch follows within the entry
            self._reader = self._client.create_reader(self._topic, begin, start_message_id_inclusive=inclusive)
            self._position = at
        return self._reader

    def _away(self, error: Exception, give_up: float) -> None:
        module = pulsar()
        if isinstance(error, module.TopicNotFound):
            raise SourceNotFoundError(f"there is no topic {self._topic!r} at {self._service.place} any more")
        denied = isinstance(error, (module.AuthenticationError, module.AuthorizationError))
        if denied or time.monotonic() > give_up:
            raise self._service.error(error, reads=True) from None
        self._forget()
        time.sleep(0.2)

    def _forget(self) -> None:
        reader, self._reader = self._reader, None
        self._ahead.clear()
        if reader is not None:
            try:
                reader.close()
            except pulsar().PulsarException:
                pass

    def close(self) -> None:
        """Close the reader and its client."""
        self._forget()
        if self._own:
            try:
                self._client.close()
            except pulsar().PulsarException:
                pass


#: The pool of this process's readers.
READERS: ClientPool[RangeReader] = ClientPool()


class PulsarEnumerator(Enumerator):
    """Assign the messages up to the present last ones."""

    def __init__(
        self, scan: PulsarTopics, channels: int, limits: BatchLimits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Connect with the first batch."""
        self._scan, self._channels, self._limits, self._clock = scan, channels, limits, clock
        self._session: _Session | None = None
        self._partitions: list[_Partition] = []
        self._ended: set[int] = set()
        self._speaking: set[int] = set()
        self._discovered: float | None = None
        self._started = self._more = False
        self._held: Collection[int] = ()
        self._acknowledged: dict[str, MessageKey] = {}
        self._away_since: float | None = None
        self._reconnects = 0

    def limit(self, limits: BatchLimits, record_bytes: Mapping[int, float]) -> None:
        """Limit later batches by records; a ledger of many entries is read in several batches."""
        self._limits = limits

    def align(self, held: Collection[int]) -> None:
        """Hold the partitions of some channels back."""
        self._held = held

    def backlog(self) -> Backlog | None:
        """Return that there is more, if there is; brokers do not count messages between ids."""
        return Backlog() if self._more else Backlog(0)

    def metrics(self) -> Mapping[str, int]:
        """Return how often the server was lost and found again."""
        return {"numReconnects": self._reconnects}

    def describe(self, channel: int) -> str:
        """Return the names of a channel's partitions."""
        return ", ".join(partition.topic for partition in self._partitions[channel :: self._channels])

    def next_batch(self) -> list[Assignment]:
        """Return ranges up to the last messages of the partitions."""
        if len(self._ended) == self._channels:
            return []
        try:
            works = self._works()
        except SourceConnectionError:
            now = self._clock()
            self._away_since = now if self._away_since is None else self._away_since
            if not self._started or now > self._away_since + PATIENCE_SECONDS:
                raise
            return []
        self._reconnects += self._away_since is not None
        self._away_since = None
        final = self._newly_ended()
        return [Assignment(channel, works.get(channel), channel in final) for channel in sorted({*works, *final})]

    def _works(self) -> dict[int, list[Any] | None]:
        if self._session is None:
            self._session = _Session(self._scan)
        session = self._session
        self._discover(session)
        self._started = True
        busy = {number % self._channels for number, each in enumerate(self._partitions) if not each.ended}
        works: dict[int, list[Any] | None] = dict.fromkeys(busy - self._speaking)
        self._speaking |= busy
        self._more = False
        share = max(1, self._limits.max_records // max(1, len(self._partitions)))
        for number, partition in enumerate(self._partitions):
            channel = number % self._channels
            if partition.ended or channel in self._held:
                continue
            last = session.last(partition.topic)
            if partition.stop is None:
                partition.stop = session.stop(partition.topic, partition.at, last)
            end = self._within(partition.at, last if partition.stop is None else min(last, partition.stop), share)
            if end > partition.at:
                works[channel] = [*(works.get(channel) or ()), (partition.topic, tuple(partition.at), tuple(end))]
                partition.at = end
        return works

    def _within(self, at: MessageKey, end: MessageKey, share: int) -> MessageKey:
        """Return an end within the limit of a batch, as far as ids tell: entries of one ledger are numbered."""
        if at.ledger == end.ledger and end.entry - at.entry > share:
            self._more = True
            return MessageKey(at.ledger, at.entry + share, _WHOLE_ENTRY)
        return end

    def _discover(self, session: _Session) -> None:
        every, now = self._scan.discovery_ms / 1000, self._clock()
        again = self._started and every > 0 and self._scan.stop is None
        if self._started and not (again and (self._discovered is None or now >= self._discovered + every)):
            return
        self._discovered = now
        known = {partition.topic for partition in self._partitions}
        for topic in session.partitions():
            if topic not in known:
                self._partitions.append(_Partition(topic, EARLIEST if self._started else session.start(topic)))

    def _newly_ended(self) -> set[int]:
        if self._scan.stop is None:
            return set()
        busy = {number % self._channels for number, each in enumerate(self._partitions) if not each.ended}
        ended = set(range(self._channels)) - busy - self._ended
        self._ended |= ended
        return ended

    def position(self) -> dict[str, Any]:
        """Return the last assigned and the last message of every partition."""
        return {
            "partitions": [[each.topic, list(each.at), each.stop and list(each.stop)] for each in self._partitions],
            "channels": self._channels,
            "ended": sorted(self._ended),
            "started": self._started,
        }

    def restore(self, position: dict[str, Any]) -> None:
        """Continue behind the assigned messages; another number of channels distributes the partitions again."""
        self._partitions = [
            _Partition(topic, MessageKey(*at), None if stop is None else MessageKey(*stop))
            for topic, at, stop in position["partitions"]
        ]
        self._started = position["started"]
        self._ended = set(position["ended"]) if position["channels"] == self._channels else set()

    def idle_hint(self) -> float:
        """Return the seconds until brokers are asked again."""
        return _POLL_SECONDS

    def committed(self) -> None:
        """Let the subscription's cursor follow; it keeps messages that are not committed."""
        if not self._scan.acknowledges or self._session is None:
            return
        done = {each.topic: each.at for each in self._partitions if each.at > EARLIEST}
        news = {topic: key for topic, key in done.items() if self._acknowledged.get(topic) != key}
        try:
            self._session.acknowledge(news)
            self._acknowledged.update(news)
        except SourceConnectionError:
            pass  # the cursor follows with the next commit

    def close(self) -> None:
        """Close the connection."""
        if self._session is not None:
            self._session.close()
