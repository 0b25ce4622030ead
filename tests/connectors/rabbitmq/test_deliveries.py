"""Deliveries are taken out of what a broker sends, as pika would decode them."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import Any

import pika
import pytest
from pika.frame import Body, Header, Heartbeat, Method, decode_frame
from pika.spec import Basic, BasicProperties, Queue

from scurry.connectors.rabbitmq import consumer
from scurry.connectors.rabbitmq.client import Broker
from scurry.connectors.rabbitmq.consumer import Consumer
from scurry.connectors.rabbitmq.deliveries import Delivery, DeliveryDecoder
from scurry.connectors.rabbitmq.messages import RMQMessage

OTHER = Method(1, Queue.DeclareOk("q", 1, 2)).marshal() + Heartbeat().marshal()


def sent(
    tag: int, *bodies: bytes, redelivered: bool = False, exchange: str = "", key: str = "q", **properties: Any
) -> bytes:
    """Return the frames of a delivery, whose body may come in several."""
    frames = [
        Method(1, Basic.Deliver("consumer", tag, redelivered, exchange, key)),
        Header(1, sum(map(len, bodies)), BasicProperties(**properties)),
        *(Body(1, each) for each in bodies),
    ]
    return b"".join(each.marshal() for each in frames)


def decoded(*pieces: bytes) -> tuple[list[Delivery], bytes]:
    """Return what a decoder makes of pieces."""
    decoder, found, left = DeliveryDecoder("queue", 7), list[Delivery](), b""
    for piece in pieces:
        deliveries, others = decoder.decode(piece)
        found += deliveries
        left += others
    return found, left


ALL: dict[str, Any] = {
    "content_type": "text/plain",
    "content_encoding": "none",
    "headers": {"a": 1, "b": "two", "x-stream-offset": 5},
    "delivery_mode": 2,
    "priority": 3,
    "correlation_id": "c-1",
    "reply_to": "me",
    "expiration": "60000",
    "message_id": "m-ü",
    "timestamp": 1_700_000_000,
    "type": "t",
    "user_id": "guest",
    "app_id": "app",
    "cluster_id": "cluster",
}


def test_a_delivery_is_a_message_with_its_tag_and_the_number_of_the_connection() -> None:
    ((connection, tag, message),), others = decoded(
        sent(2**40, b"body", redelivered=True, exchange="e", key="some.key", **ALL)
    )
    assert (connection, tag, others) == (7, 2**40, b"")
    headers = {"a": 1, "b": "two"}
    assert message == RMQMessage("queue", b"body", "e", "some.key", 1_700_000_000_000, True, 5, "c-1", "m-ü", headers)


@pytest.mark.parametrize("left_out", [(), *((name,) for name in ALL), *pairwise(ALL)])
def test_any_properties_may_be_missing(left_out: tuple[str, ...]) -> None:
    given = {name: value for name, value in ALL.items() if name not in left_out}
    ((_, _, message),), _ = decoded(sent(1, b"body", **given))
    headers = dict(given.get("headers", {}))
    assert message.offset == headers.pop("x-stream-offset", None)
    assert message.headers == headers
    assert message.correlation_id == given.get("correlation_id")
    assert message.message_id == given.get("message_id")
    if "timestamp" in given:
        assert message.timestamp == 1_700_000_000_000


def test_a_message_without_a_timestamp_has_the_time_at_which_it_came() -> None:
    before = time.time_ns() // 1_000_000
    ((_, _, message),), _ = decoded(sent(1, b"body"))
    assert before <= message.timestamp <= time.time_ns() // 1_000_000


def test_an_offset_alone_is_no_header() -> None:
    ((_, _, message),), _ = decoded(sent(1, b"body", headers={"x-stream-offset": 2**33}))
    assert (message.offset, message.headers) == (2**33, {})


def test_wherever_the_data_is_cut_the_deliveries_and_the_rest_are_the_same() -> None:
    data = (
        OTHER
        + sent(1, b"\xce" * 30, headers={"a": 1}, correlation_id="c")
        + sent(2)
        + OTHER
        + sent(3, b"some", b"thing", exchange="e")
        + sent(4, b"x", key="other")
        + sent(5, b"y")
    )
    found, others = decoded(data)
    assert [(tag, message.body) for _, tag, message in found] == [
        (1, b"\xce" * 30), (2, b""), (3, b"something"), (4, b"x"), (5, b"y")
    ]  # fmt: skip
    assert [(message.exchange, message.routing_key) for _, _, message in found] == [
        ("", "q"), ("", "q"), ("e", "q"), ("", "other"), ("", "q")
    ]  # fmt: skip
    assert others == OTHER * 2

    def told(deliveries: list[Delivery]) -> list[Any]:
        return [(tag, message._replace(timestamp=0)) for _, tag, message in deliveries]

    for at in range(len(data) + 1):
        again, left = decoded(data[:at], data[at:])
        assert (told(again), left) == (told(found), others)
    again, left = decoded(*(data[at : at + 1] for at in range(len(data))))
    assert (told(again), left) == (told(found), others)


def test_a_delivery_is_there_before_the_next_one_comes_whole() -> None:
    data = sent(1, b"a") + sent(2, b"b")[:-1]
    assert [tag for _, tag, _ in decoded(data)[0]] == [1]


def test_a_frame_without_its_end_breaks_the_connection() -> None:
    with pytest.raises(pika.exceptions.AMQPError, match="does not end"):
        decoded(sent(1, b"body")[:-1] + b"\0")


def test_what_is_no_frame_is_left_to_pika() -> None:
    other_version = b"AMQP\0\x01\0\0"
    assert decoded(other_version) == ([], other_version)


class Pika:
    """What pika has been shown."""

    connection_made = connection_lost = eof_received = None

    def __init__(self) -> None:
        self.shown: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        self.shown.append(data)


def test_pika_sees_now_and_then_that_the_broker_is_there_while_only_deliveries_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr("scurry.connectors.rabbitmq.consumer.time.monotonic", lambda: now)
    decoder, inner = DeliveryDecoder("q", 0), Pika()
    protocol = consumer._Protocol(inner, lambda data: decoder.decode(data)[1])
    for now in (0.5, 0.9, 1.5, 1.8, 2.6):  # noqa: B007
        protocol.data_received(sent(1, b"body"))
    assert [decode_frame(each)[1].NAME for each in inner.shown] == ["Heartbeat"] * 2
    protocol.data_received(OTHER)
    assert inner.shown[2:] == [OTHER]


def test_a_broker_that_is_not_there_is_an_error_of_amqp_and_leaves_nothing_open() -> None:
    made = Consumer(Broker("127.0.0.1", 1), "q", 0, lambda _: None)
    with pytest.raises(pika.exceptions.AMQPError):
        made.begin(1, None)
    made.close()
    made.acknowledge(1, lambda: None)
