"""Requests of Remote Write: their form, repetitions, and what is refused; a server in this process answers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow as pa
import pytest

from scurry.connectors.http.requests import Retries
from scurry.connectors.prometheus.series import PrometheusTimeSeries, _request
from scurry.connectors.prometheus.sink import PrometheusSink
from scurry.connectors.sink import COUNTED, RETRIES, SEND_ERRORS, WriterContext
from scurry.datastream.connectors.prometheus import PrometheusSink as PublicSink
from scurry.datastream.connectors.prometheus import RetryConfiguration
from scurry.errors import ArgumentError, ArgumentTypeError, RecordRejectedError, SinkConnectionError, ValidationError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.servers.process import free_ports

ONCE = Retries(2, 0.0, 1.0, 0.0)


class Receiver:
    """Keeps requests, and answers with the statuses that a test gives, then with 204."""

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], Any]] = []
        self.statuses: list[int] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # noqa: N802 - a name that the base class calls
                body = self.rfile.read(int(self.headers["Content-Length"]))
                length = 4 * len(body) + 1000
                plain = pa.Codec("snappy").decompress(body, _length(body) or length, asbytes=True)
                receiver.requests.append((dict(self.headers), _request().FromString(plain)))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Log nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/api/v1/write"


def _length(body: bytes) -> int:
    length, shift = 0, 0
    for byte in body:
        length |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return length


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.server.shutdown()
    made.server.server_close()


def series(name: str = "m", value: float = 1.0, count: int = 1, **labels: str) -> PrometheusTimeSeries:
    made = PrometheusTimeSeries.builder().with_metric_name(name)
    for label, text in labels.items():
        made.add_label(label, text)
    for number in range(count):
        made.add_sample(value, 1000 + number)
    return made.build()


def write(sink: PrometheusSink, *records: Any) -> None:
    writer = sink.create_writer(WriterContext(0, 1, 0, "job/1"))
    writer.write(list(records))
    assert writer.prepare_commit() == []


def test_a_request_is_as_the_protocol_has_it(receiver: Receiver) -> None:
    write(PrometheusSink(receiver.url, headers={"X-More": "1"}), series(zone="z", Area="a"))
    ((headers, request),) = receiver.requests
    assert headers["Content-Encoding"] == "snappy" and headers["Content-Type"] == "application/x-protobuf"
    assert headers["X-Prometheus-Remote-Write-Version"] == "0.1.0" and headers["X-More"] == "1"
    labels = [(each.name, each.value) for each in request.timeseries[0].labels]
    assert labels == [("Area", "a"), ("__name__", "m"), ("zone", "z")]
    assert [(each.value, each.timestamp) for each in request.timeseries[0].samples] == [(1.0, 1000)]


def test_requests_have_as_many_samples_as_allowed(receiver: Receiver) -> None:
    write(PrometheusSink(receiver.url, most_samples=4), *[series(count=2) for _ in range(5)])
    assert [len(request.timeseries) for _, request in receiver.requests] == [2, 2, 1]
    with pytest.raises(RecordRejectedError, match="has 5 samples, and a request 4 at most"):
        write(PrometheusSink(receiver.url, most_samples=4), series(count=5))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_request_is_repeated(receiver: Receiver, status: int) -> None:
    receiver.statuses = [status, status]
    write(PrometheusSink(receiver.url, retries=ONCE), series())
    assert len(receiver.requests) == 3
    receiver.statuses = [status] * 3
    with pytest.raises(SinkConnectionError, match=f"answered {status}"):
        write(PrometheusSink(receiver.url, retries=ONCE), series())
    receiver.statuses = [status] * 3
    write(PrometheusSink(receiver.url, retries=ONCE, drops_unsent=True), series())


def test_series_that_are_refused_are_counted(receiver: Receiver) -> None:
    counts = Counter[str]()
    token = COUNTED.set(lambda metric, count: counts.update({metric: count}))
    receiver.statuses = [503, 400]
    write(PrometheusSink(receiver.url, retries=ONCE), series(), series("n"))
    COUNTED.reset(token)
    assert counts == {RETRIES: 1, SEND_ERRORS: 2}


@pytest.mark.parametrize(("status", "text"), [(401, "credentials"), (403, "credentials"), (404, "check the path")])
def test_what_no_repetition_mends_fails_the_job(receiver: Receiver, status: int, text: str) -> None:
    receiver.statuses = [status]
    with pytest.raises(SinkConnectionError, match=f"answered {status}.*{text}"):
        write(PrometheusSink(receiver.url, retries=ONCE, drops_unsent=True), series())
    assert len(receiver.requests) == 1


def test_a_server_that_is_not_there_is_named() -> None:
    url = f"http://ann:wzy7w@127.0.0.1:{free_ports(1)[0]}/api/v1/write"
    with pytest.raises(ArgumentError, match="has neither user nor path") as refused:
        PublicSink.builder().set_prometheus_remote_write_url(url).build()
    assert "zy7w" not in str(refused.value)
    with pytest.raises(SinkConnectionError, match="no server answers at http://127.0.0.1.*check the address") as caught:
        write(PrometheusSink(url.replace("ann:wzy7w@", ""), retries=ONCE), series())
    assert "\n" not in str(caught.value)


def test_what_is_no_series_is_refused(receiver: Receiver) -> None:
    with pytest.raises(ArgumentTypeError, match="records of PrometheusTimeSeries, got 7"):
        write(PrometheusSink(receiver.url), 7)
    named = series(a="b")
    wrong: list[tuple[Callable[[], Any], str]] = [
        (PrometheusTimeSeries.builder().build, "has no metric name"),
        (PrometheusTimeSeries.builder().with_metric_name("m").build, "has no sample"),
        (lambda: series(__a="b"), "has a label '__a'"),
        (lambda: series(a=""), "is a text, not empty"),
        (PrometheusTimeSeries.builder_from(named).add_label("a", "c").add_sample(1, 2).build, "twice"),
    ]
    for build, text in wrong:
        with pytest.raises(ArgumentError, match=text):
            build()


def test_retries_have_pauses() -> None:
    assert list(RetryConfiguration(10, 30, 4)._retries.pauses()) == [0.01, 0.02, 0.03, 0.03]
    with pytest.raises(ArgumentError, match="pauses from 1 ms on"):
        RetryConfiguration(0)


COLUMNS = "(n STRING, l STRING, v DOUBLE, t TIMESTAMP(3))"
OPTIONS = {
    "metric.name": "n", "metric.label.keys": "l", "metric.sample.key": "v", "metric.sample.timestamp": "t",
    "metric.endpoint-url": "http://h/api/v1/write",
}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metric.name": "x"}, r"x is not a valid Prometheus metric config key, valid keys are: \[n, l, v, t\]"),
        ({"metric.sample.key": "l"}, "column 'l' of a table of Prometheus must be a number"),
        ({"metric.label.keys": "v"}, "column 'v' of a table of Prometheus must be a STRING"),
        ({"metric.request-signer": "amazon"}, "is a class of Java"),
        ({"metric.endpoint-url": "ftp://h"}, "is no address of a host"),
        ({"sink.batch.max-size": "0"}, "must be 1 or more"),
    ],
)
def test_options_that_cannot_work(options: dict[str, str], text: str) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    given = ", ".join(f"'{key}' = '{value}'" for key, value in (OPTIONS | options).items())
    env.execute_sql(f"CREATE TABLE m {COLUMNS} WITH ('connector' = 'prometheus', {given})")
    with pytest.raises(ValidationError, match=text):
        env.execute_sql("INSERT INTO m VALUES ('a', 'b', 1.0, TIMESTAMP '2020-01-01 00:00:00')")
    with pytest.raises(ValidationError, match="can only be used as a sink"):
        env.execute_sql("SELECT * FROM m")
