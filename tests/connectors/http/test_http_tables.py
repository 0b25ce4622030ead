"""Tables over HTTP: lookups and sinks, on a server in this process."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scurry.cli.program import run_program
from scurry.common._process.launch import LaunchOptions
from scurry.common.types import Row
from scurry.connectors.http.requests import HttpRequests, HttpSession, Retries, Statuses
from scurry.connectors.http.sink import HttpSink
from scurry.connectors.lookup_cache import CacheSettings
from scurry.connectors.sink import WriterContext
from scurry.errors import ArgumentError, JobError, ScurryError, SinkConnectionError, ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.connectors.http.lookup import HttpTableSource
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.formats.message_format import bound_format
from scurry.sql.types import DataType, DecimalType, IntType, VarCharType
from scurry.sql.types.values import batch_of_columns, from_values
from scurry.table import EnvironmentSettings, TableEnvironment
from support.docs.blocks import PAGES
from support.servers.fake_http import FakeHttp, Request


@pytest.fixture
def server() -> Iterator[FakeHttp]:
    with FakeHttp() as fake:
        yield fake


@pytest.fixture
def env() -> TableEnvironment:
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    made.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    made.execute_sql(
        "CREATE TEMPORARY VIEW s AS SELECT *, PROCTIME() AS p FROM (VALUES (1, 'a'), (2, 'b c')) AS x(k, v)"
    )
    return made


def define(env: TableEnvironment, server: FakeHttp, columns: str, connector: str = "http", **options: str) -> None:
    given = {"connector": connector, "url": f"{server.url}/people?fixed=1", "format": "json"} | {
        key.replace("__", "-").replace("_", "."): value for key, value in options.items()
    }
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    env.execute_sql(f"CREATE TABLE t ({columns}) WITH ({listed})")


QUICK = {"http_source_lookup_retry__strategy_fixed__delay_delay": "1 ms"}


def joined(env: TableEnvironment, on: str = "t.k = s.k", what: str = "s.k, t.name") -> list[Row]:
    with env.execute_sql(f"SELECT {what} FROM s JOIN t FOR SYSTEM_TIME AS OF s.p ON {on}").collect() as found:
        return sorted(found, key=str)


def test_keys_are_parameters_of_get(env: TableEnvironment, server: FakeHttp) -> None:
    server.answer = lambda request: (200, {"k": int(request.query["k"]), "v": request.query["v"], "name": "x"})
    define(env, server, "k INT, v STRING, name STRING", http_source_lookup_header_X__Key="s3cret")
    assert joined(env, "t.k = s.k AND t.v = s.v") == [Row(1, "x"), Row(2, "x")]
    asked = sorted(server.requests, key=lambda request: request.query["k"])
    assert [request.query for request in asked] == [
        {"fixed": "1", "k": "1", "v": "a"}, {"fixed": "1", "k": "2", "v": "b c"},
    ]  # fmt: skip
    assert {(request.method, request.path, request.headers["X-Key"]) for request in asked} == {
        ("GET", "/people", "s3cret")
    }


def rows_found(server: FakeHttp, kind: DataType, key: Any, times: int) -> list[int]:
    """Look up a key some times with a cache; return how many rows there were each time."""
    form = bound_format(
        Options({}), "", "json", (FormatColumn("k", kind), FormatColumn("name", VarCharType(9))), "scan"
    )
    requests, success = HttpRequests(server.url, "GET"), Statuses("2XX")
    source = HttpTableSource(requests, form, success, Statuses(""), True, CacheSettings(5, None, None, True))
    lookup, keys = source.create_lookup(["k"], ["name"]), batch_of_columns([from_values([key], kind)], ["k"], 1)
    lookup.open()
    found = [lookup.lookup(keys)[1].num_rows for _ in range(times)]
    lookup.close()
    return found


def test_a_decimal_is_asked_for_as_it_is(server: FakeHttp) -> None:
    server.answer = lambda request: (200, {"name": "x"})
    key = "123456789012345678901234567.125"
    assert rows_found(server, DecimalType(30, 3), Decimal(key), 1) == [1]
    assert [request.query["k"] for request in server.requests] == [key]


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_keys_are_the_body_of_other_methods(env: TableEnvironment, server: FakeHttp, method: str) -> None:
    server.answer = lambda request: (200, [{"name": f"{request.body['k']}-{n}"} for n in range(2)])
    define(env, server, "k INT, name STRING", lookup__method=method)
    assert joined(env) == [Row(1, "1-0"), Row(1, "1-1"), Row(2, "2-0"), Row(2, "2-1")]
    assert {request.method for request in server.requests} == {method}


def test_an_empty_answer_has_no_rows(env: TableEnvironment, server: FakeHttp) -> None:
    define(env, server, "k INT, name STRING")
    assert joined(env) == []


def test_statuses_say_what_happens(env: TableEnvironment, server: FakeHttp) -> None:
    statuses = iter([503, 500, 404, 203])
    server.answer = lambda request: (next(statuses), {"name": "x"})
    define(env, server, "k INT, name STRING", http_source_lookup_ignored__response__codes="404", **QUICK)
    assert joined(env) == [Row(2, "x")]
    assert len(server.requests) == 4


def test_a_lookup_that_fails_fails_the_job(env: TableEnvironment, server: FakeHttp) -> None:
    server.answer = lambda request: (401, {"why": "token=szy7w is wrong"})
    define(env, server, "k INT, name STRING", http_source_lookup_header_Authorization="Bearer szy7wszy7w")
    with pytest.raises(JobError, match=r"GET http://\S+/people was answered 401.*'http.source.lookup.header") as failed:
        joined(env)
    assert "szy7w" not in str(failed.value)


def test_a_lookup_that_fails_is_left_out(
    env: TableEnvironment, server: FakeHttp, caplog: pytest.LogCaptureFixture
) -> None:
    server.answer = lambda request: (400, None) if request.query["k"] == "1" else (200, {"name": "x"})
    define(env, server, "k INT, name STRING", http_source_lookup_continue__on__error="true")
    assert joined(env) == [Row(2, "x")]
    assert "answered 400" in caplog.text


def test_retries_end(env: TableEnvironment, server: FakeHttp) -> None:
    server.answer = lambda request: (503, None)
    define(env, server, "k INT, name STRING", lookup_max__retries="2", **QUICK)
    with pytest.raises(JobError, match="answered 503"):
        joined(env)
    assert len(server.requests) == 3


def test_answers_that_are_no_rows_are_named(env: TableEnvironment, server: FakeHttp) -> None:
    server.answer = lambda request: (200, b"<html>")
    define(env, server, "k INT, name STRING")
    with pytest.raises(JobError, match=r"answer of http://\S+/people"):
        joined(env)


def test_rows_are_cached(env: TableEnvironment, server: FakeHttp) -> None:
    server.answer = lambda request: (200, {"name": "x"})
    cached = {"lookup_cache": "PARTIAL", "lookup_partial__cache_max__rows": "5"}
    define(env, server, "k INT, name STRING", **cached)
    env.execute_sql("CREATE TEMPORARY VIEW many AS SELECT 1 AS k, PROCTIME() AS p FROM (VALUES 1, 2, 3) AS x(n)")
    query = "SELECT t.name FROM many AS s JOIN t FOR SYSTEM_TIME AS OF s.p ON t.k = s.k"
    with env.execute_sql(query).collect() as found:
        assert list(found) == [Row("x")] * 3
    assert len(server.requests) == 1


def test_a_key_that_could_not_be_asked_for_is_not_cached_as_one_without_rows(server: FakeHttp) -> None:
    statuses = iter([400, 200])
    server.answer = lambda request: (next(statuses), {"name": "x"})
    assert rows_found(server, IntType(), 1, 3) == [0, 1, 1]
    assert len(server.requests) == 2


def test_a_scan_is_refused(env: TableEnvironment, server: FakeHttp) -> None:
    define(env, server, "k INT, name STRING")
    with pytest.raises(ScurryError, match="is only looked up: JOIN it FOR SYSTEM_TIME"):
        list(env.execute_sql("SELECT * FROM t").collect())


def written(server: FakeHttp) -> list[Any]:
    return sorted(row["k"] for request in server.requests for row in request.body)


def insert(env: TableEnvironment, count: int) -> None:
    env.execute_sql(f"INSERT INTO t VALUES {', '.join(f'({n})' for n in range(count))}").wait()


def test_rows_are_sent_in_batches(env: TableEnvironment, server: FakeHttp) -> None:
    define(env, server, "k INT", "http-async-sink", sink_batch_max__size="4", insert__method="PUT")
    insert(env, 10)
    assert written(server) == list(range(10))
    assert max(len(request.body) for request in server.requests) == 4
    assert {(r.method, r.headers["Content-Type"]) for r in server.requests} == {("PUT", "application/json")}


def test_requests_keep_to_their_size(env: TableEnvironment, server: FakeHttp) -> None:
    define(env, server, "k INT", "http-async-sink", sink_flush__buffer_size="17 bytes")
    insert(env, 6)
    assert written(server) == list(range(6))
    assert max(len(request.body) for request in server.requests) <= 2


def test_rows_are_sent_one_by_one(env: TableEnvironment, server: FakeHttp) -> None:
    define(env, server, "k INT", "http-async-sink", http_sink_writer_request_mode="single")
    insert(env, 3)
    assert sorted(request.body["k"] for request in server.requests) == [0, 1, 2]


def test_a_request_that_comes_again_has_its_key(env: TableEnvironment, server: FakeHttp, monkeypatch: Any) -> None:
    monkeypatch.setattr("scurry.connectors.http.requests.Retries.pauses", lambda self: iter([0.0] * self.count))
    statuses = iter([503, 429])
    server.answer = lambda request: (next(statuses, 200), None)
    define(env, server, "k INT", "http-async-sink")
    insert(env, 1)
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(keys) == 3
    assert len(set(keys)) == 1


@pytest.mark.parametrize(("status", "fails"), [(400, True), (404, False), (500, True), (301, True), (308, True)])
def test_statuses_of_requests(env: TableEnvironment, server: FakeHttp, status: int, fails: bool) -> None:
    server.answer = lambda request: (status, {"password": "szy7w"})
    own = {"http_sink_error_code_exclude": "404", "sink_max__retries": "0"}
    define(env, server, "k INT", "http-async-sink", **own)
    if fails:
        with pytest.raises(JobError, match=rf"POST http://\S+/people was answered {status}") as failed:
            insert(env, 1)
        assert "szy7w" not in str(failed.value)
    else:
        insert(env, 1)


def test_updates_are_refused(env: TableEnvironment, server: FakeHttp) -> None:
    define(env, server, "k BIGINT", "http-async-sink")
    with pytest.raises(ValidationError, match="writes inserted rows only"):
        env.execute_sql("INSERT INTO t SELECT COUNT(*) FROM s")


@pytest.mark.parametrize(
    ("connector", "options", "message"),
    [
        ("http", {"url": "localhost"}, "no address of a host"),
        ("http", {"format": "csv"}, "bodies are JSON"),
        ("http", {"http_source_lookup_retry__codes": "5YY"}, "no status of HTTP"),
        ("http", {"lookup__method": "DELETE"}, "lookup-method"),
        ("http-async-sink", {"sink_batch_max__size": "0"}, "must be at least 1"),
        ("http-async-sink", {"url": "ftp://h"}, "no address of a host"),
        ("http-async-sink", {"sink_batch_max__sise": "1"}, "did you mean 'sink.batch.max-size'"),
    ],
)
def test_wrong_options_are_refused(
    env: TableEnvironment, server: FakeHttp, connector: str, options: dict[str, str], message: str
) -> None:
    define(env, server, "k INT, name STRING", connector, **options)
    with pytest.raises(ScurryError) as refused:
        joined(env) if connector == "http" else env.execute_sql("INSERT INTO t VALUES (1, 'a')")
    assert message in str(refused.value) + str(getattr(refused.value, "__notes__", ""))


def test_a_redirection_is_named(env: TableEnvironment, server: FakeHttp) -> None:
    server.answer = lambda request: (301, None)
    define(env, server, "k INT", "http-async-sink")
    with pytest.raises(JobError, match="answered 301.*set 'url' to that address"):
        insert(env, 1)
    assert len(server.requests) == 1


@pytest.mark.parametrize("retries", [0, 2])
def test_a_request_without_an_answer_is_sent_as_often_as_the_retries_say(server: FakeHttp, retries: int) -> None:
    def late(request: Request) -> tuple[int, Any]:
        time.sleep(0.3)
        return 200, None

    requests = HttpRequests(server.url, "POST", timeout=0.05, retries=Retries(retries))
    session = HttpSession(requests, lambda pause: None)
    server.answer = lambda request: (200, None)
    session.send(b"0")  # the connection stays open
    server.answer = late
    with pytest.raises(ConnectionError):
        session.send(b"1")
    assert [request.body for request in server.requests] == [0, *[1] * (retries + 1)]


def test_no_server_is_named(env: TableEnvironment, server: FakeHttp) -> None:
    define(env, server, "k INT", "http-async-sink", url="http://127.0.0.1:9", sink_max__retries="0")
    with pytest.raises(JobError, match="no server answers at 'url'"):
        insert(env, 1)


@pytest.mark.parametrize(
    ("text", "status", "is_in"),
    [("2XX", 204, True), ("2XX", 300, False), ("404", 404, True), ("4XX,!404", 404, False), ("4xx, 500", 500, True),
     ("", 200, False), ("!404", 500, False)],
)  # fmt: skip
def test_sets_of_statuses(text: str, status: int, is_in: bool) -> None:
    assert (status in Statuses(text)) == is_in


def test_what_is_no_status_is_refused() -> None:
    with pytest.raises(ArgumentError, match="'600' is no status"):
        Statuses("200,600")


def test_pauses_grow_up_to_the_longest(server: FakeHttp) -> None:
    server.answer = lambda request: (503, None)
    waited: list[float] = []
    requests = HttpRequests(server.url, "GET", retries=Retries(4, 1.0, 2.0, 5.0))
    assert HttpSession(requests, waited.append).send().status == 503
    assert waited == [1.0, 2.0, 4.0, 5.0]


def keys_of(server: FakeHttp, batch: int, values: list[str]) -> list[str]:
    sink = HttpSink(HttpRequests(server.url, "POST"), lambda each: [json.dumps(v).encode() for v in each], 1)
    writer = sink.create_writer(WriterContext(0, 1, batch, "sink"))
    before = len(server.requests)
    writer.write(values)
    writer.prepare_commit()
    return [request.headers["Idempotency-Key"] for request in server.requests[before:]]


def test_a_repeated_batch_has_the_keys_of_its_requests_and_other_requests_have_others(server: FakeHttp) -> None:
    first = keys_of(server, 7, ["a", "b", "a"])
    assert len(set(first)) == 3
    assert keys_of(server, 7, ["a", "b", "a"]) == first
    assert not set(keys_of(server, 8, ["a", "b", "a"])) & set(first)
    assert keys_of(server, 7, ["c", "b"])[1] == first[1]


def test_a_server_that_breaks_off_is_an_error() -> None:
    sink = HttpSink(HttpRequests("http://127.0.0.1:9", "POST", retries=Retries(0)), lambda each: [b"1"] * len(each), 1)
    with pytest.raises(SinkConnectionError, match="'url'"):
        sink.create_writer(WriterContext(0, 1, 1, "sink")).write(["a"])


def test_the_page_is_right(server: FakeHttp, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def answer(request: Request) -> tuple[int, Any]:
        if request.method == "POST":
            return 200, None
        names = {"1": "Ann", "2": "Bob"}
        found = names.get(request.query["id"])
        return (404, None) if found is None else (200, {"id": int(request.query["id"]), "name": found})

    server.answer = answer
    page = PAGES["connectors/http.md"]
    (program,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (sent,) = re.findall(r"^```json\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    file = tmp_path / "program.py"
    file.write_text(program.replace("http://localhost:8080", server.url))
    status = run_program(file, [], LaunchOptions(runner="local", parallelism=1), debug=False)
    assert status == 0, capfd.readouterr().err
    (request,) = [request for request in server.requests if request.method == "POST"]
    assert request.body == json.loads(sent)
