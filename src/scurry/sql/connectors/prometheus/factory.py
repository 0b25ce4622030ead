"""PrometheusFactory: tables whose rows are samples, as Flink names their options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.time import Instant
from scurry.common.types import Row
from scurry.connectors.prometheus.series import PrometheusTimeSeries
from scurry.connectors.prometheus.sink import PrometheusSink
from scurry.connectors.sink import Sink
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, explained, one_of, whole_number
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.records import RecordFactory
from scurry.sql.formats.contract import FormatColumn
from scurry.sql.types import (
    BigIntType,
    DataType,
    DecimalType,
    DoubleType,
    FloatType,
    IntType,
    LocalZonedTimestampType,
    SmallIntType,
    TimestampType,
    TinyIntType,
    VarCharType,
)

NAME = TableOption("metric.name", str, None, "The column with the name of the metric.", required=True)
LABELS = TableOption("metric.label.keys", str, None, "The columns of labels, with `;`.", required=True)
VALUE = TableOption("metric.sample.key", str, None, "The column with the value.", required=True)
TIME = TableOption(
    "metric.sample.timestamp",
    str,
    None,
    "The column with the time: a timestamp, or milliseconds since 1970.",
    required=True,
)
URL = TableOption(
    "metric.endpoint-url", str, None, "The address, such as `http://host:9090/api/v1/write`.", required=True
)
SIGNER = TableOption("metric.request-signer", str, None, "Signers are classes of Java, which are refused.")
BATCH_SIZE = TableOption("sink.batch.max-size", whole_number, 500, "Samples of a request.")
BUFFER_TIME = TableOption("sink.flush-buffer.timeout", whole_number, 5000, "Milliseconds that a row waits for others.")
REFUSED = TableOption(
    "sink.on-refused",
    one_of(("DISCARD_AND_CONTINUE", "FAIL")),
    "DISCARD_AND_CONTINUE",
    "What happens to a request that is refused for its samples: it is left out with a warning, or fails the job. "
    "scurry's own.",
)
#: Prefix of the names of headers; scurry's own.
HEADER = "metric.header."
_WHOLE: tuple[type[DataType], ...] = (TinyIntType, SmallIntType, IntType, BigIntType)
_NUMBERS: tuple[type[DataType], ...] = (*_WHOLE, DecimalType, DoubleType, FloatType)


@dataclass(frozen=True)
class SeriesOfRow:
    """Make a series of a row; picklable.

    Attributes:
        name: The column of the metric's name.
        labels: The columns of labels.
        value: The column of the value.
        time: The column of the time.
    """

    name: str
    labels: tuple[str, ...]
    value: str
    time: str

    def __call__(self, row: Row) -> PrometheusTimeSeries:
        """Return the series.

        Raises:
            ValidationError: A value is missing.
        """
        fields: dict[str, Any] = row.as_dict()
        missing = [name for name in (self.name, self.value, self.time, *self.labels) if fields[name] is None]
        if missing:
            raise ValidationError(f"column '{missing[0]}' is NULL in {row}: a sample of Prometheus needs a value")
        made = PrometheusTimeSeries.builder().with_metric_name(fields[self.name])
        for label in self.labels:
            made.add_label(label, fields[label])
        return made.add_sample(float(fields[self.value]), _millis(fields[self.time])).build()


def _millis(value: Any) -> int:
    if isinstance(value, int):
        return value
    if isinstance(value, Instant):
        return int(value.to_epoch_milli())
    import datetime

    zoned = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return int(round(zoned.timestamp() * 1000))


class PrometheusFactory(RecordFactory):
    """Make sinks of series."""

    identifier = "prometheus"

    def table_options(self) -> Sequence[TableOption[Any]]:
        """Return the options but headers."""
        return (NAME, LABELS, VALUE, TIME, URL, SIGNER, BATCH_SIZE, BUFFER_TIME, REFUSED, SINK_PARALLELISM)

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the headers that are set."""
        return [key for key in context.options if key.startswith(HEADER)]

    def sink(self, options: Options, columns: Sequence[FormatColumn], key: Sequence[str]) -> Sink:
        """Return the sink.

        Raises:
            ValidationError: A column is not there, or of another type.
        """
        if SIGNER in options:
            raise ValidationError(
                f"'{SIGNER.key}' is a class of Java: set headers by '{HEADER}*', or let a proxy sign requests"
            )
        labels = tuple(name for name in options.get(LABELS).split(";") if name)
        convert = SeriesOfRow(options.get(NAME), labels, options.get(VALUE), options.get(TIME))
        _check_columns(convert, {column.name: column.type for column in columns})
        headers = {
            name.removeprefix(HEADER): value for name, value in options.values.items() if name.startswith(HEADER)
        }
        sink = PrometheusSink(
            options.get(URL),
            convert,
            headers,
            options.get(BATCH_SIZE),
            options.get(BUFFER_TIME),
            drops_refused=options.get(REFUSED) != "FAIL",
        )
        if sink.most_samples < 1 or sink.interval_ms < 1:
            raise ValidationError(f"'{BATCH_SIZE.key}' and '{BUFFER_TIME.key}' must be 1 or more")
        try:
            sink.requests()
        except ArgumentError as error:
            raise explained(ValidationError(str(error)), f"'{URL.key}': {error}") from None
        return sink


def _check_columns(convert: SeriesOfRow, types: dict[str, DataType]) -> None:
    for name in (convert.name, convert.value, convert.time, *convert.labels):
        if name not in types:
            raise ValidationError(
                f"{name} is not a valid Prometheus metric config key, valid keys are: [{', '.join(types)}]"
            )
    wanted: list[tuple[str, tuple[type[DataType], ...], str]] = [
        (convert.value, _NUMBERS, "a number"),
        (convert.time, (TimestampType, LocalZonedTimestampType, *_WHOLE), "a timestamp, or a whole number"),
        *((name, (VarCharType,), "a STRING") for name in (convert.name, *convert.labels)),
    ]
    for name, kinds, meant in wanted:
        if not isinstance(types[name], kinds):
            raise ValidationError(f"column '{name}' of a table of Prometheus must be {meant}, not {types[name]}")
