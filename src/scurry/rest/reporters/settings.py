"""Make the reporters that a configuration names."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from scurry.common._config.metrics import REPORTERS
from scurry.common._config.option import parse_boolean, parse_duration
from scurry.common._config.rest import parse_ports
from scurry.errors import ConfigError, UnsupportedError
from scurry.rest.reporters.contract import Reporter

__all__ = ["ReporterOptions", "reporters_of"]

T = TypeVar("T")
_PREFIX = "metrics.reporter."
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


@dataclass(frozen=True)
class ReporterOptions:
    """The settings of one reporter.

    Attributes:
        name: Its name.
        values: Its settings, by the rest of their keys.
        all: The whole configuration.
    """

    name: str
    values: Mapping[str, str]
    all: Mapping[str, str]

    @property
    def interval(self) -> float:
        """Seconds between two reports."""
        return self._parsed("interval", "10 s", parse_duration) / 1000

    def text(self, key: str, default: str | None = None) -> str:
        """Return the text of a setting, which is required if it has no default."""
        value = self.values.get(key, default)
        if value is None:
            raise self.wrong(key, "it is required")
        return value

    def boolean(self, key: str, default: bool) -> bool:
        """Return a setting that is true or false."""
        return self._parsed(key, str(default), parse_boolean)

    def ports(self, key: str, default: str) -> tuple[int, ...]:
        """Return the ports of a list in Flink's syntax."""
        return self._parsed(key, default, parse_ports)

    def wrong(self, key: str, reason: str) -> ConfigError:
        """Return the error of a setting that cannot be used."""
        given = f" = {self.values[key]!r}" if key in self.values else ""
        return ConfigError(f"configuration {_PREFIX}{self.name}.{key}{given}: {reason}")

    def _parsed(self, key: str, default: str, parse: Callable[[str], T]) -> T:
        try:
            return parse(self.values.get(key, default))
        except ValueError as error:
            raise self.wrong(key, str(error)) from None


def reporters_of(configuration: Mapping[str, str]) -> list[Reporter]:
    """Return the reporters that a configuration names: those of `metrics.reporters`, or all that are configured.

    Raises:
        ConfigError: A setting is missing, unknown or wrong.
        UnsupportedError: There is no such reporter here.
    """
    found: dict[str, dict[str, str]] = {}
    for key, value in configuration.items():
        name, dot, rest = key.removeprefix(_PREFIX).partition(".")
        if key.startswith(_PREFIX) and dot:
            found.setdefault(name, {})[rest] = value
    listed = REPORTERS.parse(configuration[REPORTERS.key]) if REPORTERS.key in configuration else list(found)
    for name in listed:
        if name not in found:  # as in Flink, which goes on without it
            warnings.warn(
                f"metrics reporter {name!r} has no {_PREFIX}{name}.factory.class: it is left out", stacklevel=2
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
            f"configuration {_PREFIX}{options.name}.factory.class = {factory!r} is not supported: {reason}; there are "
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
