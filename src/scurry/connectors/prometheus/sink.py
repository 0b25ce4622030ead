"""PrometheusSink: writes series by Remote Write, one request after the other, so that their order stays."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common.redaction import without_secrets
from scurry.connectors.http.client import HttpAnswer
from scurry.connectors.http.requests import HttpRequests, HttpSession, Retries, Statuses
from scurry.connectors.prometheus.series import PrometheusTimeSeries, samples_of, write_request
from scurry.connectors.sink import COUNTED, SEND_ERRORS, BufferedWriter, Sink, SinkWriter, WriterContext
from scurry.errors import ArgumentTypeError, RecordRejectedError, SinkConnectionError

_LOGGER = logging.getLogger("scurry.prometheus")
_HEADERS = {
    "Content-Encoding": "snappy",
    "Content-Type": "application/x-protobuf",
    "X-Prometheus-Remote-Write-Version": "0.1.0",
}
#: After these a request may succeed later.
RETRIED = Statuses("5XX,429")
#: Answers to requests that no repetition and no other record mends.
FATAL = Statuses("401,403,404")


@dataclass(frozen=True)
class PrometheusSink(Sink):
    """Write series, from the tasks, at least once; Prometheus takes a sample that it has without an error.

    Attributes:
        url: The address, `http://host:9090/api/v1/write`.
        convert: Makes a series of a record; None for records that are series.
        headers: Further headers of requests; not shown.
        most_samples: Samples of a request.
        interval_ms: Milliseconds that a series waits.
        retries: Pauses before a request is repeated.
        timeout: Seconds in which the server answers.
        drops_refused: Whether a request that the server refuses for its samples is left out, instead of failing.
        drops_unsent: Whether a request is left out that could not be sent after all retries, instead of failing.
        user_agent: The header User-Agent.
    """

    url: str
    convert: Callable[[Any], PrometheusTimeSeries] | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    most_samples: int = 500
    interval_ms: int = 5000
    retries: Retries = Retries(100, 0.03, 2.0, 5.0)
    timeout: float = 5.0
    drops_refused: bool = True
    drops_unsent: bool = False
    user_agent: str = "scurry"

    def requests(self) -> HttpRequests:
        """Return the requests to the address.

        Raises:
            ArgumentError: It is no address.
        """
        headers = {**_HEADERS, "User-Agent": self.user_agent, **self.headers}
        return HttpRequests(self.url, "POST", headers, self.timeout, retries=self.retries, retried=RETRIED)

    def create_writer(self, context: WriterContext) -> SinkWriter:
        """Return a writer that connects with its first request."""
        return _Writer(self)


class _Writer(BufferedWriter):
    def __init__(self, sink: PrometheusSink) -> None:
        super().__init__(0, sink.interval_ms)
        self._sink = sink
        self._session = HttpSession(sink.requests())

    def prepared(self, values: list[Any]) -> list[Any]:
        convert = self._sink.convert
        series = values if convert is None else [convert(value) for value in values]
        for each in series:
            if not isinstance(each, PrometheusTimeSeries):
                raise ArgumentTypeError(f"a PrometheusSink writes records of PrometheusTimeSeries, got {each!r}")
            if len(each.samples) > self._sink.most_samples:
                raise RecordRejectedError(
                    f"a series has {len(each.samples)} samples, and a request {self._sink.most_samples} at most; raise "
                    "the maximum batch size",
                    each,
                )
        return series

    def write(self, values: list[Any], timestamps: list[int] | None = None) -> None:
        super().write(values, timestamps)
        if samples_of(self._held) >= self._sink.most_samples:
            self._flush(len(self._held))

    def flush(self, records: list[PrometheusTimeSeries]) -> None:
        held, count = list[PrometheusTimeSeries](), 0
        for each in records:
            if held and count + len(each.samples) > self._sink.most_samples:
                self._send(held)
                held, count = [], 0
            held.append(each)
            count += len(each.samples)
        self._send(held)

    def _send(self, series: list[PrometheusTimeSeries]) -> None:
        sink = self._sink
        try:
            answer = self._session.send(write_request(series))
        except ConnectionError as error:
            self._unsent(series, f"no server answers at {sink.requests().shown} ({error}): check the address")
            return
        if 200 <= answer.status < 300:
            return
        text = f"{sink.requests().shown} answered {answer.status}: {answer.shown}"
        if answer.status in FATAL:
            raise SinkConnectionError(f"{text}; {_cure(answer)}")
        if answer.status in RETRIED:
            self._unsent(series, text)
        elif 400 <= answer.status < 500:
            if not sink.drops_refused:
                raise RecordRejectedError(text, series)
            self._left_out(series, text)
        else:
            raise SinkConnectionError(text)

    def _unsent(self, series: list[PrometheusTimeSeries], why: str) -> None:
        if not self._sink.drops_unsent:
            raise SinkConnectionError(without_secrets(why))
        self._left_out(series, why)

    def _left_out(self, series: list[PrometheusTimeSeries], why: str) -> None:
        COUNTED.get()(SEND_ERRORS, len(series))
        _LOGGER.warning("a request with %d samples is left out: %s", samples_of(series), without_secrets(why))

    def close(self) -> None:
        self._session.close()


def _cure(answer: HttpAnswer) -> str:
    if answer.status == 404:
        return "check the path, which ends with /api/v1/write, and that the server is started with remote write"
    return "check the credentials in the headers"
