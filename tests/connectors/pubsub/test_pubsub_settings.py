"""The builders of Pub/Sub, and its credentials, without a server."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scurry.common.serialization import SimpleStringSchema
from scurry.connectors.pubsub import source
from scurry.connectors.pubsub.client import PubSubClient, PubSubProject
from scurry.connectors.pubsub.sink import _message
from scurry.connectors.queues import receiving
from scurry.connectors.source import BatchLimits
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.pubsub import PubSubSink, PubSubSource
from scurry.errors import ArgumentError, RecordRejectedError, SourceConnectionError, UnsupportedError


class Service:
    """A subscription that hands out messages once, and notes what is asked of them."""

    def __init__(self, ids: list[str]) -> None:
        self.ids = ids
        self.asked: list[tuple[str, str, int | None]] = []
        self.pulled = 0
        #: requests that wait for messages
        self.waited = 0

    def call(self, kind: str, name: str, verb: str, body: dict[str, Any]) -> dict[str, Any]:
        if verb == "pull":
            self.pulled += 1
            self.waited += "returnImmediately" not in body
        self.asked += [(verb, each, body.get("ackDeadlineSeconds")) for each in body.get("ackIds", ())]
        found, self.ids = (self.ids, []) if verb == "pull" else ([], self.ids)
        messages = [{"messageId": each, "publishTime": "2026-11-30T02:03:04Z"} for each in found]
        return {"receivedMessages": [{"ackId": each["messageId"], "message": each} for each in messages]}

    def wait_for(self, condition: Callable[[], object]) -> None:
        give_up = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < give_up, self.asked
            time.sleep(0.001)


def test_what_is_missing_is_named() -> None:
    builder = PubSubSource.builder().set_value_only_deserializer(SimpleStringSchema())
    with pytest.raises(ArgumentError, match="call set_project_name"):
        builder.build()
    builder.set_project_name("p").set_host_and_port_for_emulator("h:1")
    with pytest.raises(ArgumentError, match="call set_subscription_name"):
        builder.build()
    to = PubSubSink.builder().set_project_name("p").set_value_serialization_schema(SimpleStringSchema())
    with pytest.raises(ArgumentError, match="call set_topic_name or set_topic_name_selector"):
        to.build()
    with pytest.raises(ArgumentError, match="is no address of a host"):
        to.set_topic_name("t").set_host_and_port_for_emulator("h:none").build()
    with pytest.raises(UnsupportedError, match="writes at least once"):
        to.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()


def test_a_file_of_credentials_has_to_be_there(tmp_path: Path) -> None:
    pytest.importorskip("google.auth")
    with pytest.raises(ArgumentError, match="no file of credentials '/none.json'"):
        PubSubProject.of("p", None, "/none.json")
    file = tmp_path / "key.json"
    file.write_text('{"type": "service_account", "private_key": "kzy7w"}')
    client = PubSubClient(PubSubProject.of("p", None, str(file)), reads=True)
    with pytest.raises(SourceConnectionError, match="there are no credentials: .*check the credentials file") as error:
        client.call("subscriptions", "s", "pull", {})
    assert "zy7w" not in str(error.value)


def test_the_variable_of_googles_clients_names_an_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUBSUB_EMULATOR_HOST", "h:8085")
    assert PubSubProject.of("p", None, None).address == "http://h:8085"
    assert PubSubProject.of("p", "g:1", None).address == "http://g:1"


def test_leases_are_renewed_until_the_commit_and_let_go_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_FIRST_SECONDS", 0.0)
    monkeypatch.setattr(source, "_RENEW_SECONDS", 0.0)
    service = Service(["a", "b"])
    monkeypatch.setattr(PubSubClient, "call", service.call)
    scan = source.PubSubSubscription(PubSubProject("p", "h:1"), "s")
    enumerator = scan.create_enumerator(1, BatchLimits(max_records=1))
    service.wait_for(enumerator.next_batch)
    service.wait_for(lambda: ("modifyAckDeadline", "a", 60) in service.asked)
    enumerator.committed()
    service.wait_for(lambda: ("acknowledge", "a", None) in service.asked)
    service.asked.clear()
    service.wait_for(lambda: ("modifyAckDeadline", "b", 60) in service.asked)
    enumerator.close()
    assert not service.waited
    assert ("modifyAckDeadline", "b", 0) in service.asked
    assert "a" not in {ack_id for _, ack_id, _ in service.asked}


def test_requests_to_the_service_wait_for_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(["a"])
    monkeypatch.setattr(PubSubClient, "call", service.call)
    enumerator = source.PubSubSubscription(PubSubProject("p"), "s").create_enumerator(1, BatchLimits())
    service.wait_for(lambda: enumerator.next_batch() and service.waited)
    enumerator.close()


def test_nothing_is_pulled_while_too_much_waits_and_leases_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_FIRST_SECONDS", 0.0)
    monkeypatch.setattr(source, "_RENEW_SECONDS", 0.0)
    monkeypatch.setattr(receiving, "MOST_WAITING", 2)
    service = Service(["a", "b", "c"])
    monkeypatch.setattr(PubSubClient, "call", service.call)
    scan = source.PubSubSubscription(PubSubProject("p", "h:1"), "s")
    enumerator = scan.create_enumerator(1, BatchLimits(max_records=1))
    service.wait_for(enumerator.next_batch)
    pulled = service.pulled
    for each in ("a", "b", "c"):  # one is assigned, two wait
        service.wait_for(lambda each=each: service.asked.count(("modifyAckDeadline", each, 60)) > 1)  # type: ignore[misc]
    assert service.pulled == pulled
    service.wait_for(lambda: enumerator.next_batch() and enumerator.next_batch())
    service.wait_for(lambda: service.pulled > pulled)
    enumerator.close()


def test_times_have_nanoseconds_and_what_is_not_set_is_left_out() -> None:
    bare = {"ackId": "a", "message": {"messageId": "7", "publishTime": "2026-11-30T02:03:04.123456789Z"}}
    message = source.message_of("s", bare)
    assert (message.data, message.ordering_key, dict(message.attributes)) == (b"", "", {})
    assert message.publish_time % 60_000 == 4123


@pytest.mark.parametrize(
    ("record", "refused"),
    [
        (("topic", b"\xff", b"value", 0, []), "an ordering key of Pub/Sub is text"),
        (("topic", None, b"value", 0, [("header", b"\xff")]), "an attribute of Pub/Sub is text"),
    ],
)
def test_bytes_that_are_no_text_are_refused_where_text_is_wanted(record: Any, refused: str) -> None:
    with pytest.raises(RecordRejectedError, match=refused):
        _message(record)
