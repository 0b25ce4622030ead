"""Make the reporters that a configuration names."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Mapping

from scurry.common._config.metrics import REPORTERS
from scurry.errors import UnsupportedError
from scurry.rest.reporters.contract import PREFIX, Reporter, ReporterOptions

_FLINK = "org.apache.flink.metrics."

#: Flink's factories -> module and class of the reporter here.
_FACTORIES = {
    f"{_FLINK}prometheus.PrometheusReporterFactory": ("prometheus", "PrometheusReporter"),
    f"{_FLINK}prometheus.PrometheusPushGatewayReporterFactory": ("pushgateway", "PushGatewayReporter"),
    f"{_FLINK}statsd.StatsDReporterFactory": ("statsd", "StatsDReporter"),
    f"{_FLINK}otel.OpenTelemetryMetricReporterFactory": ("opentelemetry", "OpenTelemetryReporter"),
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
    module, name = _FACTORIES[factory]
    kind: type[Reporter] = getattr(importlib.import_module(f"scurry.rest.reporters.{module}"), name)
    known = ("factory.class", "interval", *kind.KEYS)
    for key in options.values:
        if key not in known:
            raise options.wrong(
                key, f"{factory.rpartition('.')[2]} has no such setting here; it has {', '.join(known)}"
            )
    return kind(options)
