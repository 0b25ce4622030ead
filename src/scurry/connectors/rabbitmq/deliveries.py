"""Deliveries of RabbitMQ, decoded in blocks: pika decodes frame by frame, which takes most of the time of a message."""

from __future__ import annotations

import time
from struct import Struct
from typing import Any

from scurry.connectors.rabbitmq.client import pika
from scurry.connectors.rabbitmq.messages import OFFSET, RMQMessage

#: A delivery: the connection that it came by, its tag, and the message.
Delivery = tuple[int, int, RMQMessage]

#: Timestamp in milliseconds, correlation id, message id, headers and offset in a stream.
_Properties = tuple[int | None, str | None, str | None, dict[str, Any] | None, int | None]
_NONE: _Properties = (None, None, None, None, None)

# Frames of AMQP 0-9-1: type, channel and size, then so many bytes, then the end. Numbers are big-endian.
_FRAME = Struct(">BHI").unpack_from
_BEFORE, _AROUND, _END = 7, 8, 0xCE
#: where properties begin in a frame of a header
_PROPERTIES = _BEFORE + 14
_METHOD, _HEADER, _BODY, _HEARTBEAT = 1, 2, 3, 8
#: class 60 and method 60, basic.deliver
_DELIVER = b"\0\x3c\0\x3c"
#: tag and whether it may have come before, behind the tag of the consumer; exchange and routing key follow
_TAG = Struct(">QB").unpack_from
#: class, weight, size of the body and flags of the properties, which follow
_CONTENT = Struct(">HHQH").unpack_from
_LONG = Struct(">Q").unpack_from
_SIZE = Struct(">I").unpack_from
#: flags of properties
_HEADERS, _DELIVERY_MODE, _PRIORITY, _CORRELATION_ID = 1 << 13, 1 << 12, 1 << 11, 1 << 10
_MESSAGE_ID, _TIMESTAMP = 1 << 7, 1 << 6
#: The only header of most messages in streams, as a table without its size; eight bytes of the offset follow.
_ONLY_OFFSET = bytes([len(OFFSET)]) + OFFSET.encode() + b"l"


class DeliveryDecoder:
    """Finds the deliveries in the data of a connection with one consumer."""

    def __init__(self, queue: str, connection: int) -> None:
        """Begin with a connection.

        Args:
            queue: The queue of the consumer.
            connection: The number of the connection.
        """
        self._queue, self._connection = queue, connection
        #: the beginning of a frame that is not complete, its bytes so far, and how many it needs at least
        self._kept: list[bytes] = []
        self._has, self._needs = 0, 0
        #: the delivery whose content comes: tag, whether it may have come before, exchange, routing key
        self._method: tuple[int, bool, str, str] | None = None
        #: its properties that messages have, the parts of its body, and how many bytes of that are to come
        self._properties: _Properties = _NONE
        self._parts: list[bytes] = []
        self._left = 0
        #: exchange and routing key of the delivery before, as sent and decoded
        self._route, self._names = b"", ("", "")

    def decode(self, data: bytes) -> tuple[list[Delivery], bytes]:
        """Return the deliveries that are complete now, and the frames that are of none.

        Raises:
            AMQPError: A frame does not end where it should.
        """
        if self._kept:
            self._kept.append(data)
            self._has += len(data)
            if self._has < self._needs:
                return [], b""
            data = b"".join(self._kept)
            self._kept = []
        found: list[Delivery] = []
        others: list[bytes] = []
        now = time.time_ns() // 1_000_000
        at, end = 0, len(data)
        while at + _BEFORE <= end:
            kind, _, size = _FRAME(data, at)
            behind = at + _AROUND + size
            if kind > _HEARTBEAT:  # no frame: a broker of another version of AMQP names its own
                others.append(data[at:])
                at = end
                break
            if behind > end:
                break
            if data[behind - 1] != _END:
                raise pika().exceptions.InvalidFrameError("a frame does not end where it should")
            if kind == _BODY and self._left:
                body = data[at + _BEFORE : behind - 1]
                self._left -= size
                if self._left or self._parts:
                    self._parts.append(body)
                    body = b"".join(self._parts) if not self._left else b""
                if not self._left:
                    found.append(self._complete(body, now))
            elif kind == _HEADER and self._method is not None:
                _, _, self._left, flags = _CONTENT(data, at + _BEFORE)
                self._properties = _properties(data, at + _PROPERTIES, flags) if flags else _NONE
                if not self._left:
                    found.append(self._complete(b"", now))
            elif kind == _METHOD and data[at + _BEFORE : at + 11] == _DELIVER:
                tag_at = at + 12 + data[at + 11]
                tag, redelivered = _TAG(data, tag_at)
                route = data[tag_at + 9 : behind - 1]
                if route != self._route:
                    self._route, self._names = route, _names(route)
                self._method = (tag, redelivered & 1 == 1, *self._names)
            else:
                others.append(data[at:behind])
            at = behind
        if at < end:
            self._kept, self._has = [data[at:]], end - at
            self._needs = _AROUND + (_FRAME(data, at)[2] if at + _BEFORE <= end else 0)
        return found, b"".join(others)

    def _complete(self, body: bytes, now: int) -> Delivery:
        """Return the delivery whose content has come."""
        assert self._method is not None
        tag, redelivered, exchange, routing_key = self._method
        timestamp, correlation_id, message_id, headers, offset = self._properties
        self._method = None
        if self._parts:
            self._parts = []
        message = RMQMessage(
            self._queue,
            body,
            exchange,
            routing_key,
            now if timestamp is None else timestamp,
            redelivered,
            offset,
            correlation_id,
            message_id,
            headers or {},
        )
        return self._connection, tag, message


def _text(data: bytes, at: int) -> tuple[int, Any]:
    """Return where a short string ends, and the string; as pika does, its bytes if they are no UTF-8."""
    behind = at + 1 + data[at]
    value = data[at + 1 : behind]
    try:
        return behind, value.decode()
    except UnicodeDecodeError:
        return behind, value


def _names(route: bytes) -> tuple[Any, Any]:
    """Return exchange and routing key."""
    behind, exchange = _text(route, 0)
    return exchange, _text(route, behind)[1]


def _properties(data: bytes, at: int, flags: int) -> _Properties:
    """Return the properties that messages have, of those that the flags name."""
    correlation_id = message_id = timestamp = offset = None
    headers = None
    for flag in (1 << 15, 1 << 14):  # content type and encoding
        if flags & flag:
            at += 1 + data[at]
    if flags & _HEADERS:
        size = _SIZE(data, at)[0]
        if size == len(_ONLY_OFFSET) + 8 and data.startswith(_ONLY_OFFSET, at + 4):
            offset = _LONG(data, at + 4 + len(_ONLY_OFFSET))[0]
        else:
            headers = pika().data.decode_table(data, at)[0]
            offset = headers.pop(OFFSET, None)
        at += 4 + size
    at += (flags & _DELIVERY_MODE and 1) + (flags & _PRIORITY and 1)
    if flags & _CORRELATION_ID:
        at, correlation_id = _text(data, at)
    for flag in (1 << 9, 1 << 8):  # reply to, expiration
        if flags & flag:
            at += 1 + data[at]
    if flags & _MESSAGE_ID:
        at, message_id = _text(data, at)
    if flags & _TIMESTAMP:
        timestamp = _LONG(data, at)[0] * 1000
    return timestamp, correlation_id, message_id, headers, offset
