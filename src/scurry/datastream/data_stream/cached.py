"""CachedDataStream: a stream whose records are stored for later jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scurry.common._type_variables import T_co
from scurry.datastream.data_stream._refused import refuses_settings
from scurry.datastream.data_stream.stream import DataStream
from scurry.errors import TopologyError
from scurry.graph.nodes import CacheNode, OperatorNode, SideOutputNode, SourceNode

if TYPE_CHECKING:
    from scurry.connectors.cache import CachedRecords

__all__ = ["CachedDataStream"]


@refuses_settings("it is no operator; make the setting before cache()")
class CachedDataStream(DataStream[T_co]):
    """A stream that is computed by the first BATCH job that uses it and read by later ones (Flink's class).

    The records are stored in files below `scurry.cache-dir` until `invalidate` is called, the environment is closed, or
    the program ends. A job that fails leaves nothing in the cache.

    Notes:
        In STREAMING mode every job computes the stream again, as in Flink. In PyFlink 2.3 every BATCH job does so, too,
        contrary to its documentation. scurry uses the cache, as Flink's Java API does. Programs that import `pyflink`
        use it only if `scurry.cache-dir` is set, so that they behave as on Flink.
    """

    def __init__(self, stream: DataStream[T_co], records: CachedRecords) -> None:
        """Cache a stream; programs call `DataStream.cache`."""
        from scurry.connectors.cache import CacheSource

        cached = stream._node
        if not isinstance(cached, (OperatorNode, SideOutputNode, SourceNode)):
            raise TopologyError(
                f"cache() keeps the output of an operator or a side output, and {cached.name or 'this stream'} is "
                "neither: call it on the stream before"
            )
        stored = SourceNode(
            name=f"Cached {cached.name}",
            uid=f"cached-{cached.id}",
            output_type=cached.output_type,
            source=CacheSource(records, cached.output_type),
        )
        node = CacheNode(
            inputs=(cached,),
            name=f"Cache of {cached.name}",
            output_type=cached.output_type,
            computed=cached,
            stored=stored,
            records=records,
        )
        super().__init__(stream._env, node)
        self._records = records

    def invalidate(self) -> None:
        """Delete the cached records. The next job that uses the stream computes and caches it again."""
        self._records.clear()
