"""Metric reporters by Flink's keys: what they send, and which there are."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from scurry.common import Configuration, JobStatus
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ConfigError, UnsupportedError
from scurry.rest.reporters import Reporting
from scurry.rest.reporters.senders import PrometheusReporter
from support.rest.fake_jobs import FakeJob, as_job

FLINK = "org.apache.flink.metrics"


def settings(kind: str, **options: str) -> dict[str, str]:
    own = {key.replace("_", "."): value for key, value in options.items()}
    options = {"factory.class": f"{FLINK}.{kind}", "interval": "100 ms", **own}
    return {f"metrics.reporter.mine.{key}": value for key, value in options.items()}


class Received(HTTPServer):
    """A server that keeps what it gets: method, path, body."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.requests: list[tuple[str, str, bytes]] = []
        self.came = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answer(BaseHTTPRequestHandler):
    server: Received

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append((self.command, self.path, body))
        self.send_response(200)
        self.end_headers()
        self.server.came.set()

    do_PUT = do_POST = do_DELETE = answer  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None:
        return


@pytest.fixture
def server() -> Iterator[Received]:
    server = Received()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def counted(job: FakeJob) -> FakeJob:
    sums = next(iter(job.execution.plan.operators))
    job.execution.subtasks = {sums: {"numRecordsOut": {0: 30}}}
    job.metrics = {"sums.delta": -7}
    return job


def ended(job: FakeJob) -> None:
    """End a job, and wait for its reporters."""
    job.end(JobStatus.FINISHED)
    for thread in threading.enumerate():
        if thread.name == "scurry-mine":
            thread.join(20)


def test_prometheus_scrapes_the_port_without_a_token(counted: FakeJob) -> None:
    reporting = Reporting(settings("prometheus.PrometheusReporterFactory", port="0"))
    (reporter,) = reporting._reporters
    assert isinstance(reporter, PrometheusReporter)
    reporting.serve(as_job(counted))
    with urllib.request.urlopen(f"http://127.0.0.1:{reporter.port}/metrics", timeout=120) as answer:
        text = answer.read().decode()
    ended(counted)
    assert 'operator_name="sums",subtask_index="0"} 30\n' in text
    assert text.startswith("# TYPE flink_jobmanager_job_numRestarts gauge\n") or "flink_jobmanager_job_uptime" in text


def test_prometheus_takes_the_first_free_port_and_refuses_if_there_is_none() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        with pytest.raises(ConfigError, match=f"metrics.reporter.mine.port = '{port}': none of the ports can be used"):
            Reporting(settings("prometheus.PrometheusReporterFactory", port=port))


def test_the_push_gateway_gets_a_group_that_is_deleted_at_the_end(counted: FakeJob, server: Received) -> None:
    options = {"hostUrl": server.url, "jobName": "orders/1", "randomJobNameSuffix": "false", "groupingKey": "k=v"}
    Reporting(settings("prometheus.PrometheusPushGatewayReporterFactory", **options)).serve(as_job(counted))
    assert server.came.wait(20)
    ended(counted)
    (method, path, body), *_, last = server.requests
    assert (method, path) == ("PUT", "/metrics/job/orders%2F1/k/v")
    assert b"flink_taskmanager_job_task_operator_numRecordsOut{" in body
    assert last == ("DELETE", path, b"")


def test_statsd_gets_gauges_named_by_flinks_scopes(counted: FakeJob) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.settimeout(20)
        scope = {"metrics.scope.operator": "<job_name>.<operator_name>.<subtask_index>"}
        options = settings("statsd.StatsDReporterFactory", host="127.0.0.1", port=str(listening.getsockname()[1]))
        Reporting({**options, **scope}).serve(as_job(counted))
        found: list[str] = []
        while found.count("orders.sums.0.numRecordsOut:30|g") < 1 or "orders.sums.delta:-7|g" not in found:
            found.append(listening.recv(1000).decode())
        ended(counted)
    # StatsD takes a signed number for a change.
    assert found[found.index("orders.sums.delta:-7|g") - 1] == "orders.sums.delta:0|g"
    assert any(".jobmanager.orders.numRestarts:0|g" in each for each in found)


def test_opentelemetry_gets_otlp_as_json(counted: FakeJob, server: Received) -> None:
    options = {"exporter.endpoint": f"{server.url}/v1/metrics", "exporter.protocol": "HTTP", "service.name": "shop"}
    Reporting(settings("otel.OpenTelemetryMetricReporterFactory", **options)).serve(as_job(counted))
    assert server.came.wait(20)
    ended(counted)
    method, path, body = server.requests[0]
    (resource,) = json.loads(body)["resourceMetrics"]
    assert (method, path) == ("POST", "/v1/metrics")
    assert resource["resource"]["attributes"] == [{"key": "service.name", "value": {"stringValue": "shop"}}]
    metrics = {one["name"]: one["gauge"]["dataPoints"] for one in resource["scopeMetrics"][0]["metrics"]}
    (point,) = metrics["flink.taskmanager.job.task.operator.numRecordsOut"]
    assert point["asDouble"] == 30
    assert {"key": "subtask_index", "value": {"stringValue": "0"}} in point["attributes"]


def test_a_job_goes_on_and_says_once_if_nobody_takes_its_metrics(counted: FakeJob) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        Reporting(settings("prometheus.PrometheusPushGatewayReporterFactory", hostUrl=url)).serve(as_job(counted))
        threading.Event().wait(0.5)
        ended(counted)
    (note,) = counted.execution.log.notes
    assert note.startswith("metrics reporter 'mine' cannot send: ")


def test_only_those_that_are_listed_are_used() -> None:
    assert not Reporting({**settings("no.SuchFactory"), "metrics.reporters": ""})._reporters


def test_one_that_is_listed_without_settings_is_left_out_with_a_warning() -> None:
    with pytest.warns(UserWarning, match="metrics reporter 'prom' has no metrics.reporter.prom.factory.class"):
        assert not Reporting({"metrics.reporters": "prom"})._reporters


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("slf4j.Slf4jReporterFactory", "it writes to a Java logger"),
        ("jmx.JMXReporterFactory", "it serves Java clients from a JVM"),
        ("mine.Factory", "classes of Java cannot be loaded"),
    ],
)
def test_those_that_cannot_work_are_refused_with_the_reason(kind: str, why: str) -> None:
    with pytest.raises(UnsupportedError, match=f"factory.class = .* is not supported: {why}.*; there are Prom"):
        Reporting(settings(kind))


@pytest.mark.parametrize(
    ("kind", "options", "why"),
    [
        ("statsd.StatsDReporterFactory", {}, "metrics.reporter.mine.host: it is required"),
        ("statsd.StatsDReporterFactory", {"host": "127.0.0.1", "prt": "1"}, "mine.prt = '1': .* has no such setting"),
        ("statsd.StatsDReporterFactory", {"host": "127.0.0.1", "interval": "soon"}, "mine.interval = 'soon'"),
        ("otel.OpenTelemetryMetricReporterFactory", {}, "exporter.protocol: gRPC is not supported: set it to HTTP"),
        ("prometheus.PrometheusPushGatewayReporterFactory", {"hostUrl": "x"}, "hostUrl = 'x': expected an address"),
    ],
)
def test_wrong_settings_are_refused_by_name(kind: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        Reporting(settings(kind, **options))


def test_a_program_whose_reporter_is_wrong_does_not_start() -> None:
    values = {"scurry.runner": "local", **settings("jmx.JMXReporterFactory")}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values))
    env.from_collection([1]).print()
    with pytest.raises(UnsupportedError, match="JMXReporterFactory"):
        env.execute()


def test_what_functions_count_is_reported(server: Received) -> None:
    from scurry.datastream.functions import MapFunction, RuntimeContext

    class Priced(MapFunction):
        def open(self, runtime_context: RuntimeContext) -> None:
            self.seen = runtime_context.get_metrics_group().counter("seen")

        def map(self, value: int) -> int:
            self.seen.inc()
            return value

    options = settings("prometheus.PrometheusPushGatewayReporterFactory", hostUrl=server.url, deleteOnShutdown="false")
    values = {"scurry.runner": "local", "scurry.progress": "off", **options}
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(values))
    env.set_parallelism(1)
    env.from_collection([1, 2, 3]).map(Priced()).name("prices").print()
    env.execute("orders")
    for thread in threading.enumerate():
        if thread.name == "scurry-mine":
            thread.join(20)
    lines = server.requests[-1][2].decode().splitlines()
    (seen,) = [line for line in lines if line.startswith("flink_taskmanager_job_task_operator_seen{")]
    assert 'operator_name="prices"' in seen and seen.endswith("} 3")
