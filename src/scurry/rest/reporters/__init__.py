"""Metric reporters: they send the metrics of a job elsewhere while it runs, configured by Flink's keys."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from http.client import HTTPException
from typing import TYPE_CHECKING

from scurry.common._config.rest import REPORTERS
from scurry.errors import UnsupportedError
from scurry.rest.job import ServedJob
from scurry.rest.reporters.contract import PREFIX, Reporter, ReporterOptions
from scurry.rest.reporters.senders import OpenTelemetryReporter, PrometheusReporter, PushGatewayReporter, StatsDReporter

if TYPE_CHECKING:
    from scurry.runtime.driver.client import RunningJob

__all__ = ["Reporting"]

#: Nobody answers, or not in HTTP.
_NOT_SENT = (OSError, HTTPException)


class Reporting:
    """The reporters of a job.

    They are made before the job starts, so that a wrong setting cannot fail a running job; one that cannot send does
    not disturb the job, whose log says so once.

    Args:
        configuration: The settings of the job.

    Raises:
        ConfigError: A reporter cannot be made as configured.
    """

    def __init__(self, configuration: Mapping[str, str]) -> None:
        self._reporters: Sequence[Reporter] = reporters_of(configuration)

    def serve(self, client: RunningJob) -> None:
        """Report until a job is over, and once more then."""
        job = ServedJob(client, int(time.time() * 1000))
        over = threading.Event()
        client.get_job_execution_result().add_done_callback(lambda _: over.set())
        for reporter in self._reporters:
            arguments = (reporter, job, over)
            threading.Thread(target=_report, args=arguments, name=f"scurry-{reporter.name}", daemon=True).start()

    def close(self) -> None:
        """Close the reporters of a job that was not started."""
        for reporter in self._reporters:
            reporter.close()


def _report(reporter: Reporter, job: ServedJob, over: threading.Event) -> None:
    silent = False
    reporter.open(job)
    while True:
        last = over.wait(reporter.interval)
        try:
            reporter.report(job)
        except _NOT_SENT as error:
            if not silent:
                job.client.execution.log.note(f"metrics reporter {reporter.name!r} cannot send: {error}")
            silent = True
        if last:
            break
    try:
        reporter.close()
    except _NOT_SENT:  # reported before, or no longer relevant
        return


_FLINK = "org.apache.flink.metrics."

#: Flink's factories -> the reporter here.
_FACTORIES: dict[str, type[Reporter]] = {
    f"{_FLINK}prometheus.PrometheusReporterFactory": PrometheusReporter,
    f"{_FLINK}prometheus.PrometheusPushGatewayReporterFactory": PushGatewayReporter,
    f"{_FLINK}statsd.StatsDReporterFactory": StatsDReporter,
    f"{_FLINK}otel.OpenTelemetryMetricReporterFactory": OpenTelemetryReporter,
}
_OTHERS = {
    f"{_FLINK}slf4j.Slf4jReporterFactory": "it writes to a Java logger, and there is none",
    f"{_FLINK}jmx.JMXReporterFactory": "it serves Java clients from a JVM, and the job is a Python process",
    f"{_FLINK}graphite.GraphiteReporterFactory": "it is not built",
    f"{_FLINK}influxdb.InfluxdbReporterFactory": "it is not built",
    f"{_FLINK}datadog.DatadogHttpReporterFactory": "it is not built",
}


def reporters_of(configuration: Mapping[str, str]) -> list[Reporter]:
    """Return the reporters that a configuration names: those of `metrics.reporters`, or all that are configured.

    Raises:
        ConfigError: A setting is missing, unknown or wrong.
        UnsupportedError: There is no such reporter here.
    """
    found: dict[str, dict[str, str]] = {}
    for key, value in configuration.items():
        name, dot, rest = key.removeprefix(PREFIX).partition(".")
        if key.startswith(PREFIX) and dot:
            found.setdefault(name, {})[rest] = value
    listed = REPORTERS.parse(configuration[REPORTERS.key]) if REPORTERS.key in configuration else list(found)
    for name in listed:
        if name not in found:  # as in Flink, which ignores it
            warnings.warn(
                f"metrics reporter {name!r} has no {PREFIX}{name}.factory.class: it is left out", stacklevel=2
            )
    made: list[Reporter] = []
    try:
        for name in filter(found.__contains__, listed):
            made.append(_made(ReporterOptions(name, found[name], configuration)))
    except BaseException:
        for each in made:
            each.close()
        raise
    return made


def _made(options: ReporterOptions) -> Reporter:
    factory = options.text("factory.class")
    if factory not in _FACTORIES:
        names = ", ".join(name.rpartition(".")[2] for name in _FACTORIES)
        reason = _OTHERS.get(factory, "classes of Java cannot be loaded")
        raise UnsupportedError(
            f"configuration {PREFIX}{options.name}.factory.class = {factory!r} is not supported: {reason}; there are "
            f"{names}"
        )
    kind = _FACTORIES[factory]
    known = ("factory.class", "interval", *kind.KEYS)
    for key in options.values:
        if key not in known:
            raise options.wrong(
                key, f"{factory.rpartition('.')[2]} has no such setting here; it has {', '.join(known)}"
            )
    return kind(options)
