"""PrometheusTimeSeries: samples of one series, and requests of the protocol Remote Write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cache
from typing import Any, NamedTuple

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError

#: The label that has the name of the metric.
_METRIC = "__name__"
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


class Sample(NamedTuple):
    """A measured value.

    Attributes:
        value: The value.
        timestamp: When it was measured, in milliseconds since 1970.
    """

    value: float
    timestamp: int


@dataclass(frozen=True)
class PrometheusTimeSeries:
    """Samples of one series: those of a metric with the same labels.

    Attributes:
        metric_name: The metric.
        labels: Names and values of the labels.
        samples: The samples, in the order of their times.
    """

    metric_name: str
    labels: tuple[tuple[str, str], ...] = ()
    samples: tuple[Sample, ...] = ()

    @staticmethod
    def builder() -> PrometheusTimeSeriesBuilder:
        """Return a builder; a metric name and a sample must be set."""
        return PrometheusTimeSeriesBuilder()

    @staticmethod
    def builder_from(other: PrometheusTimeSeries) -> PrometheusTimeSeriesBuilder:
        """Return a builder that begins with the metric and the labels of another series."""
        return PrometheusTimeSeriesBuilder(other.metric_name, list(other.labels))

    @property
    def key(self) -> tuple[str, tuple[tuple[str, str], ...]]:
        """Return the key of the series: streams are partitioned by it before they are written in parallel."""
        return self.metric_name, tuple(sorted(self.labels))


@dataclass
class PrometheusTimeSeriesBuilder:
    """Builder of a PrometheusTimeSeries."""

    _name: str | None = None
    _labels: list[tuple[str, str]] = field(default_factory=list)
    _samples: list[Sample] = field(default_factory=list)

    def with_metric_name(self, metric_name: str) -> PrometheusTimeSeriesBuilder:
        """Set the name of the metric."""
        self._name = metric_name
        return self

    def add_label(self, label_name: str, label_value: str) -> PrometheusTimeSeriesBuilder:
        """Add a label."""
        self._labels.append((label_name, label_value))
        return self

    def add_sample(self, value: float, timestamp: int) -> PrometheusTimeSeriesBuilder:
        """Add a sample, with its time in milliseconds since 1970."""
        self._samples.append(Sample(float(value), int(timestamp)))
        return self

    def build(self) -> PrometheusTimeSeries:
        """Return the series.

        Raises:
            ArgumentError: Prometheus takes no such series.
        """
        if not isinstance(self._name, str) or not self._name:
            raise ArgumentError("a series has no metric name: call with_metric_name")
        if not self._samples:
            raise ArgumentError(f"the series {self._name} has no sample: call add_sample")
        names = [name for name, _ in self._labels]
        for name, value in self._labels:
            if not isinstance(name, str) or not _LABEL.fullmatch(name) or name.startswith("__"):
                raise ArgumentError(
                    f"the series {self._name} has a label {name!r}: names are letters, digits and _, without __ before"
                )
            if not isinstance(value, str) or not value:
                raise ArgumentError(f"the label {name} of the series {self._name} is a text, not empty, got {value!r}")
            if names.count(name) > 1:
                raise ArgumentError(f"the series {self._name} has the label {name} twice")
        return PrometheusTimeSeries(self._name, tuple(self._labels), tuple(self._samples))


def write_request(series: Iterable[PrometheusTimeSeries]) -> bytes:
    """Return the body of a request: compressed, labels in their order, as the protocol wants it."""
    import pyarrow as pa

    request = _request()()
    for each in series:
        made = request.timeseries.add()
        for name, value in sorted(((_METRIC, each.metric_name), *each.labels)):
            made.labels.add(name=name, value=value)
        for sample in each.samples:
            made.samples.add(value=sample.value, timestamp=sample.timestamp)
    found: bytes = pa.Codec("snappy").compress(request.SerializeToString(), asbytes=True)
    return found


def samples_of(series: Sequence[PrometheusTimeSeries]) -> int:
    """Return the number of samples."""
    return sum(len(each.samples) for each in series)


@cache
def _request() -> Any:
    """Return the class of WriteRequest of Prometheus' prompb."""
    from google.protobuf import descriptor_pb2

    from scurry.connectors.protobuf import defined

    kinds = descriptor_pb2.FieldDescriptorProto
    files = descriptor_pb2.FileDescriptorSet()
    file = files.file.add(name="remote_write.proto", package="scurry.prometheus", syntax="proto3")
    once, many = kinds.LABEL_OPTIONAL, kinds.LABEL_REPEATED
    for name, fields in {
        "Label": ((1, "name", kinds.TYPE_STRING, once, ""), (2, "value", kinds.TYPE_STRING, once, "")),
        "Sample": ((1, "value", kinds.TYPE_DOUBLE, once, ""), (2, "timestamp", kinds.TYPE_INT64, once, "")),
        "TimeSeries": (
            (1, "labels", kinds.TYPE_MESSAGE, many, ".scurry.prometheus.Label"),
            (2, "samples", kinds.TYPE_MESSAGE, many, ".scurry.prometheus.Sample"),
        ),
        "WriteRequest": ((1, "timeseries", kinds.TYPE_MESSAGE, many, ".scurry.prometheus.TimeSeries"),),
    }.items():
        message = file.message_type.add(name=name)
        for number, field_name, kind, label, type_name in fields:
            made = message.field.add(name=field_name, number=number, type=kind, label=label)
            if type_name:
                made.type_name = type_name
    return defined(files.SerializeToString(), "scurry.prometheus.WriteRequest")
