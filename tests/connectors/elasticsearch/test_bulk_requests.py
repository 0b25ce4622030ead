"""Bulk requests: every action is done once, in order for each document, whatever the server fails."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from scurry.connectors.elasticsearch.bulk import (
    Action,
    BackoffType,
    BulkRequests,
    BulkSettings,
    FailureHandler,
    action_of,
)
from scurry.connectors.http.client import HttpSettings
from scurry.errors import RecordRejectedError, SinkConnectionError
from support.cases import cases
from support.servers.fake_elasticsearch import FakeElasticsearch


@pytest.fixture
def server() -> Iterator[FakeElasticsearch]:
    with FakeElasticsearch() as fake:
        yield fake


class Bulk(BulkRequests):
    """Requests that record their pauses instead of waiting."""

    def __init__(self, server: FakeElasticsearch, settings: BulkSettings | None = None, **hosts: Any) -> None:
        self.pauses: list[float] = []
        super().__init__(HttpSettings((server.url,), **hosts), settings or BulkSettings(), self.pauses.append)


def put(identity: str, value: int, index: str = "i", **target: Any) -> Action:
    return action_of("index", {"_index": index, "_id": identity, **target}, json.dumps({"v": value}).encode(), value)


def delete(identity: str, **target: Any) -> Action:
    return action_of("delete", {"_index": "i", "_id": identity, **target}, None, identity)


def values(server: FakeElasticsearch) -> dict[str, int]:
    return {identity: document["v"] for identity, document in server.contents("i").items()}


def test_actions_are_done_in_order(server: FakeElasticsearch) -> None:
    Bulk(server).send([put("a", 1), put("b", 2), put("a", 3), delete("b")])
    assert values(server) == {"a": 3}
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "target",
    [{"_index": 'ä\u2028"\\\n', "_id": "\x00\x7f🎉"}, {"_index": "i", "version": 5, "version_type": "external_gte"}],
)
def test_the_line_of_an_action_is_json(target: dict[str, Any]) -> None:
    line, document = action_of("index", target, b"{}", None).lines.splitlines()
    assert json.loads(line) == {"index": target}
    assert document == b"{}"


def test_an_answer_in_which_nothing_failed_is_not_read(
    server: FakeElasticsearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BulkRequests, "_items", lambda self, answer, count: pytest.fail("it is read"))
    Bulk(server).send([put("a", 1), put("b", 2), delete("c")])
    assert values(server) == {"a": 1, "b": 2}


def test_requests_keep_to_the_size(server: FakeElasticsearch) -> None:
    actions = [put(str(n), n) for n in range(10)]
    Bulk(server, BulkSettings(max_bytes=3 * len(actions[0].lines))).send(actions)
    assert [len(request) for request in server.requests] == [3, 3, 3, 1]


def test_a_larger_action_is_a_request_of_its_own(server: FakeElasticsearch) -> None:
    Bulk(server, BulkSettings(max_bytes=1)).send([put("a", 1), put("b", 2)])
    assert [len(request) for request in server.requests] == [1, 1]


def test_actions_for_which_the_server_is_too_busy_are_sent_again_with_growing_pauses(
    server: FakeElasticsearch,
) -> None:
    left = [3]

    def busy(operation: str, target: dict[str, Any]) -> tuple[int, str] | None:
        if target["_id"] != "b" or not left[0]:
            return None
        left[0] -= 1
        return 429, "es_rejected_execution_exception"

    server.fault = busy
    bulk = Bulk(server, BulkSettings(delay_ms=100))
    bulk.send([put("a", 1), put("b", 2), put("c", 3)])
    assert values(server) == {"a": 1, "b": 2, "c": 3}
    assert [len(request) for request in server.requests] == [3, 1, 1, 1]
    assert bulk.pauses == [0.1, 0.2, 0.4]


def test_later_actions_of_a_document_follow_the_one_that_is_sent_again(server: FakeElasticsearch) -> None:
    first = [True]

    def busy(operation: str, target: dict[str, Any]) -> tuple[int, str] | None:
        if target["_id"] == "a" and first[0]:
            first[0] = False
            return 429, "es_rejected_execution_exception"
        return None

    server.fault = busy
    Bulk(server).send([put("a", 1), put("b", 2), put("a", 3)])
    assert values(server) == {"a": 3, "b": 2}


@pytest.mark.parametrize("seed", range(cases(60)))
def test_any_mix_of_busy_answers_leaves_the_last_value_of_each_document(server: FakeElasticsearch, seed: int) -> None:
    chance = random.Random(seed)
    server.fault = lambda *action: (429, "es_rejected_execution_exception") if chance.random() < 0.4 else None
    actions, expected = [], dict[str, int]()
    for value in range(40):
        identity = chance.choice("abcd")
        if chance.random() < 0.2:
            actions.append(delete(identity))
            expected.pop(identity, None)
        else:
            actions.append(put(identity, value))
            expected[identity] = value
    Bulk(server, BulkSettings(retries=200)).send(actions)
    assert values(server) == expected


def test_a_server_that_stays_too_busy_is_an_error(server: FakeElasticsearch) -> None:
    server.fault = lambda *action: (429, "es_rejected_execution_exception")
    bulk = Bulk(server, BulkSettings(retries=2, backoff=BackoffType.CONSTANT))
    with pytest.raises(SinkConnectionError, match="too busy for 1 actions.*es_rejected_execution_exception"):
        bulk.send([put("a", 1)])
    assert bulk.pauses == [0.05, 0.05]


def test_without_back_off_nothing_is_sent_again(server: FakeElasticsearch) -> None:
    server.answers = [503]
    with pytest.raises(SinkConnectionError, match="HTTP 503"):
        Bulk(server, BulkSettings(backoff=BackoffType.NONE)).send([put("a", 1)])


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_request_that_fails_as_a_whole_is_sent_again(server: FakeElasticsearch, status: int) -> None:
    server.answers = [status, status]
    Bulk(server).send([put("a", 1)])
    assert values(server) == {"a": 1}


def test_a_document_is_deleted_although_its_index_was_never_made(server: FakeElasticsearch) -> None:
    Bulk(server).send([delete("a")])
    assert server.documents == {}


def test_a_document_that_is_refused_fails_with_its_id_and_reason(server: FakeElasticsearch) -> None:
    server.fault = lambda operation, target: (400, "mapper_parsing_exception") if target["_id"] == "b" else None
    with pytest.raises(
        RecordRejectedError, match="document 'b' of index 'i' is refused: 400 mapper_parsing"
    ) as refused:
        Bulk(server).send([put("a", 1), put("b", 2)])
    assert refused.value.record == 2


def test_refused_documents_are_left_out_with_a_warning(
    server: FakeElasticsearch, caplog: pytest.LogCaptureFixture
) -> None:
    server.fault = lambda operation, target: (400, "mapper_parsing_exception") if target["_id"] == "b" else None
    Bulk(server, BulkSettings(on_failure=FailureHandler.IGNORE)).send([put("a", 1), put("b", 2), put("c", 3)])
    assert values(server) == {"a": 1, "c": 3}
    assert "document 'b' of index 'i' is refused" in caplog.text


def test_retry_rejected_goes_on_where_the_back_off_would_end(server: FakeElasticsearch) -> None:
    server.answers = [429] * 30
    Bulk(server, BulkSettings(retries=1, on_failure=FailureHandler.RETRY_REJECTED)).send([put("a", 1)])
    assert values(server) == {"a": 1}


def test_an_older_version_does_not_replace_a_newer_one_and_is_a_success(server: FakeElasticsearch) -> None:
    newer: dict[str, Any] = {"version": 7, "version_type": "external_gte"}
    Bulk(server).send([put("a", 1, **newer), put("a", 2, **{**newer, "version": 6})])
    assert values(server) == {"a": 1}


def test_a_conflict_without_versions_is_a_refusal(server: FakeElasticsearch) -> None:
    server.fault = lambda *action: (409, "version_conflict_engine_exception")
    with pytest.raises(RecordRejectedError, match="409 version_conflict"):
        Bulk(server).send([put("a", 1)])


def test_deleting_what_is_not_there_is_a_success(server: FakeElasticsearch) -> None:
    Bulk(server).send([delete("none")])
    assert values(server) == {}


def test_no_server_is_named_with_the_option(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    bulk = BulkRequests(HttpSettings(("http://127.0.0.1:9", "http://127.0.0.1:19")), BulkSettings())
    with pytest.raises(SinkConnectionError, match=r"no host of 'hosts' answers \(http://127.0.0.1:9: .*:19: .*refused"):
        bulk.send([put("a", 1)])


def test_another_host_takes_over(server: FakeElasticsearch) -> None:
    hosts = HttpSettings(("http://127.0.0.1:9", server.url))
    BulkRequests(hosts, BulkSettings()).send([put("a", 1)])
    assert values(server) == {"a": 1}


@pytest.mark.parametrize("password", [None, "wrongszy7w"])
def test_a_wrong_password_is_named_and_not_shown(server: FakeElasticsearch, password: str | None) -> None:
    server.password = "right"
    user: dict[str, Any] = {"username": "ann", "password": password} if password else {}
    with pytest.raises(SinkConnectionError, match="check 'username' and 'password'") as failed:
        Bulk(server, **user).send([put("a", 1)])
    assert "szy7w" not in str(failed.value) + repr(HttpSettings((server.url,), **user))


def test_the_right_password_is_sent(server: FakeElasticsearch) -> None:
    server.password = "right"
    Bulk(server, username="ann", password="right", path_prefix="/v1/").send([put("a", 1)])
    assert values(server) == {"a": 1}
    assert server.paths == ["/v1/_bulk"]


def test_a_request_that_is_too_large_names_the_option(server: FakeElasticsearch) -> None:
    server.answers = [413]
    with pytest.raises(SinkConnectionError, match="'sink.bulk-flush.max-size'"):
        Bulk(server).send([put("a", 1)])


def test_another_kind_of_server_is_told(server: FakeElasticsearch) -> None:
    server.answers = [404]
    with pytest.raises(SinkConnectionError, match="does not answer as Elasticsearch or OpenSearch.*404"):
        Bulk(server).send([put("a", 1)])


def test_a_server_that_sends_nothing_is_given_up(server: FakeElasticsearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scurry.connectors.http.client.RECONNECT_PAUSES", ())
    server.delay = 0.5
    with pytest.raises(SinkConnectionError, match="timed out"):
        Bulk(server, socket_timeout=0.05).send([put("a", 1)])


def test_pauses_of_constant_back_off_do_not_grow() -> None:
    settings = BulkSettings(backoff=BackoffType.CONSTANT, retries=3, delay_ms=200)
    assert list(settings.pauses()) == [0.2, 0.2, 0.2]
    assert list(replace(settings, backoff=BackoffType.EXPONENTIAL).pauses()) == [0.2, 0.4, 0.8]
