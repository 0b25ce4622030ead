"""Sinks count requests that they sent again, and records that were left out."""

from __future__ import annotations

from typing import Any

from scurry.connectors.sink import COUNTED
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.fake_elasticsearch import FakeElasticsearch
from support.servers.fake_http import FakeHttp


def counted(options: str) -> dict[str, int]:
    """The metrics of a sink of three rows that are not of all sinks."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.execute_sql(f"CREATE TABLE t (k STRING, n INT) WITH ({options})")
    result = env.execute_sql("INSERT INTO t VALUES ('a', 1), ('b', 2), ('c', 3)")
    result.wait()
    job: Any = result.get_job_client()
    metrics = job.get_metrics().result().items()
    of_sink = {name.rpartition(".")[2]: value for name, value in metrics if name.startswith("Sink")}
    return {name: value for name, value in of_sink.items() if "Send" in name}


def test_elasticsearch() -> None:
    with FakeElasticsearch() as server:
        server.answers = [429, 503]
        refused = iter([(400, "mapper_parsing_exception")])
        server.fault = lambda operation, target: next(refused, None)
        options = f"'connector' = 'elasticsearch-7', 'hosts' = '{server.url}', 'index' = 'i', "
        options += "'failure-handler' = 'ignore', 'sink.bulk-flush.backoff.strategy' = 'CONSTANT', "
        options += "'sink.bulk-flush.backoff.delay' = '1 ms'"
        assert counted(options) == {"numSendRetries": 2, "numRecordsSendErrors": 1}
        assert len(server.contents("i")) == 2


def test_http() -> None:
    with FakeHttp() as server:
        statuses = iter([503])
        server.answer = lambda request: (next(statuses, 200), None)
        options = f"'connector' = 'http-async-sink', 'url' = '{server.url}', 'format' = 'json'"
        assert counted(options) == {"numSendRetries": 1}


def test_sinks_that_repeat_nothing_count_nothing() -> None:
    with FakeHttp() as server:
        assert counted(f"'connector' = 'http-async-sink', 'url' = '{server.url}', 'format' = 'json'") == {}


def test_what_is_counted_outside_of_sinks_goes_nowhere() -> None:
    COUNTED.get()("numSendRetries", 1)
