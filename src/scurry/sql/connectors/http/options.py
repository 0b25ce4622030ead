"""The options of the connectors `http` and `http-async-sink`."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.common._config.option import parse_bytes
from scurry.connectors.http.requests import HttpRequests, Retries, Statuses
from scurry.errors import ArgumentError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, boolean, one_of, whole_number
from scurry.sql.connectors.durations import duration

SOURCE = "http.source.lookup."
SINK = "http.sink."


def _statuses(text: str) -> Statuses:
    try:
        return Statuses(text)
    except ArgumentError as error:
        raise ValueError(str(error)) from None


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'For input string: "{text}"') from None


def _seconds(text: str) -> int:
    """Return milliseconds; a number alone is one of seconds, as in Flink."""
    return int(text) * 1000 if text.isdigit() else duration(text)


URL = TableOption("url", str, None, "The address: `http://host:port/path?query`.", required=True)
FORMAT = TableOption("format", str, None, "The format of answers, one of JSON objects.", required=True)
SINK_FORMAT = TableOption("format", str, None, "The format of rows: `json`.", required=True)
LOOKUP_METHOD = TableOption(
    "lookup-method", one_of(("GET", "POST", "PUT")), "GET", "`GET` has keys in the query, `POST` and `PUT` as JSON."
)
ASYNC_POLLING = TableOption(
    "asyncPolling", boolean, False, "Keys are looked up one after the other.", without_effect=True
)
TIMEOUT = TableOption(f"{SOURCE}request.timeout", _seconds, 30_000, "Longest time in which the server sends nothing.")
SUCCESS = TableOption(f"{SOURCE}success-codes", _statuses, Statuses("2XX"), "Statuses of answers with rows.")
RETRY_CODES = TableOption(
    f"{SOURCE}retry-codes", _statuses, Statuses("500,503,504"), "Statuses after which a key is asked for again."
)
IGNORED = TableOption(
    f"{SOURCE}ignored-response-codes", _statuses, Statuses(""), "Statuses of keys without rows; `404` is usual."
)
CONTINUE = TableOption(
    f"{SOURCE}continue-on-error", boolean, False, "Whether a key whose lookup fails has no rows; else the job fails."
)
STRATEGY = TableOption(
    f"{SOURCE}retry-strategy.type",
    one_of(("fixed-delay", "exponential-delay")),
    "fixed-delay",
    "How pauses before retries grow.",
)
FIXED_DELAY = TableOption(f"{SOURCE}retry-strategy.fixed-delay.delay", duration, 1000, "The pause.")
FIRST_DELAY = TableOption(
    f"{SOURCE}retry-strategy.exponential-delay.initial-backoff", duration, 1000, "The first pause."
)
LONGEST_DELAY = TableOption(
    f"{SOURCE}retry-strategy.exponential-delay.max-backoff", duration, 60_000, "The longest pause."
)
MULTIPLIER = TableOption(
    f"{SOURCE}retry-strategy.exponential-delay.backoff-multiplier", _number, 1.5, "The growth of pauses."
)

INSERT_METHOD = TableOption("insert-method", one_of(("POST", "PUT")), "POST", "`POST` or `PUT`.")
BATCH_SIZE = TableOption("sink.batch.max-size", whole_number, 500, "Rows of a request, at most.")
BUFFER_SIZE = TableOption("sink.flush-buffer.size", parse_bytes, 5 << 20, "Size of a request, at most; 0 for any.")
BUFFER_TIMEOUT = TableOption("sink.flush-buffer.timeout", _seconds, 5000, "Longest time that rows wait; 0 for any.")
IN_FLIGHT = TableOption(
    "sink.requests.max-inflight", whole_number, 50, "A task sends one request after the other.", without_effect=True
)
BUFFERED = TableOption(
    "sink.requests.max-buffered",
    whole_number,
    10_000,
    "A task waits for its requests: rows are not buffered beyond one.",
    without_effect=True,
)
SINK_TIMEOUT = TableOption(
    f"{SINK}request.timeout", _seconds, 30_000, "Longest time in which the server sends nothing."
)
REQUEST_MODE = TableOption(
    f"{SINK}writer.request.mode",
    one_of(("batch", "single")),
    "batch",
    "`batch` sends an array of rows, `single` each row as a request of its own.",
)
ERROR_CODES = TableOption(f"{SINK}error.code", _statuses, Statuses("3XX,4XX,5XX"), "Statuses that fail the job.")
ERROR_EXCEPT = TableOption(f"{SINK}error.code.exclude", _statuses, Statuses(""), "Statuses that are no failure.")
SINK_RETRIES = TableOption("sink.max-retries", whole_number, 3, "How often a request is sent again.")
SINK_RETRY_CODES = TableOption(
    f"{SINK}retry-codes", _statuses, Statuses("429,500,502,503,504"), "Statuses after which a request is sent again."
)
IDEMPOTENCY = TableOption(
    f"{SINK}idempotency-key", boolean, True, "Whether requests have the header `Idempotency-Key`."
)


def headers_of(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the headers that a table sets.

    Raises:
        ValidationError: One has a line break.
    """
    found = {key.removeprefix(prefix): value for key, value in options.items() if key.startswith(prefix)}
    for name, value in found.items():
        if not name or any(each in name + value for each in "\r\n"):
            raise ValidationError(f"'{prefix}{name}' is no header: it needs a name, and neither has a line break")
    return found


def requests_of(
    options: Options, method: str, headers: Mapping[str, str], timeout: int, retries: Retries, retried: Statuses
) -> HttpRequests:
    """Return the requests to the address of a table.

    Raises:
        ValidationError: It is none of HTTP.
    """
    try:
        return HttpRequests(options.get(URL), method, headers, timeout / 1000, 4.0, retries, retried)
    except ArgumentError as error:
        raise ValidationError(f"'{URL.key}': {error}") from None
