"""Factories of `http`, which is looked up, and `http-async-sink`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from scurry._dataclasses import dataclass
from scurry.connectors.http.requests import Retries, Statuses
from scurry.connectors.http.sink import HttpSink
from scurry.connectors.sink import Sink
from scurry.errors import ValidationError
from scurry.sql.catalog.table_options import TableOption
from scurry.sql.connectors.contract import SinkChanges, SinkTarget, TableContext, TableFactory, TableSource
from scurry.sql.connectors.http import options as keys
from scurry.sql.connectors.http.lookup import HttpTableSource
from scurry.sql.connectors.lookups import LOOKUP_OPTIONS, LOOKUP_RETRIES, lookup_cache
from scurry.sql.connectors.parallelism import SINK_PARALLELISM
from scurry.sql.connectors.prepared import Prepared
from scurry.sql.formats.message_format import BoundFormat, bound_format, format_keys

_INSERTED = "requests are not taken back: the connector 'http-async-sink' writes inserted rows only"


class HttpFactory(TableFactory):
    """Make lookups over HTTP."""

    identifier = "http"

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return (
            keys.URL,
            keys.FORMAT,
            keys.LOOKUP_METHOD,
            keys.ASYNC_POLLING,
            keys.TIMEOUT,
            keys.SUCCESS,
            keys.RETRY_CODES,
            keys.IGNORED,
            keys.CONTINUE,
            keys.STRATEGY,
            keys.FIXED_DELAY,
            keys.FIRST_DELAY,
            keys.LONGEST_DELAY,
            keys.MULTIPLIER,
            *LOOKUP_OPTIONS,
        )

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the format and of headers."""
        return _keys(context, f"{keys.SOURCE}header.")

    def create_source(self, context: TableContext) -> TableSource:
        """Return a source that is looked up."""
        options = self.check(context)
        retries = Retries(options.get(LOOKUP_RETRIES), options.get(keys.FIXED_DELAY) / 1000, 1.0)
        if options.get(keys.STRATEGY) == "exponential-delay":
            retries = Retries(
                options.get(LOOKUP_RETRIES),
                options.get(keys.FIRST_DELAY) / 1000,
                options.get(keys.MULTIPLIER),
                options.get(keys.LONGEST_DELAY) / 1000,
            )
        headers = keys.headers_of(context.options, f"{keys.SOURCE}header.")
        method, timeout = options.get(keys.LOOKUP_METHOD), options.get(keys.TIMEOUT)
        return HttpTableSource(
            keys.requests_of(options, method, headers, timeout, retries, options.get(keys.RETRY_CODES)),
            _format(context, "scan"),
            options.get(keys.SUCCESS),
            options.get(keys.IGNORED),
            options.get(keys.CONTINUE),
            lookup_cache(options, self.identifier),
        )


class HttpSinkFactory(TableFactory):
    """Make sinks of requests."""

    identifier = "http-async-sink"

    def options(self, context: TableContext) -> Sequence[TableOption[Any]]:
        return (
            keys.URL,
            keys.SINK_FORMAT,
            keys.INSERT_METHOD,
            keys.BATCH_SIZE,
            keys.BUFFER_SIZE,
            keys.BUFFER_TIMEOUT,
            keys.IN_FLIGHT,
            keys.BUFFERED,
            keys.SINK_TIMEOUT,
            keys.REQUEST_MODE,
            keys.ERROR_CODES,
            keys.ERROR_EXCEPT,
            keys.SINK_RETRIES,
            keys.SINK_RETRY_CODES,
            keys.IDEMPOTENCY,
            SINK_PARALLELISM,
        )

    def other_keys(self, context: TableContext) -> Sequence[str]:
        """Return the keys of the format and of headers."""
        return _keys(context, f"{keys.SINK}header.")

    def sink_changes(self, context: TableContext) -> SinkChanges:
        """Accept inserted rows."""
        return SinkChanges("INSERT", _INSERTED)

    def create_sink(self, context: TableContext, target: SinkTarget) -> Sink:
        """Return a sink of requests."""
        options = self.check(context)
        if options.get(keys.BATCH_SIZE) < 1:
            raise ValidationError(f"'{keys.BATCH_SIZE.key}' must be at least 1, but is {options.get(keys.BATCH_SIZE)}")
        headers = {"Content-Type": "application/json"}
        headers |= keys.headers_of(context.options, f"{keys.SINK}header.")
        retries = Retries(options.get(keys.SINK_RETRIES))
        excluded = ",".join(f"!{each}" for each in options.get(keys.ERROR_EXCEPT).text.split(",") if each)
        timeout, retried = options.get(keys.SINK_TIMEOUT), options.get(keys.SINK_RETRY_CODES)
        return HttpSink(
            keys.requests_of(options, options.get(keys.INSERT_METHOD), headers, timeout, retries, retried),
            RowTexts(_format(context, "sink")),
            options.get(keys.BATCH_SIZE),
            options.get(keys.BUFFER_SIZE),
            options.get(keys.BUFFER_TIMEOUT),
            options.get(keys.REQUEST_MODE) == "single",
            Statuses(",".join(filter(None, (options.get(keys.ERROR_CODES).text, excluded)))),
            options.get(keys.IDEMPOTENCY),
        )


@dataclass(frozen=True)
class RowTexts(Prepared):
    """Make JSON texts of changes; picklable."""

    format: BoundFormat

    @cached_property
    def _encoder(self) -> Any:
        return self.format.encoder()

    def __call__(self, values: Sequence[Any]) -> list[bytes]:
        """Return the texts of the rows of some changes."""
        return [
            text for changes in values for text in self._encoder.encode(changes.inserted(ValidationError(_INSERTED)))
        ]


def _keys(context: TableContext, headers: str) -> list[str]:
    return [
        *format_keys(context.options.get("format", "json"), ""),
        *(k for k in context.options if k.startswith(headers)),
    ]


def _format(context: TableContext, kind: str) -> BoundFormat:
    options = context.read_options()
    identifier = options.get(keys.FORMAT)
    if identifier != "json":
        raise ValidationError(f"'format' = '{identifier}': bodies are JSON here; use 'json'")
    return bound_format(options, "", identifier, context.physical_columns, kind)
