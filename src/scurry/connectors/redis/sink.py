"""RedisStreamSink: adds records to streams, at least once from the tasks or exactly once from the driver."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.kafka.serializer import ProducerRecord, RecordSerializer
from scurry.connectors.kafka.sink import SerializingWriter
from scurry.connectors.queues.positions import patiently
from scurry.connectors.redis.client import RedisServer, redis_module
from scurry.connectors.sink import BufferedWriter, Committer, Sink, SinkWriter, WriterContext
from scurry.errors import ConnectorError

#: Entries that are sent at once, at least once.
_FLUSH_ENTRIES = 1000


@dataclass(frozen=True)
class RedisStreamSink(Sink):
    """Add records to streams.

    At least once: the tasks add, in transactions of some entries. A repeated batch is added again.

    Exactly once: the driver adds all records of a micro-batch in one transaction, which also sets the number of the
    batch in a key of its own. That needs one node: a cluster has no transactions over several.

    Attributes:
        server: The address of the server.
        serializer: Serializes the records; topics are streams.
        exactly_once: Whether records are written exactly once.
        max_length: Entries that a stream keeps, approximately; None for all.
        value_field: The field of the value.
        key_field: The field of the key.
    """

    server: RedisServer
    serializer: RecordSerializer
    exactly_once: bool = False
    max_length: int | None = None
    value_field: str = "value"
    key_field: str = "key"

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that adds entries, or for exactly once one that serializes them for the committer."""
        return SerializingWriter(self.serializer) if self.exactly_once else _AddingWriter(self)

    def create_committer(self, sink_id: str) -> Committer:
        """Return a transactional committer for exactly once, else one that has nothing to do."""
        return _TransactionCommitter(self, sink_id) if self.exactly_once else super().create_committer(sink_id)

    def check(self, client: Any, records: Iterable[ProducerRecord]) -> None:
        """Refuse keys that are no streams: a transaction of Redis fails for them alone, and does the rest.

        Raises:
            ConnectorError: A record's stream is a key of another kind.
        """
        streams = list(dict.fromkeys(record[0] for record in records))
        pipeline = client.pipeline(transaction=False)
        for stream in streams:
            pipeline.type(stream)
        for stream, kind in zip(streams, pipeline.execute(), strict=True):
            if kind not in (b"none", b"stream"):
                raise ConnectorError(
                    f"Redis at {self.server.place}: {stream!r} is a {kind.decode()}, no stream; check the name of the "
                    "stream"
                )

    def add(self, pipeline: Any, records: Sequence[ProducerRecord]) -> None:
        """Let a pipeline add entries."""
        for stream, key, value, _, headers in records:
            fields: dict[str, bytes] = {} if key is None else {self.key_field: key}
            fields[self.value_field] = value or b""
            for name, content in headers or ():
                fields[name] = content
            pipeline.xadd(stream, fields, maxlen=self.max_length)


class _AddingWriter(BufferedWriter):
    def __init__(self, sink: RedisStreamSink) -> None:
        super().__init__(_FLUSH_ENTRIES, 0)
        self._sink = sink
        self._client = sink.server.client()

    def prepared(self, values: list[Any]) -> list[Any]:
        return self._sink.serializer.records(values, None)

    def flush(self, records: list[Any]) -> None:
        def act() -> None:
            self._sink.check(self._client, records)
            pipeline = self._client.pipeline(transaction=True)
            self._sink.add(pipeline, records)
            pipeline.execute()

        patiently(lambda: self._sink.server.asked(act, reads=False))

    def close(self) -> None:
        self._client.close()


class _TransactionCommitter(Committer):
    def __init__(self, sink: RedisStreamSink, sink_id: str) -> None:
        self._sink = sink
        self._key = f"scurry:committed:{sink_id}"
        self._client = sink.server.client()

    def commit(self, batch_id: int, committables: Sequence[Any]) -> None:
        if not committables:
            return  # earlier attempts had the same input, so they committed nothing either
        patiently(lambda: self._sink.server.asked(lambda: self._transact(batch_id, committables), reads=False))

    def _transact(self, batch_id: int, committables: Sequence[Any]) -> None:
        module = redis_module()
        while True:
            pipeline = self._client.pipeline(transaction=True)
            try:
                pipeline.watch(self._key)
                committed = pipeline.get(self._key)
                if committed is not None and int(committed) >= batch_id:
                    return
                self._sink.check(self._client, chain.from_iterable(committables))
                pipeline.multi()
                for parcel in committables:
                    self._sink.add(pipeline, parcel)
                pipeline.set(self._key, batch_id)
                pipeline.execute()
                return
            except module.WatchError:  # an older driver is still there
                continue
            finally:
                pipeline.reset()

    def finish(self) -> None:
        self._client.close()
