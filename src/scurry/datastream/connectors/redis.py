"""Streams of Redis as sources and sinks; Flink has none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.connectors.messages import MessageSource
from scurry.connectors.redis.client import RedisServer
from scurry.connectors.redis.sink import RedisStreamSink as _RedisStreamSink
from scurry.connectors.redis.streams import RedisEntry, RedisStreams
from scurry.datastream.connectors._queues import QueueSinkBuilder, QueueSourceBuilder
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = ["RedisEntry", "RedisStreamSink", "RedisStreamSinkBuilder", "RedisStreamSource", "RedisStreamSourceBuilder"]

_ID = re.compile(r"\d+-\d+")


@made_by("builder")
class RedisStreamSource(ApiObject, MessageSource):
    """Read streams exactly once: ids of the entries read are part of the checkpoint."""

    @staticmethod
    def builder() -> RedisStreamSourceBuilder:
        """Return a builder; the URL, streams and a deserializer must be set."""
        return RedisStreamSourceBuilder()


class RedisStreamSourceBuilder(QueueSourceBuilder):
    """Builder of a RedisStreamSource."""

    def __init__(self) -> None:
        """Begin with an unbounded source that reads from the first entries."""
        super().__init__()
        self._url: str | None = None
        self._streams: tuple[str, ...] = ()
        self._begin: str | int = "earliest"
        self._bounded = False
        self._fields = ("value", "key")

    def set_url(self, url: str) -> RedisStreamSourceBuilder:
        """Set the server: `redis://user:password@host:port/db`, or `rediss://` for TLS."""
        self._url = url
        return self

    def set_streams(self, *streams: str) -> RedisStreamSourceBuilder:
        """Set the keys of the streams; one that is not there has no entries yet."""
        if not streams or not all(isinstance(stream, str) and stream for stream in streams):
            raise ArgumentTypeError(f"set_streams takes keys of streams, got {streams!r}")
        self._streams = streams
        return self

    def set_starting_position(self, position: str | int) -> RedisStreamSourceBuilder:
        """Set where reading begins: `"earliest"`, `"latest"`, an id, behind which it does, or milliseconds since 1970.

        Raises:
            ArgumentError: There is no such beginning.
        """
        known = position in ("earliest", "latest") or (isinstance(position, int) and position >= 0)
        if not known and not (isinstance(position, str) and _ID.fullmatch(position)):
            raise ArgumentError(
                "a position is 'earliest', 'latest', an id such as '1526919030474-0', or milliseconds since 1970, got "
                f"{position!r}"
            )
        self._begin = position
        return self

    def set_bounded(self) -> RedisStreamSourceBuilder:
        """Stop at the entries that there are when the job starts."""
        self._bounded = True
        return self

    def set_fields(self, value: str, key: str = "key") -> RedisStreamSourceBuilder:
        """Set the fields of entries that are the value and the key of a message; by default `value` and `key`."""
        self._fields = (value, key)
        return self

    def build(self) -> RedisStreamSource:
        """Return the source.

        Raises:
            ArgumentError: The URL, the streams or the deserializer are missing, or the URL is none.
            ExtraMissingError: The client is not installed.
        """
        decoder = self._built_decoder()
        if not self._streams:
            raise ArgumentError("nothing to read: call set_streams")
        scan = RedisStreams(_server(self._url), self._streams, self._begin, self._bounded, *self._fields)
        return RedisStreamSource(scan, decoder, self._bounded, self._drop_malformed)


@made_by("builder")
class RedisStreamSink(ApiObject, _RedisStreamSink):
    """Add records to streams, with the delivery guarantee that is set."""

    @staticmethod
    def builder() -> RedisStreamSinkBuilder:
        """Return a builder; the URL, a stream and a serializer must be set."""
        return RedisStreamSinkBuilder()


class RedisStreamSinkBuilder(QueueSinkBuilder):
    """Builder of a RedisStreamSink."""

    def __init__(self) -> None:
        """Begin with the delivery guarantee AT_LEAST_ONCE."""
        super().__init__()
        self._url: str | None = None
        self._max_length: int | None = None
        self._fields = ("value", "key")

    def set_url(self, url: str) -> RedisStreamSinkBuilder:
        """Set the server: `redis://user:password@host:port/db`, or `rediss://` for TLS."""
        self._url = url
        return self

    def set_stream(self, stream: str) -> RedisStreamSinkBuilder:
        """Set the key of the stream."""
        return self._to(stream, None)

    def set_stream_selector(self, selector: Callable[[Any], str]) -> RedisStreamSinkBuilder:
        """Add each record to the stream that a function returns for it."""
        return self._to(None, selector)

    def set_max_length(self, max_length: int) -> RedisStreamSinkBuilder:
        """Let streams keep about so many entries; Redis drops older ones.

        Raises:
            ArgumentError: It is not at least 1.
        """
        if max_length < 1:
            raise ArgumentError(f"set_max_length takes a number from 1, got {max_length}")
        self._max_length = max_length
        return self

    def set_fields(self, value: str, key: str = "key") -> RedisStreamSinkBuilder:
        """Set the fields of entries that values and keys become; by default `value` and `key`."""
        self._fields = (value, key)
        return self

    def build(self) -> RedisStreamSink:
        """Return the sink.

        Raises:
            ArgumentError: The URL, the stream or the serializer are missing, or the URL is none.
            ExtraMissingError: The client is not installed.
        """
        serializer = self._built_serializer()
        return RedisStreamSink(_server(self._url), serializer, self._exactly_once, self._max_length, *self._fields)


def _server(url: str | None) -> RedisServer:
    if url is None:
        raise ArgumentError("no server: call set_url('redis://host:6379/0')")
    server = RedisServer(url)
    server.client().close()
    return server
