"""Series are written to a real Prometheus, by streams and by tables."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scurry.cli.program import run_program
from scurry.common import Configuration
from scurry.common._process.launch import LaunchOptions
from scurry.datastream import StreamExecutionEnvironment
from scurry.datastream.connectors.prometheus import (
    OnErrorBehavior,
    PrometheusSink,
    PrometheusTimeSeries,
    SinkWriterErrorHandlingBehaviorConfiguration,
)
from scurry.errors import JobError, RecordRejectedError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.docs.blocks import PAGES
from support.servers.prometheus import PrometheusServer

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def server() -> Iterator[PrometheusServer]:
    with PrometheusServer() as made:
        yield made


def now() -> int:
    return int(time.time()) * 1000


def environment(parallelism: int) -> StreamExecutionEnvironment:
    settings = {"scurry.runner": "local", "restart-strategy.type": "none"}
    env = StreamExecutionEnvironment(Configuration.from_dict(settings))
    env.set_parallelism(parallelism)
    return env


def series_of(reading: tuple[str, float, int]) -> PrometheusTimeSeries:
    room, degrees, at = reading
    built = PrometheusTimeSeries.builder().with_metric_name("degrees").add_label("room", room)
    return built.add_label("building", "b").add_sample(degrees, at).build()


def test_series_keep_their_order_at_any_parallelism(server: PrometheusServer) -> None:
    begin = now() - 1_000_000
    readings = [(f"r{number % 3}", float(number), begin + number * 1000) for number in range(900)]
    env = environment(2)
    sink = (
        PrometheusSink.builder().set_prometheus_remote_write_url(server.url).set_max_batch_size_in_samples(50).build()
    )
    env.from_collection(readings).map(series_of).key_by(lambda series: str(series.key)).sink_to(sink)
    env.execute()
    found = server.samples("degrees")
    assert {label: [value for _, value in samples] for label, samples in found.items()} == {
        f"building=b,room=r{room}": [float(number) for number in range(900) if number % 3 == room] for room in range(3)
    }


def test_a_repeated_batch_leaves_no_duplicates(server: PrometheusServer) -> None:
    at = now() - 100_000
    for _ in range(2):
        env = environment(1)
        env.from_collection([("r", float(n), at + n * 1000) for n in range(5)]).map(
            lambda reading: PrometheusTimeSeries.builder().with_metric_name("again").add_sample(*reading[1:]).build()
        ).sink_to(PrometheusSink.builder().set_prometheus_remote_write_url(server.url).build())
        env.execute()
    assert [value for _, value in server.samples("again")[""]] == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_samples_that_are_too_old_are_left_out_or_fail_the_job(
    server: PrometheusServer, caplog: pytest.LogCaptureFixture
) -> None:
    def write(value: float, at: int, fails: bool) -> None:
        builder = PrometheusSink.builder().set_prometheus_remote_write_url(server.url)
        if fails:
            configured = SinkWriterErrorHandlingBehaviorConfiguration(
                on_prometheus_non_retryable_error=OnErrorBehavior.FAIL
            )
            builder.set_error_handling_behavior_configuration(configured)
        env = environment(1)
        made = builder.set_element_converter(
            lambda pair: PrometheusTimeSeries.builder().with_metric_name("old").add_sample(*pair).build()
        ).build()
        env.from_collection([(value, at)]).sink_to(made)
        env.execute()

    write(1.0, now() - 1000, False)
    write(2.0, now() - 7_000_000, False)
    assert "a request with 1 samples is left out" in caplog.text and "answered 400" in caplog.text
    with pytest.raises((JobError, RecordRejectedError), match="answered 400"):
        write(2.0, now() - 7_000_000, True)
    assert [value for _, value in server.samples("old")[""]] == [1.0]


def test_tables(server: PrometheusServer) -> None:
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("scurry.runner", "local")
    env.get_config().set("table.local-time-zone", "UTC")
    env.execute_sql(
        "CREATE TABLE m (name STRING, room STRING, v DECIMAL(5, 2), t TIMESTAMP_LTZ(3)) WITH ("
        "'connector' = 'prometheus', 'metric.name' = 'name', 'metric.label.keys' = 'room', 'metric.sample.key' = 'v', "
        f"'metric.sample.timestamp' = 't', 'metric.endpoint-url' = '{server.url}', "
        "'metric.header.X-Scope' = 'tests')"
    )
    at = now() - 5000
    env.execute_sql(f"INSERT INTO m VALUES ('of_tables', 'a', 1.25, TO_TIMESTAMP_LTZ({at}, 3))").wait()
    assert server.samples("of_tables") == {"room=a": [(at / 1000, 1.25)]}


def test_the_program_of_the_page(server: PrometheusServer, tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGES["connectors/prometheus.md"], re.MULTILINE | re.DOTALL)
    file = tmp_path / "program.py"
    file.write_text(
        program.replace("localhost:9090", f"127.0.0.1:{server.port}").replace('"degrees")', '"page_degrees")')
    )
    assert run_program(file, [], LaunchOptions(runner="local", parallelism=1), debug=False) == 0
    found = {label: [value for _, value in samples] for label, samples in server.samples("page_degrees").items()}
    assert found == {"room=hall": [20.5], "room=attic": [27.25]}
