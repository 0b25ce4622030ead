"""Cassandra as a sink: CassandraSink and its builder."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from scurry.common._api import ApiObject, made_by
from scurry.common.time import Duration
from scurry.connectors.cassandra.client import CassandraSettings
from scurry.connectors.cassandra.sink import CONCURRENT_REQUESTS, ValuesOf
from scurry.connectors.cassandra.sink import CassandraSink as _CassandraSink
from scurry.datastream.data_stream import DataStream, DataStreamSink
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "CassandraCommitter",
    "CassandraFailureHandler",
    "CassandraSink",
    "ClusterBuilder",
    "ConsistencyLevel",
    "MapperOptions",
]


class ConsistencyLevel(Enum):
    """Number of replicas that confirm a request."""

    ANY = 0
    ONE = 1
    TWO = 2
    THREE = 3
    QUORUM = 4
    ALL = 5
    LOCAL_QUORUM = 6
    EACH_QUORUM = 7
    SERIAL = 8
    LOCAL_SERIAL = 9
    LOCAL_ONE = 10


class MapperOptions(ApiObject):
    """Options of Java's objects, without effect on the tuples and Rows of Python; as in PyFlink."""

    def ttl(self, ttl: int) -> MapperOptions:
        """Do nothing: write `USING TTL` into the query."""
        return self

    def timestamp(self, timestamp: int) -> MapperOptions:
        """Do nothing: write `USING TIMESTAMP` into the query."""
        return self

    def consistency_level(self, cl: ConsistencyLevel) -> MapperOptions:
        """Do nothing: give the level to a ClusterBuilder."""
        return self

    def tracing(self, enabled: bool) -> MapperOptions:
        """Do nothing: no object of Java is mapped."""
        return self

    def save_null_fields(self, enabled: bool) -> MapperOptions:
        """Do nothing: call `enable_ignore_null_fields` of the builder."""
        return self

    def if_not_exists(self, enabled: bool) -> MapperOptions:
        """Do nothing: write `IF NOT EXISTS` into the query."""
        return self


class ClusterBuilder(ApiObject):
    """Settings of the connection of a sink; PyFlink's class wraps an object of Java."""

    def __init__(
        self,
        hosts: str | list[str] | Callable[[], Any] = "localhost",
        port: int = 9042,
        username: str | None = None,
        password: str | None = None,
        consistency_level: ConsistencyLevel | None = None,
    ) -> None:
        """Describe the cluster.

        Args:
            hosts: Addresses of some nodes; or a function that returns a `Cluster` of cassandra-driver.
            port: The port of the nodes.
            username: The user.
            password: The user's password.
            consistency_level: How many replicas confirm a write.
        """
        level = None if consistency_level is None else consistency_level.name
        if callable(hosts):
            self._settings = CassandraSettings(cluster=hosts)
        else:
            given = (hosts,) if isinstance(hosts, str) else tuple(hosts)
            self._settings = CassandraSettings(given, port, username, password, level)


class CassandraCommitter(ApiObject):
    """Memory of checkpoints of PyFlink's write-ahead log; here it is the checkpoint itself."""

    @staticmethod
    def default_checkpoint_committer(builder: ClusterBuilder, key_space: str | None = None) -> CassandraCommitter:
        """Return one; no table is made."""
        return CassandraCommitter()


class CassandraFailureHandler(ApiObject):
    """Treatment of statements that fail."""

    @staticmethod
    def no_op() -> CassandraFailureHandler:
        """Return the handler that lets the job fail."""
        return CassandraFailureHandler()


@made_by("add_sink")
class CassandraSink(ApiObject):
    """A sink of a stream, which executes a statement for each record."""

    def __init__(self, sink: DataStreamSink) -> None:
        """Keep the sink; programs call `add_sink`."""
        self._sink = sink

    @staticmethod
    def add_sink(input: DataStream[Any]) -> CassandraSink.CassandraSinkBuilder:
        """Return the builder of a sink of a stream of tuples or Rows; `build()` adds it to the stream."""
        return CassandraSink.CassandraSinkBuilder(input)

    def name(self, name: str) -> CassandraSink:
        """Set the name."""
        self._sink.name(name)
        return self

    def uid(self, uid: str) -> CassandraSink:
        """Set the id that savepoints know it by."""
        self._sink.uid(uid)
        return self

    def set_uid_hash(self, uid_hash: str) -> CassandraSink:
        """Refuse: scurry reads no savepoints of Flink, so operators have no hashes; call `uid`.

        Raises:
            UnsupportedError: Always.
        """
        self._sink.set_uid_hash(uid_hash)
        return self

    def set_parallelism(self, parallelism: int) -> CassandraSink:
        """Set the number of tasks."""
        self._sink.set_parallelism(parallelism)
        return self

    def disable_chaining(self) -> CassandraSink:
        """Do not chain it to the operator before."""
        self._sink.disable_chaining()
        return self

    def slot_sharing_group(self, slot_sharing_group: str) -> CassandraSink:
        """Set the group of slots."""
        self._sink.slot_sharing_group(slot_sharing_group)
        return self

    class CassandraSinkBuilder(ApiObject):
        """Build a CassandraSink."""

        def __init__(self, stream: DataStream[Any]) -> None:
            """Begin with a node at localhost."""
            if not isinstance(stream, DataStream):
                raise ArgumentTypeError(f"add_sink takes a DataStream, got {stream!r}")
            self._stream = stream
            self._query = ""
            self._settings: CassandraSettings | None = None
            self._concurrent, self._is_staged, self._ignores_null = CONCURRENT_REQUESTS, False, False

        def set_query(self, query: str) -> CassandraSink.CassandraSinkBuilder:
            """Set the statement, with a `?` for each field of a record."""
            self._query = query
            return self

        def set_host(self, host: str, port: int = 9042) -> CassandraSink.CassandraSinkBuilder:
            """Set the address of a node.

            Raises:
                ArgumentError: A ClusterBuilder is set, or it is no address.
            """
            if self._settings is not None:
                raise ArgumentError("the cluster is set already, by set_host or set_cluster_builder")
            self._settings = CassandraSettings((host,), port)
            return self

        def set_cluster_builder(self, builder: ClusterBuilder) -> CassandraSink.CassandraSinkBuilder:
            """Set how to connect.

            Raises:
                ArgumentError: A host is set.
            """
            if self._settings is not None:
                raise ArgumentError("the cluster is set already, by set_host or set_cluster_builder")
            if not isinstance(builder, ClusterBuilder):
                raise ArgumentTypeError(f"set_cluster_builder takes a ClusterBuilder, got {builder!r}")
            self._settings = builder._settings
            return self

        def enable_write_ahead_log(
            self, committer: CassandraCommitter | None = None
        ) -> CassandraSink.CassandraSinkBuilder:
            """Write the records of a micro-batch when all its tasks have succeeded; they pass through the driver."""
            self._is_staged = True
            return self

        def set_mapper_options(self, options: MapperOptions) -> CassandraSink.CassandraSinkBuilder:
            """Do nothing: no object of Java is mapped."""
            return self

        def set_failure_handler(self, failure_handler: CassandraFailureHandler) -> CassandraSink.CassandraSinkBuilder:
            """Set the treatment of failures; the only one lets the job fail."""
            if not isinstance(failure_handler, CassandraFailureHandler):
                raise ArgumentTypeError("classes of Java do not run here: use CassandraFailureHandler.no_op()")
            return self

        def set_max_concurrent_requests(
            self, max_concurrent_requests: int, duration: Duration | None = None
        ) -> CassandraSink.CassandraSinkBuilder:
            """Set the requests of a task that wait for answers (128).

            Args:
                max_concurrent_requests: Their number.
                duration: Without effect: a task waits as long as it takes.
            """
            if max_concurrent_requests < 1:
                raise ArgumentError(f"at least 1 request is in flight, got {max_concurrent_requests}")
            self._concurrent = max_concurrent_requests
            return self

        def enable_ignore_null_fields(self) -> CassandraSink.CassandraSinkBuilder:
            """Leave columns as they are whose field is None."""
            self._ignores_null = True
            return self

        def build(self) -> CassandraSink:
            """Add the sink to the stream, and return it.

            Raises:
                ArgumentError: The query or the cluster is not set.
            """
            if not self._query.strip():
                raise ArgumentError("Query must not be null or empty: call set_query(...)")
            if self._settings is None:
                raise ArgumentError("Cassandra host information must be supplied: set_host or set_cluster_builder")
            values = ValuesOf(self._query, self._ignores_null)
            sink = _CassandraSink(self._settings, values, self._concurrent, self._is_staged)
            return CassandraSink(self._stream.sink_to(sink).name("Cassandra Sink"))
