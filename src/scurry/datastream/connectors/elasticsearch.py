"""Elasticsearch as a sink: ElasticsearchSink and its builders."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from scurry.common._api import ApiObject, made_by
from scurry.connectors.elasticsearch.bulk import BackoffType, BulkSettings
from scurry.connectors.elasticsearch.emitter import MapEmitter
from scurry.connectors.elasticsearch.sink import ElasticsearchSink as _ElasticsearchSink
from scurry.connectors.http.client import HttpSettings, checked_host
from scurry.datastream.connectors.base import DeliveryGuarantee
from scurry.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = [
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchEmitter",
    "ElasticsearchSink",
    "ElasticsearchSinkBuilderBase",
    "FlushBackoffType",
]


class FlushBackoffType(Enum):
    """Growth of the pauses before actions are sent again for which the server was too busy.

    Attributes:
        CONSTANT: Always the same time.
        EXPONENTIAL: Twice as long each time.
        NONE: It does not send it again.
    """

    CONSTANT = (0,)
    EXPONENTIAL = (1,)
    NONE = (2,)


@made_by("static_index", "dynamic_index")
class ElasticsearchEmitter(ApiObject):
    """Turns records into documents; they are dicts (`Types.MAP`) or Rows with names."""

    def __init__(self, emitter: MapEmitter) -> None:
        """Keep the emitter; programs call the two methods below."""
        self._emitter = emitter

    @staticmethod
    def static_index(index: str, key_field: str | None = None, doc_type: str | None = None) -> ElasticsearchEmitter:
        """Return an emitter that writes all records to one index.

        Args:
            index: The index.
            key_field: The field with the id; a record updates the document of its id, or becomes it. None for a new
                document per record.
            doc_type: The type of documents, which Elasticsearch 6 needs.
        """
        return ElasticsearchEmitter(MapEmitter(index, key_field, doc_type, False))

    @staticmethod
    def dynamic_index(
        index_field: str, key_field: str | None = None, doc_type: str | None = None
    ) -> ElasticsearchEmitter:
        """Return an emitter that writes each record to the index that a field of it names.

        Args:
            index_field: The field with the index.
            key_field: As in `static_index`.
            doc_type: As in `static_index`.
        """
        return ElasticsearchEmitter(MapEmitter(index_field, key_field, doc_type, True))


class ElasticsearchSink(ApiObject, _ElasticsearchSink):
    """Write documents in bulk requests, at least once; a document with a key is in the end the last one written."""


_BACKOFFS = {
    FlushBackoffType.CONSTANT: BackoffType.CONSTANT,
    FlushBackoffType.EXPONENTIAL: BackoffType.EXPONENTIAL,
    FlushBackoffType.NONE: BackoffType.NONE,
}

B = TypeVar("B", bound="ElasticsearchSinkBuilderBase")


class ElasticsearchSinkBuilderBase(ApiObject):
    """Build an ElasticsearchSink."""

    def __init__(self) -> None:
        """Begin with the defaults: 1000 actions of a request, 8 retries while the server is too busy."""
        self._hosts: tuple[str, ...] = ()
        self._emitter: MapEmitter | None = None
        self._actions, self._megabytes, self._interval = 1000, -1, -1
        defaults = BulkSettings()
        self._backoff, self._retries, self._delay = defaults.backoff, defaults.retries, defaults.delay_ms
        self._username: str | None = None
        self._password: str | None = None
        self._prefix = ""
        self._connect_timeout, self._socket_timeout = 4000, 30_000
        self._is_verified = True

    def set_emitter(self: B, emitter: ElasticsearchEmitter) -> B:
        """Set the emitter, which makes documents of records."""
        if not isinstance(emitter, ElasticsearchEmitter):
            raise ArgumentTypeError(f"set_emitter takes an ElasticsearchEmitter, got {emitter!r}")
        self._emitter = emitter._emitter
        return self

    def set_hosts(self: B, hosts: str | list[str]) -> B:
        """Set the addresses of the server's nodes, of which any may answer.

        Args:
            hosts: `host:9200` or `http://host:9200`, or a list of these.

        Raises:
            ArgumentError: One is no address.
        """
        given = [hosts] if isinstance(hosts, str) else list(hosts)
        self._hosts = tuple(each if "://" in each else f"http://{each}" for each in given)
        for host in self._hosts:
            checked_host(host)
        return self

    def set_delivery_guarantee(self: B, delivery_guarantee: DeliveryGuarantee) -> B:
        """Set the guarantee: `AT_LEAST_ONCE`, or `NONE`, which writes the same way.

        Raises:
            UnsupportedError: It is `EXACTLY_ONCE`, which Flink refuses, too.
        """
        if delivery_guarantee is DeliveryGuarantee.EXACTLY_ONCE:
            raise UnsupportedError(
                "ElasticsearchSink does not support EXACTLY_ONCE, because the server has no transactions; with a "
                "key_field, AT_LEAST_ONCE leaves each document once"
            )
        return self

    def set_bulk_flush_max_actions(self: B, num_max_actions: int) -> B:
        """Set how many actions a request has at most (1000); -1 for any number."""
        self._actions = _or_none("set_bulk_flush_max_actions", num_max_actions)
        return self

    def set_bulk_flush_max_size_mb(self: B, max_size_mb: int) -> B:
        """Set how many megabytes a request has at most; -1 for 100, which is the server's own limit."""
        self._megabytes = _or_none("set_bulk_flush_max_size_mb", max_size_mb)
        return self

    def set_bulk_flush_interval(self: B, interval_millis: int) -> B:
        """Set how many milliseconds actions wait for others; -1 for until the commit."""
        self._interval = _or_none("set_bulk_flush_interval", interval_millis)
        return self

    def set_bulk_flush_backoff_strategy(
        self: B, flush_backoff_type: FlushBackoffType, max_retries: int, delay_millis: int
    ) -> B:
        """Set the retries while the server is too busy (exponentially, 8 times, from 50 ms).

        Args:
            flush_backoff_type: How the time between retries grows.
            max_retries: The number of retries.
            delay_millis: The first delay in milliseconds.

        Raises:
            ArgumentError: A number is not positive.
        """
        kind = _BACKOFFS.get(flush_backoff_type)
        if kind is None:
            raise ArgumentTypeError(f"expected a FlushBackoffType, got {flush_backoff_type!r}")
        if kind is not BackoffType.NONE and (max_retries < 1 or delay_millis < 0):
            raise ArgumentError(
                f"retries begin at 1 and their delay at 0, got {max_retries} retries with {delay_millis} ms"
            )
        self._backoff, self._retries, self._delay = kind, max_retries, delay_millis
        return self

    def set_connection_username(self: B, username: str) -> B:
        """Set the user."""
        self._username = username
        return self

    def set_connection_password(self: B, password: str) -> B:
        """Set the user's password."""
        self._password = password
        return self

    def set_connection_path_prefix(self: B, prefix: str) -> B:
        """Set the beginning of the paths of all requests."""
        self._prefix = prefix
        return self

    def set_connection_request_timeout(self: B, timeout: int) -> B:
        """Do nothing: each task has a connection of its own, for which it does not wait."""
        return self

    def set_connection_timeout(self: B, timeout: int) -> B:
        """Set the milliseconds until a connection is there (4000)."""
        self._connect_timeout = _positive("set_connection_timeout", timeout)
        return self

    def set_socket_timeout(self: B, timeout: int) -> B:
        """Set the milliseconds in which the server sends something (30000)."""
        self._socket_timeout = _positive("set_socket_timeout", timeout)
        return self

    def build(self) -> ElasticsearchSink:
        """Return the sink.

        Raises:
            ArgumentError: Hosts or emitter are missing.
        """
        if not self._hosts or self._emitter is None:
            raise ArgumentError("an ElasticsearchSink needs set_hosts(...) and set_emitter(...)")
        self._check(self._emitter)
        timeouts = self._connect_timeout / 1000, self._socket_timeout / 1000
        hosts = HttpSettings(
            self._hosts, self._username, self._password, None, self._prefix, *timeouts, self._is_verified
        )
        size = (self._megabytes if self._megabytes > 0 else 100) << 20
        bulk = BulkSettings(
            max(self._actions, 0), size, max(self._interval, 0), self._backoff, self._retries, self._delay
        )
        return ElasticsearchSink(hosts, bulk, self._emitter)

    def _check(self, emitter: MapEmitter) -> None:
        return


class Elasticsearch6SinkBuilder(ElasticsearchSinkBuilderBase):
    """Build a sink for Elasticsearch 6."""

    def _check(self, emitter: MapEmitter) -> None:
        if emitter.document_type is None:
            raise ArgumentError("documents of Elasticsearch 6 have a type: give doc_type to the ElasticsearchEmitter")


class Elasticsearch7SinkBuilder(ElasticsearchSinkBuilderBase):
    """Build a sink for Elasticsearch 7; it also writes to Elasticsearch 8 and to OpenSearch."""


def _or_none(method: str, value: int) -> int:
    if value < -1 or value == 0:
        raise ArgumentError(f"{method} takes a positive number, or -1 for no limit, got {value}")
    return value


def _positive(method: str, value: int) -> int:
    if value < 1:
        raise ArgumentError(f"{method} takes a positive number, got {value}")
    return value
