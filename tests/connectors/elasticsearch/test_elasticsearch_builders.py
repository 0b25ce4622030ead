"""PyFlink's builders of Elasticsearch sinks."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from typing import Any

import pytest

from scurry.common import Configuration, Row, Types
from scurry.connectors.elasticsearch.bulk import BackoffType, BulkSettings
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors import DeliveryGuarantee
from scurry.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    ElasticsearchSinkBuilderBase,
    FlushBackoffType,
)
from scurry.errors import ArgumentError, ArgumentTypeError, JobError, UnsupportedError
from support.servers.fake_elasticsearch import FakeElasticsearch


@pytest.fixture
def server() -> Iterator[FakeElasticsearch]:
    with FakeElasticsearch() as fake:
        yield fake


def write(records: list[Any], builder: ElasticsearchSinkBuilderBase, kind: Any = None) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"scurry.runner": "local"}))
    env.from_collection(records, kind).sink_to(builder.build())
    env.execute()


def to(server: FakeElasticsearch, emitter: ElasticsearchEmitter) -> Elasticsearch7SinkBuilder:
    return Elasticsearch7SinkBuilder().set_hosts([server.url.removeprefix("http://")]).set_emitter(emitter)


def test_records_with_a_key_update_documents(server: FakeElasticsearch) -> None:
    server.documents["foo"] = {"a": ({"name": "old", "n": 1}, 1)}
    records = [{"name": "ann", "id": "a"}, {"name": "bob", "id": "b"}]
    write(
        records, to(server, ElasticsearchEmitter.static_index("foo", "id")), Types.MAP(Types.STRING(), Types.STRING())
    )
    assert server.contents("foo") == {"a": {"name": "ann", "id": "a", "n": 1}, "b": {"name": "bob", "id": "b"}}


def test_records_without_a_key_are_documents_of_their_own(server: FakeElasticsearch) -> None:
    write([{"v": 1}, {"v": 1}], to(server, ElasticsearchEmitter.static_index("foo")))
    assert [each["v"] for each in server.contents("foo").values()] == [1, 1]


def test_a_field_names_the_index(server: FakeElasticsearch) -> None:
    records = [{"where": "x", "id": 1}, {"where": "y", "id": 2}]
    write(records, to(server, ElasticsearchEmitter.dynamic_index("where", "id")))
    assert {index: list(server.contents(index)) for index in server.documents} == {"x": ["1"], "y": ["2"]}


def test_rows_with_names_are_documents(server: FakeElasticsearch) -> None:
    kind = Types.ROW_NAMED(["id", "v"], [Types.STRING(), Types.INT()])
    write([Row("a", 1)], to(server, ElasticsearchEmitter.static_index("foo", "id")), kind)
    assert server.contents("foo") == {"a": {"id": "a", "v": 1}}


def test_values_have_forms_in_json(server: FakeElasticsearch) -> None:
    day = datetime.datetime(2024, 2, 29, 1, 2, 3)
    record = {"id": 1, "t": day, "d": day.date(), "x": decimal.Decimal("1.5"), "n": decimal.Decimal(2), "b": b"\x01"}
    write([record], to(server, ElasticsearchEmitter.static_index("foo", "id")))
    assert server.contents("foo")["1"] == {
        "id": 1, "t": "2024-02-29T01:02:03", "d": "2024-02-29", "x": 1.5, "n": 2, "b": "AQ==",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("record", "reason"),
    [({"v": 1}, "it has no field 'id'"), ({"id": None}, "it has no field 'id'"), ("text", "a document is a dict"),
     ({"id": 1, "v": float("nan")}, "no JSON"), ({"id": 1, "v": {1, 2}}, "set has no form in JSON")],
)  # fmt: skip
def test_a_record_that_is_no_document_is_named(server: FakeElasticsearch, record: Any, reason: str) -> None:
    with pytest.raises(JobError, match=reason):
        write([record], to(server, ElasticsearchEmitter.static_index("foo", "id")))


def test_elasticsearch_6_gets_the_type(server: FakeElasticsearch) -> None:
    builder = Elasticsearch6SinkBuilder().set_hosts(server.url)
    write([{"id": 1}], builder.set_emitter(ElasticsearchEmitter.static_index("foo", "id", "bar")))
    ((_, target),) = server.requests[0]
    assert target["_type"] == "bar"
    with pytest.raises(ArgumentError, match="give doc_type"):
        builder.set_emitter(ElasticsearchEmitter.static_index("foo", "id")).build()


def test_the_settings_of_flinks_test_are_accepted() -> None:
    builder = (
        Elasticsearch7SinkBuilder()
        .set_emitter(ElasticsearchEmitter.dynamic_index("name", "id"))
        .set_hosts(["localhost:9200"])
        .set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_bulk_flush_max_actions(1)
        .set_bulk_flush_max_size_mb(2)
        .set_bulk_flush_interval(1000)
        .set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 3, 3000)
        .set_connection_username("foo")
        .set_connection_password("szy7w")
        .set_connection_path_prefix("foo-bar")
        .set_connection_request_timeout(30000)
        .set_connection_timeout(31000)
        .set_socket_timeout(32000)
    )
    sink = builder.build()
    assert sink.bulk == BulkSettings(1, 2 << 20, 1000, BackoffType.CONSTANT, 3, 3000)
    assert (sink.hosts.connect_timeout, sink.hosts.socket_timeout, sink.hosts.path_prefix) == (31, 32, "foo-bar")
    assert "szy7w" not in repr(sink)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: b.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE), UnsupportedError, "no transactions"),
        (lambda b: b.set_hosts("ftp://x"), ArgumentError, "no address of a host"),
        (lambda b: b.set_bulk_flush_max_actions(0), ArgumentError, "-1 for no limit"),
        (lambda b: b.set_bulk_flush_interval(-2), ArgumentError, "-1 for no limit"),
        (lambda b: b.set_socket_timeout(0), ArgumentError, "positive number"),
        (lambda b: b.set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 0, 1), ArgumentError, "retries begin"),
        (lambda b: b.set_bulk_flush_backoff_strategy("CONSTANT", 1, 1), ArgumentTypeError, "FlushBackoffType"),
        (lambda b: b.set_emitter("x"), ArgumentTypeError, "ElasticsearchEmitter"),
        (lambda b: b.build(), ArgumentError, "needs set_hosts"),
    ],
)
def test_wrong_settings_are_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(Elasticsearch7SinkBuilder())
