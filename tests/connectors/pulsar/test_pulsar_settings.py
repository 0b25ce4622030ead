"""Builders, options and assignments of Pulsar, without a server."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pulsar
import pytest

from scurry.common import Duration
from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.pulsar import source as module
from scurry.connectors.pulsar.client import EARLIEST, MessageKey, PulsarService, full_name
from scurry.connectors.pulsar.cursors import Cursor, CursorKind
from scurry.connectors.pulsar.source import PulsarEnumerator, PulsarTopics
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.pulsar import (
    MessageDelayer,
    PulsarSink,
    PulsarSinkBuilder,
    PulsarSource,
    PulsarSourceBuilder,
    RangeGenerator,
    StartCursor,
    StopCursor,
    TopicRoutingMode,
)
from scurry.errors import ArgumentError, ArgumentTypeError, ScurryError, SourceConnectionError, UnsupportedError
from support.servers.process import free_ports

URL = "pulsar://127.0.0.1:1"


def source() -> PulsarSourceBuilder:
    builder = PulsarSource.builder().set_service_url(URL).set_topics(["a", "b"]).set_subscription_name("s")
    return builder.set_deserialization_schema(SimpleStringSchema())


def sink() -> PulsarSinkBuilder:
    return PulsarSink.builder().set_service_url(URL).set_topics("t").set_serialization_schema(SimpleStringSchema())


def test_a_source_is_bounded_by_a_cursor_that_ends() -> None:
    assert not source().build().bounded
    assert source().set_bounded_stop_cursor(StopCursor.latest()).build().bounded
    assert not source().set_bounded_stop_cursor(StopCursor.never()).build().bounded
    unbounded: Any = source().set_unbounded_stop_cursor(StopCursor.latest()).build()
    assert unbounded.scan.ends and not unbounded.bounded


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: PulsarSource.builder().build(), ArgumentError, "call set_topics"),
        (lambda: PulsarSource.builder().set_topics("t").build(), ArgumentError, "call set_deserialization_schema"),
        (lambda: source().set_service_url("http://h").build(), ArgumentError, "begins with pulsar://"),
        (lambda: source().set_topic_pattern("t.*"), UnsupportedError, "name them by set_topics"),
        (lambda: source().set_topics([]), ArgumentTypeError, "set_topics takes"),
        (lambda: source().set_start_cursor(None), ArgumentTypeError, "takes a StartCursor"),  # type: ignore[arg-type]
        (lambda: source().set_authentication("org.a.Kerberos", "").build(), ArgumentError, "none of Auth"),
        (lambda: source().set_config("pulser.x", 1), ArgumentError, "begin with pulsar.client."),
        (lambda: StartCursor.from_message_id(b"nonsense"), ArgumentError, "no serialized message id"),
        (lambda: RangeGenerator.fixed_key(keys="a"), UnsupportedError, "filter the stream by key"),
        (lambda: PulsarSink.builder().build(), ArgumentError, "call set_topics"),
        (lambda: PulsarSink.builder().set_topics("t").build(), ArgumentError, "call set_serialization_schema"),
        (lambda: sink().set_topic_routing_mode(TopicRoutingMode.CUSTOM), UnsupportedError, "class of Java"),
        (lambda: sink().set_topic_router("org.a.Router"), UnsupportedError, "class of Java"),
        (
            lambda: sink().set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build(),
            ArgumentError,
            "has no transactions: call set_staging_dir",
        ),
    ],
)
def test_wrong_settings_say_what_to_do(make: Callable[[], Any], error: type[ScurryError], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_options_of_flink_set_the_connection() -> None:
    given = {
        "pulsar.client.serviceUrl": "pulsar+ssl://h:6651",
        "pulsar.client.authPluginClassName": "org.apache.pulsar.client.impl.auth.AuthenticationToken",
        "pulsar.client.authParams": "token:secret",
    }
    made: Any = PulsarSource.builder().set_topics("t").set_properties(given).set_subscription_name("s")
    made = made.set_deserialization_schema(SimpleStringSchema()).build()
    assert made.scan.service.auth_params == "token:secret"
    assert "secret" not in repr(made)


def test_a_sink_may_delay_and_route() -> None:
    made: Any = sink().delay_sending_message(MessageDelayer.fixed(Duration.of_seconds(2)))
    made = made.set_topic_routing_mode(TopicRoutingMode.MESSAGE_KEY_HASH).build()
    assert (made.delay_ms, made.by_key) == (2000, True)


def test_names_of_topics_are_completed_as_pulsar_does() -> None:
    assert full_name("t") == "persistent://public/default/t"
    assert full_name("a/b/c") == "persistent://a/b/c"
    assert full_name("non-persistent://a/b/c") == "non-persistent://a/b/c"


def test_an_unreachable_cluster_is_an_error_within_seconds() -> None:
    (port,) = free_ports(1)
    begun = time.monotonic()
    unreachable: Any = source().set_service_url(f"pulsar://127.0.0.1:{port}").build()
    with pytest.raises(SourceConnectionError, match=rf"Pulsar at pulsar://127.0.0.1:{port}: .*set_service_url"):
        unreachable.channels(1)
    assert time.monotonic() - begun < 20


# ---------------------------------------------------------------- assignments


class FakeSession:
    """Partitions whose last messages the test sets."""

    lasts: dict[str, MessageKey]
    away = False
    acknowledged: dict[str, MessageKey]

    def __init__(self, scan: PulsarTopics) -> None:
        self._scan = scan

    def partitions(self) -> list[str]:
        return list(type(self).lasts)

    def start(self, topic: str) -> MessageKey:
        return EARLIEST

    def last(self, topic: str) -> MessageKey:
        if type(self).away:
            raise SourceConnectionError("away")
        return type(self).lasts[topic]

    def stop(self, topic: str, at: MessageKey, last: MessageKey) -> MessageKey | None:
        return last if self._scan.stop is not None else None

    def acknowledge(self, positions: dict[str, MessageKey]) -> None:
        type(self).acknowledged.update(positions)

    def close(self) -> None:
        pass


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> type[FakeSession]:
    class Session(FakeSession):
        lasts = {"a": MessageKey(3, 9, -1), "b": EARLIEST}
        acknowledged: dict[str, MessageKey] = {}

    monkeypatch.setattr(module, "_Session", Session)
    return Session


def enumerator(stop: Cursor | None = None, records: int = 1000, clock: Any = None) -> PulsarEnumerator:
    scan = PulsarTopics(PulsarService(URL), ("a", "b"), "s", Cursor(CursorKind.EARLIEST), stop)
    return PulsarEnumerator(scan, 2, BatchLimits(max_records=records), clock or time.monotonic)


def works(made: PulsarEnumerator) -> list[Any]:
    return [(each.channel, each.work, each.final) for each in made.next_batch()]


def test_ranges_follow_each_other(session: type[FakeSession]) -> None:
    made = enumerator()
    assert works(made) == [(0, [("a", (-1, -1, -1), (3, 9, -1))], False), (1, None, False)]
    assert works(made) == []
    session.lasts["b"] = MessageKey(4, 0, 2)
    assert works(made) == [(1, [("b", (-1, -1, -1), (4, 0, 2))], False)]
    made.committed()
    assert session.acknowledged == {"a": (3, 9, -1), "b": (4, 0, 2)}
    again = enumerator()
    again.restore(made.position())
    session.lasts["a"] = MessageKey(3, 10, -1)
    assert [work for work in works(again) if work[1]] == [(0, [("a", (3, 9, -1), (3, 10, -1))], False)]


def test_a_bounded_source_ends(session: type[FakeSession]) -> None:
    made = enumerator(Cursor(CursorKind.LATEST))
    assert works(made) == [(0, [("a", (-1, -1, -1), (3, 9, -1))], True), (1, None, True)]
    assert works(made) == []


def test_a_ledger_is_read_within_the_limits(session: type[FakeSession]) -> None:
    made = enumerator(records=8)
    session.lasts["a"] = MessageKey(3, 0, -1)
    works(made)
    session.lasts["a"] = MessageKey(3, 9, -1)
    ends = []
    while found := works(made):
        ends.append(found[0][1][0][2][1])
    assert ends == [4, 8, 9]


def test_a_cluster_that_answered_may_be_away_for_a_while(session: type[FakeSession]) -> None:
    now = [0.0]
    made = enumerator(clock=lambda: now[0])
    works(made)
    session.away = True
    assert works(made) == []
    now[0] = 61.0
    with pytest.raises(SourceConnectionError):
        made.next_batch()
    session.away = False
    assert works(made) == []


def test_ids_are_in_the_order_of_messages() -> None:
    serialized = pulsar.MessageId(-1, 7, 2, 1).serialize()
    assert Cursor(CursorKind.MESSAGE_ID, serialized).key == MessageKey(7, 2, 1)
    for key in (MessageKey(7, 2, 1), MessageKey(7, 2, -1), MessageKey(7, 0, 0)):
        before = module._before(key)
        assert before < key and not MessageKey(key.ledger, key.entry, key.batch - 1) > max(before, key)
